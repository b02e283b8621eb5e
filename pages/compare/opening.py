"""What a visitor of Compare meets first: the same films in two orders, and what two recommenders make of it.

One of them reads the order, the other does not.

Session state: opening (which two orders are compared).
"""

from dataclasses import dataclass

import streamlit as st

from pages.compare import chosen, tables, words
from pages.ui import cache, errors, page, recommenders, session
from pages.ui.i18n import _, say
from recsys.data.dataset import Dataset
from recsys.serving import history
from recsys.serving.insight import order
from recsys.serving.insight.order import Order
from recsys.serving.recommend import Recommendation, Request, recommend_many

FILMS = 5  # of each answer
READS_ORDER = ("bert4rec", "sasrec-softmax", "gru4rec-ce", "markov")  # the first of them that can answer is shown
READS_NO_ORDER = ("user-knn", "popular")


@dataclass(frozen=True)
class Pair:
    """Two orders of the same films."""

    title: str
    names: tuple[str, str]
    orders: tuple[Order, Order]
    to_take: bool  # whether they are not the visitor's own, who may take them over


@st.fragment
@errors.show_errors()
def show(dataset: Dataset, films: Order) -> None:
    """The two orders, what the two recommenders predict after them, and what that means."""
    st.header(_("The same films in another order"))
    pair = choose(pairs(dataset, films))
    if pair is None:
        st.caption(
            _("Add two films to see what their order changes; this set does not have those of the demonstration.")
        )
        return
    for name, films_in_order in zip(pair.names, pair.orders, strict=True):
        page.show_titles(dataset, films_in_order, name)
    answers = ask(dataset, pair)
    if answers:
        st.markdown(" ".join(words.told(title, lists, reads) for title, (lists, reads) in answers.items()))
        st.html(tables.two_orders({title: lists for title, (lists, _unused) in answers.items()}, pair.names))
    with st.container(horizontal=True, vertical_alignment="center"):
        if pair.to_take:
            for number, (name, films_in_order) in enumerate(zip(pair.names, pair.orders, strict=True)):
                label = _("Take as your films: {mood}", mood=name)
                st.button(
                    label,
                    key=f"take-order-{number}",
                    icon=":material/playlist_add:",
                    on_click=take,
                    args=(films_in_order,),
                )
        with st.popover(_("Why order matters: the pet shop"), icon=":material/pets:", type="tertiary"):
            st.markdown(" ".join(words.MOODS_STORY))


def pairs(dataset: Dataset, films: Order) -> dict[str, Pair]:
    """The pairs of orders that can be shown, by a name: those of the visitor's own films first."""
    found = {}
    names = {"backwards": _("Latest first"), "shuffled": _("Shuffled")}
    for (key, name), other in zip(names.items(), order.reorderings(films, n=1), strict=False):
        title = _("Your films, {order}", order=name.lower())
        found[key] = Pair(title, (_("As watched"), name), (films, other), to_take=False)
    moods = order.moods(history.examples(cache.title_index(dataset.name)))
    if moods:
        (mood, first), (another, second) = moods
        last = (_("{mood} last", mood=say(mood)), _("{mood} last", mood=say(another)))
        found["evenings"] = Pair(_("Two evenings"), last, (first, second), to_take=True)
    return found


def choose(known: dict[str, Pair]) -> Pair | None:
    """One of the pairs; None where there is none."""
    if len(known) < 2:
        return next(iter(known.values()), None)
    if st.session_state.get("opening") not in known:  # the films it was about have gone
        st.session_state.pop("opening", None)
    name = st.segmented_control(
        _("Which orders"),
        list(known),
        default=next(iter(known)),
        required=True,
        format_func=lambda name: known[name].title,
        key="opening",
        label_visibility="collapsed",
        wrap=True,
        persist_state="session",
    )
    return known[name]


def ask(dataset: Dataset, pair: Pair) -> dict[str, tuple[list[list[Recommendation]], bool]]:
    """Title → its lists for the two orders, and whether it reads the order: one that does, and one that does not."""
    answers, requests = {}, [Request(films, FILMS) for films in pair.orders]
    for names, reads in ((READS_ORDER, True), (READS_NO_ORDER, False)):
        predictor = recommenders.predictor(able(names, dataset.name), dataset)
        if predictor is not None:
            answers[cache.recommender_title(predictor)] = recommend_many(predictor, requests), reads
    return answers


def able(names: tuple[str, ...], data: str) -> str:
    """The first that can answer at once or in seconds; the last one always can."""
    ready = (name for name in names if chosen.can_answer(name, data))
    return next(ready, names[-1])


def take(films: Order) -> None:
    """Make one of two evenings the visitor's own."""
    session.set_films(films)
    st.session_state.pop("opening", None)
    st.rerun()  # all of the page, not this part alone
