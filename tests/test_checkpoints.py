import errno
import os
import shutil
import subprocess
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load
from safetensors.numpy import save as to_bytes

from recsys import checkpoints, paths, storage
from recsys.data import film_tables
from recsys.data.dataset import Queries
from recsys.data.split import BY_TIME, LEAVE_ONE_OUT, leave_one_out
from recsys.errors import recsys_command
from recsys.models import presets, registry
from recsys.models.base import NoConfig
from recsys.text import fields
from tests import fakes, toys
from tests.artifacts import payload

REAL_MODELS = registry.get
WORLD = toys.cycle()
HISTORIES = [[1, 2, 3, 4, 5], [2, 3, 4, 5, 6], [3, 4, 5, 6, 7], [4, 5, 6, 7, 0]] * 3


@pytest.fixture(autouse=True)
def fake_models(home, no_assets, tmp_path, monkeypatch):
    """An empty home and empty assets; the fakes are the only models."""
    monkeypatch.setattr(paths, "REPOSITORY", tmp_path)
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    monkeypatch.setattr(fakes.Counts, "fits", 0)


def fitted(power=1.0, variant="counts"):
    return fakes.VARIANTS[variant].model(fakes.CountsConfig(power=power)).fit(leave_one_out(WORLD).train)


def save(variant="counts", power=1.0, seed=0):
    return checkpoints.save(variant, fitted(power, variant), WORLD, seed, {"epochs": 3})


def shipped(variant="trained", seed=0):
    """A checkpoint that comes with the project and was not trained here."""
    source = save(variant, seed=seed)
    target = checkpoints.ship(variant, "cycle", seed)
    shutil.rmtree(source)
    return target


def weights_of(folder):
    return payload(folder / "meta.json", "weights.safetensors")


def train_command(variant, *more):
    return recsys_command("train", variant, "--dataset", "cycle", *more)


def test_a_checkpoint_remembers_whose_histories_were_learnt_from_besides():
    model = fitted()
    model.added_dataset = "ml-1m"
    loaded = checkpoints.load(checkpoints.save("counts", model, WORLD, 0), WORLD)
    assert loaded.added_dataset == "ml-1m"
    assert checkpoints.load(save(), WORLD).added_dataset == ""


def test_a_loaded_model_scores_like_the_saved_one_and_has_its_settings():
    folder = save(power=0.5)
    model = checkpoints.load(folder, WORLD)
    queries = Queries([np.array([1, 2]), np.array([], int)])
    assert np.array_equal(model.score(queries), fitted(0.5).score(queries))
    assert model.config == fakes.CountsConfig(power=0.5)
    assert model.title == "Counts"
    assert {storage.HASH.sub("", path.name) for path in folder.iterdir()} == {"meta.json", "weights.safetensors"}


def test_views_of_arrays_are_saved_as_what_they_show():
    model = fitted()
    model.counts = np.arange(40, dtype=np.float32)[::2]
    assert np.array_equal(checkpoints.load(checkpoints.save("counts", model, WORLD, 0), WORLD).counts, model.counts)


@pytest.mark.parametrize("name", ["meta.json", "weights.safetensors"])
def test_a_missing_file_is_refused_with_the_command(name):
    folder = save(seed=3)
    (folder / "meta.json" if name == "meta.json" else weights_of(folder)).unlink()
    with pytest.raises(checkpoints.CheckpointError) as error:
        checkpoints.load(folder, WORLD)
    assert error.value.command == train_command("counts", "--seed", "3")


def test_settings_of_another_version_are_refused(monkeypatch):
    folder = save()
    monkeypatch.setattr(fakes.Counts, "Config", NoConfig)
    with pytest.raises(checkpoints.CheckpointError, match="another version of counts"):
        checkpoints.load(folder, WORLD)


