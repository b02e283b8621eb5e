import dataclasses
import functools
import json

import pytest
import torch

from recsys import paths
from recsys.data.split import leave_one_out
from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.training import device, loop, resume
from recsys.training.run import Run
from tests import toys

CONFIG = Bert4RecConfig(dim=8, length=12, epochs=4, batch_size=16, warmup=5, validate_every=1, averaging=0.9)
SPLIT = leave_one_out(toys.cycle(n_items=8, n_users=40, length=8))


class KilledError(Exception):
    """Stands for kill -9."""


def fit(folder, resume=False, seed=0, config=CONFIG, stop_after=99):
    """Train; killed before the epoch after `stop_after` is told of. The state is kept after every step."""

    def report(event):
        if event["epoch"] > stop_after:
            raise KilledError

    run = Run(seed, "cpu", folder, resume, report, save_every=0)
    return Bert4Rec(config).fit(SPLIT.train, SPLIT.valid, run)


def weights(model):
    return {name: torch.from_numpy(value) for name, value in model.state().items()}


def lines(folder):
    keep = ("epoch", "loss", "ndcg@10", "best")
    return [{name: json.loads(line)[name] for name in keep} for line in (folder / paths.LOG).read_text().splitlines()]


def test_a_run_cut_off_goes_on_bit_for_bit(tmp_path):
    whole = fit(tmp_path / "whole")
    with pytest.raises(KilledError):
        fit(tmp_path / "cut", stop_after=2)
    resumed = fit(tmp_path / "cut", resume=True)
    torch.testing.assert_close(weights(resumed), weights(whole), rtol=0, atol=0)
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 12])
def test_a_run_killed_after_any_step_goes_on_bit_for_bit(tmp_path, monkeypatch, steps):
    whole = fit(tmp_path / "whole")
    keep, kept = resume.save, []

    def keep_then_die(folder, state):
        keep(folder, state)
        kept.append(state["progress"][0])
        if len(kept) == steps:
            raise KilledError

    monkeypatch.setattr(resume, "save", keep_then_die)
    with pytest.raises(KilledError):
        fit(tmp_path / "cut")
    assert kept == list(range(1, steps + 1))
    monkeypatch.setattr(resume, "save", keep)
    resumed = fit(tmp_path / "cut", resume=True)
    torch.testing.assert_close(weights(resumed), weights(whole), rtol=0, atol=0)
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")


def test_a_finished_run_resumed_is_finished_at_once(tmp_path):
    """So a kill between the end of training and the writing of the checkpoint costs nothing."""
    whole = fit(tmp_path)
    told = []
    again = Bert4Rec(CONFIG).fit(SPLIT.train, SPLIT.valid, Run(0, "cpu", tmp_path, True, told.append))
    torch.testing.assert_close(weights(again), weights(whole), rtol=0, atol=0)
    assert told == []


def test_the_state_is_kept_once_an_interval_and_at_the_end(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(resume, "save", lambda folder, state: kept.append(state["progress"][0]))
    Bert4Rec(CONFIG).fit(SPLIT.train, SPLIT.valid, Run(0, "cpu", tmp_path, save_every=3600))
    assert kept == [4 * 3]


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path):
    first, again, other = fit(None), fit(None), fit(None, seed=1)
    torch.testing.assert_close(weights(first), weights(again), rtol=0, atol=0)
    assert not torch.equal(weights(first)["items.weight"], weights(other)["items.weight"])


def test_a_state_of_other_settings_is_refused(tmp_path):
    with pytest.raises(KilledError):
        fit(tmp_path, stop_after=2)
    with pytest.raises(resume.ResumeError, match="without --resume"):
        fit(tmp_path, resume=True, seed=5)


def test_a_damaged_state_is_refused_with_one_line(tmp_path):
    with pytest.raises(KilledError):
        fit(tmp_path, stop_after=2)
    state = tmp_path / resume.FILE
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(resume.ResumeError, match="damaged; delete it"):
        fit(tmp_path, resume=True)


