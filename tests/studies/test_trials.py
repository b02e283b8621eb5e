from dataclasses import replace

import numpy as np
import pytest

from recsys import boards, checkpoints, paths, storage
from recsys.data.split import LEAVE_ONE_OUT
from recsys.evaluation.protocols import FULL, UNTIED_FULL
from recsys.evaluation.rank import rank_held_out
from recsys.models import registry
from recsys.studies import trials
from recsys.studies.trials import Trial
from recsys.training.options import RunOptions
from tests import toys

SMALL = {"dim": 8, "length": 6, "epochs": 1, "batch_size": 64}


@pytest.fixture
def trainings(monkeypatch):
    """The seeds of the trainings, in order."""
    seeds, train = [], trials._train

    def spy(trial, *others):
        seeds.append(trial.seed)
        return train(trial, *others)

    monkeypatch.setattr(trials, "_train", spy)
    return seeds


def test_a_trial_is_trained_once_and_stores_the_ranks_of_the_held_out_films(small_cycle, trainings):
    trial = Trial("gru4rec-ce", SMALL, seed=3)
    assert trials.read(trial, small_cycle, FULL) is None
    outcome = trials.measure(trial, small_cycle, FULL)
    again = trials.measure(trial, small_cycle, FULL)
    np.testing.assert_array_equal(outcome.ranks, again.ranks)
    assert trainings == [3]
    split = FULL.split(small_cycle)
    model = registry.get("gru4rec-ce").model(trial.config("cycle")).fit(split.train, split.valid, RunOptions(seed=3))
    np.testing.assert_array_equal(outcome.ranks, rank_held_out(model, split.test, FULL, small_cycle).ranks)
    assert outcome.valid == again.valid == model.training_summary.validation


def test_other_settings_seeds_data_and_protocols_are_other_trials(small_cycle, trainings):
    trial = Trial("gru4rec-ce", SMALL)
    trials.measure(trial, small_cycle, FULL)
    others = [replace(trial, seed=1), replace(trial, changes=SMALL | {"dropout": 0.3})]
    for other in others:
        assert trials.read(other, small_cycle, FULL) is None
    assert trials.read(trial, small_cycle, UNTIED_FULL) is None
    assert trials.read(trial, toys.cycle(n_users=41, length=8), FULL) is None  # the same name, other people
    assert trials.read(replace(trial, changes=SMALL | {"dropout": 0.1}), small_cycle, FULL) is not None  # its default


def test_a_trial_with_other_ratings_or_times_is_run_again(small_cycle, trainings):
    trial = Trial("user-knn", {"neighbours": 3})
    trials.measure(trial, small_cycle, FULL)
    events = small_cycle.interactions
    for other in (replace(events, rating=events.rating + 1), replace(events, timestamp=events.timestamp + 1)):
        assert trials.read(trial, replace(small_cycle, interactions=other), FULL) is None
    assert trials.read(trial, small_cycle, FULL) is not None
    board = paths.trials(paths.home(), "cycle", "full")
    [[name, document]] = boards.read(board).items()
    older = {key: value for key, value in document.items() if key != "data_sha256"}
    boards.update(board, {name: older}, boards.read_ranks(board, [name]))
    assert trials.read(trial, small_cycle, FULL) is not None


def test_a_damaged_trial_is_run_again_with_a_warning(small_cycle, trainings):
    trial = Trial("gru4rec-ce", SMALL)
    trials.measure(trial, small_cycle, FULL)
    path = paths.trials(paths.home(), "cycle", "full")
    path.write_bytes(path.read_bytes().replace(b"cycle", b"cicle"))
    with pytest.warns(match="so its content is lost"), pytest.warns(match="so a trial is run again"):
        trials.measure(trial, small_cycle, FULL)
    assert trainings == [0, 0]
    assert len(trials.read(trial, small_cycle, FULL).ranks) == 40


def test_a_trial_of_an_older_program_is_read_and_shipped(small_cycle, trainings, monkeypatch):
    trial = Trial("gru4rec-ce", SMALL)
    outcome = trials.measure(trial, small_cycle, FULL)
    board = paths.trials(paths.home(), "cycle", "full")
    document = boards.read(board)[trial.name("cycle")]
    board.unlink()
    older_document = document | {"ranks": " ".join(map(str, outcome.ranks))}
    storage.write_document(trial.folder("cycle", "full") / trials.OLDER_FILE, older_document)
    older = trials.read(trial, small_cycle, FULL)
    np.testing.assert_array_equal(older.ranks, outcome.ranks)
    assert (older.valid, older.training, older.run) == (outcome.valid, outcome.training, outcome.run)
    monkeypatch.setattr(paths, "ASSETS", paths.home() / "assets")
    trials.ship(trial, small_cycle, FULL)
    shipped = paths.trials(paths.ASSETS, "cycle", "full")
    assert boards.read(shipped) == {trial.name("cycle"): document}
    assert trainings == [0]


def test_a_shipped_trial_is_not_run_on_another_machine(small_cycle, trainings, tmp_path, monkeypatch):
    trial = Trial("gru4rec-ce", SMALL)
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    outcome = trials.measure(trial, small_cycle, FULL)
    trials.ship(trial, small_cycle, FULL)
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "another"))
    np.testing.assert_array_equal(trials.measure(trial, small_cycle, FULL).ranks, outcome.ranks)
    assert trainings == [0]
    assert trials.read(trial, toys.cycle(n_users=41, length=8), FULL) is None
    trials.ship(trial, small_cycle, FULL)  # it is there already, and not on this machine
    assert trials.read(trial, small_cycle, FULL) is not None


