import numpy as np

from recsys.data.dataset import Queries
from recsys.models.markov import Markov, MarkovConfig
from tests import toys


def test_the_film_after_the_last_one_comes_first():
    model = Markov().fit(toys.cycle())
    scores = model.score(Queries([[film, (film + 1) % 20] for film in range(20)]))
    assert list(scores.argmax(1)) == [(film + 2) % 20 for film in range(20)]


def test_transitions_over_more_positions_count_less():
    """After film 5, films 6, 7, 8 … are recommended in this order."""
    [scores] = Markov(MarkovConfig(window=6)).fit(toys.cycle()).score(Queries([[5]]))
    assert list((-scores).argsort()[:6]) == [6, 7, 8, 9, 10, 11]
    assert not scores[:6].any()  # the window ends before they come round again


def test_a_score_is_the_formula_worked_by_hand():
    world = toys.dataset([[0, 1, 2], [0, 2], [1, 0, 2], [2, 3]], n_items=4)
    config = MarkovConfig(window=2, decay=1, recent=2, history_decay=1, normalisation=1, popularity_discount=0.5)
    [scores] = Markov(config).fit(world).score(Queries([[2, 1, 0]]))
    after_0 = np.array([0, 1, 1 / 2 + 1 + 1, 0])  # [0, 1, 2]: 1 next, 2 two later; [0, 2] and [1, 0, 2]: 2 next
    after_1 = np.array([1, 0, 1 + 1 / 2, 0])
    watched = np.array([3, 2, 4, 1])
    expected = (after_0 / after_0.sum() + after_1 / after_1.sum() / 2) / np.sqrt(watched)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)  # film 2 is third from the end, so it is not used


def test_settings_of_zero_leave_plain_counts():
    world = toys.dataset([[0, 1, 2], [0, 2], [1, 0, 2]], n_items=3)
    config = MarkovConfig(window=2, decay=0, history_decay=0, normalisation=0, popularity_discount=0)
    [scores] = Markov(config).fit(world).score(Queries([[1, 0]]))
    assert list(scores) == [1, 1, 3 + 2]


def test_a_film_watched_again_counts_once_at_its_last_place():
    again, once = Markov().fit(toys.cycle()).score(Queries([[3, 9, 3], [9, 3]]))
    np.testing.assert_array_equal(again, once)


def test_both_directions_count_items_before_and_after():
    world = toys.dataset([[0, 1, 2], [0, 2], [1, 0, 2]], n_items=3)
    config = {"window": 1, "decay": 0, "history_decay": 0, "normalisation": 0, "popularity_discount": 0}
    query = Queries([[2]])
    [forward] = Markov(MarkovConfig(**config)).fit(world).score(query)
    [both] = Markov(MarkovConfig(**config, both_directions=True)).fit(world).score(query)
    assert list(forward) == [0, 0, 0]  # 2 is always last
    assert list(both) == [2, 1, 0]


def test_only_the_strongest_transitions_from_an_item_are_kept():
    world = toys.dataset([[0, 1], [0, 1], [0, 2], [0, 2], [0, 3], [0, 4], [1, 3]], n_items=5)
    model = Markov(MarkovConfig(normalisation=0, popularity_discount=0)).fit(world)
    model.keep_strongest_transitions(1)
    expected = np.zeros((5, 5))
    expected[0, [1, 2]], expected[1, 3] = 2, 1  # 1 and 2 follow 0 equally often
    np.testing.assert_array_equal(model.transitions.toarray(), expected)
    assert model.transitions.nnz == 3
