"""A model that stands on others belongs to the very checkpoints of theirs that it was fitted with."""

import shutil
import warnings

import numpy as np
import pytest

from recsys import checkpoints, paths, storage
from recsys.data.dataset import Queries
from recsys.data.split import LEAVE_ONE_OUT, UNTIED, leave_one_out
from recsys.errors import recsys_command
from recsys.models import registry
from recsys.models.pool import Pool, PoolConfig
from recsys.models.registry import MIXTURES, POOL, Recommender
from tests import fakes, toys
from tests.artifacts import payload

WORLD = toys.cycle()
KNOWN = fakes.VARIANTS | {
    "mixed": Recommender("mixed", "Mixed", MIXTURES, POOL, settings={"members": ("trained", "counts")}),
    "nested": Recommender("nested", "Nested", MIXTURES, POOL, settings={"members": ("counts", "mixed")}),
    "itself": Recommender("itself", "Itself", MIXTURES, POOL, settings={"members": ("itself",)}),
}


@pytest.fixture(autouse=True)
def few_models(home, no_assets, monkeypatch):
    """An empty home and empty assets; two models that count, and mixtures of them, are all there are."""
    monkeypatch.setattr(registry, "get", KNOWN.__getitem__)
    monkeypatch.setattr(fakes.Counts, "fits", 0)


@pytest.fixture(autouse=True)
def fits(monkeypatch):
    """How often weights were found, as a list of seeds."""
    found, fit = [], Pool.fit
    monkeypatch.setattr(Pool, "fit", lambda self, *given: found.append(given[-1].seed) or fit(self, *given))
    return found


def train(power=1.0, seed=0, splitting=LEAVE_ONE_OUT):
    model = fakes.VARIANTS["trained"].model(fakes.CountsConfig(power=power)).fit(leave_one_out(WORLD).train)
    return checkpoints.save("trained", model, WORLD, seed, splitting=splitting)


def powers(model):
    return [member.config.power for member in model.models]


