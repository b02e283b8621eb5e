"""The right side of Watch next: the films that a recommender predicts, as cards or as a list."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from pages.ui import browser, cache, errors, explanation, film_cards, format, recommenders, session
from pages.ui.i18n import _, count, say
from pages.ui.url import AS_CARDS
from pages.watch import controls, filters, posters, ratings, words
from recsys.data.dataset import Dataset
from recsys.serving.films.links import film_links
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Recommendation, Request, n_allowed, recommend

LOW = 0.005  # where the first film is less probable, percentages say little: films are compared with the average one


@dataclass(frozen=True)
class Answer:
    """What a recommender predicts after the visitor's films."""

    predictor: Predictor
    request: Request
    picks: list[Recommendation]

    @property
    def best(self) -> float | None:
        """The probability of the first film; None where the recommender gives none."""
        return self.picks[0].probability if self.picks else None

    @property
    def stands_out(self) -> bool:
        """Whether the first film is so probable that percentages say something."""
        return (self.best or 0.0) >= LOW

    @cached_property
    def n_allowed(self) -> int:
        """How many films the list was chosen from."""
        return n_allowed(self.predictor, self.request)

    def figure(self, probability: float) -> str:
        """A probability as the whole list shows it: "4.2%", or "3.1×" the average film's."""
        return format.precise_percent(probability) if self.stands_out else format.factor(probability * self.n_allowed)


@errors.show_errors()
def what_comes_next(dataset: Dataset, films: tuple[int, ...]) -> Answer | None:
    """Controls and predictions; None where no recommender could answer."""
    st.header(_("What comes next"))
    variant, k, view = controls.controls(dataset)
    predictor, request = ready(variant, dataset), filters.request(dataset, films, k)
    answer = Answer(predictor, request, recommend(predictor, request))
    say_before(answer)
    if not answer.picks:
        filters.nothing_left(dataset, films)
        browser.status(
            _("There is no film left to recommend. Remove a film from your list, or show the ones already watched.")
        )
        return answer
    show = grid if view == AS_CARDS else listing
    show(answer)
    browser.status(_("Recommendations: {n}. First: {film}.", n=len(answer.picks), film=answer.picks[0].film.label))
    say_after(answer)
    return answer


def ready(variant: str, dataset: Dataset) -> Predictor:
    """The recommender that was chosen; where it is not there yet, the fallback, and the page says so."""
    if predictor := recommenders.predictor(variant, dataset):
        return predictor
    fallback = cache.popularity_predictor(dataset.name)
    st.caption(_("Until then, this shows what {model} recommends.", model=cache.recommender_title(fallback)))
    return fallback


def say_before(answer: Answer) -> None:
    """Whose taste this is where nothing was watched yet, and what is to know about how the recommender was fitted."""
    if not answer.request.history:
        st.caption(
            _(
                "Nothing watched yet, so this is what {model} shows to anybody. Add a film to make it yours.",
                model=cache.recommender_title(answer.predictor),
            )
        )
    if answer.predictor.model.note:
        st.caption(format.escape_markdown(say(answer.predictor.model.note)))
    if said := ratings.effect(answer.predictor, answer.request.ratings):
        st.caption(format.escape_markdown(said))


def say_after(answer: Answer) -> None:
    """What the percentages mean."""
    title = cache.recommender_title(answer.predictor)
    if answer.best is None:
        st.caption(_("{model} ranks films, but gives no probabilities.", model=title))
        return
    chosen_from = filters.among(answer.request)
    told = {"model": title, "n": count(answer.n_allowed), "times": answer.figure(answer.best)}
    said = (
        [words.PROBABILITIES[chosen_from]]
        if answer.stands_out
        else [
            words.TIMES[chosen_from],
            _(
                "So each is compared with their average: {times} means that {model} finds a film {times} as "
                "probable as that to be the next one you watch."
            ),
        ]
    )
    st.caption(
        " ".join([*(sentence.format(**told) for sentence in said), _("The bars compare each film with the first.")])
    )


def grid(answer: Answer) -> None:
    """Predictions as poster cards."""
    catalog = answer.predictor.dataset.catalog
    items = [pick.item for pick in answer.picks]
    own = posters.pictures(catalog, items)
    films = answer.predictor.dataset.noun == "film"  # TMDB is not asked about anything else
    photos = posters.addresses(catalog, [item for item in items if item not in own]) if films else {}
    with st.container(key="picks"), st.grid("auto", min_column_width=120, gap="small", key="cards"):
        for pick in answer.picks:
            with st.container(gap=None):
                links, photo = film_links(catalog, pick.item), (photos | own).get(pick.item)
                st.html(film_cards.card(pick, answer.best, links, photo, answer.figure, made(answer, pick)))
                actions(answer, pick)
    if photos:
        explanation.tmdb_attribution()


def listing(answer: Answer) -> None:
    """Predictions as rows."""
    catalog = answer.predictor.dataset.catalog
    with st.container(key="picks", gap="xsmall"):
        for pick in answer.picks:
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
                links = film_links(catalog, pick.item)
                by = made(answer, pick)
                st.html(
                    film_cards.row(
                        pick.rank, pick.film, pick.probability, answer.best, links, answer.figure, credits_text=by
                    )
                )
                actions(answer, pick)


def made(answer: Answer, pick: Recommendation) -> str | None:
    """How long a film is and who directed it, "" where nobody knows; None where the set was not enriched."""
    known = answer.predictor.dataset.catalog.details
    return format.credits_line(known.get(pick.film.movie_id)) if len(known) else None


def actions(answer: Answer, pick: Recommendation) -> None:
    """Put a recommended film at the end of the sequence; in a menu, what else can be done with it."""
    name, menu = format.escape_markdown(pick.film.label), f"more-{pick.film.movie_id}"
    others = [other.film.movie_id for other in answer.picks[pick.rank :] + answer.picks[: pick.rank - 1]]
    st.button(
        _("Add *{film} to your films*", film=name),
        key=f"pick-{pick.film.movie_id}",
        icon=":material/add:",
        type="tertiary",
        on_click=add,
        args=(pick.item, others),
        disabled=pick.item in answer.request.history,
    )
    chosen = st.menu_button(
        _("*More about {film}*", film=name),
        [_("Why this film?"), _("Not for me")],
        key=menu,
        icon=":material/more_horiz:",
        type="tertiary",
        on_click=choose_from_menu,
        args=(menu, pick.item, others),
    )
    if chosen == _("Why this film?"):
        explanation.open_dialog(answer.predictor, answer.request, pick.item)


def add(item: int, others: list[int]) -> None:
    """Put a recommended film at the end of the list; the focus goes to the next film. others: their MovieLens ids."""
    session.add_film(item)
    browser.focus_on(*(f"pick-{movie}" for movie in others), "picks")


def choose_from_menu(menu: str, item: int, others: list[int]) -> None:
    """Do what changes the page; a dialog opens in the run that follows. others: ids of films that may get the focus."""
    if st.session_state[menu] == _("Not for me"):
        session.hide_film(item)
        browser.focus_on(*(f"more-{movie}" for movie in others), "picks")
