"""A table that the visitor takes along."""

import pandas as pd
import streamlit as st

from pages.shared import words
from recsys.serving.export import harmless_table


def csv(table: pd.DataFrame, name: str, label: str = words.DOWNLOAD, index: bool = False, quiet: bool = False) -> None:
    """A button for the file `name`.csv, with the table's index or without; quiet: no frame around the button."""
    st.download_button(
        label,
        as_csv(table, index),
        f"{name}.csv",
        "text/csv",
        key=f"csv-{name}",
        icon=":material/download:",
        on_click="ignore",
        type="tertiary" if quiet else "secondary",
    )


def as_csv(table: pd.DataFrame, index: bool = False) -> str:
    """The table as text, no cell, heading or index of which a spreadsheet runs."""
    return harmless_table(table.reset_index() if index else table).to_csv(index=False)
