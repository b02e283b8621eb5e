"""The lesson, last part: scores become probabilities, and what training makes of them."""

import math

import streamlit as st

from pages.inside import charts
from pages.inside import lesson_words as words
from pages.inside.step import Lesson, rows, say
from pages.ui import charts as ui_charts
from pages.ui import film_cards, format
from pages.ui.i18n import _, ngettext


def tell_softmax(lesson: Lesson) -> None:
    """Score, softmax, rank."""
    say(
        ngettext(
            "What `[mask]` has become is compared with the embeddings of all {n:,} films: number by "
            "number multiplied, then added up. That is the **score** of a film. The **softmax** takes e "
            "to the power of every score and divides by the sum of all, so that the scores become "
            "probabilities. The position of a film in that list is its **rank**: rank 1 is the most "
            "probable.",
            "What `[mask]` has become is compared with the embeddings of all {n:,} films: number by "
            "number multiplied, then added up. That is the **score** of a film. The **softmax** takes e "
            "to the power of every score and divides by the sum of all, so that the scores become "
            "probabilities. The position of a film in that list is its **rank**: rank 1 is the most "
            "probable.",
            lesson.found.n_items,
        )
    )
    projected = "projection" not in lesson.departs
    st.latex(
        _(
            r"P(v) = \mathrm{softmax}\!\left(\mathrm{GELU}(h_t W^P + b^P) E^\top + b\right)_v = \frac{e^{s_v}}{\sum_u e^{s_u}}"
        )
        if projected
        else _(r"P(v) = \mathrm{softmax}\!\left(h_t E^\top + b\right)_v = \frac{e^{s_v}}{\sum_u e^{s_u}}")
    )
    if not projected:
        _(
            "$E$ holds the embeddings of step 3 once more. The paper puts a linear map and a GELU "
            "between $h_t$ and $E$ (its equation 7); this network does not."
        )
    say(
        _("Films that you have already watched take no part: this network has been trained without comparing them.")
        if "only_unseen" in lesson.departs
        else _(
            "Films that you have already watched compete here too. The other pages leave them out before "
            "they divide, so the same film has a higher probability there."
        )
    )
    ui_charts.download_buttons(lesson.found.answers, f"softmax-{lesson.name}")


def show_softmax(lesson: Lesson) -> None:
    """Scores, and what the softmax makes of them."""
    found = lesson.found
    watched = set(found.attention.tokens[found.attention.films].tolist())
    lines = []
    for rank, answer in enumerate(found.answers.itertuples(), start=1):
        note = (
            _("score {score:.2f}, e^score {weight:.0%} of the first, already watched")
            if answer.item in watched
            else _("score {score:.2f}, e^score {weight:.0%} of the first")
        )
        lines.append(
            film_cards.film_bar_row(
                rank,
                lesson.dataset.catalog.films[answer.item],
                answer.weight,
                format.percent(answer.probability),
                note.format(score=answer.score, weight=answer.weight),
            )
        )
    rows(lines)


def tell_learning(lesson: Lesson) -> None:
    """The loss."""
    _(
        "Where do all these numbers come from? In training the network fills such gaps in the "
        "histories of real people. Its **loss** is large where it gave the film that was really "
        "there a low probability. After each batch of histories every number is moved a little, in "
        "the direction that makes the loss smaller."
    )
    st.latex(
        r"\mathcal{L} = \frac{1}{|\mathcal{S}^m|} \sum_{v_m \in \mathcal{S}^m} -\log P(v_m = v_m^* \mid \mathcal{S}')"
    )
    _("$\\mathcal{S}'$ is the history with its gaps, $\\mathcal{S}^m$ the gaps, and $v_m^*$ the film that was there.")


def show_learning(lesson: Lesson) -> None:
    """What the network says of the films that it was not shown."""
    table, films = lesson.found.learning, lesson.dataset.catalog.films
    st.caption(
        _("The gaps of step 2, and what the network, as it is now, gives to the films that you really watched there")
    )
    most = table["probability"].max() or 1
    rows(
        film_cards.film_bar_row(
            number,
            films[row.item],
            row.probability / most,
            format.percent(row.probability),
            _("rank {rank:,}, loss {loss:.2f}", rank=row.rank, loss=row.loss),
        )
        for number, row in enumerate(table.itertuples(), start=1)
    )
    n = lesson.found.n_items
    st.markdown(
        ngettext(
            "The mean loss here is {mean:.2f}. Whoever guesses blindly among {n:,} films has "
            "{blind:.2f}, the logarithm of {n:,}.",
            "The mean loss here is {mean:.2f}. Whoever guesses blindly among {n:,} films has "
            "{blind:.2f}, the logarithm of {n:,}.",
            n,
            mean=table["loss"].mean(),
            blind=math.log(n),
        )
    )
    shown = table[["title", "rank", "probability", "loss"]].rename(columns=words.LEARN_COLUMNS)
    shown = shown.set_index(words.LEARN_COLUMNS["title"])
    charts.as_table(shown, _("rank, probability and loss of each covered film"), "learning")
