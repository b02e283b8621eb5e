"""Charts that several sections use: marks of families, line charts, and scatter plots with labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.ui import i18n
from pages.ui.charts import set_layout
from pages.ui.i18n import N_, _

PLOT_HEIGHT_PX = 430  # inside the axes of a scatter plot
MARGIN_PX = 130  # above and below the axes, together
DESKTOP_WIDTHS_PX = (640, 800, 950, 1100)  # widths of a chart at which labels must not overlap
PHONE_WIDTHS_PX = (270, 360, 480)
LEGEND_ROW_PX = 19  # on a phone, the legend has a row of this height for each family, and the axes are smaller
# charts with a row for each recommender or bucket
ROWS_MARGIN_PX = 110  # above and below the rows, together
ROWS_PADDING = 0.6  # from the centre of the first or last row to the end of the axis, as a share of a row
LINE_PLOT_HEIGHT_PX = 290  # inside the axes of a line chart
LINE_PLOT_MARGIN_PX = 70  # above and below these axes, together
LINE_PLOT_WIDTH_PX = 300  # smallest width inside these axes
# labels in a font of 11 px
LETTER_WIDTH_PX = 6.3  # mean width
LETTER_HEIGHT_PX = 14.5
LABEL_GAP_PX = 8.0  # between a point and its label
MARK_RADIUS_PX = 6.0

TIME_UNITS = {"s": (1, N_("{n} s")), "min": (60, N_("{n} min")), "h": (3600, N_("{n} h"))}  # unit → seconds, text
TIME_TICKS = {"s": (1, 2, 5, 10, 20, 30), "min": (1, 2, 5, 10, 20, 30), "h": (1, 2, 5, 10, 20, 50, 100)}  # by unit


@dataclass(frozen=True)
class Look:
    """Colour and shape of the marks of a family of recommenders."""

    colour: str  # contrast of at least 3:1 on the light and the dark page
    symbol: str  # Plotly's name of the shape
    glyph: str  # the shape as a character


LOOKS = {
    "Transformers": Look("#1f9a94", "circle", "●"),
    "Mixtures": Look("#a3704c", "hexagon", "⬢"),
    "Recurrent": Look("#4a80d4", "square", "■"),
    "Convolutional": Look("#9a6fd6", "diamond", "◆"),
    "Markov with factors": Look("#cf6a2a", "triangle-up", "▲"),
    "Film embeddings": Look("#c9568c", "triangle-down", "▼"),
    "Factorisation": Look("#8a8220", "star", "★"),
    "Neighbours": Look("#56933c", "triangle-left", "◀"),
    "Attention": Look("#b0509f", "pentagon", "⬟"),
    "Autoencoders": Look("#3a9a6e", "star-diamond", "✦"),
    "Content": Look("#d1514b", "triangle-right", "▶"),
    "Counting": Look("#85847f", "x", "✖"),
}
OTHER_LOOK = Look("#2f8fb8", "cross", "✚")  # look of a family that is not in LOOKS

# Looks of the lines of a chart, by position. The look of the family would not distinguish recommenders of one family.
LINE_COLOURS = ("#1f9a94", "#cf6a2a", "#4a80d4", "#c9568c", "#56933c", "#9a6fd6")
LINE_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
LINE_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MAX_LINES = len(LINE_COLOURS)  # more lines would repeat looks

SIDES = {  # position of a label in Plotly → direction (right, up) from its point
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top center": (0, 1),
    "bottom center": (0, -1),
}


def look(family: str) -> Look:
    """Return the colour and shape of a family."""
    return LOOKS.get(family, OTHER_LOOK)


def percent_tick(share: float) -> str:
    """Format a share as the label of an axis: "0.3%"."""
    return f"{i18n.number(100 * share, 'g')}%"


def plot_lines(
    tables: Mapping[str, pd.DataFrame], title: Callable[[str], str], x: str, y: str, x_title: str
) -> go.Figure:
    """Plot column y against column x, with a line for each recommender.

    Args:
        tables: Variant → table. A table without column x or y is skipped. The position sets the look of the line.
        title: Returns the title of a variant.
        x: Column of the horizontal axis.
        y: Column of the vertical axis.
        x_title: Title of the horizontal axis.
    """
    figure = go.Figure()
    for position, (variant, table) in enumerate(tables.items()):
        if not {x, y} <= set(table):
            continue
        rows, look_index = table.dropna(subset=[x, y]), position % MAX_LINES
        figure.add_scatter(
            x=rows[x],
            y=rows[y],
            mode="lines+markers",
            name=title(variant),
            line={"color": LINE_COLOURS[look_index], "dash": LINE_DASHES[look_index], "width": 2},
            marker={"symbol": LINE_SYMBOLS[look_index], "size": 7, "maxdisplayed": 15},
            hovertemplate=f"%{{x:,.4~g}}: %{{y:{i18n.METRIC_FORMAT}}}",
        )
    set_layout(figure, LINE_PLOT_HEIGHT_PX + LINE_PLOT_MARGIN_PX).update_layout(showlegend=True)
    return figure.update_xaxes(title=x_title)


def label_line_ends(figure: go.Figure) -> go.Figure:
    """Label each line at its right end.

    At the right edge of the chart, labels are beside the lines and do not overlap. A line that ends before the edge has
    its label above or below its end, because other lines continue to the right. If lines would cross the label on both
    sides, it is left out.
    """
    traces = [trace for trace in figure.data if len(trace.x)]
    if not traces:
        return figure
    values = [value for trace in traces for value in trace.y]
    right_edge = max(trace.x[-1] for trace in traces)
    edge_traces = [trace for trace in traces if trace.x[-1] == right_edge]
    gap = LETTER_HEIGHT_PX / LINE_PLOT_HEIGHT_PX * (max(values) - min(values))  # height of a label in units of y
    style = {"showarrow": False, "font": {"size": 11}}
    heights = spread([float(trace.y[-1]) for trace in edge_traces], gap)
    for trace, height in zip(edge_traces, heights, strict=True):
        figure.add_annotation(x=right_edge, y=height, text=trace.name, xanchor="left", xshift=7, **style)
    for trace in traces:
        if trace.x[-1] < right_edge and (direction := free_direction(trace, traces, gap)):
            place = {"yanchor": "bottom" if direction == 1 else "top", "yshift": 5 * direction}
            figure.add_annotation(x=trace.x[-1], y=trace.y[-1], text=trace.name, **place, **style)
    return figure.update_layout(margin_r=20 + LETTER_WIDTH_PX * max(len(trace.name) for trace in edge_traces))


def free_direction(trace: go.Scatter, traces: Sequence[go.Scatter], gap: float) -> int | None:
    """Return 1 if no other line crosses a label above the end of a line, -1 if none crosses it below, otherwise None.

    gap: Height of a label in units of y. The label covers 0.2 to 1.5 of this height above or below the end.
    """
    x, y = trace.x[-1], trace.y[-1]
    extent = max(line.x[-1] for line in traces) - min(line.x[0] for line in traces)
    half_width = LETTER_WIDTH_PX * len(trace.name) / 2 * extent / LINE_PLOT_WIDTH_PX
    label_x = np.linspace(x - half_width, x + half_width, 15)  # 15 positions within the label
    heights = np.array([np.interp(label_x, line.x, line.y, np.nan, np.nan) - y for line in traces if line is not trace])
    for direction in (1, -1):
        if not ((direction * heights > 0.2 * gap) & (direction * heights < 1.5 * gap)).any():
            return direction
    return None


def spread(heights: Sequence[float], gap: float) -> np.ndarray:
    """Move heights so that they are at least `gap` apart. Their order stays, and the sum of squared moves is minimal.

    The sorted heights minus `offsets` are replaced by the nearest values that do not decrease (isotonic regression).
    Adding `offsets` to these values makes neighbours at least `gap` apart.
    """
    from scipy.optimize import isotonic_regression  # imported late: takes half a second

    order = np.argsort(heights, kind="stable")
    offsets = gap * np.arange(len(heights))
    moved = np.empty(len(heights))
    moved[order] = isotonic_regression(np.array(heights)[order] - offsets).x + offsets
    return moved


def plot_scatter(
    table: pd.DataFrame, x: str, y: str, x_title: str, y_title: str, log_column: str | None = None
) -> go.Figure:
    """Plot a mark for each recommender, with a label if there is room. Recommenders with a high y are labelled first.

    Args:
        table: Has the columns title, family, x and y.
        x: Column of the horizontal axis.
        y: Column of the vertical axis.
        x_title: Title of the horizontal axis.
        y_title: Title of the vertical axis.
        log_column: Column with log10 of x, for a logarithmic axis of times. Then x is in seconds.
    """
    rows = table.dropna(subset=[x, y]).sort_values(y, ascending=False, kind="stable")
    x_format = _("%{x:,.0f} s") if log_column else f"%{{x:{i18n.METRIC_FORMAT}}}"
    figure = go.Figure()
    for family, family_rows in rows.groupby("family", sort=False):
        style = look(str(family))
        figure.add_scatter(
            x=family_rows[x],
            y=family_rows[y],
            mode="markers",
            name=_(str(family)),
            text=family_rows["title"],
            marker={"color": style.colour, "symbol": style.symbol, "size": 11},
            hovertemplate=f"<b>%{{text}}</b><br>{x_title}: {x_format}<br>{y_title}: %{{y:{i18n.METRIC_FORMAT}}}",
        )
    label_points(figure, rows[x], rows[y], rows["title"].tolist(), rows[log_column or x], PLOT_HEIGHT_PX)
    set_layout(figure, PLOT_HEIGHT_PX + MARGIN_PX)
    figure.update_xaxes(title=x_title, zeroline=False)
    if log_column:
        ticks: dict[int, str] = {}  # seconds → text
        for unit, (unit_seconds, text) in TIME_UNITS.items():
            ticks |= {step * unit_seconds: _(text, n=step) for step in TIME_TICKS[unit]}
        figure.update_xaxes(type="log", tickvals=list(ticks), ticktext=list(ticks.values()))
    return figure.update_yaxes(title=y_title, zeroline=False)


def rows_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Return Plotly's settings of a vertical axis with a row for each label, the first on top. The labels are y."""
    row_range = [len(labels) - 1 + ROWS_PADDING, -ROWS_PADDING]  # reversed, so that the first row is on top
    return {"categoryorder": "array", "categoryarray": labels, "range": row_range, "zeroline": False}


