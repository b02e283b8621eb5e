"""The right side of Watch next: the films that a recommender predicts, as cards or as a list."""

from dataclasses import dataclass

import streamlit as st

from pages.shared import cards, errors, loaders, sequence, why
from pages.shared import words as common
from pages.watch import controls, filters, posters, words
from recsys.data.schema import Dataset
from recsys.errors import RecsysError
from recsys.serving.films.links import film_links
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Recommendation, Request, recommend


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


@errors.explained()
def what_comes_next(dataset: Dataset, films: tuple[int, ...]) -> Answer | None:
    """Controls and predictions; None where no recommender could answer."""
    st.subheader(words.NEXT)
    variant, k, view = controls.controls(dataset)
    predictor, request = ready(variant, dataset), filters.request(films, k)
    answer = Answer(predictor, request, recommend(predictor, request))
    say_before(answer)
    if not answer.picks:
        filters.nothing_left(dataset, films)
        return answer
    show = grid if view == common.CARDS else listing
    show(answer)
    say_after(answer)
    return answer


def ready(variant: str, dataset: Dataset) -> Predictor:
    """The recommender that was chosen; where it is not trained yet, the fallback, and the page says so."""
    try:
        return loaders.predictor(variant, dataset.name)
    except RecsysError as error:
        errors.explain(error)
        fallback = loaders.fallback(dataset.name)
        st.caption(words.INSTEAD.format(model=fallback.title))
        return fallback


def say_before(answer: Answer) -> None:
    """Whose taste this is where nothing was watched yet, and what is to know about how the recommender was fitted."""
    if not answer.request.history:
        st.caption(words.NEWCOMER.format(model=answer.predictor.title))
    if answer.predictor.model.note:
        st.caption(common.plain(answer.predictor.model.note))


def say_after(answer: Answer) -> None:
    """What the percentages mean."""
    title = answer.predictor.title
    if answer.best is None:
        st.caption(words.NO_PROBABILITIES.format(model=title))
    else:
        st.caption(words.PROBABILITIES.format(model=title, among=filters.among()))


def grid(answer: Answer) -> None:
    """Predictions as poster cards."""
    catalog = answer.predictor.dataset.catalog
    photos = posters.addresses(catalog, [pick.item for pick in answer.picks])
    with st.container(key="picks"), st.grid("auto", min_column_width=120, gap="small", key="cards"):
        for pick in answer.picks:
            with st.container(gap=None):
                st.html(cards.card(pick, answer.best, film_links(catalog, pick.item), photos.get(pick.item)))
                actions(answer, pick)
    if photos:
        posters.attribution()


def listing(answer: Answer) -> None:
    """Predictions as rows."""
    catalog = answer.predictor.dataset.catalog
    with st.container(key="picks", gap="xsmall"):
        for pick in answer.picks:
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
                links = film_links(catalog, pick.item)
                st.html(cards.line(pick.rank, pick.film, pick.probability, answer.best, links))
                actions(answer, pick)


def actions(answer: Answer, pick: Recommendation) -> None:
    """Put a recommended film at the end of the sequence; in a menu, what else can be done with it."""
    name, menu = common.plain(pick.film.label), f"more-{pick.film.movie_id}"
    st.button(
        words.ADD.format(film=name),
        key=f"pick-{pick.film.movie_id}",
        icon=":material/add:",
        type="tertiary",
        on_click=sequence.add,
        args=(pick.item,),
        disabled=pick.item in answer.request.history,
    )
    chosen = st.menu_button(
        words.MORE.format(film=name),
        [words.WHY, words.NOT_FOR_ME],
        key=menu,
        icon=":material/more_horiz:",
        type="tertiary",
        on_click=choose_from_menu,
        args=(menu, pick.item),
    )
    if chosen == words.WHY:
        why.dialog(answer.predictor, answer.request, pick.item)


def choose_from_menu(menu: str, item: int) -> None:
    """Do what changes the page; a dialog opens in the run that follows."""
    if st.session_state[menu] == words.NOT_FOR_ME:
        sequence.refuse(item)
