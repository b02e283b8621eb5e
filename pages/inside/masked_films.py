"""The section Masked films: masks anywhere in the visitor's list, and the films that are predicted for them.

A mask replaces a film, or it is added between films. In a sequence, None stands for a mask.
"""

from typing import Any

import pandas as pd
import streamlit as st

from pages.inside import common
from pages.ui import charts, film_cards, recommenders
from pages.ui.format import escape_markdown, percent
from pages.ui.i18n import _, count, ngettext
from recsys.data.dataset import Dataset
from recsys.serving.export import as_record
from recsys.serving.insight import attention, cloze
from recsys.serving.insight.cloze import MaskPrediction
from recsys.serving.predictor import Predictor

MAX_MASKS = 3  # masked films at most, and added masks at most
N_PICKS = 8  # predicted films for each mask
MAX_WHOLE_SEQUENCE = 14  # positions; of a longer sequence, only the masks and the films around them are shown
N_CONTEXT_FILMS = 3  # films around a mask, on each side


def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the menus of masks, the sequence with its masks, and the predicted films for each mask.

    films: Items of the visitor's list.
    """
    text = _(
        "Put `[mask]` anywhere in your list. The model predicts the film from the films **before and after** it. "
        "This works for BERT4Rec and item2vec (CBOW), which are trained with masked films. SASRec and the other "
        "models can only continue a list."
    )
    st.markdown(text)
    name = common.choose_recommender(lambda model: model.can_fill_masks, dataset, "filling_blanks")
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    full_length = len(films) + MAX_MASKS
    max_length = predictor.model.max_length or full_length
    start = max(0, full_length - max_length)  # if MAX_MASKS masks are added, the model does not read earlier films
    masked_positions, added_positions, exclude_listed = choose_masks(dataset, films, start)
    if start:
        text = ngettext(
            "The model reads up to {n} position, so you can only mask your latest film.",
            "The model reads up to {n} positions, so you can only mask your latest films.",
            max_length,
        )
        st.caption(text)
    if not (masked_positions or added_positions):
        st.info(_("Mask a film or add a mask between films."))
        return
    sequence, answers = cloze.insert_masks(films, masked_positions, added_positions)
    show_sequence(dataset, sequence)
    if len(films) < 3:
        st.caption(common.short_list_note(len(films)))
    predictions = cloze.fill_masks(predictor, sequence, N_PICKS, answers, exclude_listed)
    with st.grid("auto", min_column_width=360, gap="large"):
        for prediction in predictions:
            masked_item = answers.get(prediction.position)
            with st.container(gap="small"):
                show_prediction(dataset, sequence, prediction, masked_item)
            if masked_item is not None and cloze.has_films_on_both_sides(sequence, prediction.position):
                with st.container(gap="small"):
                    show_sides(predictor, sequence, prediction.position, masked_item)
    records = [
        {"position": prediction.position + 1, **as_record(pick)}
        for prediction in predictions
        for pick in prediction.picks
    ]
    charts.download_buttons(pd.DataFrame(records), f"blanks-{dataset.name}", _("Masked films"))


def choose_masks(dataset: Dataset, films: tuple[int, ...], start: int) -> tuple[list[int], list[int], bool]:
    """Show the menus of masked films and of places for added masks, and the toggle that excludes the visitor's films.

    Positions before `start` cannot have a mask.

    Returns:
        The positions of the masked films, the positions before which masks are added, and whether the visitor's films
        are excluded from the predictions.
    """
    labels = [dataset.catalog.films[item].label for item in films]
    list_id = hash((dataset.name, films))  # in the widget keys, because chosen positions are only valid for this list
    options: dict[str, Any] = {"select_all": False, "max_selections": MAX_MASKS, "width": 360, "wrap": True}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        masked_positions = st.multiselect(
            _("Mask films"),
            list(range(start, len(films))),
            default=[(start + len(films)) // 2],  # with three or more films, there are films on both sides of it
            format_func=lambda position: f"{position + 1}. {labels[position]}",
            placeholder=_("No masked films"),
            key=f"hidden-{list_id}",
            **options,
        )
        added_positions = st.multiselect(
            _("Add a mask between films"),
            list(range(start, len(films) + 1)),
            format_func=lambda position: place_label(labels[:position], labels[position:]),
            placeholder=_("No added masks"),
            key=f"gaps-{list_id}",
            **options,
        )
        exclude_listed = st.toggle(
            _("Exclude films in your list"), value=True, key="hide_listed", persist_state="session"
        )
    return masked_positions, added_positions, exclude_listed


def place_label(before: list[str], after: list[str]) -> str:
    """Return the name of a place in the list, "" if the list is empty. before, after: Titles of films on each side."""
    if before and after:
        return _("Between {before} and {after}", before=before[-1], after=after[0])
    if before:
        return _("After {film}", film=before[-1])
    return _("Before {film}", film=after[0]) if after else ""


def show_sequence(dataset: Dataset, sequence: list[int | None]) -> None:
    """Show the sequence of items, None for a mask. Of a long sequence, only films near masks are shown."""
    masks = [position for position, item in enumerate(sequence) if item is None]
    chips = []
    for position, item in enumerate(sequence):
        distance = min(abs(position - mask) for mask in masks)
        if len(sequence) <= MAX_WHOLE_SEQUENCE or distance <= N_CONTEXT_FILMS:
            label = attention.MASK_LABEL if item is None else dataset.catalog.films[item].label
            chips.append((position + 1, label, item is None))
    st.html(film_cards.sequence_chips(chips))


def show_prediction(
    dataset: Dataset, sequence: list[int | None], prediction: MaskPrediction, masked_item: int | None
) -> None:
    """Show a mask with its predicted films. masked_item: None for an added mask."""
    films, position = dataset.catalog.films, prediction.position
    before = [films[item].label for item in sequence[:position] if item is not None]
    after = [films[item].label for item in sequence[position + 1 :] if item is not None]
    st.header(_("Mask at position {n}", n=position + 1))
    st.caption(escape_markdown(place_label(before, after)))
    if masked_item is not None:
        st.markdown(answer_text(f"**{escape_markdown(films[masked_item].label)}**", prediction))
    max_probability = prediction.picks[0].probability if prediction.picks else None
    common.show_film_rows(
        film_cards.row(pick.rank, pick.film, pick.probability, max_probability) for pick in prediction.picks
    )


def answer_text(film: str, prediction: MaskPrediction) -> str:
    """Return a sentence with the rank of the masked film. film: Title of the masked film in Markdown."""
    if prediction.answer_rank is None:
        return _(
            "You watched {film} here. It is also elsewhere in your list, so it is excluded and has no rank.", film=film
        )
    rank, probability = prediction.answer_rank.rank, prediction.answer_rank.probability
    if probability is None:
        return _("You watched {film} here: rank {rank:,}.", film=film, rank=rank)
    share = percent(probability)
    return _("You watched {film} here: rank {rank:,}, {probability}.", film=film, rank=rank, probability=share)


def show_sides(predictor: Predictor, sequence: list[int | None], position: int, masked_item: int) -> None:
    """Show the rank of a masked film if it is predicted from the films before it, the films after it, or both."""
    sides = cloze.rank_by_side(predictor, sequence, position, masked_item)
    rows = []
    contexts = ((_("Films before"), sides.before), (_("Films after"), sides.after), (_("Both"), sides.both))
    for context, result in contexts:  # no result: the model does not read the mask, or the film is twice in the list
        rank = count(result.rank) if result and result.rank else _("not in the list")
        probability = percent(result.probability) if result and result.probability is not None else ""
        rows.append({_("Context"): context, _("Rank"): rank, _("Probability"): probability})
    table = pd.DataFrame(rows).set_index(_("Context"))
    film = predictor.dataset.catalog.films[masked_item].label
    text = _(
        "Which side helps more? The rank of {film} when it is predicted from only part of your list:",
        film=escape_markdown(film),
    )
    st.markdown(text)
    alt = _(
        "Rank and probability of {film}, predicted from the films before it, from the films after it, and from both",
        film=film,
    )
    st.table(table, border="horizontal", alt=alt)
