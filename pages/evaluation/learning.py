"""Learning: how recommenders learnt, and what quality costs."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, words
from pages.evaluation.charts import lines as charts
from pages.evaluation.charts import scatter
from pages.evaluation.measured import Shown
from pages.ui import cache, errors, format
from pages.ui.charts import chart, download_numbers, plot
from pages.ui.i18n import _, ngettext, say
from recsys.evaluation import protocols, report, results, tables


def show(shown: Shown) -> None:
    """The training logs, then seconds against a metric."""
    splitting = protocols.get_or_former(shown.protocol).splitting
    logs = tables.curves(shown.dataset, [cache.DEFAULT_MODEL, *shown.board["variant"]], splitting)
    if logs:
        curves(shown, logs)
    elif others := with_logs(shown):
        names = format.listed([f"“{words.protocol(name)}”" for name in others])
        st.caption(
            _(
                "For this protocol no training log was kept. On {data} there are some under {protocols}.",
                data=cache.dataset_title(shown.dataset),
                protocols=names,
            )
        )
    else:
        st.caption(
            _(
                "No recommender has kept a training log on {data} yet. Train one first.",
                data=cache.dataset_title(shown.dataset),
            )
        )
        errors.show_command(report.training_command(cache.DEFAULT_MODEL, shown.dataset, shown.protocol))
    costs(shown)


def with_logs(shown: Shown) -> list[str]:
    """The protocols of the data set under which these recommenders kept training logs."""
    known = protocols.in_order(name for data, name in results.available() if data == shown.dataset)
    variants = [cache.DEFAULT_MODEL, *shown.board["variant"]]
    return [name for name in known if tables.curves(shown.dataset, variants, protocols.get_or_former(name).splitting)]


def curves(shown: Shown, logs: dict[str, pd.DataFrame]) -> None:
    """Loss and validation of the chosen recommenders."""
    board = with_logged(shown.board, logs)
    known = [variant for variant in board["variant"] if variant in logs]
    first = list(dict.fromkeys([cache.DEFAULT_MODEL, *known]))[:3]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = choice.recommenders(shown, known, [variant for variant in known if variant in first], "curves")
        axis = choose_axis()
    st.caption(
        _(
            "The loss in training, and NDCG@10 on the last film but one, which decides when to stop. "
            "Losses of different recommenders are different quantities: compare their shapes, not their "
            "heights."
        )
    )
    if not chosen:
        return
    own = {variant: logs[variant] for variant in chosen}
    titles = dict(zip(board["variant"], board["title"], strict=True))
    with st.grid(2, min_column_width=320):
        for column, title in words.CURVES.items():
            figure = charts.lines(
                own, titles, axis, column, _("Epoch") if axis == "epoch" else _("Seconds of training")
            )
            if figure.data:
                figure.update_yaxes(title=title)
                about = _("{title} of {names}", title=title, names=", ".join(titles[variant] for variant in chosen))
                plot(charts.name_ends(figure), about, f"curves-{column}")
    download_numbers(pd.concat([own[variant].assign(variant=variant) for variant in chosen]), f"curves-{shown.dataset}")


def choose_axis() -> str:
    """Epochs or seconds."""
    return st.segmented_control(
        _("Against"),
        list(words.AXES),
        default="epoch",
        required=True,
        format_func=words.AXES.__getitem__,
        key="curves_by",
        persist_state="session",
    )


def with_logged(board: pd.DataFrame, logs: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The board, with a row for what has a log but no result yet."""
    missing = [variant for variant in logs if variant not in set(board["variant"])]
    rows = pd.DataFrame({"variant": missing, "title": missing, "family": ""})
    return pd.concat([board[["variant", "title", "family"]], rows], ignore_index=True)


def costs(shown: Shown) -> None:
    """Seconds of training against a metric; who is left out is named."""
    st.header(_("What quality costs"))
    found = tables.costs(list(measured.documents(shown).values()))
    if found.table.empty:
        st.caption(_("No training time is known for what was measured here."))
    else:
        st.caption(
            _(
                "How long one seed trained, by the training's own clock: without loading and without "
                "measuring, all on {hardware}. The axis is logarithmic. The machine may have had other work "
                "to do meanwhile, so take this as a rough guide.",
                hardware=words.HARDWARE.get(found.hardware, found.hardware),
            )
        )
        metric = choice.metric()
        name = words.metric_name(metric)
        about = ngettext(
            "{metric} of {n} recommender against the time of training on a logarithmic axis",
            "{metric} of {n} recommenders against the time of training on a logarithmic axis",
            len(found.table),
            metric=name,
        )
        figure = scatter.scatter(
            found.table.assign(title=found.table["title"].map(say)),
            "seconds",
            metric,
            _("Time of training, one seed"),
            name,
            log="log10",
        )
        chart(figure, about, found.table, f"cost-{shown.name}")
    for sentence, titles in (
        (
            _("Left out, as they are fitted by a method of their own, whose time is not on record: {models}."),
            found.fitted,
        ),
        (_("Left out, as they combine other recommenders, which are trained by themselves: {models}."), found.combined),
        (_("Left out, as how long their training took is not on record: {models}."), found.unknown),
        (_("Left out, as they were trained on other hardware: {models}."), found.other_hardware),
    ):
        if titles:
            st.caption(sentence.format(models=format.listed([say(title) for title in titles])))
