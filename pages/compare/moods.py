"""The slides' question about order, asked with films: the same two moods, once the one last and once the other."""

import streamlit as st

from pages.compare import chosen, tables, words
from pages.shared import head, loaders, sequence
from recsys.data.schema import Dataset
from recsys.serving import history
from recsys.serving.insight import order
from recsys.serving.recommend import Request, recommend_many

FILMS = 5  # of each answer


def demonstration(dataset: Dataset, names: list[str]) -> None:
    """The story, the two histories, what each recommender predicts after them, and buttons that take one over."""
    st.markdown(" ".join(words.MOODS_STORY))
    pair = order.moods(history.examples(loaders.title_index(dataset.name)))
    if pair is None:
        st.caption(words.NO_MOODS)
        return
    for mood, films in pair:
        head.in_one_line(dataset, films, words.ENDS_IN.format(mood=mood))
    requests = [Request(films, FILMS) for _, films in pair]
    answers = chosen.each(dataset, names, lambda predictor: recommend_many(predictor, requests))
    st.html(tables.moods(answers, [mood for mood, _ in pair]))
    with st.container(horizontal=True):
        for mood, films in pair:
            label = words.TAKE_ORDER.format(mood=mood)
            st.button(label, key=f"mood-{mood}", icon=":material/playlist_add:", on_click=take, args=(films,))


def take(films: order.Order) -> None:
    """Make one of the two histories the visitor's own."""
    sequence.change(films)
    st.rerun()  # all of the page, not this tab alone
