import os
import re
import shlex

import pytest

from recsys import checkpoints, paths
from recsys.cli import train
from recsys.cli.main import main
from recsys.data import datasets, prepared
from recsys.data.split import BY_TIME, LEAVE_ONE_OUT
from recsys.evaluation import results
from recsys.models import presets, registry
from recsys.models.popular import Popular
from recsys.storage import read_document
from recsys.training.trainer import RunFolder, Trainer
from tests import toys
from tests.artifacts import payload

SMALL = shlex.split("--dim 8 --length 12 --epochs 3 --batch-size 32 --validate-every 1 --warmup-steps 5 --device cpu")


def checkpoint(variant="bert4rec", seed=0):
    return paths.checkpoint("ml-latest-sample", LEAVE_ONE_OUT.name, variant, seed)


def kept(folder):
    """What counts in a checkpoint's folder, file by file."""
    weights = payload(folder / checkpoints.META, checkpoints.WEIGHTS)
    return {path.name: path.read_bytes() for path in (folder / checkpoints.META, weights, folder / paths.LOG)}


def settings(*arguments):
    return train.train(arguments).settings


def notes(variant, splitting=LEAVE_ONE_OUT, seed=0):
    folder = paths.checkpoint("ml-latest-sample", splitting.name, variant, seed)
    return read_document(folder / checkpoints.META)["notes"]


def test_every_setting_is_a_flag_and_those_of_the_schedule_come_out_flat():
    found = settings("bert4rec", "--epochs", "4", "--no-pmi-init", "--dropout", "0.5", "--crop", "windows")
    assert (found.schedule.epochs, found.pmi_init, found.dropout, found.crop) == (4, False, 0.5, "windows")
    assert settings("item-knn", "--weighting", "bm25").weighting == "bm25"


def test_what_is_not_said_is_as_tuned_for_the_data_set():
    for name in ("ml-1m", "ml-latest-sample", "unheard-of"):
        assert settings("bert4rec", "--dataset", name) == registry.get("bert4rec").preset(name)
    other = settings("bert4rec", "--epochs", "4", "--dataset", "ml-latest-sample")
    assert other.schedule.batch_size == registry.get("bert4rec").preset("ml-latest-sample").schedule.batch_size


@pytest.mark.parametrize("name", registry.names())
def test_every_flag_of_every_recommender_is_explained(name, capsys):
    with pytest.raises(SystemExit) as end:
        train.train([name, "--help"])
    assert end.value.code == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").replace("|", " ").split())
    assert "--save-every FLOAT seconds between" in shown
    assert re.findall(r"(--[a-z0-9-]+)(?: --no-\S+)?(?: [A-Z]+| \{\S+\}| \[\S+ \[.+?\]\])? \(default", shown) == []


def test_the_people_of_another_set_are_learnt_from_too_and_the_result_says_so(toy_home, capsys):
    others = [[((user + day) % 20, 100 + day) for day in range(9)] for user in range(5)]
    prepared.save(toys.over_days(others, 20, "ml-1m"), {})
    assert main(["train", "bert4rec", *SMALL, "--also", "ml-1m"]) == 0
    known = read_document(paths.checkpoint("ml-latest-sample", "leave-one-out", "bert4rec", 0) / checkpoints.META)
    assert known["also"] == "ml-1m"
    assert main(["evaluate", "bert4rec", "--protocol", "full"]) == 0
    assert results.load("ml-latest-sample", "full", "bert4rec")["also"] == "ml-1m"


def test_for_a_split_by_time_nothing_later_is_learnt_from_the_people_of_another_set(toy_home, monkeypatch):
    """The protocol by date would know what came after its cut."""
    others = [[((user - day) % 20, day) for day in range(20)] for user in range(5)]
    prepared.save(toys.over_days(others, 20, "ml-1m"), {})
    seen = []
    fit = Popular.fit
    monkeypatch.setattr(Popular, "fit", lambda self, train, *more: seen.append(train) or fit(self, train, *more))
    assert main(["train", "popular", "--protocol", "time", "--also", "ml-1m"]) == 0
    assert main(["train", "popular", "--also", "ml-1m"]) == 0
    by_time, whole = seen
    own = BY_TIME(datasets.load("ml-latest-sample")).train.interactions
    assert by_time.interactions.timestamp.max() == own.timestamp.max() < whole.interactions.timestamp.max()
    assert len(by_time.interactions) > len(own)


def test_a_checkpoint_remembers_the_epoch_whose_weights_it_holds(toy_home, capsys):
    assert main(["train", "bert4rec", *SMALL]) == 0
    capsys.readouterr()
    assert main(["evaluate", "bert4rec", "--part", "valid"]) == 0
    measured = {row.split()[0]: float(row.split()[1]) for row in capsys.readouterr().out.splitlines()[2:]}
    kept = notes("bert4rec")
    assert kept["epochs"] == 3
    assert kept["device"] == "cpu"
    assert 1 <= kept["best_epoch"] <= 3
    assert kept["validation"]["ndcg@10"] == pytest.approx(measured["ndcg@10"], abs=1e-4)


