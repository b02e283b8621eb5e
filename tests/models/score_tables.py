"""Models with given scores, and held-out queries whose targets are sampled from pools of them."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from recsys.data.dataset import HeldOut, Queries
from recsys.models.base import Model
from recsys.models.length_weights import comparable_scores
from recsys.models.pool import Pool, PoolConfig
from recsys.ranking.ranking import log_sum_exp
from tests import toys

ITEMS = 40
TRAIN = toys.cycle(ITEMS, 50)


@dataclass
class ScoreTable(Model):
    """The scores of the film after i are row i; an empty history has the row 0."""

    table: np.ndarray
    softmax: bool = False
    blocks: tuple[int, ...] = ()
    device: str = "cpu"

    def fit(self, train, valid=None, run=None):
        return self

    def score(self, queries):
        self.blocks += (len(queries),)
        last = [history[-1] if len(history) else 0 for history in queries.histories]
        return self.table[np.array(last, int)].astype(np.float32)

    def log_probabilities(self, scores, items):
        return scores[items] - log_sum_exp(scores) if self.softmax else None

    def state(self):
        return {}

    def load_state(self, state, n_items):
        pass


def score_table(seed, scale=2.0, **settings):
    return ScoreTable(np.random.default_rng(seed).normal(size=(ITEMS, ITEMS)) * scale, **settings)


def pool_of(members, edges=(), **config):
    model = Pool(PoolConfig(members=tuple(members), edges=edges, **config))
    model.set_members(members)
    return model


def sample_held_out(n, members, weights, lengths=(3, 9), seed=0):
    """Held-out queries whose targets are drawn, among the unseen, from the pool with these weights."""
    rng = np.random.default_rng(seed)
    histories = [rng.permutation(ITEMS)[: rng.integers(*lengths)] for _ in range(n)]
    values = [comparable_scores(member, member.score(Queries(histories))) for member in members.values()]
    mixed = np.einsum("m,mbi->bi", weights, np.array(values, np.float64))
    for row, history in enumerate(histories):
        mixed[row, history] = -np.inf
    targets = np.array([rng.choice(ITEMS, p=own) for own in softmax(mixed, 1)])
    return HeldOut(Queries(histories), targets)


def held_out(lengths, n_items=40):
    rng = np.random.default_rng(0)
    histories = [rng.permutation(n_items)[:length] for length in lengths]
    return HeldOut(Queries(histories), np.arange(len(lengths)))
