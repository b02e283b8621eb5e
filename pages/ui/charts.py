"""Layout of charts, tables in the visitor's language, and downloads of tables as CSV and PNG."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.io.formats.style import Styler

from pages.ui.format import display_genres, escape_markdown, metric
from pages.ui.i18n import N_, _, count, current_language, localize_chart, number
from recsys.serving import share_image
from recsys.serving.export import escape_table
from recsys.serving.share_image import Fonts

ACCENT = "#1f9a94"  # contrast of at least 3:1 with the light and with the dark background
SECOND_ACCENT = "#d9772f"  # contrast as for ACCENT
GREY = "#8d8c88"
MAX_TITLE_LENGTH = 40  # characters in a line of an axis title, so that it fits a phone
FONT_FOLDER = Path(st.__file__).parent / "static" / "static" / "media"  # of the page; their licence is the OFL
FILE_TYPES = {  # suffix → MIME type, icon
    ".csv": ("text/csv", "download"),
    ".json": ("application/json", "download"),
    ".png": ("image/png", "image"),
}
# Column names that have a translation. Without groups in parentheses, ruff would put each name on its own line.
HEADINGS = {
    *(N_("alone"), N_("attended to"), N_("attends"), N_("attention"), N_("baseline"), N_("bucket")),
    *(N_("calibration error"), N_("cosine"), N_("date"), N_("decade"), N_("difference"), N_("differs")),
    *(N_("distance"), N_("epoch"), N_("events"), N_("family"), N_("file"), N_("film"), N_("films"), N_("fingerprint")),
    *(N_("found"), N_("from"), N_("gap"), N_("genre"), N_("genres"), N_("head"), N_("high"), N_("in your files")),
    *(N_("kept"), N_("layer"), N_("line"), N_("lists"), N_("loss"), N_("low"), N_("margin"), N_("model")),
    *(N_("movie_id"), N_("name"), N_("of"), N_("order"), N_("other"), N_("overlap"), N_("paper"), N_("people")),
    *(N_("position"), N_("probability"), N_("rank"), N_("rating"), N_("ratings"), N_("recommender")),
    *(N_("same second"), N_("score"), N_("seconds"), N_("seeds"), N_("setting"), N_("share"), N_("stars"), N_("std")),
    *(N_("their_probability"), N_("their_rank"), N_("title"), N_("to"), N_("untied"), N_("users"), N_("value")),
    *(N_("variant"), N_("weight"), N_("when"), N_("reason for leaving it out"), N_("year"), N_("your_probability")),
    *(N_("your_rank")),
}


def set_layout(figure: go.Figure, height: int, left: int = 0, right: int = 12) -> go.Figure:
    """Set size, legend and fonts of a figure. Lengths are in px. Dragging does not zoom: on a phone, it scrolls."""
    figure.update_layout(height=height, margin={"l": left, "r": right, "t": 36, "b": 0}, dragmode=False, bargap=0.25)
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "font": {"size": 12}})
    figure.update_xaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    figure.update_yaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    return figure


def wrap_title(title: str) -> str:
    """Return the title of a horizontal axis with line breaks after at most MAX_TITLE_LENGTH characters."""
    return "<br>".join(textwrap.wrap(title, MAX_TITLE_LENGTH))


def plot(figure: go.Figure, description: str, name: str) -> None:
    """Show a chart with a description for screen readers. Its toolbar saves it as `name`.png."""
    picture_options = {"format": "png", "scale": 2, "filename": name}
    tools = {"modeBarButtons": [["toImage"]], "displaylogo": False, "toImageButtonOptions": picture_options}
    with st.container(key=f"chart-{name.replace('@', '-')}"):
        st.plotly_chart(localize_chart(figure), alt=description, config=tools)


def show_chart(figure: go.Figure, description: str, table: pd.DataFrame, name: str, title: str) -> None:
    """Show a chart with a description for screen readers, and `download_numbers` of its table."""
    plot(figure, description, name)
    download_numbers(table, name, title)


def download_numbers(table: pd.DataFrame, name: str, title: str) -> None:
    """Show `download_buttons` without borders."""
    download_buttons(table, name, title, has_border=False)


def log_axis(label: Callable[[float], str], min_exponent: int = -5, steps: Sequence[float] = (1, 3)) -> dict[str, Any]:
    """Return the settings of a logarithmic axis. Its ticks are `steps` times 10^min_exponent … 10^6.

    Without these settings, Plotly would shorten most tick labels to one digit. label: Returns the text of a tick.
    """
    ticks = [float(f"{step}e{exponent}") for exponent in range(min_exponent, 7) for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [label(tick) for tick in ticks]}


def localize_table(table: pd.DataFrame, digits: Mapping[str, int] | None = None) -> Styler:
    """Return a table for `st.dataframe` with numbers in the visitor's language.

    digits: Column → number of decimals. In other columns, integers are formatted as counts, other numbers as metrics.
    """
    formats: dict[str, Callable[[Any], str]] = {
        str(name): partial(_cell, spec=f",.{digits[name]}f" if digits and name in digits else "")
        for name in table.select_dtypes("number").columns
    }
    return table.style.format(formats)


def _cell(value: Any, spec: str) -> str:
    """Return a number as text. If `spec` is "", an integer is formatted as a count, and another number as a metric."""
    if pd.isna(value):
        return "–"
    if spec:
        return number(value, spec)
    return count(int(value)) if isinstance(value, Integral) else metric(float(value))


def download_buttons(table: pd.DataFrame, name: str, title: str, label: str = "", has_border: bool = True) -> None:
    """Show a button that downloads a table as `name`.csv and, for a small table, a button for `name`.png.

    Args:
        table: The table. The files do not contain its index.
        name: Name of the files, without suffix.
        title: Title of the picture.
        label: Label of the CSV button, "" for "Download as CSV".
        has_border: Whether the buttons have a border.
    """
    kind: Literal["tertiary", "secondary"] = "secondary" if has_border else "tertiary"
    with st.container(horizontal=True, gap="xsmall", width="content"):
        csv = as_csv(translate_headings(table))
        file_button(label or _("Download as CSV"), csv, f"{name}.csv", f"csv-{name}", kind)
        if share_image.fits_image(table):
            png_label = _("*Download as a picture: {table}*", table=escape_markdown(title))
            file_button(png_label, png_renderer(table, title), f"{name}.png", f"png-{name}", kind)


def file_button(
    label: str,
    content: str | bytes | Callable[[], bytes],
    file_name: str,
    key: str,
    type: Literal["tertiary", "secondary"] = "tertiary",
) -> None:
    """Show a button that saves a file without a rerun. A function as `content` is called after the click."""
    mime, icon = FILE_TYPES[Path(file_name).suffix]
    st.download_button(
        label, content, file_name, mime, key=key, icon=f":material/{icon}:", on_click="ignore", type=type
    )


def translate_headings(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with translated column names. In "rank Markov chain", only the first word is translated."""

    def heading(column: Any) -> Any:
        if column in HEADINGS:
            return _(column)
        word, _space, rest = column.partition(" ") if isinstance(column, str) else ("", "", "")
        return f"{_(word)} {rest}" if rest and word in HEADINGS else column

    return table.rename(columns=heading)


def as_csv(table: pd.DataFrame) -> str:
    """Return a table without its index as CSV, with escaped formulas."""
    return escape_table(table).to_csv(index=False)


def png_renderer(table: pd.DataFrame, title: str) -> Callable[[], bytes]:
    """Return a function that draws a table as a picture in the visitor's language.

    Streamlit calls the function after a click, outside the page run. The visitor's language is unknown there, so it is
    looked up before.
    """
    if "genres" in table:
        table = table.assign(genres=table["genres"].map(display_genres, na_action="ignore"))
    table = translate_headings(table).rename(columns=lambda heading: str(heading).replace("_", " "))
    footer, format_number = _("NextReel"), partial(number, language=current_language())
    return lambda: share_image.table_png(table, title, footer, fonts(), format_number)


def fonts() -> Fonts:
    """Return the font files of Streamlit, whose names end with a hash. A file that does not exist is None."""
    patterns = ("SourceSerifVariable-Roman*", "SourceSansVF-Up*")
    return Fonts(*(min(FONT_FOLDER.glob(pattern), default=None) for pattern in patterns))
