"""What the first page needs, loaded from the start of the server on, while the browser still fetches the frame."""

import logging
import threading

from recsys.data import datasets
from recsys.errors import RecsysError
from recsys.jobs import queue
from recsys.serving import predictor
from recsys.serving.recommend import Request, recommend

_is_warm, _has_answered = threading.Event(), threading.Event()


def up() -> None:
    """Prepare the first set, import torch and fit the members of the default recommender that need no training.

    A page then waits no longer than is left.

    Trainings that waited when the server ended go on. What goes wrong is said by the page, which tries again.
    """
    try:
        dataset = datasets.ensure(datasets.DEFAULT_DATASET)
        predictor.variants()
        predictor.load(predictor.default(dataset.name), dataset)
        _is_warm.set()
        queue.start_runner()
    except RecsysError as error:
        logging.getLogger(__name__).warning("not ready: %s", error)


def is_ready() -> bool:
    """Whether films have been recommended since the start; tries it, once what that needs is there."""
    if _is_warm.is_set() and not _has_answered.is_set():
        ready = predictor.load(predictor.FALLBACK, datasets.load(datasets.DEFAULT_DATASET))
        if recommend(ready, Request(())):
            _has_answered.set()
    return _has_answered.is_set()
