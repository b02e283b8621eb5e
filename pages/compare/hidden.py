"""Hide one of the visitor's own films and see who would have found it: a tab of Compare.

Session state: hidden_tried (a Trial: the question, who else was tried, what they answered, whether it goes on).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from pages.compare import chosen, tables, words
from pages.ui import cache, charts, errors, format, page, recommenders
from pages.ui.cache import ranks_of_hidden_films
from pages.ui.i18n import _, ngettext, say
from recsys.data.dataset import Dataset
from recsys.serving.insight import hidden
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Standing

Question = tuple[str, tuple[int, ...], int]  # data set, films, position of the hidden one


@dataclass
class Trial:
    """What the recommenders that were not chosen say to one question."""

    question: Question
    rows: dict[str, Standing] = field(default_factory=dict)  # by title, in English
    tried: list[str] = field(default_factory=list)  # names
    going: bool = False

    def go(self, going: bool) -> None:
        """Start or stop."""
        self.going = going


def hide_a_film(dataset: Dataset, films: tuple[int, ...], names: list[str]) -> None:
    """Choose a film, see who would have found it, try more recommenders, hide all films in turn."""
    known = hidden.last_known(films, dataset.n_items, len(films))
    if not known:
        st.info(_("Add a second film: to hide one, there must be another before it."), icon=":material/playlist_add:")
        return
    position = choose(dataset, films, known)
    page.show_titles(dataset, films[:position], _("Given"))
    st.caption(_("Each recommender is given the films that you watched before it, not those that came later."))
    answers = chosen.each(dataset, names, looking(films, (position,)))
    trial = trial_of((dataset.name, films, position))
    found = {title: row for title, (row,) in answers.items()} | {say(title): row for title, row in trial.rows.items()}
    one(dataset.catalog.films[films[position]].label, found)
    try_others(dataset, trial, [name for name in others(dataset.name) if name not in names])
    panel = st.expander(
        _("Hide each of your films in turn"), icon=":material/grid_on:", on_change="rerun", key="hide_all"
    )
    with panel:
        if panel.open:
            everything(dataset, films, names, known)


def others(data: str) -> list[str]:
    """Every recommender that is there, or is fitted in seconds."""
    return [name for name in recommenders.ordered(cache.all_recommenders().values()) if chosen.can_answer(name, data)]


def choose(dataset: Dataset, films: tuple[int, ...], known: list[int]) -> int:
    """The position of the film to hide, of those known to recommenders: the latest unless another is chosen."""
    return st.selectbox(
        _("Hide this film"),
        known,
        format_func=lambda position: dataset.catalog.films[films[position]].label,
        key=f"hide-among-{len(films)}-{films[-1]}",
        width=420,
    )


def one(film: str, rows: dict[str, Standing]) -> None:
    """Who found one film."""
    if not rows:
        return
    finders = [title for title, row in rows.items() if hidden.was_found(row)]
    st.markdown(words.who_found(finders, len(rows), film, hidden.FOUND))
    st.html(tables.standings(rows, _("The rank of {film} in each recommender's list", film=film), mark_found=True))
    charts.download_buttons(hidden.table({title: [row] for title, row in rows.items()}, [film]), "hidden-film")


def looking(films: tuple[int, ...], positions: tuple[int, ...]) -> Callable[[Predictor], list[Standing]]:
    """The question where the films at some positions stand."""
    return lambda predictor: ranks_of_hidden_films(predictor, films, positions)


def trial_of(question: Question) -> Trial:
    """What is known of this question; another one starts anew."""
    known = st.session_state.get("hidden_tried")
    if known is None or known.question != question:
        known = st.session_state.hidden_tried = Trial(question)
    return known


def try_others(dataset: Dataset, trial: Trial, others: list[str]) -> None:
    """A button that asks every other recommender, and one that stops it and keeps what is known."""
    waiting = [name for name in others if name not in trial.tried]
    if not waiting:
        return
    if not trial.going:
        label = ngettext("Ask {n} more recommender", "Ask {n} more recommenders", len(waiting))
        st.button(
            label,
            key="try_all",
            icon=":material/groups:",
            on_click=trial.go,
            args=(True,),
            help=_("All that are trained for this set or can be fitted in seconds. Each is fitted only once."),
        )
        return
    st.button(_("Stop"), key="stop_trying", icon=":material/stop:", on_click=trial.go, args=(False,))
    run(dataset, trial, waiting)
    trial.go(False)
    st.rerun()  # so that the table above has them all


def run(dataset: Dataset, trial: Trial, waiting: list[str]) -> None:
    """Ask one recommender after the other, fitting it where it is not yet, while a bar shows how far it is."""
    bar = st.progress(0.0)
    _unused, films, position = trial.question
    for n, name in enumerate(waiting):
        title = cache.all_recommenders()[name].title
        bar.progress(
            n / len(waiting),
            format.escape_markdown(_("Asking {model}: {n} of {all}", model=say(title), n=n + 1, all=len(waiting))),
        )
        with errors.show_errors():
            (trial.rows[title],) = ranks_of_hidden_films(cache.load_predictor(name, dataset.name), films, (position,))
        trial.tried.append(name)


def everything(dataset: Dataset, films: tuple[int, ...], names: list[str], known: list[int]) -> None:
    """Every film hidden in turn: a heat map, and how little it proves."""
    positions = tuple(known[: hidden.NEWEST])
    titles = [dataset.catalog.films[films[position]].label for position in positions]
    rows = chosen.each(dataset, names, looking(films, positions))
    if not rows:
        return
    st.caption(
        _(
            "Each film is hidden in turn and predicted from those before it. The figure is its rank; the "
            "stronger the shade, the closer to the top."
        )
    )
    if len(positions) < len(known):
        st.caption(
            ngettext("Only your newest film is hidden.", "Only your newest {n} films are hidden.", len(positions))
        )
    st.html(tables.hits(rows, titles))
    st.caption(words.proves(len(positions)))
    charts.download_buttons(hidden.table(rows, titles), "hidden-films")
