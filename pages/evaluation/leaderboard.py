"""The section Leaderboard: an HTML table with confidence intervals, or a sortable table of all metrics.

A click on a title shows where its metrics come from. The style of the HTML table is in assets/style/nextreel.css.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from pages.evaluation import data, list_lengths
from pages.evaluation.charts import TIME_UNITS, Look, look
from pages.evaluation.data import HARDWARE, EvaluationView, metric_title
from pages.ui import cache, errors, format
from pages.ui.charts import GREY, download_numbers, localize_table
from pages.ui.i18n import N_, _, count, ngettext, number
from pages.ui.widgets import segmented_control
from recsys.evaluation import protocols, published_figures, report, results, significance
from recsys.serving.predictor import Recommender

# layouts
INTERVALS = "intervals"  # the HTML table
ALL_METRICS = "all-figures"  # the sortable table
SIDE_METRICS = ("ndcg@10", "hr@10", "mrr")  # columns beside the selected metric
PHONE_METRICS = ("hr@10", "mrr", "ndcg@10")  # a phone shows two of these metrics beside the selected one
PHONE_COLUMNS = ["title", "ndcg@10", "hr@10", "mrr", "hr@1"]  # first columns of the sortable table, for phones
ARXIV = "arXiv:"
HR_MEANING = N_("HR@k is the share of people whose hidden film is in the top k.")
METRIC_MEANINGS = {
    "hr": (HR_MEANING,),
    "ndcg": (
        HR_MEANING,
        N_("NDCG@k counts lower ranks less: 1 for rank 1, 0.5 for rank 3 and 0.29 for rank 10."),
    ),
    "mrr": (N_("MRR is the mean of 1 divided by the rank of the hidden film."),),
}
RECALL_MEANING = N_(
    "HR@k is the number of the person's other liked films in the top k, divided by the highest possible number."
)
FAVOURITES_METRIC_MEANINGS = {  # for protocols with several hidden films per person
    "hr": (RECALL_MEANING,),
    "ndcg": (RECALL_MEANING, N_("NDCG@k also counts their ranks: lower ranks count less.")),
    "mrr": (N_("MRR is the mean of 1 divided by the rank of the best-ranked other liked film."),),
}
TABLE_NOTES = (
    N_(
        "The bar is the 95% confidence interval over people. Recommenders are trained once or several times, with "
        "different random seeds. Metrics are means over these training runs."
    ),
    N_("Click a title to see where its metrics come from."),
)
COLUMN_TITLES = {
    "title": N_("Recommender"),
    "family": N_("Family"),
    "seeds": N_("Seeds"),
    "users": N_("People"),
    "date": N_("Measured"),
    "code": N_("Key"),
    "rules": N_("Rules"),
    "source": N_("Source"),
}
TIME_AWARE_TITLE = N_("Not comparable: these models know when the hidden film was watched")


@dataclass(frozen=True)
class Provenance:
    """Where the metrics of a row come from."""

    id: str  # part of the HTML id of the popover
    title: str
    facts: list[tuple[str, str]]  # pairs of label and text
    commands: tuple[str, ...] = ()  # shell commands that reproduce the metrics


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


def show(view: EvaluationView) -> None:
    """Show the controls, one of the two tables, and the recommenders without results."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        metric = data.select_metric()
        families = st.multiselect(
            _("Families"),
            list(dict.fromkeys(view.board["family"])),
            select_all=False,
            format_func=_,
            placeholder=_("All families"),
            key=f"families-{view.key}",
            width=330,
            persist_state="session",
        )
        layouts = {INTERVALS: _("Intervals"), ALL_METRICS: _("All metrics")}
        layout = segmented_control(_("Show as"), layouts, "board_view")
    protocol = protocols.get_current_or_former(view.protocol)
    if protocol.n_newest or protocol.n_given:  # recommenders get lists of a fixed length
        list_lengths.show(view, metric)
    board, published = view.board, published_figures.published(view.dataset, view.protocol)
    if families:
        board = board[board["family"].isin(families)]
        published = published[published["variant"].isin(board["variant"])]
    if board.empty:
        message = _("No recommender of these families has results here. Select other families, or none to see all.")
        st.info(message, icon=":material/filter_alt:")
    elif layout == INTERVALS:
        show_intervals(view, board, published, metric)
    else:
        show_all_metrics(view, board, published)
    show_missing(view)