@pytest.mark.parametrize(
    "change",
    [
        {"config": []},
        {"config": {"nonsense": 1}},
        {"variant": 7},
        {"n_items": "20"},
        {"split": ["leave-one-out"]},
        {"seed": None},
        {"notes": "none"},
        {"members": [1]},
        {"files": ["weights.safetensors"]},
    ],
)
def test_a_sealed_but_malformed_document_is_refused_with_the_command(change):
    folder = save()
    document = storage.read_document(folder / "meta.json")
    (folder / "meta.json").write_bytes(storage.sign_document(document | change))
    with pytest.raises(checkpoints.CheckpointError) as error:
        checkpoints.load(folder, WORLD)
    assert error.value.command == train_command("counts")


@pytest.mark.parametrize(
    "error",
    [KeyError("counts"), AttributeError("shape"), RuntimeError("size mismatch\nfor a\nfor b"), ValueError("sizes")],
)
@pytest.mark.parametrize("of", ["bytes", "model"])
def test_weights_that_a_model_cannot_take_are_refused_in_one_line(monkeypatch, error, of):
    folder = save()

    def fail(*arguments):
        raise error

    if of == "model":
        monkeypatch.setattr(fakes.Counts, "load_state", fail)
    else:
        meta = storage.read_document(folder / "meta.json")
        storage.write_document(folder / "meta.json", meta, {"weights.safetensors": b"no safetensors"})
    with pytest.raises(checkpoints.CheckpointError, match="another version of counts") as refused:
        checkpoints.load(folder, WORLD)
    assert "\n" not in str(refused.value)


# A fit belongs to the data that it learnt from


def test_another_film_list_is_refused_with_the_command():
    folder = save()
    with pytest.raises(
        checkpoints.CheckpointError, match="was trained on 20 films that are not the same as the 21 films of cycle"
    ) as error:
        checkpoints.load(folder, toys.cycle(n_items=21))
    assert error.value.command == train_command("counts")


def world(histories=HISTORIES, **other):
    """A small set; other: columns of its interactions."""
    made = toys.dataset(histories, 8, "cycle")
    return replace(made, interactions=replace(made.interactions, **other))


def reversed_in_time():
    return world([history[::-1] for history in HISTORIES])


def with_other_times():
    return world(timestamp=world().interactions.timestamp * 2)


def with_other_ratings():
    return world(rating=np.full(sum(map(len, HISTORIES)), 2, np.float32))


def test_item_knn_is_fitted_again_when_the_same_data_runs_backwards(monkeypatch):
    monkeypatch.setattr(registry, "get", REAL_MODELS)
    query = Queries([np.array([1, 2, 3])])
    forwards = checkpoints.load_or_fit("item-knn", world()).score(query)
    with pytest.warns(UserWarning, match="fitting again.*the data of cycle changed after item-knn was trained"):
        backwards = checkpoints.load_or_fit("item-knn", reversed_in_time()).score(query)
    fresh = registry.get("item-knn").model().fit(LEAVE_ONE_OUT(reversed_in_time()).train).score(query)
    assert not np.allclose(forwards, backwards)
    np.testing.assert_allclose(backwards, fresh)


@pytest.mark.parametrize("reject_stale", [True, False])
def test_what_is_fitted_on_first_use_is_fitted_again_for_other_data_and_then_kept(reject_stale):
    checkpoints.load_or_fit("counts", world(), reject_stale=reject_stale)
    with pytest.warns(UserWarning, match="fitting again"):
        again = checkpoints.load_or_fit("counts", reversed_in_time(), reject_stale=reject_stale)
    assert np.array_equal(again.counts, leave_one_out(reversed_in_time()).train.counts)
    checkpoints.load_or_fit("counts", reversed_in_time(), reject_stale=reject_stale)
    assert fakes.Counts.fits == 2


@pytest.mark.parametrize("changed", [with_other_times, with_other_ratings])
def test_times_and_ratings_matter_to_a_model_that_reads_them_and_to_no_other(monkeypatch, changed):
    checkpoints.load_or_fit("counts", world())
    checkpoints.load_or_fit("counts", changed())
    assert fakes.Counts.fits == 1
    monkeypatch.setattr(fakes.Counts, "uses_times_or_ratings", True)
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", changed())  # the kept fit does not say which times it read
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", world())
    checkpoints.load_or_fit("counts", world())
    assert fakes.Counts.fits == 3


