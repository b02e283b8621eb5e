"""Studies: whatever else was measured, a file each, shown on the Evaluation page as text, chart and table.

`results/studies/<name>.json`, in assets/ or in the home folder, which wins; sealed, see `recsys.storage`:
{
  "title": "Does order matter?",                       one line
  "dataset": "ml-1m",                                  optional: on which data set
  "question": "What is lost when histories are …",     what was asked, one or two sentences
  "papers": "SASRec reports …",                        optional: what others found
  "answer": "A third of NDCG@10 …",                    optional: what came out
  "how": "ML-1M, protocol full, three seeds …",        optional: how it was measured, and the line that repeats it
  "columns": [{"name": "model", "title": "Recommender"}, {"name": "ndcg", "title": "NDCG@10", "digits": 4}, …],
  "rows": [["BERT4Rec", 0.157], …],                    text, numbers or null, as many as there are columns
  "chart": {"kind": "line", "x": "share", "y": "ndcg", "by": "model", "low": "from", "high": "to", "log": ["x"]}
}
chart: optional; kind "line", "bar", "scatter" or "rows"; x, y, by, low, high and label name columns. by, low, high and
label are optional: each value of `by` gets its line, group of bars or colour, whiskers go from low to high, the words
of `label` stand beside the marks of a "scatter". log: the logarithmic axes. In "rows" each x is a row with its name,
and y is drawn from left to right: for names that are long.
y, low and high must be numbers; x too for "scatter". Loads neither torch nor Streamlit.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from recsys import paths, storage
from recsys.errors import RecsysError

KINDS = ("line", "bar", "scatter", "rows")


class StudyError(RecsysError):
    """A study that cannot be shown; the message says what is wrong with the file."""


@dataclass(frozen=True)
class Chart:
    """How a study's table is drawn; the names are columns of it."""

    kind: str
    x: str
    y: str
    by: str | None = None
    low: str | None = None
    high: str | None = None
    label: str | None = None
    log: tuple[str, ...] = ()  # "x", "y"


@dataclass(frozen=True)
class Study:
    """One study; `titles` and `digits`: by name of the table's columns."""

    name: str
    title: str
    question: str
    table: pd.DataFrame
    dataset: str = ""
    papers: str = ""
    answer: str = ""
    how: str = ""
    titles: dict[str, str] = field(default_factory=dict)
    digits: dict[str, int] = field(default_factory=dict)
    chart: Chart | None = None


def studies(report: Callable[[str], None] = warnings.warn) -> list[Study]:
    """Every study there is, by file name. One that cannot be read is left out, with a sentence to `report`."""
    last = {path.stem: path for root in (paths.ASSETS, paths.home()) for path in paths.studies(root).glob("*.json")}
    found = []
    for _, path in sorted(last.items()):
        try:
            found.append(read(path))
        except StudyError as error:
            report(str(error))
    return found


def read(path: Path) -> Study:
    """One study file. Raises StudyError that names the file and what is wrong with it."""
    try:
        return _study(path.stem, storage.read_document(path))
    except (OSError, storage.DamagedFileError) as error:
        command = storage.restore_command(path) if path.is_relative_to(paths.ASSETS) else None
        advice = "" if command else "; make the study again or delete the file"
        raise StudyError(f"the study {path} is damaged{advice}", command) from error
    except (StudyError, ValueError, KeyError, TypeError, AttributeError) as error:
        unknown = "is not in the form that recsys/evaluation/studies.py describes"
        why = error.message if isinstance(error, StudyError) else unknown
        raise StudyError(f"the study {path} {why}; mend the file or delete it") from error


def _study(name: str, document: dict[str, Any]) -> Study:
    columns = document["columns"]
    names = [_text(column["name"]) for column in columns]
    table = _table(names, document["rows"])
    return Study(
        name=name,
        title=_text(document["title"]),
        question=_text(document["question"]),
        table=table,
        dataset=_text(document.get("dataset", "")),
        papers=_text(document.get("papers", "")),
        answer=_text(document.get("answer", "")),
        how=_text(document.get("how", "")),
        titles={column["name"]: _text(column.get("title", column["name"])) for column in columns},
        digits={column["name"]: int(column["digits"]) for column in columns if "digits" in column},
        chart=_chart(document["chart"], table) if document.get("chart") else None,
    )


def _table(names: list[str], rows: list[list[Any]]) -> pd.DataFrame:
    """Checked rows; a column of numbers and nulls becomes numeric."""
    if not names or len(set(names)) < len(names):
        raise StudyError("needs columns, each with a name of its own")
    if not rows or any(len(row) != len(names) for row in rows):
        raise StudyError(f"needs rows of {len(names)} values, one for each column")
    if not all(_plain(value) for row in rows for value in row):
        raise StudyError("holds a value that is neither text nor a finite number nor null")
    return pd.DataFrame(rows, columns=names)


def _chart(wanted: dict[str, Any], table: pd.DataFrame) -> Chart:
    """A chart whose columns are there and fit."""
    chart = Chart(**{**wanted, "log": tuple(wanted.get("log", ()))})
    if chart.kind not in KINDS:
        raise StudyError(f"asks for a chart of kind {chart.kind}; there are: {', '.join(KINDS)}")
    used = [name for name in (chart.x, chart.y, chart.by, chart.low, chart.high, chart.label) if name is not None]
    if missing := [name for name in used if name not in table]:
        raise StudyError(f"draws a column that it does not have: {missing[0]}")
    numbers = [chart.y, *filter(None, (chart.low, chart.high)), *([chart.x] if chart.kind == "scatter" else [])]
    if words := [name for name in numbers if not pd.api.types.is_numeric_dtype(table[name])]:
        raise StudyError(f"draws a column as numbers that holds something else: {words[0]}")
    if (chart.low is None) != (chart.high is None) or not set(chart.log) <= {"x", "y"}:
        raise StudyError("needs both ends of the whiskers, and only x and y as logarithmic axes")
    return chart


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise StudyError("has a number where words should be")
    return value


def _plain(value: Any) -> bool:
    """Whether a cell can be shown."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)
