"""The tab of Compare that hides one of the visitor's films, and shows which recommenders would have predicted it.

A hidden film is a held-out item: it is ranked from the films before it.

Session state: hidden_film_test (a `HiddenFilmTest`).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from pages.compare import common
from pages.ui import cache, charts, errors, format, page, recommenders
from pages.ui.cache import ranks_of_hidden_films
from pages.ui.i18n import _, count, ngettext
from pages.ui.visitor import visitor
from pages.ui.widgets import button, selectbox
from recsys.data.dataset import Dataset
from recsys.serving.insight import list_comparison
from recsys.serving.recommend import RankPosition

MAX_TITLES = 4  # recommenders that a sentence names


class Question(NamedTuple):
    """A hidden film and its list. Stored ranks are discarded when the question changes."""

    fingerprint: str  # of the data set
    films: tuple[int, ...]  # the visitor's list
    in_watch_order: bool  # False: the films are favourites in no order
    position: int  # of the hidden film in the list, from 0


@dataclass
class HiddenFilmTest:
    """The ranks of a hidden film with recommenders that are not selected on the page."""

    question: Question
    ranks: dict[str, RankPosition] = field(default_factory=dict)  # English title of a recommender → rank
    asked_names: list[str] = field(default_factory=list)  # recommenders with a rank or an error
    is_running: bool = False  # True: each run of the page asks further recommenders


def show(dataset: Dataset, films: tuple[int, ...], names: list[str]) -> None:
    """Render the selector of the hidden film, its ranks, and a panel that hides each film in turn."""
    # newest first, without infrequent films and without the first film, which has no film before it
    positions = list_comparison.last_item_positions(films, dataset.n_items, n=len(films))
    if not positions:
        text = _("Add a second film. To hide a film, there must be another film before it.")
        st.info(text, icon=":material/playlist_add:")
        return
    labels = {position: dataset.catalog.films[films[position]].label for position in positions}
    position = selectbox(_("Hide this film"), labels, f"hide-among-{len(films)}-{films[-1]}", width=420)
    page.show_titles(dataset, films[:position], _("Input"))
    st.caption(_("Each recommender gets only the films before the hidden film in your list."))
    question = Question(dataset.fingerprint, films, visitor().current.in_watch_order, position)
    test = st.session_state.get("hidden_film_test")
    if test is None or test.question != question:
        test = st.session_state.hidden_film_test = HiddenFilmTest(question)
    ranks = common.compute_for_ready(
        dataset, names, lambda predictor: ranks_of_hidden_films(predictor, films, (position,))[0]
    )
    ranks |= {_(title): rank for title, rank in test.ranks.items()}
    if ranks:
        st.markdown(summary(ranks, labels[position]))
        common.show_rank_table(ranks, labels[position], "hidden-film", mark_hits=True)
    show_ask_button(dataset, test, names)
    label = _("Hide each of your films in turn")
    with st.expander(label, icon=":material/grid_on:", on_change="rerun", key="hide_all") as expander:
        if expander.open:
            show_each_film_hidden(dataset, films, names, positions)


def summary(ranks: dict[str, RankPosition], film: str) -> str:
    """Return Markdown with the recommenders that rank a film in the top TOP_K, or their number if above MAX_TITLES."""
    titles = [title for title, rank in ranks.items() if list_comparison.is_hit(rank)]
    label, k = format.escape_markdown(film), list_comparison.TOP_K
    if not titles:
        return _("None of these would have shown you {film} in the top {k}.", film=label, k=k)
    if len(titles) > MAX_TITLES:
        return _(
            "**{n} of {total}** recommenders would have shown you {film} in the top {k}.",
            n=len(titles),
            total=len(ranks),
            film=label,
            k=k,
        )
    return ngettext(
        "{models} would have shown you {film} in the top {k}.",
        "{models} would have shown you {film} in the top {k}.",
        len(titles),
        models=common.bold_list(titles),
        film=label,
        k=k,
    )


def show_ask_button(dataset: Dataset, test: HiddenFilmTest, selected_names: list[str]) -> None:
    """Show a button that asks all other recommenders. While they are asked, show the progress and a Stop button."""
    remaining_names = [
        name
        for name in cache.all_recommenders()
        if name not in selected_names and name not in test.asked_names and recommenders.can_answer(name, dataset.name)
    ]
    if test.is_running:
        button(_("Stop"), "stop_trying", "stop", setattr, test, "is_running", False)
        ask_in_turn(dataset, test, remaining_names)
    elif remaining_names:
        label = ngettext("Ask {n} more recommender", "Ask {n} more recommenders", len(remaining_names))
        help_text = _("All recommenders that are ready or can be prepared within seconds. Each is prepared only once.")
        button(label, "try_all", "groups", setattr, test, "is_running", True, help=help_text)


def ask_in_turn(dataset: Dataset, test: HiddenFilmTest, remaining_names: list[str]) -> None:
    """Ask the recommenders one after the other, and rerun the page at the end.

    If a fit takes longer than `recommenders.MAX_WAIT_SECONDS` seconds, the page shows its progress, and the function
    returns. When the fit ends, the page reruns and continues with this recommender.
    """
    bar, get_predictor = st.progress(0.0), common.predictor_getter(dataset)
    for n, name in enumerate(remaining_names):
        title = cache.all_recommenders()[name].title
        text = _("Asking {model}: {n} of {total}", model=_(title), n=n + 1, total=len(remaining_names))
        bar.progress(n / len(remaining_names), format.escape_markdown(text))
        with errors.show_errors():
            if predictor := get_predictor(name):
                (test.ranks[title],) = ranks_of_hidden_films(predictor, test.question.films, (test.question.position,))
            else:
                fit = recommenders.find_fit(name, dataset.name)
                if fit and not fit.error and not fit.is_cancelled:
                    return  # the fit is running
        test.asked_names.append(name)
    test.is_running = False
    st.rerun()  # updates the table above


def show_each_film_hidden(dataset: Dataset, films: tuple[int, ...], names: list[str], positions: list[int]) -> None:
    """Show the ranks of the newest films, hidden in turn, as a heat map, and a note on the small sample."""
    newest_positions = tuple(positions[: list_comparison.MAX_HELD_OUT])
    ranks = common.compute_for_ready(
        dataset, names, lambda predictor: ranks_of_hidden_films(predictor, films, newest_positions)
    )
    if not ranks:
        return
    text = _(
        "Each film is hidden in turn and predicted from the films before it. The number is its rank. The stronger "
        "the colour, the closer it is to the top."
    )
    st.caption(text)
    n = len(newest_positions)
    if n < len(positions):
        st.caption(ngettext("Only your latest film is hidden.", "Only your latest {n} films are hidden.", n))
    labels = [dataset.catalog.films[films[position]].label for position in newest_positions]
    st.table(rank_heat_map(ranks, newest_positions, labels), alt=_("The rank of each of your films, hidden in turn"))
    text = ngettext(
        "{n} film is a small sample: it counts for {points:.0f}% of the result. The Evaluation page tests hundreds "
        "of people or more. If these films come from a person in the data set, the recommenders may have been "
        "trained on them.",
        "{n} films are a small sample: each film counts for {points:.0f}% of the result. The Evaluation page tests "
        "hundreds of people or more. If these films come from a person in the data set, the recommenders may have "
        "been trained on them.",
        n,
        points=100 / n,
    )
    st.caption(text)
    charts.download_buttons(list_comparison.rank_table(ranks, labels), "hidden-films", _("Hide a film"))


def rank_heat_map(ranks: dict[str, list[RankPosition]], positions: tuple[int, ...], labels: list[str]) -> Styler:
    """Return a table of ranks with a row per film and a column per recommender. The last two rows are metrics.

    Ranks in the top TOP_K are bold. The better a rank, the stronger the shade of its cell.
    """
    film_headings = [format.escape_markdown(f"{n + 1} · {label}") for n, label in zip(positions, labels, strict=True)]
    cells, strengths = {}, {}
    for title, film_ranks in ranks.items():
        hits = [list_comparison.is_hit(rank) for rank in film_ranks]
        texts = [count(rank.rank) if rank.rank else "–" for rank in film_ranks]
        rank_cells = [f"**{text}**" if is_hit else text for text, is_hit in zip(texts, hits, strict=True)]
        mrr = format.metric(list_comparison.mean_reciprocal_rank(film_ranks))
        heading = format.escape_markdown(title)
        cells[heading] = [*rank_cells, str(sum(hits)), mrr]
        strengths[heading] = [*(rank.log_rank_score for rank in film_ranks), np.nan, np.nan]
    metric_headings = [_("In the top {k}", k=list_comparison.TOP_K), _("Mean reciprocal rank")]
    index = pd.Index([*film_headings, *metric_headings], name=_("Film"))
    return common.shade(pd.DataFrame(cells, index), pd.DataFrame(strengths, index))
