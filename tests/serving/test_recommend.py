import numpy as np
import pytest
from scipy.special import logsumexp

from recsys.data.schema import Dataset, Queries
from recsys.models.base import Recommender
from recsys.serving import recommend as serving
from recsys.serving.recommend import ServingError, Standing, rank_of, recommend, recommend_many, standings
from tests import toys


class Given(Recommender):
    """Gives every history the same scores, in blocks that it counts."""

    title, family = "Given", "Toys"

    def __init__(self, scores: list[float], softmax: bool = False) -> None:
        super().__init__()
        self.scores, self.softmax, self.blocks = np.array(scores, np.float32), softmax, []

    def fit(self, train, valid=None, run=None):
        return self

    def score(self, queries: Queries) -> np.ndarray:
        self.blocks.append(len(queries))
        return np.tile(self.scores, (len(queries), 1))

    def state(self):
        return {}

    def load_state(self, state, n_items):
        pass


@pytest.fixture
def world() -> Dataset:
    return toys.cycle(n_items=6)


def ids(films) -> list[int]:
    return [film.movie_id for film in films]


def test_the_best_films_come_first_with_what_people_read_of_them(world):
    first, second = recommend(world, Given([0, 3, 1, 5, 2, 4]), history=[], k=2)
    assert (first.rank, first.movie_id, first.title, first.year) == (1, 103, "Film 3", 1993)
    assert (first.genres, first.score) == ("Horror", 5.0)
    assert (second.rank, second.movie_id) == (2, 105)


def test_seen_films_are_hidden_unless_asked_for(world):
    model = Given([0, 3, 1, 5, 2, 4])
    assert ids(recommend(world, model, [3, 5, 3], k=3)) == [101, 104, 102]
    assert ids(recommend(world, model, [3, 5, 3], k=3, hide_seen=False)) == [103, 105, 101]


def test_probabilities_are_a_softmax_over_all_films_before_hiding(world):
    scores = [0.0, 3, 1, 5, 2, 4]
    everything = recommend(world, Given(scores, softmax=True), [3], k=6, hide_seen=False)
    assert sum(film.probability for film in everything) == pytest.approx(1)
    expected = np.exp(4) / np.exp(scores).sum()
    assert recommend(world, Given(scores, softmax=True), [3], k=1)[0].probability == pytest.approx(expected)


def test_huge_logits_do_not_overflow(world):
    films = recommend(world, Given([10_000, 9_000, -10_000, 0, 0, 0], softmax=True), [], k=6)
    assert [film.probability for film in films] == pytest.approx([1, 0, 0, 0, 0, 0])


def test_without_a_softmax_loss_there_is_no_probability(world):
    assert recommend(world, Given([0, 1, 2, 3, 4, 5]), [], k=1)[0].probability is None


@pytest.mark.parametrize("k", [1, 2, 3, 5, 6])
def test_equal_scores_are_ordered_by_item_at_every_cut(world, k):
    assert ids(recommend(world, Given([1, 2, 2, 1, 2, 1]), [], k)) == [101, 102, 104, 100, 103, 105][:k]


def test_fewer_come_back_when_films_run_out(world):
    model = Given([0, 1, 2, 3, 4, 5])
    assert len(recommend(world, model, [0, 1], k=50)) == 4
    assert recommend(world, model, range(6), k=10) == []
    assert recommend(world, model, [], k=0) == []


def test_films_that_the_model_rules_out_are_never_shown(world):
    model = Given([-np.inf, 1, -np.inf, 3, -np.inf, 5], softmax=True)
    films = recommend(world, model, [5], k=6)
    assert ids(films) == [103, 101]
    assert recommend(world, Given([-np.inf] * 6, softmax=True), [], k=6) == []


def test_ten_thousand_and_repeated_films_are_a_legal_history(world):
    assert ids(recommend(world, Given([0, 1, 2, 3, 4, 5]), [5, 4] * 5_000, k=1)) == [103]


def test_scores_that_are_no_numbers_are_refused_with_a_sentence(world):
    for wrong in (np.nan, np.inf):
        with pytest.raises(ServingError, match="no numbers; train it again"):
            recommend(world, Given([0, 1, wrong, 3, 4, 5]), [], k=1)


def test_scores_for_another_catalogue_are_refused(world):
    with pytest.raises(ServingError, match=r"scored \(1, 7\), not \(1, 6\)"):
        recommend(world, Given([0] * 7), [])


@pytest.mark.parametrize("history", [[6], [7], [-1], [2, 103], [1.5], ["Film 1"], [[0, 1]]])
def test_padding_masks_foreign_ids_and_nonsense_in_a_history_are_refused(world, history):
    with pytest.raises(ServingError, match="items"):
        recommend(world, Given([0] * 6), history)


