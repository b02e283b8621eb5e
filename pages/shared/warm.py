"""What the first page needs, loaded from the start of the server on, while the browser still fetches the frame."""

import logging
import threading

from recsys.data import movielens
from recsys.errors import RecsysError
from recsys.jobs import queue
from recsys.serving import predictor
from recsys.serving.recommend import Request, recommend

_is_up = threading.Event()


def up() -> None:
    """Prepare the first set, import torch and answer once, for which a page then waits no longer than is left.

    Trainings that waited when the server ended go on. What goes wrong is said by the page, which tries again.
    """
    try:
        dataset = movielens.ensure(movielens.FIRST)
        predictor.variants()
        if recommend(predictor.load(predictor.FALLBACK, dataset), Request(())):
            _is_up.set()
        queue.wake()
    except RecsysError as error:
        logging.getLogger(__name__).warning("not ready: %s", error)


def is_up() -> bool:
    """Whether films have been recommended since the start."""
    return _is_up.is_set()