@pytest.mark.parametrize("changed", [reversed_in_time, with_other_times])
def test_a_trained_model_is_not_measured_on_other_data_but_serves_it_with_a_warning(monkeypatch, changed):
    monkeypatch.setattr(fakes.Trained, "uses_times_or_ratings", True)
    model = fakes.VARIANTS["trained"].model().fit(leave_one_out(world()).train)
    checkpoints.save("trained", model, world(), 2)
    assert checkpoints.load_or_fit("trained", world(), reject_stale=True)
    with pytest.raises(
        checkpoints.CheckpointError, match="the data of cycle changed after trained was trained"
    ) as error:
        checkpoints.load_or_fit("trained", changed(), reject_stale=True)
    assert error.value.command == train_command("trained", "--seed", "2")
    with pytest.warns(UserWarning, match="fits less well"):
        assert np.array_equal(checkpoints.load_or_fit("trained", changed()).counts, model.counts)


def test_titles_matter_to_a_model_that_reads_them_and_to_no_other(monkeypatch):
    movies = WORLD.catalog.movies
    renamed = replace(WORLD, catalog=replace(WORLD.catalog, movies=movies.assign(title=movies["title"] + "!")))
    checkpoints.load_or_fit("counts", WORLD)
    checkpoints.load_or_fit("counts", renamed)
    assert fakes.Counts.fits == 1
    monkeypatch.setattr(fakes.Counts, "uses_item_texts", True)
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", WORLD)  # the kept fit does not say which texts it read
    checkpoints.load_or_fit("counts", WORLD)
    assert fakes.Counts.fits == 2
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", renamed)


def test_who_made_films_matters_to_a_model_that_reads_it_and_to_no_other(monkeypatch):
    monkeypatch.setattr(fakes.Counts, "uses_item_texts", True)
    richer = toys.enriched(WORLD, {100: {"directors": ["Ann Lee"]}})
    checkpoints.load_or_fit("counts", WORLD)
    checkpoints.load_or_fit("counts", richer)
    assert fakes.Counts.fits == 1
    monkeypatch.setattr(fakes.Counts, "uses_credits", True)
    checkpoints.load_or_fit("counts", WORLD)  # without details the texts are the same
    assert fakes.Counts.fits == 1
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", richer)
    checkpoints.load_or_fit("counts", richer)
    assert fakes.Counts.fits == 2


def test_a_change_of_the_tables_of_films_matters_to_a_model_that_uses_them_and_to_no_other(monkeypatch):
    monkeypatch.setattr(fakes.Counts, "uses_item_texts", True)
    monkeypatch.setattr(film_tables, "fingerprint", lambda dataset: "old tables")
    checkpoints.load_or_fit("counts", WORLD)
    monkeypatch.setattr(film_tables, "fingerprint", lambda dataset: "new tables")
    checkpoints.load_or_fit("counts", WORLD)
    assert fakes.Counts.fits == 1
    monkeypatch.setattr(fakes.Counts, "uses_field_vectors", True)
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", WORLD)
    version = checkpoints._member_version("counts", WORLD.name, 0, LEAVE_ONE_OUT)
    monkeypatch.setattr(film_tables, "fingerprint", lambda dataset: "newest tables")
    newest_version = checkpoints._member_version("counts", WORLD.name, 0, LEAVE_ONE_OUT)
    assert newest_version != version  # of a pool that has it
    monkeypatch.setattr(fields, "VERSION", fields.VERSION + 1)
    assert checkpoints._member_version("counts", WORLD.name, 0, LEAVE_ONE_OUT) != newest_version


