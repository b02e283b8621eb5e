"""The trait that the films of a list have in common: an original language, a director, a theme, a genre or a tag.

Shapes: I items, A traits, C candidates, which are traits.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from recsys.data.dataset import Dataset
from recsys.text.fields import trait_matrix

FREQUENT_TRAIT_SHARE = 0.08  # a trait is too frequent if films with it have this share of all events or more
COMMON_SHARE = 0.75  # a trait is common if this share of the films of a list has it
MIN_COMMON_SHARE = 0.6  # this share is enough if the `_surprise` of the trait is MIN_SURPRISE or more
MIN_SURPRISE = 10.0  # in nats; random films share such a trait with a probability of at most e^-10
WEAK_KINDS = ("genre/", "tag/")  # traits of these kinds count only if the films have no other trait in common


class CommonTrait(NamedTuple):
    """A trait that most films of a list have in common."""

    name: str  # for example "language/fr", see `text.fields.trait_matrix`
    column: int  # in `TraitTable.item_traits`
    share: float  # of the films of the list that have it
    strength: float  # > 0: share · log(FREQUENT_TRAIT_SHARE / share of the events that belong to films with the trait)

    @property
    def kind(self) -> str:
        """The part of the name before the first slash: "language"."""
        return self.name.partition("/")[0]

    @property
    def value(self) -> str:
        """The part of the name after the first slash: "fr"."""
        return self.name.partition("/")[2]


class TraitTable:
    """The traits of all items, and how frequent each trait is."""

    def __init__(
        self,
        names: Sequence[str],
        item_traits: sparse.csr_array,
        event_shares: np.ndarray,
        is_recommendable: np.ndarray | None = None,
    ) -> None:
        """Create a table.

        Args:
            names: The names of the A traits.
            item_traits: Whether an item has a trait, (I, A) bool.
            event_shares: The shares of the events that belong to items with the traits, (A,).
            is_recommendable: Whether an item with the trait can be recommended, (A,) bool. None: all traits.
        """
        self.names = list(names)
        self.item_traits = item_traits
        self.event_shares = event_shares
        self._is_useful = event_shares < FREQUENT_TRAIT_SHARE  # (A,)
        if is_recommendable is not None:
            self._is_useful &= is_recommendable
        self._is_weak = np.array([name.startswith(WEAK_KINDS) for name in names], bool)  # (A,)
        self._items_by_trait = item_traits.tocsc()

    @classmethod
    def from_dataset(cls, train: Dataset) -> Self:
        """Return the traits of the catalogue of a data set. 1 is added to all counts, so that no share is 0."""
        names, item_traits = trait_matrix(train.name, train.catalog)
        n_events = train.counts @ item_traits.astype(np.int64)  # 0: no event belongs to a film with the trait
        shares = ((n_events + 1) / (train.counts.sum() + 1)).astype(np.float32)
        return cls(names, item_traits, shares, n_events > 0)

    @classmethod
    def empty(cls, n_items: int) -> Self:
        """Return a table without traits."""
        return cls([], sparse.csr_array((n_items, 0), dtype=bool), np.zeros(0, np.float32))

    def items_with(self, trait: CommonTrait) -> np.ndarray:
        """Return the items that have a trait."""
        start, end = self._items_by_trait.indptr[trait.column : trait.column + 2]
        return self._items_by_trait.indices[start:end]

    def find_common(self, history: np.ndarray) -> CommonTrait | None:
        """Return the most surprising trait that the items of a history (T,) have in common, or None.

        At least two items and MIN_COMMON_SHARE of the items have it. A trait of fewer than COMMON_SHARE of the items
        needs a surprise of MIN_SURPRISE, and ranks below the others. A trait of WEAK_KINDS is only returned if no
        other trait is common.
        """
        items = np.unique(history)
        if len(items) < 2:
            return None
        bounds = self.item_traits.indptr
        traits_of_items = np.concatenate([self.item_traits.indices[bounds[item] : bounds[item + 1]] for item in items])
        n_items_with = np.bincount(traits_of_items, minlength=len(self.names))  # of the history, (A,)
        candidates = np.flatnonzero(self._is_useful & (n_items_with >= max(MIN_COMMON_SHARE * len(items), 2)))
        surprises = _surprise(n_items_with[candidates], len(items), self.event_shares[candidates])
        lacks_many = n_items_with[candidates] < COMMON_SHARE * len(items)
        is_common = ~lacks_many | (surprises >= MIN_SURPRISE)
        if not is_common.any():
            return None
        common = candidates[is_common]
        # `lexsort` compares the last key first
        keys = (-surprises[is_common], lacks_many[is_common], self._is_weak[common])
        column = int(common[np.lexsort(keys)[0]])
        share = n_items_with[column] / len(items)
        strength = float(share * np.log(FREQUENT_TRAIT_SHARE / self.event_shares[column]))
        return CommonTrait(self.names[column], column, share, strength)

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays to store."""
        return {
            "trait_columns": self.item_traits.indices.astype(np.int32),
            "trait_ends": self.item_traits.indptr.astype(np.int32),
            "trait_shares": self.event_shares,
            "trait_names": np.frombuffer("\n".join(self.names).encode(), np.uint8),
        }

    @classmethod
    def from_state(cls, state: dict[str, np.ndarray], n_items: int) -> Self:
        """Return the stored table. All its traits count as recommendable. Without `trait_names`, it has no traits."""
        if "trait_names" not in state:
            return cls.empty(n_items)
        names = state["trait_names"].tobytes().decode().split("\n")
        columns, ends = state["trait_columns"], state["trait_ends"]
        item_traits = sparse.csr_array((np.ones(len(columns), bool), columns, ends), shape=(n_items, len(names)))
        return cls(names, item_traits, state["trait_shares"])


def _surprise(n_items_with: np.ndarray, n_items: int, event_shares: np.ndarray) -> np.ndarray:
    """Return -log of the probability that exactly `n_items_with` of `n_items` random items have a trait, (C,).

    Args:
        n_items_with: The numbers of items that have each candidate, (C,).
        n_items: The number of items.
        event_shares: The shares of events that belong to items with each candidate, (C,).
    """
    p = np.minimum(event_shares, 1 - 1e-6)  # probability that a random item has the trait
    n_others = n_items - n_items_with
    log_binomial = gammaln(n_items + 1) - gammaln(n_items_with + 1) - gammaln(n_others + 1)  # binomial coefficient
    return -log_binomial - n_items_with * np.log(p) - n_others * np.log1p(-p)
