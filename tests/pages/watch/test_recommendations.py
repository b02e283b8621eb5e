import pytest

from pages.ui import format
from pages.watch.recommendations import MIN_TOP_PROBABILITY, RecommendationList
from recsys.serving.filters import Filters
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.pages.reading import said
from tests.serving.given import Given, predictor

FLAT = predictor(toys.cycle(n_items=1000), Given([0.001 * item for item in range(1000)], softmax=True))
PEAKED = predictor(toys.cycle(n_items=6), Given([5, 4, 3, 2, 1, 0], softmax=True))


def answer(of, **asked):
    request = Request((0,), **asked)
    return RecommendationList(of, request, recommend(of, request))


def test_percentages_are_shown_where_a_film_stands_out():
    result = answer(PEAKED)
    assert result.shows_percentages
    assert result.format_probability(0.636) == "63.6%"
    assert result.format_probability(0.00421) == "0.42%"


def test_where_none_stands_out_films_are_compared_with_the_average_one():
    result = answer(FLAT)
    assert result.top_probability < MIN_TOP_PROBABILITY
    assert result.n_candidates == 999
    assert result.format_probability(1 / 999) == "1.0×"  # the average
    assert (
        result.format_probability(result.top_probability) == format.factor(result.top_probability * 999) == "1.6×"
    )  # e times the last one


def test_the_average_is_that_of_the_films_that_are_allowed():
    result = answer(FLAT, filters=Filters(genres=("Horror",)), unwanted=(1,))
    assert result.n_candidates == 499  # every other film; one is unwanted
    picks = answer(PEAKED, filters=Filters(genres=("Horror",))).picks
    assert sum(pick.probability for pick in picks) == pytest.approx(1)


@pytest.mark.parametrize(
    ("link", "films"),
    [
        ({}, "all 30 films."),
        ({"s": "1-2-3", "hide": "false"}, "all 30 films."),
        ({"s": "1-2-3", "variety": "5"}, "27 films you have not watched."),
        ({"s": "1-2-3", "not": "5"}, "the 26 films that are left."),
    ],
)
def test_the_page_says_from_which_films_a_list_is_chosen(visit, link, films):
    assert f"chooses from {films}" in said(visit(**link))


def test_filters_and_percentages_explain_each_other(visit):
    app = visit(s="1-2-3")
    app.session_state.filters = Filters(genres=("Horror",))
    app.run()
    assert "BERT4Rec chooses from the 14 films that are left." in said(app)


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.5, "50.0%"), (0.0421, "4.2%"), (0.00421, "0.42%"), (0.000421, "0.042%"), (1e-5, "0.0010%"), (1e-7, "<0.001%")],
)
def test_small_percentages_keep_two_digits(probability, shown):
    assert format.precise_percent(probability) == shown


@pytest.mark.parametrize(
    ("factor", "shown"), [(1234.5, "1,234×"), (12.3, "12×"), (9.96, "10×"), (1.04, "1.0×"), (0.031, "0.031×")]
)
def test_factors_keep_two_digits(factor, shown):
    assert format.factor(factor) == shown