def show_intervals(view: EvaluationView, board: pd.DataFrame, published: pd.DataFrame, metric: str) -> None:
    """Show the HTML table. At first it is shown without significance tests, because the tests take seconds."""
    provenances = {variant: local_provenance(document) for variant, document in data.documents(view).items()}
    published = published.dropna(subset=[metric]) if metric in published else published[:0]
    slot = st.empty()
    slot.html(table_html(board, published, metric, None, provenances))
    all_tests, load_errors = data.pairwise_tests(view, metric)
    errors.show_file_errors(load_errors)
    tests = significance.against_best(all_tests)
    slot.html(table_html(board, published, metric, tests, provenances))
    tied_note = _(
        "≈ marks recommenders without a significant difference from the best: p is at least {alpha} in a paired "
        "randomisation test, with Holm's correction for all pairs of this leaderboard.",
        alpha=number(significance.ALPHA, ""),
    )
    gives_favourites = protocols.get_current_or_former(view.protocol).n_given > 0
    meanings = (FAVOURITES_METRIC_MEANINGS if gives_favourites else METRIC_MEANINGS)[metric.split("@")[0]]
    st.caption(" ".join([*map(_, meanings), *map(_, TABLE_NOTES), tied_note]))
    if len(published):
        st.html(letters_html(published))
    download_numbers(
        board.merge(tests.drop(columns=["metric", "users"]), how="left", on="variant"), f"leaderboard-{view.key}"
    )


def table_html(
    board: pd.DataFrame,
    published: pd.DataFrame,
    metric: str,
    tests: pd.DataFrame | None,
    provenances: Mapping[str, Provenance],
) -> str:
    """Return the table of evaluated and published metrics as HTML, the highest first.

    Published figures of models that know the time of the hidden film come last, below a heading.

    Args:
        board: Recommenders that were evaluated here.
        published: Published figures.
        metric: The selected metric.
        tests: `significance.against_best`; None while the tests are running.
        provenances: Provenance of each recommender that was evaluated here, by its name.
    """
    side_metrics = [name for name in SIDE_METRICS if name != metric]
    local_rows, published_rows = _local_rows(board, metric, tests, provenances), _published_rows(published)
    comparable = [row for row in published_rows if not row.record["knows_the_time"]]
    time_aware = [row for row in published_rows if row.record["knows_the_time"]]
    body = _rows_html([*local_rows, *comparable], metric, side_metrics)
    if time_aware:
        n_columns = 6 + len(side_metrics)
        heading = f'<th scope="rowgroup" colspan="{n_columns}">{escape(_(TIME_AWARE_TITLE))}</th>'
        body += f'<tr class="nr-apart">{heading}</tr>' + _rows_html(time_aware, metric, side_metrics)
    interval_ends = board[f"high {metric}"].fillna(board[metric])
    scale_end = max([*interval_ends, *(row.record[metric] for row in (*local_rows, *published_rows))]) or 1
    caption = _("{metric} of all recommenders, best first, measured here or published", metric=metric_title(metric))
    side_headings = "".join(
        f'<th scope="col" class="{_column_class(name, metric)}">{escape(metric_title(name))}</th>'
        for name in side_metrics
    )
    return (
        f'<table class="nr-board" style="--nr-longest:{scale_end:.6f}"><caption>{escape(caption)}</caption>'
        f'<thead><tr><th scope="col" aria-label="{_("Rank")}">#</th>'
        f'<th scope="col" class="nr-left">{_("Recommender")}</th><th scope="col">{escape(metric_title(metric))}</th>'
        f'<th scope="col" class="nr-left nr-range">{_("95% interval")}</th>'
        f'{side_headings}<th scope="col" class="nr-wide">{_("Seeds")}</th>'
        f'<th scope="col" class="nr-wide nr-left">{_("Against the best")}</th></tr></thead>{body}</table>'
    )


