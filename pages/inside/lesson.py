"""A lesson for a class: how BERT4Rec works, a step at a time, on the visitor's own films.

Session state: lesson_step (number of the step that is shown, from 1), lesson_network (name of a recommender).
"""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from pages.inside import answering, attending, offered, reading, step
from pages.inside import lesson_words as words
from pages.inside.step import Lesson
from pages.ui import cache, recommenders
from pages.ui.i18n import _
from recsys.data.dataset import Dataset
from recsys.serving.insight import layers
from recsys.serving.insight.steps import Steps, steps
from recsys.serving.predictor import Predictor

STEP = "lesson_step"  # the key of the selector
NETWORK = "lesson_network"


class Part(NamedTuple):
    """One step: what it is called, its words, its picture, and what stands out in the drawing of the network."""

    word: str  # its title in `words`
    tell: Callable[[Lesson], None]
    show: Callable[[Lesson], None]
    drawn: tuple[str, ...]

    @property
    def title(self) -> str:
        """In the visitor's language."""
        return str(getattr(words, self.word))


PARTS = (
    Part("WHOLE", reading.tell_whole, reading.show_whole, ()),
    Part("HIDE", reading.tell_hiding, reading.show_hiding, ("tokens",)),
    Part("EMBED", reading.tell_embedding, reading.show_embedding, ("embedding",)),
    Part("ORDER", reading.tell_order, reading.show_order, ("order",)),
    Part("ATTEND", attending.tell_attention, attending.show_attention, ("attention",)),
    Part("HEADS", attending.tell_heads, attending.show_heads, ("attention",)),
    Part("LAYERS", attending.tell_layers, attending.show_layers, ("layer", "attention")),
    Part("CHOOSE", answering.tell_softmax, answering.show_softmax, ("output",)),
    Part("LEARN", answering.tell_learning, answering.show_learning, ("tokens", "output")),
)


def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The step that was chosen, and the way to the others; no fragment, so that the address keeps the step."""
    predictor = recommenders.predictor(choose_network(dataset.name), dataset)
    if predictor is None:
        return
    number = choose()
    part = PARTS[number - 1]
    lesson = Lesson(predictor, _steps(predictor, films), layers.departures(predictor))
    with st.container(border=True, key="lesson"):
        text, picture = st.columns([2, 3], gap="large")
        with text:
            st.header(_("{n}. {title}", n=number, title=part.title))
            part.tell(lesson)
            if part.drawn:
                with st.container(key="lesson-map"):
                    step.draw(
                        lesson,
                        part.drawn,
                        _("The drawing of the network, in which this part stands out: {part}", part=part.title),
                        230,
                    )
        with picture:
            part.show(lesson)


@st.cache_resource(max_entries=20, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def _steps(predictor: Predictor, films: tuple[int, ...]) -> Steps:
    return steps(predictor, films)


def choose_network(data: str) -> str:
    """One of the networks, such as ours and that of the paper; nothing to choose where there is one."""
    names = offered.with_steps(data)
    if len(names) == 1:
        return names[0]
    if st.session_state.get(NETWORK) not in names:  # another data set has others
        st.session_state.pop(NETWORK, None)
    titles = recommenders.menu(data)
    return st.segmented_control(
        _("Network"),
        names,
        default=names[0],
        required=True,
        format_func=titles.__getitem__,
        key=NETWORK,
        help=_("Ours, ours with better training and a memory of counts, or one built as in the paper."),
        persist_state="session",
    )


def choose() -> int:
    """The number of the step, with the buttons that go back and on; after the last comes the first."""
    now = st.session_state.get(STEP) or 1
    last = now == len(PARTS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="lesson-steps"):
        st.button(
            _("Back"), key="lesson-back", icon=":material/arrow_back:", disabled=now == 1, on_click=go, args=(now - 1,)
        )
        st.button(
            _("Start again") if last else _("Next"),
            key="lesson-next",
            icon=":material/replay:" if last else ":material/arrow_forward:",
            on_click=go,
            args=(1 if last else now + 1,),
        )
        return st.selectbox(
            _("Step"),
            range(1, len(PARTS) + 1),
            format_func=lambda n: _("{n} of {all}: {title}", n=n, all=len(PARTS), title=PARTS[n - 1].title),
            label_visibility="collapsed",
            key=STEP,
            persist_state="session",
            width=270,
        )


def go(number: int) -> None:
    """Show another step."""
    st.session_state[STEP] = number
