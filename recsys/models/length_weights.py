"""Weights of several models whose scores are added, for each range of history lengths.

    score(i | h) = Σ_m w[r(h), m] · z_m(i | h),        p(i | h) = softmax of the scores over all items i

h is a history, m a member, z_m the scores of m on a common scale (`comparable_scores`), and r(h) the range that
contains the length of h. The weights w ≥ 0 maximise the likelihood of the validation items. Each range has its own
weights, because the members' quality depends on the length of the history.

Shapes: B queries, b queries scored at once, M members, I items, C candidates, W ranges.

Reference: the sum is a log-linear pool, see Genest and Zidek (Statistical Science 1986); Heskes (NIPS 1997).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp, softmax

from recsys.data.dataset import HeldOut, Queries
from recsys.models.base import Model
from recsys.training.options import RunOptions

SCORE_BATCH = 256  # queries scored at once: M · I floats each
MIN_EXAMPLES = 300  # queries of a range in a fit; `whole_or_cut_histories` fills up a range with fewer
MAX_EXAMPLES = 2000  # queries of a range in a fit
N_TOP = 256  # candidates of a query with the highest mean score of the members
N_SAMPLED = 256  # candidates drawn from the other items
PRIOR_STRENGTH = 3.0  # factor of the penalty ½‖w - prior‖²

ScoreMembers = Callable[[Queries], Iterable[np.ndarray]]  # queries → z of each member, M arrays (B, I) float32


def comparable_scores(model: Model, scores: np.ndarray) -> np.ndarray:
    """Return a model's scores (B, I) on the scale of log-probabilities, (B, I) float32.

    They are the log-probabilities, if the model has any. Otherwise z = log(1 + x / mean of x), where x is the excess of
    a score over the lowest score of its row. This does not depend on the unit of the scores, keeps their order and
    limits the influence of a few very high scores.
    """
    items = np.arange(scores.shape[1])
    values = np.empty(scores.shape, np.float32)
    for row, row_scores in enumerate(scores):
        z = model.log_probabilities(row_scores, items)
        if z is None:
            excess = row_scores - row_scores.min(initial=np.inf)
            z = np.log1p(excess / (excess.mean() or 1))  # 0 if all scores are equal
        values[row] = z
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
    # `are_whole` is one flag for all queries. Cut histories get it too, although it is wrong for them.
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
        indices = self.range_indices(examples.queries)
        for index in range(len(self.weights)):
            rows = indices == index
            self.weights[index] = _fit_weights(margins[rows], log_n[rows], common_weights)

    def combine(self, scores: Iterable[np.ndarray], queries: Queries, factors: np.ndarray | None = None) -> np.ndarray:
        """Return Σ_m w_m · z_m, (B, I) float32.

        Args:
            scores: z of each member, (B, I). An iterator keeps one of them in memory at a time.
            queries: The B queries.
            factors: Factors of the weights, (B, M). The sum of a query's weights does not change. None: no factors.
        """
        weights = self.weights[self.range_indices(queries)]  # (B, M)
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

    def range_indices(self, queries: Queries) -> np.ndarray:
        """Return the index of the range that contains the length of each history, (B,)."""
        return np.searchsorted(self.edges, [len(history) for history in queries.histories], side="right")


def _margins(
    score_members: ScoreMembers, examples: Examples, rng: np.random.Generator, run: RunOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return z(j) - z(t) of each candidate j, (B, M, C) float32, and log n_j, (B, C) float32, see `LengthWeights`.

    Candidate 0 is the target. If a query has fewer than C candidates, log n is -∞ for the rest.
    """
    margins_of_batches, n_queries, n_candidates = [], len(examples.queries), 1 + N_TOP + N_SAMPLED
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
        margins_of_batches.append(margins)
        run.report({"stage": "fit", "done": start + len(queries), "total": n_queries})
    return np.concatenate(margins_of_batches), log_n


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
