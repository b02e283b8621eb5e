import contextlib
import dataclasses
import functools
import json
import os
import signal
import threading

import numpy as np
import pytest
import torch

from recsys import paths, progress
from recsys.config import ConfigError
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig, Bert4RecEncoder
from recsys.models.sasrec import SasRecConfig, SasRecEncoder
from recsys.progress import Cancelled
from recsys.ranking import metrics
from recsys.runtime import StopRequest
from recsys.training import device, trainer
from recsys.training.batches import Batch
from recsys.training.kernels import softmax_cross_entropy
from recsys.training.options import RunOptions, TrainConfig, TrainingSummary
from recsys.training.trainer import RunFolder
from tests import toys
from tests.models.configs import changed

SCHEDULE = TrainConfig(epochs=4, batch_size=16, warmup_steps=5, validate_every=1, ema_decay=0.9)
CONFIG = Bert4RecConfig(dim=8, length=12, schedule=SCHEDULE)
ONE_EPOCH = dataclasses.replace(CONFIG, schedule=dataclasses.replace(SCHEDULE, epochs=1))
SPLIT = leave_one_out(toys.cycle(n_items=8, n_users=40, length=8))


class KilledError(Exception):
    """Stands for kill -9."""


def fit(folder, resume=False, seed=0, config=CONFIG, stop_after=99):
    """Train; killed when the epoch after `stop_after` is reported. The state is kept after every step."""

    def report(event):
        if event.get("epoch", 0) > stop_after:  # the calibration after the last epoch reports events without an epoch
            raise KilledError

    run = RunOptions(seed=seed, device="cpu", folder=folder, resume=resume, report=report, save_every=0)
    return Bert4Rec(config).fit(SPLIT.train, SPLIT.valid, run)


def weights(model):
    return {name: torch.from_numpy(value) for name, value in model.state().items()}


def epochs(folder):
    keep = ("epoch", "loss", "ndcg@10", "best")
    return [{name: event[name] for name in keep} for event in RunFolder(folder).load()["events"]]


@pytest.mark.parametrize("name", ["sasrec-memory", "gru4rec-ce", "caser", "item2vec-skipgram", "ncf"])
def test_a_run_of_any_network_killed_within_an_epoch_goes_on_with_the_same_weights_and_optimiser(
    tmp_path, monkeypatch, name
):
    settings = {"dim": 8, "length": 12, "epochs": 3, "batch_size": 16, "warmup_steps": 5, "validate_every": 1}
    recommender = registry.get(name)
    config = changed(recommender.preset(""), **settings)
    ends = {}
    for folder, kill_at in (("whole", None), ("cut", 5), ("cut", None)):
        update = trainer.Trainer.update

        def killed(self, batch, update=update, kill_at=kill_at):
            if self.step == kill_at:
                raise KilledError
            update(self, batch)

        run = RunOptions(seed=3, device="cpu", folder=tmp_path / folder, resume=True, save_every=0)
        with monkeypatch.context() as patch, contextlib.suppress(KilledError):
            patch.setattr(trainer.Trainer, "update", killed)
            ends[folder] = recommender.model(config).fit(SPLIT.train, SPLIT.valid, run).state()
        assert (folder in ends) == (kill_at is None or folder == "whole")
    for key, array in ends["whole"].items():
        np.testing.assert_array_equal(ends["cut"][key], array)
    whole, cut = (RunFolder(tmp_path / folder).load() for folder in ("whole", "cut"))
    torch.testing.assert_close(cut["optimizer"]["state"], whole["optimizer"]["state"], rtol=0, atol=0)
    assert epochs(tmp_path / "cut") == epochs(tmp_path / "whole")


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 12])
def test_a_run_killed_after_any_step_goes_on_bit_for_bit(tmp_path, monkeypatch, steps):
    whole = fit(tmp_path / "whole")
    save, kept = RunFolder.save, []

    def keep_then_die(folder, state):
        save(folder, state)
        kept.append(state["step"])
        if len(kept) == steps:
            raise KilledError

    monkeypatch.setattr(RunFolder, "save", keep_then_die)
    with pytest.raises(KilledError):
        fit(tmp_path / "cut")
    assert kept == list(range(1, steps + 1))
    monkeypatch.setattr(RunFolder, "save", save)
    resumed = fit(tmp_path / "cut", resume=True)
    torch.testing.assert_close(weights(resumed), weights(whole), rtol=0, atol=0)
    assert epochs(tmp_path / "cut") == epochs(tmp_path / "whole")


