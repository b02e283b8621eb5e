"""Log-linear pools: what several say of the items, weighted and added up.

    p(j | history) ∝ exp Σ_m w_m · z_m(j),    w_m ≥ 0,

where z_m(j) is what part m says of item j, such as `log_values` makes of a recommender's scores. Pools of this kind are
Genest and Zidek's (Statistical Science 1986) and Heskes' (NIPS 1997). Histories of different lengths have weights of
their own: the fewer items, the more it matters whom to believe.

Shapes: B queries, M parts, I items, C candidates, W ranges of lengths.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp, softmax

from recsys.config import ConfigError
from recsys.data.schema import HeldOut, Queries
from recsys.models.base import Model
from recsys.training.options import RunOptions

AT_ONCE = 256  # queries that are scored at once: M · I floats each
FEWEST, MOST = 300, 2000  # queries from which the weights of a range are found; below FEWEST longer ones are cut
BEST, DRAWN = 256, 256  # candidates of a query: the best of an even mixture, and some of the others
PULL = 3.0  # keeps weights that few queries speak of near those of everybody, and those near 1 / M


@dataclass(frozen=True)
class Examples:
    """B validation queries from which weights are fitted."""

    queries: Queries  # what the parts are asked
    targets: np.ndarray  # (B,) the item that was watched next
    excluded: list[np.ndarray]  # items that do not compete with the target, of each query


class Pool:
    """M weights for each range of lengths: those under which the validation items are most likely.

    Minus the log-likelihood of an unseen item among all unseen ones is convex in the weights. It is summed over BEST
    candidates and over DRAWN others, which stand for all the rest; what is left out moves a weight by about 1 %.

    A set whose people all have long histories says nothing of short ones. Some long ones are then cut to their newest
    items: weights from such queries suit people with few items far better than those of everybody.

    Since the weights set the temperature too, what is mixed are log-probabilities but for a constant.
    """

    def __init__(self, parts: int, edges: tuple[int, ...]) -> None:
        """edges: lengths of a history, in items, from which the next weights hold. At first all parts count alike."""
        self.edges = edges
        self.weights = np.full((len(edges) + 1, parts), 1 / parts, np.float32)  # (W, M)

    def fit(
        self,
        values: Callable[[Queries], Sequence[np.ndarray]],
        valid: HeldOut,
        run: RunOptions,
        examples_of: "ExamplesOf | None" = None,
    ) -> None:
        """Find the weights by `values`: queries → what each part says of all items, M times (B, I) float32.

        Args:
            values: The scores of each part for some queries, M arrays (B, I).
            valid: Held-out queries with their targets.
            run: Its seed draws examples and candidates. Reports {"stage": "fit", "done": queries, "total": queries}.
            examples_of: Chooses the queries of each range of lengths; default `mostly_whole`.
        """
        rng = np.random.default_rng(run.seed)
        start = np.full(self.weights.shape[1], 1 / self.weights.shape[1])
        examples = (examples_of or mostly_whole)(valid, self.edges, rng)
        margins, log_counts = _margins(values, examples, rng, run)
        everybody = _most_likely(margins, log_counts, start)
        ranges = self._ranges(examples.queries)
        for number in range(len(self.weights)):
            own = ranges == number
            self.weights[number] = _most_likely(margins[own], log_counts[own], everybody)

    def mix(self, values: Iterable[np.ndarray], queries: Queries) -> np.ndarray:
        """(B, I) float32: Σ_m w_m · z_m, with the z of each part, (B, I), one after the other."""
        weights = self.weights[self._ranges(queries)].T[:, :, None]  # (M, B, 1)
        scores = np.float32(0)
        for own, said in zip(weights, values, strict=True):
            scores = scores + own * said
        return np.asarray(scores)

    def load(self, weights: np.ndarray) -> None:
        """Take saved weights; ValueError where they are not of these parts and ranges."""
        if weights.shape != self.weights.shape:
            raise ValueError(f"the saved weights are {weights.shape}, not {self.weights.shape}")
        self.weights = weights

    def _ranges(self, queries: Queries) -> np.ndarray:
        """(B,) the number of the range that each history's length is in."""
        return np.searchsorted(self.edges, [len(history) for history in queries.histories], side="right")


