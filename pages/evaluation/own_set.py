"""The part of the page for a data set of a visitor: a button that evaluates recommenders, and a comparison."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.evaluation.data import EvaluationView
from pages.ui import cache, errors, recommenders, tasks
from pages.ui.i18n import _, ngettext, number
from pages.ui.recommenders import State
from pages.ui.widgets import button
from recsys import paths
from recsys.data import datasets
from recsys.data.dataset import DataError
from recsys.errors import RecsysError
from recsys.progress import ProgressCallback
from recsys.serving.predictor import FALLBACK

HIT_RATE = "hr@10"
EVALUATED_FIRST = ("popular", "item-knn")  # they are fast, so that results appear soon


def show(view: EvaluationView) -> None:
    """Show the button that evaluates recommenders, and a comparison with the most popular films.

    The button is shown only for the default protocol of the data set, and not on a public server.
    """
    if view.protocol == datasets.serving_splitting(view.dataset).protocol and not paths.is_public():
        show_button(view.dataset, view.protocol, view.board["variant"].tolist())
    compare_with_most_popular(view)


def compare_with_most_popular(view: EvaluationView) -> None:
    """Show the hit rates of FALLBACK (the most popular films) and of another recommender, if both have a result."""
    rows = view.board.set_index("variant")
    others = [variant for variant in rows.index if variant != FALLBACK]
    if FALLBACK not in rows.index or not others:
        return
    preferred = (st.session_state.get("model"), recommenders.default(view.dataset))  # "model": chosen on Watch next
    variant = next((name for name in preferred if name in others), others[0])
    with st.container(horizontal=True, gap="large"):
        for row in (rows.loc[variant], rows.loc[FALLBACK]):
            st.metric(row["title"], number(row[HIT_RATE], ".1%"), width="content")
    text = _(
        "Share of people whose hidden film is in the top ten. “Most popular” shows everyone the same list. "
        "A recommender is useful if its share is clearly higher."
    )
    st.caption(text)


def show_button(dataset: str, protocol: str, evaluated_names: Sequence[str]) -> None:
    """Show a button that evaluates recommenders without a result or, while they are evaluated, the progress."""
    task_name = _task_name(dataset)
    task = tasks.find(task_name)
    if task and not task.is_finished:
        tasks.show_progress(
            task_name,
            lambda event: _("Evaluating {model}", model=_title(event["name"]) if event else ""),
            _("Cancel *evaluating*"),
            f"stop-evaluating-{dataset}",
            n_done=task.event.get("done", 0),
        )
        return
    if task and isinstance(task.error, RecsysError):
        errors.show_error(task.error)
    elif task and task.error:
        tasks.remove(task_name)
        raise task.error
    if names := _quick_recommenders(dataset, evaluated_names):
        label, kind = _("Evaluate"), "primary"
        if evaluated_names:
            label = ngettext("Evaluate {n} more recommender", "Evaluate {n} more recommenders", len(names))
            kind = "secondary"
        help_text = _(
            "Hides the last film of each person and lets every recommender that is ready, or can be prepared within "
            "seconds, predict it. The evaluation continues even if you leave the page."
        )
        button(label, f"evaluate-{dataset}", "play_arrow", _start, dataset, protocol, names, help=help_text, type=kind)


def _quick_recommenders(dataset: str, evaluated_names: Sequence[str]) -> list[str]:
    """Return the recommenders without a result that are ready or can be fitted within seconds."""
    in_order = dict.fromkeys([*EVALUATED_FIRST, *cache.all_recommenders()])
    names = [name for name in in_order if name not in evaluated_names]
    try:
        return [name for name in names if recommenders.state(name, dataset) in (State.READY, State.QUICK)]
    except DataError:  # the data set was deleted
        return []


def _start(dataset: str, protocol: str, names: list[str]) -> None:
    """Start a task that evaluates the recommenders in order.

    After a RecsysError, the task continues with the next recommender. At the end, it raises the first error.
    """
    try:
        data = cache.dataset(dataset)
    except DataError:  # the data set was deleted, and the page shows the error
        return

    def evaluate_all(report: ProgressCallback) -> None:
        from recsys.evaluation.evaluate import evaluate  # loads torch

        failures: list[RecsysError] = []
        for position, name in enumerate(names):
            event = {"stage": "evaluate", "done": position, "total": len(names), "name": name}
            report(event)
            try:
                evaluate(name, data, protocol, report=_replace_events(event, report))
            except RecsysError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    tasks.remove(_task_name(dataset))
    tasks.start(_task_name(dataset), evaluate_all)


def _replace_events(event: dict[str, Any], report: ProgressCallback) -> ProgressCallback:
    """Return a callback that reports `event` in place of each event of an evaluation.

    The progress bar then counts recommenders, and `report` can cancel during an evaluation.
    """
    return lambda _event: report(event)


def _task_name(dataset: str) -> str:
    return f"evaluate/{dataset}"


def _title(name: str) -> str:
    return cache.recommender_title(cache.all_recommenders()[name])
