"""How BERT4Rec works, in four pictures drawn from the visitor's own films."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator as Spot

from pages.inside import charts, offered, words
from pages.shared import cards, download, loaders
from pages.shared import words as common
from recsys.data.schema import Dataset
from recsys.serving.insight import attention
from recsys.serving.insight.steps import Steps, steps

NEWEST = 12  # tokens in a picture
MOST_LOOKED_AT = 6


def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Masking, embedding, attention, softmax."""
    name = offered.filling_blanks()
    found = steps(loaders.predictor(name, dataset.name), films)
    pictures = (masking, embedding, attending, choosing)
    for number, picture in enumerate(pictures, start=1):
        with st.container(border=True, key=f"step-{number}"):
            text, chart = st.columns([2, 3], gap="large")
            picture(number, dataset, found, text, chart, f"{name}-{dataset.name}")


def say(number: int, title: str, *sentences: str) -> None:
    """The words of a step."""
    st.markdown(f"#### {number}. {title}")
    for sentence in sentences:
        st.markdown(sentence)


def masking(number: int, dataset: Dataset, found: Steps, text: Spot, chart: Spot, name: str) -> None:
    """The sequence with blanks: once as in training, once as in prediction."""
    with text:
        say(number, words.STEP_MASK, words.STEP_MASK_TEXT)
    with chart:
        st.caption(words.TO_LEARN)
        strip(found.training)
        st.caption(common.plain(words.COVERED.format(films=", ".join(found.hidden[:NEWEST]))))
        st.caption(words.TO_PREDICT)
        strip(found.prediction)


def strip(labels: list[str]) -> None:
    """The newest tokens as chips."""
    chips = [(number, label, label == attention.MASK) for number, label in enumerate(labels, start=1)]
    st.html(cards.tokens(chips[-NEWEST:]))


def embedding(number: int, dataset: Dataset, found: Steps, text: Spot, chart: Spot, name: str) -> None:
    """The vectors of the newest tokens."""
    with text:
        say(number, words.STEP_EMBED, *numbers(found))
        download.csv(pd.DataFrame(found.input, found.prediction), f"embedding-{name}", index=True)
    with chart:
        st.plotly_chart(embedding_chart(found), alt=words.EMBEDDING_CHART, config=charts.STILL, key="embedding")


def numbers(found: Steps) -> list[str]:
    """The words of the second step, with an example where position embeddings are added."""
    n = found.embeddings.shape[1]
    if found.positions is None:
        return [words.STEP_EMBED_ALONE.format(n=n)]
    film, position, total = (float(of[-1, 0]) for of in (found.embeddings, found.positions, found.input))
    example = words.STEP_EMBED_EXAMPLE.format(film=film, position=position, sum=total)
    return [words.STEP_EMBED_TEXT.format(n=n), example]


def embedding_chart(found: Steps) -> go.Figure:
    """A row for each of the newest tokens, the last at the bottom; a column for each number."""
    shown = found.input[-NEWEST:]
    rows = len(shown)
    labels = np.broadcast_to(np.array(found.prediction[-NEWEST:], object)[:, None], shown.shape)
    furthest = float(np.quantile(np.abs(shown), 0.98)) or 1.0  # a few outliers would leave the rest pale
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            y=list(range(rows)),
            customdata=labels,
            hovertemplate="<b>%{customdata}</b><br>%{z:+.3f}<extra></extra>",
            colorscale=charts.SIGNED,
            zmin=-furthest,
            zmax=furthest,
            showscale=False,
            ygap=2,
        )
    )
    figure.update_layout(height=70 + 22 * rows, margin={"l": 0, "r": 0, "t": 8, "b": 0})
    ticks = [charts.short(label) for label in found.prediction[-NEWEST:]]
    figure.update_yaxes(tickvals=list(range(rows)), ticktext=ticks, autorange="reversed", showgrid=False, ticks="")
    figure.update_xaxes(title=words.NUMBER, showgrid=False, zeroline=False)
    return figure


def attending(number: int, dataset: Dataset, found: Steps, text: Spot, chart: Spot, name: str) -> None:
    """What the mask attends to, all layers and heads together."""
    layers, heads = found.attention.weights.shape[:2]
    looked_at = attention.looked_at(found.attention, k=MOST_LOOKED_AT)
    with text:
        told = [words.STEP_ATTEND_TEXT.format(layers=layers, heads=heads)]
        say(number, words.STEP_ATTEND, *told, *([] if found.positions is not None else [words.STEP_ATTEND_BIAS]))
    with chart:
        attention_bars(dataset, found.attention, looked_at)
        rest = 1 - sum(weight for _, weight in looked_at)
        all_shown = len(looked_at) == int(found.attention.films.sum())
        sentence = words.STEP_ATTEND_ITSELF if all_shown else words.STEP_ATTEND_REST
        st.caption(sentence.format(share=common.percent(max(rest, 0))))


def attention_bars(dataset: Dataset, seen: attention.Attention, looked_at: list[tuple[int, float]]) -> None:
    """Films with the share of the attention that each is given; numbers are positions in the sequence."""
    strongest = max((weight for _, weight in looked_at), default=0) or 1
    rows = [
        cards.measured(at + 1, dataset.catalog.films[seen.tokens[at]], weight / strongest, common.percent(weight))
        for at, weight in looked_at
    ]
    st.html(f'<div class="nr-rows">{"".join(rows)}</div>')


def choosing(number: int, dataset: Dataset, found: Steps, text: Spot, chart: Spot, name: str) -> None:
    """Scores, and what the softmax makes of them."""
    with text:
        say(number, words.STEP_SOFTMAX, words.STEP_SOFTMAX_TEXT.format(n=found.n_items))
        download.csv(found.answers, f"softmax-{name}")
    watched = set(found.attention.tokens[found.attention.films].tolist())
    rows = []
    for rank, answer in enumerate(found.answers.itertuples(), start=1):
        note = words.SCORE_NOTE_WATCHED if answer.item in watched else words.SCORE_NOTE
        rows.append(
            cards.measured(
                rank,
                dataset.catalog.films[answer.item],
                answer.weight,
                common.percent(answer.probability),
                note.format(score=answer.score, weight=answer.weight),
            )
        )
    with chart:
        st.html(f'<div class="nr-rows">{"".join(rows)}</div>')
