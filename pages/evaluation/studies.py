"""Studies: one question at a time, with its answer, chart and table."""

import streamlit as st

from pages.evaluation import words
from pages.evaluation.charts import study as charts
from pages.ui import cache, format
from pages.ui.charts import download_numbers, localised_table, plot
from pages.ui.i18n import _, localize, say
from recsys.evaluation.studies import Study


def show(found: list[Study], dataset: str) -> None:
    """One of the studies: the question, what papers say, the answer, chart and table, and how it was done.

    Those of the data set come first.
    """
    study = choose(sorted(found, key=lambda study: study.dataset != dataset))
    st.markdown(format.escape_markdown(say(study.question)))
    if study.papers:
        st.markdown(format.escape_markdown(say(study.papers)))
    if study.answer:
        st.markdown(f"**{format.escape_markdown(localize(study.answer))}**")
    if study.chart:
        y, x = (say(study.titles[name]) for name in (study.chart.y, study.chart.x))
        about = _("{title}: {y} by {x}", title=say(study.title), y=y, x=x)
        plot(charts.drawn(study, study.chart), about, "study-named" if study.chart.label else "study")
    table(study)
    if study.how:
        st.caption(format.escape_markdown(localize(study.how)))


def choose(found: list[Study]) -> Study:
    """The selector of the study, by title and data set."""
    by_name = {study.name: study for study in found}
    titles = {study.name: " · ".join(filter(None, (say(study.title), on(study)))) for study in found}
    name = st.selectbox(
        _("Study"), list(by_name), format_func=titles.__getitem__, key="study", width=480, persist_state="session"
    )
    return by_name[name]


def on(study: Study) -> str:
    """The data set of a study, for people; "" where it names none."""
    return study.dataset and cache.dataset_title(study.dataset)


def table(study: Study) -> None:
    """All figures, with as many digits as the study asks for."""
    text = study.table.select_dtypes(exclude="number").columns
    shown = study.table.assign(**{name: study.table[name].map(words.cell) for name in text})
    st.dataframe(
        localised_table(shown, study.digits),
        hide_index=True,
        column_config=say(study.titles),
        placeholder="–",
        alt=_("All figures of the study"),
    )
    download_numbers(study.table, f"study-{study.name}")
