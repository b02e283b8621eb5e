"""Commands that are killed (kill -9) at each stage of their changes of the disk lose nothing."""

import itertools
import shlex
import signal
from pathlib import Path

import pytest

from recsys import paths, storage, verify
from tests.reliability import killed

KILLED = {  # name: arguments; each command replaces files of the round before
    "add": shlex.split("data add mine --interactions events.csv --items films.csv --noun film --replace"),
    "train": ["train", "fmc", "--dataset", "mine", "--epochs", "2", "--device", "cpu", "--save-every", "0"],
    "evaluate": ["evaluate", "fmc", "--dataset", "mine"],
    "prepare": ["prepare", "mine"],
    "enrich": ["data", "enrich", "mine"],
}
KILLS_PER_COMMAND = 12  # 60 kills of five commands
N_FILMS = 25


def write_tables(number):
    """Write events.csv and films.csv. Each number gives other users and other films."""
    films = range(number, number + N_FILMS)
    rows = [f"{film},Film {film},{1990 + film % 9},Comedy,{1000 + film}" for film in films]
    events = [
        f"{user},{films[(user + step) % N_FILMS]},{10**9 + step}" for user in range(40 + number) for step in range(8)
    ]
    Path("films.csv").write_text("\n".join(["item,title,year,genres,imdbId", *rows]))
    Path("events.csv").write_text("\n".join(["user,item,time", *events]))


def intact_files(home):
    """Return the verified files of the data set and the answers of Wikidata. A damaged file is an error."""
    findings = list(verify.check_dataset("mine"))
    assert [finding for finding in findings if finding.problem] == []
    answers = list(paths.wikidata().glob("*.json"))
    for path in answers:
        storage.check(path)
    return {path for path in (*answers, *(finding.path for finding in findings)) if path.is_relative_to(home)}


@pytest.mark.reliability
def test_a_killed_command_loses_nothing(tmp_path, monkeypatch, record_property):
    """Kill each command once a round, at a later moment in each round, then run it to its end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    home = paths.home()
    write_tables(0)
    n_changes = {}
    for name, arguments in KILLED.items():
        code, n_changes[name] = killed.run(home, arguments)
        assert code == 0, name
    kills = dict.fromkeys(KILLED, 0)
    for number, (name, arguments) in itertools.product(range(KILLS_PER_COMMAND), KILLED.items()):
        if name == "add":
            write_tables(number + 1)
        before = intact_files(home)
        code, _ = killed.run(home, arguments, kill_before=n_changes[name] * number // KILLS_PER_COMMAND)
        kills[name] += code == -signal.SIGKILL
        lost = before - intact_files(home)
        assert lost <= ({paths.details("mine")} if name == "add" else set()), name  # facts about the replaced films
        code, n_changes[name] = killed.run(home, arguments)
        assert code == 0, name
        intact_files(home)
        assert [path for path in home.rglob("*") if storage.TEMPORARY.search(path.name)] == [], name
    record_property("figure", ", ".join(f"{name}: {count} kills" for name, count in kills.items()) + ", nothing lost")
    assert set(kills.values()) == {KILLS_PER_COMMAND}