def test_a_trial_without_training_is_not_shipped(small_cycle, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    trials.measure(Trial("markov"), small_cycle, FULL)
    trials.ship(Trial("markov"), small_cycle, FULL)
    assert not (tmp_path / "assets").exists()


def test_a_locked_trial_is_left_to_the_other_process(small_cycle, trainings):
    trial = Trial("gru4rec-ce", SMALL)
    folder = trial.folder("cycle", "full")
    folder.mkdir(parents=True)
    with storage.try_locked(folder / trials.LOCK) as alone:
        assert alone
        assert trials.measure(trial, small_cycle, FULL) is None
    assert trainings == []
    assert trials.measure(trial, small_cycle, FULL) is not None


def test_a_checkpoint_with_the_same_config_is_not_trained_again(small_cycle, trainings):
    trial, split = Trial("gru4rec-ce", SMALL), FULL.split(small_cycle)
    model = registry.get("gru4rec-ce").model(trial.config("cycle")).fit(split.train, split.valid, RunOptions())
    checkpoints.save("gru4rec-ce", model, small_cycle, 0, {"validation": {"ndcg@10": 0.5}}, LEAVE_ONE_OUT)
    outcome = trials.measure(trial, small_cycle, FULL)
    assert trainings == []
    assert outcome.valid == {"ndcg@10": 0.5}
    trials.measure(replace(trial, seed=1), small_cycle, FULL)
    trials.measure(replace(trial, changes=SMALL | {"dim": 16}), small_cycle, FULL)
    assert trainings == [1, 0]


def test_a_checkpoint_of_another_recommender_with_the_same_config_is_used(small_cycle, trainings):
    plain, split = Trial("sasrec-softmax", SMALL), FULL.split(small_cycle)
    model = registry.get("sasrec-softmax").model(plain.config("cycle")).fit(split.train, split.valid, RunOptions())
    checkpoints.save("sasrec-softmax", model, small_cycle, 0, {"validation": {"ndcg@10": 0.5}}, LEAVE_ONE_OUT)
    without = {"memory": False, "redraw": False, "only_unseen": False}
    outcome = trials.measure(Trial("sasrec-memory", SMALL | without), small_cycle, FULL)
    assert trainings == []
    np.testing.assert_array_equal(outcome.ranks, trials.measure(plain, small_cycle, FULL).ranks)
    trials.measure(Trial("sasrec-memory", SMALL | {"memory": False}), small_cycle, FULL)
    assert trainings == [0]


def test_a_checkpoint_with_a_count_model_serves_the_trial_without_it(small_cycle, trainings):
    trial, split = Trial("sasrec-memory", SMALL), FULL.split(small_cycle)
    model = registry.get("sasrec-memory").model(trial.config("cycle")).fit(split.train, split.valid, RunOptions())
    checkpoints.save("sasrec-memory", model, small_cycle, 0, {}, LEAVE_ONE_OUT)
    alone = trials.measure(Trial("sasrec-memory", SMALL | {"memory": False}), small_cycle, FULL)
    both = trials.measure(trial, small_cycle, FULL)
    assert trainings == []
    np.testing.assert_array_equal(both.ranks, rank_held_out(model, split.test, FULL, small_cycle).ranks)
    model.remove_count_memory()
    np.testing.assert_array_equal(alone.ranks, rank_held_out(model, split.test, FULL, small_cycle).ranks)
    assert (alone.ranks != both.ranks).any()


def test_a_trial_of_a_mixture_needs_its_trained_members(small_cycle):
    trial, split = Trial("sasrec-memory", SMALL), FULL.split(small_cycle)
    with pytest.raises(checkpoints.CheckpointError, match="no checkpoint for sasrec-memory"):
        trials.measure(Trial("lift"), small_cycle, FULL)
    model = registry.get("sasrec-memory").model(trial.config("cycle")).fit(split.train, split.valid, RunOptions())
    checkpoints.save("sasrec-memory", model, small_cycle, 0, {}, LEAVE_ONE_OUT)
    as_it_is = trials.measure(Trial("lift", {"power": 0.0}), small_cycle, FULL)
    np.testing.assert_array_equal(as_it_is.ranks, rank_held_out(model, split.test, FULL, small_cycle).ranks)


def test_a_trial_of_a_mixture_is_measured_again_when_a_member_was_trained_again(small_cycle):
    def train(**changes):
        config, split = Trial("sasrec-memory", SMALL | changes).config("cycle"), FULL.split(small_cycle)
        model = registry.get("sasrec-memory").model(config).fit(split.train, split.valid, RunOptions())
        checkpoints.save("sasrec-memory", model, small_cycle, 0, {}, LEAVE_ONE_OUT)

    trial = Trial("lift", {"power": 0.0})
    train()
    before = trials.measure(trial, small_cycle, FULL)
    assert trials.read(trial, small_cycle, FULL) is not None
    train(memory=False, epochs=3)
    assert trials.read(trial, small_cycle, FULL) is None
    after = trials.measure(trial, small_cycle, FULL)
    assert (after.ranks != before.ranks).any()


def test_a_memory_counts_with_the_settings_that_are_tuned_for_the_data_set(small_cycle, monkeypatch):
    runs, usual = [], trials.RunOptions
    monkeypatch.setattr(
        trials, "RunOptions", lambda *given, **options: runs.append(options) or usual(*given, **options)
    )
    trial = Trial("sasrec-memory", SMALL)
    trials.measure(trial, replace(small_cycle, name="ml-latest-small"), FULL)
    assert runs[0]["count_configs"].markov == registry.get("markov").preset("ml-latest-small")