def test_a_memory_counts_with_the_settings_that_are_tuned_for_the_data_set(toy_home, monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "markov", {"ml-latest-sample": {"recent": 2, "history_decay": 0.5}})
    assert main(["train", "sasrec-memory", *SMALL]) == 0
    model = checkpoints.load(checkpoint("sasrec-memory"), datasets.load("ml-latest-sample"))
    assert (model.count_memory.markov.config.recent, model.count_memory.markov.config.history_decay) == (2, 0.5)


def test_protocols_that_split_alike_share_what_is_trained_and_others_do_not(toy_home):
    assert main(["train", "popular", "--protocol", "popularity-100"]) == 0
    assert main(["train", "popular", "--protocol", "time", "--seed", "4"]) == 0
    assert checkpoints.find("popular", "ml-latest-sample", 0, LEAVE_ONE_OUT)
    assert checkpoints.find("popular", "ml-latest-sample", 0, BY_TIME) is None
    assert checkpoints.find("popular", "ml-latest-sample", 4, BY_TIME)


def test_a_mixture_is_of_whom_one_likes_and_stays_so(toy_home, capsys):
    assert main(["train", "hybrid", "--members", "markov", "popular", "--edges", "4"]) == 0
    assert main(["evaluate", "hybrid"]) == 0
    config = results.load("ml-latest-sample", "full", "hybrid")["config"]
    assert (config["members"], config["edges"]) == (["markov", "popular"], [4])
    assert main(["recommend", "--model", "hybrid", "Film 3"]) == 0
    assert "Film 4" in capsys.readouterr().out.splitlines()[-10]
    assert checkpoints.find("sasrec-softmax", "ml-latest-sample") is None


def test_a_finished_run_leaves_nothing_to_resume(toy_home):
    assert main(["train", "bert4rec", *SMALL, "--save-every", "0"]) == 0
    assert not (paths.checkpoint("ml-latest-sample", LEAVE_ONE_OUT.name, "bert4rec", 0) / RunFolder.STATE).exists()


def test_resume_without_a_stopped_training_starts_one_but_does_not_replace_a_finished_one(toy_home, capsys):
    assert main(["train", "bert4rec", *SMALL, "--resume"]) == 0
    notice = "there is no stopped training of bert4rec on ml-latest-sample with seed 0"
    assert f"{notice}; it starts from the beginning" in capsys.readouterr().err
    before = kept(checkpoint())
    assert main(["train", "bert4rec", *SMALL, "--resume"]) == 1
    assert f"{notice}, only a finished one; to train again, leave out --resume" in capsys.readouterr().err
    assert kept(checkpoint()) == before


WRONG = ["--epochs 0", "--batch-size -5", "--lr nan", "--lr inf", "--dropout 1.5", "--heads 3", "--seed -1"]


def test_settings_that_cannot_work_are_one_line_that_names_the_flag_and_leave_the_checkpoint_as_it_was(
    toy_home, capsys
):
    assert main(["train", "bert4rec", *SMALL]) == 0
    before = kept(checkpoint())
    for words in WRONG:
        flag, value = words.split()
        capsys.readouterr()
        assert main(["train", "bert4rec", *SMALL, flag, value]) == 1, words
        (line,) = capsys.readouterr().err.splitlines()
        assert "must be" in line
        assert flag.removeprefix("--") in line
        assert value in line
    assert kept(checkpoint()) == before
    assert paths.seeds("ml-latest-sample", LEAVE_ONE_OUT.name, "bert4rec") == [0]


def test_a_run_that_fails_leaves_checkpoint_and_log_of_the_one_before(toy_home, monkeypatch, capsys):
    assert main(["train", "bert4rec", *SMALL]) == 0
    before = kept(checkpoint())
    update = Trainer.update

    def broken_in_the_third_epoch(self, batch):
        if len(self.events) == 2:
            self.all_finite.zero_()
            self.raise_if_not_finite()
        update(self, batch)

    monkeypatch.setattr(Trainer, "update", broken_in_the_third_epoch)
    assert main(["train", "bert4rec", *SMALL, "--epochs", "9"]) == 1
    assert "train again with a lower --lr" in capsys.readouterr().err
    assert kept(checkpoint()) == before


@pytest.mark.parametrize("variant", ["bert4rec", "markov"])
def test_a_second_training_of_the_same_says_who_is_at_it_and_leaves_that_one_alone(toy_home, capsys, variant):
    small = SMALL if variant == "bert4rec" else []
    assert main(["train", variant, *small]) == 0
    before = {path.name: path.read_bytes() for path in checkpoint(variant).iterdir() if path.name != RunFolder.LOCK}
    capsys.readouterr()
    with RunFolder(checkpoint(variant)).lock():
        assert main(["train", variant, *small]) == 1
        assert f"process {os.getpid()} is training in {checkpoint(variant)}; wait" in capsys.readouterr().err
        now = {path.name: path.read_bytes() for path in checkpoint(variant).iterdir() if path.name != RunFolder.LOCK}
        assert now == before
        assert main(["train", variant, *small, "--seed", "1"]) == 0
    assert main(["train", variant, *small]) == 0  # the first is over


def test_the_lock_is_held_until_the_weights_are_kept(toy_home, monkeypatch):
    save, tried = checkpoints.save, []

    def meanwhile(*given):
        tried.append(main(["train", "markov"]))
        return save(*given)

    monkeypatch.setattr(checkpoints, "save", meanwhile)
    assert main(["train", "markov"]) == 0
    assert tried == [1]
