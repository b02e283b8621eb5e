import numpy as np
import pytest

from recsys.data.split import by_time, leave_one_out
from recsys.evaluation import results
from recsys.evaluation.evaluate import evaluate
from recsys.evaluation.groups import (
    GROUPINGS,
    NO_ANSWER,
    NO_GENRE,
    NO_YEAR,
    available_groupings,
    decade_buckets,
    genre_buckets,
    history_buckets,
    median_lengths,
    metric_by_bucket,
    popularity_buckets,
)
from recsys.ranking.metrics import ndcg
from tests import toys
from tests.evaluation.test_evaluate import train

CYCLE = toys.cycle()


def buckets(dataset, cut):
    """Bucket → the queries in it, empty ones left out."""
    return {name: np.flatnonzero(mine).tolist() for name, mine in cut(leave_one_out(dataset)) if mine.any()}


def test_histories_are_grouped_by_their_length_before_the_target():
    world = toys.dataset([range(10), range(11), range(51), range(201)], n_items=201)
    assert buckets(world, history_buckets) == {"under 10": [0], "10–19": [1], "50–99": [2], "200 or more": [3]}


def test_targets_are_grouped_by_how_often_they_were_watched():
    """200 films: item 0 is watched by all, the next 19 by some, 20–99 by one, the rest by nobody in training."""
    common = [
        [0, film, 150, last] for film, last in zip(range(1, 20), [0, 1, 5, 19, 30, 99, 100, 199] * 3, strict=False)
    ]
    world = toys.dataset([*common, *[[0, 1 + film % 19, 160, 20] for film in range(19)], [*range(20, 100), 0, 0]], 200)
    found = {
        name: set(leave_one_out(world).test.targets[rows]) for name, rows in buckets(world, popularity_buckets).items()
    }
    assert found == {
        "top 1% by popularity": {0, 1},
        "top 1–10% by popularity": {5, 19},
        "top 10–50% by popularity": {20, 30, 99},
        "bottom 50% by popularity": {100, 199},
    }


def test_a_film_of_two_genres_counts_in_both_and_one_without_any_has_a_bucket():
    world = toys.dataset([[5, 5, 0], [5, 5, 1], [5, 5, 2]], n_items=6)
    world.catalog.movies["genres"] = ["Action|Drama", "Drama", "", "", "", ""]
    assert buckets(world, genre_buckets) == {NO_GENRE: [2], "Action": [0], "Drama": [0, 1]}


def test_figures_of_a_bucket_are_those_of_its_users_over_all_seeds():
    for seed in (0, 1):
        train(seed)
    evaluate("trained", CYCLE)
    ranks, targets = results.ranks("cycle", "full", "trained"), leave_one_out(CYCLE).test.targets
    table = metric_by_bucket(leave_one_out(CYCLE), {"trained": ranks}, "genre", "ndcg@10").set_index("bucket")
    for genre, mine in (("Comedy", targets % 2 == 0), ("Horror", targets % 2 == 1)):
        row = table.loc[genre]
        assert row["users"] == mine.sum()
        assert row["value"] == pytest.approx(np.mean([ndcg(of_seed[mine], 10) for of_seed in ranks]))
        assert row["low"] <= row["value"] <= row["high"]
    lengths = metric_by_bucket(leave_one_out(CYCLE), {"trained": ranks}, "history length", "mrr")
    assert table["users"].sum() == lengths["users"].sum() == 200


def test_a_film_without_a_year_is_of_an_unknown_decade():
    world = toys.dataset([[5, 5, 0], [5, 5, 1], [5, 5, 2], [5, 5, 2]], n_items=6)
    world.catalog.movies.loc[[0, 1], "year"] = [1989, 1990]
    world.catalog.movies.loc[2, "year"] = None
    assert buckets(world, decade_buckets) == {"1980s": [0], "1990s": [1], NO_YEAR: [2, 3]}


def test_groups_of_a_split_by_time_are_of_the_films_after_it():
    """Everybody's last but one film is the first after the cut; leave-one-out asks for the last, of the other genre."""
    world = toys.over_days([[((user + place) % 30, 3 * place) for place in range(12)] for user in range(41)])
    assert {name: mask.sum() for name, mask in genre_buckets(by_time(world))} == {"Comedy": 21, "Horror": 20}


PEOPLE = [("F", "25-34", ""), ("M", "Under 18", ""), ("F", "", ""), ("M", "56+", ""), ("", "25-34", "")]


def test_people_are_grouped_by_what_they_said_of_themselves():
    """The second of five has too few films to be tested, so everybody after him is one row further up."""
    world = toys.described(toys.dataset([[0, 1, 2], [0, 1], [2, 1, 0, 3], [3, 1, 0], [0, 2, 1, 3, 4]], 5), *PEOPLE)
    assert buckets(world, GROUPINGS["gender"]) == {"women": [0, 1], "men": [2], NO_ANSWER: [3]}
    assert buckets(world, GROUPINGS["age"]) == {"25–34": [0, 3], "56+": [2], NO_ANSWER: [1]}
    assert median_lengths(leave_one_out(world), "gender") == {"women": 2, "men": 2, NO_ANSWER: 4}


def test_groups_of_people_are_offered_only_where_the_set_describes_them():
    described = toys.described(CYCLE, *[("F", "56+", "")] * 200)
    assert set(available_groupings(described)) - set(available_groupings(CYCLE)) == {"gender", "age"}
    assert GROUPINGS["gender"](leave_one_out(CYCLE)) == []


def test_models_are_compared_over_the_same_groups_with_the_same_figures():
    for seed in (0, 1):
        train(seed)
    evaluate("trained", CYCLE)
    evaluate("counts", CYCLE)
    ranks = {variant: results.ranks("cycle", "full", variant) for variant in ("trained", "counts")}
    table = metric_by_bucket(leave_one_out(CYCLE), ranks, "genre", "mrr")
    assert table["variant"].tolist() == ["trained", "counts"] * 2
    for variant in ranks:
        alone = metric_by_bucket(leave_one_out(CYCLE), {variant: ranks[variant]}, "genre", "mrr")
        columns = ["users", "value", "low", "high"]
        assert table.loc[table["variant"] == variant, columns].values == pytest.approx(alone[columns].values)
