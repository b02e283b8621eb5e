"""README.md and docs: the two commands, the tables of results, links, and named files and commands."""

import re
import shlex
from functools import cache
from importlib import import_module

import pytest

from recsys import boards
from recsys.cli.main import COMMANDS
from recsys.evaluation import report, results
from recsys.models import registry
from recsys.paths import REPOSITORY

README = REPOSITORY / "README.md"
LOG = REPOSITORY / "docs" / "experiments.md"  # is not rewritten, so it has names of its day
FOLDERS = ("docs", "benchmarks", ".github", "assets/data")
PAGES = sorted(
    [README, REPOSITORY / "ARCHITECTURE.md", *(page for name in FOLDERS for page in (REPOSITORY / name).rglob("*.md"))]
)
GENERATED = re.compile(r"^<!-- python -m recsys report (.+?) -->\n(.+?)\n<!-- -->$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w./@-]+(?:/|\.(?:py|md|json|po|toml|txt|lock|conf|service|safetensors|npz|zip)))(?=[`:])")
EXAMPLES = {"pages/6_name.py", "pl.po", "pl@item.po"}  # files that a contributor would add
MAX_BYTES = {"README.md": 8_000, "ARCHITECTURE.md": 6_000, "CONTRIBUTING.md": 3_000, "typed-lists.md": 16_500}
MAX_PAGE_BYTES = 12_500

BOARDS = (("ml-1m", "full"), ("ml-1m", "untied"), ("ml-latest-sample", "full"))
RECOMMENDERS = (
    *("pool", "ensemble", "sasrec-memory", "bert4rec-memory", "sasrec-softmax", "bert4rec", "markov", "gru4rec-ce"),
    *("item-knn", "popular"),
)


def text(page):
    """The text of a page."""
    return page.read_text("utf-8")


def name(page):
    """The path of a page, as the name of a test."""
    return str(page.relative_to(REPOSITORY))


def commands(page):
    """The arguments of all commands `python -m recsys` that can be typed as they stand."""
    shown = re.findall(r"-m recsys ([a-z][^`\n|]*)", text(page))
    return [line.strip() for line in shown if not re.search(r"…|NAME|FILE| -->", line)]


@cache
def path_endings():
    """Every file and folder of the project, as all texts that name it: "a/b/c.py", "b/c.py" and "c.py"."""
    folders = ("recsys", "pages", "tests", "assets", "benchmarks", "deploy", "docs")
    files = [path for folder in folders for path in (REPOSITORY / folder).rglob("*")]
    paths = [(path.relative_to(REPOSITORY).parts, "/" * path.is_dir()) for path in [*files, *REPOSITORY.iterdir()]]
    return {"/".join(parts[start:]) + slash for parts, slash in paths for start in range(len(parts))}


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", CODE_BLOCK.sub("", text(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_the_two_commands_are_complete_by_themselves():
    for line, last in (("run", ".venv/bin/streamlit run app.py"), ("test", ".venv/bin/pytest -n 2")):
        (command,) = re.findall(rf"^{line}: `(.+)`$", text(README), re.MULTILINE)
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -r requirements.txt")
        assert command.endswith(f"&& {last}")


@pytest.mark.parametrize("recommender", registry.names())
def test_the_table_of_models_has_every_recommender(recommender):
    rows = [line for line in text(REPOSITORY / "docs" / "models.md").splitlines() if line.endswith(".py` |")]
    assert any(f"`{recommender}`" in row for row in rows)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_are_short(page):
    if page != LOG:
        assert len(text(page).encode()) <= MAX_BYTES.get(page.name, MAX_PAGE_BYTES)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_to_files_and_headings(page):
    for link in LINK.findall(CODE_BLOCK.sub("", text(page))):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", [page for page in PAGES if page != LOG], ids=name)
def test_named_files_exist(page):
    named = set(NAMED.findall(CODE_BLOCK.sub("", text(page)))) - EXAMPLES
    assert sorted(named - path_endings()) == []


