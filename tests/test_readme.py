import re

import pytest

from recsys.evaluation import results
from recsys.paths import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")


def test_the_two_commands_are_complete_by_themselves():
    for name, last in (("run", ".venv/bin/streamlit run app.py"), ("test", ".venv/bin/pytest")):
        (command,) = re.findall(rf"^{name}: `(.+)`$", README, re.MULTILINE)
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -r requirements.txt")
        assert command.endswith(f"&& {last}")


def test_every_file_that_the_readme_names_exists():
    named = re.findall(r"`((?:recsys|assets|pages|tests|benchmarks)/[\w/.-]*|[\w]+\.(?:py|txt))`", README)
    assert named
    places = [REPOSITORY, *(REPOSITORY / "recsys" / part for part in ("models", "training", "evaluation", "serving"))]
    for name in named:
        assert any((place / name).exists() for place in places), name


def test_every_figure_of_the_readme_is_that_of_a_shipped_result(monkeypatch, tmp_path):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    rows = re.findall(
        r"^\| (?!model)([\w-]+) \| (\d+) \| ([.\d]+) \| ([.\d]+) \| ([.\d]+) \| ([.\d]+) \|", README, re.MULTILINE
    )
    assert "bert4rec" in [row[0] for row in rows]
    for variant, seeds, *figures in rows:
        full, sampled = (results.load("ml-1m", protocol, variant) for protocol in ("full", "popularity-100"))
        assert int(seeds) == len(full["seeds"]) == len(sampled["seeds"])
        measured = [result["mean"][metric] for result in (full, sampled) for metric in ("ndcg@10", "hr@10")]
        assert [float(figure) for figure in figures] == pytest.approx(measured, abs=6e-5), variant