TOLD = {signal.SIGTERM: Cancelled, signal.SIGINT: KeyboardInterrupt}


@pytest.mark.parametrize("number", TOLD)
@pytest.mark.parametrize("epoch", [1, 3])
def test_a_run_that_is_told_to_end_keeps_its_state_and_goes_on_bit_for_bit(tmp_path, epoch, number):
    def report(event):
        if event.get("epoch") == epoch:
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    whole = fit(tmp_path / "whole")
    with pytest.raises(TOLD[number]):
        Bert4Rec(CONFIG).fit(
            SPLIT.train,
            SPLIT.valid,
            RunOptions(seed=0, device="cpu", folder=tmp_path / "cut", report=report, save_every=3600),
        )
    assert signal.getsignal(number) == before
    assert [event["epoch"] for event in epochs(tmp_path / "cut")] == list(range(1, epoch + 1))
    resumed = fit(tmp_path / "cut", resume=True)
    torch.testing.assert_close(weights(resumed), weights(whole), rtol=0, atol=0)
    assert epochs(tmp_path / "cut") == epochs(tmp_path / "whole")


def test_a_run_that_is_told_to_end_when_it_has_ended_is_whole(tmp_path):
    def report(event):
        if event.get("epoch") == SCHEDULE.epochs:
            os.kill(os.getpid(), signal.SIGTERM)

    ended = Bert4Rec(CONFIG).fit(
        SPLIT.train, SPLIT.valid, RunOptions(seed=0, device="cpu", folder=tmp_path / "told", report=report)
    )
    torch.testing.assert_close(weights(ended), weights(fit(tmp_path / "whole")), rtol=0, atol=0)


@pytest.mark.parametrize("number", TOLD)
@pytest.mark.parametrize("epoch", [2, SCHEDULE.epochs])
def test_a_validation_is_left_at_once_and_made_again_when_the_run_goes_on(tmp_path, monkeypatch, epoch, number):
    whole = fit(tmp_path / "whole")
    ranked, rank = [], metrics.target_ranks

    def told_while_ranking(*given):
        ranked.append(1)
        if len(ranked) == epoch:
            os.kill(os.getpid(), number)
            for _ in range(1000):  # of which none is needed: a signal is heard within some instructions
                rank(*given)
            raise AssertionError("nobody listened")
        return rank(*given)

    monkeypatch.setattr(metrics, "target_ranks", told_while_ranking)
    with pytest.raises(TOLD[number]):
        Bert4Rec(CONFIG).fit(
            SPLIT.train, SPLIT.valid, RunOptions(seed=0, device="cpu", folder=tmp_path / "cut", save_every=3600)
        )
    monkeypatch.setattr(metrics, "target_ranks", rank)
    assert len(ranked) == epoch
    resumed = fit(tmp_path / "cut", resume=True)
    torch.testing.assert_close(weights(resumed), weights(whole), rtol=0, atol=0)
    assert epochs(tmp_path / "cut") == epochs(tmp_path / "whole")


def test_a_second_ctrl_c_interrupts_at_once():
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.signal == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_second_sigterm_changes_nothing():
    """A service manager sends one, and the system sends another when the parent process is gone."""
    with StopRequest() as stop:
        for _ in range(2):
            signal.raise_signal(signal.SIGTERM)
        assert stop.signal == signal.SIGTERM


def test_a_run_in_a_thread_leaves_signals_alone():
    before = signal.getsignal(signal.SIGTERM)
    heard = []
    training = threading.Thread(
        target=lambda: Bert4Rec(ONE_EPOCH).fit(
            SPLIT.train,
            None,
            RunOptions(seed=0, device="cpu", report=lambda _: heard.append(signal.getsignal(signal.SIGTERM))),
        )
    )
    training.start()
    training.join()
    assert heard == [before]


def test_a_finished_run_resumed_is_finished_at_once(tmp_path):
    """So a kill between the end of training and the writing of the checkpoint costs nothing."""
    whole = fit(tmp_path)
    reported = []
    again = Bert4Rec(CONFIG).fit(
        SPLIT.train, SPLIT.valid, RunOptions(seed=0, device="cpu", folder=tmp_path, resume=True, report=reported.append)
    )
    torch.testing.assert_close(weights(again), weights(whole), rtol=0, atol=0)
    assert not any("epoch" in event for event in reported)


