"""Hide one of the visitor's own films and see who would have found it: a tab of Compare.

Session state: asked (which film was asked about, who has answered so far, and whether the asking goes on).
"""

from typing import Any

import streamlit as st

from pages import _compare_html as html
from pages import _download as download
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving import hidden, models
from recsys.serving.models import Recommender, Variant
from recsys.serving.recommend import Standing


def hide_a_film(dataset: Dataset, films: tuple[int, ...], answered: list[Variant]) -> None:
    """Choose a film, see who would have found it, ask more recommenders, hide all films in turn."""
    if len(films) < 2:
        st.info(words.HIDE_NEEDS_TWO, icon=":material/playlist_add:")
        return
    place = choose(dataset, films)
    sequence.in_one_line(dataset, films[:place], words.TOLD)
    st.caption(words.HIDE_HELP)
    others = [variant for variant in models.trained(dataset.name) if variant not in answered]
    asked = asked_so_far((dataset.name, films, place))
    rows = {variant.title: look_for(dataset, variant, films, (place,))[0] for variant in answered} | asked["rows"]
    one(dataset.catalog.films[films[place]].label, rows)
    ask_more(dataset, films, place, others, asked)
    panel = st.expander(words.HIDE_ALL, icon=":material/grid_on:", on_change="rerun", key="hide_all")
    with panel:
        if panel.open:
            everything(dataset, films, answered)


def choose(dataset: Dataset, films: tuple[int, ...]) -> int:
    """The place of the film to hide: the latest unless another is chosen, never the first."""
    return st.selectbox(
        words.HIDE,
        range(len(films) - 1, 0, -1),
        format_func=lambda place: dataset.catalog.films[films[place]].label,
        key=f"hide-among-{len(films)}-{films[-1]}",
        width=420,
    )


def one(film: str, rows: dict[str, Standing]) -> None:
    """Who found one film."""
    finders = [title for title, row in rows.items() if hidden.was_found(row)]
    sentence = words.WHO_FOUND if finders else words.NOBODY_FOUND
    named = words.listed(finders) if finders else ""
    st.markdown(words.plain(sentence.format(models=named, film=film, k=hidden.FOUND)))
    st.html(html.standings(rows, words.RANKS_OF.format(film=film), tell_found=True))
    download.csv(hidden.table({title: [row] for title, row in rows.items()}, [film]), "hidden-film")


def look_for(dataset: Dataset, variant: Variant, films: tuple[int, ...], places: tuple[int, ...]) -> list[Standing]:
    """Where the films at some places stand; raises StoreError for a recommender that is not trained."""
    return _look_for(dataset, shared.model(variant, dataset.name), dataset.name, variant.name, films, places)


@st.cache_data(max_entries=256, show_spinner=False)
def _look_for(
    _dataset: Dataset, _model: Recommender, data: str, variant: str, films: tuple[int, ...], places: tuple[int, ...]
) -> list[Standing]:
    """`data`, `variant`: what the answers are kept by."""
    return hidden.look_for(_dataset, _model, films, places)


def asked_so_far(question: tuple) -> dict[str, Any]:
    """What is known of this question; another one starts anew."""
    if st.session_state.get("asked", {}).get("question") != question:
        st.session_state.asked = {"question": question, "rows": {}, "going": False}
    return st.session_state.asked


def ask_more(
    dataset: Dataset, films: tuple[int, ...], place: int, others: list[Variant], asked: dict[str, Any]
) -> None:
    """A button that asks every other trained recommender, and another one that stops it and keeps what is known."""
    waiting = [variant for variant in others if variant.title not in asked["rows"]]
    if not waiting:
        return
    if not asked["going"]:
        label = words.ASK_ALL.format(n=len(waiting))
        st.button(label, key="ask_all", icon=":material/groups:", on_click=asked.update, kwargs={"going": True})
        return
    st.button(words.STOP, key="stop_asking", icon=":material/stop:", on_click=asked.update, kwargs={"going": False})
    bar = st.progress(0.0)
    for n, variant in enumerate(waiting):
        bar.progress(n / len(waiting), words.plain(words.ASKING.format(model=variant.title, n=n + 1, all=len(waiting))))
        try:
            asked["rows"][variant.title] = look_for(dataset, variant, films, (place,))[0]
        except shared.TROUBLE as error:
            shared.explain(error)
    asked["going"] = False
    st.rerun(scope="fragment")


def everything(dataset: Dataset, films: tuple[int, ...], answered: list[Variant]) -> None:
    """Every film hidden in turn: a heat map, and how little it proves."""
    places = tuple(hidden.places(films))
    titles = [dataset.catalog.films[films[place]].label for place in places]
    rows = {variant.title: look_for(dataset, variant, films, places) for variant in answered}
    st.caption(words.HIDE_ALL_HELP)
    if len(places) < len(films) - 1:
        st.caption(words.HIDE_NEWEST.format(n=len(places)))
    st.html(html.hits(rows, titles))
    proves = words.PROVES.format(n=len(places), points=100 / len(places)) if len(places) > 1 else words.PROVES_ONE
    st.caption(proves)
    download.csv(hidden.table(rows, titles), "hidden-films")
