"""The menu of recommenders for a data set, and how one that is not there yet is had: fitted here, or trained elsewhere.

For a page:
    menu(data)               name → label, by family, the well known first; marked where it is not there yet
    choose(data, key)        the selector over that menu; returns a name
    keep(key)                call it before any widget of your own whose options are labelled by `menu`
    state(name, data)        State.READY, QUICK (seconds: fitted when asked), SOON (under a minute), LONG or UNTRAINED
    predictor(name, dataset) the recommender; None where it is not there, after having shown what to do about it
    start(names, dataset)    begin to fit the QUICK and SOON ones among these; `predictor` shows how far each is
    first(data)              the name to begin with
`data` is the name of a data set, `dataset` the set itself. Fitting goes on whatever the visitor clicks, and is shared
by all visitors; the part of the page that `predictor` shows in the meantime looks again by itself.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum

import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

from pages.ui import errors, loaders, tasks, words
from pages.ui.frame import TRAIN
from pages.ui.i18n import _
from recsys import monitoring, paths
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError
from recsys.progress import ProgressCallback
from recsys.serving import predictor as serving
from recsys.serving.predictor import FALLBACK, Predictor, Recommender

TO_TRAIN = "train_model"  # session state: the recommender that the page Train shows
AT_ONCE = 10.0  # seconds: what takes longer is fitted only after a click on a button that says how long
UNDER_A_MINUTE = 60.0
PATIENCE = 1.5  # seconds that a page waits for a fit before it shows how far it is
BASE = 0.5  # seconds of every fit: the data is divided, the result is written and read
# Seconds by 1 million ratings, and by 1,000 films, as measured on ML-1M and the first set: a busy machine of two cores
BY_RATINGS = {"bpr-mf": 12.0, "ials": 11.0, "mf-explicit": 9.0, "item-knn": 2.5, "ease": 1.0, "markov": 1.0}
READS_SENTENCES = "content-sentence"  # by an encoder that takes long where nobody has kept what it said
BY_FILMS = {READS_SENTENCES: 14.0, "content-tfidf": 0.1}
EASE_CUBED = 0.022  # seconds by (1,000 films)³
BY_PEOPLE, MOST_PEOPLE = 0.0033, 6_000  # seconds by person whom a mixture asks for its weights, and how many it asks


class State(Enum):
    """How a recommender can be had for a data set."""

    READY = "it is there"
    QUICK = "it is fitted in seconds, when somebody asks for it"
    SOON = "it can be fitted here, in less than a minute"
    LONG = "it needs no training, but more than a minute"
    UNTRAINED = "somebody has to train it, or one that it stands on"


def menu(data: str) -> dict[str, str]:
    """Name → what the menus show, by family, the well known first; those that are not there yet are marked."""
    known = loaders.recommenders()
    return {name: _label(known[name], state(name, data)) for name in ordered(known.values())}


def ordered(variants: Iterable[Recommender]) -> list[str]:
    """Return their names in the order of the registry: by family, the best known first."""
    places = {name: place for place, name in enumerate(serving.names())}
    return sorted((variant.name for variant in variants), key=places.__getitem__)


def choose(data: str, key: str, width: int = 240) -> str:
    """The selector of one recommender, by name."""
    labels = menu(data)
    keep(key)
    return st.selectbox(
        _("Recommender"),
        list(labels),
        index=list(labels).index(first(data)),
        format_func=labels.__getitem__,
        key=key,
        help=_("Some are trained beforehand, for some sets. The others are fitted when you choose them."),
        width=width,
        persist_state="session",
    )


def keep(key: str) -> None:
    """Let a choice outlive a change of its label: Streamlit knows options by what they are called."""
    if key in st.session_state:
        st.session_state[key] = st.session_state[key]


def first(data: str) -> str:
    """The name to begin with: the default of the data set or, where fitting it takes long, most popular."""
    name = serving.default(data)
    return name if state(name, data) in (State.READY, State.QUICK) else FALLBACK


def state(name: str, data: str) -> State:
    """How a recommender can be had for a data set that is on this machine."""
    if serving.is_there(name, data):
        return State.READY
    if serving.lacking(name, data):
        return State.UNTRAINED
    takes = seconds(name, loaders.dataset(data))
    if takes > (AT_ONCE if paths.is_public() else UNDER_A_MINUTE):  # nobody's visitors keep a server busy for long
        return State.LONG
    return State.QUICK if takes <= AT_ONCE else State.SOON


def seconds(name: str, dataset: Dataset) -> float:
    """How long a fit takes, roughly: another machine takes another time, so round it where people see it."""
    if name == READS_SENTENCES and _film_vectors(dataset.name):
        return BASE
    if members := loaders.recommenders()[name].members(dataset.name):
        missing = [one for one in members if not serving.is_there(one, dataset.name)]
        weights = 0.0 if serving.has_fit(name, dataset.name) else BY_PEOPLE * min(dataset.n_users, MOST_PEOPLE)
        return BASE + weights + sum(seconds(one, dataset) for one in missing)
    ratings, films = len(dataset.interactions) / 1e6, dataset.n_items / 1e3
    cubed = EASE_CUBED * films**3 if name == "ease" else 0.0
    return BASE + BY_RATINGS.get(name, 0.3) * ratings + BY_FILMS.get(name, 0.02) * films + cubed


def _film_vectors(data: str) -> bool:
    """Whether the films of a data set have been read by the sentence encoder, here or by whoever shipped them."""
    return paths.shipped_film_vectors(data).exists() or any(paths.film_vectors(data, "").parent.glob("*.safetensors"))


def fit(name: str, data: str) -> tasks.Work | None:
    """Return the background task that fits a recommender, running or finished, or None."""
    return tasks.find(_work(name, data))


def predictor(name: str, dataset: Dataset, wait: float | None = None) -> Predictor | None:
    """The recommender, ready to answer. None where it is not: the page then shows how far it is, or what to do.

    wait: Seconds to wait for a running fit before its progress is shown. None: PATIENCE.
    """
    now, going_on = state(name, dataset.name), tasks.find(_work(name, dataset.name))
    if now is State.QUICK and going_on is None:
        start([name], dataset)
        going_on = tasks.find(_work(name, dataset.name))
    if going_on and not going_on.wait(PATIENCE if wait is None else wait):
        _watch(name, dataset)
        return None
    if going_on and going_on.error:
        _failed(name, dataset, going_on.error)
        return None
    if now is State.READY or (going_on and not going_on.called_off):  # the disk may have refused to keep the fit
        with errors.explained():
            return loaders.predictor(name, dataset.name)
        return None
    _offer(name, dataset, now)
    return None


def start(names: Iterable[str], dataset: Dataset) -> None:
    """Begin to fit those that can be had within a minute, but for those that go on, failed or were called off."""
    for name in names:
        if state(name, dataset.name) in (State.QUICK, State.SOON) and tasks.find(_work(name, dataset.name)) is None:
            tasks.start(_work(name, dataset.name), _fit(name, dataset))


def begin(name: str, dataset: Dataset) -> None:
    """Begin to fit one, and be it once more."""
    tasks.forget(_work(name, dataset.name))
    start([name], dataset)


def _fit(name: str, dataset: Dataset) -> tasks.Task:
    """What the thread does: fit, and keep what was fitted where `loaders.predictor` finds it."""

    def task(report: ProgressCallback) -> None:
        try:
            with monitoring.timed("fit", name):
                serving.load(name, dataset, report)
        except Exception:
            monitoring.count("fit_failures", name)
            raise

    return task


def _offer(name: str, dataset: Dataset, now: State) -> None:
    """A button that fits it or, where that takes long, the command that does."""
    variant, data = loaders.recommenders()[name], loaders.data_title(dataset.name)
    if now in (State.QUICK, State.SOON):
        title = loaders.title(variant)
        st.info(
            _("{model} has not been fitted for {data} yet. That is done once, and kept.", model=title, data=data),
            icon=":material/hourglass_empty:",
        )
        time = words.about(seconds(name, dataset))
        _button(_("Fit {model} ({time})", model=title, time=time), f"fit-{name}", "play_arrow", begin, name, dataset)
        return
    said = {"model": loaders.title(variant), "data": data}
    sentence = (
        _("{model} has to be trained, and has not been for {data} yet. Training takes minutes to hours.")
        if now is State.UNTRAINED
        else _("{model} has not been fitted for {data} yet, which takes more than a minute.")
    )
    if now is State.LONG and paths.is_public():
        sentence = _("{model} has not been fitted for {data} yet. That is done once, and kept.")
    if now is State.UNTRAINED and not variant.needs_training:
        lacking = [loaders.title(loaders.recommenders()[one]) for one in serving.lacking(name, dataset.name)]
        sentence, said["members"] = (
            _(
                "{model} mixes several recommenders, and these have not been trained for {data} yet: "
                "{members}. Training takes minutes to hours."
            ),
            words.listed(lacking),
        )
    st.info(sentence.format(**said), icon=":material/model_training:")
    if now is State.UNTRAINED and not paths.is_public():
        train_here(serving.lacking(name, dataset.name)[0])
    errors.command(serving.training_command(name, dataset.name))
    if quick := _quick(dataset.name):
        st.caption(_("These need seconds, and are fitted when you choose them: {models}.", models=words.listed(quick)))


def train_here(name: str) -> None:
    """A button that opens the page where one is trained."""
    with suppress(StreamlitDuplicateElementKey):
        text = _("Train *{model}* here", model=words.plain(loaders.title(loaders.recommenders()[name])))
        if st.button(text, key=f"train-{name}", icon=":material/model_training:"):
            st.session_state[TO_TRAIN] = name
            st.switch_page(TRAIN)


def _quick(data: str, most: int = 4) -> list[str]:
    """Return the titles of the best known recommender of each family among those that can answer at once."""
    known = loaders.recommenders()
    best: dict[str, Recommender] = {}
    for name in ordered(known.values()):
        if not known[name].needs_training and state(name, data) in (State.READY, State.QUICK):
            best.setdefault(known[name].family, known[name])
    return [loaders.title(variant) for variant in best.values()][:most]


@st.fragment(run_every=tasks.LOOK_EVERY)
def _watch(name: str, dataset: Dataset) -> None:
    """How far a fit is, and a way to stop it; the page begins anew when it has ended."""
    going_on = tasks.find(_work(name, dataset.name))
    if going_on is None or going_on.is_over:
        st.rerun()
    title = loaders.title(loaders.recommenders()[name])
    fitting = _("Fitting {model} ({time})", model=title, time=words.about(seconds(name, dataset)))
    text = _("Stopping") if going_on.called_off else fitting
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.progress(going_on.share(), words.plain(text))
        if not going_on.called_off:
            _button(_("Cancel *fitting {model}*", model=words.plain(title)), f"stop-{name}", "close", going_on.call_off)


def _failed(name: str, dataset: Dataset, error: BaseException) -> None:
    """Why a fit has ended, and a way to try again; a bug stays a bug."""
    if not isinstance(error, RecsysError):
        tasks.forget(_work(name, dataset.name))
        raise error
    errors.explain(error)
    _button(_("Try again"), f"again-{name}", "refresh", begin, name, dataset)


def _button(text: str, key: str, icon: str, act: Callable[..., None], *arguments: object) -> None:
    """A button; only the first one where several parts of a page wait for the same recommender."""
    with suppress(StreamlitDuplicateElementKey):
        st.button(text, key=key, icon=f":material/{icon}:", on_click=act, args=arguments)


def _label(variant: Recommender, now: State) -> str:
    title = loaders.title(variant)
    if now is State.UNTRAINED:
        return _("{model} · not trained", model=title)
    return title if now in (State.READY, State.QUICK) else _("{model} · not fitted", model=title)


def _work(name: str, data: str) -> str:
    return f"fit/{data}/{name}"
