import numpy as np
import pytest

from recsys.data.split import by_time, leave_one_out
from recsys.evaluation import results
from recsys.evaluation.evaluate import evaluate
from recsys.evaluation.groups import (
    NO_GENRE,
    NO_YEAR,
    UNSAID,
    age_buckets,
    gender_buckets,
    genre_buckets,
    history_buckets,
    median_lengths,
    offered,
    popularity_buckets,
    side_by_side,
    slices,
)
from recsys.ranking.metrics import METRICS, ndcg
from tests import toys
from tests.evaluation.test_evaluate import train

CYCLE = toys.cycle()


def buckets(dataset, cut):
    """Bucket → the queries in it, empty ones left out."""
    return {name: np.flatnonzero(mine).tolist() for name, mine in cut(leave_one_out(dataset)) if mine.any()}


def test_histories_are_grouped_by_their_length_before_the_target():
    world = toys.dataset([range(10), range(11), range(51), range(201)], n_items=201)
    assert buckets(world, history_buckets) == {"under 10": [0], "10–19": [1], "50–99": [2], "200 and more": [3]}


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
        "0–1% most watched": {0, 1},
        "1–10% most watched": {5, 19},
        "10–50% most watched": {20, 30, 99},
        "50–100% most watched": {100, 199},
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
    table = slices(CYCLE, "full", "trained").set_index(["slice", "bucket"])
    for genre, mine in (("Comedy", targets % 2 == 0), ("Horror", targets % 2 == 1)):
        row = table.loc[("genre", genre)]
        assert row["users"] == mine.sum()
        assert row["ndcg@10"] == pytest.approx(np.mean([ndcg(own[mine], 10) for own in ranks]))
        assert row["low mrr"] <= row["mrr"] <= row["high mrr"]
    assert table.loc["genre", "users"].sum() == table.loc["history length", "users"].sum() == 200
    assert set(METRICS) <= set(table.columns)


def test_a_film_without_a_year_is_of_an_unknown_decade():
    world = toys.dataset([[5, 5, 0], [5, 5, 1], [5, 5, 2], [5, 5, 2]], n_items=6)
    world.catalog.movies.loc[[0, 1], "year"] = [1989, 1990]
    world.catalog.movies.loc[2, "year"] = None
    evaluate("counts", world)
    table = slices(world, "full", "counts").query("slice == 'decade'")
    assert dict(zip(table["bucket"], table["users"], strict=True)) == {"1980s": 1, "1990s": 1, NO_YEAR: 2}


def test_slices_of_a_cut_through_time_are_of_the_films_after_it():
    """Everybody's last but one film is the first after the cut; leave-one-out asks for the last, of the other genre."""
    world = toys.over_days([[((user + place) % 30, 3 * place) for place in range(12)] for user in range(41)])
    evaluate("counts", world, "time")
    table = slices(world, "time", "counts").query("slice == 'genre'")
    comedies = int((by_time(world).test.targets % 2 == 0).sum())
    assert dict(zip(table["bucket"], table["users"], strict=True)) == {"Comedy": comedies, "Horror": 41 - comedies}
    assert comedies == 21


PEOPLE = [("F", "25-34", ""), ("M", "Under 18", ""), ("F", "", ""), ("M", "56+", ""), ("", "25-34", "")]


def test_people_are_grouped_by_what_they_said_of_themselves():
    """The second of five has too few films to be tested, so everybody after him is one row further up."""
    world = toys.described(toys.dataset([[0, 1, 2], [0, 1], [2, 1, 0, 3], [3, 1, 0], [0, 2, 1, 3, 4]], 5), *PEOPLE)
    assert buckets(world, gender_buckets) == {"women": [0, 1], "men": [2], UNSAID: [3]}
    assert buckets(world, age_buckets) == {"25–34": [0, 3], "56+": [2], UNSAID: [1]}
    assert median_lengths(leave_one_out(world), "gender") == {"women": 2, "men": 2, UNSAID: 4}
    evaluate("counts", world)
    table = slices(world, "full", "counts").query("slice == 'age'")
    assert dict(zip(table["bucket"], table["users"], strict=True)) == {"25–34": 2, "56+": 1, UNSAID: 1}


def test_groups_of_people_are_offered_only_where_the_set_describes_them():
    described = toys.described(CYCLE, *[("F", "56+", "")] * 200)
    assert set(offered(described)) - set(offered(CYCLE)) == {"gender", "age"}
    assert gender_buckets(leave_one_out(CYCLE)) == []
    evaluate("counts", CYCLE)
    assert set(slices(CYCLE, "full", "counts")["slice"]) <= set(offered(CYCLE))


def test_a_result_of_other_data_is_not_sliced():
    evaluate("counts", CYCLE)
    with pytest.raises(results.ResultError, match=r"another form of cycle; run: .* evaluate counts --dataset cycle"):
        slices(toys.cycle(seed=1), "full", "counts")


def test_models_are_compared_over_the_same_groups_with_the_same_figures():
    for seed in (0, 1):
        train(seed)
    evaluate("trained", CYCLE)
    evaluate("counts", CYCLE)
    ranks = {variant: results.ranks("cycle", "full", variant) for variant in ("trained", "counts")}
    table = side_by_side(leave_one_out(CYCLE), ranks, "genre", "mrr")
    assert table["variant"].tolist() == ["trained", "counts"] * 2
    for variant in ranks:
        alone = slices(CYCLE, "full", variant).query("slice == 'genre'")
        own = table[table["variant"] == variant]
        assert own["users"].tolist() == alone["users"].tolist()
        assert own["value"].tolist() == pytest.approx(alone["mrr"].tolist())
        assert own[["low", "high"]].values.tolist() == pytest.approx(alone[["low mrr", "high mrr"]].values)
