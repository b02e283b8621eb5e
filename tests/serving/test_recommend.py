from dataclasses import replace

import numpy as np
import pytest

from recsys.data.dataset import Catalog
from recsys.ranking.ranking import ScoreError
from recsys.serving import recommend as serving
from recsys.serving import substitutes
from recsys.serving.filters import Filters
from recsys.serving.recommend import (
    RankPosition,
    Request,
    ServingError,
    rank_positions,
    rankings,
    recommend,
    recommend_many,
    to_queries,
)
from tests import toys
from tests.serving.given import Given, Pulls, predictor, pulls


def best(world, model, history=(), k=10, hide_seen=True, **wishes):
    return recommend(predictor(world, model), Request(tuple(history), k, Filters(hide_seen=hide_seen, **wishes)))


def items(films) -> list[int]:
    return [film.item for film in films]


def test_the_best_films_come_first_with_what_people_read_of_them(world):
    first, second = best(world, Given([0, 3, 1, 5, 2, 4]), k=2)
    assert (first.rank, first.item, first.score) == (1, 3, 5.0)
    assert first.film is world.catalog.films[3]
    assert (second.rank, second.item) == (2, 5)


def test_seen_films_are_hidden_unless_they_are_wanted(world):
    model = Given([0, 3, 1, 5, 2, 4])
    assert items(best(world, model, [3, 5, 3], k=3)) == [1, 4, 2]
    assert items(best(world, model, [3, 5, 3], k=3, hide_seen=False)) == [3, 5, 1]


def test_unwanted_films_are_not_recommended_with_or_without_filters(world):
    ready = predictor(world, Given([0, 3, 1, 5, 2, 4], softmax=True))
    assert items(recommend(ready, Request((5,), 3, unwanted=(3, 1)))) == [4, 2, 0]
    horror = Filters(genres=("Horror",))
    [only] = recommend(ready, Request((5,), 3, horror, unwanted=(3,)))
    assert (only.item, only.probability) == (1, pytest.approx(1))


@pytest.mark.parametrize("genres", [(), ("Comedy", "Horror")])
def test_a_film_that_is_listed_twice_is_hidden_if_its_rare_number_was_watched(world, genres):
    again = world.catalog.movies.iloc[[3]].assign(movie_id=901)
    twice = replace(world, catalog=Catalog(world.catalog.movies, again))
    assert twice.main_film_by_duplicate == {6: 3}
    assert items(best(twice, Given([0, 3, 1, 5, 2, 4]), [6], k=3, genres=genres)) == [5, 1, 4]


def test_probabilities_are_a_softmax_over_the_films_of_the_list(world):
    scores = [0.0, 3, 1, 5, 2, 4]
    everything = best(world, Given(scores, softmax=True), [3], k=6, hide_seen=False)
    expected = np.sort(np.exp(scores))[::-1] / np.exp(scores).sum()
    assert [film.probability for film in everything] == pytest.approx(expected)
    unseen = best(world, Given(scores, softmax=True), [3], k=5)
    assert sum(film.probability for film in unseen) == pytest.approx(1)
    assert unseen[0].probability == pytest.approx(np.exp(4) / (np.exp(scores).sum() - np.exp(5)))


def test_huge_logits_do_not_overflow(world):
    films = best(world, Given([10_000, 9_000, -10_000, 0, 0, 0], softmax=True), k=6)
    assert [film.probability for film in films] == pytest.approx([1, 0, 0, 0, 0, 0])


def test_a_model_whose_scores_are_not_calibrated_shows_no_probability(world):
    assert best(world, Given([0, 1, 2, 3, 4, 5]), k=1)[0].probability is None


@pytest.mark.parametrize("k", [1, 2, 3, 5, 6])
def test_equal_scores_are_ordered_by_item_at_every_cut(world, k):
    assert items(best(world, Given([1, 2, 2, 1, 2, 1]), k=k)) == [1, 2, 4, 0, 3, 5][:k]


def test_fewer_come_back_when_films_run_out(world):
    model = Given([0, 1, 2, 3, 4, 5])
    assert len(best(world, model, [0, 1], k=50)) == 4
    assert best(world, model, range(6)) == []
    assert best(world, model, k=0) == []


def test_films_that_the_model_rules_out_are_never_shown(world):
    films = best(world, Given([-np.inf, 1, -np.inf, 3, -np.inf, 5], softmax=True), [5], k=6)
    assert items(films) == [3, 1]
    assert sum(film.probability for film in films) == pytest.approx(1)
    assert best(world, Given([-np.inf] * 6, softmax=True), k=6) == []