def _local_rows(
    board: pd.DataFrame, metric: str, tests: pd.DataFrame | None, provenances: Mapping[str, Provenance]
) -> list[Row]:
    """Return the rows of recommenders that were evaluated here, the highest metric first."""
    test_by_variant = {} if tests is None else {test["variant"]: test for test in tests.to_dict("records")}
    best = None if tests is None or tests.empty else tests["other"].iloc[0]  # all tests are against the best
    rows = []
    records = board.sort_values(metric, ascending=False, kind="stable").to_dict("records")
    for rank, record in enumerate(records, start=1):
        variant, family = record["variant"], record["family"]
        test = test_by_variant.get(variant)
        is_tied = test is not None and not test["differs"]
        comparison = _("the best") if variant == best else ""
        if test:
            comparison = (
                _("not significant, p = {p:.4f}", p=test["p_holm"])
                if is_tied
                else _("{difference:.4f} behind", difference=-test["difference"])
            )
        rows.append(Row(record, provenances[variant], escape(_(family)), look(family), str(rank), comparison, is_tied))
    return rows


def _published_rows(published: pd.DataFrame) -> list[Row]:
    """Return the rows of published figures, without ranks."""
    rows = []
    for position, record in enumerate(published.to_dict("records")):
        rules = _("{rules}; a different method", rules=_(record["short"])) if record["note"] else _(record["short"])
        tag = f'<span class="nr-tag nr-source">{_("Published")} · {escape(record["code"])}</span>'
        facts = [(_("Rules"), f"{record['code']}: {published_rules(record)}"), (_("Source"), _(record["source"]))]
        provenance = Provenance(f"published-{position}", _(record["title"]), facts)
        rows.append(Row(record | {"seeds": ""}, provenance, f"{tag} {escape(rules)}"))
    return rows


def published_rules(record: Mapping[str, Any]) -> str:
    """Return the rules of a published figure and, if its method differs from ours, how it differs."""
    return "; ".join(_(text) for text in (record["rules"], record["note"]) if text)


def _rows_html(rows: Iterable[Row], metric: str, side_metrics: list[str]) -> str:
    """Return the HTML of rows, the highest metric first."""
    return "".join(_row_html(row, metric, side_metrics) for row in sorted(rows, key=lambda row: -row.record[metric]))


def _row_html(row: Row, metric: str, side_metrics: list[str]) -> str:
    """Return the HTML of a row. CSS draws the interval on a scale from 0 to --nr-longest, which the table sets."""
    colour, glyph, row_class = GREY, "", "nr-theirs"
    if row.family_look:
        colour, row_class = row.family_look.colour, "nr-ours"
        glyph = f'<i class="nr-glyph" style="color:{colour}" aria-hidden="true">{row.family_look.glyph}</i>'
    html_id, label = f"about-{row.provenance.id}", escape(row.provenance.title)
    button = f'<button type="button" class="nr-ask" popovertarget="{html_id}">{label}</button>'
    title = f'<span class="nr-text">{button}<span class="nr-quiet">{row.subtitle_html}</span></span>'
    tied = f'<abbr title="{_("no significant difference from the best")}">≈</abbr>' if row.is_tied else ""
    side_cells = "".join(
        f'<td class="{_column_class(name, metric)}">{format.metric(row.record.get(name))}</td>' for name in side_metrics
    )
    interval_html, interval_text = "", _("no interval")
    low, high = row.record.get(f"low {metric}"), row.record.get(f"high {metric}")
    if pd.notna(low):
        interval_text = _("95% interval from {low:.4f} to {high:.4f}", low=low, high=high)
        interval_html = f'<i style="--nr-low:{low:.6f};--nr-high:{high:.6f}"></i>'
    style = f"--nr-colour:{colour};--nr-at:{row.record[metric]:.6f}"
    return (
        f'<tr class="{row_class}"><td class="nr-ordinal">{row.rank}</td>'
        f'<th scope="row"><span class="nr-line">{glyph}{title}</span>{popover_html(row.provenance)}</th>'
        f"<td><b>{format.metric(row.record[metric])}</b>{tied}</td>"
        f'<td class="nr-range"><div class="nr-span" role="img" aria-label="{interval_text}" style="{style}">'
        f"{interval_html}<b></b></div>"
        f'</td>{side_cells}<td class="nr-wide">{row.record["seeds"]}</td>'
        f'<td class="nr-wide nr-left nr-quiet">{row.comparison}</td></tr>'
    )


