"""Two recommenders mixed by hand: a tab of Compare."""

import pandas as pd
import streamlit as st

from pages.compare import chosen, words
from pages.ui import cache, charts, film_cards, format, recommenders, session
from pages.ui.i18n import _
from recsys.data.dataset import Dataset
from recsys.serving.predictor import Predictor
from recsys.serving.predictor import mixture as mixture_of
from recsys.serving.recommend import Recommendation, Request, recommend


def mix_two(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """Two of the recommenders, a slider between them, and the list of the mixture."""
    st.caption(
        _(
            "Each film's two log-probabilities are added, one weighted more and the other less; a "
            "recommender without probabilities takes part with its scores, brought to the same scale. "
            "“Hybrid” is such a mixture, whose weights were found on films that people really watched."
        )
    )
    ready = [name for name in names if chosen.can_answer(name, dataset.name)]
    if len(ready) < 2:
        st.info(
            _("Choose two recommenders that can answer at once; their columns in the first tab say how to get them."),
            icon=":material/join:",
        )
        return
    one, other = (recommenders.predictor(name, dataset) for name in choose(ready))
    if one is None or other is None:
        return  # what to do about it was shown
    mixture = mixture_of(one, other, slider(other))
    request = Request(films, k, ratings=session.current_ratings(dataset, films))
    show(
        recommend(mixture, request), {cache.recommender_title(each): recommend(each, request) for each in (one, other)}
    )


def choose(ready: list[str]) -> tuple[str, str]:
    """Two of the recommenders that can answer."""
    titles = {name: cache.recommender_title(cache.all_recommenders()[name]) for name in ready}
    with st.container(horizontal=True, gap="medium"):
        one = st.selectbox(_("One recommender"), ready, format_func=titles.__getitem__, key="mix_one", width=300)
        others = [name for name in ready if name != one]
        other = st.selectbox(_("The other"), others, format_func=titles.__getitem__, key=f"mix_with_{one}", width=300)
    return one, other


def slider(other: Predictor) -> float:
    """How much the second one counts, from 0 to 1."""
    label = _("How much {model} counts", model=format.escape_markdown(cache.recommender_title(other)))
    return st.slider(label, 0, 100, 50, 10, "%d%%", key="mix_share") / 100


def show(picks: list[Recommendation], lists: dict[str, list[Recommendation]]) -> None:
    """The films of the mixture, each with its rank in the two lists."""
    ranks = {title: {pick.item: pick.rank for pick in own} for title, own in lists.items()}
    rows, table = [], []
    for pick in picks:
        found = {title: own.get(pick.item) for title, own in ranks.items()}
        rows.append(film_cards.row(pick.rank, pick.film, None, None, note=words.mixed_ranks(found, len(picks))))
        table.append({"rank": pick.rank, **pick.film._asdict(), **{f"rank {title}": n for title, n in found.items()}})
    st.html(film_cards.row_list(rows))
    charts.download_buttons(pd.DataFrame(table), "mixture")
