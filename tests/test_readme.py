import re

import pytest

from recsys.evaluation import report, results
from recsys.models import registry
from recsys.paths import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")


def test_the_two_commands_are_complete_by_themselves():
    for name, last in (("run", ".venv/bin/streamlit run app.py"), ("test", ".venv/bin/pytest -n 2")):
        (command,) = re.findall(rf"^{name}: `(.+)`$", README, re.MULTILINE)
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -r requirements.txt")
        assert command.endswith(f"&& {last}")


def test_every_file_that_the_readme_names_exists():
    named = re.findall(r"`((?:recsys|assets|pages|tests|benchmarks)/[\w/.-]*|[\w]+\.(?:py|txt))`", README)
    assert named
    places = [
        REPOSITORY,
        *(REPOSITORY / "recsys" / part for part in ("ranking", "models", "training", "evaluation", "serving")),
    ]
    for name in named:
        assert any((place / name).exists() for place in places), name


@pytest.mark.parametrize(("protocol", "beside"), [("full", "untied"), ("popularity-100", "")])
def test_the_tables_of_the_readme_are_what_report_prints_of_the_shipped_results(
    protocol, beside, monkeypatch, tmp_path
):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    command = f"python -m recsys report --brief --dataset ml-1m --protocol {protocol}" + (
        f" --beside {beside}" if beside else ""
    )
    (printed,) = re.findall(rf"^<!-- {re.escape(command)} -->\n(.+?)\n<!-- -->$", README, re.MULTILINE | re.DOTALL)
    assert printed == report.format_report(["ml-1m"], [protocol], brief=True, other_protocol=beside)
    for measured in filter(None, (protocol, beside)):
        assert {document["variant"] for document in results.documents("ml-1m", measured)} <= set(registry.names())
