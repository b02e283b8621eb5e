from dataclasses import replace

import numpy as np
import pytest

from recsys.data.dataset import Catalog, Queries
from recsys.serving import evening_plan as planning
from recsys.serving.evening_plan import plan_evening, plan_reasons
from recsys.serving.filters import Filters
from recsys.serving.recommend import Request
from tests import toys
from tests.serving.given import Given, Pulls, predictor, pulls


def titled(*titles):
    """A world of six films of these names."""
    cycle = toys.cycle(n_items=6)
    movies = cycle.catalog.movies.assign(title=list(titles))
    return replace(cycle, catalog=Catalog(movies, cycle.catalog.infrequent))


WORLD = titled("Casablanca", "Vertigo", "Laura", "Gilda", "Rope", "Notorious")


class Cycle(Given):
    """The film after i is i + 1, round and round; the one after that is half as likely, and so on."""

    def __init__(self, softmax=True) -> None:
        super().__init__([0.0] * 6, softmax)

    def score(self, queries: Queries) -> np.ndarray:
        last = np.array([history[-1] if len(history) else 5 for history in queries.histories])
        ahead = (np.arange(6)[None, :] - last[:, None] - 1) % 6  # (B, I)
        return (-np.log(2) * ahead).astype(np.float32)


def items(steps):
    return [step.item for step in steps]


def evening(model, history, filters=Filters(), unwanted=(), **settings):  # noqa: B008 (it is frozen)
    return plan_evening(
        predictor(WORLD, model), Request(tuple(history), filters=filters, unwanted=unwanted), **settings
    )


def test_each_film_follows_from_the_one_before():
    assert items(evening(Cycle(), [3], length=4)) == [4, 5, 0, 1]


def test_no_film_comes_twice_and_watched_ones_not_at_all():
    assert items(evening(Cycle(), [0, 4, 3], length=5)) == [5, 1, 2]


def test_a_step_says_how_likely_it_is_after_those_before_it_among_the_films_that_may_be_planned():
    probabilities = [step.probability for step in evening(Cycle(), [3], length=2)]
    seen_left_out = [2 - 2**-4, 2 - 2**-3]  # 1 + 1/2 + … without the last one; in the second step, without the last two
    assert probabilities == pytest.approx([1 / total for total in seen_left_out])
    assert evening(Cycle(softmax=False), [3], length=1)[0].probability is None


def test_a_rejected_film_is_passed_over():
    assert items(evening(Cycle(), [5], length=3)) == [0, 1, 2]
    assert items(evening(Cycle(), [5], length=3, rejected=[1])) == [0, 2, 3]
    assert items(evening(Cycle(), [5], length=3, rejected=[0, 1, 2, 3])) == [4]


def test_only_films_that_the_filters_allow_are_planned_and_unwanted_ones_are_not():
    horror = Filters(genres=("Horror",))  # films 1, 3, 5
    assert items(evening(Cycle(), [5], horror)) == [1, 3]
    assert items(evening(Cycle(), [5], horror, unwanted=(1,))) == [3]
    assert items(evening(Cycle(), [5], unwanted=(0, 2), length=2)) == [1, 3]
    assert evening(Cycle(), [5], horror)[0].probability == pytest.approx(0.5 / (0.5 + 0.125))


def test_filters_go_by_the_history_not_by_what_is_planned():
    assert items(evening(Cycle(), [3], Filters(released_by_last_film=True))) == [0, 1, 2]  # film n is of 1990 + n


def test_watched_films_are_not_planned_even_where_they_may_be_recommended():
    assert items(evening(Cycle(), [0, 4, 3], Filters(hide_seen=False))) == [5, 1, 2]


def test_a_newcomer_gets_a_plan_too():
    assert items(evening(Cycle(), [], length=2)) == [0, 1]


def test_a_plan_ends_when_films_run_out_or_are_ruled_out():
    assert len(evening(Cycle(), [0, 1], length=50)) == 4
    assert evening(Given([-np.inf] * 6, softmax=True), [0]) == []
    assert evening(Cycle(), [0], length=0) == []


def test_a_film_whose_probability_rounds_to_zero_does_not_count_as_certain():
    assert items(evening(Given([2, 1, -9_000, 0, -9_000, -9_000], softmax=True), [0], length=2)) == [1, 3]


def test_no_two_films_of_an_evening_are_of_one_series():
    parts = titled("Rocky", "Rocky II", "Laura", "Rocky Balboa", "Rope", "Gilda")
    assert items(plan_evening(predictor(parts, Cycle()), Request((5,)), 4)) == [0, 2, 4]
    assert items(plan_evening(predictor(parts, Cycle()), Request((5,)), 3, rejected=[0])) == [1, 2, 4]


def test_what_is_kept_stays_and_the_rest_goes_on_from_it():
    kept = evening(Cycle(), [5], length=3)[:2]
    assert items(evening(Cycle(), [5], length=3, rejected=[2], kept=kept)) == [0, 1, 3]
    assert evening(Cycle(), [5], length=2, kept=kept) == kept


def test_each_film_has_its_reason_among_those_watched_or_planned_before_it():
    model = Pulls(pulls(f0_2=3.0, f1_2=1.0, f2_4=2.0))
    found = plan_reasons(predictor(WORLD, model), Request((0, 1)), [2, 4])
    assert found == [(0, 1), (2,)]
    assert plan_reasons(predictor(WORLD, Cycle()), Request(()), [0]) == [()]  # nothing was watched: it is for anybody


def test_a_film_that_was_not_liked_leads_nowhere():
    request = Request((0, 3), ratings=((3, 2.0),))
    assert items(plan_evening(predictor(WORLD, Cycle()), request, 1)) == [1]
    assert items(plan_evening(predictor(WORLD, Cycle()), Request((0, 3)), 1)) == [4]


class Fork(Given):
    """After 0, film 1 is a little likelier than 2; but after 1 all is open, and after 2 comes 3 for sure."""

    def __init__(self, softmax=True) -> None:
        super().__init__([0.0] * 6, softmax)

    def score(self, queries: Queries) -> np.ndarray:
        rows = {0: [0, 5, 4.9, 0, 0, 0], 2: [0, 0, 0, 9, 0, 0]}
        return np.array([rows.get(int(history[-1]), [0] * 6) for history in queries.histories], np.float32)


def together(steps):
    return np.prod([step.probability for step in steps])


def test_the_likeliest_evening_need_not_begin_with_the_likeliest_film(monkeypatch):
    likeliest = evening(Fork(), [0], length=2)
    monkeypatch.setattr(planning, "BEAM_WIDTH", 1)
    one_by_one = evening(Fork(), [0], length=2)
    assert items(one_by_one) == [1, 2]
    assert items(likeliest) == [2, 3]
    assert together(likeliest) > 3 * together(one_by_one)


def test_scores_without_probabilities_are_followed_one_by_one():
    assert items(evening(Fork(softmax=False), [0], length=2)) == [1, 2]


def test_a_search_as_wide_as_the_catalogue_finds_the_best_of_all_orders(monkeypatch):
    best = max(
        (together_of(first, second), (first, second))
        for first in range(1, 6)
        for second in range(1, 6)
        if first != second
    )
    monkeypatch.setattr(planning, "BEAM_WIDTH", 6)
    assert tuple(items(evening(Fork(), [0], length=2))) == best[1]


def together_of(first, second):
    """The probability of two films after film 0, worked out from the scores of those not watched before."""
    one, other = (np.exp(Fork().score(Queries([np.array([last])]))[0]) for last in (0, first))
    return one[first] / (one.sum() - one[0]) * other[second] / (other.sum() - other[0] - other[first])
