"""Load the default data set and recommender when the server starts, before the first page needs them."""

import logging
import threading

from pages.ui import cache
from recsys.data import datasets
from recsys.errors import RecsysError
from recsys.jobs import queue
from recsys.serving import predictor
from recsys.serving.recommend import Request, recommend

_is_loaded = threading.Event()  # set when `preload` has loaded everything
_has_answered = threading.Event()  # set when `is_ready` has made a recommendation


def preload() -> None:
    """Load the default data set, its search index, torch and the default recommender. Start the queue of trainings.

    An error is only logged. The first page repeats the failed step and shows the error.
    """
    try:
        dataset = datasets.ensure(datasets.DEFAULT_DATASET)
        predictor.all_recommenders()
        cache.preload_predictor(predictor.default_name(dataset.name), dataset.name)
        cache.title_index(dataset.name)
        _is_loaded.set()
        queue.start_runner()
    except RecsysError as error:
        logging.getLogger(__name__).warning("not ready: %s", error)


def is_ready() -> bool:
    """Return whether the server can recommend films. The first call after `preload` tests this with FALLBACK."""
    if _is_loaded.is_set() and not _has_answered.is_set():
        fallback = predictor.load(predictor.FALLBACK, datasets.load(datasets.DEFAULT_DATASET))
        if recommend(fallback, Request(())):
            _has_answered.set()
    return _has_answered.is_set()
