"""Charts of the Evaluation page: tables in, Plotly figures out. Backgrounds and type follow the theme.

A family has one colour and one shape everywhere; each colour has a contrast of 3:1 and more to both page colours.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation import words
from pages.evaluation.labels import free_sides, scaled
from recsys.evaluation import people, protocols
from recsys.evaluation.overview import RUN
from recsys.evaluation.studies import Chart, Study


class Look(NamedTuple):
    """How a family is drawn."""

    colour: str
    symbol: str  # Plotly's name
    glyph: str  # the same in text


LOOKS = {
    "Transformers": Look("#1f9a94", "circle", "●"),
    "Recurrent": Look("#4a80d4", "square", "■"),
    "Convolutional": Look("#9a6fd6", "diamond", "◆"),
    "Markov with factors": Look("#cf6a2a", "triangle-up", "▲"),
    "Film embeddings": Look("#c9568c", "triangle-down", "▼"),
    "Factorisation": Look("#8a8220", "star", "★"),
    "Neighbours": Look("#56933c", "triangle-left", "◀"),
    "Content": Look("#d1514b", "triangle-right", "▶"),
    "No learning": Look("#85847f", "x", "✖"),
}
OTHERS = Look("#2f8fb8", "cross", "✚")  # a family of a later day
QUIET = "#8d8c88"
DASHES = ("solid", "dot", "dash", "dashdot")  # with MARKS, what tells the members of a family apart
MARKS = ("", "-open", "-dot", "-open-dot")
TALL = 430  # pixels inside the axes of a scatter
WIDE = (640, 800, 950, 1100)  # how broad it may be on a desktop
ANY_WIDTH = (270, 360, 480, *WIDE)  # and from a phone upwards


def look(family: str) -> Look:
    """Colour and shape of a family."""
    return LOOKS.get(family, OTHERS)


def framed(figure: go.Figure, height: int, left: int = 0, right: int = 12) -> go.Figure:
    """A figure with the margins, legend and type that all share; a finger that scrolls past does not zoom."""
    figure.update_layout(height=height, margin={"l": left, "r": right, "t": 36, "b": 0}, dragmode=False, bargap=0.25)
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "font": {"size": 12}})
    figure.update_xaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    figure.update_yaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    return figure


def bump(table: pd.DataFrame, shown: Sequence[str]) -> go.Figure:
    """Ranks under each protocol `shown` (`overview.orders`), a line per model, named at its right end."""
    figure = go.Figure()
    names = [protocols.title(name) for name in shown]
    for row in table.to_dict("records"):
        colour, symbol, _ = look(row["family"])
        figure.add_scatter(
            x=list(range(len(shown))),
            y=[row[f"rank {name}"] for name in shown],
            customdata=[[name, row[protocol]] for name, protocol in zip(names, shown, strict=True)],
            mode="lines+markers",
            line={"color": colour, "width": 1.8},
            marker={"symbol": symbol, "size": 8},
            name=row["title"],
            hovertemplate=words.RANK_HOVER,
        )
    ends = table.sort_values(f"rank {shown[-1]}", kind="stable")
    for line, title in enumerate(ends["title"], start=1):  # models of the same rank are named one below the other
        figure.add_annotation(
            x=len(shown) - 1, y=line, text=title, xanchor="left", xshift=10, showarrow=False, font={"size": 11}
        )
    framed(figure, 90 + 19 * len(table), left=26, right=128).update_layout(showlegend=False, margin_t=60)
    ticks = [name.replace(" ", "<br>") for name in names]
    figure.update_xaxes(tickvals=list(range(len(ticks))), ticktext=ticks, side="top", automargin=False, tickangle=0)
    figure.update_xaxes(showgrid=False, zeroline=False, range=[-0.25, len(ticks) - 0.9])
    figure.update_yaxes(range=[len(table) + 0.7, 0.3], showgrid=False, tickvals=_round_ranks(len(table)))
    return figure


def scatter(table: pd.DataFrame, x: str, y: str, x_title: str, y_title: str, log: str | None = None) -> go.Figure:
    """One measure against another, a mark per model; names where there is room, the best of `y` first.

    table: title, family, x and y; with a column `of`, what was not a training (RUN) is drawn open. log: the column of
    x's logarithms, where its axis is logarithmic.
    """
    known = table.dropna(subset=[x, y]).sort_values(y, ascending=False, kind="stable")
    figure = go.Figure()
    for family, own in known.groupby("family", sort=False):
        colour, symbol, _ = look(str(family))
        open_marks = own["of"].eq(RUN) if "of" in own else pd.Series(False, own.index)
        figure.add_scatter(
            x=own[x],
            y=own[y],
            mode="markers",
            name=str(family),
            text=own["title"],
            marker={
                "color": colour,
                "symbol": [f"{symbol}-open" if is_open else symbol for is_open in open_marks],
                "size": 11,
                "line": {"width": [2 if is_open else 0 for is_open in open_marks]},
            },
            hovertemplate=f"<b>%{{text}}</b><br>{x_title}: %{{x:.4g}}<br>{y_title}: %{{y:.4g}}",
        )
    _name_marks(figure, known, known[log or x], known[y], x)
    framed(figure, TALL + 130)
    figure.update_xaxes(title=x_title, zeroline=False, **(_logarithmic(lambda step: f"{step:,g}") if log else {}))
    return figure.update_yaxes(title=y_title, zeroline=False)


def _name_marks(figure: go.Figure, known: pd.DataFrame, across: pd.Series, upwards: pd.Series, x: str) -> None:
    """Two more traces of names: those that fit on a phone, and last those that fit only on a wider page.

    The style sheet hides the last trace on a phone.
    """
    points = list(zip(_inset(scaled(across.tolist())), _inset(scaled(upwards.tolist())), strict=True))
    titles = known["title"].tolist()
    anywhere = free_sides(points, titles, ANY_WIDTH, TALL)
    wide = free_sides(points, titles, WIDE, TALL, anywhere)
    for chosen in (anywhere, [None if phone else side for phone, side in zip(anywhere, wide, strict=True)]):
        rows = [row for row, side in enumerate(chosen) if side]
        figure.add_scatter(
            x=known[x].iloc[rows],
            y=upwards.iloc[rows],
            text=[titles[row] for row in rows],
            textposition=[chosen[row] for row in rows],
            mode="markers+text",  # unseen marks keep the names at a distance
            marker={"size": 11, "opacity": 0},
            textfont={"size": 11},
            hoverinfo="skip",
            showlegend=False,
        )


def _inset(shares: Iterable[float]) -> list[float]:
    """Plotly leaves some room around the outermost marks."""
    return [0.06 + 0.88 * share for share in shares]


def lines(logs: Mapping[str, pd.DataFrame], board: pd.DataFrame, x: str, y: str, x_title: str) -> go.Figure:
    """Column y against x of several models, each log a line; rows without y are passed over."""
    figure = go.Figure()
    for variant, (title, shape, member) in _members(board, list(logs)).items():
        known = logs[variant].dropna(subset=[x, y])
        figure.add_scatter(
            x=known[x],
            y=known[y],
            mode="lines+markers",
            name=title,
            line={"color": shape.colour, "dash": DASHES[member], "width": 2},
            marker={"symbol": shape.symbol + MARKS[member], "size": 7},
            hovertemplate="%{x:.4g}: %{y:.4g}",
        )
    framed(figure, 360).update_layout(showlegend=True)
    return figure.update_xaxes(title=x_title)


def reliability(bins: Mapping[str, pd.DataFrame], board: pd.DataFrame) -> go.Figure:
    """Observed share against predicted probability; with the line of those that are calibrated."""
    figure = lines(bins, board, "predicted", "hit_rate", words.PREDICTED)
    known = pd.concat(bins.values())[["predicted", "hit_rate"]]
    ends = [known[known > 0].min().min(), known.max().max()]
    line = {"color": QUIET, "width": 1}
    figure.add_scatter(x=ends, y=ends, mode="lines", name=words.CALIBRATED, line=line, hoverinfo="skip")
    figure.update_xaxes(**_logarithmic(lambda step: f"{100 * step:g}%"))
    return figure.update_yaxes(title=words.OBSERVED, **_logarithmic(lambda step: f"{100 * step:g}%"))


def overconfidence(ranks: Mapping[str, pd.DataFrame], board: pd.DataFrame) -> go.Figure:
    """Predicted probability over the share that came true, by rank."""
    figure = lines(ranks, board, "rank", "times", words.RANK)
    ends = [min(table["rank"].min() for table in ranks.values()), max(table["rank"].max() for table in ranks.values())]
    line = {"color": QUIET, "width": 1}
    figure.add_scatter(x=ends, y=[1, 1], mode="lines", name=words.CALIBRATED, line=line, hoverinfo="skip")
    figure.update_xaxes(dtick=1)
    return figure.update_yaxes(title=words.TIMES, **_logarithmic(lambda step: f"{step:g}×"))


def slices(table: pd.DataFrame, board: pd.DataFrame, metric: str) -> go.Figure:
    """A row per bucket, a mark with its interval per model, side by side within a row (`slices.side_by_side`)."""
    figure, buckets = go.Figure(), list(dict.fromkeys(table["bucket"]))
    members = _members(board, list(dict.fromkeys(table["variant"])))
    rows = {bucket: row for row, bucket in enumerate(buckets)}
    for number, (variant, (title, shape, member)) in enumerate(members.items()):
        own = table[table["variant"] == variant]
        shift = 0.5 * (number + 0.5) / len(members) - 0.25
        error = {"array": own["high"] - own["value"], "arrayminus": own["value"] - own["low"], "thickness": 1.2}
        figure.add_scatter(
            x=own["value"],
            y=own["bucket"].map(rows) + shift,
            mode="markers",
            name=title,
            error_x=error | {"width": 0, "color": shape.colour},
            marker={"color": shape.colour, "symbol": shape.symbol + MARKS[member], "size": 9},
            customdata=own[["bucket", "users", "low", "high"]],
            hovertemplate="%{customdata[0]}: %{x:.4f} (%{customdata[2]:.4f}–%{customdata[3]:.4f})",
        )
    users = table.drop_duplicates("bucket").set_index("bucket")["users"]
    ticks = [f"{bucket}<br>{words.PEOPLE.format(n=users[bucket])}" for bucket in buckets]
    framed(figure, 110 + len(buckets) * (30 + 11 * len(members))).update_layout(showlegend=True)
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=ticks, range=[len(rows) - 0.4, -0.6])
    figure.update_yaxes(showgrid=False, zeroline=False)
    return figure.update_xaxes(title=metric, rangemode="tozero")


def margins(table: pd.DataFrame, one: tuple[str, str], other: tuple[str, str]) -> go.Figure:
    """Users by margin (`overview.head_to_head`), in the colour of whoever wins; one, other: title and family."""
    ahead = [one if margin > 0 else other if margin < 0 else None for margin in table["margin"]]
    labels = [words.MARGINS[margin] for margin in table["margin"]]
    figure = go.Figure()
    for winner in (other, None, one):
        rows = [row for row, who in enumerate(ahead) if who is winner]
        figure.add_bar(
            x=table["margin"].iloc[rows],
            y=table["users"].iloc[rows],
            text=table["users"].iloc[rows],
            textposition="outside",
            cliponaxis=False,
            name=winner[0] if winner else words.MARGINS[0],
            marker={
                "color": look(winner[1]).colour if winner else QUIET,
                "pattern_shape": "/" if winner is other else "",
            },
            hovertemplate="%{y}",
        )
    framed(figure, 330).update_layout(showlegend=True)
    figure.update_xaxes(tickvals=table["margin"], ticktext=labels, tickangle=0, tickfont={"size": 11})
    return figure.update_yaxes(title=words.N_PEOPLE, range=[0, 1.12 * max(table["users"].max(), 1)])


def ranks_of_film(table: pd.DataFrame) -> go.Figure:
    """The rank of one film with each model (`people.ranks_of`), the best on top, on a logarithmic axis."""
    figure = go.Figure()
    for family, own in table.groupby("family", sort=False):
        colour, symbol, _ = look(str(family))
        error = {"array": own["high"] - own["rank"], "arrayminus": own["rank"] - own["low"], "thickness": 1.2}
        figure.add_scatter(
            x=own["rank"],
            y=own.index,
            mode="markers",
            name=str(family),
            text=own["title"],
            error_x=error | {"width": 0, "color": colour},
            marker={"color": colour, "symbol": symbol, "size": 9},
            customdata=own[["low", "high"]],
            hovertemplate="<b>%{text}</b>: %{x:,.0f} (%{customdata[0]:,}–%{customdata[1]:,})",
        )
    framed(figure, 110 + 20 * len(table)).update_layout(showlegend=False)
    figure.add_vline(people.FOUND + 0.5, line={"color": QUIET, "width": 1, "dash": "dot"})
    figure.update_yaxes(tickvals=table.index, ticktext=table["title"], range=[len(table) - 0.4, -0.6], zeroline=False)
    return figure.update_xaxes(title=words.RANK, **_logarithmic(lambda step: f"{step:,.0f}", from_exponent=0))


def study(found: Study, chart: Chart) -> go.Figure:
    """The chart that a study asks for, in the theme's colours."""
    figure, table = go.Figure(), found.table
    groups = [("", table)] if chart.by is None else list(table.groupby(chart.by, sort=False))
    for number, (name, own) in enumerate(groups):
        error = None
        if chart.low and chart.high:
            array, minus = own[chart.high] - own[chart.y], own[chart.y] - own[chart.low]
            error = {"array": array, "arrayminus": minus, "thickness": 1.2}
        drawn = {"x": own[chart.x], "y": own[chart.y], "name": str(name), "error_y": error}
        if chart.kind == "bar":
            figure.add_bar(**drawn)
        else:
            mode = "lines+markers" if chart.kind == "line" else "markers"
            figure.add_scatter(**drawn, mode=mode, marker={"symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 8})
    framed(figure, 380).update_layout(showlegend=chart.by is not None)
    figure.update_xaxes(title=found.titles[chart.x], type="log" if "x" in chart.log else None)
    return figure.update_yaxes(title=found.titles[chart.y], type="log" if "y" in chart.log else None)


_SYMBOLS = [shape.symbol for shape in LOOKS.values()]


def _members(board: pd.DataFrame, variants: Sequence[str]) -> dict[str, tuple[str, Look, int]]:
    """Title, look, and which member of its family each model is; those of one family share the colour."""
    rows = board.drop_duplicates("variant").set_index("variant")
    seen: dict[str, int] = {}
    found = {}
    for variant in variants:
        family = rows.loc[variant, "family"]
        seen[family] = seen.get(family, -1) + 1
        found[variant] = (rows.loc[variant, "title"], look(family), seen[family] % len(DASHES))
    return found


def _logarithmic(label: Callable[[float], str], from_exponent: int = -5) -> dict[str, Any]:
    """Settings of a logarithmic axis with whole labels, where Plotly would write lone digits between the powers."""
    steps = [float(f"{step}e{exponent}") for exponent in range(from_exponent, 7) for step in (1, 3)]
    return {"type": "log", "tickvals": steps, "ticktext": [label(step) for step in steps]}


def _round_ranks(n: int) -> list[int]:
    """1, 5, 10 … n."""
    return [1, *range(5, n + 1, 5)]
