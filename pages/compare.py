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
    films = sequence.films(dataset)
    sequence.show_notices()
    if not films:
        st.info(words.FIRST_ADD, icon=":material/playlist_add:")
        sequence.choose_example(dataset)
        return
    watched(dataset, films)
    chosen, k = controls()
    if len(chosen) < 2:
        st.info(words.FIRST_CHOOSE)
        return
    slots = side_by_side(chosen)
    lists = ask_all(dataset, films, chosen, k, slots)
    fill(lists, slots)
    if lists:
        closer(dataset, films, lists, k)


def watched(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The visitor's sequence in one line, and the way back to change it."""
    sequence.in_one_line(dataset, films)
    st.page_link("pages/watch_next.py", label=words.EDIT, icon=":material/edit:")


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


def side_by_side(chosen: list[Variant]) -> Slots:
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
def closer(dataset: Dataset, films: tuple[int, ...], lists: Lists, k: int) -> None:
    """What else can be asked of those that answered; only the tab that is open runs."""
    agree, film, order, hidden = st.tabs(words.CLOSER, on_change="rerun", key="closer")
    answered = list(lists)
    with agree:
        if agree.open:
            agreement(lists, k)
    with film:
        if film.open:
            one_film(dataset, films, answered, lists)
    with order:
        if order.open:
            what_order_does(dataset, films, answered, k)
    with hidden:
        if hidden.open:
            hide_a_film(dataset, films, answered)


def agreement(lists: Lists, k: int) -> None:
    """What the lists have in common: in two sentences, as a table, and what each shows alone."""
    table = overlap.table({variant.title: picks for variant, picks in lists.items()})
    if len(lists) < 2:
        st.caption(words.TOO_FEW_ANSWERS)
    else:
        compared({variant.title: ids(picks) for variant, picks in lists.items()}, names_of(lists), k)
    download.csv(table, "lists", words.ALL_LISTS)


def compared(titles: dict[str, list[int]], names: dict[int, str], k: int) -> None:
    """The agreement of two or more lists. `names`: film id → title and year."""
    counts = overlap.appearances(titles)
    everywhere = [names[film] for film, n in counts.items() if n == len(titles)]
    st.markdown(words.plain(f"{words.everywhere(everywhere)} {closest(titles, k)}"))
    shared = overlap.shared(titles)
    alone = {title: [names[film] for film in films] for title, films in overlap.only(titles).items()}
    st.html(html.overlaps(shared, k) + html.alone(alone))


def closest(titles: dict[str, list[int]], k: int) -> str:
    """Which two lists share the most."""
    pair = overlap.closest(titles)
    return words.CLOSEST.format(one=pair[0], other=pair[1], n=pair[2], k=k) if pair else ""


def names_of(lists: Lists) -> dict[int, str]:
    """Film id → title and year, of all films in the lists."""
    return {pick.movie_id: cards.label(pick) for picks in lists.values() for pick in picks}


def ids(picks: list[Recommendation]) -> list[int]:
    """The films of a list."""
    return [pick.movie_id for pick in picks]


shared.enter()
dataset = sequence.open_page(words.COMPARE, words.COMPARE_HELP)
if dataset:
    compare(dataset)
