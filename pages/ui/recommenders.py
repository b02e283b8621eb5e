"""The menu of recommenders, and the predictor of the chosen recommender.

A predictor is a recommender that is loaded for a data set. If a recommender needs no training, a background task fits
it for all visitors. Other recommenders must be trained first, and the page shows how.
"""

from collections.abc import Iterable
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

from pages.ui import cache, errors, tasks
from pages.ui.format import escape_markdown, format_duration, join_escaped
from pages.ui.i18n import N_, _
from pages.ui.widgets import button, selectbox
from recsys import monitoring, paths
from recsys.data import prepared
from recsys.data.dataset import Dataset
from recsys.progress import ProgressCallback
from recsys.serving import predictor as predictors
from recsys.serving.predictor import FALLBACK, Predictor, Recommender

TRAIN_PAGE = "6_train.py"
TRAIN_MENU_KEY = "train_model"  # widget key of the menu of recommenders on Train
MAX_COMPARED = 6  # recommenders on Compare
COMPARE_DEFAULTS = (  # Compare selects the first MAX_COMPARED of these that `can_answer`
    "bert4rec", "sasrec-softmax", "gru4rec-ce", "ials", "content-sentence", "popular", "markov", "item-knn", "user-knn",
    "content-tfidf",
)  # fmt: skip
MAX_AUTOMATIC_SECONDS = 10.0  # longest fit that starts when the recommender is chosen
MAX_CLICK_SECONDS = 60.0  # longest fit with a button that starts it; a public server has no such button
MAX_QUICK_TITLES = 4  # recommenders that are suggested in place of one that is not ready
MAX_WAIT_SECONDS = 1.5  # time that a page waits for a fit before it shows the progress
SENTENCE_MODEL = "content-sentence"
# for `fit_seconds`: measured on ML-1M and the built-in data set, on a busy machine with two cores
BASE_SECONDS = 0.5  # constant part of each fit
SECONDS_PER_MILLION_RATINGS = {
    "bpr-mf": 12.0, "ials": 11.0, "mf-explicit": 9.0, "item-knn": 2.5, "ease": 1.0, "markov": 1.0,
}  # fmt: skip
DEFAULT_SECONDS_PER_MILLION_RATINGS = 0.3  # of other recommenders
SECONDS_PER_THOUSAND_FILMS = {SENTENCE_MODEL: 14.0, "content-tfidf": 0.1, "content-fields": 0.1}
DEFAULT_SECONDS_PER_THOUSAND_FILMS = 0.02  # of other recommenders
EASE_CUBIC_SECONDS = 0.022  # per (1,000 films)³
MAX_MIXTURE_USERS = 6_000  # maximum number of users with whose histories the weights of a mixture are fitted
MIXTURE_SECONDS_PER_USER = 0.0033  # for each of these users


class State(Enum):
    """How much preparation a recommender needs before it can answer for a data set."""

    READY = "none, because it is trained or fitted"
    QUICK = "a fit of seconds, which starts automatically"
    NEEDS_CLICK = "a fit of less than a minute, which the visitor starts"
    TOO_SLOW = "a fit by a command, because the fit takes too long for the app"
    UNTRAINED = "training of the recommender or of one of its members"


TITLE_MEANINGS = (  # explanations of words in the titles of recommenders
    N_("**with memory**: also counts which films follow each other and which films the same people watch."),
    N_("**with details**: also uses the genres, decade and popularity of the films."),
    N_("**on segments**: trained on parts of histories, short and long."),
    N_("**fields**: compares tags, genres, years, languages and directors separately."),
    N_("**centred**: uses how far ratings are above or below a person's mean rating."),
    N_("**low rank**: a smaller and less exact version."),
)


def _version(dataset_name: str) -> str:
    """Return a cache key that changes when the `State` of a recommender for a data set may change."""
    checkpoints = predictors.all_checkpoints_version(dataset_name)
    return f"{prepared.version(dataset_name)}/{checkpoints}/{has_film_vectors(dataset_name)}/{paths.is_public()}"


def menu_labels(dataset_name: str) -> dict[str, str]:
    """Return name → menu label of all recommenders, in the order of the menus."""
    by_name = cache.all_recommenders()
    return {name: _label(by_name[name], model_state) for name, model_state in states(dataset_name).items()}


def select(dataset_name: str, key: str, width: int = 240, **options: Any) -> str:
    """Show the menu of recommenders and return the chosen name. options: Further arguments of `st.selectbox`."""
    labels = menu_labels(dataset_name)
    preserve_widget_value(key)
    text = _(
        "Recommenders that need training are marked if they have not been trained for this data set. Most "
        "others need no training and are prepared when you choose them."
    )
    help_text = "\n\n".join([text, *map(_, TITLE_MEANINGS)])
    return selectbox(
        _("Recommender"), labels, key, default=default(dataset_name), help=help_text, width=width, **options
    )


def preserve_widget_value(key: str) -> None:
    """Keep the value of a widget whose options have the labels of `menu_labels`. Call this before the widget.

    The label of an option changes when its recommender becomes ready. Streamlit stores the label of the chosen option,
    so it would then reset the widget. It keeps a value that the script assigns to the session state.
    """
    if key in st.session_state:
        st.session_state[key] = st.session_state[key]


