"""What the order of the films does to each recommender's list: a tab of Compare."""

import streamlit as st

from pages.compare import chosen, tables, words
from pages.ui import cache, charts, film_cards, format, page
from pages.ui.i18n import _, ngettext, number
from recsys.data.dataset import Dataset
from recsys.serving.insight import order
from recsys.serving.insight.order import Order, OrderEffect
from recsys.serving.predictor import Predictor

Effects = dict[str, OrderEffect]  # by the title of the recommender


def what_order_does(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """How far each list moves, in sentences and as a chart, and the lists themselves for any of the orders."""
    orders = order.reorderings(films)
    if not orders:
        st.info(
            _("One film has no order. Add a second one, or see the two evenings at the top of the page."),
            icon=":material/playlist_add:",
        )
        return
    effects = chosen.each(dataset, names, lambda predictor: effect(predictor, films, k))
    if not effects:
        return
    st.markdown(summary(effects))
    st.html(tables.order_effects(effects))
    st.caption(
        ngettext(
            "The same films, once latest first and shuffled {n} times. 1 means exactly the same list, 0 "
            "no film in common; the top of the list counts most (rank-biased overlap, p = {p}).",
            "The same films, once latest first and shuffled {n} times. 1 means exactly the same list, 0 "
            "no film in common; the top of the list counts most (rank-biased overlap, p = {p}).",
            len(orders) - 1,
            p=number(order.PATIENCE, ""),
        )
    )
    names_of_orders = [words.order_name(number) for number in range(1, len(orders) + 1)]
    charts.download_buttons(order.table(effects, names_of_orders), "order")
    panel = st.expander(
        _("The lists for another order"), icon=":material/shuffle:", on_change="rerun", key="which_order"
    )
    with panel:
        if panel.open:
            lists(dataset, films, effects, orders)


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def effect(predictor: Predictor, films: tuple[int, ...], k: int) -> OrderEffect:
    """The lists for all orders; kept, so that the slider only picks one."""
    return order.order_effect(predictor, films, order.reorderings(films), k)


def summary(effects: Effects) -> str:
    """Who ignores the order, and who depends on it most, as Markdown."""
    sentences = []
    if ignoring := [title for title, effect in effects.items() if effect.ignores_order]:
        sentence = (
            _("{models} gives the same list whatever the order: it knows what you watched, not when.")
            if len(ignoring) == 1
            else _("{models} give the same list whatever the order: they know what you watched, not when.")
        )
        sentences.append(sentence.format(models=words.listed(ignoring)))
    if len(ignoring) < len(effects):
        title, most = min(effects.items(), key=lambda item: item[1].overlap)
        kept = words.mean(most.mean_kept)
        sentences.append(
            _(
                "{model} depends on the order most: another order keeps {kept} of its {k} films on average.",
                model=words.listed([title]),
                k=len(most.first),
                kept=kept,
            )
        )
    return " ".join(sentences)


def lists(dataset: Dataset, films: tuple[int, ...], effects: Effects, orders: list[Order]) -> None:
    """A slider over the orders, and every list for the one chosen."""
    number = st.select_slider(
        _("Drag to another order of the same films"),
        range(len(orders) + 1),
        value=1,
        format_func=words.order_name,
        key=f"order-of-{len(orders)}",
    )
    page.show_titles(dataset, (films, *orders)[number])
    with st.grid("auto", min_column_width=260, gap=("large", "medium")):
        for title, effect in effects.items():
            with st.container(gap="small"):
                st.markdown(f"**{format.escape_markdown(title)}**")
                picks = (effect.first, *effect.others)[number]
                st.html(film_cards.reordered_list(picks, [pick.item for pick in effect.first]))