def error_bars(value: pd.Series, low: pd.Series, high: pd.Series, **style: Any) -> dict[str, Any]:
    """Return Plotly's settings of error bars from `low` to `high`. style: Further settings."""
    return {"array": high - value, "arrayminus": value - low, "thickness": 1.2, **style}


def label_points(
    figure: go.Figure, x: pd.Series, y: pd.Series, labels: list[str], linear_x: pd.Series, height: float
) -> None:
    """Add labels of points to a chart, as far as there is room. The most important point is first.

    Two traces are added: labels that have room on a phone, then labels that only have room on a desktop. The style
    sheet hides the second trace on a phone.

    Args:
        figure: The chart.
        x: Horizontal positions of the points.
        y: Vertical positions of the points.
        labels: Label of each point.
        linear_x: x or, on a logarithmic axis, log10 of x.
        height: Height inside the axes on a desktop, in pixels.
    """
    points = list(zip(relative(linear_x), relative(y), strict=True))
    desktop_sizes = [(width, height) for width in DESKTOP_WIDTHS_PX]
    phone_height = height - LEGEND_ROW_PX * (len(figure.data) - 1)
    phone_sizes = [(width, phone_height) for width in PHONE_WIDTHS_PX]
    phone_sides = free_sides(points, labels, phone_sizes + desktop_sizes)
    desktop_sides = free_sides(points, labels, desktop_sizes, phone_sides)
    desktop_only = [None if phone else desktop for phone, desktop in zip(phone_sides, desktop_sides, strict=True)]
    for sides in (phone_sides, desktop_only):
        figure.add_scatter(  # points without a label stay, because Plotly drops empty traces
            x=x,
            y=y,
            text=[label if side else "" for label, side in zip(labels, sides, strict=True)],
            textposition=[side or "middle right" for side in sides],  # any side for an empty label
            mode="markers+text",  # Plotly keeps labels off markers, even transparent ones
            marker={"size": 11, "opacity": 0},
            textfont={"size": 11},
            hoverinfo="skip",
            showlegend=False,
        )


