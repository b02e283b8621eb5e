"""What the sections of the Evaluation page are made of: a chart or a table, with its numbers to take away."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from pages.shared import download
from pages.shared.charts import plot as plot


def chart(figure: go.Figure, about: str, table: pd.DataFrame, name: str) -> None:
    """A chart, described for screen readers, and below it its numbers."""
    plot(figure, about, name)
    numbers(table, name)


def numbers(table: pd.DataFrame, name: str) -> None:
    """The numbers behind a table or a chart, as a file."""
    download.csv(table, name, quiet=True)


def by_variant(table: pd.DataFrame, chosen: list[str]) -> Mapping[str, pd.DataFrame]:
    """Variant → its rows."""
    return {variant: table[table["variant"] == variant] for variant in chosen}
