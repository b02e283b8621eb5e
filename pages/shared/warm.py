"""What the first page needs, loaded from the start of the server on, while the browser still fetches the frame."""

from contextlib import suppress

from recsys.data import movielens
from recsys.errors import RecsysError
from recsys.serving import predictor


def up() -> None:
    """Prepare the first set and import torch, for which a page then waits no longer than is left.

    What goes wrong is said by the page, which tries again.
    """
    with suppress(RecsysError):
        movielens.ensure(movielens.FIRST)
    predictor.variants()