def test_a_negative_number_of_films_is_refused(world):
    with pytest.raises(ServingError, match="ask for 0 or more"):
        recommend(world, Given([0] * 6), [], k=-1)


@pytest.mark.parametrize("threads", [1, 3])
def test_many_histories_are_scored_in_bounded_blocks_and_answered_as_one_by_one(world, monkeypatch, threads):
    monkeypatch.setattr(serving, "THREADS", threads)
    monkeypatch.setattr(serving, "SCORES_AT_ONCE", threads * 12)  # two rows of six films for each thread
    model, histories = Given([0, 1, 2, 3, 4, 5]), [[5], [], [4, 3], [0, 5], [1]]
    many = recommend_many(world, model, histories, k=3)
    assert sorted(model.blocks) == [1, 2, 2]
    assert many == [recommend(world, model, history, k=3) for history in histories]


def test_nobody_asks_and_nobody_is_answered(world):
    assert recommend_many(world, Given([0] * 6), []) == []


def test_one_bad_history_among_many_is_refused(world, monkeypatch):
    monkeypatch.setattr(serving, "AT_ONCE", 1)
    with pytest.raises(ServingError, match="there is no item 6"):
        recommend_many(world, Given([0] * 6), [[0], [6], [1]])


def test_the_normaliser_of_a_long_row_agrees_with_scipy():
    scores = np.random.default_rng(0).normal(scale=5, size=50_001).astype(np.float32)
    scores[::7] = -np.inf
    assert serving.log_sum_exp(scores) == pytest.approx(logsumexp(scores.astype(np.float64)), abs=1e-6)
    assert serving.log_sum_exp(np.full(3, -np.inf, np.float32)) == -np.inf


def test_the_answer_agrees_with_a_plain_sort_on_random_scores():
    rng = np.random.default_rng(0)
    world = toys.cycle(n_items=300)
    for _ in range(20):
        scores, history = rng.integers(0, 40, 300), rng.integers(0, 300, 50)  # many ties
        expected = sorted(set(range(300)) - set(history.tolist()), key=lambda item: (-scores[item], item))
        assert ids(recommend(world, Given(scores), history, k=25)) == [100 + item for item in expected[:25]]
        assert rank_of(world, Given(scores), history, expected) == list(range(1, len(expected) + 1))


def test_the_rank_of_a_film_is_its_place_in_the_list_and_none_when_it_is_hidden(world):
    model = Given([1, 2, 2, 1, 2, -np.inf])
    assert rank_of(world, model, [1], [2, 4, 0, 3, 1, 5]) == [1, 2, 3, 4, None, None]
    assert rank_of(world, model, [1], [1], hide_seen=False) == [1]


def test_standings_are_the_places_in_the_list_for_each_pair_of_history_and_film():
    rng = np.random.default_rng(0)
    world, scores = toys.cycle(n_items=60), rng.integers(0, 9, 60).astype(np.float32)  # many ties
    scores[7] = -np.inf
    model = Given(scores)
    for hide_seen in (True, False):
        histories = [rng.integers(0, 60, 5).tolist() for _ in range(60)]
        found = standings(world, model, histories, range(60), hide_seen)
        expected = [rank_of(world, model, history, [item], hide_seen)[0] for item, history in enumerate(histories)]
        assert [standing.rank for standing in found] == expected
        lists = recommend_many(world, model, histories, 60, hide_seen)
        assert [standing.of for standing in found] == [len(films) for films in lists]


def test_a_standing_has_the_probability_that_the_list_shows(world):
    model = Given([0, 3, 1, 5, -np.inf, 4], softmax=True)
    listed = {film.movie_id - 100: film.probability for film in recommend(world, model, [3], k=6)}
    found = standings(world, model, [[3]] * 6, range(6))
    assert {item: found[item].probability for item in listed} == pytest.approx(listed)
    assert found[4] == Standing(None, 4, 0.0)
    assert standings(world, Given([0] * 6), [[]], [2])[0].probability is None


def test_standings_are_scored_in_bounded_blocks(world, monkeypatch):
    monkeypatch.setattr(serving, "SCORES_AT_ONCE", 12)
    model = Given([0, 1, 2, 3, 4, 5])
    assert [standing.rank for standing in standings(world, model, [[]] * 5, [5, 4, 3, 2, 1])] == [1, 2, 3, 4, 5]
    assert model.blocks == [2, 2, 1]


def test_each_tenfold_rank_is_an_equal_step_away_from_the_top():
    nearness = [Standing(rank, 1000, None).nearness for rank in (1, 10, 100, 1000)]
    assert nearness == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert (Standing(None, 1000, None).nearness, Standing(1, 1, None).nearness) == (0, 1)
