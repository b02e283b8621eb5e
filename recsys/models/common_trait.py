"""The trait that the films of a list have in common: an original language, a director, a theme, a genre or a tag.

Shapes: I items, A traits.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from recsys.data.dataset import Dataset
from recsys.text.fields import traits

FREQUENT_TRAIT_SHARE = 0.08  # share of the events of films with a trait; its strength is 0 here and negative above
COMMON_SHARE = 0.75  # from this share of the films of a list on, a trait is common
MIN_COMMON_SHARE = 0.6  # from this share on, it is common if its `_surprise` is MIN_SURPRISE or more
MIN_SURPRISE = 10.0  # in nats; random films share such a trait with a probability of at most e^-10
WEAK_KINDS = ("genre/", "tag/")  # traits of these kinds count only if the films have no other trait in common


class CommonTrait(NamedTuple):
    """A trait that most films of a list have in common."""

    name: str  # for example "language/fr", see `text.fields.traits`
    column: int  # in `TraitTable.item_traits`
    share: float  # of the films of the list that have it
    strength: float  # share · log(FREQUENT_TRAIT_SHARE / share of the events that belong to films with the trait)

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

    def __init__(self, names: Sequence[str], item_traits: sparse.csr_array, event_shares: np.ndarray) -> None:
        """Create a table.

        Args:
            names: The names of the A traits.
            item_traits: Whether an item has a trait, (I, A) bool.
            event_shares: The shares of the events that belong to items with the traits, (A,).
        """
        self.names = list(names)
        self.item_traits = item_traits
        self.event_shares = event_shares
        self._is_weak = np.array([name.startswith(WEAK_KINDS) for name in names], bool)  # (A,)
        self._items_by_trait = item_traits.tocsc()

    @classmethod
    def from_dataset(cls, train: Dataset) -> Self:
        """Return the traits of the catalogue of a data set. 1 is added to all counts, so that no share is 0."""
        names, item_traits = traits(train.name, train.catalog)
        n_events = train.counts @ item_traits.astype(np.int64)
        return cls(names, item_traits, ((n_events + 1) / (train.counts.sum() + 1)).astype(np.float32))

    @classmethod
    def empty(cls, n_items: int) -> Self:
        """Return a table without traits."""
        return cls([], sparse.csr_array((n_items, 0), dtype=bool), np.zeros(0, np.float32))

    def items_with(self, trait: CommonTrait) -> np.ndarray:
        """Return the items that have a trait."""
        start, end = self._items_by_trait.indptr[trait.column : trait.column + 2]
        return self._items_by_trait.indices[start:end]

    def find_common(self, history: np.ndarray) -> CommonTrait | None:
        """Return the most surprising trait that two or more items of a history (T,) have in common, or None.

        A trait of WEAK_KINDS is only returned if no other trait is common. A trait is partial if less than COMMON_SHARE
        of the items have it. Partial traits need a surprise of MIN_SURPRISE, and rank below complete ones.
        """
        items = np.unique(history)
        if len(items) < 2:
            return None
        bounds = self.item_traits.indptr
        traits_of_items = np.concatenate([self.item_traits.indices[bounds[item] : bounds[item + 1]] for item in items])
        n_having = np.bincount(traits_of_items, minlength=len(self.names))  # items of the list with each trait, (A,)
        candidates = np.flatnonzero(n_having >= np.maximum(MIN_COMMON_SHARE * len(items), 2))
        surprises = _surprise(n_having[candidates], len(items), self.event_shares[candidates])
        is_partial = n_having[candidates] < COMMON_SHARE * len(items)
        is_common = ~is_partial | (surprises >= MIN_SURPRISE)
        if not is_common.any():
            return None
        common = candidates[is_common]
        # `lexsort` compares the last key first
        keys = (-surprises[is_common], is_partial[is_common], self._is_weak[common])
        column = int(common[np.lexsort(keys)[0]])
        share = n_having[column] / len(items)
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
        """Return the stored table. States of older versions without `trait_names` give a table without traits."""
        if "trait_names" not in state:
            return cls.empty(n_items)
        names = state["trait_names"].tobytes().decode().split("\n")
        columns, ends = state["trait_columns"], state["trait_ends"]
        item_traits = sparse.csr_array((np.ones(len(columns), bool), columns, ends), shape=(n_items, len(names)))
        return cls(names, item_traits, state["trait_shares"])


def _surprise(n_having: np.ndarray, n: int, shares: np.ndarray) -> np.ndarray:
    """Return -log of the probability that exactly `n_having` of n random films have a trait, for each trait (A,).

    Args:
        n_having: The numbers of films that have the traits, (A,).
        n: The number of films.
        shares: The shares of events that belong to films with the traits, (A,).
    """
    t = np.minimum(shares, 1 - 1e-6)
    log_binomial = gammaln(n + 1) - gammaln(n_having + 1) - gammaln(n - n_having + 1)  # log of n choose n_having
    return -log_binomial - n_having * np.log(t) - (n - n_having) * np.log1p(-t)