def _column_class(side_metric: str, metric: str) -> str:
    """Return the CSS class of the column of a side metric. "nr-wide" hides it on a phone. metric: The selected one."""
    on_phone = [name for name in PHONE_METRICS if name != metric][:2]
    return "" if side_metric in on_phone else "nr-wide"


def letters_html(published: pd.DataFrame) -> str:
    """Return HTML that explains the letters of the published figures."""
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
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{_linked(text)}</dd>" for label, text in provenance.facts)
    lines = "".join(f"<code>{escape(line)}</code>" for line in provenance.commands)
    commands = f'<p>{_("Run this to reproduce the metrics:")}</p><div class="nr-commands">{lines}</div>'
    label = escape(_("Where the metrics of {title} come from", title=provenance.title))
    return (
        f'<div popover id="{html_id}" class="nr-about" role="dialog" aria-label="{label}">'
        f"{close}<b>{title}</b><dl>{facts}</dl>{commands if lines else ''}</div>"
    )


def _linked(text: str) -> str:
    """Return a text as HTML, with a link for an arXiv number."""
    if not text.startswith(ARXIV):
        return escape(text)
    target = f"https://arxiv.org/abs/{escape(text.removeprefix(ARXIV))}"
    return f'<a href="{target}" target="_blank" rel="noopener">{escape(text)}</a>'


def local_provenance(document: dict[str, Any]) -> Provenance:
    """Return where the metrics of a result document come from."""
    run, seeds = document["run"], [str(seed["seed"]) for seed in document["seeds"]]
    device = ", ".join(filter(None, [run.get("device", ""), _("threads: {n}", n=run.get("threads", _("all")))]))
    extra_data, extra_features = "", ""
    if dataset := document.get("also"):
        extra_data = _("{data}, without people who are in both data sets", data=cache.dataset_title(dataset))
    if fingerprint := document.get("details"):
        extra_features = _("cast and crew from Wikidata, fingerprint {print}", print=fingerprint[:12])
    facts = {  # English label → translated text, "" if not recorded
        N_("People"): count(document["users"]),
        N_("Seeds"): _("{n} ({seeds})", n=len(seeds), seeds=", ".join(seeds)),
        N_("Code version (commit)"): run.get("commit", ""),
        N_("Measured on"): run.get("date", "")[:10],
        N_("Trained for"): _training_times(run.get("trained", [])),
        N_("Machine"): ", ".join(filter(None, [run.get("machine", ""), device])),
        N_("Versions"): ", ".join(f"{name} {version}" for name, version in run.get("versions", {}).items()),
        N_("Data"): _("{data}, fingerprint {print}", data=document["dataset"], print=document["fingerprint"][:12]),
        N_("Also trained on"): extra_data,
        N_("Extra features"): extra_features,
        N_("Paper"): document["paper"],
    }
    commands = tuple(map(errors.hide_paths, report.reproduction_commands(document)))
    recorded_facts = [(_(label), text) for label, text in facts.items() if text]
    return Provenance(document["variant"], _(document["title"]), recorded_facts, commands)


def _training_times(timings: Iterable[Mapping[str, Any]]) -> str:
    """Return the training times of all seeds, as in "41 min, 44 min on a CPU; 12 min on a GPU"."""
    by_hardware: dict[str, list[str]] = {}
    for timing in timings:
        seconds = timing["seconds"]
        unit = "h" if seconds >= 3600 else "min" if seconds >= 60 else "s"
        unit_seconds, text = TIME_UNITS[unit]
        value = number(seconds / unit_seconds, ".1f" if unit == "h" else ".0f")
        by_hardware.setdefault(timing["hardware"], []).append(_(text, n=value))
    return "; ".join(
        _("{times} on {hardware}", times=", ".join(times), hardware=_(HARDWARE.get(hardware, hardware)))
        for hardware, times in by_hardware.items()
    )


