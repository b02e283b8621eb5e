"""Several recommenders as lines: how they learnt, how sure they are."""

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation.charts.looks import LOOKS, percents
from pages.ui import i18n
from pages.ui.charts import GREY, log_axis, set_layout
from pages.ui.i18n import _

MOST = 6  # lines in a chart that can be told apart
FAMILIES = ("Transformers", "Markov with factors", "Recurrent", "Film embeddings", "Neighbours", "Convolutional")
COLOURS = tuple(LOOKS[family].colour for family in FAMILIES)  # by line, not by family: members of one would look alike
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
LETTER, LINE, TALL = 6.4, 15, 290  # pixels: a letter of 11 px type, a line of it, what is inside the axes


def lines(logs: Mapping[str, pd.DataFrame], titles: Mapping[str, str], x: str, y: str, x_title: str) -> go.Figure:
    """Column y against x of up to MOST models, each log a line of its own look, the same in every chart of these logs.

    Rows without y, and logs without the column, are passed over.
    """
    figure = go.Figure()
    for number, (variant, log) in enumerate(logs.items()):
        if not {x, y} <= set(log):
            continue
        known = log.dropna(subset=[x, y])
        look = number % MOST
        figure.add_scatter(
            x=known[x],
            y=known[y],
            mode="lines+markers",
            name=titles[variant],
            line={"color": COLOURS[look], "dash": DASHES[look], "width": 2},
            marker={"symbol": SYMBOLS[look], "size": 7, "maxdisplayed": 15},
            hovertemplate=f"%{{x:,.4~g}}: %{{y:{i18n.METRIC}}}",
        )
    set_layout(figure, TALL + 70).update_layout(showlegend=True)
    return figure.update_xaxes(title=x_title)


def name_ends(figure: go.Figure) -> go.Figure:
    """Write the name of each line at its right end; names at the right edge stand one above the other.

    A line that ends earlier has its name above its end, where the longer ones pass by.
    """
    traces = [trace for trace in figure.data if len(trace.x)]
    if not traces:
        return figure
    every = [value for trace in traces for value in trace.y]
    edge = max(trace.x[-1] for trace in traces)
    last = [trace for trace in traces if trace.x[-1] == edge]
    heights = spread([float(trace.y[-1]) for trace in last], LINE / TALL * (max(every) - min(every)))
    said = {"showarrow": False, "font": {"size": 11}}
    for trace, height in zip(last, heights, strict=True):
        figure.add_annotation(x=edge, y=height, text=trace.name, xanchor="left", xshift=7, **said)
    for trace in traces:
        if trace.x[-1] < edge:
            figure.add_annotation(x=trace.x[-1], y=trace.y[-1], text=trace.name, yanchor="bottom", yshift=5, **said)
    return figure.update_layout(margin_r=20 + LETTER * max(len(trace.name) for trace in last))


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights, moved up and down as little as keeps any two of them a gap apart; in the order given."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    places: list[tuple[list[int], float]] = []  # who stands together, and the height of the lowest
    for number in order:
        together, lowest = [number], heights[number]
        while places and places[-1][1] + gap * len(places[-1][0]) > lowest:
            together = places.pop()[0] + together
            middle = sum(heights[one] for one in together) / len(together)
            lowest = middle - gap * (len(together) - 1) / 2
        places.append((together, lowest))
    found = {one: lowest + gap * step for together, lowest in places for step, one in enumerate(together)}
    return [found[number] for number in range(len(heights))]


def reliability(bins: Mapping[str, pd.DataFrame], titles: Mapping[str, str]) -> go.Figure:
    """Observed share against predicted probability; with the line of those that are calibrated."""
    figure = lines(bins, titles, "predicted", "hit_rate", _("Predicted probability"))
    figure.update_traces(hovertemplate="%{x:.2%}: %{y:.2%}")
    known = pd.concat(bins.values())[["predicted", "hit_rate"]]
    ends = [known[known > 0].min().min(), known.max().max()]
    line = {"color": GREY, "width": 1}
    figure.add_scatter(x=ends, y=ends, mode="lines", name=_("calibrated"), line=line, hoverinfo="skip")
    figure.update_xaxes(**log_axis(percents))
    return figure.update_yaxes(title=_("Share that came true"), **log_axis(percents))


def overconfidence(ranks: Mapping[str, pd.DataFrame], titles: Mapping[str, str]) -> go.Figure:
    """Predicted probability over the share that came true, by rank."""
    figure = lines(ranks, titles, "rank", "times", _("Rank"))
    ends = [min(table["rank"].min() for table in ranks.values()), max(table["rank"].max() for table in ranks.values())]
    line = {"color": GREY, "width": 1}
    figure.add_scatter(x=ends, y=[1, 1], mode="lines", name=_("calibrated"), line=line, hoverinfo="skip")
    figure.update_xaxes(dtick=1)
    return figure.update_yaxes(
        title=_("Predicted over observed"), **log_axis(lambda step: f"{i18n.number(step, 'g')}×")
    )
