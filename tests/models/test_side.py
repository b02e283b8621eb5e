"""Side information: genres, decades and popularity of items, the stars that people gave, and who they are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from recsys import checkpoints
from recsys.data.dataset import PROFILE_COLUMNS, DataError, Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.models.side import UNKNOWN, ItemFeatures, to_rating_ids
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed, untrained

BOTH = pytest.mark.parametrize("variant", ["bert4rec-side", "sasrec-side"])
TRAINED = pytest.mark.parametrize("variant", ["sasrec-side", pytest.param("bert4rec-side", marks=pytest.mark.slow)])
DETAILS = {"genres": True, "decade": True, "popularity": True}
QUICK = {"ema_decay": 0.9, "epochs": 16, "lr": 1e-2, "dropout": 0.0}
LAST_ITEM = {"bert4rec-side": {"last_item_mask_prob": 0.5}, "sasrec-side": {}}  # where all that can be learnt lies
ALL = DETAILS | {"stars": True, "person": True}


def model_of(variant, **settings):
    toy = {"dim": 16, "length": 10, "epochs": 30, "batch_size": 16, "lr": 5e-3, "warmup_steps": 10}
    toy |= dict.fromkeys(DETAILS, False)
    found = registry.get(variant)
    return found.model(changed(found.preset(""), **toy | settings))


def random_side_model(variant, **settings):
    """A model of 30 items whose vectors are all drawn, those of details and stars too."""
    model = untrained(model_of(variant, **settings))
    for weights in model.module.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    model.module.eval()  # discards sums of the old weights
    return model


def rated(histories, ratings, n_items):
    """A data set with these histories and the ratings (T,) of each."""
    world = toys.dataset(histories, n_items)
    given = np.concatenate(ratings).astype(np.float32)
    return replace(world, interactions=replace(world.interactions, rating=given))


# What an item is


def test_an_item_has_the_mean_of_its_genres_and_a_vector_of_its_decade_and_of_its_popularity():
    world = toys.dataset([[0, 0, 0, 1], [2]], 4)
    movies = world.catalog.movies.assign(
        genres=["Comedy|Horror", "Horror", "", "Comedy"], year=pd.array([1899, 1995, None, 1999], dtype="Int64")
    )
    details = ItemFeatures(tuple(DETAILS), 4, dim=8)
    details.set_features(replace(world, catalog=replace(world.catalog, movies=movies)))
    assert not details().any()  # at first all is as it would be without
    for vectors in details.parameters():
        torch.nn.init.normal_(vectors)
    genres, decade, popularity = (details.vectors[kind] for kind in DETAILS)
    expected = [
        (genres[0] + genres[1]) / 2 + decade[2] + popularity[2],  # three ratings
        genres[1] + decade[12] + popularity[1],
        popularity[1],
        genres[0] + decade[12] + popularity[0],
    ]
    torch.testing.assert_close(details(), torch.stack(expected))


def hits_of_new_items(variant, **settings):
    """Even users watch even films, odd ones odd films, as genres have it; 28 and 29 are new: which is higher?"""
    board = toys.checkerboard(30)
    world = toys.dataset([[film for film in history if film < 28] for history in board.histories], 30)
    model = model_of(variant, length=14, epochs=40, **settings).fit(world, run=RunOptions(device="cpu"))
    scores = model.score(Queries(world.histories))
    return np.mean((scores[:, 28] > scores[:, 29]) == (np.arange(30) % 2 == 0))


@TRAINED
def test_of_an_item_that_nobody_watched_the_genre_is_known(variant):
    assert hits_of_new_items(variant, genres=True) == 1


@BOTH
def test_details_are_added_in_the_input_and_in_the_output(variant):
    module = random_side_model(variant, **DETAILS).module
    module.details.genres[4] = module.details.genres[4].fill_(0).index_fill(0, torch.tensor([3]), 1)
    module.eval()
    added = module.details.vectors["genres"][3]
    torch.testing.assert_close(module.output[4], module.items.weight[4] + added)
    embedded = module.token_embeddings(torch.tensor([[4, 5, 31, 30]]))[0]
    torch.testing.assert_close(embedded[0], module.items.weight[4] + added)
    torch.testing.assert_close(embedded[1:], module.items.weight[[5, 31, 30]])


def test_what_an_item_is_is_added_up_once_while_nothing_is_learnt():
    module = random_side_model("bert4rec-side", **DETAILS).module
    with torch.no_grad():
        assert module.item_vectors() is module.item_vectors()
        before = module.item_vectors()
        module.items.weight.add_(1)
        assert module.item_vectors() is before
        module.eval()
        torch.testing.assert_close(module.item_vectors(), before + 1)
    assert module.item_vectors().requires_grad  # a step of training sees the weights as they are


def test_without_averaged_weights_training_goes_on_after_a_validation():
    split = leave_one_out(toys.cycle(n_items=20, n_users=60, length=8))
    model = model_of("bert4rec-side", ema_decay=0.0, epochs=2, validate_every=1, genres=True)
    model.fit(split.train, split.valid, RunOptions(device="cpu"))
    with torch.no_grad():
        torch.testing.assert_close(
            model.module.item_vectors()[:20], model.module.items.weight[:20] + model.module.details()
        )
    assert model.module.details.vectors["genres"].abs().sum() > 0


# What people thought of the items


def test_stars_are_numbered_by_halves():
    assert to_rating_ids(np.array([0.5, 1, 4.5, 5, np.nan, 3.2, 0])).tolist() == [1, 2, 9, 10, UNKNOWN, 6, 1]


@TRAINED
def test_what_follows_may_depend_on_the_stars_given(variant):
    """After film 0 with five stars comes film 1, with one star film 2."""
    rng = np.random.default_rng(0)
    liked = np.arange(160) % 2 == 0
    histories = [[*rng.permutation(np.arange(3, 12))[:2], 0, 1 if good else 2] for good in liked]
    world = rated(histories, [[3, 3, 5 if good else 1, 3] for good in liked], 12)
    model = model_of(variant, stars=True, **QUICK, **LAST_ITEM[variant]).fit(world, run=RunOptions(device="cpu"))
    asked = [Queries([np.array([7, 8, 0])], ratings=[np.array([3, 3, stars])]) for stars in (5.0, 1.0)]
    assert [model.score(query).argmax() for query in asked] == [1, 2]
    both = Queries([np.array([7, 8, 0])] * 2, ratings=[own for query in asked for own in query.ratings])
    np.testing.assert_allclose(model.score(both), [model.score(query)[0] for query in asked], rtol=1e-4, atol=1e-4)


def batches(variant, **settings):
    """Every batch of 40 epochs over histories of 3 to 14 films of which film i has (1 + i % 10) / 2 stars."""
    histories = [(np.arange(start, start + 3 + start % 12) % 30).astype(np.int32) for start in range(25)]
    samples = Queries(histories, ratings=[1 + history % 10 for history in histories])
    model = random_side_model(variant, batch_size=8, stars=True, **settings)
    for epoch in range(40):
        yield from model.batches(samples, 30, CounterRNG(0, epoch))


@pytest.mark.parametrize("settings", [{}, {"crop": "windows"}, {"crop": "prefixes"}, {"crop": "segments"}])
def test_an_item_to_be_predicted_shows_no_stars_and_each_of_the_others_its_own(settings):
    without = total = 0
    for batch in batches("bert4rec-side", **settings):
        masked = torch.zeros_like(batch.tokens, dtype=torch.bool)
        masked[batch.loss_index // batch.positions.shape[1], batch.positions.flatten()[batch.loss_index]] = True
        own = torch.where((batch.tokens < 30) & ~masked, 1 + batch.tokens % 10, UNKNOWN)
        for stars, expected in zip(batch.rating_ids, own, strict=True):
            if stars.any():
                torch.testing.assert_close(stars, expected)
            total, without = total + 1, without + (expected.any() and not stars.any())
    assert without / total == pytest.approx(0.1, abs=0.03)  # as if nothing had been rated


@pytest.mark.parametrize("settings", [{}, {"crop": "windows"}, {"crop": "prefixes"}, {"crop": "segments"}])
def test_read_from_left_to_right_each_item_shows_its_own_stars(settings):
    for batch in batches("sasrec-side", **settings):
        own = torch.where(batch.tokens < 30, 1 + batch.tokens % 10, UNKNOWN)
        for stars, expected in zip(batch.rating_ids, own, strict=True):
            if stars.any():
                torch.testing.assert_close(stars, expected)


@BOTH
def test_stars_change_scores_and_what_is_not_rated_changes_none(variant):
    model, histories = random_side_model(variant, stars=True), [np.array([4, 8, 15]), np.arange(25)]
    unrated = model.score(Queries(histories))
    nothing = [np.full(len(history), np.nan) for history in histories]
    np.testing.assert_allclose(model.score(Queries(histories, ratings=nothing)), unrated, atol=1e-5)
    for position in range(3):
        some = [nothing[0].copy(), nothing[1]]
        some[0][position] = 2
        scores = model.score(Queries(histories, ratings=some))
        assert np.abs(scores[0] - unrated[0]).max() > 1e-3
        np.testing.assert_allclose(scores[1], unrated[1], atol=1e-5)


@BOTH
def test_the_stars_of_what_is_held_out_change_no_score(variant):
    """Neither in training nor when it is asked."""
    found = []
    for last in (1, 5):
        world = rated([[user % 9, 3, 4, 5, 6] for user in range(40)], [[2, 3, 4, last, last]] * 40, 12)
        split = leave_one_out(world)
        model = model_of(variant, epochs=2, stars=True).fit(split.train, split.valid, RunOptions(device="cpu"))
        asked = replace(split.valid.queries, ratings=[np.array([1, 5, 3])] * 40)
        found.append(model.score(asked))
    np.testing.assert_allclose(*found, atol=1e-5)


# Who watched them


PEOPLE = [("F" if user % 2 else "M", "25-34", f"work {user % 50}") for user in range(160)]


@TRAINED
def test_what_follows_may_depend_on_who_asks(variant):
    """After film 0 men watch film 1, women film 2."""
    rng = np.random.default_rng(0)
    histories = [[*rng.permutation(np.arange(3, 12))[:2], 0, 1 + user % 2] for user in range(160)]
    world = toys.described(toys.dataset(histories, 12), *PEOPLE)
    model = model_of(variant, person=True, **QUICK, **LAST_ITEM[variant]).fit(world, run=RunOptions(device="cpu"))
    people = pd.DataFrame([("M", "", "astronaut"), ("F", "56+", "")], columns=list(PROFILE_COLUMNS), dtype="str")
    history = [np.array([7, 8, 0])]
    assert model.score(Queries(history * 2, user_profiles=people, are_whole=True)).argmax(1).tolist() == [1, 2]
    one = model.score(Queries(history, user_profiles=people[1:], are_whole=True))[0]
    assert one.argmax() == 2
    visitor = model.score(Queries(history, are_whole=True))[0]
    assert set(visitor.argsort()[-2:]) == {1, 2}
    unknown = pd.DataFrame([("", "", "")], columns=list(PROFILE_COLUMNS), dtype="str")
    np.testing.assert_allclose(
        model.score(Queries(history, user_profiles=unknown, are_whole=True))[0], visitor, atol=1e-5
    )


def test_some_samples_are_of_somebody_unknown_and_the_others_of_whose_they_are():
    world = toys.described(toys.dataset([[], *([[3, 4, 5]] * 159)], 12), *PEOPLE)
    model = random_side_model("bert4rec-side", person=True)
    model.initialise(model.module, world, 0)
    samples = model.samples(world)  # without the first person, who watched nothing
    expected = model.module.person_vectors.attribute_ids(world.user_profiles)[1:]
    assert len(np.unique(expected)) == 2 + 1 + 50
    rows = np.arange(159)[::-1]
    for epoch in range(9):
        given = model.batch_of(samples, rows, 30, CounterRNG(0, epoch)).attribute_ids.numpy()
        unknown = ~given.any(1)
        assert unknown.mean() == pytest.approx(0.1, abs=0.08)
        np.testing.assert_array_equal(given[~unknown], expected[rows][~unknown])


def test_held_out_queries_know_who_asks():
    world = toys.described(toys.dataset([[0, 1], [2, 3, 4], [], [5, 6, 7]], 12), *PEOPLE[:4])
    for part in (leave_one_out(world).valid, leave_one_out(world).test):
        assert part.queries.user_profiles["occupation"].tolist() == ["work 1", "work 3"]
        assert part.queries[1:].user_profiles["occupation"].tolist() == ["work 3"]


# All of it


@BOTH
def test_a_kept_model_needs_no_data_set_to_know_its_items(variant, tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    world = toys.described(toys.cycle(n_items=20, n_users=60, length=8), *PEOPLE[:60])
    model = model_of(variant, epochs=1, **ALL).fit(leave_one_out(world).train, run=RunOptions(device="cpu"))
    again = checkpoints.load(checkpoints.save(variant, model, world, 0), world)
    assert again.uses_query_ratings
    assert again.uses_times_or_ratings
    queries = Queries([np.array([3, 4, 5])], ratings=[np.array([5, np.nan, 1])])
    np.testing.assert_array_equal(again.score(queries), model.score(queries))
    assert again.module.details.genres.sum() == 20


@BOTH
def test_people_are_not_learnt_from_a_set_that_knows_nothing_of_them(variant):
    """Vectors without any gradient end a training by several processes."""
    with pytest.raises(DataError, match="train without --person"):
        model_of(variant, person=True).fit(toys.cycle(12, 20, 5), run=RunOptions(device="cpu"))
