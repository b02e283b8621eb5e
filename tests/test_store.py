import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from recsys import files, paths, store
from recsys.data.schema import Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.models.base import NoConfig
from tests import fakes, toys

WORLD = toys.cycle()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home and empty assets; the fakes are the only models."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    monkeypatch.setattr(paths, "REPOSITORY", tmp_path)
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    monkeypatch.setattr(fakes.Counts, "fits", 0)
    return tmp_path / "home"


def fitted(power=1.0, cls=fakes.Counts):
    return cls(fakes.CountsConfig(power)).fit(leave_one_out(WORLD).train)


def save(folder, variant="counts", power=1.0, seed=0):
    store.save(folder, variant, fitted(power, fakes.VARIANTS[variant]), WORLD, seed, {"epochs": 3})
    return folder


def test_a_loaded_model_scores_like_the_saved_one_and_has_its_settings(tmp_path):
    model = store.load(save(tmp_path / "kept", power=0.5), WORLD)
    queries = Queries([np.array([1, 2]), np.array([], int)])
    assert np.array_equal(model.score(queries), fitted(0.5).score(queries))
    assert model.config == fakes.CountsConfig(0.5)
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"meta.json", "weights.safetensors"}


def test_views_of_arrays_are_saved_as_what_they_show(tmp_path):
    model = fitted()
    model.counts = np.arange(40, dtype=np.float32)[::2]
    store.save(tmp_path, "counts", model, WORLD, 0)
    assert np.array_equal(store.load(tmp_path, WORLD).counts, model.counts)


def test_another_film_list_is_refused_and_the_line_to_type_is_named(tmp_path):
    folder = save(tmp_path / "kept")
    with pytest.raises(store.StoreError, match="not the 21 of cycle; run: python -m recsys train counts"):
        store.load(folder, toys.cycle(n_items=21))


def test_other_histories_of_the_same_films_only_warn(tmp_path):
    with pytest.warns(UserWarning, match="other histories"):
        assert store.load(save(tmp_path), toys.cycle(seed=1)).counts.sum() > 0


