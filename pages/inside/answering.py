"""The lesson, last part: scores become probabilities, and what training makes of them."""

import math

import streamlit as st

from pages.inside import charts
from pages.inside import lesson_words as words
from pages.inside.step import Lesson, rows, say
from pages.ui import download, film_cards
from pages.ui import words as common


def tell_softmax(lesson: Lesson) -> None:
    """Score, softmax, rank."""
    say(words.CHOOSE_TEXT.format(n=lesson.found.n_items))
    projected = "projection" not in lesson.departs
    st.latex(words.CHOOSE_FORMULA_PROJECTED if projected else words.CHOOSE_FORMULA)
    if not projected:
        say(words.CHOOSE_FORMULA_TEXT)
    say(words.CHOOSE_UNSEEN if "only_unseen" in lesson.departs else words.CHOOSE_WATCHED)
    download.csv(lesson.found.answers, f"softmax-{lesson.name}")


def show_softmax(lesson: Lesson) -> None:
    """Scores, and what the softmax makes of them."""
    found = lesson.found
    watched = set(found.attention.tokens[found.attention.films].tolist())
    lines = []
    for rank, answer in enumerate(found.answers.itertuples(), start=1):
        note = words.SCORE_NOTE_WATCHED if answer.item in watched else words.SCORE_NOTE
        lines.append(
            film_cards.measured(
                rank,
                lesson.dataset.catalog.films[answer.item],
                answer.weight,
                common.percent(answer.probability),
                note.format(score=answer.score, weight=answer.weight),
            )
        )
    rows(lines)


def tell_learning(lesson: Lesson) -> None:
    """The loss."""
    say(words.LEARN_TEXT)
    st.latex(words.LEARN_FORMULA)
    say(words.LEARN_FORMULA_TEXT)


def show_learning(lesson: Lesson) -> None:
    """What the network says of the films that it was not shown."""
    table, films = lesson.found.learning, lesson.dataset.catalog.films
    st.caption(words.LEARN_SHOWN)
    most = table["probability"].max() or 1
    rows(
        film_cards.measured(
            number,
            films[row.item],
            row.probability / most,
            common.percent(row.probability),
            words.LEARN_NOTE.format(rank=row.rank, loss=row.loss),
        )
        for number, row in enumerate(table.itertuples(), start=1)
    )
    n = lesson.found.n_items
    st.markdown(words.LEARN_MEAN.format(mean=table["loss"].mean(), n=n, blind=math.log(n)))
    shown = table[["title", "rank", "probability", "loss"]].rename(columns=words.LEARN_COLUMNS)
    shown = shown.set_index(words.LEARN_COLUMNS["title"])
    charts.as_table(shown, words.LEARN_TABLE, "learning")
