"""The tab of Compare with a mixture of two recommenders, whose weights the visitor chooses."""

import pandas as pd
import streamlit as st

from pages.compare import common
from pages.ui import cache, charts, film_cards, format, recommenders, session
from pages.ui.i18n import _
from pages.ui.widgets import selectbox
from recsys.data.dataset import Dataset
from recsys.serving.predictor import mixture_of_two
from recsys.serving.recommend import Recommendation, Request, recommend


def show(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """Show the menus of the two recommenders, a slider for their weights, and the list of the mixture."""
    text = _(
        "The mixture adds the log-probabilities of two recommenders, with your weights. A recommender without "
        "probabilities uses its scores, rescaled to match. “Hybrid” mixes three recommenders in this way, with weights "
        "fitted to what people really watched."
    )
    st.caption(text)
    ready = [name for name in names if recommenders.can_answer(name, dataset.name)]
    if len(ready) < 2:
        text = _("Choose two recommenders that are ready. The first tab shows how to get the others.")
        st.info(text, icon=":material/join:")
        return
    titles = {name: cache.recommender_title(cache.all_recommenders()[name]) for name in ready}
    with st.container(horizontal=True, gap="medium"):
        first_name = selectbox(_("First recommender"), titles, "mix_one", width=300)
        others = {name: title for name, title in titles.items() if name != first_name}
        # the key contains the first recommender, because the options depend on it
        second_name = selectbox(_("Second recommender"), others, f"mix_with_{first_name}", width=300)
    get_predictor = common.start_fits(dataset, [first_name, second_name])
    left, right = get_predictor(first_name), get_predictor(second_name)
    if not (left and right):
        return  # `get_predictor` has shown why
    label = _("Weight of {model}", model=format.escape_markdown(cache.recommender_title(right)))
    weight = st.slider(label, 0, 100, 50, 10, "%d%%", key="mix_share") / 100
    request = Request(films, k, ratings=session.ratings(dataset))
    lists = {cache.recommender_title(predictor): recommend(predictor, request) for predictor in (left, right)}
    show_picks(recommend(mixture_of_two(left, right, weight), request), lists)


def show_picks(picks: list[Recommendation], lists: dict[str, list[Recommendation]]) -> None:
    """Show the films of the mixture, each with its rank in the lists of both recommenders.

    picks: The list of the mixture. lists: Title of a recommender → its list.
    """
    ranks_by_title = {title: {entry.item: entry.rank for entry in entries} for title, entries in lists.items()}
    html_rows, csv_rows = [], []
    for pick in picks:
        ranks = {title: rank_by_item.get(pick.item) for title, rank_by_item in ranks_by_title.items()}
        notes = [
            _("{model}: rank {rank}", model=title, rank=rank)
            if rank
            else _("{model}: below rank {k}", model=title, k=len(picks))
            for title, rank in ranks.items()
        ]
        html_rows.append(film_cards.row(pick.rank, pick.film, probability=None, full_bar=None, note=" · ".join(notes)))
        rank_columns = {f"rank {title}": rank for title, rank in ranks.items()}
        csv_rows.append({"rank": pick.rank, **pick.film._asdict(), **rank_columns})
    st.html(film_cards.join_rows(html_rows))
    charts.download_buttons(pd.DataFrame(csv_rows), "mixture", _("Mix two"))