@cache.cached_for_dataset(max_entries=16, version=_version)
def default(dataset_name: str) -> str:
    """Return the name of the default recommender of a data set, or FALLBACK if that recommender cannot answer."""
    name = predictors.default_name(dataset_name)
    return name if can_answer(name, dataset_name) else FALLBACK


def default_comparison(dataset_name: str) -> list[str]:
    """Return the names of the recommenders that Compare selects by default. Each of them can answer."""
    state_by_name = states(dataset_name)
    return [name for name in COMPARE_DEFAULTS if state_by_name.get(name) in (State.READY, State.QUICK)][:MAX_COMPARED]


def can_answer(name: str, dataset_name: str) -> bool:
    """Return whether a recommender is ready or can be fitted within seconds, without a click of the visitor."""
    return state(name, dataset_name) in (State.READY, State.QUICK)


def ready_names(dataset_name: str) -> list[str]:
    """Return the names of the recommenders that are READY, in the order of the menu."""
    return [name for name, model_state in states(dataset_name).items() if model_state is State.READY]


def state(name: str, dataset_name: str) -> State:
    """Return the state of a recommender for a data set of this computer."""
    return states(dataset_name)[name]


@cache.cached_for_dataset(max_entries=16, version=_version)
def states(dataset_name: str) -> dict[str, State]:
    """Return name → state for a data set of this computer, in the order of the menus."""
    return {name: _find_state(name, dataset_name) for name in cache.all_recommenders()}


def _find_state(name: str, dataset_name: str) -> State:
    """Compute the state of a recommender. `states` caches it."""
    if predictors.is_ready(name, dataset_name):
        return State.READY
    if predictors.recommenders_to_train(name, dataset_name):
        return State.UNTRAINED
    duration = fit_seconds(name, cache.dataset(dataset_name))
    if duration <= MAX_AUTOMATIC_SECONDS:
        return State.QUICK
    return State.TOO_SLOW if paths.is_public() or duration > MAX_CLICK_SECONDS else State.NEEDS_CLICK


def fit_seconds(name: str, dataset: Dataset) -> float:
    """Return a rough estimate of the duration of a fit in seconds. Members that are not ready are fitted too."""
    if name == SENTENCE_MODEL and has_film_vectors(dataset.name):
        return BASE_SECONDS
    if members := cache.all_recommenders()[name].members(dataset.name):
        has_weights = predictors.has_current_checkpoint(name, dataset.name)
        n_users = 0 if has_weights else min(dataset.n_users, MAX_MIXTURE_USERS)
        unfitted = [member for member in members if not predictors.is_ready(member, dataset.name)]
        members_seconds = sum(fit_seconds(member, dataset) for member in unfitted)
        return BASE_SECONDS + MIXTURE_SECONDS_PER_USER * n_users + members_seconds
    million_ratings, thousand_films = len(dataset.interactions) / 1e6, dataset.n_items / 1e3
    linear = SECONDS_PER_MILLION_RATINGS.get(name, DEFAULT_SECONDS_PER_MILLION_RATINGS) * million_ratings
    linear += SECONDS_PER_THOUSAND_FILMS.get(name, DEFAULT_SECONDS_PER_THOUSAND_FILMS) * thousand_films
    cubic = EASE_CUBIC_SECONDS * thousand_films**3 if name == "ease" else 0.0
    return BASE_SECONDS + linear + cubic


def has_film_vectors(dataset_name: str) -> bool:
    """Return whether the sentence vectors of the films are shipped or stored."""
    folder = paths.vectors("film", dataset_name, texts_hash="").parent  # one file for each hash of the film texts
    return paths.shipped_vectors("film", dataset_name).exists() or any(folder.glob("*.safetensors"))


def find_fit(name: str, dataset_name: str) -> tasks.BackgroundTask | None:
    """Return the task that fits a recommender, running or finished, or None."""
    return tasks.find(_task_name(name, dataset_name))


def predictor(name: str, dataset: Dataset, wait_seconds: float | None = None) -> Predictor | None:
    """Return the predictor of a recommender. If it is not ready, show why, and return None.

    A QUICK fit starts automatically, and the page shows its progress. Otherwise, the page shows how to fit or train the
    recommender.

    wait_seconds: Time to wait for a running fit before its progress is shown. None: MAX_WAIT_SECONDS.
    """
    model_state, task = state(name, dataset.name), find_fit(name, dataset.name)
    if model_state is State.QUICK and task is None:
        start([name], dataset)
        task = find_fit(name, dataset.name)
    if task and not task.wait(MAX_WAIT_SECONDS if wait_seconds is None else wait_seconds):
        title = cache.recommender_title(cache.all_recommenders()[name])
        duration = format_duration(fit_seconds(name, dataset))
        text = _("Preparing {model} ({time})", model=title, time=duration)
        cancel_label = _("Cancel *preparing {model}*", model=escape_markdown(title))
        tasks.show_progress(_task_name(name, dataset.name), lambda _event: text, cancel_label, f"stop-{name}")
        return None
    if task and task.error and model_state is not State.READY:  # a command can have fitted it since the error
        retry = partial(restart, name, dataset)
        tasks.show_failure(_task_name(name, dataset.name), task.error, f"again-{name}", retry)
        return None
    # after a fit, `model_state` is outdated. It stays QUICK if the fit could not be stored.
    is_fitted = task is not None and not task.is_cancelled
    if model_state is State.READY or is_fitted:
        with errors.show_errors():
            return cache.load_predictor(name, dataset.name)
        return None
    _show_preparation(name, dataset, model_state)
    return None


