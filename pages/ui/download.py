"""What the visitor takes along: a table as a file for spreadsheets, and as a picture."""

from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

from pages.ui import words
from pages.ui.i18n import _
from recsys.serving import picture
from recsys.serving.canvas import Fonts
from recsys.serving.export import harmless_table

FONTS = Path(st.__file__).parent / "static" / "static" / "media"  # those that the page itself is written in (OFL)


def csv(table: pd.DataFrame, name: str, label: str = "", index: bool = False, quiet: bool = False) -> None:
    """A button for the file `name`.csv, with the table's index or without, and of small tables one for a picture.

    quiet: no frame around the buttons.
    """
    look: Literal["tertiary", "secondary"] = "tertiary" if quiet else "secondary"
    shown = with_headings(table.reset_index() if index else table)
    with st.container(horizontal=True, gap="xsmall", width="content"):
        st.download_button(
            label or _("Download as CSV"),
            as_csv(shown),
            f"{name}.csv",
            "text/csv",
            key=f"csv-{name}",
            icon=":material/download:",
            on_click="ignore",
            type=look,
        )
        if picture.fits(shown):
            st.download_button(
                "*" + _("Download as a picture: {table}", table=words.plain(_title(name))) + "*",
                lambda: as_png(shown, name),
                f"{name}.png",
                "image/png",
                key=f"png-{name}",
                icon=":material/image:",
                on_click="ignore",
                type=look,
            )


def with_headings(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with column names in the visitor's language."""
    return table.rename(columns=lambda column: words.heading(column) if isinstance(column, str) else column)


def as_csv(table: pd.DataFrame) -> str:
    """Return the table as text without its index. No cell or heading is a formula for a spreadsheet."""
    return harmless_table(table).to_csv(index=False)


def as_png(table: pd.DataFrame, name: str) -> bytes:
    """The table as a picture; it is drawn when somebody asks for it."""
    return picture.table_png(table, _title(name), _("NextReel"), fonts())


def _title(name: str) -> str:
    """The name of a file as a heading: "hidden-films" is "Hidden films"."""
    return name.replace("-", " ").replace("_", " ").capitalize()


def fonts() -> Fonts:
    """The fonts that come with Streamlit, as far as they are where they used to be."""
    found = [next(iter(sorted(FONTS.glob(name))), None) for name in ("SourceSerifVariable-Roman*", "SourceSansVF-Up*")]
    return Fonts(*found)
