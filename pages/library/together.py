"""The section Watch together: films for the visitor and another person."""

import streamlit as st

from pages.library import filters, other_person
from pages.ui import cache, charts, film_cards, format, page, recommenders, session
from pages.ui.i18n import N_, _, ngettext
from pages.ui.page import WATCH_PAGE
from pages.ui.visitor import visitor
from pages.ui.widgets import button, segmented_control, translate
from recsys.data.dataset import Dataset
from recsys.serving import group
from recsys.serving.export import film_links
from recsys.serving.group import GroupRecommendation
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request

K = 10  # number of recommended films
# rule, one of `group.RULES` → title, and explanation below the list
RULE_TITLES = {"fair": N_("Fair to both"), "average": N_("Best on average")}
RULE_HELP = {
    "fair": N_(
        "Fair to both: the shorter bar decides the order, so that nobody has to watch a film that they would never "
        "choose (least misery, Masthoff 2011)."
    ),
    "average": N_(
        "Best on average: both bars together decide the order, even if one of you wants a film much more than the "
        "other does."
    ),
}


def show(dataset: Dataset) -> None:
    """Show the films of the visitor and of the other person, and the recommendations for both."""
    text = _(
        "What shall we watch together? Enter your films and those of the other person. A recommender then finds "
        "films that rank high for both of you."
    )
    st.caption(text)
    films = visitor().current.films
    left, right = st.columns(2, gap="large")
    with left:
        st.header(_("Your films"))
        if films:
            page.show_visitor_titles(dataset)
        label = _("Change the films") if films else _("Add your films first")
        st.page_link(WATCH_PAGE, label=label, icon=":material/edit:")
    with right:
        st.header(_("The other person's films"))
        other_films = other_person.resolve_films(dataset)
        other_person.show_controls(dataset, other_films)
    if not (films and other_films):
        text = _("Two lists are needed: yours and the other person's. To try it out, choose “A real person”.")
        st.info(text, icon=":material/group:")
        return
    st.header(_("For both of you"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="together_bar"):
        name = recommenders.select(dataset.name, "model")
        rule = segmented_control(_("How to choose"), translate(RULE_TITLES), "together_rule")
        filters.show(filters.load_library(dataset.name))
    if predictor := recommenders.predictor(name, dataset):
        predictors = (session.adapt_to_current_list(predictor), other_person.adapt_to_list(predictor))
        request = Request(films, unwanted=visitor().current.excluded, ratings=session.ratings(dataset))
        show_films(predictors, (request, Request(other_films)), rule)


def show_films(predictors: tuple[Predictor, Predictor], requests: tuple[Request, Request], rule: str) -> None:
    """Show the recommendations for both people, with a bar for each person.

    Args:
        predictors: Predictor for the list of the visitor, and predictor for the list of the other person.
        requests: Request of the visitor, and request of the other person.
        rule: Key of RULE_TITLES.
    """
    predictor = predictors[0]
    matches_filters = filters.load_library(predictor.dataset.name).matching_mask(filters.query())
    # the mask also has the infrequent films, which are items only of content models
    picks = group.recommend_for_two(predictors, requests, K, rule, allowed=matches_filters[: predictor.dataset.n_items])
    if not picks:
        if group.recommend_for_two(predictors, requests, K, rule):
            st.info(_("No film is left for both of you. Remove a filter."), icon=":material/filter_alt:")
        else:
            st.info(_("No film is left for both of you. Remove a film from one of the lists."), icon=":material/group:")
        return
    with st.container(key="together", gap="xsmall"):
        for pick in picks:
            show_row(predictor, pick)
    bars = ngettext(
        "A full bar is the top of the ranking for a person. Bars follow the logarithm of the rank, so half a bar still "
        "means a rank far above the middle of the ranking. {model} ranks the {n:,} film that neither of you has "
        "watched or ruled out and that matches the filters.",
        "A full bar is the top of the ranking for a person. Bars follow the logarithm of the rank, so half a bar still "
        "means a rank far above the middle of the ranking. {model} ranks the {n:,} films that neither of you has "
        "watched or ruled out and that match the filters.",
        picks[0].positions[0].n_ranked,
        model=cache.recommender_title(predictor),
    )
    st.caption(format.escape_markdown(f"{_(RULE_HELP[rule])} {bars}"))
    charts.download_numbers(group.group_table(picks), "together", _("For both of you"))


def show_row(predictor: Predictor, pick: GroupRecommendation) -> None:
    """Show a film with its rank and probability for each person, and a button that adds it to the visitor's list."""
    bars = []
    for person, position in zip((_("You"), _("Other person")), pick.positions, strict=True):
        assert position.rank is not None, "both rankings contain every recommended film"
        text = format.ordinal(position.rank)
        if position.probability is not None:
            text += f", {format.precise_percent(position.probability)}"
        bars.append((person, position.log_rank_score, text))
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        st.html(film_cards.group_row(pick.rank, pick.film, bars, film_links(predictor.dataset.catalog, pick.item)))
        label = _("*Add {film} to your films*", film=format.escape_markdown(pick.film.label))
        button(label, f"together-{pick.film.movie_id}", "add", session.add_film, pick.item, type="tertiary")