def task(module, loss, validate):
    """One batch an epoch, with one target."""
    batch = loop.Batch(torch.zeros(1, 1), None, torch.zeros(1), torch.zeros(1))
    return loop.Task(module, 1, lambda epoch: iter([batch]), loss, validate, {})


def test_the_best_weights_are_kept_not_the_last(tmp_path):
    module = torch.nn.Linear(1, 1)
    scores = iter([0.1, 0.9, 0.2, 0.3])
    seen = []

    def validate(module):
        seen.append(float(module.weight.detach()))
        return {loop.METRIC: next(scores)}

    def loss(module, batch):
        return module(torch.ones(1, 1)).square().sum()

    schedule = loop.Schedule(epochs=4, lr=0.1, warmup=1, validate_every=1)
    loop.train(task(module, loss, validate), schedule, Run(device="cpu"))
    assert float(module.weight.detach()) == seen[1]


def test_training_stops_when_validation_no_longer_improves():
    module, epochs = torch.nn.Linear(1, 1), []
    schedule = loop.Schedule(epochs=50, validate_every=1, patience=3)
    run = Run(device="cpu", report=lambda event: epochs.append(event["epoch"]))
    loop.train(task(module, lambda m, b: m(torch.ones(1, 1)).sum(), lambda m: {loop.METRIC: 0.5}), schedule, run)
    assert epochs == [1, 2, 3, 4]  # the first is the best; three misses follow


def test_a_loss_that_is_no_number_stops_the_run():
    module = torch.nn.Linear(1, 1)
    nothing = task(module, lambda m, b: m(torch.ones(1, 1)).sum() * torch.nan, None)
    with pytest.raises(loop.TrainingError, match="lower --lr"):
        loop.train(nothing, loop.Schedule(epochs=1), Run(device="cpu"))


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(device.DeviceError, match="use --device cpu"):
        device.choose("cuda:7")


def test_a_compiled_encoder_learns_the_same(monkeypatch):
    captured = functools.partial(torch.compile, backend="eager")  # traced as ever, but no half minute of C++
    monkeypatch.setattr(torch, "compile", captured)
    monkeypatch.setattr(device, "can_compile", lambda where: True)
    config = dataclasses.replace(CONFIG, dropout=0.0, epochs=2)
    losses = {False: [], True: []}
    for compiled, curve in losses.items():
        run = Run(
            device="cpu", compile=compiled, precision="fp32", report=lambda e, curve=curve: curve.append(e["loss"])
        )
        Bert4Rec(config).fit(SPLIT.train, SPLIT.valid, run)
    assert losses[True] == pytest.approx(losses[False], abs=1e-4)


def test_without_a_compiler_training_goes_on(monkeypatch):
    monkeypatch.setattr(device, "can_compile", lambda where: False)
    with pytest.warns(UserWarning, match="without"):
        Bert4Rec(dataclasses.replace(CONFIG, epochs=1)).fit(SPLIT.train, None, Run(device="cpu", compile=True))


def test_fp32_is_asked_for_by_name_and_bf16_too():
    ends = {}
    for precision in ("fp32", "bf16"):
        run = Run(device="cpu", precision=precision)
        ends[precision] = weights(Bert4Rec(dataclasses.replace(CONFIG, epochs=1)).fit(SPLIT.train, None, run))
    difference = (ends["fp32"]["items.weight"] - ends["bf16"]["items.weight"]).abs().max()
    assert 0 < difference < 0.05


def test_progress_tells_of_memory_and_time_left(tmp_path):
    fit(tmp_path)
    last = loop.read_log(tmp_path)[-1]
    assert last["memory_mb"] > 50
    assert last["seconds_left"] == 0
    assert last["seconds"] > 0


def test_a_line_of_the_log_that_was_cut_short_is_written_again(tmp_path):
    whole = fit(tmp_path / "whole")
    with pytest.raises(KilledError):
        fit(tmp_path / "cut", stop_after=2)
    with (tmp_path / "cut" / paths.LOG).open("a") as file:
        file.write('{"epoch": 3, "lo')
    torch.testing.assert_close(weights(fit(tmp_path / "cut", resume=True)), weights(whole), rtol=0, atol=0)
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")
