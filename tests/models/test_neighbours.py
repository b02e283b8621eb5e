from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from recsys.data.dataset import Queries
from recsys.models import neighbours
from recsys.models.neighbours import ItemKnn, ItemKnnConfig, UserKnn, UserKnnConfig
from tests import toys

LITERAL = UserKnnConfig(neighbours=2, shrink=0)


def rated(rows):
    """Return a data set with these ratings (U, I), 0 for none."""
    rows = np.asarray(rows)
    world = toys.dataset([np.flatnonzero(row) for row in rows], rows.shape[1])
    return replace(world, interactions=replace(world.interactions, rating=rows[rows > 0].astype(np.float32)))


RATINGS = np.array(
    [
        [5, 3, 0, 1, 0],
        [4, 0, 4, 0, 1],
        [0, 0, 5, 2, 4],
        [2, 1, 0, 5, 0],
    ]
)


def test_the_centred_formula_prefers_films_above_the_mean():
    """Users rate the first two films of their colour with 5 and the others with 2."""
    world = toys.checkerboard()
    events = world.interactions
    world = replace(world, interactions=replace(events, rating=np.where(events.item < 4, 5, 2).astype(np.float32)))
    even, odd = (
        UserKnn(UserKnnConfig(neighbours=10, shrink=1, centred=True)).fit(world).score(Queries([[8, 10], [9, 11]]))
    )
    assert set(even.argsort()[-2:]) == {0, 2}
    assert set(odd.argsort()[-2:]) == {1, 3}