def relative(values: pd.Series) -> pd.Series:
    """Return the positions of values on a linear axis, from 0 to 1. If all values are equal, they are in the middle.

    Plotly leaves a margin of 0.06 beside the outermost points.
    """
    extent = values.max() - values.min()
    return 0.06 + 0.88 * (values - values.min()) / extent if extent > 0 else 0 * values + 0.5


def free_sides(
    points: Sequence[tuple[float, float]],
    labels: Sequence[str],
    sizes: Sequence[tuple[float, float]],
    placed_sides: Sequence[str | None] = (),
) -> list[str | None]:
    """Choose the side of its point at which each label is placed.

    At every size of the chart, a label covers no other label and no point, and stays in the chart.

    Args:
        points: Pairs (x, y) from 0 to 1, the most important point first.
        labels: Label of each point.
        sizes: Widths and heights of the chart in pixels.
        placed_sides: Result of an earlier call for the same points, whose labels stay. (): no label has been placed.

    Returns:
        A key of SIDES for each point, None if its label has no room.
    """
    sides = list(placed_sides) or [None] * len(points)
    layouts = [_LabelLayout(points, labels, width, height) for width, height in sizes]
    # placed labels come first, because the others must not cover them
    for point in sorted(range(len(sides)), key=lambda point: sides[point] is None):
        sides_with_room = (side for side in SIDES if all(layout.has_room(point, side) for layout in layouts))
        side = sides[point] or next(sides_with_room, None)
        if side:
            sides[point] = side
            for layout in layouts:
                layout.boxes.append(layout.box(point, side))
    return sides