def test_the_state_is_kept_once_an_interval_and_at_the_end(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(RunFolder, "save", lambda folder, state: kept.append(state["step"]))
    Bert4Rec(CONFIG).fit(SPLIT.train, SPLIT.valid, RunOptions(seed=0, device="cpu", folder=tmp_path, save_every=3600))
    assert kept == [4 * 3]


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path):
    weights_0, again, other = (weights(fit(None, seed=seed)) for seed in (0, 0, 1))
    torch.testing.assert_close(weights_0, again, rtol=0, atol=0)
    assert not torch.equal(weights_0["items.weight"], other["items.weight"])


def test_a_state_of_other_settings_is_refused(tmp_path):
    with pytest.raises(KilledError):
        fit(tmp_path, stop_after=2)
    with pytest.raises(trainer.TrainingError, match="without --resume"):
        fit(tmp_path, resume=True, seed=5)


def test_a_state_of_another_precision_is_refused_with_the_flag_that_continues_it(tmp_path, monkeypatch):
    with pytest.raises(KilledError):
        fit(tmp_path, stop_after=2)
    precision = RunFolder(tmp_path).load()["precision"]
    monkeypatch.setattr(device, "has_fast_bf16", lambda where: precision == "fp32")
    with pytest.raises(trainer.TrainingError, match=f"add --precision {precision}"):
        fit(tmp_path, resume=True)


def test_a_damaged_state_is_refused_with_one_line(tmp_path):
    with pytest.raises(KilledError):
        fit(tmp_path, stop_after=2)
    state = RunFolder(tmp_path).state_path
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(trainer.TrainingError, match="damaged; delete it"):
        fit(tmp_path, resume=True)


@pytest.mark.parametrize(
    "alter",
    [
        lambda state: state.pop("module"),
        lambda state: state.pop("step"),
        lambda state: state.pop("events"),
        lambda state: state["average"].update({"items.weight": torch.zeros(1)}),
        lambda state: state["optimizer"]["param_groups"].clear(),
    ],
)
def test_a_state_of_another_version_is_refused_before_a_step_is_taken(tmp_path, alter):
    with pytest.raises(KilledError):
        fit(tmp_path, stop_after=2)
    folder = RunFolder(tmp_path)
    state = folder.load()
    alter(state)
    folder.save(state)
    kept = folder.state_path.read_bytes()
    with pytest.raises(trainer.TrainingError, match="another version; delete it"):
        fit(tmp_path, resume=True)
    assert folder.state_path.read_bytes() == kept


def task(module, loss, validate=None, steps=1, targets=1):
    """An epoch of some batches, each with one sequence and so many targets."""
    batch = Batch(torch.zeros(1, 1), None, torch.zeros(targets), torch.zeros(targets))
    return trainer.Task(module, steps, lambda epoch: iter([batch] * steps), loss, validate, {})


def slope(trajectory):
    """Return a weight and a loss of gradient 1, which appends the weight to `trajectory`. AdamW steps by the rate."""
    module = torch.nn.Linear(1, 1, bias=False)

    def loss(module, batch):
        trajectory.append(float(module.weight.detach()))
        return module(torch.ones(1, 1)).sum()

    return module, loss


def learning_rates(schedule, steps):
    """The learning rate of every step, as seen from the weight that it moves."""
    trajectory = []
    module, loss = slope(trajectory)
    trainer.train(task(module, loss, steps=steps), schedule, RunOptions(device="cpu", precision="fp32"))
    return -np.diff([*trajectory, float(module.weight.detach())])


def test_the_learning_rate_falls_linearly_to_zero():
    schedule = TrainConfig(epochs=2, lr=0.1, warmup_steps=0, ema_decay=0)
    np.testing.assert_allclose(learning_rates(schedule, steps=5), 0.1 * np.arange(10, 0, -1) / 10, rtol=1e-4)


def test_the_learning_rate_rises_linearly_while_it_warms_up():
    schedule = TrainConfig(epochs=1, lr=0.1, warmup_steps=4, ema_decay=0)
    decay = 1 - np.arange(8) / 8
    expected = 0.1 * np.array([1 / 4, 2 / 4, 3 / 4, 1, 1, 1, 1, 1]) * decay
    np.testing.assert_allclose(learning_rates(schedule, steps=8), expected, rtol=1e-4)