def test_a_split_by_time_depends_on_times_whatever_the_model_reads():
    later = toys.over_days([[(0, 0), (1, 1), (2, 30)], [(3, 0), (4, 25), (5, 31)]] * 5)
    checkpoints.load_or_fit("counts", later, splitting=BY_TIME)
    times = later.interactions.timestamp.copy()
    times[0] += 60
    moved = replace(later, interactions=replace(later.interactions, timestamp=times))
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", moved, splitting=BY_TIME)
    assert fakes.Counts.fits == 2


def test_each_splitting_has_its_own_fits():
    spanning = toys.over_days([[(0, 0), (1, 1), (2, 30)], [(3, 0), (4, 25), (5, 31)]] * 5)
    whole, early = (
        checkpoints.load_or_fit("counts", spanning, splitting=splitting) for splitting in (LEAVE_ONE_OUT, BY_TIME)
    )
    assert np.array_equal(early.counts, BY_TIME(spanning).train.counts)
    assert not np.array_equal(early.counts, whole.counts)
    assert np.array_equal(checkpoints.load_or_fit("counts", spanning).counts, whole.counts)
    assert fakes.Counts.fits == 2
    folder = checkpoints.find("counts", "days", splitting=BY_TIME)
    assert storage.read_document(folder / "meta.json")["split"] == BY_TIME(spanning).description
    assert checkpoints.seeds("counts", "days", BY_TIME) == [0]


def test_a_fit_moved_from_one_splitting_to_another_is_not_used():
    spanning = toys.over_days([[(0, 0), (1, 1), (2, 30)], [(3, 0), (4, 25), (5, 31)]] * 5)
    folder = checkpoints.save("trained", fakes.VARIANTS["trained"].model().fit(spanning), spanning, 0)
    moved = paths.checkpoint("days", BY_TIME.name, "trained", 0)
    moved.parent.mkdir(parents=True)
    folder.rename(moved)
    with pytest.raises(checkpoints.CheckpointError, match="a different part of days") as error:
        checkpoints.load_or_fit("trained", spanning, splitting=BY_TIME)
    assert error.value.command.endswith("--protocol time")


# Whatever happens during a save


def test_a_full_disk_leaves_the_old_checkpoint(monkeypatch):
    folder = save()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(checkpoints.CheckpointError, match="No space left on device; free up disk space"):
            save(power=2.0)
    assert checkpoints.load(folder, WORLD).config.power == 1.0


# Which checkpoint there is


def test_this_machine_wins_over_what_is_shipped():
    theirs = shipped(seed=2)
    assert checkpoints.find("trained", "cycle") == theirs
    assert checkpoints.find("trained", "cycle", seed=2) == theirs
    assert checkpoints.find("trained", "cycle", seed=0) is None
    assert checkpoints.seeds("trained", "cycle") == [2]
    ours = {seed: save("trained", seed=seed) for seed in (10, 9)}
    (ours[9].parent / "seed-1").mkdir()  # a training that is not finished
    assert checkpoints.seeds("trained", "cycle") == [9, 10]
    assert checkpoints.find("trained", "cycle") == ours[9]
    assert checkpoints.find("trained", "cycle", seed=10) == ours[10]
    assert checkpoints.find("trained", "cycle", seed=2) == theirs


def test_the_stamp_changes_when_another_checkpoint_is_found_and_only_then():
    stamps = [checkpoints.checkpoint_version("trained", "cycle")]
    shipped()
    stamps.append(checkpoints.checkpoint_version("trained", "cycle"))
    save("trained", power=2.0)
    stamps.append(checkpoints.checkpoint_version("trained", "cycle"))
    save("trained", power=3.0)
    stamps.append(checkpoints.checkpoint_version("trained", "cycle"))
    assert len(set(stamps)) == 4
    assert checkpoints.checkpoint_version("trained", "cycle", BY_TIME) == stamps[0] == ""
    save("trained", power=3.0)
    save("trained", power=4.0, seed=1)  # not the one that is used
    assert checkpoints.checkpoint_version("trained", "cycle") == stamps[3]


