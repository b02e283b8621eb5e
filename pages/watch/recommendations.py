"""Recommendations on Watch next: the controls, and the films as cards or as a list."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import streamlit as st

from pages.ui import browser, cache, errors, explanation, film_cards, format, recommenders, session
from pages.ui.i18n import N_, _, ngettext
from pages.ui.url import AS_CARDS, AS_LIST, LIST_KINDS, LIST_LENGTHS
from pages.ui.visitor import LATER, NOT_INTERESTED, WATCHED_BEFORE, visitor
from pages.ui.widgets import button, segmented_control, translate
from pages.watch import filter_list, filters, list_kinds, marked_films, posters
from pages.watch.filters import FILTER_LABELS
from recsys.data.dataset import Dataset
from recsys.serving.export import film_links
from recsys.serving.filters import Filters
from recsys.serving.predictor import CommonTrait, Predictor
from recsys.serving.recommend import Recommendation, Request, count_candidates, recommend

MIN_TOP_PROBABILITY = 0.005  # below it, multiples of the average are shown: small percentages are hard to compare
# kind of a trait, see `recsys.text.fields.trait_matrix` → text. Tags have no text, because they can be any words.
TRAIT_NOTES = {
    "theme": N_("Your films have a theme in common: {name}. Films like them rank higher than usual."),
    "director": N_("Your films have a director in common: {name}. Films like them rank higher than usual."),
    "language": N_("Your films have a language in common: {name}. Films like them rank higher than usual."),
    "genre": N_("Your films have a genre in common: {name}. Films like them rank higher than usual."),
}
# kind of a trait → function that returns its value in the visitor's language; other values are names
TRANSLATE_TRAIT: dict[str, Callable[[str], str]] = {
    "theme": _,
    "language": filters.language_name,
    "genre": format.display_tag,
}
RATINGS_NOTE = N_(
    "Films similar to those you liked are ranked higher. Films similar to those you disliked or marked “Not for me” "
    "are ranked lower."
)
ANCHOR = "recommendations"  # of the heading of this section, for links to it
WHY = "why"  # option of a film's menu; the other options are `visitor.MARKS`


@dataclass(frozen=True)
class RecommendationList:
    """The recommendations for the visitor's history."""

    predictor: Predictor
    request: Request
    picks: list[Recommendation]

    @property
    def top_probability(self) -> float | None:
        """The probability of the first film, or None if there are no films or the model has no probabilities."""
        return self.picks[0].probability if self.picks else None

    @property
    def shows_percentages(self) -> bool:
        """Whether the first film is probable enough to show percentages."""
        return (self.top_probability or 0.0) >= MIN_TOP_PROBABILITY

    @cached_property
    def n_candidates(self) -> int:
        """The number of films from which the recommender chooses."""
        return count_candidates(self.predictor, self.request)

    def format_probability(self, probability: float) -> str:
        """Return a probability as a percentage, "4.2%", or as a multiple of the average probability, "3.1×"."""
        if self.shows_percentages:
            return format.precise_percent(probability)
        return format.factor(probability * self.n_candidates)


class Reset(NamedTuple):
    """A button that resets some of the filters. It is offered if no film is recommended."""

    label: str
    on_click: Callable[[], None]
    changes: dict[str, Any]  # fields of the `Request` that a click changes


@errors.show_errors()
def show(dataset: Dataset, films: tuple[int, ...]) -> RecommendationList | None:
    """Show the controls and the recommendations, and return the recommendations.

    If the recommender fails, show the error and return None.
    """
    st.header(_("What comes next"), anchor=ANCHOR)
    kind = list_kinds.select()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        recommender = list_kinds.select_recommender(kind, dataset.name)
        k = segmented_control(_("How many"), {n: str(n) for n in LIST_LENGTHS}, "how_many", default=10)
        view = segmented_control(_("Show as"), {AS_CARDS: _("Cards"), AS_LIST: _("List")}, "view")
        filters.popover(dataset)
        filter_list.popover(dataset)
        marked_films.popovers(dataset)
    predictor = list_kinds.adapt_predictor(kind, _predictor_or_fallback(recommender, dataset))
    adapted_filters = list_kinds.adapt_filters(kind, filters.selected())
    excluded = (*visitor().current.excluded, *filter_list.excluded_films(dataset))
    request = Request(films, k, adapted_filters, unwanted=excluded, ratings=session.feedback(dataset))
    picks = recommend(predictor, request)
    recommendation_list = RecommendationList(predictor, request, picks)
    _show_notes(recommendation_list)
    if picks:
        if view == AS_CARDS:
            _show_cards(recommendation_list)
        else:
            _show_rows(recommendation_list)
        browser.place_status(_("Recommendations: {n}. First: {film}.", n=len(picks), film=picks[0].film.label))
        _explain_probabilities(recommendation_list)
    else:
        _explain_empty_list(recommendation_list, kind)
    return recommendation_list


