from dataclasses import replace

import numpy as np
import pytest

from recsys.cli.evaluate import format_table
from recsys.data.split import leave_one_out
from recsys.evaluation import rating_errors, tables
from recsys.evaluation.evaluate import evaluate
from recsys.evaluation.protocols import PROTOCOLS
from tests import fakes, toys


def rated(histories, ratings, n_items):
    """A data set with these histories and the ratings that go with them."""
    world = toys.dataset(histories, n_items)
    return replace(world, interactions=replace(world.interactions, rating=np.concatenate(ratings).astype(np.float32)))


# Trains on user 0's 1 for film 0, user 1's 2 for film 1, and user 2's 1 and 5; asks for film 2, rated 5 and 4.
WORLD = rated([[0, 1, 2], [1, 0, 2], [3, 4]], [[1, 3, 5], [2, 4, 4], [1, 5]], 5)


class Doubling(fakes.Counts):
    """Predicts twice the newest rating for every film."""

    predicts_ratings = True

    def predicted_ratings(self, queries):
        newest = np.array([2 * own[-1] for own in queries.ratings], np.float32)
        return np.repeat(newest[:, None], len(self.counts), 1)


class ByFilm(fakes.Counts):
    """Predicts the number of the film."""

    predicts_ratings = True

    def predicted_ratings(self, queries):
        return np.tile(np.arange(len(self.counts), dtype=np.float32), (len(queries), 1))


def measured(model, world):
    split = leave_one_out(world)
    return rating_errors.summary([(model.fit(split.train), split, split.test)], world)


def test_errors_are_those_of_the_hidden_film_with_predictions_cut_to_the_scale():
    """Twice 3 and twice 4 are cut to 5; given were 5 and 4."""
    found = measured(Doubling(), WORLD)
    assert found["rmse"] == pytest.approx(np.sqrt(1 / 2))
    assert found["mae"] == pytest.approx(1 / 2)
    assert found["interval"] == {"rmse": [0, 1], "mae": [0, 1]}  # both people may be the first, or the second


def test_a_model_does_not_see_the_rating_of_a_film_that_was_watched_again():
    world = rated([[0, 2, 2], [3, 4]], [[1, 2, 5], [1, 5]], 5)
    assert measured(Doubling(), world)["mae"] == 1  # twice 2, not the 5 of the second time


def test_the_baselines_worked_by_hand():
    """Films have 1, 2, no rating and thus 2.25, 1, 5; user 0 is at 0 and 1 above them, user 1 at 0 and 3."""
    found = measured(Doubling(), WORLD)["baselines"]
    off = np.array([2.75, 1.75])
    assert found[rating_errors.MEAN]["mae"] == pytest.approx(off.mean())
    assert found[rating_errors.MEAN]["rmse"] == pytest.approx(np.sqrt((off**2).mean()))
    off = np.array([5 - 2.75, 4 - 3.75])
    assert found[rating_errors.FILM_AND_PERSON]["mae"] == pytest.approx(off.mean())
    assert found[rating_errors.FILM_AND_PERSON]["rmse"] == pytest.approx(np.sqrt((off**2).mean()))


def test_many_queries_are_asked_in_parts_and_errors_averaged_over_seeds(monkeypatch):
    monkeypatch.setattr(rating_errors, "BATCH_SIZE", 1)
    split = leave_one_out(WORLD)
    models = [model.fit(split.train) for model in (Doubling(), ByFilm())]
    found = rating_errors.summary([(model, split, split.test) for model in models], WORLD)
    assert found["mae"] == pytest.approx(np.mean([[0, 1], [3, 2]]))  # film 2 is predicted to get 2
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean([[0, 1], [9, 4]])))


@pytest.mark.parametrize("protocol", [name for name, rules in PROTOCOLS.items() if rules.is_standard_task])
def test_ratings_stay_with_their_films_however_a_set_is_split(monkeypatch, protocol):
    """Every film is rated with its number, and films of one day are watched in one second."""
    monkeypatch.setitem(fakes.VARIANTS, "counts", replace(fakes.VARIANTS["counts"], model_path=f"{__name__}:ByFilm"))
    rng = np.random.default_rng(0)
    world = toys.over_days(
        [[(film, 2 * (place // 3)) for place, film in enumerate(rng.permutation(12))] for _ in range(40)], 12
    )
    ratings = world.interactions.item.astype(np.float32)
    document = evaluate("counts", replace(world, interactions=replace(world.interactions, rating=ratings)), protocol)
    assert document["stars"]["rmse"] == 0
    assert document["stars"]["baselines"][rating_errors.FILM_AND_PERSON]["rmse"] == 0
    assert document["stars"]["baselines"][rating_errors.MEAN]["rmse"] > 1


def test_only_models_that_predict_ratings_are_measured_so_and_only_over_all_films(monkeypatch):
    assert "stars" not in evaluate("counts", toys.cycle())
    assert "stars" not in format_table(evaluate("counts", toys.cycle()))
    monkeypatch.setitem(fakes.VARIANTS, "counts", replace(fakes.VARIANTS["counts"], model_path=f"{__name__}:ByFilm"))
    wide = toys.dataset([[0, 1, 2, 3], [3, 2, 1]], 110)
    assert "stars" not in evaluate("counts", wide)  # all ratings are 4, as in data without ratings
    ratings = wide.interactions.item.astype(np.float32)
    wide = replace(wide, interactions=replace(wide.interactions, rating=ratings))
    assert "stars" in evaluate("counts", wide)
    assert "stars" not in evaluate("counts", wide, "uniform-100")


def test_the_command_prints_a_line_for_the_model_and_each_baseline(monkeypatch):
    monkeypatch.setitem(fakes.VARIANTS, "counts", replace(fakes.VARIANTS["counts"], model_path=f"{__name__}:Doubling"))
    lines = format_table(evaluate("counts", WORLD)).splitlines()[-3:]
    assert lines[0].split() == ["Counts", "0.7071", "0.0000", "1.0000", "0.5000", "0.0000", "1.0000"]
    assert [line.split()[0] for line in lines[1:]] == ["mean", "film"]


def test_the_table_has_models_and_baselines_by_error():
    figures = measured(Doubling(), WORLD)
    worse = figures | {"rmse": 2.0}
    named = [{"variant": "worse", "stars": worse}, {"variant": "better", "stars": figures}, {"variant": "none"}]
    found = tables.rating_error_table(named)
    assert found["name"].tolist() == ["better", rating_errors.FILM_AND_PERSON, "worse", rating_errors.MEAN]
    assert found["baseline"].tolist() == [False, True, False, True]
    first = found.iloc[0][["mae", "low rmse", "high rmse", "low mae", "high mae"]]
    assert first.tolist() == pytest.approx([0.5, 0, 1, 0, 1])
    assert tables.rating_error_table(named[2:]).empty
