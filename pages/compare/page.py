"""The same sequence through several recommenders, side by side."""

import streamlit as st

from pages import _cards as cards
from pages import _compare_html as html
from pages import _download as download
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from pages._compare_film import one_film
from pages._compare_hidden import hide_a_film
from pages._compare_order import what_order_does
from recsys.data.schema import Dataset
from recsys.serving import overlap
from recsys.serving.models import Variant
from recsys.serving.recommend import Recommendation, recommend

MOST = 6  # lists that can still be read side by side
FIRST = ("bert4rec", "sasrec-softmax", "gru4rec-ce", "ials", "content-sentence", "popular")  # one of each kind
Lists = dict[Variant, list[Recommendation]]
Slots = dict[Variant, st.delta_generator.DeltaGenerator]


def compare(dataset: Dataset) -> None:
    """The page below its head."""
    films = sequence.ask_for_films(dataset, words.FIRST_ADD)
    if not films:
        return
    chosen, k = controls()
    if len(chosen) < 2:
        st.info(words.FIRST_CHOOSE)
        return
    tabs(dataset, films, chosen, k)


def controls() -> tuple[list[Variant], int]:
    """Which recommenders, and how many films of each."""
    variants = shared.variants()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = st.multiselect(
            words.CHOOSE,
            variants,
            default=sorted((variant for variant in variants if variant.name in FIRST), key=in_order),
            format_func=lambda variant: variant.title,
            max_selections=MOST,
            placeholder=words.CHOOSE_HINT,
            help=words.CHOOSE_HELP.format(n=MOST),
            width=820,
            wrap=True,
            key="compared",
            persist_state="session",
        )
        k = st.segmented_control(
            words.HOW_MANY, [5, 10, 20], default=10, required=True, key="how_many_each", persist_state="session"
        )
    return chosen, k


def in_order(variant: Variant) -> int:
    """The place of a recommender among those chosen at first."""
    return FIRST.index(variant.name)


def columns(chosen: list[Variant]) -> Slots:
    """A headed column for each recommender, still to be filled."""
    slots = {}
    with st.grid("auto", min_column_width=300, gap=("large", "medium")):
        for variant in chosen:
            with st.container(gap="small"):
                st.markdown(f"**{words.plain(variant.title)}**  \n:small[:gray[{words.plain(variant.family)}]]")
                slots[variant] = st.empty()
    return slots


def ask_all(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant], k: int, slots: Slots) -> Lists:
    """Every recommender's list; one that cannot answer says why in its own column."""
    lists = {}
    for variant in chosen:
        with slots[variant].container():
            try:
                lists[variant] = recommend(dataset, shared.model(variant, dataset.name), films, k)
            except shared.TROUBLE as error:
                shared.explain(error)
    return lists


def fill(lists: Lists, slots: Slots) -> None:
    """Write the lists into their columns, each film marked by how many lists it stands in."""
    counts = overlap.appearances({variant.name: ids(picks) for variant, picks in lists.items()})
    for variant, picks in lists.items():
        slots[variant].html(cards.column(picks, counts, len(lists)))


@st.fragment
def tabs(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant], k: int) -> None:
    """What can be asked of the recommenders; only the tab that is open runs."""
    lists, film, order, hidden = st.tabs(words.TABS, on_change="rerun", key="closer")
    with lists:
        if lists.open:
            side_by_side(dataset, films, chosen, k)
    with film:
        if film.open:
            one_film(dataset, films, chosen)
    with order:
        if order.open:
            what_order_does(dataset, films, chosen, k)
    with hidden:
        if hidden.open:
            hide_a_film(dataset, films, chosen)


def side_by_side(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant], k: int) -> None:
    """Every recommender's list in a column of its own, and what the lists have in common."""
    slots = columns(chosen)
    lists = ask_all(dataset, films, chosen, k, slots)
    fill(lists, slots)
    if len(lists) > 1:
        agreement(lists, k)


def agreement(lists: Lists, k: int) -> None:
    """What two or more lists have in common: in two sentences, as a table, and what each shows alone."""
    st.subheader(words.AGREEMENT)
    titles = {variant.title: ids(picks) for variant, picks in lists.items()}
    names = {pick.movie_id: cards.label(pick) for picks in lists.values() for pick in picks}
    everywhere = [names[film] for film, n in overlap.appearances(titles).items() if n == len(titles)]
    st.markdown(words.plain(f"{words.everywhere(everywhere)} {closest(titles, k)}"))
    alone = {title: [names[film] for film in films] for title, films in overlap.only(titles).items()}
    table = overlap.shared(titles)
    st.html(html.overlaps(table, k) + html.alone(alone))
    with st.container(horizontal=True):
        download.csv(
            overlap.table({variant.title: picks for variant, picks in lists.items()}), "lists", words.LISTS_FILE
        )
        download.csv(table.rename_axis("recommender").reset_index(), "overlap", words.OVERLAP_FILE)


def closest(titles: dict[str, list[int]], k: int) -> str:
    """Which two lists share the most."""
    pair = overlap.closest(titles)
    return words.CLOSEST.format(one=pair[0], other=pair[1], n=pair[2], k=k) if pair else ""


def ids(picks: list[Recommendation]) -> list[int]:
    """The films of a list."""
    return [pick.movie_id for pick in picks]


shared.enter()
dataset = sequence.open_page(words.COMPARE, words.COMPARE_HELP)
if dataset:
    compare(dataset)