def test_ten_thousand_and_repeated_films_are_a_legal_history(world):
    assert items(best(world, Given([0, 1, 2, 3, 4, 5]), [5, 4] * 5_000, k=1)) == [3]


def test_the_scores_of_a_model_stay_as_they_were(world):
    class Kept(Given):
        def score(self, queries):
            return self.scores[None]

    model = Kept([0, 3, 1, 5, 2, 4], softmax=True)
    best(world, model, [3, 5], k=3, genres=("Horror",), diversity=0.5)
    assert model.scores.tolist() == [0, 3, 1, 5, 2, 4]


def test_scores_that_are_no_numbers_are_refused_with_a_sentence(world):
    for wrong in (np.nan, np.inf):
        with pytest.raises(ScoreError, match="not numbers; train it again"):
            best(world, Given([0, 1, wrong, 3, 4, 5]), k=1)


def test_scores_for_another_catalogue_are_refused(world):
    with pytest.raises(ServingError, match=r"shape \(1, 7\), not \(1, 6\)"):
        best(world, Given([0] * 7))


@pytest.mark.parametrize("history", [[6], [7], [-1], [2, 103], [1.5], ["Film 1"], [[0, 1]]])
def test_padding_masks_foreign_ids_and_nonsense_in_a_history_are_refused(world, history):
    with pytest.raises(ServingError, match="item"):
        best(world, Given([0] * 6), history)
    with pytest.raises(ServingError, match="item"):
        recommend(predictor(world, Given([0] * 6)), Request((), unwanted=tuple(history)))


def test_a_negative_number_of_films_is_refused():
    with pytest.raises(ServingError, match="ask for 0 or more"):
        Request((), k=-1)


def test_equal_requests_are_found_in_a_cache():
    one, other = (Request((1, 2), 5, Filters(years=(1990, 2000)), (3,)) for _ in range(2))
    assert {one: "answer"}[other] == "answer"


@pytest.mark.parametrize("threads", [1, 3])
def test_many_histories_are_scored_in_bounded_blocks_and_answered_as_one_by_one(world, monkeypatch, threads):
    monkeypatch.setattr(serving, "N_THREADS", threads)
    monkeypatch.setattr(serving, "MAX_SCORES", threads * 12)  # two rows of six films for each thread
    model = Given([0, 1, 2, 3, 4, 5])
    ready = predictor(world, model)
    requests = [Request((5,), 3), Request(()), Request((4, 3), 1), Request((0, 5), 2), Request((1,), 4, unwanted=(5,))]
    many = recommend_many(ready, requests)
    assert sorted(model.blocks) == [1, 2, 2]
    assert many == [recommend(ready, request) for request in requests]
    assert [len(films) for films in many] == [3, 6, 1, 2, 4]


def test_no_request_gets_no_answer(world):
    assert recommend_many(predictor(world, Given([0] * 6)), []) == []


def test_one_bad_history_among_many_is_refused(world, monkeypatch):
    monkeypatch.setattr(serving, "MAX_BATCH", 1)
    with pytest.raises(ServingError, match="there is no item 6"):
        recommend_many(predictor(world, Given([0] * 6)), [Request((0,)), Request((6,)), Request((1,))])


def test_the_answer_agrees_with_a_plain_sort_on_random_scores():
    rng = np.random.default_rng(0)
    world = toys.cycle(n_items=300)
    for _ in range(20):
        scores, history = rng.integers(0, 40, 300), rng.integers(0, 300, 50).tolist()  # many ties
        expected = sorted(set(range(300)) - set(history), key=lambda item: (-scores[item], item))
        assert items(best(world, Given(scores), history, k=25)) == expected[:25]
        [ranking] = rankings(predictor(world, Given(scores)), [Request(tuple(history))])
        assert [ranking.rank(item) for item in expected] == list(range(1, len(expected) + 1))


def test_rankings_come_in_order_and_in_bounded_blocks(world, monkeypatch):
    monkeypatch.setattr(serving, "MAX_SCORES", 12)
    model = Given([0, 1, 2, 3, 4, 5])
    requests = [Request(history) for history in ((5,), (), (4, 3), (5, 4), (1,))]
    found = list(rankings(predictor(world, model), requests))
    assert [ranking.top(1).tolist() for ranking in found] == [[4], [5], [5], [3], [5]]
    unfiltered = Request((5,), filters=Filters(hide_seen=False))
    assert [len(ranking) for ranking in rankings(predictor(world, model), [unfiltered])] == [6]
    assert model.blocks == [2, 2, 1, 1]


