"""F1, F2, F7, F8, B8, B9: trainings that are killed, told to end or go wrong; histories and scores that nobody meant.

Each function measures a bar with the home folder that $RECSYS_HOME names, in which it may leave what it likes.
"""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability.promise import Outcome, judged
from recsys import checkpoints, paths, progress, storage
from recsys.checkpoints import StoreError
from recsys.data import datasets, prepared
from recsys.data.split import LEAVE_ONE_OUT
from recsys.models import registry
from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.progress import no_progress
from recsys.ranking import metrics
from recsys.ranking.ranking import Ranking, ScoreError
from recsys.serving import predictor
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, ServingError, recommend
from recsys.training import trainer
from recsys.training.options import RunOptions, TrainConfig
from recsys.training.trainer import RunFolder
from tests import toys

KILLS = 20
SETTINGS = shlex.split(
    "--dim 16 --length 12 --epochs 60 --batch-size 16 --warmup-steps 5 --validate-every 5 --patience 99"
)
TRAIN = ["train", "bert4rec", "--dataset", "cycle", "--device", "cpu", "--json", "--resume", "--save-every", "0"]
LEFT_AFTER = 10.0  # seconds, at most
SPEAKING = """
import sys
from recsys.cli.main import main
from recsys.models.sequence_model import SequenceModel
from recsys.training.trainer import Trainer
validate, update = SequenceModel._validate, Trainer.update
def said(self, batch):
    update(self, batch)
    print("stepping", flush=True)
def for_hours(self, *given):
    print("validating", flush=True)
    while True:
        validate(self, *given)
SequenceModel._validate, Trainer.update = for_hours, said
sys.exit(main(sys.argv[1:]))
"""
ON_SAMPLE = ["train", "bert4rec", "--device", "cpu", "--json", "--validate-every", "1"]
SITUATIONS = {  # what is done, and how one sees that it is being done
    "an epoch": ([*ON_SAMPLE, "--save-every", "3600"], "stepping"),
    "a validation": ([*ON_SAMPLE, "--dim", "8", "--batch-size", "512", "--save-every", "3600"], "validating"),
    "a fit": (["train", "mf-explicit", "--iterations", "100000"], None),
    "an evaluation": (["evaluate", "all"], None),
}
K = 10


def start(*words: str, code: str = "") -> subprocess.Popen:
    """`python -m recsys` with these words, or a program of our own with them."""
    program = ["-c", code] if code else ["-m", "recsys"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *program, *words], env=environment, cwd=paths.REPOSITORY, **pipes)


def killed(n: int = KILLS) -> tuple[Path, int, int]:
    """The folder of a training that was killed n times, how often its state was whole, and half of one was left."""
    prepared.save(toys.cycle(n_items=8, n_users=64, length=8), {})
    folder, rng, whole, half = paths.checkpoint("cycle", "leave-one-out", "bert4rec", 0), random.Random(0), 0, 0
    part = folder / f"{RunFolder.STATE}.part"
    for turn in range(n):
        with start(*TRAIN, *SETTINGS) as training:
            assert training.stdout
            training.stdout.readline()  # it has begun; states are kept after every step from then on
            time.sleep(rng.uniform(0, 0.1))
            while turn % 2 and not part.exists() and training.poll() is None:
                pass  # every other one is killed within a save
            training.kill()
        half += part.exists()
        with suppress(Exception):
            whole += (RunFolder(folder).load() or {"step": 0})["step"] > 0
    return folder, whole, half


def f1() -> Outcome:
    """Killed again and again; then left alone until it ends."""
    folder, whole, half = killed()
    ended = start(*TRAIN, *SETTINGS)
    said = ended.communicate()[1]
    left = sorted(path.name for path in folder.iterdir() if path.name.endswith((".part", ".next", RunFolder.STATE)))
    checks = {
        f"every state is whole ({whole} of {KILLS})": whole == KILLS,
        f"the last run ends: {said.strip()}": ended.returncode == 0,
        f"nothing half-written stays: {left}": not left,
    }
    return judged(f"{KILLS} kills within steps and saves, {half} of them within a save; all went on", checks)


