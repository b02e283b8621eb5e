"""What the steps of the lesson share: the numbers that they are drawn from, words beside a picture, films with bars."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.inside import drawing, words
from pages.inside.drawing import Drawn
from pages.ui import film_cards, format
from pages.ui.i18n import _
from recsys.data.dataset import Dataset
from recsys.serving.insight import attention
from recsys.serving.insight.steps import Steps
from recsys.serving.predictor import Predictor

NEWEST = 12  # tokens in a picture
IN_DRAWING = 4  # of which the drawing has room for so many


@dataclass(frozen=True)
class Lesson:
    """What every step is drawn from."""

    predictor: Predictor
    found: Steps
    departs: Sequence[str]  # names of `layers.DEPARTURES`

    @property
    def dataset(self) -> Dataset:
        """Whose films these are."""
        return self.predictor.dataset

    @property
    def name(self) -> str:
        """Of recommender and data set, for files."""
        return f"{self.predictor.variant.name}-{self.dataset.name}"

    @property
    def sizes(self) -> tuple[int, int]:
        """Layers and heads."""
        n_layers, n_heads = self.found.attention.weights.shape[:2]
        return n_layers, n_heads


def say(*sentences: str) -> None:
    """The words of a step, a paragraph each."""
    for sentence in sentences:
        st.markdown(sentence)


def strip(labels: list[str]) -> None:
    """The newest tokens as chips."""
    chips = [(number, label, label == attention.MASK) for number, label in enumerate(labels, start=1)]
    st.html(film_cards.sequence_chips(chips[-NEWEST:]))


def rows(lines: Iterable[str]) -> None:
    """Films below each other."""
    st.html(film_cards.row_list(lines))


def attention_bars(dataset: Dataset, seen: attention.Attention, looked_at: list[tuple[int, float]]) -> None:
    """Films with the share of the attention that each is given; numbers are positions in the sequence."""
    strongest = max((weight for _unused, weight in looked_at), default=0) or 1
    rows(
        film_cards.film_bar_row(
            at + 1, dataset.catalog.films[seen.tokens[at]], weight / strongest, format.percent(weight)
        )
        for at, weight in looked_at
    )


def draw(lesson: Lesson, parts: Iterable[str], alt: str, width: int) -> None:
    """The drawing of the network, in which some parts stand out."""
    found = lesson.found
    shown = found.prediction[-IN_DRAWING:]
    n = len(shown)
    weights = found.attention.weights.mean(1)[:, -n:, -n:]
    drawn = Drawn(
        shown,
        *lesson.sizes,
        weights.tolist(),
        first_new(lesson),
        found.n_items,
        found.positions is not None,
        "projection" not in lesson.departs,
    )
    st.image(drawing.svg(drawn, parts, st.context.theme.type == "dark"), width=width, alt=alt)


def first_new(lesson: Lesson) -> str:
    """The most probable film that is not among the visitor's, as far as the best ones are known."""
    answers, seen = lesson.found.answers, lesson.found.attention
    new = answers[~answers["item"].isin(seen.tokens[seen.films])]
    return str((answers if new.empty else new)["title"].iloc[0])


def head_name(layer: int, head: int) -> str:
    """ "Layer 1, head 2", both counted from 0."""
    return _("Layer {layer}, head {head}", layer=layer + 1, head=head + 1)


def one_of(part: str, n: int, whole: bool = True) -> int | None:
    """One of n, from 0, or None for all, if the `whole` may be chosen; nothing to choose where there is one.

    part: a key of words.PARTS.
    """
    if n == 1:
        return None
    options = [*(["all"] if whole else []), *range(n)]
    chosen = st.segmented_control(
        words.PARTS[part],
        options,
        default=options[0],
        required=True,
        format_func=lambda option: _("All") if option == "all" else str(option + 1),
        key=f"{part}-of-{n}" if whole else f"one-{part}-of-{n}",
        persist_state="session",
    )
    return None if isinstance(chosen, str) else chosen
