"""Hybrid: a log-linear pool of other recommenders, with weights found on validation.

    p(j | history) ∝ exp Σ_m w_m · z_m(j),    w_m ≥ 0,

where z_m(j) is what member m says of item j, as `log_values` has it. Pools of this kind are Genest and Zidek's
(Statistical Science 1986) and Heskes' (NIPS 1997); among hybrids Burke (UMUAI 2002) calls this one weighted.
Histories of different lengths have weights of their own: the fewer items, the more it matters whom to believe.

Shapes: B queries, M members, I items, C candidates, W ranges of lengths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models.base import ConfigError, Recommender, Variant
from recsys.ranking.ranking import log_sum_exp
from recsys.training import config as check
from recsys.training.run import Run

AT_ONCE = 256  # queries that the members score at once: M · I floats each
FEWEST, MOST = 300, 2000  # queries from which the weights of a range are found; below FEWEST longer ones are cut
BEST, DRAWN = 256, 256  # candidates of a query: the best of an even mixture, and some of the others
PULL = 3.0  # keeps weights that few queries speak of near those of everybody, and those near 1 / M


@dataclass(frozen=True)
class HybridConfig:
    """Who is mixed. Shorter histories than 10 items want other weights; further edges change little."""

    members: tuple[str, ...] = ("sasrec-softmax", "markov", "content-tfidf")  # the recommenders that are mixed
    edges: tuple[int, ...] = (10, 50)  # lengths of a history, in items, from which the next weights hold

    def __post_init__(self) -> None:
        check.at_least(1, members=len(self.members), edges=min(self.edges, default=1))
        if len(set(self.members)) < len(self.members):
            raise ConfigError(f"members is {' '.join(self.members)}, but each can be named once")
        if any(low >= high for low, high in pairwise(self.edges)):
            raise ConfigError(f"edges is {' '.join(map(str, self.edges))}, but they must ascend")


class Hybrid(Recommender):
    """The weights are those under which the validation items are most likely: M numbers for each range of lengths.

    Minus the log-likelihood of an unseen item among all unseen ones is convex in the weights. It is summed over BEST
    candidates and over DRAWN others, which stand for all the rest; what is left out moves a weight by about 1 %.

    A set whose people all have long histories says nothing of short ones. Some long ones are then cut to their newest
    items: weights from such queries suit people with few items far better than those of everybody.

    Since the weights set the temperature too, the scores are log-probabilities but for a constant.
    """

    Config = HybridConfig
    config: HybridConfig
    calibrated: bool = True

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.members = self.config.members
        self.mixed: list[Recommender] = []  # M, in the order of `members`

    @classmethod
    def by_hand(cls, weights: Mapping[str, float], members: Mapping[str, Recommender], n_items: int) -> Self:
        """Fitted recommenders mixed by given weights; nobody has checked the probabilities."""
        made = cls(HybridConfig(tuple(weights), edges=()))
        made.stand_on(members)
        made.weights, made.n_items = np.array([[*weights.values()]], np.float32), n_items
        made.calibrated = False
        return made

    def stand_on(self, members: Mapping[str, Recommender]) -> None:
        """Take the fitted members."""
        self.mixed = [members[name] for name in self.members]
        self.reads_ratings = any(member.reads_ratings for member in self.mixed)
        self.also = ", ".join(sorted({member.also for member in self.mixed} - {""}))
        self.note = " ".join(member.note for member in self.mixed if member.note)

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Find the weights on `valid`; without it all members count alike. The members have learnt from `train` before.

        Reports {"stage": "fit", "done": queries, "total": queries}.
        """
        run = run or Run()
        rng = np.random.default_rng(run.seed)
        self.n_items = train.n_items
        start = np.full(len(self.mixed), 1 / len(self.mixed))
        self.weights = np.tile(start, (len(self.config.edges) + 1, 1)).astype(np.float32)  # (W, M)
        if valid:
            examples = _examples(valid, self.config.edges, rng)
            margins, log_counts = self._margins(examples, rng, run)
            everybody = _most_likely(margins, log_counts, start)
            ranges = self._ranges(examples.queries)
            for number in range(len(self.weights)):
                own = ranges == number
                self.weights[number] = _most_likely(margins[own], log_counts[own], everybody)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: Σ_m w_m · z_m, log-probabilities but for a constant of each row."""
        weights = self.weights[self._ranges(queries)]  # (B, M)
        scores = np.zeros((len(queries), self.n_items), np.float32)
        for member, own in zip(self.mixed, weights.T, strict=True):
            scores += own[:, None] * self._values(member, queries)
        return scores

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray:
        """log p that the next item is each of `items` (n,), by one row of scores (I,) → (n,) float64."""
        return scores[items].astype(np.float64) - log_sum_exp(scores)

    @property
    def device(self) -> str:
        """Where the members compute; the GPU, if any of them is there."""
        return next((member.device for member in self.mixed if member.device != "cpu"), "cpu")

    def state(self) -> dict[str, np.ndarray]:
        """{"weights": (W, M) float32, "n_items": ()}: nothing of the members."""
        return {"weights": self.weights, "n_items": np.array(self.n_items)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not one for `n_items` items, these members and edges."""
        weights, known = state["weights"], int(state["n_items"])
        expected = (len(self.config.edges) + 1, len(self.members))
        if known != n_items or weights.shape != expected:
            raise ValueError(f"the saved weights are {weights.shape} for {known} items, not {expected} for {n_items}")
        self.weights, self.n_items = weights, n_items

    def _ranges(self, queries: Queries) -> np.ndarray:
        """(B,) the number of the range that each history's length is in."""
        return np.searchsorted(self.config.edges, [len(history) for history in queries.histories], side="right")

    def _values(self, member: Recommender, queries: Queries) -> np.ndarray:
        """(B, I) float32: z of one member; one of descriptions may know more items, numbered after the others."""
        return log_values(member, member.score(queries)[:, : self.n_items])

    def _margins(self, examples: HeldOut, rng: np.random.Generator, run: Run) -> tuple[np.ndarray, np.ndarray]:
        """(B, M, C) float32 z of each candidate less that of the target, and (B, C) the log of how many it stands for.

        The target comes first, with a margin of 0; places without a candidate count for nothing, minus infinity.
        """
        size = 1 + BEST + DRAWN
        margins = np.zeros((len(examples), len(self.mixed), size), np.float32)
        log_counts = np.full((len(examples), size), -np.inf, np.float32)
        for start in range(0, len(examples), AT_ONCE):
            queries = examples.queries[start : start + AT_ONCE]
            values = np.stack([self._values(member, queries) for member in self.mixed], 1)  # (b, M, I)
            for row, (history, own) in enumerate(zip(queries.histories, values, strict=True), start):
                target = examples.targets[row]
                items, counts = _candidates(own.mean(0), np.append(history, target), rng)
                margins[row, :, 1 : 1 + len(items)] = own[:, items] - own[:, [target]]
                log_counts[row, 0], log_counts[row, 1 : 1 + len(items)] = 0, np.log(counts)
            run.report({"stage": "fit", "done": start + len(queries), "total": len(examples)})
        return margins, log_counts


