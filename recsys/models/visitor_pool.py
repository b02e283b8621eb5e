"""A pool for visitors of the app, who type one to ten films, often without an order.

Shapes: B queries, M members, I items, F single films, T films of a history.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Protocol, Self

import numpy as np

from recsys.data import published
from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.array_model import item_array
from recsys.models.base import Model
from recsys.models.common_trait import CommonTrait, TraitTable
from recsys.models.favourites import (
    CALIBRATION_LENGTHS,
    GRADED_WEIGHTS,
    INVERSE_TEMPERATURES,
    N_CALIBRATED,
    N_DRAWS,
    TASTE_MEMBERS,
    UNORDERED_TASTE_FACTOR,
    UNORDERED_TRAIT_BONUS,
    combine_favourites,
    expected_hit_rates,
    item_prior,
    random_lists,
    single_films,
)
from recsys.models.length_weights import (
    LengthWeights,
    histories_cut_to_each_range,
    member_scores,
)
from recsys.models.markov import Markov
from recsys.models.pool import Pool
from recsys.training.options import RunOptions

CONTENT_MEMBER = "content-fields"  # the member whose weight depends on the films of a history in order
# The constants up to DISSIMILAR_MULTIPLIER determine the factor of its weight for histories in order. Rarely watched
# films raise it, if the geometric mean of the shares of users who watched each film is below FREQUENT_SHARE.
FREQUENT_SHARE = 0.04
MAX_RARITY_FACTOR = 8.0
MAX_TRAIT_FACTOR = 16.0  # for a trait that the films have in common; a rare trait has a high factor
TASTE_MIN_FACTOR = 24.0  # in `for_taste`
DISSIMILAR_MULTIPLIER = 3.0  # if no film of a history is an item or similar to one
NOTE_MIN_FACTOR = 2.0  # from this factor on, the app says that similar films rank higher than usual
MIN_BONUS_LENGTH = 3  # histories of fewer films have no bonus for a common trait
TRAIT_BONUS = 0.15  # films with the common trait get TRAIT_BONUS · Σ_m w_m · strength, see `CommonTrait`
CALIBRATION_BATCH = 64  # lists scored at once, of up to ten films each
MAX_TRANSITIONS = 300  # of each item in a Markov chain; saves 66 MB on the built-in set, see docs/experiments.md


class AllFilms(Protocol):
    """Descriptions and traits of all films, and substitutes of infrequent films, whose numbers are I or more."""

    @property
    def content(self) -> Model:
        """CONTENT_MEMBER, fitted on the descriptions of all films."""

    @property
    def traits(self) -> TraitTable:
        """The traits of all films."""

    def to_items(self, queries: Queries) -> Queries:
        """Replace infrequent films by similar items. Films without a similar item are removed if others remain."""

    def has_similar_item(self, number: int) -> bool:
        """Return whether a film is an item or similar to one."""


class VisitorPool(Pool):
    """A pool that also ranks well for short lists and for favourites in no order.

    - The weights of each range of history lengths (`LengthWeights`) are fitted on validation histories that are cut to
      a length in this range, because the users of the data sets have long histories.
    - The count memories of the networks (`count_memory.py`) are removed, because Markov chains and EASE are members.
    - Markov chains keep MAX_TRANSITIONS transitions of each item, because the app has them in memory.
    - Histories may have infrequent films if `all_films` is set. `content-fields` and the traits read their
      descriptions, and similar items replace them for the other members, see `AllFilms`.

    For histories in order:

    - The weight of `content-fields` is multiplied by a factor: the larger one of the two below, at least 1, times
      DISSIMILAR_MULTIPLIER if no film is an item or similar to one. In `for_taste`, it is at least TASTE_MIN_FACTOR.
      The weights are then rescaled to their previous sum (docs/experiments.md).
      - min(FREQUENT_SHARE / s, MAX_RARITY_FACTOR) for rarely watched films. Counts and networks learn little from their
        few events. s is the share of users who watched a film, as the geometric mean over the films of the history.
      - clip(exp(strength), 1, MAX_TRAIT_FACTOR) if the films have a trait in common (`CommonTrait`). So three German
        films are followed by German films, and three films about boxing by others about boxing, even if the three films
        are popular.
    - From MIN_BONUS_LENGTH films on, films with this trait get a bonus, see TRAIT_BONUS.

    For favourites in no order (`for_unordered_lists`):

    - The members have the weights `favourite_weights`, and the factors above are not used. Each film is scored alone,
      and the scores are combined, so the order does not matter, see `favourites.py`.
    - Films with a common trait get a bonus, see UNORDERED_TRAIT_BONUS.
    - For each of the CALIBRATION_LENGTHS, an inverse temperature makes the total probability of the first N_CALIBRATED
      films right on validation data.
    """

    choose_examples = staticmethod(histories_cut_to_each_range)
    min_content_factor: float = 1.0  # see `for_taste`
    all_films: AllFilms | None = None  # None: histories have only items
    reads_infrequent_films: bool = True

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.favourite_weights = np.zeros(len(self.members), np.float32)  # of each member for a list in no order, (M,)
        self.favourite_prior = np.zeros(0, np.float32)  # see `favourites.item_prior`, (I,)
        self.unordered_inverse_temperatures = np.ones(len(CALIBRATION_LENGTHS), np.float32)  # of the scores
        self.is_fitted = False  # whether the weights are fitted or loaded

    def set_members(self, members: Mapping[str, Model]) -> None:
        """Set the fitted members, which must be this pool's own copies, and remove their count memories."""
        super().set_members(members)
        for model in self.models:
            model.remove_count_memory()
        if self.is_fitted:
            self._shrink_markov_chains()

    def _shrink_markov_chains(self) -> None:
        """Keep the MAX_TRANSITIONS strongest transitions of each item in the Markov chains."""
        for model in self.models:
            if isinstance(model, Markov):
                model.keep_strongest_transitions(MAX_TRANSITIONS)

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Fit the weights as `Pool` does, compute shares and traits, calibrate, and do the same for favourites.

        The weights are fitted with whole Markov chains. With shrunk ones, NDCG@10 after one film was 7 % lower, because
        a target without a transition then has a very low probability.
        """
        super().fit(train, valid, run)
        self.is_fitted = True
        self._shrink_markov_chains()
        # 1 is added to all counts, so that no share is 0 and its logarithm is finite
        self.log_shares = np.log((train.counts + 1) / train.n_users).astype(np.float32)  # (I,)
        self.traits = TraitTable.from_dataset(train)
        if valid:
            self._calibrate(valid, run or RunOptions())
        self._set_favourite_weights(train)  # after `_calibrate`, whose weights this may copy
        if valid:
            self._calibrate_unordered(valid, run or RunOptions())
        return self

    def _calibrate(self, valid: HeldOut, run: RunOptions) -> None:
        """Multiply the weights of each range by the inverse temperature that is best for the final scores.

        The shrunk chains, the factors of content and the bonus change the scores after the weights were fitted. Without
        the temperature, high probabilities would be too high.
        """
        inverse_temperatures = LengthWeights(1, self.config.edges)
        inverse_temperatures.fit(lambda queries: [self.score(queries)], valid, run, self.choose_examples)
        self.length_weights.set_weights(self.length_weights.weights * inverse_temperatures.weights)

    def _set_favourite_weights(self, train: Dataset) -> None:
        """Set `favourite_weights` and `favourite_prior`.

        They are GRADED_WEIGHTS and `item_prior` if the data set has the movie ids of MovieLens, by which the shipped
        descriptions of films are found. Otherwise, or if the pool lacks a member of GRADED_WEIGHTS, they are the
        weights of the shortest histories and no prior.
        """
        self.favourite_prior = np.zeros(train.n_items, np.float32)
        self.favourite_weights = self.length_weights.weights[0]
        if published.has_common_movie_ids(train.name) and GRADED_WEIGHTS.keys() <= set(self.members):
            self.favourite_weights = np.array([GRADED_WEIGHTS.get(name, 0) for name in self.members], np.float32)
            self.favourite_prior = item_prior(train, self.log_shares)

    def _calibrate_unordered(self, valid: HeldOut, run: RunOptions) -> None:
        """Set `unordered_inverse_temperatures`, one for each of the CALIBRATION_LENGTHS."""
        self.unordered_inverse_temperatures = np.ones(len(CALIBRATION_LENGTHS), np.float32)
        fitted = [self._unordered_inverse_temperature(valid, length, run) for length in CALIBRATION_LENGTHS]
        self.unordered_inverse_temperatures = np.array(fitted, np.float32)

    def _unordered_inverse_temperature(self, valid: HeldOut, length: int, run: RunOptions) -> float:
        """Return the inverse temperature with which the expected hit rate equals the observed one, 1 without lists.

        The expected hit rate is the mean of `expected_hit_rates`, linearly interpolated between the tested values. A
        hit is a target among the top N_CALIBRATED items.
        """
        unordered_pool = self.for_unordered_lists()
        examples = random_lists(valid, [length] * N_DRAWS, np.random.default_rng(run.seed))
        n_lists, n_hits = len(examples.queries), 0
        expected_hits = np.zeros(len(INVERSE_TEMPERATURES))
        for start in range(0, n_lists, CALIBRATION_BATCH):
            queries = examples.queries[start : start + CALIBRATION_BATCH]
            scores = unordered_pool.score(queries)
            for row, row_scores in enumerate(scores, start):  # views, so `scores` is masked in place
                row_scores[examples.excluded[row]] = -np.inf
                n_hits += int(np.count_nonzero(row_scores >= row_scores[examples.targets[row]]) <= N_CALIBRATED)
            expected_hits += expected_hit_rates(scores).sum(0)
            run.report({"stage": "fit", "done": start + len(queries), "total": n_lists})
        return float(np.interp(n_hits, expected_hits, INVERSE_TEMPERATURES)) if n_lists else 1.0

    def for_taste(self) -> Self:
        """Return a copy that recommends more similar films. The members are shared.

        The factor of CONTENT_MEMBER is at least TASTE_MIN_FACTOR. For lists in no order, the weights of TASTE_MEMBERS
        are multiplied by UNORDERED_TASTE_FACTOR. The temperatures rise with the sum of the weights, so that the
        probabilities stay similar.
        """
        model = copy(self)
        model.min_content_factor = TASTE_MIN_FACTOR
        factors = [UNORDERED_TASTE_FACTOR if name in TASTE_MEMBERS else 1 for name in self.members]
        model.favourite_weights = np.array(factors, np.float32) * self.favourite_weights
        sums = [max(float(weights.sum()), 1e-9) for weights in (self.favourite_weights, model.favourite_weights)]
        model.unordered_inverse_temperatures = self.unordered_inverse_temperatures * (sums[0] / sums[1])
        return model

    def for_unordered_lists(self) -> Self:
        """Return a copy for favourites in no order: the order of a list does not change the scores.

        Favourites show the taste of a visitor, but not the order of watching.
        """
        model = copy(self)
        model.ignores_order = True
        model.uses_query_ratings = False  # films are scored alone, without their ratings
        return model

    def score(self, queries: Queries) -> np.ndarray:
        """Return the scores of histories in order or, if `ignores_order`, of favourites, (B, I) float32."""
        scores = np.empty((len(queries), self.n_items), np.float32)
        has_infrequent = np.array([self._has_infrequent(history) for history in queries.histories], bool)
        for rows, all_films in ((~has_infrequent, None), (has_infrequent, self.all_films)):
            if rows.any():
                scores[rows] = self._score_queries(queries[np.flatnonzero(rows)], all_films)
        return scores

    def _score_queries(self, queries: Queries, all_films: AllFilms | None) -> np.ndarray:
        """Return the scores of histories, (B, I) float32. Without `all_films`, the histories have only items."""
        trait_table = all_films.traits if all_films else self.traits
        traits = [trait_table.find_common(history) for history in queries.histories]
        if self.ignores_order:
            scores = self._score_favourites(queries, all_films)
            bonuses = np.full(len(queries), UNORDERED_TRAIT_BONUS * self.favourite_weights.sum())  # (B,)
        else:
            scores = self._score_in_order(queries, traits, all_films)
            weight_sums = self.length_weights.weights.sum(1)[self.length_weights.range_indices(queries)]  # (B,)
            has_bonus = np.array([len(history) >= MIN_BONUS_LENGTH for history in queries.histories])
            bonuses = TRAIT_BONUS * weight_sums * has_bonus
        for row, trait in enumerate(traits):
            if trait:
                films = trait_table.items_with(trait)
                scores[row, films[films < self.n_items]] += bonuses[row] * trait.strength
        return scores * self._inverse_temperatures(queries)[:, None] if self.ignores_order else scores

    def _inverse_temperatures(self, queries: Queries) -> np.ndarray:
        """Return the inverse temperature for the length of each list in no order, (B,)."""
        lengths = [len(np.unique(history)) for history in queries.histories]
        return self.unordered_inverse_temperatures[np.searchsorted(CALIBRATION_LENGTHS[1:], lengths, side="right")]

    def _score_favourites(self, queries: Queries, all_films: AllFilms | None) -> np.ndarray:
        """Return the scores of lists in no order without the bonus of a trait, (B, I) float32, see `favourites.py`."""
        singles, rows_of_lists = single_films(queries.histories)
        single_scores = self._score_single_films(singles, all_films)
        return np.stack(
            [
                combine_favourites(single_scores[rows], history[history < self.n_items])
                for history, rows in zip(queries.histories, rows_of_lists, strict=True)
            ]
        )

    def _score_single_films(self, singles: Queries, all_films: AllFilms | None) -> np.ndarray:
        """Return the scores after each of F single films, (F, I) float32."""
        scores = np.tile(self.favourite_prior, (len(singles), 1))
        item_singles = all_films.to_items(singles) if all_films else singles
        # the substitute of a film without a similar item would mislead the members other than CONTENT_MEMBER
        rows = np.flatnonzero([self._has_similar_item(history) for history in singles.histories])
        for weight, name, model in zip(self.favourite_weights, self.members, self.models, strict=True):
            if not weight:
                continue
            if all_films and name == CONTENT_MEMBER:
                scores += weight * member_scores(all_films.content, singles, self.n_items)
            else:
                scores[rows] += weight * member_scores(model, item_singles[rows], self.n_items)
        return scores

    def _score_in_order(
        self, queries: Queries, traits: Sequence[CommonTrait | None], all_films: AllFilms | None
    ) -> np.ndarray:
        """Return the weighted sum of the members' scores with the factors of content, (B, I) float32."""
        item_queries = all_films.to_items(queries) if all_films else queries
        z = self._scores_of_members(queries, item_queries, all_films)
        return self.length_weights.combine(z, queries, self.member_factors(queries, traits))

    def _scores_of_members(
        self, queries: Queries, item_queries: Queries, all_films: AllFilms | None
    ) -> Iterator[np.ndarray]:
        """Yield z (B, I) float32 of each member.

        With `all_films`, CONTENT_MEMBER reads the film numbers of `queries`. The other members read `item_queries`.
        """
        for name, model in zip(self.members, self.models, strict=True):
            if all_films and name == CONTENT_MEMBER:
                yield member_scores(all_films.content, queries, self.n_items)
            else:
                yield member_scores(model, item_queries, self.n_items)

    def member_factors(self, queries: Queries, traits: Sequence[CommonTrait | None]) -> np.ndarray:
        """Return the factors of the weights, (B, M) float32: 1 except for CONTENT_MEMBER."""
        factors = np.ones((len(queries), len(self.members)), np.float32)
        is_content = np.array(self.members) == CONTENT_MEMBER
        for row, (history, trait) in enumerate(zip(queries.histories, traits, strict=True)):
            factors[row, is_content] = max(self._content_factor(history, trait), self.min_content_factor)
        return factors

    def _content_factor(self, history: np.ndarray, trait: CommonTrait | None) -> float:
        """Return the factor of CONTENT_MEMBER for a history in order, at least 1, see the docstring of the class."""
        rarity_factor = min(FREQUENT_SHARE / self._mean_share(history), MAX_RARITY_FACTOR)
        trait_factor = min(float(np.exp(trait.strength)), MAX_TRAIT_FACTOR) if trait else 1.0
        factor = max(1.0, rarity_factor, trait_factor)
        return factor if self._has_similar_item(history) else factor * DISSIMILAR_MULTIPLIER

    def _mean_share(self, history: np.ndarray) -> float:
        """Return the geometric mean of the shares of users who watched each film of a history, 1 without films.

        Infrequent films count like the least watched item.
        """
        if not len(history):
            return 1.0
        is_item = np.asarray(history) < self.n_items
        log_shares = np.where(is_item, self.log_shares[np.where(is_item, history, 0)], self.log_shares.min())
        return float(np.exp(log_shares.mean()))

    def _has_similar_item(self, history: np.ndarray) -> bool:
        """Return whether any film of a history is an item or similar to one. True for an empty history."""
        if self.all_films is None or not len(history):
            return True
        return any(self.all_films.has_similar_item(film) for film in np.asarray(history).tolist())

    def _has_infrequent(self, history: np.ndarray) -> bool:
        """Return whether a history of film numbers (T,) has an infrequent film."""
        return len(history) > 0 and int(np.max(history)) >= self.n_items

    def _find_common_trait(self, history: np.ndarray) -> CommonTrait | None:
        """Return the trait that the films of a history have in common, see `TraitTable.find_common`."""
        table = self.all_films.traits if self.all_films and self._has_infrequent(history) else self.traits
        return table.find_common(history)

    def favours_content(self, history: np.ndarray) -> bool:
        """Return whether similar films rank higher than usual: for rarely watched films, or for a common trait.

        This is true if a history in order raises the factor of CONTENT_MEMBER to NOTE_MIN_FACTOR or more, and above
        `min_content_factor`. For a list in no order, it is true if there is a `notable_common_trait`.
        """
        if self.ignores_order:
            return self.notable_common_trait(history) is not None
        factor = self._content_factor(history, self._find_common_trait(history))
        return factor >= NOTE_MIN_FACTOR and factor > self.min_content_factor

    def notable_common_trait(self, history: np.ndarray) -> CommonTrait | None:
        """Return the trait that all films of a history have in common.

        The result is None if there is none, if some films lack it, or if its factor is below NOTE_MIN_FACTOR.
        """
        trait = self._find_common_trait(history)
        if trait is None or trait.share < 1 or np.exp(trait.strength) < NOTE_MIN_FACTOR:
            return None
        return trait

    def state(self) -> dict[str, np.ndarray]:
        """Return the state of `Pool`, how frequent items and traits are, and the arrays for lists in no order."""
        own_state = {
            "log_shares": self.log_shares,
            "favourite_weights": self.favourite_weights,
            "favourite_prior": self.favourite_prior,
            "unordered_inverse_temperatures": self.unordered_inverse_temperatures,
        }
        return super().state() | self.traits.state() | own_state

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        super().load_state(state, n_items)
        self.is_fitted = True
        self.log_shares = item_array(state, "log_shares", n_items)
        self.traits = TraitTable.from_state(state, n_items)
        self.favourite_weights = state["favourite_weights"]
        self.favourite_prior = item_array(state, "favourite_prior", n_items)
        self.unordered_inverse_temperatures = state["unordered_inverse_temperatures"]
        if self.favourite_weights.shape != (len(self.members),):
            raise ValueError(f"there are {len(self.favourite_weights)} weights of favourites, not {len(self.members)}")
