"""Fill in the blank: `[mask]` anywhere among the visitor's films, and what the network would put there."""

import pandas as pd
import streamlit as st

from pages.inside import offered, step, words
from pages.ui import charts, errors, film_cards, format, recommenders
from pages.ui.i18n import _, ngettext
from recsys.data.dataset import Dataset
from recsys.serving.export import as_record
from recsys.serving.insight import attention, cloze
from recsys.serving.insight.cloze import Blank
from recsys.serving.predictor import Predictor

MOST = 3  # films covered, and gaps filled, at a time
PICKS = 8
SHORT, AROUND = 14, 3  # a sequence that is shown whole; films around a blank of a longer one


@st.fragment
@errors.show_errors()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Choose the blanks, see what belongs there."""
    st.markdown(
        _(
            "Put `[mask]` anywhere, and a network that was trained by covering films predicts what "
            "belongs there, from what you watched before **and after**. item2vec (CBOW) can do it too: "
            "it is like a BERT4Rec of one layer whose attention is fixed. SASRec and the others read "
            "from the first film to the last and can only continue."
        )
    )
    predictor = recommenders.predictor(
        offered.choose(offered.filling_blanks(), dataset.name, "filling_blanks", width=230), dataset
    )
    if predictor is None:
        return
    longest = predictor.model.max_length or len(films) + MOST
    first = max(0, len(films) + MOST - longest)
    hidden, gaps, hide_listed = choose(dataset, films, first)
    if first:
        st.caption(
            ngettext(
                "The network reads one position at most, so only your newest film can be covered.",
                "The network reads {n} positions at most, so only your newest films can be covered.",
                longest,
            )
        )
    if not (hidden or gaps):
        st.info(_("Cover a film of your list, or put a blank into a gap."))
        return
    sequence, answers = cloze.with_blanks(films, hidden, gaps)
    strip(dataset, sequence)
    if len(films) < 3:
        st.caption(
            _(
                "With three films or more, one can be covered that has films before **and** after it. You have {n}.",
                n=len(films),
            )
        )
    blanks = cloze.fill_blanks(predictor, sequence, PICKS, answers, hide_listed)
    with st.grid("auto", min_column_width=360, gap="large"):
        for blank in blanks:
            answer = answers.get(blank.position)
            with st.container(gap="small"):
                one(dataset, sequence, blank, answer)
            if answer is not None and cloze.between(sequence, blank.position):
                with st.container(gap="small"):
                    both_sides(predictor, sequence, blank.position, answer)
    charts.download_buttons(table(blanks), f"blanks-{dataset.name}")


def choose(dataset: Dataset, films: tuple[int, ...], first: int) -> tuple[list[int], list[int], bool]:
    """Positions of films to cover, gaps (the position of the film behind each), and whether to hide listed films.

    Only positions from `first` on are offered.
    """
    labels = [dataset.catalog.films[item].label for item in films]
    whose = hash((dataset.name, films))  # other films, other positions
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        hidden = st.multiselect(
            _("Cover films"),
            list(range(first, len(films))),
            select_all=False,
            default=[(first + len(films)) // 2],  # of three films and more, one with films on both sides
            format_func=lambda position: f"{position + 1}. {labels[position]}",
            max_selections=MOST,
            placeholder=_("None is covered"),
            key=f"hidden-{whose}",
            width=360,
            wrap=True,
        )
        gaps = st.multiselect(
            _("Put a blank into a gap"),
            list(range(first, len(films) + 1)),
            select_all=False,
            format_func=lambda position: gap(labels, position),
            max_selections=MOST,
            placeholder=_("No gap is filled"),
            key=f"gaps-{whose}",
            width=360,
            wrap=True,
        )
        hide_listed = st.toggle(_("Hide films of your list"), value=True, key="hide_listed", persist_state="session")
    return hidden, gaps, hide_listed


def gap(labels: list[str], position: int) -> str:
    """The gap before a position in words."""
    if position == 0:
        return _("before {film}", film=labels[0])
    if position == len(labels):
        return _("after {film}", film=labels[-1])
    return _("between {before} and {after}", before=labels[position - 1], after=labels[position])


def strip(dataset: Dataset, sequence: list[int | None]) -> None:
    """The sequence with its blanks; of a long one, what is around them."""
    blanks = [position for position, item in enumerate(sequence) if item is None]
    chips = []
    for position, item in enumerate(sequence):
        if len(sequence) <= SHORT or min(abs(position - blank) for blank in blanks) <= AROUND:
            label = attention.MASK if item is None else dataset.catalog.films[item].label
            chips.append((position + 1, label, item is None))
    st.html(film_cards.sequence_chips(chips))


def one(dataset: Dataset, sequence: list[int | None], blank: Blank, answer: int | None) -> None:
    """One blank: what is known of it, and the films for it."""
    st.header(_("Blank at position {n}", n=blank.position + 1))
    st.caption(format.escape_markdown(where(dataset, sequence, blank.position)))
    st.markdown(verdict(dataset, blank, answer))
    best = blank.picks[0].probability if blank.picks else None
    rows = (film_cards.row(pick.rank, pick.film, pick.probability, best) for pick in blank.picks)
    step.rows(rows)


def where(dataset: Dataset, sequence: list[int | None], position: int) -> str:
    """The films nearest to a blank, on either side."""
    films = dataset.catalog.films
    before = [films[item].label for item in sequence[:position] if item is not None]
    after = [films[item].label for item in sequence[position + 1 :] if item is not None]
    if before and after:
        return _("Between {before} and {after}", before=before[-1], after=after[0])
    if before:
        return _("After {film}", film=before[-1])
    return _("Before {film}", film=after[0]) if after else ""


def both_sides(predictor: Predictor, sequence: list[int | None], position: int, answer: int) -> None:
    """How the covered film ranks by the films before it, by those after it, and by both."""
    found = cloze.sides(predictor, sequence, position, answer)
    rows = {_("Only the films before"): found.before, _("Only the films after"): found.after, _("Both"): found.both}
    table = pd.DataFrame(
        {
            _("Shown"): list(rows),
            _("Rank"): [words.rank(stands.rank if stands else None) for stands in rows.values()],
            _("Probability"): [
                format.percent(stands.probability) if stands and stands.probability is not None else ""
                for stands in rows.values()
            ],
        }
    ).set_index(_("Shown"))
    film = predictor.dataset.catalog.films[answer].label
    st.markdown(
        _(
            "What do the two sides bring? Where {film} ranks when the network is shown only a part:",
            film=format.escape_markdown(film),
        )
    )
    st.table(
        table,
        border="horizontal",
        alt=_("Rank and probability of {film} by the films before it, by those after it, and by both", film=film),
    )


def verdict(dataset: Dataset, blank: Blank, answer: int | None) -> str:
    """The rank of the film that was covered; nobody knows what belongs into a gap."""
    if answer is None:
        return _("Nobody knows what belongs here.")
    film = f"**{format.escape_markdown(dataset.catalog.films[answer].label)}**"
    found = blank.answer
    if found is None:
        return _("You watched {film} here. It is in your list a second time, so it is not offered.", film=film)
    if found.probability is None:
        return _("You watched {film} here: rank {rank:,}.", film=film, rank=found.rank)
    return _(
        "You watched {film} here: rank {rank:,}, at {probability}.",
        film=film,
        rank=found.rank,
        probability=format.percent(found.probability),
    )


def table(blanks: list[Blank]) -> pd.DataFrame:
    """Every film for every blank, a row each."""
    return pd.DataFrame(
        [{"position": blank.position + 1, **as_record(pick)} for blank in blanks for pick in blank.picks]
    )
