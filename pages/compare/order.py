"""The tab of Compare with the effect of the order of the films on the lists of the recommenders."""

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from pages.compare import common
from pages.ui import cache, film_cards, format, page
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT, set_layout, show_chart
from pages.ui.i18n import _, ngettext, number
from recsys.data.dataset import Dataset
from recsys.serving.insight import list_comparison
from recsys.serving.insight.list_comparison import Order, OrderEffect
from recsys.serving.predictor import Predictor

Effects = dict[str, OrderEffect]  # title of a recommender → the effect of the order on its list
# the chart of overlaps has a row for each recommender
MARGIN_PX = 110  # total height above and below the rows
ROW_HEIGHT_PX = 48


def show(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """Show how much the list of each recommender changes with the order, and the lists for a selected order."""
    orders = list_comparison.reorderings(films)
    if not orders:
        st.info(_("Add a second film to see what order changes."), icon=":material/playlist_add:")
        return
    effects = common.compute_for_ready(dataset, names, lambda predictor: cached_effect(predictor, films, k))
    if not effects:
        return
    if text := summary(effects):
        st.markdown(text)
    show_chart(
        plot_overlaps(effects),
        _("How much the lists of each recommender agree when the same films come in another order"),
        list_comparison.order_table(effects, [order_name(index) for index in range(1, len(orders) + 1)]),
        "order",
        _("Effect of order"),
    )
    orders_text = _("Your films in reverse order.")
    if n := len(orders) - 1:
        orders_text = ngettext(
            "Your films in reverse order, and shuffled {n} time.",
            "Your films in reverse order, and shuffled {n} times.",
            n,
        )
    overlap_text = _(
        "An overlap of 1 means the same list, and 0 means no film in common. The top of the list counts most "
        "(rank-biased overlap, p = {p:.1f}).",
        p=list_comparison.RBO_PERSISTENCE,
    )
    st.caption(f"{orders_text} {overlap_text}")
    label = _("See the lists for another order")
    panel = st.expander(label, icon=":material/shuffle:", on_change="rerun", key="which_order")
    if panel.open:
        with panel:
            show_lists(dataset, films, effects, orders)


@cache.cached_for_predictor(max_entries=64)
def cached_effect(predictor: Predictor, films: tuple[int, ...], k: int) -> OrderEffect:
    """Return the lists of a recommender for the given order and for all reorderings."""
    return list_comparison.order_effect(predictor, films, list_comparison.reorderings(films), k)


def summary(effects: Effects) -> str:
    """Return Markdown about the recommenders that ignore the order, and the recommender that depends on it most.

    It is "" if two films are in the list and all recommenders give equal lists for their two orders. This can be by
    chance.
    """
    sentences = []
    is_certain = all(len(effect.other_lists) > 1 for effect in effects.values())
    equal = [title for title, effect in effects.items() if effect.has_equal_lists]
    if equal and is_certain:
        text = ngettext(
            "{models} gives the same list in any order: it only considers which films you watched, not their order.",
            "{models} give the same lists in any order: they only consider which films you watched, not their order.",
            len(equal),
            models=common.bold_list(equal),
        )
        sentences.append(text)
    if len(equal) < len(effects):
        title, effect = min(effects.items(), key=lambda entry: entry[1].mean_overlap)
        text = _(
            "{model} depends most on the order: another order keeps {kept} of its {k} films on average.",
            model=common.bold_list([title]),
            kept=number(effect.mean_kept, ".1f"),
            k=len(effect.given_list),
        )
        sentences.append(text)
    return " ".join(sentences)


def plot_overlaps(effects: Effects) -> go.Figure:
    """Plot the overlaps of each recommender, the lowest mean on top. The labels have the mean number of kept films."""
    effect_by_label = {}
    for title, effect in sorted(effects.items(), key=lambda entry: entry[1].mean_overlap):
        k = len(effect.given_list)
        effect_by_label[_("{model}<br>keeps {kept:.1f} of {k} films", model=title, kept=effect.mean_kept, k=k)] = effect
    marks: tuple[tuple[str, str, str, int, Callable[[OrderEffect], list[float]]], ...] = (
        # name, symbol, colour, size, overlaps to plot. `effect.overlaps`: the reversed order, then the shuffles
        (_("shuffled"), "circle", ACCENT, 10, lambda effect: effect.overlaps[1:]),
        (_("reversed"), "diamond-open", SECOND_ACCENT, 10, lambda effect: effect.overlaps[:1]),
        (_("mean"), "line-ns-open", GREY, 18, lambda effect: [effect.mean_overlap]),
    )
    figure = go.Figure()
    for name, symbol, colour, size, get_overlaps in marks:
        points = [(x, label) for label, effect in effect_by_label.items() for x in get_overlaps(effect)]
        figure.add_scatter(
            x=[x for x, _label in points],
            y=[label for _x, label in points],
            mode="markers",
            cliponaxis=False,
            name=name,
            marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 2}},
            hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>",
        )
    mean_texts = [number(effect.mean_overlap, ".2f") for effect in effect_by_label.values()]
    figure.data[-1].update(mode="markers+text", text=mean_texts, textposition="top center")
    set_layout(figure, MARGIN_PX + ROW_HEIGHT_PX * len(effects)).update_yaxes(autorange="reversed", showgrid=True)
    return figure.update_xaxes(title=_("Overlap, from 0 to 1"), range=[-0.03, 1.03], tickformat=".1f")


def show_lists(dataset: Dataset, films: tuple[int, ...], effects: Effects, orders: list[Order]) -> None:
    """Show a slider that selects an order, and the lists of all recommenders for this order. orders: Other orders."""
    all_orders = (films, *orders)
    label, key = _("Order of your films"), f"order-of-{len(orders)}"
    index = st.select_slider(label, range(len(all_orders)), value=1, format_func=order_name, key=key)
    page.show_titles(dataset, all_orders[index], order_name(index))
    with st.grid("auto", min_column_width=260, gap=("large", "medium")):
        for title, effect in effects.items():
            with st.container(gap="small"):
                st.markdown(f"**{format.escape_markdown(title)}**")
                picks = (effect.given_list, *effect.other_lists)[index]
                st.html(film_cards.reordered_list(picks, [pick.item for pick in effect.given_list]))


def order_name(index: int) -> str:
    """Return the name of an order. index: 0 for the given order, 1 for the reversed order, 2 … for random orders."""
    if index == 0:
        return _("Your order")
    return _("Reversed") if index == 1 else _("Shuffle {n}", n=index - 1)
