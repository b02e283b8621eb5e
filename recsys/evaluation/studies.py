"""Studies: measurements with a question, an answer, a table and a chart, shown on the Evaluation page.

A study is a document `results/studies/<name>.json`, see `Study`. A study in the home folder replaces the shipped study
of the same name. This module loads neither torch nor Streamlit.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from recsys import errors, paths, storage
from recsys.errors import RecsysError, restore_command
from recsys.models.registry import FORMER_FAMILIES, FORMER_TITLES


class StudyError(RecsysError):
    """A study cannot be shown."""


class Column(BaseModel, strict=True, frozen=True):
    """A column of the table."""

    name: str
    title: str | None = None  # None: the name
    digits: int | None = None  # number of decimals; None: not rounded


class Chart(BaseModel, strict=True, frozen=True):
    """How the table is plotted. The fields `x`, `y`, `by`, `low`, `high` and `label` are names of columns."""

    kind: Literal["line", "bar", "scatter", "rows"]  # "rows": a horizontal mark for each x
    x: str
    y: str  # numeric
    by: str | None = None  # a line, group of bars or colour for each value
    low: str | None = None  # error bars from low to high
    high: str | None = None
    label: str | None = None  # text beside each mark of a "scatter"
    log: list[Literal["x", "y"]] = []  # logarithmic axes


class Study(BaseModel, strict=True, frozen=True):
    """The content of a study file."""

    name: str  # of the file
    title: str
    question: str  # one or two sentences
    columns: list[Column]
    rows: list[list[str | int | FiniteFloat | None]]
    dataset: str = ""
    papers: str = ""  # published findings
    answer: str = ""
    method: str = Field("", alias="how")  # protocol, seeds and command
    chart: Chart | None = None

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows as a table. A column of numbers and nulls is numeric.

        Former titles of recommenders and, in the column "family", former families are replaced.
        """
        names = [column.name for column in self.columns]
        renames = [FORMER_FAMILIES if name == "family" else FORMER_TITLES for name in names]
        rows = [
            [texts.get(cell, cell) if isinstance(cell, str) else cell for texts, cell in zip(renames, row, strict=True)]
            for row in self.rows
        ]
        return pd.DataFrame(rows, columns=names)

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the columns by name."""
        return {column.name: column.title or column.name for column in self.columns}

    @property
    def digits(self) -> dict[str, int]:
        """Numbers of decimals by column name. Columns that are not rounded are left out."""
        return {column.name: column.digits for column in self.columns if column.digits is not None}


def studies(warn: Callable[[RecsysError], None] = errors.warn) -> list[Study]:
    """Return all studies, sorted by file name. `warn` is called with an error for each unreadable file."""
    # a study in the home folder replaces the shipped study with its name
    files = {path.stem: path for root in (paths.ASSETS, paths.home()) for path in paths.studies(root).glob("*.json")}
    readable_studies = []
    for _, path in sorted(files.items()):
        try:
            readable_studies.append(read(path))
        except StudyError as error:
            warn(error)
    return readable_studies


def read(path: Path) -> Study:
    """Return the study of a file. Raises StudyError, which names the file."""
    try:
        return Study.model_validate(storage.read_document(path) | {"name": path.stem})
    except (OSError, storage.DamagedFileError, ValidationError) as error:
        if path.is_relative_to(paths.ASSETS):
            raise StudyError("the study {path} is damaged", restore_command(path), path=path) from error
        raise StudyError("the study {path} is damaged; delete the file", path=path) from error