def _predictor_or_fallback(recommender: str, dataset: Dataset) -> Predictor:
    """Return the predictor of a recommender. If it is not ready, show its status and return the most popular films."""
    if predictor := recommenders.predictor(recommender, dataset):
        return session.adapt_to_current_list(predictor)
    fallback = cache.popularity_predictor(dataset.name)
    st.caption(_("Until then, you see the recommendations of {model}.", model=cache.recommender_title(fallback)))
    return fallback


def _show_notes(recommendation_list: RecommendationList) -> None:
    """Show captions about an empty history, unusual films, the model, and the use of ratings."""
    predictor, history = recommendation_list.predictor, recommendation_list.request.history
    title, note = cache.recommender_title(predictor), predictor.model.note
    if not history:
        text = _(
            "Your list is empty, so {model} shows the films that everyone with an empty list gets. Add a film to "
            "change that.",
            model=title,
        )
        st.caption(text)
    if predictor.favours_content(history):
        st.caption(format.escape_markdown(_content_note(predictor.notable_common_trait(history))))
    if note:
        st.caption(format.escape_markdown(_(note)))
    if recommendation_list.request.ratings:
        text = _("{model} uses your ratings.", model=title) if predictor.model.uses_query_ratings else _(RATINGS_NOTE)
        st.caption(format.escape_markdown(text))


def _content_note(trait: CommonTrait | None) -> str:
    """Return a sentence that explains why films similar to the history rank higher.

    trait: `Predictor.notable_common_trait` of the history.
    """
    if trait is None or trait.kind not in TRAIT_NOTES:
        return _(
            "Your films are little known or have something unusual in common, so films like them rank "
            "higher than usual."
        )
    translate = TRANSLATE_TRAIT.get(trait.kind, str)
    return _(TRAIT_NOTES[trait.kind], name=translate(trait.value))


def _explain_probabilities(recommendation_list: RecommendationList) -> None:
    """Show a caption that explains the numbers beside the films (percentages or multiples) and their bars."""
    title, n = cache.recommender_title(recommendation_list.predictor), recommendation_list.n_candidates
    if recommendation_list.top_probability is None:
        st.caption(_("{model} ranks films, but gives no probabilities.", model=title))
        return
    request = recommendation_list.request
    if request.filters.excludes_films or request.unwanted:
        candidates_text = ngettext("the only film that is left", "the {n:,} films that are left", n)
    elif request.filters.hide_seen and request.history:
        candidates_text = ngettext("{n:,} film you have not watched", "{n:,} films you have not watched", n)
    else:
        candidates_text = ngettext("the only film", "all {n:,} films", n)
    if recommendation_list.shows_percentages:
        text = _(
            "{model} chooses from {films}. The percentage is the probability that a film is the next one you watch.",
            model=title,
            films=candidates_text,
        )
    else:
        text = _(
            "{model} chooses from {films}, and none stands out. So each film is compared with the average film: "
            "{times} means {times} as likely to be the next one you watch.",
            model=title,
            films=candidates_text,
            times=recommendation_list.format_probability(recommendation_list.top_probability),
        )
    st.caption(f"{text} " + _("The bars compare each film with the first."))


def _show_cards(recommendation_list: RecommendationList) -> None:
    """Show the films as poster cards."""
    dataset = recommendation_list.predictor.dataset
    catalog, items = dataset.catalog, [pick.item for pick in recommendation_list.picks]
    images = {item: url for item in items if (url := catalog.images.get(catalog.films[item].movie_id))}
    without_image = [item for item in items if item not in images]
    tmdb_posters = posters.poster_urls(catalog, without_image) if dataset.noun == "film" else {}  # TMDB only has films
    images |= tmdb_posters
    top_probability, format_probability = recommendation_list.top_probability, recommendation_list.format_probability
    with st.container(key="picks"), st.grid("auto", min_column_width=120, gap="small", key="cards"):
        for pick in recommendation_list.picks:
            with st.container(gap=None):
                links, image = film_links(catalog, pick.item), images.get(pick.item)
                text = _credits(dataset, pick)
                st.html(film_cards.card(pick, top_probability, links, image, format_probability, credits_text=text))
                _show_pick_buttons(recommendation_list, pick)
    if tmdb_posters:
        explanation.tmdb_attribution()


def _show_rows(recommendation_list: RecommendationList) -> None:
    """Show the films as rows."""
    dataset = recommendation_list.predictor.dataset
    top_probability, format_probability = recommendation_list.top_probability, recommendation_list.format_probability
    with st.container(key="picks", gap="xsmall"):
        for pick in recommendation_list.picks:
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
                rank, film, probability = pick.rank, pick.film, pick.probability
                links, text = film_links(dataset.catalog, pick.item), _credits(dataset, pick)
                st.html(film_cards.row(rank, film, probability, top_probability, links, format_probability, "", text))
                _show_pick_buttons(recommendation_list, pick)


