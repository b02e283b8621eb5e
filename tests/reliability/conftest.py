"""Fixtures of the reliability tests, and the report that --reliability-report writes.

pytest tests/reliability -m "" --reliability-report benchmarks
"""

import json
from pathlib import Path

import pytest

from recsys import machine
from recsys.data import datasets
from tests.served_app import served_app

HEAD = """# Reliability and security

Written by `pytest tests/reliability -m "" --reliability-report benchmarks`. Each row has the result of the last run of
its test.

| test | result | figure | seconds | machine, date |
|---|---|---|---:|---|
"""
RESULTS = ("failed", "passed", "skipped")  # the first of them that a parametrised test has is its result
rows: dict[str, dict] = {}


def pytest_addoption(parser):
    parser.addoption(
        "--reliability-report", type=Path, metavar="FOLDER", help="update reliability.json and reliability.md there"
    )


def pytest_runtest_logreport(report):
    file, _, test = report.nodeid.partition("::")
    if "tests/reliability/" not in file or (report.when != "call" and report.passed):
        return
    name = f"{Path(file).stem}::{test.partition('[')[0]}"
    row = rows.setdefault(name, {"result": report.outcome, "figure": "", "seconds": 0.0})
    row["result"] = min(row["result"], report.outcome, key=RESULTS.index)
    row["seconds"] = round(row["seconds"] + report.duration, 1)
    figures = [text for text in (row["figure"], *(value for _, value in report.user_properties)) if text]
    if report.skipped and not figures:
        figures = [report.longrepr[2].removeprefix("Skipped: ")]
    row["figure"] = "; ".join(figures)


def pytest_sessionfinish(session):
    folder = session.config.getoption("--reliability-report", None)
    if not folder or not rows:
        return
    description = machine.describe()
    fields = {name: description[name] for name in ("date", "cpu", "cores", "load", "commit")}
    document = folder / "reliability.json"
    earlier = json.loads(document.read_text("utf-8")) if document.exists() else {}
    table = dict(sorted((earlier | {name: row | fields for name, row in rows.items()}).items()))
    document.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", "utf-8")
    (folder / "reliability.md").write_text(HEAD + "".join(map(line, table, table.values())), "utf-8")


def line(name, row):
    place = f"{row['cores']} cores of {row['cpu']}, load {row['load']}, {row['date'][:10]}, {row['commit']}"
    title = name.partition("::test_")[2].replace("_", " ")
    cells = (title, f"**{row['result']}**", row["figure"], f"{row['seconds']:g}", place)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


@pytest.fixture(scope="module")
def sample_home(tmp_path_factory):
    """A home folder with the default data set, for all tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("home")
        patch.setenv("RECSYS_HOME", str(folder))
        datasets.ensure(datasets.DEFAULT_DATASET)
        yield folder


@pytest.fixture(scope="module")
def app(sample_home):
    """The running app."""
    with served_app() as running:
        yield running