def test_the_weights_that_are_kept_are_a_moving_average_that_forgets_by_ema_decay():
    trajectory = []
    module, loss = slope(trajectory)
    validated = []
    schedule = TrainConfig(epochs=30, lr=0.1, warmup_steps=0, ema_decay=0.7, validate_every=1, patience=30)

    def validate(average):
        validated.append(float(average.weight.detach()))
        return {trainer.METRIC: 0.0}

    trainer.train(task(module, loss, validate), schedule, RunOptions(device="cpu", precision="fp32"))
    average, expected = trajectory[0], []
    for step, weight in enumerate(trajectory[1:], 1):  # the last weight of all is not seen by the loss
        decay = min(0.7, step / (step + 10))
        average = decay * average + (1 - decay) * weight
        expected.append(average)
    np.testing.assert_allclose(validated[: len(expected)], expected, rtol=1e-4, atol=1e-5)


def scripted(scores, folder=None, resume=False, report=lambda event: None, patience=9):
    """Train an epoch per score, which validation gives; the weights of each validation and the summary."""
    module, loss = slope([])
    weights, scores = [], iter(scores)

    def validate(module):
        weights.append(float(module.weight.detach()))
        return {trainer.METRIC: next(scores)}

    schedule = TrainConfig(epochs=8, lr=0.1, warmup_steps=1, validate_every=1, patience=patience, ema_decay=0)
    run = RunOptions(device="cpu", folder=folder, resume=resume, report=report, save_every=0)
    summary = trainer.train(task(module, loss, validate), schedule, run)
    return weights, float(module.weight.detach()), summary


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([0.1, 0.9, 0.2, 0.3, 0.1, 0.1, 0.1, 0.1], 2),
        ([0.1, 0.2, 0.9, 0.3, 0.9, 0.9, 0.1, 0.9], 3),  # the first of equally good ones
        ([0.1, 0.981210, 0.5, 0.981230, 0.1, 0.1, 0.1, 0.1], 4),  # equal in a log of four digits
    ],
)
def test_the_weights_and_the_summary_are_those_of_the_best_epoch(scores, best):
    weights, kept, summary = scripted(scores)
    assert kept == weights[best - 1]
    assert (summary.best_epoch, summary.epochs) == (best, 8)
    assert summary.validation == {trainer.METRIC: scores[best - 1]}


@pytest.mark.parametrize("decay", [0, 0.9])
def test_every_step_is_a_training_step_whatever_validation_has_switched_off(decay):
    module, modes = torch.nn.Linear(1, 1), []

    def loss(called, batch):
        modes.append(module.training)
        return called.weight.sum()

    def validate(validated):
        validated.eval()
        return {trainer.METRIC: 0.5}

    schedule = TrainConfig(epochs=3, validate_every=1, ema_decay=decay)
    trainer.train(task(module, loss, validate, steps=2), schedule, RunOptions(device="cpu"))
    assert modes == [True] * 6


def test_a_summary_without_validation_is_of_the_last_epoch():
    module, loss = slope([])
    summary = trainer.train(task(module, loss), TrainConfig(epochs=3), RunOptions(device="cpu"))
    assert (summary.best_epoch, summary.epochs, summary.validation) == (3, 3, {})


def test_the_notes_of_a_summary_are_plain_json():
    notes = TrainingSummary(2, 8, 1.5, {trainer.METRIC: 0.25}).notes()
    assert json.loads(json.dumps(notes)) == notes
    assert (notes["best_epoch"], notes["epochs"], notes["validation"]) == (2, 8, {trainer.METRIC: 0.25})


def test_training_stops_when_validation_no_longer_improves():
    epochs = []
    scripted([0.5] * 8, patience=3, report=lambda event: epochs.append(event["epoch"]))
    assert epochs == [1, 2, 3, 4]  # the first is the best; three misses follow


def test_a_resumed_run_remembers_the_best_epoch_and_the_validations_since(tmp_path):
    def stop(event):
        if event["epoch"] == 4:
            raise KilledError

    scores, epochs = [0.1, 0.9, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], []
    with pytest.raises(KilledError):
        scripted(scores, tmp_path, report=stop, patience=3)  # killed when it reports epoch 4, kept after epoch 3
    _, _, summary = scripted(scores[3:], tmp_path, True, lambda event: epochs.append(event["epoch"]), patience=3)
    assert epochs == [4, 5]  # one validation without a new best before, two after
    assert (summary.best_epoch, summary.epochs, summary.validation) == (2, 5, {trainer.METRIC: 0.9})


