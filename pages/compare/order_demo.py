"""The demonstration at the top of Compare: the lists of two recommenders for the same films in two orders.

One recommender uses the order, the other recommender ignores it.

Session state: order_demo (key of the selected pair of orders).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.compare import common
from pages.ui import cache, errors, format, page, recommenders, session
from pages.ui.i18n import _, ngettext
from pages.ui.widgets import button, segmented_control
from recsys.data.dataset import Dataset
from recsys.serving import history
from recsys.serving.insight.list_comparison import Order, reorderings, sample_list_orders
from recsys.serving.recommend import Recommendation, Request, recommend_many

K = 5  # films in each list
# candidates for the two recommenders, the preferred candidate first
ORDER_AWARE = ("bert4rec", "sasrec-softmax", "gru4rec-ce", "markov")
ORDER_UNAWARE = ("user-knn", "popular")


@dataclass(frozen=True)
class OrderPair:
    """Two orders of the same films."""

    title: str  # of the pair, in the visitor's language
    order_names: tuple[str, str]
    orders: tuple[Order, Order]
    is_example: bool  # False: the films are the visitor's; True: buttons replace the visitor's list by these films


@st.fragment
@errors.show_errors()
def show(dataset: Dataset, films: Order) -> None:
    """Show two orders of the same films, and the lists of two recommenders for each order."""
    st.header(_("The same films in another order"))
    pairs = order_pairs(dataset, films)
    if not pairs:
        st.caption(_("Add two films to see what their order changes."))
        return
    pair = select_pair(pairs)
    for order_name, order in zip(pair.order_names, pair.orders, strict=True):
        page.show_titles(dataset, order, order_name)
    names = [select_recommender(dataset.name, candidates) for candidates in (ORDER_AWARE, ORDER_UNAWARE)]
    get_predictor = common.start_fits(dataset, names)
    for name, uses_order in zip(names, (True, False), strict=True):
        if predictor := get_predictor(name):
            lists = recommend_many(predictor, [Request(order, K) for order in pair.orders])
            show_lists(cache.recommender_title(predictor), pair.order_names, lists, uses_order)
    with st.container(horizontal=True, vertical_alignment="center"):
        if pair.is_example:
            for number, (order_name, order) in enumerate(zip(pair.order_names, pair.orders, strict=True)):
                label = _("Use these films: {order}", order=order_name)
                button(label, f"take-order-{number}", "playlist_add", use_films, order)
        with st.popover(_("Why order matters: the pet shop"), icon=":material/pets:", type="tertiary"):
            text = _(
                "You paid at the **pet shop**, the supermarket, the metro, the **pet shop**, the café, the "
                "supermarket and the cinema. Is it time to suggest the pet shop again? In this order, yes: you have "
                "made more payments since your last visit than between your two visits. Right after a visit, no. "
                "Without the order, nobody can tell. It is the same with films. A recommender that ignores the order "
                "gives the same answer for both lists. A recommender that reads it sees which mood came last."
            )
            st.markdown(text)


def select_recommender(dataset_name: str, candidates: Sequence[str]) -> str:
    """Return the first candidate that can answer. If there is none, return the last, which needs no training."""
    return next((name for name in candidates if recommenders.can_answer(name, dataset_name)), candidates[-1])


def order_pairs(dataset: Dataset, films: Order) -> dict[str, OrderPair]:
    """Return key → pair of orders. Pairs of the visitor's own films come first."""
    pairs = {}
    texts = (
        ("backwards", _("Your films, reversed"), _("Reversed")),
        ("shuffled", _("Your films, shuffled"), _("Shuffled")),
    )
    # `reorderings` returns the reversed order and n random orders. For two films, it returns only the reversed order.
    for (key, title, order_name), order in zip(texts, reorderings(films, n=1), strict=False):
        pairs[key] = OrderPair(title, (_("Your order"), order_name), (films, order), is_example=False)
    if examples := sample_list_orders(history.available_sample_lists(cache.title_index(dataset.name))):
        left, right = examples
        order_names = _("{mood} last", mood=_(left.last_name)), _("{mood} last", mood=_(right.last_name))
        pairs["evenings"] = OrderPair(_("Two evenings"), order_names, (left.films, right.films), is_example=True)
    return pairs


def select_pair(pairs: dict[str, OrderPair]) -> OrderPair:
    """Return the selected pair. Show a selector if there are several pairs."""
    if len(pairs) == 1:
        return next(iter(pairs.values()))
    titles = {key: pair.title for key, pair in pairs.items()}
    label = _("Orders to compare")
    return pairs[segmented_control(label, titles, "order_demo", label_visibility="collapsed", wrap=True)]


def show_lists(
    title: str, order_names: tuple[str, str], lists: Sequence[list[Recommendation]], uses_order: bool
) -> None:
    """Show the two lists of a recommender, and a sentence that compares the lists. Films in both lists are grey.

    Args:
        title: Title of the recommender.
        order_names: Name of the order of each list.
        lists: The list for each order.
        uses_order: Whether the recommender uses the order. Its two lists can be equal nevertheless.
    """
    left, right = ([pick.item for pick in picks] for picks in lists)
    model, k = format.escape_markdown(title), len(left)
    n_replaced = len({*left} - {*right})
    if not uses_order:
        sentence = _("**{model}** ignores the order and gives the same list both times.", model=model)
    elif n_replaced:
        sentence = ngettext(
            "**{model}** reads the order: the other order replaces {n} of its top {k} films.",
            "**{model}** reads the order: the other order replaces {n} of its top {k} films.",
            n_replaced,
            model=model,
            k=k,
        )
    elif left == right:
        sentence = _("**{model}** reads the order, but gives the same list for these two orders.", model=model)
    else:
        sentence = _(
            "**{model}** reads the order: the other order changes the ranks of its top {k} films.", model=model, k=k
        )
    st.markdown(sentence)
    common_items = {*left} & {*right}
    with st.grid(2, min_column_width=150):
        for order_name, picks in zip(order_names, lists, strict=True):
            lines = [f":small[{format.escape_markdown(order_name)}]\n"]
            for pick in picks:
                label = format.escape_markdown(pick.film.label)
                lines.append(f"{pick.rank}. :gray[{label}]" if pick.item in common_items else f"{pick.rank}. {label}")
            st.markdown("\n".join(lines))


def use_films(films: Order) -> None:
    """Replace the visitor's list by the films of an example."""
    session.start_list(films, in_watch_order=True)
    st.session_state.pop("order_demo", None)
    st.rerun()  # the whole page, not only this fragment