@pytest.mark.parametrize("command", sorted({line for page in PAGES if page != LOG for line in commands(page)}))
def test_commands_can_be_parsed_and_name_known_recommenders(command):
    name, *arguments = shlex.split(command)
    parse = getattr(import_module(f"recsys.cli.{COMMANDS[name][0]}"), name)
    assert callable(parse(arguments))  # exits for an unknown flag, protocol or study
    if name == "evaluate":
        assert arguments[0] in {*registry.names(), "all"}
    if "--model" in arguments:
        registry.get(arguments[arguments.index("--model") + 1])


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if GENERATED.search(text(page))], ids=name)
def test_tables_of_results_are_what_report_prints_of_the_shipped_results(page, monkeypatch, tmp_path):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    for flags, table in GENERATED.findall(text(page)):
        words = flags.replace("--brief ", "").split()
        options = dict(zip(words[::2], words[1::2], strict=True))
        dataset, protocol, beside = options["--dataset"], options["--protocol"], options.get("--beside", "")
        assert table == report.format_report([dataset], [protocol], brief=True, other_protocol=beside)
        for measured in filter(None, (protocol, beside)):
            assert {document["variant"] for document in results.documents(dataset, measured)} <= set(registry.names())


def test_the_table_of_the_readme_has_the_shipped_results(monkeypatch, tmp_path):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    boards = [{document["variant"]: document for document in results.documents(*board)} for board in BOARDS]
    rows = [
        [
            f"{registry.get(recommender).title} (`{recommender}`)",
            *(report.format_headline(board[recommender]) if recommender in board else "–" for board in boards),
        ]
        for recommender in RECOMMENDERS
    ]
    columns = ["recommender", "ML-1M, `full`", "ML-1M, `untied`", "built-in set, `full`"]
    assert report.markdown(columns, rows) in text(README)


def table_rows(page, section):
    """The cells of the rows of the tables in a section whose first cell starts with a name in backticks."""
    content = re.search(rf"^## {section}\n(.+?)(?=^## |\Z)", text(page), re.MULTILINE | re.DOTALL)[1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `.+\|$", content, re.M)]


def calibrations(dataset, protocol):
    """The stored calibrations by recommender."""
    stored = results.documents(dataset, protocol)
    return {document["variant"]: document["calibration"] for document in stored if "calibration" in document}


def test_the_calibration_tables_have_the_shipped_results(monkeypatch, tmp_path):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    untied, full, latest = (
        calibrations("ml-1m", "untied"),
        calibrations(*BOARDS[2]),
        calibrations(BOARDS[2][0], "short-1"),
    )

    def percentages(calibration, n_films):
        return [
            f"{sum(calibration['by_rank'][key][:n_films]):.1%}".replace("%", " %") for key in ("predicted", "hit_rate")
        ]

    def error(calibration):
        return f"{calibration['ece']:.4f}".removeprefix("0")

    rows = table_rows(REPOSITORY / "docs" / "findings.md", "Calibration")
    checked = [row for row in rows if "without calibration" not in row[0]]
    assert len(checked) == 11
    for first_cell, *cells in checked:
        recommender = first_cell.split("`")[1]
        if len(cells) == 3:
            assert cells == [*percentages(untied[recommender], 10), error(untied[recommender])], first_cell
        else:
            both = (full[recommender], latest[recommender])
            expected = [(", ".join(percentages(calibration, 1)), error(calibration)) for calibration in both]
            assert cells == [*expected[0], *expected[1]], first_cell


def test_the_number_of_shipped_checkpoints_is_correct():
    page = text(REPOSITORY / "docs" / "data.md")
    n_trained = sum(recommender.needs_training and recommender.listed for recommender in registry.RECOMMENDERS.values())
    assert f"\n{n_trained} recommenders need training." in page
    for dataset, name in (("ml-latest-sample", "built-in set"), ("ml-1m", "`ml-1m`"), ("ml-100k", "`ml-100k`")):
        folders = {path.parent.name for path in (REPOSITORY / "assets/checkpoints" / dataset).glob("*/*/meta.json")}
        row = f"| {name} | {len(folders - {'pool'})}" + (", and the weights of " if "pool" in folders else " |")
        assert row in page


def test_the_dates_of_the_results_are_correct():
    dates = []
    for path in (REPOSITORY / "assets/results").glob("*/*.json"):
        if path.parent.name not in ("studies", "ties"):
            for document in boards.read(path).values():
                run = document["run"]
                while run:
                    dates.append(run["date"][:10])
                    run = run.get("earlier")
    assert f"between {min(dates)} and {max(dates)}," in text(REPOSITORY / "docs" / "results.md")
