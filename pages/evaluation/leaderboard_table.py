"""The HTML table of the leaderboard, with confidence intervals as bars. Its style is in assets/style/nextreel.css.

A click on a title opens a popover that shows where the metrics come from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from pages.evaluation.charts import Look, look
from pages.evaluation.data import metric_title
from pages.evaluation.provenance import Provenance
from pages.ui import format
from pages.ui.charts import GREY
from pages.ui.i18n import N_, _

N_FIXED_COLUMNS = 6  # rank, recommender, metric, interval, seeds, comparison
SIDE_METRICS = ("ndcg@10", "hr@10", "mrr")  # columns beside the selected metric
ARXIV = "arXiv:"
TIME_AWARE_TITLE = N_("Not comparable: these recommenders know when the hidden film was watched")


@dataclass(frozen=True)
class Row:
    """A row of the HTML table, for a recommender that was evaluated here or for a published figure."""

    record: Mapping[str, Any]  # row of `tables.leaderboard` or of `published_figures.published`, by column
    provenance: Provenance
    subtitle_html: str
    family_look: Look | None = None  # None for published figures
    rank: str = ""  # "" for published figures
    comparison: str = ""  # difference from the best recommender, as text
    is_tied: bool = False  # not significantly different from the best recommender


def table_html(
    board: pd.DataFrame,
    published: pd.DataFrame,
    metric: str,
    tests: pd.DataFrame | None,
    provenances: Mapping[str, Provenance],
) -> str:
    """Return the HTML table of evaluated and published metrics, the highest value first.

    Published figures of models that know the time of the hidden film come last, below a heading.

    Args:
        board: Recommenders that were evaluated here.
        published: Published figures.
        metric: The selected metric.
        tests: `significance.against_best`; None while the tests are running.
        provenances: Provenance of each recommender that was evaluated here, by its name.
    """
    side_columns = _side_columns(metric)
    local_rows, published_rows = _local_rows(board, metric, tests, provenances), _published_rows(published)
    comparable = [row for row in published_rows if not row.record["knows_the_time"]]
    time_aware = [row for row in published_rows if row.record["knows_the_time"]]
    body = _rows_html([*local_rows, *comparable], metric)
    if time_aware:
        heading = (
            f'<th scope="rowgroup" colspan="{N_FIXED_COLUMNS + len(side_columns)}">{escape(_(TIME_AWARE_TITLE))}</th>'
        )
        body += f'<tr class="nr-apart">{heading}</tr>' + _rows_html(time_aware, metric)
    interval_ends = board[f"high {metric}"].fillna(board[metric])
    scale_end = max([*interval_ends, *(row.record[metric] for row in published_rows)]) or 1
    caption = _("{metric} of all recommenders, best first, measured here or published", metric=metric_title(metric))
    side_headings = "".join(
        f'<th scope="col" class="{css_class}">{escape(metric_title(name))}</th>'
        for name, css_class in side_columns.items()
    )
    return (
        f'<table class="nr-board" style="--nr-longest:{scale_end:.6f}"><caption>{escape(caption)}</caption>'
        f'<thead><tr><th scope="col" aria-label="{_("Rank")}">#</th>'
        f'<th scope="col" class="nr-left">{_("Recommender")}</th><th scope="col">{escape(metric_title(metric))}</th>'
        f'<th scope="col" class="nr-left nr-range">{_("95% interval")}</th>'
        f'{side_headings}<th scope="col" class="nr-wide">{_("Seeds")}</th>'
        f'<th scope="col" class="nr-wide nr-left">{_("Against the best")}</th></tr></thead>{body}</table>'
    )


def _side_columns(metric: str) -> dict[str, str]:
    """Return metric → CSS class of its column, for the SIDE_METRICS without the selected metric.

    The class "nr-wide" hides a column on phones, which have room for two of these columns.
    """
    names = [name for name in SIDE_METRICS if name != metric]
    return {name: "nr-wide" if name == "ndcg@10" and len(names) > 2 else "" for name in names}


def _local_rows(
    board: pd.DataFrame, metric: str, tests: pd.DataFrame | None, provenances: Mapping[str, Provenance]
) -> list[Row]:
    """Return the rows of recommenders that were evaluated here, best first. The arguments are as in `table_html`."""
    # each row of `against_best` compares a recommender with the best recommender, which is in the column "other"
    test_by_variant = {} if tests is None else tests.set_index("variant").to_dict("index")
    best = None if tests is None or tests.empty else tests["other"].iloc[0]
    rows = []
    records = board.sort_values(metric, ascending=False, kind="stable").to_dict("records")
    for rank, record in enumerate(records, start=1):
        variant, family = record["variant"], record["family"]
        comparison = _("the best") if variant == best else ""
        is_tied = False
        if test := test_by_variant.get(variant):
            is_tied = not test["differs"]
            comparison = _("{difference:.4f} behind", difference=-test["difference"])
            if is_tied:
                comparison = _("not significant, p = {p:.4f}", p=test["p_holm"])
        rows.append(Row(record, provenances[variant], escape(_(family)), look(family), str(rank), comparison, is_tied))
    return rows


def _published_rows(published: pd.DataFrame) -> list[Row]:
    """Return the rows of published figures, without ranks."""
    rows = []
    for position, record in enumerate(published.to_dict("records")):
        rules = _("{rules}; a different method", rules=_(record["short"])) if record["note"] else _(record["short"])
        tag = f'<span class="nr-tag nr-source">{_("Published")} · {escape(record["code"])}</span>'
        facts = {_("Rules"): f"{record['code']}: {published_rules(record)}", _("Source"): _(record["source"])}
        provenance = Provenance(f"published-{position}", _(record["title"]), facts)
        rows.append(Row(record | {"seeds": ""}, provenance, f"{tag} {escape(rules)}"))
    return rows


def published_rules(record: Mapping[str, Any]) -> str:
    """Return the rules of a published figure and, if its method differs from our recommender, how it differs."""
    return "; ".join(_(text) for text in (record["rules"], record["note"]) if text)


def _rows_html(rows: Iterable[Row], metric: str) -> str:
    """Return the HTML of rows, the highest metric first."""
    return "".join(_row_html(row, metric) for row in sorted(rows, key=lambda row: -row.record[metric]))


def _row_html(row: Row, metric: str) -> str:
    """Return the HTML of a row. CSS draws the interval on a scale from 0 to `--nr-longest` of the table."""
    colour, glyph, row_class = GREY, "", "nr-theirs"
    if row.family_look:
        colour, row_class = row.family_look.colour, "nr-ours"
        glyph = f'<i class="nr-glyph" style="color:{colour}" aria-hidden="true">{row.family_look.glyph}</i>'
    html_id, title = f"about-{row.provenance.id}", escape(row.provenance.title)
    button = f'<button type="button" class="nr-ask" popovertarget="{html_id}">{title}</button>'
    title_html = f'<span class="nr-text">{button}<span class="nr-quiet">{row.subtitle_html}</span></span>'
    tied = f'<abbr title="{_("no significant difference from the best")}">≈</abbr>' if row.is_tied else ""
    side_cells = "".join(
        f'<td class="{css_class}">{format.metric(row.record.get(name))}</td>'
        for name, css_class in _side_columns(metric).items()
    )
    interval_html, interval_text = "", _("no interval")
    low, high = row.record.get(f"low {metric}"), row.record.get(f"high {metric}")
    if pd.notna(low):
        interval_text = _("95% interval from {low:.4f} to {high:.4f}", low=low, high=high)
        interval_html = f'<i style="--nr-low:{low:.6f};--nr-high:{high:.6f}"></i>'
    style = f"--nr-colour:{colour};--nr-at:{row.record[metric]:.6f}"
    return (
        f'<tr class="{row_class}"><td class="nr-ordinal">{row.rank}</td>'
        f'<th scope="row"><span class="nr-line">{glyph}{title_html}</span>{popover_html(row.provenance)}</th>'
        f"<td><b>{format.metric(row.record[metric])}</b>{tied}</td>"
        f'<td class="nr-range"><div class="nr-span" role="img" aria-label="{interval_text}" style="{style}">'
        f"{interval_html}<b></b></div>"
        f'</td>{side_cells}<td class="nr-wide">{row.record["seeds"]}</td>'
        f'<td class="nr-wide nr-left nr-quiet">{row.comparison}</td></tr>'
    )


def codes_html(published: pd.DataFrame) -> str:
    """Return HTML that explains the codes of published figures. A code stands for the rules of an evaluation."""
    rules = dict(zip(published["code"].str.rstrip("*"), published["rules"], strict=True))
    codes = sorted(rules, key=lambda code: (not code[0].isalpha(), code))  # letters first
    rows = [(code, rules[code]) for code in codes]
    if published["note"].any():
        rows.append(("*", N_("a different method; click the title for details")))
    lines = "".join(f"<dt>{escape(code)}</dt><dd>{escape(_(text))}</dd>" for code, text in rows)
    return f'<p class="nr-head">{_("Key to the published figures")}</p><dl class="nr-codes">{lines}</dl>'


def popover_html(provenance: Provenance) -> str:
    """Return the HTML popover with the facts and commands of a row."""
    html_id, title = f"about-{provenance.id}", escape(provenance.title)
    close = (
        f'<button type="button" class="nr-cross" popovertarget="{html_id}" popovertargetaction="hide" '
        f'aria-label="{_("Close")}">✕</button>'
    )
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{_link_arxiv(text)}</dd>" for label, text in provenance.facts.items())
    lines = "".join(f"<code>{escape(line)}</code>" for line in provenance.commands)
    commands = f'<p>{_("Run this to reproduce the metrics:")}</p><div class="nr-commands">{lines}</div>'
    aria_label = escape(_("Where the metrics of {title} come from", title=provenance.title))
    return (
        f'<div popover id="{html_id}" class="nr-about" role="dialog" aria-label="{aria_label}">'
        f"{close}<b>{title}</b><dl>{facts}</dl>{commands if lines else ''}</div>"
    )


def _link_arxiv(text: str) -> str:
    """Return a text as HTML, with a link if it is an arXiv number."""
    if not text.startswith(ARXIV):
        return escape(text)
    target = f"https://arxiv.org/abs/{escape(text.removeprefix(ARXIV))}"
    return f'<a href="{target}" target="_blank" rel="noopener">{escape(text)}</a>'
