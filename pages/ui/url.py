"""What the address keeps beside data set and films: one line for each choice. To keep another one, add a line to KEPT.

A choice stands in the session under a key, mostly that of a widget. Only what differs from the first state is written,
so links stay short; what a link says and nobody can choose is passed over.

Session state: at_first (key → a tuple of what the widget said before anybody had touched it; None: not known).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.ui import i18n, loaders
from recsys.data import datasets
from recsys.evaluation import protocols, results
from recsys.evaluation.file_order import read as read_ties
from recsys.evaluation.studies import studies
from recsys.serving.filters import KNOWN, Filters
from recsys.serving.library import ORDERS
from recsys.serving.together import LIST, RULES

BETWEEN = "~"  # two values of one parameter; no browser writes it as %7E
MOST = 30  # values of one parameter that are read
RATING = r"(\d{1,9})\.([0-4]\.5|[1-5])"  # film.stars, in halves: "79132.5", "79132.3.5"
RATINGS = re.compile(rf"{RATING}(~{RATING}){{0,999}}")
VIEWS = AS_CARDS, AS_LIST = ("cards", "list")
INSIDE, LESSON_STEPS = ("lesson", "attention", "mean", "blanks", "map"), 9
LIBRARY = ("browse", "statistics", "together")
EVALUATION = ("leaderboard", "protocols", "measures", "curves", "slices", "calibration", "pair", "person", "ties")

Params = Mapping[str, str]


@dataclass(frozen=True)
class Kind:
    """How a value is written and read; `read` raises ValueError for what nobody can choose."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


@dataclass(frozen=True)
class Kept:
    """A choice: parameter, key in the session ({results_of}: the data set that Evaluation shows), values."""

    parameter: str
    key: str
    kind: Kind
    by_data: bool = False  # what it says at first depends on the data set: once chosen, it is always written


def one_of(options: Callable[[], Iterable[Any]]) -> Kind:
    """One of several."""
    return Kind(_name, lambda text: _option(text, options()))


def some_of(options: Callable[[], Iterable[Any]], most: int) -> Kind:
    """Some of several, in their order, no more than `most`; none at all is a choice too."""

    def read(text: str) -> list[Any]:
        known = list(options())
        return [_option(part, known) for part in _parts(text)[:most]]

    return Kind(lambda chosen: BETWEEN.join(map(_name, chosen)) or BETWEEN, read)


def _name(option: Any) -> str:
    """An option in the address: True is "true"."""
    return str(option).lower().replace(" ", "-")


def _option(text: str, options: Iterable[Any]) -> Any:
    for option in options:
        if _name(option) == text:
            return option
    raise ValueError(text)


def _parts(text: str) -> list[str]:
    return list(dict.fromkeys(part for part in text.split(BETWEEN)[:MOST] if part))


def _years(text: str) -> tuple[int, int]:
    first, last = (int(year) for year in text.split("-"))
    if not 1800 <= first <= last <= 2200:
        raise ValueError(text)
    return first, last


def _genres(text: str) -> tuple[str, ...]:
    """Any names: another data set may have other genres."""
    return tuple(part[:40] for part in _parts(text) if part.isprintable())


def _few_words(text: str) -> str:
    """What somebody types into a search box."""
    if len(text) > 100 or not text.isprintable():
        raise ValueError(text)
    return text


def _number(text: str) -> int:
    """From 1 on."""
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise ValueError(text)
    return int(text)


def _tenths(text: str) -> float:
    if text not in map(str, range(11)):
        raise ValueError(text)
    return int(text) / 10


def _ratings(text: str) -> str:
    if not RATINGS.fullmatch(text):
        raise ValueError(text)
    return text


def _list(text: str) -> str:
    if not LIST.fullmatch(text):
        raise ValueError(text)
    return text


def _recommenders() -> Iterable[str]:
    return loaders.recommenders()


def results_offered() -> list[str]:
    """The data sets whose results Evaluation offers: of a visitor's own set only that one, else the published sets."""
    current = st.session_state.data
    if current not in datasets.SETS:
        return [current]
    return [name for name in dict.fromkeys(name for name, _unused in results.available()) if name in datasets.SETS]


def _protocols() -> Iterable[str]:
    shown = results_of()
    return protocols.in_order(protocol for name, protocol in results.available() if name == shown)


def _sections() -> Iterable[str]:
    shown = results_of()
    known = [name for name in EVALUATION if name != "ties" or (shown and read_ties(shown, lambda _: None))]
    return (*known, *(("studies",) if studies(lambda _: None) else ()))