def log_values(model: Recommender, scores: np.ndarray) -> np.ndarray:
    """Scores (B, I) on a scale that models share, (B, I) float32: log-probabilities where the model gives them.

    Else log(1 + x / mean of x), where x is by how much a score exceeds the least of its row. That needs no unit, does
    not let a few high counts drown all else, and keeps the order.
    """
    items = np.arange(scores.shape[1])
    values = np.empty(scores.shape, np.float32)
    for row, own in enumerate(scores):
        known = model.log_probabilities(own, items)
        values[row] = _log_excess(own) if known is None else known
    return values


def _log_excess(scores: np.ndarray) -> np.ndarray:
    """log(1 + x / mean of x) of a row (I,); 0 where all scores are equal."""
    excess = scores - scores.min(initial=np.inf)
    return np.log1p(excess / (excess.mean() or 1))


def _examples(valid: HeldOut, edges: Sequence[int], rng: np.random.Generator) -> HeldOut:
    """Up to MOST queries of each range of lengths; longer histories, cut to such a length, where FEWEST are missing."""
    lengths = np.array([len(history) for history in valid.queries.histories])
    rows, sizes = [], []
    for low, high in pairwise((0, *edges, np.inf)):
        own = rng.permutation(np.flatnonzero((lengths >= low) & (lengths < high)))[:MOST]
        cut = rng.permutation(np.flatnonzero(lengths >= high))[: max(FEWEST - len(own), 0)]
        least = max(low, 1)
        rows += [own, cut]
        sizes += [lengths[own], least + (rng.random(len(cut)) * (high - least)).astype(int)]
    row, size = np.concatenate(rows), np.concatenate(sizes)
    histories = [valid.queries.histories[at][-newest:] for at, newest in zip(row, size, strict=True)]
    return HeldOut(Queries(histories), valid.targets[row])


def _candidates(values: np.ndarray, ruled_out: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Items (n,) that are not ruled out: the BEST by `values` (I,) and DRAWN others; how many each stands for (n,)."""
    listed = np.flatnonzero(~np.isin(np.arange(len(values)), ruled_out))
    order = np.argpartition(-values[listed], BEST) if len(listed) > BEST else np.arange(len(listed))
    best, others = listed[order[:BEST]], listed[order[BEST:]]
    drawn = rng.choice(others, min(DRAWN, len(others)), replace=False)
    each = len(others) / max(len(drawn), 1)
    return np.concatenate([best, drawn]), np.concatenate([np.ones(len(best)), np.full(len(drawn), each)])


def _most_likely(margins: np.ndarray, log_counts: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The weights (M,) that make the targets most likely, pulled a little towards `start` (M,)."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        pool = np.einsum("m,bmc->bc", weights, margins) + log_counts  # (B, C)
        away = weights - start
        slope = np.einsum("bc,bmc->m", softmax(pool, 1), margins)
        return logsumexp(pool, 1).sum() + PULL / 2 * away @ away, slope + PULL * away

    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)).x


VARIANTS = {
    "hybrid": Variant(Hybrid, "Hybrid", "Hybrid"),
    "hybrid-few": Variant(
        Hybrid,
        "Hybrid (few films)",
        "Hybrid",
        config=HybridConfig(("sasrec-softmax", "bert4rec", "markov", "content-tfidf")),
    ),
}
