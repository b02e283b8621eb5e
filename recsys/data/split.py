"""Leave-one-out: the last film of a user is test, the last but one validation, the rest trains."""

from dataclasses import replace

import numpy as np

from recsys.data.schema import DataError, Dataset, HeldOut, Queries, Split


def leave_one_out(dataset: Dataset) -> Split:
    """Split as in the SASRec and BERT4Rec papers. Users with fewer than three films only train.

    Validation queries hold the training films; test queries hold those and the validation film.
    Raises DataError when no user has three films.
    """
    lengths = np.diff(dataset.offsets)
    users = np.flatnonzero(lengths >= 3)
    if not len(users):
        raise DataError(f"{dataset.name}: nobody has three films, so nothing can be held out; choose another data set")
    last = dataset.offsets[1:][users] - 1
    keep = np.ones(len(dataset.interactions), bool)
    keep[last] = keep[last - 1] = False
    train = replace(dataset, interactions=dataset.interactions.where(keep))
    return Split(train, _held_out(dataset, users, back=2), _held_out(dataset, users, back=1))


def _held_out(dataset: Dataset, users: np.ndarray, back: int) -> HeldOut:
    """The film `back` places from the end of each history, after the films before it."""
    histories = [dataset.history(user) for user in users]
    targets = np.array([history[-back] for history in histories])
    return HeldOut(Queries([history[:-back] for history in histories], users), targets)