def check_edges(edges: tuple[int, ...]) -> None:
    """Raises ConfigError where lengths do not ascend."""
    if any(low >= high for low, high in pairwise(edges)):
        raise ConfigError(f"edges is {' '.join(map(str, edges))}, but they must ascend")


def log_values(model: Model, scores: np.ndarray) -> np.ndarray:
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


def values_of(model: Model, queries: Queries, n_items: int) -> np.ndarray:
    """(B, I) `log_values` of what a model says; one of descriptions may know more items, numbered after the others."""
    return log_values(model, model.score(queries)[:, :n_items])


def _log_excess(scores: np.ndarray) -> np.ndarray:
    """log(1 + x / mean of x) of a row (I,); 0 where all scores are equal."""
    excess = scores - scores.min(initial=np.inf)
    return np.log1p(excess / (excess.mean() or 1))


ExamplesOf = Callable[[HeldOut, Sequence[int], np.random.Generator], Examples]


def mostly_whole(valid: HeldOut, edges: Sequence[int], rng: np.random.Generator) -> Examples:
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
    histories = [valid.queries.histories[index][-newest:] for index, newest in zip(row, size, strict=True)]
    return Examples(Queries(histories), valid.targets[row], histories)


def cut_to_each_range(valid: HeldOut, edges: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return up to MOST queries per range of lengths, each cut to its newest items, as if a visitor had typed them.

    A history takes part in every range whose shortest length it has. The length it is cut to is drawn uniformly from
    the range; the last range has whole histories. All items of the whole history are excluded from the candidates,
    because the user watched them before the target.
    """
    histories = valid.queries.histories
    lengths = np.array([len(history) for history in histories])
    rows, sizes = [], []
    for low, high in pairwise((1, *edges, np.inf)):
        row = rng.permutation(np.flatnonzero(lengths >= low))[:MOST]
        longest = np.minimum(lengths[row], high - 1)
        drawn = low + np.floor(rng.random(len(row)) * (longest - low + 1))
        rows.append(row)
        sizes.append((longest if high == np.inf else drawn).astype(int))
    row, size = np.concatenate(rows), np.concatenate(sizes)
    newest = [histories[index][-kept:] for index, kept in zip(row, size, strict=True)]
    return Examples(Queries(newest), valid.targets[row], [histories[index] for index in row])


def _margins(
    values: Callable[[Queries], Sequence[np.ndarray]], examples: Examples, rng: np.random.Generator, run: RunOptions
) -> tuple[np.ndarray, np.ndarray]:
    """(B, M, C) float32 z of each candidate less that of the target, and (B, C) the log of how many it stands for.

    The target comes first, with a margin of 0; places without a candidate count for nothing, minus infinity.
    """
    found, size, total = [], 1 + BEST + DRAWN, len(examples.queries)
    log_counts = np.full((total, size), -np.inf, np.float32)
    for start in range(0, total, AT_ONCE):
        queries = examples.queries[start : start + AT_ONCE]
        said = np.stack(values(queries), 1)  # (b, M, I)
        margins = np.zeros((*said.shape[:2], size), np.float32)
        for row, own in enumerate(said):
            target = examples.targets[start + row]
            items, counts = _candidates(own.mean(0), np.append(examples.excluded[start + row], target), rng)
            margins[row, :, 1 : 1 + len(items)] = own[:, items] - own[:, [target]]
            log_counts[start + row, 0], log_counts[start + row, 1 : 1 + len(items)] = 0, np.log(counts)
        found.append(margins)
        run.report({"stage": "fit", "done": start + len(queries), "total": total})
    return np.concatenate(found), log_counts


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
    from scipy.optimize import minimize  # takes .17 s, and a network that is only loaded does without

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        pool = np.einsum("m,bmc->bc", weights, margins) + log_counts  # (B, C)
        away = weights - start
        slope = np.einsum("bc,bmc->m", softmax(pool, 1), margins)
        return logsumexp(pool, 1).sum() + PULL / 2 * away @ away, slope + PULL * away

    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)).x
