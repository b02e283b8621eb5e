import errno
import json
import os
import shlex
import subprocess
import sys
import warnings
from dataclasses import asdict
from typing import get_args

import pytest

from recsys import checkpoints, paths, storage
from recsys.cli.main import COMMANDS, main
from recsys.cli.options import ALL, ProtocolName, ProtocolOrAll, StudyName
from recsys.data import datasets
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import MissingLibraryError
from recsys.evaluation import results
from recsys.evaluation.protocols import PROTOCOLS, ProtocolError
from recsys.jobs import queue
from recsys.progress import Cancelled
from recsys.ranking.ranking import ScoreError
from recsys.studies.comparisons import COMPARISONS
from recsys.studies.plans import PLANS

SMALL = shlex.split("--dim 16 --length 12 --epochs 4 --batch-size 32 --validate-every 1 --warmup-steps 5 --device cpu")


def checkpoint(variant, seed):
    return paths.checkpoint("ml-latest-sample", LEAVE_ONE_OUT.name, variant, seed)


def test_train_evaluate_and_recommend_work_on_one_another(toy_home, capsys):
    assert main(["train", "bert4rec", "--dataset", "ml-latest-sample", "--seed", "3", *SMALL]) == 0
    assert "epoch   4/4" in capsys.readouterr().out
    assert main(["evaluate", "bert4rec", "--dataset", "ml-latest-sample"]) == 0
    document = results.load("ml-latest-sample", "full", "bert4rec")
    assert [run["seed"] for run in document["seeds"]] == [3]
    assert document["config"]["dim"] == 16
    capsys.readouterr()
    assert main(["recommend", "Film 4", "Film 5", "-k", "3", "--json"]) == 0
    films = json.loads(capsys.readouterr().out)
    assert [film["rank"] for film in films] == [1, 2, 3]
    assert set(films[0]) == {"rank", "movie_id", "title", "year", "genres", "score", "probability"}


def test_progress_can_be_read_by_programs(toy_home, capsys):
    assert main(["train", "bert4rec", "--json", *SMALL]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["epoch"] for event in events] == [1, 2, 3, 4]
    assert {"loss", "ndcg@10", "sequences_per_second", "seconds_left"} <= set(events[0])


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["train", "bert4rec", "--dataset", "ml-1m"], "-m recsys data get ml-1m"),
        (["train", "bert5rec"], "no recommender is called bert5rec; choose one of: bert4rec"),
        (["train", "bert4rec", "--device", "cuda:9"], "use --device cpu"),
        (["train", "bert4rec", "--length", "1"], "length is 1, but must be at least 2"),
        (["evaluate", "bert4rec"], "-m recsys train bert4rec --dataset ml-latest-sample"),
        (["evaluate", "popular", "--protocol", "popularity-100"], "use --protocol full"),
        (["report", "--dataset", "ml-1m"], "-m recsys evaluate"),
        (["recommend", "--model", "nobody", "Film 1"], "no recommender is called nobody"),
        (["recommend", "--model", "popular", "Flm 3"], "did you mean"),
        (["data", "get", "ml-2m"], "ml-2m is not a published data set; choose one of: ml-latest-sample, ml-100k"),
        (["data", "enrich", "ml-1m"], "-m recsys data get ml-1m"),
    ],
)
def test_what_a_person_can_mend_is_one_line_and_no_traceback(toy_home, capsys, command, sentence):
    assert main(command) == 1
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert not printed.out


@pytest.fixture
def failing(monkeypatch):
    """Lets `data list` end in an error."""

    def fail(error):
        def table():
            raise error

        monkeypatch.setattr(datasets, "summaries", table)
        return main(["data", "list"])

    return fail


@pytest.mark.parametrize("kind", [results.ResultError, ProtocolError, ScoreError, checkpoints.CheckpointError])
def test_no_error_that_a_person_can_mend_escapes(failing, capsys, kind):
    assert failing(kind("it is broken", "mend it")) == 1
    assert capsys.readouterr().err == "it is broken; run: mend it\n"


@pytest.mark.parametrize("bug", [KeyError("Heat"), RuntimeError("no"), ValueError("no"), OSError(errno.EINVAL, "no")])
def test_a_bug_keeps_its_traceback(failing, bug):
    with pytest.raises(type(bug)):
        failing(bug)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free up disk space, or set RECSYS_HOME to a folder elsewhere"),
        (errno.EACCES, "set RECSYS_HOME to another folder"),
        (errno.EROFS, "set RECSYS_HOME to another folder"),
    ],
)
def test_a_disk_that_is_full_or_forbidden_is_one_line(failing, capsys, number, advice):
    assert failing(OSError(number, os.strerror(number), "/home/films")) == 1
    assert capsys.readouterr().err == f"/home/films: {os.strerror(number)}; {advice}\n"


def test_a_warning_is_a_sentence_without_lines_of_source(monkeypatch, capsys):
    monkeypatch.setattr(datasets, "summaries", lambda: warnings.warn("the disk is slow", stacklevel=1) or [])
    assert main(["data", "list"]) == 0
    assert capsys.readouterr().err == "the disk is slow\n"


