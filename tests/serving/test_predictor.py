from dataclasses import replace

import pytest

from recsys import checkpoints, paths
from recsys.data.split import UNTIED
from recsys.models import registry
from recsys.models.popular import Popular
from recsys.serving.predictor import (
    FALLBACK,
    Predictor,
    all_recommenders,
    load,
    recommenders_to_train,
    training_command,
)
from tests import toys
from tests.artifacts import available_names
from tests.serving.given import Given, predictor

pytestmark = pytest.mark.usefixtures("home")


def test_every_recommender_can_be_chosen_and_the_fallback_comes_last():
    names = [variant.name for variant in all_recommenders()]
    assert sorted(names) == sorted(registry.names())
    assert names[-1] == FALLBACK
    needs_training = [variant.needs_training for variant in all_recommenders()]
    assert needs_training == sorted(needs_training, reverse=True)


def test_the_fallback_answers_without_having_been_trained():
    dataset = toys.cycle()
    ready = load(FALLBACK, dataset)
    assert (ready.title, ready.recommender.name) == ("Most popular", FALLBACK)
    assert ready.dataset is dataset


def test_a_recommender_that_must_be_trained_first_says_how():
    with pytest.raises(checkpoints.CheckpointError) as error:
        load("bert4rec", toys.cycle())
    assert error.value.command.endswith("-m recsys train bert4rec --dataset cycle")


def test_an_unknown_recommender_is_refused_with_those_that_there_are():
    with pytest.raises(registry.UnknownModelError, match="bert4rec"):
        load("bert5rec", toys.cycle())


def test_the_trained_ones_are_those_whose_weights_are_there():
    dataset = toys.cycle()
    assert available_names(dataset.name) == []
    load(FALLBACK, dataset)
    assert available_names(dataset.name) == [FALLBACK]


def test_a_mixture_is_there_with_its_members_and_another_one_when_one_of_them_is(monkeypatch):
    """Of two that need no training, so that nothing here takes long."""
    mixture = registry.get("hybrid")
    of_two = replace(mixture, settings={"members": ("markov", FALLBACK)})
    monkeypatch.setattr(registry, "get", lambda name, get=registry.get: of_two if name == "hybrid" else get(name))
    dataset = toys.cycle()
    ready = load("hybrid", dataset)
    assert set(available_names(dataset.name)) == {"hybrid", "markov", FALLBACK}
    ready = load("hybrid", dataset)
    assert ready.is_current
    assert ready.log_probabilities is not None
    checkpoints.save(FALLBACK, Popular().fit(toys.cycle(seed=1)), dataset, seed=0)
    assert not ready.is_current
    assert set(available_names(dataset.name)) == {"markov", FALLBACK}


def test_a_mixture_whose_networks_are_not_trained_says_how_they_are():
    dataset = toys.cycle()
    assert recommenders_to_train("hybrid", dataset.name) == ["sasrec-softmax"]
    with pytest.raises(checkpoints.CheckpointError) as error:
        load("hybrid", dataset)
    assert error.value.command == training_command("hybrid", dataset.name)
    assert error.value.command.endswith("-m recsys train sasrec-softmax --dataset cycle")
    both = training_command("hybrid-few", dataset.name).split(" && ")
    assert [line.partition("train ")[2].split()[0] for line in both] == ["sasrec-softmax", "bert4rec"]


def test_of_a_set_whose_file_leaks_an_order_the_untied_ones_are_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")  # no shipped weights
    dataset = replace(toys.cycle(), name="ml-1m")
    checkpoints.save(FALLBACK, Popular().fit(dataset), dataset, seed=0)
    assert available_names(dataset.name) == []
    found = load(FALLBACK, dataset)
    assert available_names(dataset.name) == [FALLBACK]
    assert checkpoints.find(FALLBACK, dataset.name, splitting=UNTIED)
    assert found.is_current
    with pytest.raises(checkpoints.CheckpointError) as error:
        load("bert4rec", dataset)
    assert error.value.command.endswith("-m recsys train bert4rec --dataset ml-1m --protocol untied")


def test_another_checkpoint_and_other_histories_have_another_key():
    dataset, other = toys.cycle(), toys.cycle(seed=1)
    assert load(FALLBACK, dataset).is_current  # fits and keeps it
    first, again = load(FALLBACK, dataset), load(FALLBACK, dataset)
    assert first.key == again.key
    assert first.is_current
    checkpoints.save(FALLBACK, Popular().fit(other), dataset, seed=0)
    assert not first.is_current
    retrained = load(FALLBACK, dataset)
    assert first.key != retrained.key
    assert retrained.is_current
    with pytest.warns(UserWarning, match="fitting again"):
        assert load(FALLBACK, other).key not in (first.key, retrained.key)


def test_a_checkpoint_that_is_written_while_another_is_loaded_is_seen():
    dataset, ready = toys.cycle(), checkpoints.load_or_fit
    load(FALLBACK, dataset)

    def overtaken(*arguments, **settings):
        model = ready(*arguments, **settings)
        checkpoints.save(FALLBACK, Popular().fit(toys.cycle(seed=1)), dataset, seed=0)
        return model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "load_or_fit", overtaken)
        stale = load(FALLBACK, dataset)
    assert not stale.is_current
    assert load(FALLBACK, dataset).is_current


def test_what_each_recommender_can_do_is_known_before_it_is_loaded():
    def names(capability):
        return {variant.name for variant in all_recommenders() if capability(variant.model())}

    attention = names(lambda model: model.has_attention)
    embeddings = names(lambda model: model.has_item_embeddings)
    blanks = {"bert4rec", "bert4rec-memory", "bert4rec-paper", "bert4rec-side"}
    sasrec = {"sasrec-softmax", "sasrec-segments", "sasrec-memory", "sasrec-bce", "sasrec-paper", "gsasrec"}
    assert attention == blanks | sasrec
    assert names(lambda model: model.can_fill_masks) == blanks | {"item2vec-cbow"}
    assert attention | {"ials", "bpr-mf", "content-sentence"} <= embeddings
    assert not embeddings & {"popular", "ease", "item-knn"}


def test_only_probabilities_that_people_may_rely_on_are_offered():
    world = toys.cycle(6)
    assert predictor(world, Given([0] * 6)).log_probabilities is None
    assert predictor(world, Given([0] * 6, softmax=True)).log_probabilities is not None


def test_two_predictors_are_never_equal_so_that_none_is_compared_film_by_film():
    world, model = toys.cycle(6), Given([0] * 6)
    one, other = predictor(world, model), predictor(world, model)
    assert one != other
    assert isinstance(hash(one), int)
    assert isinstance(one, Predictor)
