from recsys.data.schema import Queries
from recsys.models.popular import Popular
from tests import toys


def test_films_are_ranked_by_how_often_they_were_watched():
    model = Popular().fit(toys.dataset([[0, 2], [2, 1], [2, 1], [2]], n_items=4))
    [scores] = model.score(Queries([[0]]))
    assert list((-scores).argsort(kind="stable")) == [2, 1, 0, 3]


def test_everybody_gets_the_same_answer():
    model = Popular().fit(toys.cycle())
    first, second = model.score(Queries([[], [3, 4]]))
    assert (first == second).all()