def _credits(dataset: Dataset, pick: Recommendation) -> str | None:
    """Return running time and directors of a film, "" if unknown. None: the data set has neither."""
    details = dataset.catalog.details
    return format.credits_line(details.get(pick.film.movie_id)) if details.has_people_or_titles else None


def _show_pick_buttons(recommendation_list: RecommendationList, pick: Recommendation) -> None:
    """Show the Add button and the menu of a recommended film."""
    name, movie_id = format.escape_markdown(pick.film.label), pick.film.movie_id
    # when this film disappears, the focus moves to the next film, or else to a film before it
    picks = recommendation_list.picks
    other_ids = [other.film.movie_id for other in picks[pick.rank :] + picks[: pick.rank - 1]]
    is_listed = pick.item in recommendation_list.request.history
    label = _("Add *{film} to your films*", film=name)  # only screen readers read the text in *…*
    button(label, f"pick-{movie_id}", "add", _add, pick.item, other_ids, type="tertiary", disabled=is_listed)
    menu_key = f"more-{movie_id}"
    is_later = pick.item in visitor().current.later
    labels = {
        WHY: _("Why this film?"),
        LATER: _("Remove from “Watch later”") if is_later else _("Watch later"),
        WATCHED_BEFORE: _("Seen it"),
        NOT_INTERESTED: _("Not for me"),
    }
    option = st.menu_button(
        _("*More about {film}*", film=name),
        list(labels),
        format_func=labels.__getitem__,
        key=menu_key,
        icon=":material/more_horiz:",
        type="tertiary",
        on_click=_apply_menu_option,
        args=(menu_key, pick.item, other_ids),
    )
    if option == WHY:
        explanation.open_dialog(recommendation_list.predictor, recommendation_list.request, pick.item)


def _add(item: int, other_ids: list[int]) -> None:
    """Append a film to the list, and move the focus to the next film."""
    session.add_film(item)
    browser.focus_on(*(f"pick-{movie_id}" for movie_id in other_ids), "picks")


def _apply_menu_option(menu_key: str, item: int, other_ids: list[int]) -> None:
    """Mark a film, or remove the mark LATER. `_show_pick_buttons` handles WHY: a callback cannot open a dialog."""
    option = st.session_state[menu_key]
    if option == LATER:
        session.toggle_later(item)
        browser.focus_on(menu_key, "picks")
    elif option in (WATCHED_BEFORE, NOT_INTERESTED):
        session.mark_film(item, option)
        browser.focus_on(*(f"more-{movie_id}" for movie_id in other_ids), "picks")


def _explain_empty_list(recommendation_list: RecommendationList, kind: str) -> None:
    """Show which filters to change if no film is recommended, and a button that resets filters.

    If no filter is the cause, for example because all films are watched, there is no button. kind: Key of LIST_KINDS.
    """
    request, excluded_by_marks = recommendation_list.request, visitor().current.excluded

    def has_films(**changes: Any) -> bool:
        """Return whether films are recommended if these fields of the request change."""
        return count_candidates(recommendation_list.predictor, replace(request, **changes)) > 0

    labels = translate(FILTER_LABELS)
    if request.filters.popularity != filters.selected().popularity:  # the list kind GEMS has set it
        labels["popularity"] = _(LIST_KINDS[kind])

    def without_filter(name: str) -> Filters:
        return replace(request.filters, **{name: getattr(Filters, name)})

    causes = [label for name, label in labels.items() if has_films(filters=without_filter(name))]
    if has_films(unwanted=excluded_by_marks):
        causes.append(_("Use a list"))
    resets = (  # the smallest change comes first
        Reset(_("Reset filters"), filters.reset, {"filters": list_kinds.adapt_filters(kind, Filters())}),
        Reset(_("Stop using the list"), filter_list.clear, {"unwanted": excluded_by_marks}),
        # without the filter of GEMS
        Reset(_(LIST_KINDS[list_kinds.TASTE]), _open_taste, {"filters": filters.selected()}),
        Reset(_("Reset all filters"), _reset_all, {"filters": Filters(), "unwanted": excluded_by_marks}),
    )
    reset = next((reset for reset in resets if has_films(**reset.changes)), None)
    if causes:
        text = _("No film matches all your filters. Change one of these: {filters}.", filters=", ".join(causes))
    elif reset:
        text = _("No film matches your filters, and changing a single filter is not enough. Reset all filters.")
    else:
        text = _("There are no films left to recommend. Remove a film from your list, or switch off “Hide watched”.")
    st.info(text, icon=":material/filter_alt:" if causes or reset else None)
    if reset:
        button(reset.label, "reset-here", "filter_alt_off", reset.on_click)
    browser.place_status(text)


def _open_taste() -> None:
    st.session_state.list_kind = list_kinds.TASTE
    browser.focus_on("picks")


def _reset_all() -> None:
    """Reset the filters and stop using the list. The kind TASTE replaces GEMS, which sets a filter."""
    filter_list.clear()
    if st.session_state.get("list_kind") == list_kinds.GEMS:
        st.session_state.list_kind = list_kinds.TASTE
    filters.reset()