def test_a_batch_without_targets_leaves_weights_that_are_numbers():
    module, nothing = torch.nn.Linear(1, 3), torch.zeros(0, dtype=torch.long)

    def loss(module, batch):
        return softmax_cross_entropy(torch.zeros(0, 1), module.weight, module.bias, nothing)

    trainer.train(task(module, loss, targets=0), TrainConfig(epochs=1), RunOptions(device="cpu"))
    assert all(weight.isfinite().all() for weight in module.parameters())


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"batch_size": 0}, {"lr": 0}, {"warmup_steps": -1}, {"ema_decay": 1}, {"patience": 0}]
)
def test_a_schedule_that_cannot_work_is_refused_when_it_is_made(wrong):
    [name] = wrong
    with pytest.raises(ConfigError, match=f"{name} is .*, but must be"):
        TrainConfig(**wrong)


def breaking(step, how):
    """A weight whose loss is all right but in one step, in which `how` spoils it; the weights before each step."""
    trajectory = []
    module, plain = slope(trajectory)

    def loss(module, batch):
        value = plain(module, batch)
        return how(value) if len(trajectory) == step else value

    return module, loss, trajectory


BROKEN = {
    "loss": lambda value: value * torch.nan,
    "infinite loss": lambda value: value + torch.inf,  # whose gradient is 1
    "gradient": lambda value: value + (0 * value).sqrt(),  # 0, with a gradient of NaN
}


