"""Steps 8 and 9 of the lesson: the softmax and training. See `lesson_input`."""

import math

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.inside import common
from pages.inside.common import Lesson
from pages.ui import charts, film_cards
from pages.ui.format import percent
from pages.ui.i18n import _, ngettext


def softmax(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe scores, softmax and ranks, and show the top films."""
    text = ngettext(
        "The final vector of `[mask]` is compared with the embedding of {n:,} film. The **score** of a film is the "
        "dot product of the two vectors. The **softmax** turns scores into probabilities: it takes e to the power "
        "of each score and divides by the total. The most probable film has **rank** 1.",
        "The final vector of `[mask]` is compared with the embeddings of all {n:,} films. The **score** of a film "
        "is the dot product of the two vectors. The **softmax** turns scores into probabilities: it takes e to the "
        "power of each score and divides by the total. The most probable film has **rank** 1.",
        lesson.steps.n_items,
    )
    st.markdown(text)
    vector = r"\mathrm{GELU}(h_t W^P + b^P)" if lesson.has_projection else "h_t"
    st.latex(rf"P(v) = \mathrm{{softmax}}\!\left({vector} E^\top + b\right)_v = \frac{{e^{{s_v}}}}{{\sum_u e^{{s_u}}}}")
    if not lesson.has_projection:
        text = _(
            "$E$ contains the embeddings of step 3. The paper has a linear map and a GELU between $h_t$ and $E$ "
            "(equation 7). This network does not."
        )
        st.markdown(text)
    st.markdown(
        _("Watched films are excluded, as in the training of this network.")
        if "only_unseen" in lesson.paper_differences
        else _(
            "Here your watched films compete too. The other pages exclude them before the softmax, so the "
            "probabilities are higher there."
        )
    )
    charts.download_buttons(lesson.steps.predictions, f"softmax-{common.file_name(lesson.predictor)}")
    tokens = lesson.steps.attention
    watched = set(tokens.tokens[tokens.is_film].tolist())
    with example:
        common.film_rows(
            film_cards.film_bar_row(
                rank,
                lesson.films[answer.item],
                answer.weight,
                percent(answer.probability),
                _("score {score:.2f}, e^score {weight:.0%} of the top film", score=answer.score, weight=answer.weight)
                + (f" · {_('watched')}" if answer.item in watched else ""),
            )
            for rank, answer in enumerate(lesson.steps.predictions.itertuples(), start=1)
        )


def training(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe the loss, and show the probability, rank and loss of the masked films."""
    text = _(
        "All these numbers come from training. The network predicts masked films in the histories of real people. "
        "The **loss** is large if the masked film gets a low probability. After each batch of histories, every "
        "number changes a little so that the loss becomes smaller."
    )
    st.markdown(text)
    st.latex(
        r"\mathcal{L} = \frac{1}{|\mathcal{S}^m|} \sum_{v_m \in \mathcal{S}^m} -\log P(v_m = v_m^* \mid \mathcal{S}')"
    )
    st.markdown(
        _("$\\mathcal{S}'$ is the history with masks, $\\mathcal{S}^m$ the masks, and $v_m^*$ the film behind a mask.")
    )
    with example:
        table, n = lesson.steps.masked_films, lesson.steps.n_items
        st.caption(_("The masked films of step 2 and their probabilities in the trained network"))
        max_probability = table["probability"].max() or 1
        common.film_rows(
            film_cards.film_bar_row(
                index,
                lesson.films[row.item],
                row.probability / max_probability,
                percent(row.probability),
                _("rank {rank:,}, loss {loss:.2f}", rank=row.rank, loss=row.loss),
            )
            for index, row in enumerate(table.itertuples(), start=1)
        )
        text = ngettext(
            "The mean loss here is {mean:.2f}. A random guess among {n:,} film has a loss of {uniform:.2f}.",
            "The mean loss here is {mean:.2f}. A random guess among {n:,} films has a loss of {uniform:.2f}, the "
            "logarithm of {n:,}.",
            n,
            mean=table["loss"].mean(),
            uniform=math.log(n),
        )
        st.markdown(text)
        names = {"title": _("Film"), "rank": _("Rank"), "probability": _("Probability"), "loss": _("Loss")}
        columns = table[list(names)].rename(columns=names).set_index(names["title"])
        common.table_expander(columns, _("rank, probability and loss of each masked film"), "learning")
