"""How well each recommender would have guessed the visitor's last films, in an expander below the predictions.

Session state: guessed (what was asked: data set and films; and what each recommender answered, by title).
"""

from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui import cache, charts, errors, format, recommenders
from pages.ui.cache import ranks_of_hidden_films
from pages.ui.i18n import _, ngettext, number, say
from pages.watch import history_words as words
from recsys.data.dataset import Dataset
from recsys.serving import predictor as serving
from recsys.serving.insight import hidden
from recsys.serving.recommend import Standing

Answers = dict[str, list[Standing]]


@st.fragment
def panel(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The panel, closed at first; nothing is asked before somebody clicks."""
    with st.expander(
        _("How well would each recommender have guessed your last ten films?"),
        icon=":material/psychology_alt:",
        key="guessed-open",
        on_change="rerun",
    ) as opened:
        if not opened.open:
            return
        positions = tuple(hidden.last_known(films, dataset.n_items))
        if not positions:
            st.caption(_("Add a second film: to hide one, there must be another before it."))
            return
        st.caption(
            ngettext(
                "Your last film is hidden, and every recommender that is ready is asked for it, given the "
                "film before it. Nothing is trained or fitted for this.",
                "Each of your last {n} films is hidden in turn, and every recommender that is ready is asked "
                "for it, given the films before it. Nothing is trained or fitted for this.",
                len(positions),
            )
        )
        of, answers = st.session_state.get("guessed", (None, {}))
        if of == (dataset.name, films) or (answers := begin(dataset, films, positions)):
            show(answers, len(positions))


def there(data: str) -> list[str]:
    """The recommenders that can answer without being fitted."""
    return [name for name in recommenders.ordered(cache.all_recommenders().values()) if serving.is_there(name, data)]


def begin(dataset: Dataset, films: tuple[int, ...], positions: tuple[int, ...]) -> Answers:
    """A button that asks every recommender, and when it was clicked what they answered."""
    names, place = there(dataset.name), st.empty()
    if not place.button(
        ngettext("Ask {n} recommender", "Ask {n} recommenders", len(names)), key="guess", icon=":material/groups:"
    ):
        return {}
    answers = ask(dataset, films, positions, names)
    st.session_state.guessed = (dataset.name, films), answers
    place.empty()
    return answers


def ask(dataset: Dataset, films: tuple[int, ...], positions: tuple[int, ...], names: list[str]) -> Answers:
    """Ask one after the other, while a bar shows how far it is; one that is broken says so and is left out."""
    bar, answers = st.progress(0.0), {}
    for n, name in enumerate(names):
        model = cache.all_recommenders()[name]
        asking = _("Asking {model}: {n} of {all}", model=cache.recommender_title(model), n=n + 1, all=len(names))
        bar.progress(n / len(names), format.escape_markdown(asking))
        with errors.show_errors():
            answers[model.title] = ranks_of_hidden_films(cache.load_predictor(name, dataset.name), films, positions)
    bar.empty()
    return answers


def show(answers: Answers, n: int) -> None:
    """What it comes to, in a sentence and a table."""
    if not answers:
        return
    rows = hidden.guesses(answers)
    names = [format.escape_markdown(say(name)) for name in rows["recommender"]]
    intervals = list(zip(rows["low"], rows["high"], strict=True))
    st.markdown(words.verdict(rows["found"].tolist(), intervals, names, n, hidden.FOUND))
    st.html(table(rows, n))
    st.caption(
        _(
            "Both intervals are 95% intervals for your films alone: Wilson's for the share, order "
            "statistics for the median rank."
        )
    )
    charts.download_buttons(rows, "last-films-guessed", quiet=True)


def table(rows: pd.DataFrame, n: int) -> str:
    """A row for each recommender: its share with the interval, NDCG and the median rank."""
    about = ngettext(
        "Whether each recommender had your last film in its top {k}, with intervals of 95%",
        "How many of your last {n} films each recommender had in its top {k}, with intervals of 95%",
        n,
        k=hidden.FOUND,
    )
    heads = [head.format(k=hidden.FOUND) for head in words.HEADS]
    head = "".join(f'<th scope="col">{escape(text)}</th>' if text else "<td></td>" for text in heads)
    body = "".join(_row(row, n) for row in rows.itertuples())
    caption = f'<caption class="nr-aside">{escape(about)}</caption>'
    whole = f'<table class="nr-table nr-guesses">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="nr-scroll" tabindex="0" role="region" aria-label="{escape(about)}">{whole}</div>'


def _row(row: Any, n: int) -> str:
    share = f"--nr-low:{row.low:.3f};--nr-high:{row.high:.3f};--nr-at:{row.found / n:.3f}"
    cells = [
        (f"<b>{row.found}</b> <span class='nr-quiet'>" + _("of {n}", n=n) + "</span>"),
        f'<span class="nr-span" style="{share}" aria-hidden="true"><i></i><b></b></span>',
        f"{number(row.low, '.0%')} – {number(row.high, '.0%')}",
        format.metric(row.ndcg),
        f"{_rank(row.median)} <span class='nr-quiet'>{_between(row.best, row.worst)}</span>",
    ]
    name = escape(say(row.recommender))
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _rank(rank: float) -> str:
    return "–" if rank == float("inf") else number(rank, ",.0f")


def _between(best: float, worst: float) -> str:
    """The interval of the median rank; "" where there are too few films for one."""
    return "" if pd.isna(best) else f"({_rank(best)} – {_rank(worst)})"