def test_positions_are_the_ranks_in_the_list_for_each_pair_of_history_and_film():
    rng = np.random.default_rng(0)
    world, scores = toys.cycle(n_items=60), rng.integers(0, 9, 60).astype(np.float32)  # many ties
    scores[7] = -np.inf
    ready = predictor(world, Given(scores))
    for hide_seen in (True, False):
        histories = [tuple(rng.integers(0, 60, 5).tolist()) for _ in range(60)]
        requests = [Request(history, 60, Filters(hide_seen=hide_seen)) for history in histories]
        found = [rank_positions(ranking, [item])[0] for item, ranking in enumerate(rankings(ready, requests))]
        lists = recommend_many(ready, requests)
        ranks = [{film.item: film.rank for film in films} for films in lists]
        assert [one.rank for one in found] == [rank.get(item) for item, rank in enumerate(ranks)]
        assert [one.n_ranked for one in found] == [len(films) for films in lists]


def test_a_position_has_the_probability_that_the_list_shows(world):
    model = Given([0, 3, 1, 5, -np.inf, 4], softmax=True)
    listed = {film.item: film.probability for film in best(world, model, [3], k=6)}
    [ranking] = rankings(predictor(world, model), [Request((3,))])
    found = rank_positions(ranking, range(6))
    assert {item: found[item].probability for item in listed} == pytest.approx(listed)
    assert found[4] == found[3] == RankPosition(None, 4, 0.0)
    for model, position in (
        (Given([0] * 6), RankPosition(3, 6, None)),
        (Given([-np.inf] * 6, softmax=True), RankPosition(None, 0, 0.0)),
    ):
        [ranking] = rankings(predictor(world, model), [Request(())])
        assert rank_positions(ranking, [2]) == [position]


def test_each_tenfold_rank_is_an_equal_step_away_from_the_top():
    nearness = [RankPosition(rank, 1000, None).log_rank_score for rank in (1, 10, 100, 1000)]
    assert nearness == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert (RankPosition(None, 1000, None).log_rank_score, RankPosition(1, 1, None).log_rank_score) == (0, 1)


WORLD = toys.cycle(n_items=6)
RATED = ((0, 5.0), (1, 2.0))


def asked(history, ratings=(), read=True, world=WORLD):
    return to_queries((Reads if read else Given)(()), world, [np.array(history)], [ratings])


def test_a_model_that_reads_ratings_is_told_them_film_by_film():
    made = asked([1, 3, 0], RATED)
    assert made.histories[0].tolist() == [1, 3, 0]
    assert made.ratings[0] == pytest.approx([2, np.nan, 5], nan_ok=True)


def test_without_ratings_nothing_is_told():
    assert asked([1, 3, 0]).ratings is None


def test_a_model_that_reads_none_is_not_told_of_films_that_were_not_liked():
    made = asked([1, 3, 0], RATED, read=False)
    assert made.histories[0].tolist() == [3, 0]
    assert made.ratings is None


def test_everybody_has_their_own_ratings():
    made = to_queries(Given(()), WORLD, [np.array([0, 1]), np.array([0, 1])], [RATED, ()])
    assert [history.tolist() for history in made.histories] == [[0], [0, 1]]


def test_a_substitute_has_the_rating_of_the_film_that_it_replaces(monkeypatch):
    left_out = replace(WORLD, catalog=Catalog(WORLD.catalog.movies, toys.catalog(1).movies))
    monkeypatch.setattr(substitutes, "_most_similar", lambda dataset, number: substitutes.Substitute(2, 1.0))
    made = asked([6, 0], ((6, 4.0),), world=left_out)
    assert made.histories[0].tolist() == [2, 0]
    assert made.ratings[0] == pytest.approx([4, np.nan], nan_ok=True)


class Reads(Given):
    uses_query_ratings = True

    def score(self, queries):
        return np.array([np.append(stars, 0)[:1].repeat(6) * np.arange(6) for stars in queries.ratings])


def test_ratings_of_a_request_reach_the_model():
    shown = recommend(predictor(WORLD, Reads([0] * 6)), Request((1, 0), 1, ratings=RATED))
    assert shown[0].score == pytest.approx(2.0 * 5)


def test_a_film_that_was_not_liked_moves_nothing_and_stays_hidden():
    ready = predictor(WORLD, Pulls(pulls(f0_2=3.0, f1_4=9.0)))
    assert [film.item for film in recommend(ready, Request((0, 1), 1))] == [4]
    shown = recommend(ready, Request((0, 1), 6, ratings=RATED))
    assert shown[0].item == 2
    assert 1 not in [film.item for film in shown]