def test_shipping_copies_weights_and_log():
    source = save("trained", seed=3)
    (source / "log.jsonl").write_text('{"epoch": 1}\n')
    target = checkpoints.ship("trained", "cycle", 3)
    assert target == paths.ASSETS / "checkpoints/cycle/leave-one-out/trained"
    assert (target / "log.jsonl").read_text() == '{"epoch": 1}\n'
    assert np.array_equal(checkpoints.load(target, WORLD).counts, fitted().counts)


def test_what_is_shipped_is_rounded_to_sixteen_bits_where_those_can_hold_it():
    numbers = np.array([0.1, -3.3333333, 65000.0], np.float32)
    state = {"few": numbers[:2], "large": numbers, "whole": np.array([70_000]), "none": numbers[:0]}
    half = load(to_bytes(checkpoints.to_float16(state)))
    assert [half[name].dtype for name in ("few", "large", "whole", "none")] == ["f2", "f4", "i8", "f2"]
    np.testing.assert_array_equal(half["few"], numbers[:2].astype(np.float16))
    np.testing.assert_array_equal(half["large"], numbers)


def test_models_get_numbers_of_32_bits_from_what_is_shipped(monkeypatch):
    known = {}

    def load_state(self, state, n_items):
        known.update(state)
        self.counts = state["counts"]

    target = shipped()
    monkeypatch.setattr(fakes.Counts, "load_state", load_state)
    monkeypatch.setattr(checkpoints, "weights_from_bytes", lambda weights: {"counts": np.array([0.5], np.float16)})
    checkpoints.load(target, WORLD)
    assert known["counts"].dtype == np.float32


def test_what_people_watched_is_never_shipped(monkeypatch):
    monkeypatch.setattr(fakes.Trained, "state_has_histories", True)
    save("trained")
    with pytest.raises(checkpoints.CheckpointError, match="people's histories"):
        checkpoints.ship("trained", "cycle", 0)
    assert not (paths.ASSETS / "checkpoints").exists()


def test_what_is_fitted_on_first_use_is_not_shipped():
    save("counts")
    with pytest.raises(checkpoints.CheckpointError, match="counts is fitted on first use"):
        checkpoints.ship("counts", "cycle", 0)


def test_a_damaged_shipped_checkpoint_is_restored_by_the_command_shown(home):
    git("init", "-q")
    folder = shipped()
    git("add", "assets")
    weights_of(folder).write_bytes(b"")
    with pytest.raises(checkpoints.CheckpointError) as error:
        checkpoints.load_or_fit("trained", WORLD)
    subprocess.run(error.value.command, shell=True, check=True, cwd="/")
    assert checkpoints.load_or_fit("trained", WORLD)


def test_counts_of_several_shipped_checkpoints_are_stored_once_and_restored_by_the_command_shown(home, monkeypatch):
    git("init", "-q")
    monkeypatch.setattr(checkpoints, "COUNT_PREFIXES", ("counts",))
    monkeypatch.setitem(fakes.VARIANTS, "twin", replace(fakes.VARIANTS["trained"], name="twin"))
    folders = [shipped("trained"), shipped("twin")]
    (counts,) = folders[0].parent.glob("*.safetensors")
    assert [list(load(weights_of(folder).read_bytes())) for folder in folders] == [["step"], ["step"]]
    assert all(np.array_equal(checkpoints.load(folder, WORLD).counts, fitted().counts) for folder in folders)
    git("add", "assets")
    counts.write_bytes(b"")
    with pytest.raises(checkpoints.CheckpointError, match=r"counts-.* is missing or damaged") as error:
        checkpoints.load(folders[1], WORLD)
    subprocess.run(error.value.command, shell=True, check=True, cwd="/")
    assert checkpoints.load(folders[1], WORLD)


def git(*arguments):
    subprocess.run(["git", "-C", str(paths.REPOSITORY), *arguments], check=True)


# Ready to score


def test_a_cheap_model_is_fitted_on_the_training_part_once_and_kept():
    for _ in range(2):
        model = checkpoints.load_or_fit("counts", WORLD)
        assert np.array_equal(model.counts, leave_one_out(WORLD).train.counts)
    assert fakes.Counts.fits == 1


