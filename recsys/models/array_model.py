"""The base of the models without a network: fit, scores of empty histories, and the arrays of a saved state.

Shapes: B queries, I items.
"""

from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.training.options import RunOptions


class ArrayModel(Model):
    """A model whose state is a few arrays. An empty history is scored by popularity.

    A new model names the attributes of its state in `array_names` and, if one is sparse, in `matrix_name`. It overrides
    `_fit`, which sets them, and `_score`.
    """

    array_names: ClassVar[tuple[str, ...]] = ("counts",)  # attributes with one row per item
    matrix_name: ClassVar[str] = ""  # attribute with a sparse matrix of I columns; "": no such attribute
    counts: np.ndarray  # (I,) float32, how often each item was watched

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Compute the state from `train`. `run.report` receives {"stage": "fit", "done": steps, "total": steps}.

        Raises DataError if the data set is too large, and MissingLibraryError if a library is not installed.
        """
        self.counts = train.counts.astype(np.float32)
        self._fit(train, run or RunOptions())
        self._derive()
        return self

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        """Set the attributes of the state. `counts` is already set."""

    def _derive(self) -> None:
        """Compute further attributes from the state, after `_fit` and at the end of `load_state`."""

    def score(self, queries: Queries) -> np.ndarray:
        """See `Model.score`. For an empty history, a score is the item's share of `counts`."""
        scores = self._score(queries)
        empty = [row for row, history in enumerate(queries.histories) if not len(history)]
        scores[empty] = self.counts / max(self.counts.sum(), 1)
        return scores

    def _score(self, queries: Queries) -> np.ndarray:
        """Return the scores (B, I) float32. `score` overwrites the rows of empty histories."""
        raise NotImplementedError

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays of `array_names`, and "data", "indices" and "indptr" of the sparse matrix, if any."""
        arrays = {name: getattr(self, name) for name in self.array_names}
        return arrays | csr_state(getattr(self, self.matrix_name)) if self.matrix_name else arrays

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        for name in self.array_names:
            setattr(self, name, item_array(state, name, n_items))
        if self.matrix_name:
            setattr(self, self.matrix_name, csr_from_state(state, n_items))
        self._derive()


def item_array(state: dict[str, np.ndarray], name: str, n_items: int) -> np.ndarray:
    """Return the array `name` of a saved state, with one row per item. Raises like `Model.load_state`."""
    if name not in state:
        raise KeyError(f"the saved model has no {name}; fit it again")
    if len(state[name]) != n_items:
        raise ValueError(f"the saved model knows {len(state[name])} items, the catalogue has {n_items}; fit it again")
    return state[name]


def csr_state(matrix: sparse.csr_array) -> dict[str, np.ndarray]:
    """Return the three arrays of a sparse matrix by name, as `csr_from_state` reads them."""
    return {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}


def csr_from_state(state: dict[str, np.ndarray], n_columns: int) -> sparse.csr_array:
    """Return the sparse matrix with `n_columns` columns of a saved state. Raises like `Model.load_state`."""
    if missing := {"data", "indices", "indptr"} - state.keys():
        raise KeyError(f"the saved model has no {', '.join(sorted(missing))}; fit it again")
    if state["indices"].max(initial=-1) >= n_columns:
        raise ValueError(f"the saved matrix is not one of {n_columns} items; fit it again")
    shape = (len(state["indptr"]) - 1, n_columns)
    return sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape)