def show_all_metrics(view: EvaluationView, board: pd.DataFrame, published: pd.DataFrame) -> None:
    """Show the sortable table, the provenance of the selected row, and the published figures."""
    rows = board.assign(date=board["date"].str[:10], family=board["family"].map(_))  # the CSV also has the time of day
    other_metrics = [name for name in results.METRICS if name not in PHONE_COLUMNS]
    table = rows[[*PHONE_COLUMNS, "family", *other_metrics, "seeds", "users", "date"]]
    event = show_table(table, f"figures-{view.key}", _("Leaderboard"), on_select="rerun", selection_mode="single-row")
    if selected := event.selection.rows:
        provenance = local_provenance(data.documents(view)[board["variant"].iloc[selected[0]]])
        with st.container(border=True):
            facts = " · ".join(f"{label}: {text}" for label, text in provenance.facts)
            st.markdown(f"**{format.escape_markdown(provenance.title)}**  \n{format.escape_markdown(facts)}")
            st.caption(_("Run this to reproduce the metrics:"))
            st.code("\n".join(provenance.commands), language=None, wrap_lines=True)
    else:
        st.caption(_("Select a row to see its command, commit, seeds and number of people."))
    download_numbers(board, f"figures-{view.key}")
    if published.empty:
        return
    st.header(_("Published figures"))
    st.caption(_("From papers and public repositories, not measured here. The table shows how their rules differ."))
    texts = published.assign(
        title=published["title"].map(_),
        rules=[published_rules(record) for record in published.to_dict("records")],
        source=published["source"].map(_),
    )
    for is_time_aware, figures in texts.groupby("knows_the_time"):
        if is_time_aware:
            st.markdown(f"**{_(TIME_AWARE_TITLE)}**")
        columns = [*PHONE_COLUMNS, "hr@5", "ndcg@5", "code", "rules", "source"]
        alt = _(TIME_AWARE_TITLE) if is_time_aware else _("Published figures")
        show_table(figures[columns].dropna(axis="columns", how="all"), f"published-{is_time_aware}-{view.key}", alt)
    download_numbers(published, f"published-{view.key}")


def show_table(table: pd.DataFrame, key: str, alt: str, **options: Any) -> Any:
    """Show a sortable table. Its columns are narrow, so that the title and three metrics fit a phone."""
    columns: dict[str, Any] = {name: _(title) for name, title in COLUMN_TITLES.items() if name in table}
    for name in results.METRICS:
        if name in table:
            columns[name] = st.column_config.NumberColumn(metric_title(name), width=68)
    columns["title"] = st.column_config.TextColumn(_("Recommender"), width=150, pinned=True)
    return st.dataframe(
        localize_table(table), hide_index=True, column_config=columns, placeholder="–", key=key, alt=alt, **options
    )


def show_missing(view: EvaluationView) -> None:
    """Show the recommenders without a result, if any, and the commands that evaluate them."""
    missing = report.missing(view.board["variant"])
    if not missing:
        return
    retraining_reason = protocols.get_current_or_former(view.protocol).retraining_reason
    title = ngettext("{n} recommender without results", "{n} recommenders without results", len(missing))
    with st.expander(title, icon=":material/pending:", key=f"missing-{view.key}"):
        trained, combined, untrained = report.group_by_training(missing, view.dataset)
        for group, text, note in (
            (trained, N_("These must be trained first: {models}."), retraining_reason),
            (combined, N_("These are mixtures of other recommenders, which must be trained first: {models}."), ""),
            (untrained, N_("These can be evaluated without training: {models}."), ""),
        ):
            if group:
                titles = format.join_escaped([_(recommender.title) for recommender in group])
                st.markdown(f"{_(text, models=titles)} {_(note)}".strip())
                for examples in [[recommender] for recommender in group] if group is combined else [group]:
                    _show_commands(view, examples)


def _show_commands(view: EvaluationView, group: list[Recommender]) -> None:
    """Show the commands that evaluate one of the recommenders, and the names of the others."""
    example = next((recommender for recommender in group if recommender.name == cache.DEFAULT_MODEL), group[0])
    st.caption(_("Run this for {model}:", model=format.escape_markdown(_(example.title))))
    commands = map(errors.hide_paths, report.first_result_commands(example.name, view.dataset, view.protocol))
    st.code("\n".join(commands), language=None, wrap_lines=True)
    if names := [f"`{recommender.name}`" for recommender in group if recommender is not example]:
        st.caption(_("For another recommender, replace the name with one of these: {names}.", names=", ".join(names)))
