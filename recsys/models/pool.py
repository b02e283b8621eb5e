"""Log-linear pools: the scores of several models, weighted and added.

    score(i | h) = Σ_m w[r(h), m] · z_m(i | h),        p(i | h) = softmax of the scores over all items i

h is a history, m a member, z_m the scores of m on a common scale (`comparable_scores`), and r(h) the range that
contains the length of h. The weights w ≥ 0 maximise the likelihood of the validation items. Each range has its own
weights, because the members' quality depends on the length of the history.

Shapes: B queries, b queries scored at once, M members, I items, C candidates, W ranges, A traits.

Reference: Genest and Zidek (Statistical Science 1986); Heskes (NIPS 1997). Burke (UMUAI 2002) calls such a
recommender a weighted hybrid.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp, softmax

from recsys.config import ConfigError, Count, config_class
from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.array_model import item_array
from recsys.models.base import Model
from recsys.models.markov import Markov
from recsys.text.fields import traits
from recsys.training.options import RunOptions

SCORE_BATCH = 256  # queries scored at once: M · I floats each
MIN_EXAMPLES = 300  # queries of a range in a fit; a range with fewer is filled up with longer histories, which are cut
MAX_EXAMPLES = 2000  # queries of a range in a fit
N_TOP = 256  # candidates of a query with the highest mean score of the members
N_SAMPLED = 256  # candidates drawn from the other items
EMPHASISED_MEMBER = (
    "content-fields"  # the member of `VisitorPool` with a higher weight for lists of rarely watched films
)
# geometric mean of the shares of users who watched each film of a list; at or above it, the weight is not raised
FREQUENT_SHARE = 0.04
MAX_EMPHASIS = 8.0  # highest factor of the weight for rarely watched films
TASTE_EMPHASIS = 24.0  # lowest factor of the weight in `for_taste`
FREQUENT_TRAIT_SHARE = 0.08  # share of the events of films with a trait; at or above it, the weight is not raised
COMMON_SHARE = 0.75  # from this share of the films of a list on, a trait is common
MIN_COMMON_SHARE = 0.6  # from this share on, it is common if its `_surprise` is MIN_SURPRISE or more
MIN_SURPRISE = 10.0  # in nats; random films share such a trait with a probability of at most e^-10
WEAK_KINDS = ("genre/", "tag/")  # traits of these kinds count only if the films have no other trait in common
MAX_TRAIT_EMPHASIS = 16.0  # highest factor of the weight for a rare trait
MIN_TRAIT_FILMS = 3  # lists of fewer films have no bonus for a common trait
TRAIT_BONUS = 0.15  # bonus for the common trait: TRAIT_BONUS · Σ_m w_m · strength, see `CommonTrait`
UNORDERED_EMPHASIS = 3.0  # lowest factor of the weight for lists in no order
MAX_ORDERS = 4  # number of orders in which a list in no order is scored
NOTE_MIN_EMPHASIS = 2.0  # from this factor on, the app says that similar films rank higher than usual
PRIOR_STRENGTH = 3.0  # factor of the penalty ½‖w - prior‖²
UNORDERED_LENGTHS = ((1,), (2, 3, 5, 10))  # lengths of the lists on which each of the `unordered_factors` is fitted
UNORDERED_FACTORS = np.linspace(0.05, 2, 40, dtype=np.float32)  # values of `unordered_factors` that are tested, N
N_CALIBRATED = 3  # recommendations whose total probability is compared with the share of hits
MAX_TRANSITIONS = 300  # of each item in a Markov chain; saves 66 MB on the built-in set, see docs/experiments.md
MAX_RECENT = 50  # newest items of a history from which lists in no order are drawn

ScoreMembers = Callable[[Queries], Iterable[np.ndarray]]  # queries → z of each member, M arrays (B, I) float32


def comparable_scores(model: Model, scores: np.ndarray) -> np.ndarray:
    """Return a model's scores (B, I) on the scale of log-probabilities, (B, I) float32.

    They are the log-probabilities, if the model has any. Otherwise z = log(1 + x / mean of x), where x is the excess of
    a score over the lowest score of its row. This does not depend on the unit of the scores, keeps their order and
    limits the influence of a few very high scores.
    """
    items = np.arange(scores.shape[1])
    values = np.empty(scores.shape, np.float32)
    for query, row in enumerate(scores):
        z = model.log_probabilities(row, items)
        if z is None:
            excess = row - row.min(initial=np.inf)
            z = np.log1p(excess / (excess.mean() or 1))  # 0 if all scores are equal
        values[query] = z
    return values


def member_scores(model: Model, queries: Queries, n_items: int) -> np.ndarray:
    """Return the `comparable_scores` (B, I) of the first `n_items` items. Content models may score further items."""
    return comparable_scores(model, model.score(queries)[:, :n_items])


@dataclass(frozen=True)
class Examples:
    """B validation queries from which weights are fitted."""

    queries: Queries
    targets: np.ndarray  # (B,), the item that each user watched next
    excluded: list[np.ndarray]  # for each query, the watched items, which are no candidates


ChooseExamples = Callable[[HeldOut, Sequence[int], np.random.Generator], Examples]  # valid, edges, rng


def whole_or_cut_histories(valid: HeldOut, edges: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return up to MAX_EXAMPLES validation queries of each range.

    A range with fewer than MIN_EXAMPLES queries is filled up to MIN_EXAMPLES with longer histories, each cut to a
    random length of the range. Only the items that are left in a cut history are excluded.
    """
    lengths = np.array([len(history) for history in valid.queries.histories])
    rows, new_lengths = [], []
    for low, high in pairwise((0, *edges, np.inf)):
        whole_rows = rng.permutation(np.flatnonzero((lengths >= low) & (lengths < high)))[:MAX_EXAMPLES]
        cut_rows = rng.permutation(np.flatnonzero(lengths >= high))[: max(MIN_EXAMPLES - len(whole_rows), 0)]
        shortest = max(low, 1)
        cut_lengths = shortest + (rng.random(len(cut_rows)) * (high - shortest)).astype(int)
        rows += [*whole_rows, *cut_rows]
        new_lengths += [*lengths[whole_rows], *cut_lengths]
    histories = [valid.queries.histories[row][-length:] for row, length in zip(rows, new_lengths, strict=True)]
    # One flag holds for all queries, so the cut histories count as whole too.
    return Examples(Queries(histories, are_whole=valid.queries.are_whole), valid.targets[rows], histories)