@pytest.mark.parametrize("how", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("step", [1, 2, 6])
def test_a_loss_or_gradient_that_is_no_number_ends_the_run_before_a_weight_is_touched(tmp_path, step, how):
    module, loss, trajectory = breaking(step, how)
    schedule = TrainConfig(epochs=4, lr=0.1, warmup_steps=0, validate_every=1, ema_decay=0)
    scores = iter([0.3, 0.2, 0.1])
    broken = task(module, loss, lambda average: {trainer.METRIC: next(scores)}, steps=2)
    with pytest.raises(trainer.TrainingError, match=f"in epoch {(step + 1) // 2}, .*lower --lr"):
        trainer.train(broken, schedule, RunOptions(device="cpu", folder=tmp_path, save_every=3600))
    assert len(trajectory) == step
    assert module.weight.item() == trajectory[-1]
    kept = RunFolder(tmp_path).load()
    assert (kept["step"], kept["module"]["weight"].item()) == (step - 1, trajectory[-1])
    assert kept["sums"].isfinite().all()
    assert (kept["best"]["weight"].item() if kept["best"] else None) == (trajectory[2] if step > 2 else None)


@pytest.mark.parametrize("how", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("save_every", [0, 3600])
def test_on_a_gpu_no_state_that_is_not_finite_is_saved(tmp_path, monkeypatch, how, save_every):
    """No step waits for a GPU. The end of the epoch and each save read the result."""
    module, loss, trajectory = breaking(3, how)
    monkeypatch.setattr(trainer.Trainer, "reads_each_step", False)
    schedule = TrainConfig(epochs=2, lr=0.1, ema_decay=0)
    with pytest.raises(trainer.TrainingError, match=r"in epoch 1, .*lower --lr"):
        trainer.train(
            task(module, loss, steps=6), schedule, RunOptions(device="cpu", folder=tmp_path, save_every=save_every)
        )
    assert len(trajectory) == (3 if save_every == 0 else 6)
    state = RunFolder(tmp_path).load()
    assert (state["step"] if state else None) == (2 if save_every == 0 else None)
    assert state is None or state["module"]["weight"].isfinite().all()


@pytest.mark.slow
def test_a_compiled_encoder_learns_the_same(monkeypatch):
    captured = functools.partial(torch.compile, backend="eager")  # traced as ever, but no half minute of C++
    monkeypatch.setattr(torch, "compile", captured)
    monkeypatch.setattr(device, "can_compile", lambda where: True)
    config = dataclasses.replace(CONFIG, dropout=0.0, schedule=dataclasses.replace(SCHEDULE, epochs=2))
    losses = {False: [], True: []}
    for compiled, curve in losses.items():
        reported = []
        run = RunOptions(device="cpu", compile=compiled, precision="fp32", report=reported.append)
        Bert4Rec(config).fit(SPLIT.train, SPLIT.valid, run)
        curve += [event["loss"] for event in reported if "epoch" in event]
    assert losses[True] == pytest.approx(losses[False], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("config", "encoder"), [(Bert4RecConfig, Bert4RecEncoder), (SasRecConfig, SasRecEncoder)])
def test_an_encoder_is_compiled_once_for_all_shapes(config, encoder):
    module = encoder(config(dim=8, length=64, dropout=0.0), 30)
    torch.compiler.reset()
    compiled = torch.compile(module, dynamic=True, backend="aot_eager")  # traces gradients too, but generates no code
    for n, length in ((16, 8), (12, 16), (14, 32), (16, 24), (10, 64)):
        tokens = torch.randint(30, (n, length))
        tokens[0, -1] = module.padding
        positions = torch.arange(4).repeat(n, 1)
        with torch.compiler.set_stance("default" if length <= 16 else "fail_on_recompile"):
            hidden = compiled(tokens, positions)
            gradients = torch.autograd.grad(hidden.sum(), module.items.weight)
        torch.testing.assert_close(hidden, module(tokens, positions))
        torch.testing.assert_close(
            gradients, torch.autograd.grad(module(tokens, positions).sum(), module.items.weight), rtol=1e-4, atol=1e-4
        )


def test_without_a_compiler_training_goes_on(monkeypatch):
    monkeypatch.setattr(device, "can_compile", lambda where: False)
    with pytest.warns(UserWarning, match="without"):
        Bert4Rec(ONE_EPOCH).fit(SPLIT.train, None, RunOptions(device="cpu", compile=True))


def test_a_precision_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="precision is fp16"):
        RunOptions(precision="fp16")


def test_precision_is_chosen_by_name():
    ends = {}
    for precision in ("fp32", "bf16"):
        run = RunOptions(device="cpu", precision=precision)
        ends[precision] = weights(Bert4Rec(ONE_EPOCH).fit(SPLIT.train, None, run))
    difference = (ends["fp32"]["items.weight"] - ends["bf16"]["items.weight"]).abs().max()
    assert 0 < difference < 0.05


def test_progress_reports_memory_and_time_left(tmp_path):
    fit(tmp_path)
    last = RunFolder(tmp_path).load()["events"][-1]
    assert last["memory_mb"] > 50
    assert last["seconds_left"] == 0


def test_a_finished_run_writes_its_log_and_deletes_its_state_and_what_killed_runs_left(tmp_path):
    (tmp_path / paths.LOG).write_text("of the run before\n")
    (tmp_path / "weights.npz.0123abcd.part").write_text("half a file")
    fit(tmp_path)
    assert (tmp_path / paths.LOG).read_text() == "of the run before\n"
    for _ in range(2):  # once more changes nothing
        RunFolder(tmp_path).finish()
        assert [event["epoch"] for event in progress.read(tmp_path / paths.LOG)] == [1, 2, 3, 4]
        assert [path.name for path in tmp_path.iterdir()] == [paths.LOG]


def test_an_epoch_that_a_signal_interrupted_in_its_validation_reports_its_speed(tmp_path, monkeypatch):
    rank = metrics.target_ranks

    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGTERM)
        return rank(*given)

    monkeypatch.setattr(metrics, "target_ranks", interrupted)
    with pytest.raises(Cancelled):
        fit(tmp_path)
    monkeypatch.setattr(metrics, "target_ranks", rank)
    fit(tmp_path, resume=True)
    RunFolder(tmp_path).finish()
    events = list(progress.read(tmp_path / paths.LOG))
    assert [event["epoch"] for event in events] == [1, 2, 3, 4]
    assert all(event["sequences_per_second"] > 0 for event in events)


def test_the_averaged_copy_of_a_recurrent_layer_is_flattened(monkeypatch):
    """Otherwise cuDNN copies its weights into one block of memory in every call."""
    module, flattened = torch.nn.GRU(2, 3), []
    monkeypatch.setattr(torch.nn.GRU, "flatten_parameters", lambda layer: flattened.append(layer))
    run = RunOptions(device="cpu")
    made = trainer.Trainer(task(module, None), SCHEDULE, run, torch.device("cpu"), StopRequest())
    assert made.average is not module
    assert any(layer is made.average for layer in flattened)
