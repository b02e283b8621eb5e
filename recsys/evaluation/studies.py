"""Studies: measurements with a question, an answer, a table and a chart, shown on the Evaluation page.

A study is a document `results/studies/<name>.json`, see `Study`. A study in the home folder replaces the shipped study
of the same name. This module loads neither torch nor Streamlit.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from recsys import paths, storage
from recsys.errors import Message, RecsysError, restore_command, warn

KINDS = ("line", "bar", "scatter", "rows")


class StudyError(RecsysError):
    """A study cannot be shown."""


STRICT = ConfigDict(strict=True, frozen=True)


class Column(BaseModel):
    """A column of the table."""

    model_config = STRICT

    name: str
    title: str | None = None
    digits: int | None = None  # number of decimals; None: not rounded


class Chart(BaseModel):
    """How the table is drawn. All fields but `kind` and `log` name columns."""

    model_config = STRICT | ConfigDict(extra="forbid")

    kind: str  # one of KINDS; "rows": horizontal, with a row for each x, for long names
    x: str
    y: str  # numeric
    by: str | None = None  # a line, group of bars or colour for each value
    low: str | None = None  # error bars from low to high
    high: str | None = None
    label: str | None = None  # text beside each mark of a "scatter"
    log: Annotated[tuple[str, ...], Field(strict=False)] = ()  # logarithmic axes: "x", "y"


class Study(BaseModel):
    """The content of a study file."""

    model_config = STRICT

    name: str  # of the file
    title: str
    question: str  # one or two sentences
    columns: list[Column]
    rows: list[list[str | int | FiniteFloat | None]]
    dataset: str = ""
    papers: str = ""  # published findings
    answer: str = ""
    how: str = ""  # protocol, seeds and command
    chart: Chart | None = None

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows as a table. A column of numbers and nulls is numeric."""
        return pd.DataFrame(self.rows, columns=[column.name for column in self.columns])

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the columns by name."""
        return {column.name: column.title or column.name for column in self.columns}

    @property
    def digits(self) -> dict[str, int]:
        """Decimals of the columns by name, if they are set."""
        return {column.name: column.digits for column in self.columns if column.digits is not None}

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Raise ValueError if columns, rows and chart do not fit together."""
        names = {column.name for column in self.columns}
        if not names or len(names) < len(self.columns):
            raise ValueError(Message("needs columns, each with a name of its own"))
        if not self.rows or any(len(row) != len(names) for row in self.rows):
            raise ValueError(Message("needs rows of {n} values, one for each column", n=len(names)))
        if self.chart:
            _check_chart(self.chart, self.table)
        return self


def studies(report: Callable[[RecsysError], None] = warn) -> list[Study]:
    """Return all studies by file name. `report` receives an error for each unreadable file."""
    files = {path.stem: path for root in (paths.ASSETS, paths.home()) for path in paths.studies(root).glob("*.json")}
    readable = []
    for _, path in sorted(files.items()):
        try:
            readable.append(read(path))
        except StudyError as error:
            report(error)
    return readable


def read(path: Path) -> Study:
    """Return the study of a file. Raises StudyError, which names the file."""
    try:
        return Study.model_validate(storage.read_document(path) | {"name": path.stem})
    except (OSError, storage.DamagedFileError) as error:
        command = restore_command(path) if path.is_relative_to(paths.ASSETS) else None
        text = "the study {path} is damaged" if command else "the study {path} is damaged; delete the file"
        raise StudyError(text, command, path=path) from error
    except ValidationError as error:
        raise StudyError("the study {path} {why}; mend the file or delete it", path=path, why=_reason(error)) from error


def _check_chart(chart: Chart, table: pd.DataFrame) -> None:
    """Raise ValueError if a chart does not fit the table."""
    if chart.kind not in KINDS:
        text = "asks for a chart of kind {kind}; there are: {kinds}"
        raise ValueError(Message(text, kind=chart.kind, kinds=", ".join(KINDS)))
    columns = [name for name in (chart.x, chart.y, chart.by, chart.low, chart.high, chart.label) if name is not None]
    if missing := [name for name in columns if name not in table]:
        raise ValueError(Message("draws a column that it does not have: {missing}", missing=missing[0]))
    numeric = [chart.y, *filter(None, (chart.low, chart.high)), *([chart.x] if chart.kind == "scatter" else [])]
    if texts := [name for name in numeric if not pd.api.types.is_numeric_dtype(table[name])]:
        raise ValueError(Message("draws a column as numbers that holds something else: {column}", column=texts[0]))
    if (chart.low is None) != (chart.high is None) or not set(chart.log) <= {"x", "y"}:
        raise ValueError(Message("needs both ends of the whiskers, and only x and y as logarithmic axes"))


def _reason(error: ValidationError) -> Message:
    """Return the reason why a document is invalid, as the end of a sentence."""
    details: Any = error.errors()[0]
    if details["type"] == "value_error":
        reason: Message = details["ctx"]["error"].args[0]
        return reason
    if details["loc"][0] == "rows" and len(details["loc"]) > 2:
        return Message("holds a value that is neither text nor a finite number nor null")
    if details["type"] == "string_type":
        return Message("has a number where words should be")
    return Message("is not in the form that recsys/evaluation/studies.py describes")