def start(names: Iterable[str], dataset: Dataset) -> None:
    """Start the fits of the recommenders that are QUICK or NEEDS_CLICK and have no task yet."""
    for name in names:
        can_be_fitted = state(name, dataset.name) in (State.QUICK, State.NEEDS_CLICK)
        if can_be_fitted and find_fit(name, dataset.name) is None:
            tasks.start(_task_name(name, dataset.name), partial(_fit, name, dataset))


def restart(name: str, dataset: Dataset) -> None:
    """Start the fit of a recommender, even if an earlier fit failed or was cancelled."""
    tasks.remove(_task_name(name, dataset.name))
    start([name], dataset)


def _fit(name: str, dataset: Dataset, report: ProgressCallback) -> None:
    """Fit and store a recommender."""
    try:
        with monitoring.timed("fit", name):
            predictors.load(name, dataset, report)
    except Exception:
        monitoring.count("fit_failures", name)
        raise


def _show_preparation(name: str, dataset: Dataset, model_state: State) -> None:
    """Show the button that fits a recommender, or the command that fits or trains it."""
    by_name = cache.all_recommenders()
    fields = {
        "model": cache.recommender_title(by_name[name]),
        "data": cache.dataset_title(dataset.name),
        "time": format_duration(fit_seconds(name, dataset)),
    }
    not_prepared_text = _("{model} has not been prepared for {data} yet. Preparation is only needed once.", **fields)
    if model_state in (State.QUICK, State.NEEDS_CLICK):  # QUICK: the visitor cancelled the automatic fit
        st.info(not_prepared_text, icon=":material/hourglass_empty:")
        with suppress(StreamlitDuplicateElementKey):  # several sections of a page can need the same recommender
            button(_("Prepare {model} ({time})", **fields), f"fit-{name}", "play_arrow", restart, name, dataset)
        return
    untrained_names = predictors.recommenders_to_train(name, dataset.name)  # the recommender or its members
    if model_state is State.TOO_SLOW and not paths.is_public():
        text = _("{model} has not been prepared for {data} yet. Preparing it takes more than a minute.", **fields)
    elif model_state is State.TOO_SLOW:
        text = not_prepared_text
    elif by_name[name].needs_training:
        text = _("{model} is not trained for {data} yet. Training takes minutes to hours.", **fields)
    else:
        text = _(
            "{model} is a mixture of several recommenders. Not trained for {data} yet: {members}. Training takes "
            "minutes to hours.",
            members=join_escaped([cache.recommender_title(by_name[member]) for member in untrained_names]),
            **fields,
        )
    st.info(text, icon=":material/model_training:")
    if model_state is State.UNTRAINED and not paths.is_public():
        next_name = untrained_names[0]
        label = _("Train *{model}* here", model=escape_markdown(cache.recommender_title(by_name[next_name])))
        with suppress(StreamlitDuplicateElementKey):
            if st.button(label, key=f"train-{next_name}", icon=":material/model_training:"):
                st.session_state[TRAIN_MENU_KEY] = next_name
                st.switch_page(TRAIN_PAGE)
    errors.show_command(predictors.training_command(name, dataset.name))
    if titles := _quick_titles(dataset.name):
        text = _(
            "These need no training and are prepared in seconds when you choose them: {models}.",
            models=join_escaped(titles),
        )
        st.caption(text)


def _quick_titles(dataset_name: str) -> list[str]:
    """Return at most MAX_QUICK_TITLES titles of recommenders without training that can answer, one for each family."""
    by_family: dict[str, Recommender] = {}
    for name, recommender in cache.all_recommenders().items():
        if not recommender.needs_training and can_answer(name, dataset_name):
            by_family.setdefault(recommender.family, recommender)
    return [cache.recommender_title(recommender) for recommender in by_family.values()][:MAX_QUICK_TITLES]


def _label(recommender: Recommender, model_state: State) -> str:
    """Return the title of a recommender, with a note if it cannot answer."""
    title = cache.recommender_title(recommender)
    if model_state is State.UNTRAINED:
        return _("{model} · not trained", model=title)
    return title if model_state in (State.READY, State.QUICK) else _("{model} · not prepared", model=title)


def _task_name(name: str, dataset_name: str) -> str:
    """Return the name of the task that fits a recommender to the current version of a data set."""
    return f"fit/{dataset_name}/{prepared.version(dataset_name)}/{name}"
