"""The panel of Watch next that tests the available recommenders on the last films of the visitor.

Session state: guessed (the `_test_key` and the `FilmRanks` of the last test).
"""

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from pages.ui import cache, charts, errors, format, recommenders, session
from pages.ui.cache import ranks_of_hidden_films
from pages.ui.i18n import N_, _, ngettext, number
from pages.ui.visitor import visitor
from recsys.data.dataset import Dataset
from recsys.serving.insight import list_comparison
from recsys.serving.recommend import RankPosition

BAR_COLOUR = f"{charts.ACCENT}73"  # with an opacity of 45%, as in the leaderboard
LINE_WIDTH = 0.02  # share of the width of the cell
CSV_NAMES = {  # column of `list_comparison.hit_table` → name in the downloaded table
    "hits": "found",
    "hit_rate_low": "low",
    "hit_rate_high": "high",
    "median_low": "best",
    "median_high": "worst",
}
TITLE = N_("Which recommender would have predicted your last films?")
FilmRanks = dict[str, list[RankPosition]]  # title of a recommender → rank of each hidden film


@st.fragment
def panel(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the panel. It is closed by default, and nothing is computed before a click."""
    with st.expander(_(TITLE), icon=":material/psychology_alt:", key="guessed-open", on_change="rerun") as expander:
        if not expander.open:
            return
        positions = tuple(list_comparison.last_item_positions(films, dataset.n_items))
        if not positions:
            st.caption(_("Add a second film. To predict a film, a recommender needs at least one film before it."))
            return
        text = ngettext(
            "Your last film is hidden, and each available recommender predicts it from the films before it.",
            "Each of your last {n} films is hidden in turn, and each available recommender predicts it from the "
            "films before it.",
            len(positions),
        )
        st.caption(text)
        last_test, ranks = st.session_state.get("guessed", (None, {}))
        if last_test != _test_key(dataset, films):
            ranks = _test_after_click(dataset, films, positions)
        if ranks:
            _show_results(ranks, len(positions))


def _test_after_click(dataset: Dataset, films: tuple[int, ...], positions: tuple[int, ...]) -> FilmRanks:
    """Show a button that tests the available recommenders on the films at these positions.

    Returns:
        The ranks of the films after a click on the button, else {}. A recommender that fails is left out.
    """
    names = recommenders.ready_names(dataset.name)
    label = ngettext("Test {n} recommender", "Test {n} recommenders", len(names))
    button_slot = st.empty()  # the button disappears after the test, unless all recommenders fail
    if not button_slot.button(label, key="guess", icon=":material/groups:"):
        return {}
    ranks: FilmRanks = {}
    bar = st.progress(0.0)
    for n, name in enumerate(names):
        recommender = cache.all_recommenders()[name]
        text = _("Testing {model}: {n} of {all}", model=cache.recommender_title(recommender), n=n + 1, all=len(names))
        bar.progress(n / len(names), format.escape_markdown(text))
        with errors.show_errors():
            predictor = session.adapt_to_current_list(cache.load_predictor(name, dataset.name))
            ranks[recommender.title] = ranks_of_hidden_films(predictor, films, positions)
    bar.empty()
    if ranks:
        button_slot.empty()
        st.session_state.guessed = _test_key(dataset, films), ranks
    return ranks


def _test_key(dataset: Dataset, films: tuple[int, ...]) -> tuple[str, tuple[int, ...], bool, list[str]]:
    """Return the values that determine the ranks: data, films, whether their order counts, available recommenders."""
    return dataset.fingerprint, films, visitor().current.in_watch_order, recommenders.ready_names(dataset.name)


def _show_results(ranks: FilmRanks, n_films: int) -> None:
    """Show a summary and a table of the recommenders, the best one first."""
    rows = list_comparison.hit_table(ranks)
    st.markdown(summary(rows, n_films))
    alt = ngettext(
        "Whether each recommender had your last film in its top {k}, with 95% intervals",
        "How many of your last {n} films each recommender had in its top {k}, with 95% intervals",
        n_films,
        k=list_comparison.TOP_K,
    )
    st.table(_table(rows, n_films), alt=alt, border="horizontal")
    text = _(
        "The 95% intervals are based on your films only: a Wilson interval for the share, order statistics for the "
        "median rank."
    )
    st.caption(text)
    charts.download_numbers(rows.rename(columns=CSV_NAMES), "last-films-guessed", _(TITLE))


def summary(rows: pd.DataFrame, n_films: int) -> str:
    """Return Markdown that names the best recommender and compares its interval with the others.

    rows: `list_comparison.hit_table`, the best recommender first.
    """
    k, best = list_comparison.TOP_K, rows.iloc[0]
    if not best.hits:
        return ngettext(
            "No recommender had your last film in its top {k}.",
            "No recommender had any of your last {n} films in its top {k}.",
            n_films,
            k=k,
        )
    n_ties = int((rows["hits"] == best.hits).sum()) - 1
    fields = {"best": format.escape_markdown(_(best.recommender)), "k": k, "hits": best.hits}
    text = (
        ngettext(
            "**{best}** and {ties} more had your last film in their top {k}.",
            "**{best}** and {ties} more had {hits} of your last {n} films in their top {k}.",
            n_films,
            ties=n_ties,
            **fields,
        )
        if n_ties
        else ngettext(
            "**{best}** had your last film in its top {k}.",
            "**{best}** had {hits} of your last {n} films in its top {k}.",
            n_films,
            **fields,
        )
    )
    return text if len(rows) == 1 else f"{text} {_overlap_note(rows)}"


def _overlap_note(rows: pd.DataFrame) -> str:
    """Return a sentence about the overlap of the best recommender's interval with the others."""
    if n_overlaps := int((rows["hit_rate_high"].iloc[1:] >= rows["hit_rate_low"].iloc[0]).sum()):
        note = ngettext(
            "There are too few films for a clear result: the interval of {n} other recommender overlaps with that of "
            "the best one.",
            "There are too few films for a clear result: the intervals of {n} other recommenders overlap with that of "
            "the best one.",
            n_overlaps,
        )
        return f"{note} " + _("The Evaluation page compares recommenders on hundreds of people.")
    return _("Its interval is above all others, so the difference is clear.")


def _table(rows: pd.DataFrame, n_films: int) -> Styler:
    """Return a row of texts per recommender: hits with interval, NDCG, and median rank with interval.

    Each cell with the interval of the hits also has an `interval_bar`.
    """

    def format_rank(rank: float) -> str:
        return "–" if rank == float("inf") else number(rank, ",.0f")

    cells = []
    for row in rows.itertuples():
        title, hits = format.escape_markdown(_(row.recommender)), _("{hits} of {n}", hits=row.hits, n=n_films)
        interval = f"{number(row.hit_rate_low, '.0%')} – {number(row.hit_rate_high, '.0%')}"
        median = format_rank(row.median)
        if not pd.isna(row.median_low):  # there are enough films for an interval of the median
            median += f" ({format_rank(row.median_low)} – {format_rank(row.median_high)})"
        cells.append((title, hits, interval, format.metric(row.ndcg), median))
    k = list_comparison.TOP_K
    headings = [_("Recommender"), _("In its top {k}", k=k), _("95% interval"), _("NDCG@{k}", k=k), _("Median rank")]
    table = pd.DataFrame(cells, columns=headings).set_index(headings[0])
    bars = [interval_bar(row.hit_rate_low, row.hits / n_films, row.hit_rate_high) for row in rows.itertuples()]
    return table.style.apply(lambda _column: bars, subset=[headings[2]])


def interval_bar(low: float, share: float, high: float) -> str:
    """Return the CSS of a table cell with a bar from `low` to `high` and a line at `share`, from 0 to 1."""
    line_start, line_end = max(0.0, share - LINE_WIDTH / 2), min(1.0, share + LINE_WIDTH / 2)
    stops = (
        f"transparent {low:.1%}",
        f"{BAR_COLOUR} {low:.1%} {line_start:.1%}",
        f"{charts.ACCENT} {line_start:.1%} {line_end:.1%}",
        f"{BAR_COLOUR} {line_end:.1%} {high:.1%}",
        f"transparent {high:.1%}",
    )
    position = "0 100% / 100% 0.4rem no-repeat"  # below the text
    return f"background: linear-gradient(to right, {', '.join(stops)}) {position}; min-width: 8rem"