def by_hand(history, centred):
    """Return the scores of the thesis' formulas, computed film by film from the two most similar users."""
    user = np.isin(np.arange(5), history) * 3.0
    alike = cosine_similarity([user], RATINGS)[0]
    nearest = alike.argsort()[-2:]
    means = np.array([row[row > 0].mean() for row in RATINGS])
    expected = np.zeros(5)
    for film in range(5):
        votes = [alike[k] * (RATINGS[k, film] - centred * means[k]) for k in nearest if RATINGS[k, film]]
        expected[film] = sum(votes) / max(len(votes), 1)
    return expected + centred * RATINGS[RATINGS > 0].mean()


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("history", [[0, 1], [2], [4, 3, 2]])
def test_the_formulas_of_the_thesis_worked_by_hand(centred, history):
    [scores] = UserKnn(replace(LITERAL, centred=centred)).fit(rated(RATINGS)).score(Queries([history]))
    np.testing.assert_allclose(scores, by_hand(history, centred), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("centred", [False, True])
def test_predicted_ratings_worked_by_hand(centred):
    """The mean rating of the two most similar users, weighted by cosine. `shrink` has no effect."""
    given = np.array([4, 0, 0, 3, 0])
    alike = cosine_similarity([given], RATINGS)[0]
    nearest, means = alike.argsort()[-2:], np.array([row[row > 0].mean() for row in RATINGS])
    expected = np.full(5, 3.5)  # the user's mean, if no neighbour rated the film
    for film in range(5):
        rates = [k for k in nearest if RATINGS[k, film]]
        if rates:
            votes = [RATINGS[k, film] - centred * means[k] for k in rates]
            expected[film] = np.average(votes, weights=alike[rates]) + centred * 3.5
    model = UserKnn(UserKnnConfig(neighbours=2, shrink=50, centred=centred)).fit(rated(RATINGS))
    histories, ratings = [np.array([0, 3]), np.array([], int)], [np.array([4, 3]), np.array([])]
    asked, nobody = model.predicted_ratings(Queries(histories, ratings=ratings))
    np.testing.assert_allclose(asked, expected, rtol=1e-5)
    assert asked[2] == asked[4] == 3.5
    np.testing.assert_allclose(nobody, RATINGS[RATINGS > 0].mean(), rtol=1e-6)


def test_shrinking_lets_many_ratings_beat_one():
    """All four neighbours are equally similar. All rated film 1 with 4, and one of them rated film 2 with 5."""
    world = rated([[3, 4, 0, 5], [3, 4, 0, 5], [3, 4, 0, 5], [3, 4, 5, 0]])
    literal, shrunk = (
        UserKnn(UserKnnConfig(neighbours=4, shrink=shrink)).fit(world).score(Queries([[0]]))[0] for shrink in (0, 10)
    )
    assert literal[2] > literal[1]
    assert shrunk[1] > shrunk[2]
    np.testing.assert_allclose(shrunk[1], 4 * literal[1] / (4 + 10), rtol=1e-5)
    np.testing.assert_allclose(shrunk[2], literal[2] / (1 + 10), rtol=1e-5)


def test_only_the_most_similar_users_vote():
    world = rated([[5, 5, 0, 4, 0], [5, 0, 5, 0, 4]])
    [scores] = UserKnn(UserKnnConfig(neighbours=1, shrink=0)).fit(world).score(Queries([[0, 1]]))
    assert scores[3] > 0
    assert scores[4] == 0


def test_a_user_without_common_films_is_no_neighbour():
    """A neighbour with similarity 0 does not count in the number of ratings."""
    world = rated([[5, 4, 0, 0], [0, 4, 5, 5]])
    [scores] = UserKnn(LITERAL).fit(world).score(Queries([[0]]))
    np.testing.assert_allclose(scores[1], 4 * 5 / np.sqrt(41), rtol=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("centred", [False, True])
def test_a_user_with_ratings_of_0_only_is_no_neighbour(centred):
    world = rated(RATINGS)
    last_user = world.interactions.user == 3
    with_zeros = replace(world, interactions=replace(world.interactions, rating=world.interactions.rating * ~last_user))
    model = UserKnn(replace(LITERAL, neighbours=4, centred=centred)).fit(with_zeros)
    without_user = UserKnn(replace(LITERAL, neighbours=3, centred=centred)).fit(rated(RATINGS[:3]))
    queries = Queries([np.array([0, 1]), np.array([3])])
    scores, expected = model.score(queries) - model.base, without_user.score(queries) - without_user.base
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    assert np.isfinite(model.predicted_ratings(queries)).all()


def test_chunks_of_queries_do_not_change_scores(monkeypatch):
    model = UserKnn().fit(toys.checkerboard())
    histories = [[user] for user in range(30)]
    together = model.score(Queries(histories))
    monkeypatch.setattr(neighbours, "CHUNK_SIZE", 7)
    np.testing.assert_allclose(model.score(Queries(histories)), together, rtol=1e-6)


def test_a_film_rated_again_has_its_last_rating():
    world = toys.dataset([[0, 1, 0], [1, 2]], n_items=3)
    ratings = np.array([1, 2, 5, 3, 4], np.float32)
    model = UserKnn().fit(replace(world, interactions=replace(world.interactions, rating=ratings)))
    np.testing.assert_array_equal(model.ratings.toarray(), [[5, 2, 0], [0, 3, 4]])


def test_the_order_of_a_history_matters_for_item_knn_only():
    """With the default half-life of one film, the newest film decides."""
    world, histories = toys.checkerboard(), Queries([[7, 4], [4, 7]])
    ends_in_even, ends_in_odd = ItemKnn().fit(world).score(histories)
    assert ends_in_even[0::2].sum() > ends_in_even[1::2].sum()
    assert ends_in_odd[1::2].sum() > ends_in_odd[0::2].sum()
    np.testing.assert_array_equal(*UserKnn().fit(world).score(histories))


@pytest.mark.parametrize("weighting", ["cosine", "tf-idf", "bm25"])
def test_every_weighting_keeps_the_halves_of_the_board_apart(weighting):
    even, odd = ItemKnn(ItemKnnConfig(weighting=weighting)).fit(toys.checkerboard()).score(Queries([[4], [7]]))
    assert even[0::2].min() > even[1::2].max()
    assert odd[1::2].min() > odd[0::2].max()


def test_item_scores_are_weighted_means_of_cosines():
    """Against scikit-learn: half-life 1 gives weights 1/3 and 2/3 to two films, oldest first."""
    world = rated(RATINGS)
    [scores] = ItemKnn(ItemKnnConfig(weighting="cosine", neighbours=5, half_life=1)).fit(world).score(Queries([[2, 0]]))
    cosines = cosine_similarity((RATINGS > 0).T)
    np.testing.assert_allclose(scores, cosines[2] / 3 + cosines[0] * 2 / 3, rtol=1e-5)


@pytest.mark.parametrize("weighting", ["cosine", "tf-idf", "bm25"])
def test_films_of_users_who_watched_all_but_one_have_finite_scores(weighting):
    world = toys.dataset([[0, 1], [0, 1], [2]], 3)
    assert np.isfinite(ItemKnn(ItemKnnConfig(weighting=weighting)).fit(world).score(Queries([[0], [2]]))).all()


def test_only_the_most_similar_films_are_kept():
    model = ItemKnn(ItemKnnConfig(neighbours=3)).fit(toys.checkerboard())
    assert (np.diff(model.similarities.indptr) <= 3).all()
    assert model.similarities.nnz > 30


def test_equal_ratings_have_no_effect():
    """A cosine does not depend on the length of a vector."""
    model = UserKnn(LITERAL).fit(rated(RATINGS))
    history = [np.array([0, 1])]
    fives = Queries(history, ratings=[np.array([5, 5], np.float32)])
    np.testing.assert_allclose(model.score(fives), model.score(Queries(history)), rtol=1e-6)