def histories_cut_to_each_range(valid: HeldOut, edges: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return up to MAX_EXAMPLES queries of each range, cut to their newest items, because visitors type short lists.

    A history takes part in every range whose lowest length it reaches. Its new length is drawn uniformly from the
    range, up to its length. In the last range, histories are not cut. All items of the whole history are excluded.
    """
    histories = valid.queries.histories
    lengths = np.array([len(history) for history in histories])
    rows, new_lengths = [], []
    for low, high in pairwise((1, *edges, np.inf)):
        rows_of_range = rng.permutation(np.flatnonzero(lengths >= low))[:MAX_EXAMPLES]
        longest = np.minimum(lengths[rows_of_range], high - 1)
        drawn_lengths = low + np.floor(rng.random(len(rows_of_range)) * (longest - low + 1))
        rows += [*rows_of_range]
        new_lengths += [*(longest if high == np.inf else drawn_lengths).astype(int)]
    cut_histories = [histories[row][-length:] for row, length in zip(rows, new_lengths, strict=True)]
    return Examples(Queries(cut_histories), valid.targets[rows], [histories[row] for row in rows])


def random_lists(valid: HeldOut, list_lengths: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return lists of random items in random order, like the favourites of a visitor.

    There are lists of up to MAX_EXAMPLES users for each length. Their items are drawn from the MAX_RECENT newest items
    of a history. All items of the history are excluded.
    """
    histories = valid.queries.histories
    lengths = np.array([len(history) for history in histories])
    lists, rows = [], []
    for length in list_lengths:
        for row in rng.permutation(np.flatnonzero(lengths >= length))[:MAX_EXAMPLES]:
            lists.append(rng.permutation(histories[row][-MAX_RECENT:])[:length])
            rows.append(row)
    return Examples(Queries(lists), valid.targets[rows], [histories[row] for row in rows])


def in_several_orders(queries: Queries) -> tuple[Queries, np.ndarray]:
    """Return each list of `queries` in up to MAX_ORDERS orders, and the row of the list for each of them.

    The orders are rotations of the sorted list, so they do not depend on the order of the given list. Models weigh the
    newest items most, and these differ between the rotations.
    """
    rows: list[int] = []
    orders: list[np.ndarray] = []  # positions in the given list
    for row, history in enumerate(queries.histories):
        n_orders = min(MAX_ORDERS, max(len(history), 1))
        starts = np.arange(n_orders) * len(history) // n_orders
        rows += [row] * n_orders
        orders += [np.roll(np.argsort(history, kind="stable"), -start) for start in starts]
    repeated = queries[np.array(rows, np.int64)]
    histories = [np.asarray(history)[order] for history, order in zip(repeated.histories, orders, strict=True)]
    ratings = None
    if repeated.ratings is not None:
        ratings = [stars[order] for stars, order in zip(repeated.ratings, orders, strict=True)]
    return replace(repeated, histories=histories, ratings=ratings), np.array(rows, np.int64)


def expected_hit_rates(scores: np.ndarray) -> np.ndarray:
    """Return the total probability of the top N_CALIBRATED items for each of the N UNORDERED_FACTORS, (B, N).

    Args:
        scores: Log-probabilities up to a constant, (B, I); -∞ for excluded items.
    """
    n = min(N_CALIBRATED, scores.shape[1])
    top = -np.partition(-scores, n - 1, axis=1)[:, :n]
    highest = scores.max(1, keepdims=True)
    rates = [
        np.exp(factor * (top - highest)).sum(1) / np.exp(factor * (scores - highest)).sum(1)
        for factor in UNORDERED_FACTORS
    ]
    return np.stack(rates, axis=1)


class LengthWeights:
    """Weights of M members for each range of history lengths, fitted by maximum likelihood.

    With one member, a weight is a factor of its scores: the inverse temperature of their softmax.

    The loss of a query with the target t and the candidates j is

        log Σ_j n_j · exp(Σ_m w_m · (z_m(j) - z_m(t)))

    The candidates are t, the N_TOP items with the highest mean score (n_j = 1) and N_SAMPLED of the remaining items. A
    sampled item represents several remaining items (n_j = their number / N_SAMPLED). Compared with a loss over all
    items, this changes a weight by about 1 %. The loss is convex in w.

    The penalty PRIOR_STRENGTH / 2 · ‖w - prior‖² is added to the loss of all queries. First, common weights are fitted
    on the queries of all ranges, with the prior 1 / M. They are the prior of the weights of each range.
    """

    def __init__(self, n_members: int, edges: tuple[int, ...]) -> None:
        """Start with equal weights of M members. `edges` are the lowest lengths of the second and each later range."""
        self.edges = edges
        self.weights = np.full((len(edges) + 1, n_members), 1 / n_members, np.float32)  # (W, M)

    def fit(
        self,
        score_members: ScoreMembers,
        valid: HeldOut,
        run: RunOptions,
        choose_examples: ChooseExamples = whole_or_cut_histories,
    ) -> None:
        """Fit the weights on validation queries. `run.seed` selects examples and candidates.

        `run.report` receives {"stage": "fit", "done": queries, "total": queries}.
        """
        rng = np.random.default_rng(run.seed)
        n_members = self.weights.shape[1]
        examples = choose_examples(valid, self.edges, rng)
        margins, log_n = _margins(score_members, examples, rng, run)
        common_weights = _fit_weights(margins, log_n, np.full(n_members, 1 / n_members))
        ranges = self.ranges(examples.queries)
        for number in range(len(self.weights)):
            rows = ranges == number
            self.weights[number] = _fit_weights(margins[rows], log_n[rows], common_weights)

    def combine(self, scores: Iterable[np.ndarray], queries: Queries, factors: np.ndarray | None = None) -> np.ndarray:
        """Return Σ_m w_m · z_m, (B, I) float32.

        Args:
            scores: z of each member, (B, I). An iterator keeps one of them in memory at a time.
            queries: The B queries.
            factors: Factors of the weights, (B, M). The sum of a query's weights does not change. None: no factors.
        """
        weights = self.weights[self.ranges(queries)]  # (B, M)
        if factors is not None:
            multiplied = weights * factors
            # A higher sum would be a lower temperature of the softmax, so probabilities would be too high.
            weights = multiplied * (weights.sum(1) / np.maximum(multiplied.sum(1), 1e-9))[:, None]
        total = np.float32(0)
        for weight, z in zip(weights.T[:, :, None], scores, strict=True):  # (B, 1), (B, I)
            total = total + weight * z
        return np.asarray(total)

    def set_weights(self, weights: np.ndarray) -> None:
        """Set weights (W, M). Raises ValueError if their shape is wrong."""
        if weights.shape != self.weights.shape:
            raise ValueError(f"the saved weights are {weights.shape}, not {self.weights.shape}")
        self.weights = weights

    def ranges(self, queries: Queries) -> np.ndarray:
        """Return the number of the range that contains the length of each history, (B,)."""
        return np.searchsorted(self.edges, [len(history) for history in queries.histories], side="right")


def _margins(
    score_members: ScoreMembers, examples: Examples, rng: np.random.Generator, run: RunOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return z(j) - z(t) of each candidate j, (B, M, C) float32, and log n_j, (B, C) float32, see `LengthWeights`.

    Candidate 0 is the target. If a query has fewer than C candidates, log n is -∞ for the rest.
    """
    batches, n_queries, n_candidates = [], len(examples.queries), 1 + N_TOP + N_SAMPLED
    log_n = np.full((n_queries, n_candidates), -np.inf, np.float32)
    log_n[:, 0] = 0
    for start in range(0, n_queries, SCORE_BATCH):
        queries = examples.queries[start : start + SCORE_BATCH]
        scores = np.stack([*score_members(queries)], 1)  # (b, M, I)
        margins = np.zeros((*scores.shape[:2], n_candidates), np.float32)
        for row, z in enumerate(scores):  # (M, I)
            target = examples.targets[start + row]
            items, n = _candidates(z.mean(0), np.append(examples.excluded[start + row], target), rng)
            margins[row, :, 1 : 1 + len(items)] = z[:, items] - z[:, [target]]
            log_n[start + row, 1 : 1 + len(items)] = np.log(n)
        batches.append(margins)
        run.report({"stage": "fit", "done": start + len(queries), "total": n_queries})
    return np.concatenate(batches), log_n


def _candidates(scores: np.ndarray, excluded: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates (C - 1,) besides the target, or fewer if there are too few items, and n_j of each.

    They are the N_TOP items with the highest `scores` (I,) and N_SAMPLED of the others.
    """
    allowed = np.flatnonzero(~np.isin(np.arange(len(scores)), excluded))
    order = np.argpartition(-scores[allowed], N_TOP) if len(allowed) > N_TOP else np.arange(len(allowed))
    top, others = allowed[order[:N_TOP]], allowed[order[N_TOP:]]
    sampled = rng.choice(others, min(N_SAMPLED, len(others)), replace=False)
    n_per_sampled = len(others) / max(len(sampled), 1)
    return np.concatenate([top, sampled]), np.concatenate([np.ones(len(top)), np.full(len(sampled), n_per_sampled)])


def _fit_weights(margins: np.ndarray, log_n: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the weights (M,) ≥ 0 with the lowest penalised loss, see `LengthWeights`.

    `margins` (B, M, C) are z(j) - z(t), `log_n` (B, C) log n_j, and `prior` (M,) the prior weights.
    """
    from scipy.optimize import minimize  # the import takes 0.17 s; stored weights need no fit

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the penalised loss and its gradient (M,)."""
        logits = np.einsum("m,bmc->bc", weights, margins) + log_n
        distance = weights - prior
        gradient = np.einsum("bc,bmc->m", softmax(logits, 1), margins)
        value = logsumexp(logits, 1).sum() + PRIOR_STRENGTH / 2 * distance @ distance
        return value, gradient + PRIOR_STRENGTH * distance

    return minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(prior)).x


@config_class
class PoolConfig:
    """The members and the ranges of history lengths. Edges other than the default ones change the metrics little."""

    members: tuple[str, ...] = ("sasrec-softmax", "markov", "content-tfidf")  # the recommenders that are mixed
    edges: tuple[Count, ...] = (10, 50)  # lowest history lengths, in items, of the second and each later range

    def __post_init__(self) -> None:
        """Raise ConfigError if there is no member, a member is named twice, or the edges do not ascend."""
        if not self.members:
            raise ConfigError("{setting} is empty, but must name at least 1 recommender", setting="members")
        if len(set(self.members)) < len(self.members):
            raise ConfigError(
                "members is {members}, but each member can be named only once", members=" ".join(self.members)
            )
        if any(low >= high for low, high in pairwise(self.edges)):
            raise ConfigError("edges is {edges}, but its values must increase", edges=" ".join(map(str, self.edges)))


class Pool(Model):
    """A log-linear pool of other recommenders. Only its weights are learnt and stored."""

    Config = PoolConfig
    config: PoolConfig
    has_probabilities: bool = True
    is_fitted_on_validation: bool = True
    choose_examples = staticmethod(whole_or_cut_histories)  # the queries on which the weights are fitted

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.members = self.config.members
        self.models: list[Model] = []  # the fitted members, M
        self.length_weights = LengthWeights(len(self.members), self.config.edges)

    @classmethod
    def with_fixed_weights(cls, weights: Mapping[str, float], members: Mapping[str, Model], n_items: int) -> Self:
        """Return a pool of fitted members with the same given weights for all lengths. It has no probabilities."""
        model = cls(PoolConfig(members=tuple(weights), edges=()))
        model.set_members(members)
        model.length_weights.set_weights(np.array([[*weights.values()]], np.float32))
        model.n_items = n_items
        model.has_probabilities = model.is_fitted_on_validation = False
        return model

    def set_members(self, members: Mapping[str, Model]) -> None:
        """See `Model.set_members`."""
        self.models = [members[name] for name in self.members]
        self.uses_credits = any(model.uses_credits for model in self.models)
        self.uses_query_ratings = any(model.uses_query_ratings for model in self.models)
        self.added_dataset = ", ".join(sorted({model.added_dataset for model in self.models} - {""}))
        self.note = " ".join(model.note for model in self.models if model.note)

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Fit the weights on `valid`. Without `valid`, the weights stay equal. The members were fitted before."""
        self.n_items = train.n_items
        if valid:
            self.length_weights.fit(self._member_scores, valid, run or RunOptions(), self.choose_examples)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """Return Σ_m w_m · z_m, (B, I) float32: log-probabilities up to a constant per row."""
        return self.length_weights.combine(self._member_scores(queries), queries)

    @property
    def device(self) -> str:
        """The device of the members, the GPU if any of them is on one."""
        return next((model.device for model in self.models if model.device != "cpu"), "cpu")

    def state(self) -> dict[str, np.ndarray]:
        """Return {"weights": (W, M) float32, "n_items": ()}. The members are stored separately."""
        return {"weights": self.length_weights.weights, "n_items": np.array(self.n_items)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        if state["n_items"] != n_items:
            raise ValueError(f"the saved weights are for {state['n_items']} items, not {n_items}")
        self.length_weights.set_weights(state["weights"])
        self.n_items = n_items

    def _member_scores(self, queries: Queries) -> Iterator[np.ndarray]:
        """Yield z (B, I) float32 of each member."""
        return (member_scores(model, queries, self.n_items) for model in self.models)


class CommonTrait(NamedTuple):
    """A trait that the films of a list have in common."""

    column: int  # in `VisitorPool.traits`
    strength: float  # log(FREQUENT_TRAIT_SHARE / share of events of films with the trait) · share of the list's films


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


class VisitorPool(Pool):
    """A pool that also ranks well for visitors, who type one to ten films.

    Differences from `Pool`:

    - The weights of a range are fitted on validation histories cut to that range, because the users of the data sets
      have long histories.
    - Count memories of the networks are removed. Markov chains and EASE are members, so these counts have weights of
      their own.
    - Markov chains keep MAX_TRANSITIONS transitions of each item, because the app has them in memory.
    - The weight of `content-fields` is multiplied by the larger of two factors. The weights are then rescaled to
      their previous sum. Both factors were chosen on validation (docs/experiments.md).
      - clip(FREQUENT_SHARE / s, 1, MAX_EMPHASIS) for rarely watched films. Counts and networks learn little from
        their few events. s is the share of users who watched a film, as the geometric mean over the films of the list.
      - clip((FREQUENT_TRAIT_SHARE / t)^f, 1, MAX_TRAIT_EMPHASIS) if the share f of the films of a list has a trait in
        common: an original language other than English, a director, a theme, or else a genre or a tag. t is the share
        of events that belong to films with this trait. Of several common traits, the one that random films are least
        likely to share is used (`_surprise`). So three German films are followed by German films, and three films about
        boxing by other films about boxing, even if they are popular.
    - Films with this trait get a bonus, see TRAIT_BONUS.
    - Lists in no order (`for_unordered_lists`) are scored in several orders, and the means of the scores are used. So
      the order does not matter. The factor of `content-fields` is at least UNORDERED_EMPHASIS. The scores have a factor
      with which the total probability of the first N_CALIBRATED films is right on validation data. It is mostly below
      1, because favourites predict the next film worse than the newest films of a history do.
    """

    choose_examples = staticmethod(histories_cut_to_each_range)
    min_emphasis: float = (
        1.0  # lowest factor of the weight of EMPHASISED_MEMBER, see `for_taste`, `for_unordered_lists`
    )

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        # factors of the scores of lists in no order: of one item, and of more items
        self.unordered_factors = np.ones(len(UNORDERED_LENGTHS), np.float32)
        self.is_fitted = False  # whether the weights are fitted or loaded

    def set_members(self, members: Mapping[str, Model]) -> None:
        """Set the fitted members, which must be this pool's own copies, and remove what they do not need here."""
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
        """Fit the weights as `Pool` does, and set how frequent items and traits are.

        The weights are fitted with whole Markov chains. With shrunk ones, NDCG@10 after one film was 7 % lower, because
        a target without a transition then has a very low probability.
        """
        super().fit(train, valid, run)
        self.is_fitted = True
        self._shrink_markov_chains()
        self.set_frequencies(train)
        if valid:
            self._calibrate(valid, run or RunOptions())
            self.unordered_factors = np.array(
                [self._fit_unordered_factor(valid, lengths, run or RunOptions()) for lengths in UNORDERED_LENGTHS],
                np.float32,
            )
        return self

    def _calibrate(self, valid: HeldOut, run: RunOptions) -> None:
        """Multiply the weights of each range by the inverse temperature that is best for the final scores.

        The weights were fitted without the shrinking, the emphasis and the bonus, so probabilities would be too high.
        """
        inverse_temperatures = LengthWeights(1, self.config.edges)
        inverse_temperatures.fit(lambda queries: [self.score(queries)], valid, run, self.choose_examples)
        self.length_weights.set_weights(self.length_weights.weights * inverse_temperatures.weights)

    def _fit_unordered_factor(self, valid: HeldOut, list_lengths: Sequence[int], run: RunOptions) -> float:
        """Return the factor with which the expected hit rate equals the observed hit rate, or 1 without lists.

        The expected hit rate is the mean of `expected_hit_rates`, linearly interpolated between the tested factors. A
        hit is a target among the top N_CALIBRATED items.
        """
        unordered_pool = self.for_unordered_lists()  # its factors are 1 before the fit
        examples = random_lists(valid, list_lengths, np.random.default_rng(run.seed))
        n_lists, n_hits = len(examples.queries), 0
        expected_hits = np.zeros(len(UNORDERED_FACTORS))
        for start in range(0, n_lists, SCORE_BATCH):
            queries = examples.queries[start : start + SCORE_BATCH]
            scores = unordered_pool.score(queries)
            for row, row_scores in enumerate(scores, start):  # `row_scores` are views, so `scores` is masked in place
                row_scores[examples.excluded[row]] = -np.inf
                n_hits += int(np.count_nonzero(row_scores >= row_scores[examples.targets[row]]) <= N_CALIBRATED)
            expected_hits += expected_hit_rates(scores).sum(0)
            run.report({"stage": "fit", "done": start + len(queries), "total": n_lists})
        return float(np.interp(n_hits, expected_hits, UNORDERED_FACTORS)) if n_lists else 1.0

    def set_frequencies(self, train: Dataset) -> None:
        """Set log((users who watched the item + 1) / users), the traits of the items, and the share of each trait.

        The 1 is added to all counts, so that no share is 0 and its logarithm is finite.
        """
        self.log_shares = np.log((train.counts + 1) / train.n_users).astype(np.float32)  # (I,)
        self.set_traits(*traits(train.name, train.catalog))
        n_events = train.counts @ self.traits.astype(np.int64)  # (A,), of films with the trait
        self.trait_shares = ((n_events + 1) / (train.counts.sum() + 1)).astype(np.float32)  # (A,)

    def set_traits(self, names: Sequence[str], item_traits: sparse.csr_array) -> None:
        """Set the names of the A traits, see `text.fields.traits`, and the traits of the items, (I, A) bool."""
        self.trait_names = list(names)
        self.is_weak_trait = np.array([name.startswith(WEAK_KINDS) for name in names], bool)  # (A,)
        self.traits = item_traits
        self.items_by_trait = item_traits.tocsc()  # the same matrix by columns

    def score(self, queries: Queries) -> np.ndarray:
        """Return Σ_m w_m · z_m with the emphasis and the bonus of a trait, (B, I) float32."""
        if not self.ignores_order:
            return self._score_in_order(queries)
        ordered_queries, rows = in_several_orders(queries)
        scores = self._score_in_order(ordered_queries)
        means = [scores[rows == row].mean(0) for row in range(len(queries))]
        factors = [self._unordered_factor(len(history)) for history in queries.histories]
        return np.array(means, np.float32).reshape(len(queries), self.n_items) * np.array(factors, np.float32)[:, None]

    def _unordered_factor(self, length: int) -> float:
        """Return the factor of the scores of a list in no order, which has `length` items, see UNORDERED_LENGTHS."""
        return float(self.unordered_factors[0 if length <= 1 else 1])

    def _score_in_order(self, queries: Queries) -> np.ndarray:
        """Return the scores of histories, oldest item first, (B, I) float32."""
        scores = self.length_weights.combine(self._member_scores(queries), queries, self.emphasis(queries))
        weight_sums = self.length_weights.weights.sum(1)[self.length_weights.ranges(queries)]  # (B,)
        for row, history in enumerate(queries.histories):
            if len(history) >= MIN_TRAIT_FILMS and (trait := self._find_common_trait(history)):
                start, end = self.items_by_trait.indptr[trait.column : trait.column + 2]
                bonus = TRAIT_BONUS * weight_sums[row] * max(trait.strength, 0)
                scores[row, self.items_by_trait.indices[start:end]] += bonus
        return scores

    def emphasis(self, queries: Queries) -> np.ndarray:
        """Return the factors of the weights, (B, M) float32: 1 except for the member EMPHASISED_MEMBER."""
        factors = np.ones((len(queries), len(self.members)), np.float32)
        emphasised = [max(self._list_factor(history), self.min_emphasis) for history in queries.histories]
        factors[:, np.array(self.members) == EMPHASISED_MEMBER] = np.array(emphasised, np.float32)[:, None]
        return factors

    def _list_factor(self, history: np.ndarray) -> float:
        """Return the factor of EMPHASISED_MEMBER for a history: the larger one for rarity or a trait, at least 1."""
        share = float(np.exp(self.log_shares[history].mean())) if len(history) else 1.0
        trait = self._find_common_trait(history)
        trait_factor = min(float(np.exp(trait.strength)), MAX_TRAIT_EMPHASIS) if trait else 1.0
        return max(1.0, min(FREQUENT_SHARE / share, MAX_EMPHASIS), trait_factor)

    def _find_common_trait(self, history: np.ndarray) -> CommonTrait | None:
        """Return the most surprising trait that two or more items of a history (T,) have in common, or None.

        A trait of WEAK_KINDS is only returned if no other trait is common. A trait is partial if less than COMMON_SHARE
        of the items have it. Partial traits need a surprise of MIN_SURPRISE, and rank below complete ones.
        """
        items = np.unique(history)
        if len(items) < 2:
            return None
        bounds = self.traits.indptr
        traits_of_items = np.concatenate([self.traits.indices[bounds[item] : bounds[item + 1]] for item in items])
        n_having = np.bincount(traits_of_items, minlength=len(self.trait_names))  # (A,)
        frequent = np.flatnonzero(n_having >= np.maximum(MIN_COMMON_SHARE * len(items), 2))
        surprises = _surprise(n_having[frequent], len(items), self.trait_shares[frequent])
        is_partial = n_having[frequent] < COMMON_SHARE * len(items)
        is_common = ~is_partial | (surprises >= MIN_SURPRISE)
        if not is_common.any():
            return None
        candidates = frequent[is_common]
        # `lexsort` compares the last key first
        keys = (-surprises[is_common], is_partial[is_common], self.is_weak_trait[candidates])
        column = int(candidates[np.lexsort(keys)[0]])
        film_share, event_share = n_having[column] / len(items), self.trait_shares[column]
        return CommonTrait(column, float(film_share * np.log(FREQUENT_TRAIT_SHARE / event_share)))

    def for_taste(self) -> Self:
        """Return a copy in which the factor of EMPHASISED_MEMBER is at least TASTE_EMPHASIS. The members are shared."""
        model = copy(self)
        model.min_emphasis = TASTE_EMPHASIS
        return model

    def for_unordered_lists(self) -> Self:
        """Return a copy for favourites in no order: the order of a list does not change the scores.

        The factor of EMPHASISED_MEMBER is at least UNORDERED_EMPHASIS, because favourites show the taste of a visitor
        but not the order of watching.
        """
        model = copy(self)
        model.ignores_order = True
        model.min_emphasis = max(self.min_emphasis, UNORDERED_EMPHASIS)
        return model

    def favours_content(self, history: np.ndarray) -> bool:
        """Return whether the history makes the factor of the member EMPHASISED_MEMBER at least NOTE_MIN_EMPHASIS."""
        if self.min_emphasis >= TASTE_EMPHASIS:  # the factor is high for all histories, not because of this one
            return False
        return self._list_factor(history) >= NOTE_MIN_EMPHASIS

    def common_trait_name(self, history: np.ndarray) -> str:
        """Return the name of the trait that all items of a history have in common.

        The result is "" if there is none, if some items lack it, or if its factor is below NOTE_MIN_EMPHASIS.
        """
        trait = self._find_common_trait(history)
        if trait is None or np.exp(trait.strength) < NOTE_MIN_EMPHASIS:
            return ""
        start, end = self.items_by_trait.indptr[trait.column : trait.column + 2]
        has_trait = np.isin(history, self.items_by_trait.indices[start:end])
        return self.trait_names[trait.column] if has_trait.all() else ""

    def state(self) -> dict[str, np.ndarray]:
        """Return the state of `Pool`, the attributes of `set_frequencies`, and the factors of lists in no order."""
        return super().state() | {
            "log_shares": self.log_shares,
            "trait_columns": self.traits.indices.astype(np.int32),
            "trait_ends": self.traits.indptr.astype(np.int32),
            "trait_shares": self.trait_shares,
            "trait_names": np.frombuffer("\n".join(self.trait_names).encode(), np.uint8),
            "unordered_factors": self.unordered_factors,
        }

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        super().load_state(state, n_items)
        self.is_fitted = True
        self.log_shares = item_array(state, "log_shares", n_items)
        if "trait_names" not in state:  # states without trait_names, whose traits are not used
            self.trait_shares = np.zeros(0, np.float32)
            self.set_traits([], sparse.csr_array((n_items, 0), dtype=bool))
        else:
            names = state["trait_names"].tobytes().decode().split("\n")
            columns, ends = state["trait_columns"], state["trait_ends"]
            shape = (n_items, len(names))
            self.trait_shares = state["trait_shares"]
            self.set_traits(names, sparse.csr_array((np.ones(len(columns), bool), columns, ends), shape=shape))
        factors = state.get("unordered_factors", np.ones(1, np.float32))
        if len(factors) != len(UNORDERED_LENGTHS):  # a state with another number of factors
            factors = np.full(len(UNORDERED_LENGTHS), factors.mean(), np.float32)
        self.unordered_factors = factors