def f2() -> Outcome:
    """The run that was killed and one that was left alone, bit by bit."""
    ends = {}
    for name, kills in (("alone", 0), ("killed", KILLS // 4)):
        os.environ["RECSYS_HOME"] = str(paths.home() / name)
        folder = killed(kills)[0]
        start(*TRAIN, *SETTINGS).communicate()
        log = [event["loss"] for event in progress.read(folder / paths.LOG)]
        ends[name] = storage.sha256((folder / checkpoints.WEIGHTS).read_bytes()), json.dumps(log)
        os.environ["RECSYS_HOME"] = str(Path(os.environ["RECSYS_HOME"]).parent)
    same = {
        "weights": ends["alone"][0] == ends["killed"][0],
        "losses of every epoch": ends["alone"][1] == ends["killed"][1],
    }
    return judged(f"SHA-256 of the weights {ends['killed'][0][:12]} after {KILLS // 4} kills and after none", same)


def f7() -> Outcome:
    """A loss of NaN in the fifth step of a training with a validation behind it."""
    world, folder = toys.cycle(n_items=8, n_users=64, length=8), paths.home() / "broken"
    schedule = TrainConfig(epochs=4, batch_size=32, validate_every=1, warmup_steps=1)
    model = Bert4Rec(Bert4RecConfig(dim=8, length=12, schedule=schedule))
    loss, steps, error = model.loss, [], ""
    model.loss = lambda *given: loss(*given) * (np.nan if len(steps) == 5 else 1)  # type: ignore[method-assign]
    update = trainer.Trainer.update

    def counted(self: trainer.Trainer, batch: Any) -> None:
        steps.append(self.step)
        update(self, batch)

    trainer.Trainer.update = counted  # type: ignore[method-assign]
    try:
        parts = LEAVE_ONE_OUT(world)
        model.fit(parts.train, parts.valid, RunOptions(device="cpu", folder=folder))
    except trainer.TrainingError as stopped:
        error = str(stopped)
    finally:
        trainer.Trainer.update = update  # type: ignore[method-assign]
    kept = RunFolder(folder).load()
    assert kept, "a state is kept"
    checks = {
        "it says what to do": "lower --lr" in error,
        "the step was not taken": kept["step"] == 4 and len(steps) == 5,
        "the last weights are numbers": all(weights.isfinite().all() for weights in kept["module"].values()),
        "the best ones are kept": kept["best"] is not None and kept["best_epoch"] > 0,
    }
    return judged(f"NaN in step 5: {error}", checks)


def left_after(words: list[str], sign: str | None, number: int) -> tuple[float, int, str]:
    """Seconds from a signal to the end of a program, its exit code, and what it said last."""
    with start(*words, code=SPEAKING if sign else "") as program:
        assert program.stdout
        if sign:
            while sign not in (line := program.stdout.readline()):
                assert line, program.communicate()[1]
        else:
            time.sleep(12)  # it has loaded and is at it
        told = time.monotonic()
        program.send_signal(number)
        said = program.communicate(timeout=120)[1]
        return time.monotonic() - told, program.returncode, said.strip().rpartition("\n")[2]


def f8() -> Outcome:
    """SIGTERM and Ctrl-C in an epoch, in a validation, in a fit without a network, in an evaluation."""
    datasets.ensure("ml-latest-sample", no_progress)
    folder, checks, seconds = paths.checkpoint("ml-latest-sample", "leave-one-out", "bert4rec", 0), {}, {}
    for name, (words, sign) in SITUATIONS.items():
        for number in (signal.SIGTERM, signal.SIGINT):
            (folder / RunFolder.STATE).unlink(missing_ok=True)
            took, code, said = left_after(words, sign, number)
            where = f"{name}, {signal.Signals(number).name}"
            seconds[where] = took
            checks[f"{where}: gone after {took:.1f} s"] = took <= LEFT_AFTER
            checks[f"{where}: exit code {code}"] = code in (143, -signal.SIGTERM, 130)
            checks[f"{where}: no traceback, {said}"] = "Error" not in said
            if "bert4rec" in words:
                checks[f"{where}: the state is kept"] = (folder / RunFolder.STATE).exists()
    return judged(", ".join(f"{name} {took:.1f} s" for name, took in seconds.items()), checks)


def recommenders() -> Iterator[Predictor]:
    """All that answer for the sample set: those that are shipped, and those that are fitted on first use."""
    data = datasets.ensure("ml-latest-sample", no_progress)
    for name in registry.names():
        with suppress(StoreError):
            yield predictor.load(name, data)


def milliseconds(ready: Predictor, length: int, turns: int = 30) -> float:
    """Of CPU, the median of some requests with random histories of one length."""
    rng, spent = np.random.default_rng(0), []
    for _ in range(turns):
        request = Request(tuple(rng.integers(ready.dataset.n_items, size=length).tolist()))
        began = time.thread_time()
        recommend(ready, request)
        spent.append(time.thread_time() - began)
    return 1e3 * float(np.median(spent[turns // 3 :]))


def answers_well(ready: Predictor) -> bool:
    """Whether histories of every length and kind get at most K unseen films, and numbers that are none an error."""
    n, rng = ready.dataset.n_items, np.random.default_rng(1)
    lengths = (0, 1, 2, ready.model.max_length or 200, 10_000)
    histories = [*(rng.integers(n, size=length) for length in lengths), np.array([5, 5, 5]), np.arange(n)]
    for history in histories:
        found = [(one.item, one.score) for one in recommend(ready, Request(tuple(history.tolist()), K))]
        items = [item for item, _ in found]
        ordered = sorted(found, key=lambda one: (-one[1], one[0]))
        if not (ordered == found and np.isfinite([score for _, score in found]).all()):
            return False
        if len(found) != min(K, n - len({*history.tolist()})) or {*items} & {*history.tolist()}:
            return False
    films = len(ready.dataset.catalog.films)
    return all(refused(lambda item=item: recommend(ready, Request((1, item)))) for item in (films, films + 1, -1))  # type: ignore[misc]


def refused(work: Callable[[], Any]) -> bool:
    """Whether something ends in an error of ours."""
    try:
        work()
    except (ServingError, ScoreError):
        return True
    return False


def b8() -> Outcome:
    """Every recommender: odd histories, and what ten thousand films cost beside as many as it reads (or 200)."""
    checks, slow, n = {}, {}, 0
    for n, ready in enumerate(recommenders(), 1):  # noqa: B007
        checks[f"{ready.variant.name} answers odd histories"] = answers_well(ready)
        usual, long = milliseconds(ready, ready.model.max_length or 200), milliseconds(ready, 10_000)
        if long > 2 * usual:
            slow[f"{ready.variant.name} takes {usual:.2f} ms, with 10,000 films {long:.2f} ms"] = False
    return judged(
        f"{n} recommenders × 8 kinds of histories; {len(slow)} slower than twice at 10,000 films", checks | slow
    )


def b9() -> Outcome:
    """Random rows of scores in which anything may stand: never ranked where NaN does, metrics in 0…1 elsewhere."""
    rng, ranked, turned_down, wrong = np.random.default_rng(0), 0, 0, 0
    odd = np.array([np.nan, np.inf, -np.inf, -1e30, 0.0, 1e30], np.float32)
    for _ in range(10_000):
        scores = rng.normal(size=30).astype(np.float32)
        scores[rng.integers(30, size=3)] = rng.choice(odd, 3)
        hidden, target = rng.integers(30, size=5), rng.integers(30, size=1)
        bad = bool(np.isnan(scores).any() or (scores == np.inf).any())
        try:
            top = Ranking.from_scores(scores, hidden).top(K)
            values = metrics.summary(metrics.target_ranks(scores[None], target, [hidden])).values()
            wrong += bad or not all(0 <= value <= 1 for value in values) or not np.isfinite(scores[top]).all()
            ranked += 1
        except ScoreError:
            wrong += not (bad or scores[target[0]] == -np.inf)
            turned_down += 1
    return judged(f"10,000 rows of odd scores: {ranked} ranked, {turned_down} refused", {f"{wrong} wrongly": not wrong})