@pytest.mark.parametrize(("signal", "code"), [(KeyboardInterrupt(), 130), (Cancelled(), 143)])
def test_a_signal_is_one_word_and_its_exit_code(failing, capsys, signal, code):
    assert failing(signal) == code
    assert capsys.readouterr().err == "stopped\n"


def test_a_reader_who_has_seen_enough_gets_no_traceback():
    command = f"{shlex.quote(sys.executable)} -m recsys report --brief --dataset ml-100k --protocol full | true"
    ended = subprocess.run(command, shell=True, cwd=paths.REPOSITORY, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr


def test_a_missing_package_is_named_in_one_line(toy_home, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "implicit.cpu.als", None)
    assert main(["evaluate", "ials"]) == 1
    assert capsys.readouterr().err.strip().splitlines()[-1].endswith("-m pip install implicit")


def test_without_tyro_the_command_line_says_what_to_install(capsys, monkeypatch):
    for module in [name for name in sys.modules if name.startswith("recsys.cli.") and name != "recsys.cli.main"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "tyro", None)
    assert main(["data", "list"]) == 1
    assert capsys.readouterr().err == f"{MissingLibraryError('the command line', 'tyro')}\n"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["sell"],
        ["data"],
        ["data", "sell"],
        ["data", "get"],
        ["train"],
        ["train", "bert4rec", "--no-such-flag", "1"],
        ["train", "bert4rec", "--dim", "wide"],
        ["train", "bert4rec", "--protocol", "guess"],
        ["train", "item-knn", "--weighting", "lead"],
        ["evaluate"],
        ["evaluate", "popular", "--protocol", "guess"],
        ["report", "--protocol", "guess"],
        ["recommend", "--no-such-flag"],
        ["recommend", "-k", "many"],
        ["experiment", "nobel"],
        ["bench"],
        ["bench", "sell"],
        ["jobs", "sell"],
        ["jobs", "stop"],
        ["app", "--loud"],
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused_with_the_usage(capsys, command):
    with pytest.raises(SystemExit) as end:
        main(command)
    assert end.value.code == 2
    assert "usage: " in capsys.readouterr().err


def test_wrong_arguments_of_a_subcommand_are_refused_with_its_usage(capsys):
    with pytest.raises(SystemExit):
        main(["data", "add"])
    assert "-m recsys data add [-h]" in capsys.readouterr().err.splitlines()[-1]
    with pytest.raises(SystemExit):
        main(["data", "ad"])
    assert "-m recsys data [-h] {list,get," in capsys.readouterr().err.splitlines()[-1]


def test_every_command_is_listed_and_explained(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    listed = capsys.readouterr().out
    assert all(f"• {name} " in listed for name in COMMANDS)


def test_the_names_that_flags_take_are_those_of_the_tables():
    assert get_args(ProtocolName) == tuple(PROTOCOLS)
    assert get_args(ProtocolOrAll) == (*PROTOCOLS, ALL)
    assert get_args(StudyName) == (*PLANS, *COMPARISONS)


LIGHT = [["--help"], ["jobs"], *([name, "--help"] for name in COMMANDS), ["experiment", "ties", "--help"]]


LISTS = [["data", "list"], ["bench", "serve", "--help"], ["bench", "train", "--help"]]


@pytest.mark.parametrize(("commands", "packages"), [(LIGHT, {"numpy", "pandas", "torch"}), (LISTS, {"torch"})])
def test_help_and_lists_load_no_large_packages(toy_home, commands, packages):
    job = queue.Job(id="20260101-000000", variant="popular", dataset="toy", state=queue.State.DONE)
    storage.replace_file(job.folder / queue.JOB_FILE, storage.sign_document(asdict(job)))
    (job.folder / queue.PROGRESS).write_text('{"epoch": 3, "epochs": 60}\n')
    code = f"""import sys; from recsys.cli.main import main
for command in {commands!r}:
    try: main(command)
    except SystemExit: pass
sys.exit(bool({packages!r} & sys.modules.keys()))"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=paths.REPOSITORY, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_command_that_is_shown_works_when_pasted_though_the_environment_is_not_active(toy_home):
    bare = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {"PATH": "/usr/bin:/bin"}
    at_home = {"cwd": paths.REPOSITORY, "env": bare, "capture_output": True, "text": True}
    said = subprocess.run([sys.executable, "-m", "recsys", "train", "popular"], **at_home, check=True).stdout
    shown = said.splitlines()[-1].removeprefix("to evaluate it: ")
    assert "-m recsys evaluate popular" in shown
    ended = subprocess.run(["sh", "-c", shown], **at_home, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "ndcg@10" in ended.stdout


@pytest.mark.parametrize("package", ["tyro", "docstring_parser"])
def test_the_package_that_the_command_line_lacks_is_named(package):
    """Tyro needs packages of its own, which somebody who carries wheels to a machine may forget."""
    code = f"import sys; sys.modules[{package!r}] = None; import recsys.cli.options"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert f"needs the package {package}" in ended.stderr
