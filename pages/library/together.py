"""Watch together: films that both the visitor and somebody else would want, and how much each of them does."""

import streamlit as st

from pages.library import filters, other, words
from pages.ui import cache, charts, film_cards, format, page, recommenders, session
from pages.ui.i18n import _, ngettext
from pages.ui.page import WATCH_PAGE
from recsys.data.dataset import Dataset
from recsys.serving import together
from recsys.serving.films.links import film_links
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, Standing
from recsys.serving.together import RULES, Shared

K = 10


def show(dataset: Dataset) -> None:
    """Both lists, and what there is for both."""
    st.caption(
        _(
            "What shall we watch tonight? Your films, those of somebody else, and the films that one "
            "recommender puts near the top for both of you."
        )
    )
    mine = session.films(dataset)
    left, right = st.columns(2, gap="large")
    with left:
        yours(dataset, mine)
    with right:
        st.header(_("The other’s films"))
        theirs = other.films(dataset)
        other.choose(dataset, theirs)
    if not (mine and theirs):
        st.info(
            _(
                "Two lists are needed: yours, and that of the one who watches with you. A real viewer will "
                "do to try it."
            ),
            icon=":material/group:",
        )
        return
    st.header(_("For both of you"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="together_bar"):
        variant = recommenders.select(dataset.name, "model")
        rule = choose_rule()
        filters.choose(filters.library(dataset.name))
    if predictor := recommenders.predictor(variant, dataset):
        answer(predictor, dataset, (mine, theirs), rule)


def yours(dataset: Dataset, mine: tuple[int, ...]) -> None:
    """The visitor's films, and the way to change them."""
    st.header(_("Your films"))
    if mine:
        page.show_titles(dataset, mine)
    st.page_link(
        WATCH_PAGE,
        label=_("Change the films") if mine else _("Put your films into your list first"),
        icon=":material/edit:",
    )


def choose_rule() -> str:
    """The selector of what is best for both."""
    return st.segmented_control(
        _("Best is what is"),
        RULES,
        default=RULES[0],
        required=True,
        format_func=words.RULES.__getitem__,
        key="together_rule",
        persist_state="session",
    )


def answer(
    predictor: Predictor, dataset: Dataset, histories: tuple[tuple[int, ...], tuple[int, ...]], rule: str
) -> None:
    """The films for both, how much each wants them, and what that means."""
    mine, theirs = histories
    own = Request(mine, unwanted=st.session_state.unwanted, ratings=session.current_ratings(dataset, mine))
    passing = filters.library(dataset.name).passing(filters.wish())[: predictor.dataset.n_items]
    found = together.together(predictor, (own, Request(theirs)), K, rule, passing)
    if not found:
        st.info(_("No film is left for both of you. Loosen the filters."), icon=":material/filter_alt:")
        return
    with st.container(key="together", gap="xsmall"):
        for one in found:
            row(predictor, one)
    said = (
        words.RULES_SAID[rule],
        ngettext(
            "A full bar is the first of somebody’s list, and half a bar is far above the middle: bars go "
            "by the logarithm of the rank. {model} ranks the {n:,} films that neither of you has watched "
            "and that pass the filters.",
            "A full bar is the first of somebody’s list, and half a bar is far above the middle: bars go "
            "by the logarithm of the rank. {model} ranks the {n:,} films that neither of you has watched "
            "and that pass the filters.",
            found[0].standings[0].of,
            model=cache.recommender_title(predictor),
        ),
    )
    st.caption(format.escape_markdown(" ".join(said)))
    charts.download_buttons(together.table(found), "together", quiet=True)


def row(predictor: Predictor, one: Shared) -> None:
    """A film, how much each of the two wants it, and a button that puts it into the visitor's list."""
    wishes = [
        (who, standing.nearness, figure(standing))
        for who, standing in zip((_("You"), _("Other")), one.standings, strict=True)
    ]
    links = film_links(predictor.dataset.catalog, one.item)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        st.html(film_cards.group_row(one.rank, one.film, wishes, links))
        st.button(
            _("*Add {film} to your films*", film=format.escape_markdown(one.film.label)),
            key=f"together-{one.film.movie_id}",
            icon=":material/add:",
            type="tertiary",
            on_click=session.add_film,
            args=(one.item,),
        )


def figure(standing: Standing) -> str:
    """A rank, and the probability where there is one: "3rd, 2.1%"."""
    rank = format.ordinal(standing.rank or standing.of)
    return rank if standing.probability is None else f"{rank}, {format.precise_percent(standing.probability)}"
