"""Hide one of the visitor's own films and see who would have found it: a tab of Compare.

Session state: hidden_asked (the question, who was asked, what they answered, and whether the asking goes on).
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages import _compare_ask as ask
from pages import _compare_html as html
from pages import _download as download
from pages import _sequence as sequence
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving import hidden, models
from recsys.serving.models import Recommender, Variant
from recsys.serving.recommend import Standing


def hide_a_film(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant]) -> None:
    """Choose a film, see who would have found it, ask more recommenders, hide all films in turn."""
    if len(films) < 2:
        st.info(words.HIDE_NEEDS_TWO, icon=":material/playlist_add:")
        return
    place = choose(dataset, films)
    sequence.in_one_line(dataset, films[:place], words.TOLD)
    st.caption(words.HIDE_HELP)
    answers = ask.each(dataset, chosen, looking(dataset, films, (place,)))
    others = [variant for variant in models.trained(dataset.name) if variant not in chosen]
    asked = asked_so_far((dataset.name, films, place))
    rows = {title: row for title, (row,) in answers.items()} | asked["rows"]
    film = dataset.catalog.films[films[place]].label
    one(film, rows)
    ask_more(dataset, films, place, others, asked)
    if rows:
        download.csv(hidden.table({title: [row] for title, row in rows.items()}, [film]), "hidden-film")
    panel = st.expander(words.HIDE_ALL, icon=":material/grid_on:", on_change="rerun", key="hide_all")
    with panel:
        if panel.open:
            everything(dataset, films, chosen)


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
    if not rows:
        return
    finders = [title for title, row in rows.items() if hidden.was_found(row)]
    st.markdown(words.who_found(finders, len(rows), film, hidden.FOUND))
    st.html(html.standings(rows, words.RANKS_OF.format(film=film), tell_found=True))


def looking(
    dataset: Dataset, films: tuple[int, ...], places: tuple[int, ...]
) -> Callable[[Variant, Recommender], list[Standing]]:
    """The question where the films at some places stand."""
    return lambda variant, model: look_for(dataset, model, dataset.name, variant.name, films, places)


@st.cache_data(max_entries=256, show_spinner=False)
def look_for(
    _dataset: Dataset, _model: Recommender, data: str, variant: str, films: tuple[int, ...], places: tuple[int, ...]
) -> list[Standing]:
    """`data`, `variant`: what the answers are kept by."""
    return hidden.look_for(_dataset, _model, films, places)


def asked_so_far(question: tuple) -> dict[str, Any]:
    """What is known of this question; another one starts anew."""
    if st.session_state.get("hidden_asked", {}).get("question") != question:
        st.session_state.hidden_asked = {"question": question, "rows": {}, "tried": [], "going": False}
    return st.session_state.hidden_asked


def ask_more(
    dataset: Dataset, films: tuple[int, ...], place: int, others: list[Variant], asked: dict[str, Any]
) -> None:
    """A button that asks every other trained recommender, and another one that stops it and keeps what is known."""
    waiting = [variant for variant in others if variant not in asked["tried"]]
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
        answer = ask.each(dataset, [variant], looking(dataset, films, (place,)))
        asked["rows"] |= {title: row for title, (row,) in answer.items()}
        asked["tried"].append(variant)
    asked["going"] = False
    st.rerun()  # so that the table above has them all


def everything(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant]) -> None:
    """Every film hidden in turn: a heat map, and how little it proves."""
    places = tuple(hidden.places(films))
    titles = [dataset.catalog.films[films[place]].label for place in places]
    rows = ask.each(dataset, chosen, looking(dataset, films, places))
    if not rows:
        return
    st.caption(words.HIDE_ALL_HELP)
    if len(places) < len(films) - 1:
        st.caption(words.HIDE_NEWEST.format(n=len(places)))
    st.html(html.hits(rows, titles))
    proves = words.PROVES.format(n=len(places), points=100 / len(places)) if len(places) > 1 else words.PROVES_ONE
    st.caption(proves)
    download.csv(hidden.table(rows, titles), "hidden-films")
