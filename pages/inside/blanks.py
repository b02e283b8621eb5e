"""Fill in the blank: `[mask]` anywhere among the visitor's films, and what the network would put there."""

import pandas as pd
import streamlit as st

from pages.inside import offered, step, words
from pages.ui import download, errors, film_cards, recommenders
from pages.ui import words as common
from recsys.data.dataset import Dataset
from recsys.serving.export import as_record
from recsys.serving.insight import attention, cloze
from recsys.serving.insight.cloze import Blank
from recsys.serving.predictor import Predictor

MOST = 3  # films covered, and gaps filled, at a time
PICKS = 8
SHORT, AROUND = 14, 3  # a sequence that is shown whole; films around a blank of a longer one


@st.fragment
@errors.explained()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Choose the blanks, see what belongs there."""
    st.markdown(words.BLANKS_HELP)
    predictor = recommenders.predictor(
        offered.choose(offered.filling_blanks(), dataset.name, "filling_blanks", width=230), dataset
    )
    if predictor is None:
        return
    longest = predictor.model.max_length or len(films) + MOST
    first = max(0, len(films) + MOST - longest)
    hidden, gaps, hide_listed = choose(dataset, films, first)
    if first:
        st.caption(words.ONLY_NEWEST.format(n=longest))
    if not (hidden or gaps):
        st.info(words.CHOOSE_BLANK)
        return
    sequence, answers = cloze.with_blanks(films, hidden, gaps)
    strip(dataset, sequence)
    if len(films) < 3:
        st.caption(words.TOO_FEW_FOR_BOTH.format(n=len(films)))
    blanks = cloze.fill_blanks(predictor, sequence, PICKS, answers, hide_listed)
    with st.grid("auto", min_column_width=360, gap="large"):
        for blank in blanks:
            answer = answers.get(blank.position)
            with st.container(gap="small"):
                one(dataset, sequence, blank, answer)
            if answer is not None and cloze.between(sequence, blank.position):
                with st.container(gap="small"):
                    both_sides(predictor, sequence, blank.position, answer)
    download.csv(table(blanks), f"blanks-{dataset.name}")


def choose(dataset: Dataset, films: tuple[int, ...], first: int) -> tuple[list[int], list[int], bool]:
    """Positions of films to cover, gaps (the position of the film behind each), and whether to hide listed films.

    Only positions from `first` on are offered.
    """
    labels = [dataset.catalog.films[item].label for item in films]
    whose = hash((dataset.name, films))  # other films, other positions
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        hidden = st.multiselect(
            words.HIDE_FILMS,
            list(range(first, len(films))),
            select_all=False,
            default=[(first + len(films)) // 2],  # of three films and more, one with films on both sides
            format_func=lambda position: f"{position + 1}. {labels[position]}",
            max_selections=MOST,
            placeholder=words.HIDE_FILMS_HINT,
            key=f"hidden-{whose}",
            width=360,
            wrap=True,
        )
        gaps = st.multiselect(
            words.PUT_BLANKS,
            list(range(first, len(films) + 1)),
            select_all=False,
            format_func=lambda position: gap(labels, position),
            max_selections=MOST,
            placeholder=words.PUT_BLANKS_HINT,
            key=f"gaps-{whose}",
            width=360,
            wrap=True,
        )
        hide_listed = st.toggle(words.HIDE_LISTED, value=True, key="hide_listed", persist_state="session")
    return hidden, gaps, hide_listed


def gap(labels: list[str], position: int) -> str:
    """The gap before a position in words."""
    if position == 0:
        return words.GAP_START.format(film=labels[0])
    if position == len(labels):
        return words.GAP_END.format(film=labels[-1])
    return words.GAP.format(before=labels[position - 1], after=labels[position])


def strip(dataset: Dataset, sequence: list[int | None]) -> None:
    """The sequence with its blanks; of a long one, what is around them."""
    blanks = [position for position, item in enumerate(sequence) if item is None]
    chips = []
    for position, item in enumerate(sequence):
        if len(sequence) <= SHORT or min(abs(position - blank) for blank in blanks) <= AROUND:
            label = attention.MASK if item is None else dataset.catalog.films[item].label
            chips.append((position + 1, label, item is None))
    st.html(film_cards.tokens(chips))


def one(dataset: Dataset, sequence: list[int | None], blank: Blank, answer: int | None) -> None:
    """One blank: what is known of it, and the films for it."""
    st.header(words.BLANK_N.format(n=blank.position + 1))
    st.caption(common.plain(where(dataset, sequence, blank.position)))
    st.markdown(verdict(dataset, blank, answer))
    best = blank.picks[0].probability if blank.picks else None
    rows = (film_cards.line(pick.rank, pick.film, pick.probability, best) for pick in blank.picks)
    step.rows(rows)


def where(dataset: Dataset, sequence: list[int | None], position: int) -> str:
    """The films nearest to a blank, on either side."""
    films = dataset.catalog.films
    before = [films[item].label for item in sequence[:position] if item is not None]
    after = [films[item].label for item in sequence[position + 1 :] if item is not None]
    if before and after:
        return words.BLANK_BETWEEN.format(before=before[-1], after=after[0])
    if before:
        return words.BLANK_AFTER.format(film=before[-1])
    return words.BLANK_BEFORE.format(film=after[0]) if after else ""


def both_sides(predictor: Predictor, sequence: list[int | None], position: int, answer: int) -> None:
    """How the covered film ranks by the films before it, by those after it, and by both."""
    found = cloze.sides(predictor, sequence, position, answer)
    rows = {words.BY_BEFORE: found.before, words.BY_AFTER: found.after, words.BY_BOTH: found.both}
    table = pd.DataFrame(
        {
            words.SHOWN: list(rows),
            words.RANK: [words.rank(stands.rank if stands else None) for stands in rows.values()],
            words.PROBABILITY: [
                common.percent(stands.probability) if stands and stands.probability is not None else ""
                for stands in rows.values()
            ],
        }
    ).set_index(words.SHOWN)
    film = predictor.dataset.catalog.films[answer].label
    st.markdown(words.BOTH_SIDES.format(film=common.plain(film)))
    st.table(table, border="horizontal", alt=words.BOTH_SIDES_TABLE.format(film=film))


def verdict(dataset: Dataset, blank: Blank, answer: int | None) -> str:
    """The rank of the film that was covered; nobody knows what belongs into a gap."""
    if answer is None:
        return words.BLANK_FREE
    film = f"**{common.plain(dataset.catalog.films[answer].label)}**"
    found = blank.answer
    if found is None:
        return words.BLANK_TWICE.format(film=film)
    if found.probability is None:
        return words.BLANK_FOUND_PLAIN.format(film=film, rank=found.rank)
    return words.BLANK_FOUND.format(film=film, rank=found.rank, probability=common.percent(found.probability))


def table(blanks: list[Blank]) -> pd.DataFrame:
    """Every film for every blank, a row each."""
    return pd.DataFrame(
        [{"position": blank.position + 1, **as_record(pick)} for blank in blanks for pick in blank.picks]
    )
