"""Every recommender's list in a column of its own, and what the lists have in common: a tab of Compare."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.compare import chosen, tables, words
from pages.ui import cache, charts, errors, film_cards, format, recommenders, session
from pages.ui.i18n import _, say
from recsys.data.dataset import Dataset
from recsys.serving.insight import overlap
from recsys.serving.recommend import Recommendation, Request, recommend

Lists = dict[str, list[Recommendation]]  # by the title of the recommender
Slots = dict[str, DeltaGenerator]  # by its name


def side_by_side(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """The lists, and how far they agree where there are two."""
    slots = columns(names)
    lists = fill(predict(dataset, Request(films, k, ratings=session.current_ratings(dataset, films)), slots), slots)
    if len(lists) > 1:
        agreement(dataset, lists, k)


def columns(names: list[str]) -> Slots:
    """A headed column for each recommender, still to be filled."""
    slots, known = {}, cache.all_recommenders()
    with st.grid("auto", min_column_width=300, gap=("large", "medium")):
        for name in names:
            title, family = (
                format.escape_markdown(cache.recommender_title(known[name])),
                format.escape_markdown(say(known[name].family)),
            )
            with st.container(gap="small"):
                st.markdown(f"**{title}**  \n:small[:gray[{family}]]")
                slots[name] = st.empty()
    return slots


def predict(dataset: Dataset, request: Request, slots: Slots) -> Lists:
    """Every recommender's list by its name; one that is not there yet says in its own column how it is had."""
    lists = {}
    recommenders.start([name for name in slots if chosen.can_answer(name, dataset.name)], dataset)  # all at once
    for name, slot in slots.items():
        with slot.container(), errors.show_errors():
            if predictor := recommenders.predictor(name, dataset):
                lists[name] = recommend(predictor, request)
    return lists


def fill(lists: Lists, slots: Slots) -> Lists:
    """Write the lists into their columns, each film marked by how many lists it is in; returns them by title."""
    counts = overlap.appearances({name: items(picks) for name, picks in lists.items()})
    for name, picks in lists.items():
        slots[name].html(film_cards.compared_list(picks, counts, len(lists)))
    return {cache.recommender_title(cache.all_recommenders()[name]): picks for name, picks in lists.items()}


def agreement(dataset: Dataset, lists: Lists, k: int) -> None:
    """What two or more lists have in common: in two sentences, as a table, and what each shows alone."""
    st.header(_("How far they agree"))
    films, by_item = dataset.catalog.films, {title: items(picks) for title, picks in lists.items()}
    everywhere = [films[item].label for item, n in overlap.appearances(by_item).items() if n == len(lists)]
    st.markdown(format.escape_markdown(f"{words.everywhere(everywhere)} {closest(by_item, k)}"))
    alone = {title: [films[item].label for item in own] for title, own in overlap.only(by_item).items()}
    shared = overlap.shared(by_item)
    st.html(tables.overlaps(shared, k) + tables.alone(alone))
    with st.container(horizontal=True):
        charts.download_buttons(overlap.table(lists), "lists", _("Lists as CSV"))
        charts.download_buttons(shared.rename_axis("recommender").reset_index(), "overlap", _("Overlap as CSV"))


def closest(by_item: dict[str, list[int]], k: int) -> str:
    """Which two lists share the most."""
    pair = overlap.closest(by_item)
    return (
        _("Closest: {one} and {other} share {n} of {k} films.", one=pair[0], other=pair[1], n=pair[2], k=k)
        if pair
        else ""
    )


def items(picks: list[Recommendation]) -> list[int]:
    """The films of a list."""
    return [pick.item for pick in picks]