def results_of() -> str:
    """The data set whose results Evaluation shows; at first the visitor's own, where it has some."""
    state = st.session_state
    if state.get("results_of") in results_offered():
        return str(state.results_of)
    names = results_offered()
    return state.data if state.data in names or not names else names[0]


HOW_MANY = one_of(lambda: (5, 10, 20))
SWITCH = one_of(lambda: (True, False))
YEARS = Kind(lambda years: f"{years[0]}-{years[1]}" if years else "", _years)
GENRES = Kind(BETWEEN.join, _genres)

KEPT = (
    Kept("lang", "language", one_of(lambda: i18n.NAMES)),
    # Watch next
    Kept("model", "model", one_of(_recommenders), by_data=True),
    Kept("n", "how_many", HOW_MANY),
    Kept("view", "view", one_of(lambda: VIEWS)),
    Kept("rated", "rated", Kind(str, _ratings)),
    # Compare
    Kept("compare", "compared", some_of(_recommenders, 6), by_data=True),
    Kept("each", "how_many_each", HOW_MANY),
    # Evaluation
    Kept("results", "results_of", one_of(results_offered), by_data=True),
    Kept("protocol", "protocol-{results_of}", one_of(_protocols)),
    Kept("section", "section", one_of(_sections)),
    Kept("metric", "metric", one_of(lambda: results.METRICS)),
    # Inside the model
    Kept("inside", "inside_section", one_of(lambda: INSIDE)),
    Kept("step", "lesson_step", one_of(lambda: range(1, LESSON_STEPS + 1))),
    # Library
    Kept("library", "library_section", one_of(lambda: LIBRARY)),
    Kept("find", "browse_title", Kind(str, _few_words)),
    Kept("sort", "browse_order", one_of(lambda: ORDERS)),
    Kept("shelf", "browse_page", Kind(str, _number)),
    Kept("made", "library_years", YEARS),
    Kept("kinds", "library_genres", GENRES),
    Kept("fame", "library_known", one_of(lambda: KNOWN)),
    Kept("tags", "library_tags", GENRES),
    Kept("with", "other", Kind(str, _list)),
    Kept("rule", "together_rule", one_of(lambda: RULES)),
)
FILTERS = (  # the key is a field of Filters
    Kept("years", "years", YEARS),
    Kept("genres", "genres", GENRES),
    Kept("without", "without", GENRES),
    Kept("known", "known", one_of(lambda: KNOWN)),
    Kept("older", "no_newer", SWITCH),
    Kept("hide", "hide_seen", SWITCH),
    Kept("variety", "diversity", Kind(lambda share: str(round(share * 10)), _tenths)),
)


def choices() -> dict[str, str]:
    """Everything that was chosen, as parameters; what is as at first is left out."""
    state, now = st.session_state, st.session_state.get("filters", Filters())
    first = state.setdefault("at_first", {})
    written = {}
    for kept in KEPT:
        key = _key(kept)
        if key not in state or first.setdefault(key, (state[key],)) == (state[key],):
            continue
        if text := kept.kind.write(state[key]):
            written[kept.parameter] = text
        if kept.by_data:
            first[key] = None
    active = [kept for kept in FILTERS if kept.key in now.active]
    return written | {kept.parameter: kept.kind.write(getattr(now, kept.key)) for kept in active}


def choose(key: str, value: Any) -> None:
    """Choose something for the visitor; it is written although no widget was touched."""
    st.session_state[key] = value
    st.session_state.setdefault("at_first", {})[key] = None


def take(params: Params) -> None:
    """Choose what parameters say, and all else as at first; call it before any widget is made."""
    state = st.session_state
    first = state.setdefault("at_first", {})
    for kept in KEPT:
        key = _key(kept)
        said = _read(kept, params)
        if said is not None:
            state[key] = said
            first.setdefault(key, None)  # not what the widget would have said by itself
        elif first.get(key):
            (state[key],) = first[key]
        else:
            state.pop(key, None)
            first.pop(key, None)
    fields = {kept.key: _read(kept, params) for kept in FILTERS}
    state.filters = replace(Filters(), **{field: value for field, value in fields.items() if value is not None})


def _key(kept: Kept) -> str:
    return kept.key.format(results_of=results_of()) if "{" in kept.key else kept.key


def _read(kept: Kept, params: Params) -> Any:
    """What the parameters say; None where they say nothing that can be chosen."""
    try:
        return kept.kind.read(params[kept.parameter]) if params.get(kept.parameter) else None
    except ValueError:
        return None
