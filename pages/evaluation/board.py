"""The leaderboard as an HTML table: a mark and its interval in every row, readable down to the width of a phone.

Style: assets/style/nextreel.css.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd

from pages.evaluation import charts, words

BESIDE = ("ndcg@10", "hr@10", "mrr")  # shown beside the metric that was chosen


def html(ours: pd.DataFrame, theirs: pd.DataFrame, metric: str, tests: pd.DataFrame | None) -> str:
    """Ours (`overview.measures`) and theirs (`results.published`) in one table, the highest metric first.

    tests: `compare.against_best`, None as long as it is being computed.
    """
    beside = [name for name in BESIDE if name != metric]
    tested = {} if tests is None else {row["variant"]: row for row in tests.to_dict("records")}
    best = None if tests is None or tests.empty else tests["other"].iloc[0]
    rows = [(row[metric], _row(row, beside)) for row in _ours(ours, metric, tested, best)]
    rows += [(row[metric], _row(row, beside)) for row in _theirs(theirs, metric)]
    longest = max([*ours[f"high {metric}"].fillna(ours[metric]), *(figure for figure, _ in rows)], default=1) or 1
    body = "".join(cells for _, cells in sorted(rows, key=lambda pair: -pair[0]))
    about = escape(words.LEADERBOARD_ALT.format(metric=words.metric_name(metric)))
    style = f"--nr-longest:{longest:.6f}"
    return f'<table class="nr-board" style="{style}"><caption>{about}</caption>{_head(metric, beside)}{body}</table>'


def _head(metric: str, beside: list[str]) -> str:
    """The row of headings."""
    wide = "".join(f'<th scope="col" class="nr-wide">{escape(words.metric_name(name))}</th>' for name in beside)
    return (
        f'<thead><tr><th scope="col" aria-label="{words.RANK}">#</th>'
        f'<th scope="col" class="nr-left">{words.COLUMNS["title"]}</th>'
        f'<th scope="col">{escape(words.metric_name(metric))}</th><th scope="col" class="nr-left">{words.INTERVAL}</th>'
        f'{wide}<th scope="col" class="nr-wide">{words.COLUMNS["seeds"]}</th>'
        f'<th scope="col" class="nr-wide nr-left">{words.AGAINST_BEST}</th></tr></thead>'
    )


def _ours(board: pd.DataFrame, metric: str, tested: Mapping[str, Any], best: str | None) -> list[dict[str, Any]]:
    """Rows of what was measured here, with their rank and the result of the test."""
    rows = board.sort_values(metric, ascending=False, kind="stable").to_dict("records")
    for rank, row in enumerate(rows, start=1):
        row |= {"#": rank, "metric": metric, "look": charts.look(row["family"]), "small": escape(row["family"])}
        row |= {"low": row[f"low {metric}"], "high": row[f"high {metric}"], "like": False, "against": ""}
        if row["variant"] == best:
            row["against"] = words.THE_BEST
        elif test := tested.get(row["variant"]):
            row["like"] = not test["differs"]
            said = words.LIKE_THE_BEST.format(p=test["p_holm"]) if row["like"] else words.BEHIND
            row["against"] = said.format(by=-test["difference"])
    return rows


def _theirs(table: pd.DataFrame, metric: str) -> list[dict[str, Any]]:
    """Rows of what others published, without a rank among ours."""
    rows = table.dropna(subset=[metric]).to_dict("records") if metric in table else []
    for row in rows:
        about = escape(f"{row['rules']}. {row['source']}", quote=True)
        small = f'<span class="nr-tag nr-source" title="{about}">{words.PUBLISHED} · {escape(row["code"])}</span>'
        row |= {"#": "", "metric": metric, "look": None, "small": small, "low": None, "high": None}
        row |= {"like": False, "against": "", "seeds": ""}
    return rows


def _row(row: dict[str, Any], beside: list[str]) -> str:
    """One line of the table."""
    look = row["look"]
    mark = f'<i class="nr-glyph" style="color:{look.colour}" aria-hidden="true">{look.glyph}</i>' if look else ""
    name = (
        f'{mark}<span class="nr-text"><b>{escape(row["title"])}</b><span class="nr-quiet">{row["small"]}</span></span>'
    )
    like = f'<abbr title="{words.LIKE_IN_WORDS}">≈</abbr>' if row["like"] else ""
    wide = "".join(f'<td class="nr-wide">{_figure(row.get(metric))}</td>' for metric in beside)
    return (
        f'<tr class="{"nr-ours" if look else "nr-theirs"}"><td class="nr-ordinal">{row["#"]}</td>'
        f'<th scope="row"><span class="nr-line">{name}</span></th><td><b>{_figure(row[row["metric"]])}</b>{like}</td>'
        f'<td class="nr-range">{_range(row)}</td>{wide}<td class="nr-wide">{row["seeds"]}</td>'
        f'<td class="nr-wide nr-left nr-quiet">{row["against"]}</td></tr>'
    )


def _range(row: dict[str, Any]) -> str:
    """A mark at the figure and a bar over its interval, as shares of the table's longest value."""
    figure, low, high = row[row["metric"]], row["low"], row["high"]
    colour = row["look"].colour if row["look"] else charts.QUIET
    known = low is not None and not pd.isna(low)
    about = words.FROM_TO.format(low=low, high=high) if known else words.NO_INTERVAL
    bar = f'<i style="--nr-low:{low:.6f};--nr-high:{high:.6f}"></i>' if known else ""
    style = f"--nr-colour:{colour};--nr-at:{figure:.6f}"
    return f'<div class="nr-span" role="img" aria-label="{about}" style="{style}">{bar}<b></b></div>'


def _figure(value: float | None) -> str:
    """Four digits, without the zero in front; a dash for what is not known."""
    return "–" if value is None or pd.isna(value) else f"{value:.4f}".removeprefix("0")