def test_no_truncation_and_no_altered_bit_loads(tmp_path):
    folder, rng = save(tmp_path), np.random.default_rng(0)
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for length in rng.integers(len(whole), size=50):
            path.write_bytes(whole[:length])
            with pytest.raises(store.StoreError):
                store.load(folder, WORLD)
        for bit in rng.integers(8 * len(whole), size=200):
            altered = bytearray(whole)
            altered[bit // 8] ^= 1 << bit % 8
            path.write_bytes(altered)
            with pytest.raises(store.StoreError):
                store.load(folder, WORLD)
        path.write_bytes(whole)
    assert store.load(folder, WORLD)


@pytest.mark.parametrize("name", ["meta.json", "weights.safetensors"])
def test_a_missing_file_is_refused_with_a_remedy(tmp_path, name):
    (save(tmp_path / "kept") / name).unlink()
    with pytest.raises(store.StoreError, match="train the model again"):
        store.load(tmp_path / "kept", WORLD)


def test_settings_of_another_version_are_refused(tmp_path, monkeypatch):
    save(tmp_path)
    monkeypatch.setattr(fakes.Counts, "Config", NoConfig)
    with pytest.raises(store.StoreError, match="another version of counts"):
        store.load(tmp_path, WORLD)


def test_a_save_killed_at_any_step_leaves_the_old_or_the_new(tmp_path):
    found, folder = [], tmp_path / "kept"
    for step in range(20):
        save(folder, power=1.0)
        code = save_and_die(folder, 2.0, step)
        found.append(store.load(folder, WORLD).config.power)
        if code == 0:
            break
        assert code == 9
    assert code == 0
    assert found == sorted(found)
    assert set(found) == {1.0, 2.0}
    assert len(list(folder.iterdir())) == 2


def test_a_save_killed_twice_leaves_one_of_the_three(tmp_path):
    left_over = 0
    for first in range(9):
        folder = save(tmp_path / str(first), power=1.0)
        save_and_die(folder, 2.0, first)
        if not list(folder.glob("*.next")):
            continue
        left_over += 1
        for second in range(9):
            again = shutil.copytree(folder, tmp_path / f"{first}-{second}")
            save_and_die(again, 3.0, second)
            assert store.load(again, WORLD).config.power in (1.0, 2.0, 3.0)
    assert left_over


def save_and_die(folder, power, step):
    """Save in a child process that dies at its disk call number `step`; its exit code: 9, or 0 when it got through."""
    if (child := os.fork()) == 0:
        try:
            die_at(step)
            save(folder, power=power)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at(step):
    """Patch this (child) process so that its disk call number `step` never happens."""
    left = [step]

    def dying(call):
        def instead(*arguments, **options):
            left[0] -= 1
            return os._exit(9) if left[0] < 0 else call(*arguments, **options)

        return instead

    os.replace, os.fsync = dying(os.replace), dying(os.fsync)
    Path.unlink = dying(Path.unlink)


SAVE_FOR_EVER = """
import sys, itertools, pathlib
from tests import test_store
for power in itertools.cycle([1.0, 2.0]):
    test_store.save(pathlib.Path(sys.argv[1]), power=power)
    print("saved", flush=True)
"""


def test_a_save_killed_from_outside_leaves_a_checkpoint_that_loads(tmp_path):
    rng = np.random.default_rng(0)
    for round_ in range(2):
        folder = tmp_path / str(round_)
        command = [sys.executable, "-c", SAVE_FOR_EVER, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent) as saving:
            assert saving.stdout.readline() == b"saved\n"
            time.sleep(rng.uniform(0, 0.05))
            saving.send_signal(signal.SIGKILL)
        assert store.load(folder, WORLD).config.power in (1.0, 2.0)


def test_a_full_disk_leaves_the_old_checkpoint_and_nothing_else(tmp_path, monkeypatch):
    folder, sync = save(tmp_path / "kept"), os.fsync
    for step in range(2):  # the weights do not fit; the weights fit and the document does not
        calls = iter(range(100))

        def full(handle, step=step, calls=calls):
            if next(calls) == step * 2:  # every file is followed by its folder
                raise OSError(errno.ENOSPC, "No space left on device")
            sync(handle)

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(store.StoreError, match="No space left on device; make room"):
            save(folder, power=2.0)
        monkeypatch.setattr(os, "fsync", sync)
        assert store.load(folder, WORLD).config.power == 1.0
        assert len(list(folder.iterdir())) == 2


def test_this_machine_wins_over_what_is_shipped():
    shipped = save(paths.shipped_checkpoint("cycle", "trained"), "trained", seed=2)
    assert store.find("trained", "cycle") == shipped
    assert store.find("trained", "cycle", seed=2) == shipped
    assert store.find("trained", "cycle", seed=0) is None
    assert store.seeds("trained", "cycle") == [2]
    for seed in (10, 9):
        save(paths.checkpoint("cycle", "trained", seed), "trained", seed=seed)
    paths.checkpoint("cycle", "trained", 1).mkdir()  # a training that is not finished
    assert store.seeds("trained", "cycle") == [9, 10]
    assert store.find("trained", "cycle") == paths.checkpoint("cycle", "trained", 9)
    assert store.find("trained", "cycle", seed=10) == paths.checkpoint("cycle", "trained", 10)
    assert store.find("trained", "cycle", seed=2) == shipped


def test_shipping_copies_weights_and_log():
    source = save(paths.checkpoint("cycle", "trained", 3), "trained", seed=3)
    (source / "log.jsonl").write_text('{"epoch": 1}\n')
    target = store.ship("trained", "cycle", 3)
    assert (target / "log.jsonl").read_text() == '{"epoch": 1}\n'
    assert np.array_equal(store.load(target, WORLD).counts, fitted().counts)


def test_what_people_watched_is_never_shipped(monkeypatch):
    monkeypatch.setattr(fakes.Trained, "holds_histories", True)
    save(paths.checkpoint("cycle", "trained", 0), "trained")
    with pytest.raises(store.StoreError, match="what people watched"):
        store.ship("trained", "cycle", 0)
    assert not paths.shipped_checkpoint("cycle", "trained").exists()


def test_a_damaged_shipped_checkpoint_says_how_to_restore_it():
    folder = save(paths.shipped_checkpoint("cycle", "trained"), "trained")
    (folder / "weights.safetensors").write_bytes(b"")
    with pytest.raises(store.StoreError, match="git checkout -- assets/checkpoints/cycle/trained"):
        store.ready("trained", WORLD)


def test_a_cheap_model_is_fitted_on_the_training_part_once_and_kept():
    for _ in range(2):
        model = store.ready("counts", WORLD)
        assert np.array_equal(model.counts, leave_one_out(WORLD).train.counts)
    assert fakes.Counts.fits == 1


def test_a_damaged_kept_fit_is_done_again():
    store.ready("counts", WORLD)
    folder = paths.checkpoint("cycle", "counts", 0)
    (folder / "weights.safetensors").write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match="fitting again"):
        store.ready("counts", WORLD)
    assert fakes.Counts.fits == 2
    assert store.load(folder, WORLD)


def test_a_model_that_must_be_trained_is_asked_for_with_the_line_to_type():
    with pytest.raises(store.StoreError) as error:
        store.ready("trained", WORLD)
    assert str(error.value) == "no checkpoint for trained on cycle; run: python -m recsys train trained --dataset cycle"
    with pytest.raises(store.StoreError, match=r"--seed 4$"):
        store.ready("trained", WORLD, seed=4)


def test_a_fit_that_cannot_be_kept_still_answers(monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write", full)
    with pytest.warns(UserWarning, match="No space left"):
        assert store.ready("counts", WORLD).counts.sum() > 0


def test_threads_that_ask_at_once_share_one_fit(monkeypatch):
    fit = fakes.Counts.fit
    monkeypatch.setattr(fakes.Counts, "fit", lambda *arguments: (time.sleep(0.05), fit(*arguments))[1])
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(store.ready("counts", WORLD))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert fakes.Counts.fits == 1


def test_reading_waits_until_a_save_is_through(tmp_path):
    save(tmp_path, power=1.0)
    answers = []
    reader = threading.Thread(target=lambda: answers.append(store.load(tmp_path, WORLD).config.power))
    with files.locked(tmp_path):  # as `save` holds it
        reader.start()
        time.sleep(0.1)
        assert not answers
    reader.join()
    assert answers == [1.0]
