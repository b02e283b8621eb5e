"""The section Lesson: how BERT4Rec works, step by step, on the films of the visitor.

Session state: lesson_step (number of the step, from 1) · lesson_network (name of the recommender).
"""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.inside import lesson_input, lesson_output
from pages.inside.common import Lesson, recommenders_with
from pages.inside.network_drawing import NetworkDrawing
from pages.ui import cache, recommenders
from pages.ui.i18n import N_, _
from pages.ui.widgets import button, segmented_control, selectbox
from recsys.data.dataset import Dataset
from recsys.serving.insight.bert4rec_values import compute_values, paper_differences

STEP_KEY = "lesson_step"
NETWORK_KEY = "lesson_network"


class LessonStep(NamedTuple):
    """One step of the lesson."""

    title: str  # in English
    show: Callable[[Lesson, DeltaGenerator], None]  # shows a text, and an example in the container
    highlighted: tuple[str, ...]  # `network_drawing.PARTS` in the small drawing; (): there is no small drawing


STEPS = (
    LessonStep(N_("The whole network"), lesson_input.show_overview, ()),
    LessonStep(N_("Mask a film"), lesson_input.show_mask, ("tokens",)),
    LessonStep(N_("Embedding"), lesson_input.show_embedding, ("embedding",)),
    LessonStep(N_("Order"), lesson_input.show_order, ("order",)),
    LessonStep(N_("Self-attention"), lesson_output.show_self_attention, ("attention",)),
    LessonStep(N_("Heads"), lesson_output.show_heads, ("attention",)),
    LessonStep(N_("Layers"), lesson_output.show_layers, ("layer", "attention")),
    LessonStep(N_("Softmax"), lesson_output.show_softmax, ("output",)),
    LessonStep(N_("Training"), lesson_output.show_training, ("tokens", "output")),
)


_cached_values = cache.cached_for_predictor(max_entries=20)(compute_values)


def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the menus and the chosen step. films: Items of the visitor's list."""
    predictor = recommenders.predictor(choose_network(dataset.name), dataset)
    if predictor is None:
        return
    step_number = choose_step()
    step = STEPS[step_number - 1]
    title = _(step.title)
    lesson = Lesson(predictor, _cached_values(predictor, films), paper_differences(predictor))
    with st.container(border=True, key="lesson"):
        text, example = st.columns([2, 3], gap="large")
        with text:
            st.header(_("{n}. {title}", n=step_number, title=title))
            step.show(lesson, example)
            if step.highlighted:
                with st.container(key="lesson-map"):
                    alt = _("Drawing of the network. Highlighted: {part}", part=title)
                    st.image(NetworkDrawing(lesson, step.highlighted).svg(), width=230, alt=alt)


def choose_network(dataset_name: str) -> str:
    """Return the name of the explained BERT4Rec. Show a menu if more than the default one is ready for the data set."""
    default, *others = recommenders_with(lambda model: model.can_fill_masks and model.has_attention)
    ready = recommenders.ready_names(dataset_name)
    names = [default, *(name for name in others if name in ready)]
    if len(names) == 1:
        return default
    labels = recommenders.menu_labels(dataset_name)
    help_text = _(
        "Our network, our network with better training and a memory (counts of films that follow each other or that "
        "the same people watch), or the network from the paper if you have trained it."
    )
    return segmented_control(_("Network"), {name: labels[name] for name in names}, NETWORK_KEY, help=help_text)


def choose_step() -> int:
    """Show the Back and Next buttons and the menu of steps. Return the number of the chosen step."""
    number = min(st.session_state.get(STEP_KEY) or 1, len(STEPS))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="lesson-steps"):
        button(_("Back"), "lesson-back", "arrow_back", open_step, number - 1, disabled=number == 1)
        if number == len(STEPS):
            button(_("Start again"), "lesson-next", "replay", open_step, 1)
        else:
            button(_("Next"), "lesson-next", "arrow_forward", open_step, number + 1)
        st.session_state[STEP_KEY] = number  # a link may have a number that is too large
        titles = {
            n: _("{n} of {all}: {title}", n=n, all=len(STEPS), title=_(step.title))
            for n, step in enumerate(STEPS, start=1)
        }
        return selectbox(_("Step"), titles, STEP_KEY, label_visibility="collapsed", width=270)


def open_step(number: int) -> None:
    """Open a step of the lesson."""
    st.session_state[STEP_KEY] = number