def ready_without_warning(**settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return checkpoints.load_or_fit("mixed", WORLD, **settings)


def test_it_is_fitted_on_its_members_once_and_kept(fits):
    train(power=0.5)
    first = ready_without_warning()
    again = ready_without_warning()
    assert powers(again) == [0.5, 1.0]
    assert fits == [0]
    query = Queries([np.array([1, 2])])
    np.testing.assert_array_equal(again.score(query), first.score(query))
    loaded = checkpoints.load(checkpoints.find("mixed", "cycle"), WORLD)
    np.testing.assert_array_equal(loaded.score(query), first.score(query))


def test_it_is_fitted_again_when_a_member_was_trained_again(fits):
    train(power=0.5)
    checkpoints.load_or_fit("mixed", WORLD)
    train(power=2.0)
    with pytest.raises(checkpoints.CheckpointError, match="mixed was fitted before its members were trained again"):
        checkpoints.load(checkpoints.find("mixed", "cycle"), WORLD)
    with pytest.warns(UserWarning, match="fitting again"):
        assert powers(checkpoints.load_or_fit("mixed", WORLD)) == [2.0, 1.0]
    assert fits == [0, 0]
    assert powers(ready_without_warning()) == [2.0, 1.0]
    assert fits == [0, 0]


def test_it_is_fitted_again_when_a_member_reads_what_has_changed(fits, monkeypatch):
    monkeypatch.setattr(fakes.Counts, "uses_item_texts", True)
    train()
    checkpoints.load_or_fit("mixed", WORLD)
    shutil.rmtree(checkpoints.find("counts", "cycle"))
    checkpoints.save("counts", KNOWN["counts"].model().fit(WORLD), WORLD, 0, {"other": "fit"})
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("mixed", WORLD)
    assert fits == [0, 0]


def test_a_member_that_is_not_trained_is_named_with_its_command():
    with pytest.raises(checkpoints.CheckpointError, match="no checkpoint for trained on cycle") as error:
        checkpoints.load_or_fit("mixed", WORLD)
    assert error.value.command == recsys_command("train", "trained", "--dataset", "cycle")


def test_a_member_that_learnt_from_other_data_is_not_measured():
    train()
    other = toys.cycle(seed=1)
    with pytest.raises(checkpoints.CheckpointError, match="the data of cycle changed after trained was trained"):
        checkpoints.load_or_fit("mixed", other, reject_stale=True)
    with pytest.warns(UserWarning, match="fits less well"):
        assert checkpoints.load_or_fit("mixed", other)


def test_members_are_those_of_its_own_seed_where_there_are_any():
    train(power=0.5, seed=0)
    train(power=2.0, seed=3)
    assert powers(checkpoints.load_or_fit("mixed", WORLD, seed=3)) == [2.0, 1.0]
    assert powers(checkpoints.load_or_fit("mixed", WORLD, seed=4)) == [0.5, 1.0]


def test_where_each_seed_has_an_order_of_its_own_no_other_will_do():
    train(seed=0, splitting=UNTIED)
    assert checkpoints.load_or_fit("mixed", WORLD, splitting=UNTIED)
    with pytest.raises(checkpoints.CheckpointError, match="no checkpoint for trained") as error:
        checkpoints.load_or_fit("mixed", WORLD, seed=4, splitting=UNTIED)
    assert error.value.command.endswith("--protocol untied --seed 4")
    shutil.rmtree(train(seed=0, splitting=UNTIED))
    train(seed=4, splitting=UNTIED)
    assert checkpoints.recommenders_to_train("trained", "cycle", UNTIED) == []
    assert checkpoints.recommenders_to_train("mixed", "cycle", UNTIED) == ["trained"]


@pytest.mark.parametrize("name", ["nested", "itself"])
def test_mixtures_of_mixtures_are_refused(name):
    train()
    with pytest.raises(checkpoints.CheckpointError, match="which is a mixture; use its members instead"):
        checkpoints.load_or_fit(name, WORLD)


def test_what_is_lacking_and_whether_all_is_there_is_known_without_loading(fits):
    assert (
        checkpoints.recommenders_to_train("mixed", "cycle")
        == checkpoints.recommenders_to_train("trained", "cycle")
        == ["trained"]
    )
    assert checkpoints.recommenders_to_train("counts", "cycle") == []
    train()
    assert (
        checkpoints.recommenders_to_train("mixed", "cycle")
        == checkpoints.recommenders_to_train("trained", "cycle")
        == []
    )
    assert checkpoints.is_ready("trained", "cycle")
    assert not checkpoints.is_ready("mixed", "cycle")
    checkpoints.load_or_fit("mixed", WORLD)
    assert checkpoints.is_ready("mixed", "cycle")
    folder = train(power=2.0)
    assert not checkpoints.is_ready("mixed", "cycle")
    shutil.rmtree(folder)
    assert checkpoints.recommenders_to_train("mixed", "cycle") == ["trained"]


def test_what_is_lacking_follows_the_members_that_it_was_fitted_with(monkeypatch):
    model = KNOWN["mixed"].model(PoolConfig(members=("counts",)))
    checkpoints.attach_members(model, WORLD, seed=0)
    split = leave_one_out(WORLD)
    model.fit(split.train, split.valid, checkpoints.RunOptions())
    checkpoints.save("mixed", model, WORLD, 0)
    assert checkpoints.recommenders_to_train("mixed", "cycle") == []
    assert checkpoints.is_ready("mixed", "cycle")
    assert ready_without_warning().members == ("counts",)


def test_a_damaged_fit_lacks_what_a_new_one_would():
    train()
    checkpoints.load_or_fit("mixed", WORLD)
    (checkpoints.find("mixed", "cycle") / checkpoints.META).write_bytes(b"{}")
    assert checkpoints.recommenders_to_train("mixed", "cycle") == []
    assert not checkpoints.is_ready("mixed", "cycle")
    with pytest.warns(UserWarning, match="fitting again"):
        assert checkpoints.load_or_fit("mixed", WORLD)


def test_its_stamp_changes_with_its_members():
    assert checkpoints.checkpoint_version("mixed", "cycle") == ""
    train()
    assert checkpoints.checkpoint_version("mixed", "cycle") == ""
    checkpoints.load_or_fit("mixed", WORLD)
    first = checkpoints.checkpoint_version("mixed", "cycle")
    assert first == checkpoints.checkpoint_version("mixed", "cycle") != ""
    train(power=2.0)
    assert checkpoints.checkpoint_version("mixed", "cycle") not in (first, "")


def test_what_is_kept_names_its_members_and_holds_nothing_of_them():
    train()
    checkpoints.load_or_fit("mixed", WORLD)
    folder = checkpoints.find("mixed", "cycle")
    kept = storage.read_document(folder / checkpoints.META)["members"]
    assert list(kept) == ["counts", "trained"]
    assert kept["trained"] == checkpoints.checkpoint_version("trained", "cycle")
    assert payload(folder / checkpoints.META, checkpoints.WEIGHTS).stat().st_size < 500


def test_it_says_whose_people_its_members_learnt_from_besides():
    model = KNOWN["trained"].model().fit(leave_one_out(WORLD).train)
    model.added_dataset = "ml-1m"
    checkpoints.save("trained", model, WORLD, 0)
    assert checkpoints.load_or_fit("mixed", WORLD).added_dataset == "ml-1m"


def ship(name, power=0.5):
    """Ship "trained" and a mixture of it, then empty this machine, as on a fresh clone."""
    train(power)
    checkpoints.ship("trained", "cycle", 0)
    shutil.rmtree(paths.home())  # a mixture is shipped for the shipped members, not for those of this machine
    checkpoints.load_or_fit(name, WORLD)
    checkpoints.ship(name, "cycle", 0)
    shutil.rmtree(paths.home())


def test_a_shipped_mixture_is_valid_before_its_members_are_fitted(fits):
    ship("mixed")
    fits.clear()
    assert checkpoints.has_current_checkpoint("mixed", "cycle")
    assert not checkpoints.is_ready("mixed", "cycle")  # "counts" has to be fitted
    model = ready_without_warning()
    assert powers(model) == [0.5, 1.0]
    assert fits == []
    assert checkpoints.is_ready("mixed", "cycle")


def test_a_damaged_shipped_member_counts_as_a_checkpoint_until_it_is_loaded():
    ship("mixed")
    folder = paths.shipped_checkpoint("cycle", LEAVE_ONE_OUT.name, "trained")
    (folder / checkpoints.META).write_bytes(b"{}")
    assert checkpoints.find("trained", "cycle", seed=0) == folder
    assert checkpoints.recommenders_to_train("mixed", "cycle") == []
    assert checkpoints.checkpoint_version("mixed", "cycle")
    assert not checkpoints.is_ready("mixed", "cycle")
    with pytest.raises(checkpoints.CheckpointError, match="is damaged"), pytest.warns(UserWarning, match="again"):
        checkpoints.load_or_fit("mixed", WORLD)


def test_a_shipped_mixture_is_fitted_anew_on_this_machine_and_stays_as_it_is_shipped(fits):
    ship("mixed")
    shipped = (paths.shipped_checkpoint("cycle", LEAVE_ONE_OUT.name, "mixed") / checkpoints.META).read_bytes()
    fits.clear()
    train(power=2.0)
    assert not checkpoints.has_current_checkpoint("mixed", "cycle")
    with pytest.warns(UserWarning, match="fitting again"):
        assert powers(checkpoints.load_or_fit("mixed", WORLD)) == [2.0, 1.0]
    assert fits == [0]
    assert powers(ready_without_warning()) == [2.0, 1.0]
    assert (paths.shipped_checkpoint("cycle", LEAVE_ONE_OUT.name, "mixed") / checkpoints.META).read_bytes() == shipped


def test_a_shipped_mixture_is_preferred_to_one_of_this_machine_with_former_members(fits, tmp_path):
    train(power=2.0)
    checkpoints.load_or_fit("mixed", WORLD)
    former = checkpoints.find("mixed", "cycle")
    shutil.move(former, tmp_path / "former")
    ship("mixed", power=0.5)
    shutil.move(tmp_path / "former", former)  # the member "trained" of this machine is gone
    fits.clear()
    assert checkpoints.find("mixed", "cycle") == paths.shipped_checkpoint("cycle", LEAVE_ONE_OUT.name, "mixed")
    assert checkpoints.has_current_checkpoint("mixed", "cycle")
    assert powers(checkpoints.load_or_fit("mixed", WORLD)) == [0.5, 1.0]
    assert fits == []


def test_what_is_fitted_on_first_use_is_not_shipped():
    checkpoints.load_or_fit("counts", WORLD)
    with pytest.raises(checkpoints.CheckpointError, match="fitted on first use"):
        checkpoints.ship("counts", "cycle", 0)
