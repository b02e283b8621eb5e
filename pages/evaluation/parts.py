"""What the sections of the Evaluation page are made of: a chart or a table, with its numbers to take away."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.shared import download


def chart(figure: go.Figure, about: str, table: pd.DataFrame, name: str) -> None:
    """A chart, described for screen readers, and below it its numbers."""
    plot(figure, about, name)
    numbers(table, name)


def plot(figure: go.Figure, about: str, name: str) -> None:
    """A chart, described for screen readers; its only tool makes a picture of it, `name`.png."""
    picture = {"format": "png", "scale": 2, "filename": name}
    tools = {"modeBarButtons": [["toImage"]], "displaylogo": False, "toImageButtonOptions": picture}
    with st.container(key=f"chart-{name.replace('@', '-')}"):
        st.plotly_chart(figure, alt=about, config=tools)


def numbers(table: pd.DataFrame, name: str) -> None:
    """The numbers behind a table or a chart, as a file."""
    download.csv(table, name, quiet=True)


def by_variant(table: pd.DataFrame, chosen: list[str]) -> Mapping[str, pd.DataFrame]:
    """Variant → its rows."""
    return {variant: table[table["variant"] == variant] for variant in chosen}