class _LabelLayout:
    """The space of marks and placed labels in a chart of a fixed size, as boxes (left, bottom, right, top) in px."""

    def __init__(self, points: Sequence[tuple[float, float]], labels: Sequence[str], width: float, height: float):
        self.centres = [(x * width, y * height) for x, y in points]
        self.labels, self.width, self.height = labels, width, height
        radius = MARK_RADIUS_PX
        self.boxes = [(x - radius, y - radius, x + radius, y + radius) for x, y in self.centres]

    def has_room(self, point: int, side: str) -> bool:
        """Return whether a label covers nothing and stays in the chart, or at most a little in its margin."""
        left, bottom, right, top = self.box(point, side)
        is_inside = left >= -LABEL_GAP_PX and right <= self.width + LABEL_GAP_PX
        is_inside &= bottom >= -LETTER_HEIGHT_PX and top <= self.height + LETTER_HEIGHT_PX
        return is_inside and not any(
            left < x1 and right > x0 and bottom < y1 and top > y0 for x0, y0, x1, y1 in self.boxes
        )

    def box(self, point: int, side: str) -> tuple[float, float, float, float]:
        """Return the box of the label of a point."""
        right, up = SIDES[side]
        half_width, half_height = len(self.labels[point]) * LETTER_WIDTH_PX / 2, LETTER_HEIGHT_PX / 2
        x, y = self.centres[point]
        x, y = x + right * (LABEL_GAP_PX + half_width), y + up * (LABEL_GAP_PX + half_height)
        return x - half_width, y - half_height, x + half_width, y + half_height