def test_a_damaged_kept_fit_is_done_again():
    checkpoints.load_or_fit("counts", WORLD)
    folder = checkpoints.find("counts", "cycle")
    weights_of(folder).write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", WORLD)
    assert fakes.Counts.fits == 2
    assert checkpoints.load(folder, WORLD)


@pytest.mark.parametrize("damage", ["half of the file", "a setting that no longer exists"])
def test_a_fit_with_a_meta_file_that_cannot_be_used_is_not_ready(damage):
    checkpoints.load_or_fit("counts", WORLD)
    meta = checkpoints.find("counts", "cycle") / checkpoints.META
    if damage == "half of the file":
        meta.write_bytes(meta.read_bytes()[:200])
    else:
        document, payloads = storage.read_payloads(meta)
        config = document["config"] | {"size": 7}
        storage.write_document(meta, document | {"config": config}, {checkpoints.WEIGHTS: payloads[0]})
    assert not checkpoints.has_current_checkpoint("counts", "cycle")
    assert not checkpoints.is_ready("counts", "cycle")
    with pytest.warns(UserWarning, match="fitting again"):
        checkpoints.load_or_fit("counts", WORLD)
    assert checkpoints.is_ready("counts", "cycle")


def test_a_damaged_meta_file_of_a_model_that_needs_training_is_reported_and_not_fitted_again():
    (save("trained") / checkpoints.META).write_bytes(b"{}")
    assert checkpoints.is_ready("trained", "cycle")
    with pytest.raises(checkpoints.CheckpointError):
        checkpoints.load_or_fit("trained", WORLD)


def tuned_to(monkeypatch, power):
    """From now on the model has other tuned settings."""
    monkeypatch.setitem(presets.PRESETS, "counts", {"cycle": {"power": power}})


def test_a_fit_of_first_use_is_done_again_when_its_settings_have_been_tuned_anew(monkeypatch):
    checkpoints.load_or_fit("counts", WORLD)
    assert checkpoints.is_ready("counts", "cycle")
    tuned_to(monkeypatch, 0.5)
    assert not checkpoints.is_ready("counts", "cycle")
    with pytest.warns(UserWarning, match="fitting again.*the settings of counts have changed since it was fitted"):
        assert checkpoints.load_or_fit("counts", WORLD).config.power == 0.5
    assert checkpoints.is_ready("counts", "cycle")
    checkpoints.load_or_fit("counts", WORLD)
    assert fakes.Counts.fits == 2


def test_settings_that_somebody_chose_outlive_tuning(monkeypatch):
    save("counts", power=3.0)
    tuned_to(monkeypatch, 0.5)
    assert checkpoints.is_ready("counts", "cycle")
    assert checkpoints.load_or_fit("counts", WORLD).config.power == 3.0


def test_a_model_that_needs_training_is_asked_for_with_the_command():
    with pytest.raises(checkpoints.CheckpointError) as error:
        checkpoints.load_or_fit("trained", WORLD)
    assert str(error.value.message) == "no checkpoint for trained on cycle"
    assert error.value.command == train_command("trained")
    with pytest.raises(checkpoints.CheckpointError, match="split “time”") as error:
        checkpoints.load_or_fit("trained", WORLD, seed=4, splitting=BY_TIME)
    assert error.value.command == train_command("trained", "--protocol", "time", "--seed", "4")


def test_a_fit_that_cannot_be_kept_still_answers(monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage, "replace_file", full)
    with pytest.warns(UserWarning, match="No space left"):
        assert checkpoints.load_or_fit("counts", WORLD).counts.sum() > 0


def test_threads_that_come_at_once_share_one_fit(monkeypatch):
    fit = fakes.Counts.fit
    monkeypatch.setattr(fakes.Counts, "fit", lambda *arguments: (time.sleep(0.05), fit(*arguments))[1])
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(checkpoints.load_or_fit("counts", WORLD))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert fakes.Counts.fits == 1
