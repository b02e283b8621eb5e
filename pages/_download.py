"""A table that the visitor takes along."""

import pandas as pd
import streamlit as st

from pages import _words as words

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a cell that begins so is run as a formula by spreadsheets


def csv(table: pd.DataFrame, name: str, label: str = words.DOWNLOAD) -> None:
    """A button for the file `name`.csv; text that a spreadsheet would run gets a quote in front."""
    st.download_button(
        label, as_csv(table), f"{name}.csv", "text/csv", key=name, icon=":material/download:", on_click="ignore"
    )


def as_csv(table: pd.DataFrame) -> str:
    """The table as text, without its index."""
    return table.map(_harmless).to_csv(index=False)


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
