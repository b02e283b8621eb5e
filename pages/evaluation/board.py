"""The leaderboard as an HTML table: a mark and its interval in every row, readable down to the width of a phone.

Style: assets/style/nextreel.css.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import pandas as pd

from pages.evaluation import about, words
from pages.evaluation.about import About
from pages.evaluation.charts.looks import look
from pages.ui import format
from pages.ui.charts import GREY
from pages.ui.i18n import _, say

BESIDE = ("ndcg@10", "hr@10", "mrr")  # shown beside the metric that was chosen
ON_A_PHONE = ("hr@10", "mrr", "ndcg@10")  # of these the first two that are not the chosen one


def html(
    ours: pd.DataFrame, theirs: pd.DataFrame, metric: str, tests: pd.DataFrame | None, known: Mapping[str, About]
) -> str:
    """Ours (`tables.leaderboard`) and theirs (`published_figures.published`) in one table, the highest metric first.

    Published figures of models that know when the hidden film was watched come last, under a heading of their own.
    tests: `significance.against_best`, None while being computed; known: variant → where its figures come from.
    """
    beside = [name for name in BESIDE if name != metric]
    tested = {} if tests is None else {row["variant"]: row for row in tests.to_dict("records")}
    best = None if tests is None or tests.empty else tests["other"].iloc[0]
    mine, others = _ours(ours, metric, tested, best, known), _theirs(theirs, metric)
    apart = [row for row in others if row["knows_the_time"]]
    together = [*mine, *(row for row in others if not row["knows_the_time"])]
    longest = max([*ours[f"high {metric}"].fillna(ours[metric]), *(row[metric] for row in (*mine, *others))]) or 1
    body = _rows(together, metric, beside)
    if apart:
        body += _heading(
            _("Not comparable: published for models that are told when the hidden film was watched"), len(beside)
        ) + _rows(apart, metric, beside)
    caption = escape(
        _(
            "{metric} of every recommender, the best first, measured here and published",
            metric=words.metric_name(metric),
        )
    )
    style = f"--nr-longest:{longest:.6f}"
    return f'<table class="nr-board" style="{style}"><caption>{caption}</caption>{_head(metric, beside)}{body}</table>'


def letters(theirs: pd.DataFrame) -> str:
    """What the letters of the published figures mean, a line each."""
    known = zip(theirs["code"].str.rstrip("*"), theirs["rules"], strict=True)
    found = {code: rules.partition("; another")[0] for code, rules in known}
    rows = sorted(found.items(), key=lambda row: (not row[0][0].isalpha(), row))
    if theirs["code"].str.endswith("*").any():
        rows.append(("*", _("another method than ours; a click on the title tells which")))
    lines = "".join(f"<dt>{escape(code)}</dt><dd>{escape(say(rules))}</dd>" for code, rules in rows)
    return f'<p class="nr-head">{_("The letters of published figures")}</p><dl class="nr-codes">{lines}</dl>'


def _head(metric: str, beside: list[str]) -> str:
    """The row of headings."""
    heads = "".join(
        f'<th scope="col" class="{_width(name, metric)}">{escape(words.metric_name(name))}</th>' for name in beside
    )
    return (
        f'<thead><tr><th scope="col" aria-label="{_("Rank")}">#</th>'
        f'<th scope="col" class="nr-left">{words.COLUMNS["title"]}</th>'
        f'<th scope="col">{escape(words.metric_name(metric))}</th>'
        f'<th scope="col" class="nr-left nr-range">{_("95% interval")}</th>'
        f'{heads}<th scope="col" class="nr-wide">{words.COLUMNS["seeds"]}</th>'
        f'<th scope="col" class="nr-wide nr-left">{_("Against the best")}</th></tr></thead>'
    )


def _heading(text: str, n_beside: int) -> str:
    """A row that begins another part of the table."""
    return f'<tr class="nr-apart"><th scope="rowgroup" colspan="{6 + n_beside}">{escape(text)}</th></tr>'


def _ours(
    board: pd.DataFrame, metric: str, tested: Mapping[str, Any], best: str | None, known: Mapping[str, About]
) -> list[dict[str, Any]]:
    """Rows of what was measured here, with their rank and the result of the test."""
    rows = board.sort_values(metric, ascending=False, kind="stable").to_dict("records")
    for rank, row in enumerate(rows, start=1):
        row |= {
            "#": rank,
            "look": look(row["family"]),
            "small": escape(say(row["family"])),
            "about": known[row["variant"]],
        }
        row |= {"low": row[f"low {metric}"], "high": row[f"high {metric}"], "like": False, "against": ""}
        if row["variant"] == best:
            row["against"] = _("the best")
        elif test := tested.get(row["variant"]):
            row["like"] = not test["differs"]
            said = _("not significant, p = {p:.4f}", p=test["p_holm"]) if row["like"] else _("{by:.4f} behind")
            row["against"] = said.format(by=-test["difference"])
    return rows


def _theirs(table: pd.DataFrame, metric: str) -> list[dict[str, Any]]:
    """Rows of what others published, without a rank among ours."""
    rows = table.dropna(subset=[metric]).to_dict("records") if metric in table else []
    for number, row in enumerate(rows):
        small = f'<span class="nr-tag nr-source">{_("Published")} · {escape(row["code"])}</span> {escape(_short(row))}'
        row |= {"#": "", "look": None, "small": small, "low": None, "high": None}
        row |= {"like": False, "against": "", "seeds": "", "about": about.theirs(row, number)}
    return rows


def _short(row: dict[str, Any]) -> str:
    """The rules of a published figure in a few words."""
    short = say(row["short"])
    return _("{rules}; another method", rules=short) if row["code"].endswith("*") else short


def _rows(rows: Iterable[dict[str, Any]], metric: str, beside: list[str]) -> str:
    """Lines of the table, the highest first."""
    return "".join(_row(row, metric, beside) for row in sorted(rows, key=lambda row: -row[metric]))


def _row(row: dict[str, Any], metric: str, beside: list[str]) -> str:
    """One line of the table."""
    mark = row["look"]
    glyph = f'<i class="nr-glyph" style="color:{mark.colour}" aria-hidden="true">{mark.glyph}</i>' if mark else ""
    title = f'<span class="nr-text">{about.button(row["about"])}<span class="nr-quiet">{row["small"]}</span></span>'
    name = f'<span class="nr-line">{glyph}{title}</span>{about.popover(row["about"])}'
    like = f'<abbr title="{_("no significant difference from the best")}">≈</abbr>' if row["like"] else ""
    figures = "".join(f'<td class="{_width(name, metric)}">{format.metric(row.get(name))}</td>' for name in beside)
    return (
        f'<tr class="{"nr-ours" if mark else "nr-theirs"}"><td class="nr-ordinal">{row["#"]}</td>'
        f'<th scope="row">{name}</th><td><b>{format.metric(row[metric])}</b>{like}</td>'
        f'<td class="nr-range">{_range(row, metric)}</td>{figures}<td class="nr-wide">{row["seeds"]}</td>'
        f'<td class="nr-wide nr-left nr-quiet">{row["against"]}</td></tr>'
    )


def _range(row: dict[str, Any], metric: str) -> str:
    """A mark at the figure and a bar over its interval, as shares of the table's longest value."""
    figure, low, high = row[metric], row["low"], row["high"]
    colour = row["look"].colour if row["look"] else GREY
    known = low is not None and not pd.isna(low)
    said = _("95% interval from {low:.4f} to {high:.4f}", low=low, high=high) if known else _("no interval")
    bar = f'<i style="--nr-low:{low:.6f};--nr-high:{high:.6f}"></i>' if known else ""
    style = f"--nr-colour:{colour};--nr-at:{figure:.6f}"
    return f'<div class="nr-span" role="img" aria-label="{said}" style="{style}">{bar}<b></b></div>'


def _width(name: str, metric: str) -> str:
    """The class of a metric's column: hidden on a phone where two more important ones are shown there."""
    return "" if name in [other for other in ON_A_PHONE if other != metric][:2] else "nr-wide"
