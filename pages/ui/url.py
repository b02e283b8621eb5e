"""Settings in the URL, a row of URL_PARAMS for each. A URL names only settings that differ from their defaults.

Session state: defaults (key → 1-tuple of the value before any change, None if the value is always written).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.ui import cache, i18n
from pages.ui.visitor import visitor
from recsys.data import datasets
from recsys.evaluation import protocols, results
from recsys.evaluation.file_order import read as read_ties
from recsys.evaluation.studies import studies
from recsys.serving.filters import POPULARITY_LEVELS, Filters
from recsys.serving.group import RULES, SHARED_LIST_PATTERN
from recsys.serving.library import ORDERS

SEPARATOR = "~"  # between the values of one parameter; browsers do not escape it
MAX_VALUES = 30  # of one parameter
RATING = r"(\d{1,9})\.([0-4]\.5|[1-5])"  # movie id and stars: "79132.5", "79132.3.5"
RATINGS = re.compile(rf"{RATING}(~{RATING}){{0,999}}")
VIEWS = AS_CARDS, AS_LIST = ("cards", "list")
INSIDE_SECTIONS, N_LESSON_STEPS = ("lesson", "attention", "mean", "blanks", "map"), 9
LIBRARY_SECTIONS = ("browse", "statistics", "together")
EVALUATION_SECTIONS = (
    *("leaderboard", "protocols", "measures", "curves", "slices", "calibration", "pair", "person", "ties"),
)

Params = Mapping[str, str]


@dataclass(frozen=True)
class Codec:
    """Functions that write a value to the URL and read it. `read` raises ValueError for an invalid value."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


@dataclass(frozen=True)
class UrlParam:
    """A setting: its URL parameter, session key and codec. {results_of} in a key is the data set of Evaluation."""

    name: str
    key: str
    codec: Codec
    by_dataset: bool = False  # the default depends on the data set, so a chosen value is always written


def option(options: Callable[[], Iterable[Any]]) -> Codec:
    """Return the codec of a choice of one option."""
    return Codec(_slug, lambda text: _find_option(text, options()))


def several(options: Callable[[], Iterable[Any]], max_values: int) -> Codec:
    """Return the codec of a choice of several options or none."""

    def read(text: str) -> list[Any]:
        values = list(options())
        return [_find_option(part, values) for part in _split(text)[:max_values]]

    return Codec(lambda chosen: SEPARATOR.join(map(_slug, chosen)) or SEPARATOR, read)


def _slug(value: Any) -> str:
    return str(value).lower().replace(" ", "-")


def _find_option(text: str, options: Iterable[Any]) -> Any:
    for value in options:
        if _slug(value) == text:
            return value
    raise ValueError(text)


def _split(text: str) -> list[str]:
    return list(dict.fromkeys(part for part in text.split(SEPARATOR)[:MAX_VALUES] if part))


def _read_years(text: str) -> tuple[int, int]:
    oldest, newest = (int(year) for year in text.split("-"))
    if not 1800 <= oldest <= newest <= 2200:
        raise ValueError(text)
    return oldest, newest


def _read_genres(text: str) -> tuple[str, ...]:
    """Read any names, because another data set may have other genres."""
    return tuple(part[:40] for part in _split(text) if part.isprintable())


def _read_query(text: str) -> str:
    if len(text) > 100 or not text.isprintable():
        raise ValueError(text)
    return text


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str]:
    """Return a function that raises ValueError if a text does not match a pattern."""

    def read(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return read


def _recommenders() -> Iterable[str]:
    return cache.all_recommenders()


def datasets_with_results() -> list[str]:
    """Return the data sets of Evaluation: the visitor's own data set if it is open, else the published ones."""
    current = visitor().current.dataset
    if current not in datasets.SETS:
        return [current]
    return [name for name in dict.fromkeys(name for name, _protocol in results.available()) if name in datasets.SETS]


def _protocols() -> Iterable[str]:
    chosen = _results_of()
    return protocols.in_order(protocol for name, protocol in results.available() if name == chosen)


def _sections() -> Iterable[str]:
    chosen = _results_of()
    has_ties = bool(chosen and read_ties(chosen, lambda _warning: None))
    names = [name for name in EVALUATION_SECTIONS if name != "ties" or has_ties]
    return (*names, *(("studies",) if studies(lambda _warning: None) else ()))


def _results_of() -> str:
    """Return the data set of Evaluation. By default it is the open one, if it has results."""
    state, names = st.session_state, datasets_with_results()
    if state.get("results_of") in names:
        return str(state.results_of)
    current = visitor().current.dataset
    return current if current in names or not names else names[0]


LIST_LENGTH = option(lambda: (5, 10, 20))
YEARS = Codec(lambda years: f"{years[0]}-{years[1]}" if years else "", _read_years)
GENRES = Codec(SEPARATOR.join, _read_genres)

URL_PARAMS = (
    UrlParam("lang", "language", option(lambda: i18n.NAMES)),
    # Watch next
    UrlParam("model", "model", option(_recommenders), by_dataset=True),
    UrlParam("n", "how_many", LIST_LENGTH),
    UrlParam("view", "view", option(lambda: VIEWS)),
    UrlParam("rated", "rated", Codec(str, _matching(RATINGS))),
    # Compare
    UrlParam("compare", "compared", several(_recommenders, 6), by_dataset=True),
    UrlParam("each", "how_many_each", LIST_LENGTH),
    # Evaluation
    UrlParam("results", "results_of", option(datasets_with_results), by_dataset=True),
    UrlParam("protocol", "protocol-{results_of}", option(_protocols)),
    UrlParam("section", "section", option(_sections)),
    UrlParam("metric", "metric", option(lambda: results.METRICS)),
    # Inside the model
    UrlParam("inside", "inside_section", option(lambda: INSIDE_SECTIONS)),
    UrlParam("step", "lesson_step", option(lambda: range(1, N_LESSON_STEPS + 1))),
    # Library
    UrlParam("library", "library_section", option(lambda: LIBRARY_SECTIONS)),
    UrlParam("find", "browse_title", Codec(str, _read_query)),
    UrlParam("sort", "browse_order", option(lambda: ORDERS)),
    UrlParam("shelf", "browse_page", Codec(str, lambda text: int(_matching(re.compile(r"[1-9]\d{0,5}"))(text)))),
    UrlParam("made", "library_years", YEARS),
    UrlParam("kinds", "library_genres", GENRES),
    UrlParam("fame", "library_known", option(lambda: POPULARITY_LEVELS)),
    UrlParam("tags", "library_tags", GENRES),
    UrlParam("with", "other", Codec(str, _matching(SHARED_LIST_PATTERN))),
    UrlParam("rule", "together_rule", option(lambda: RULES)),
)
FILTER_PARAMS = (  # the key is a field of Filters
    UrlParam("years", "years", YEARS),
    UrlParam("genres", "genres", GENRES),
    UrlParam("without", "excluded_genres", GENRES),
    UrlParam("known", "popularity", option(lambda: POPULARITY_LEVELS)),
    UrlParam("older", "released_by_last_film", option(lambda: (True, False))),
    UrlParam("hide", "hide_seen", option(lambda: (True, False))),
    UrlParam(
        "variety",
        "diversity",
        Codec(lambda share: str(round(share * 10)), lambda text: int(_matching(re.compile(r"\d|10"))(text)) / 10),
    ),
)


def to_params() -> dict[str, str]:
    """Return the URL parameters of all settings that differ from their defaults."""
    state, filters = st.session_state, st.session_state.get("filters", Filters())
    defaults = state.setdefault("defaults", {})
    params = {}
    for param in URL_PARAMS:
        key = _key(param)
        if key not in state or defaults.setdefault(key, (state[key],)) == (state[key],):
            continue
        if text := param.codec.write(state[key]):
            params[param.name] = text
        if param.by_dataset:
            defaults[key] = None
    active = [param for param in FILTER_PARAMS if param.key in filters.active]
    return params | {param.name: param.codec.write(getattr(filters, param.key)) for param in active}


def set_value(key: str, value: Any) -> None:
    """Set a setting for the visitor and write it to the URL."""
    st.session_state[key] = value
    st.session_state.setdefault("defaults", {})[key] = None


def apply(params: Params) -> None:
    """Set all settings to the values of URL parameters or to their defaults. Call it before the widgets are made."""
    state = st.session_state
    defaults = state.setdefault("defaults", {})
    for param in URL_PARAMS:
        key, value = _key(param), _read(param, params)
        if value is not None:
            state[key] = value
            defaults.setdefault(key, None)  # the widget's own default is unknown
        elif defaults.get(key):
            (state[key],) = defaults[key]
        else:
            state.pop(key, None)
            defaults.pop(key, None)
    fields = {param.key: _read(param, params) for param in FILTER_PARAMS}
    state.filters = replace(Filters(), **{field: value for field, value in fields.items() if value is not None})


def _key(param: UrlParam) -> str:
    return param.key.format(results_of=_results_of()) if "{" in param.key else param.key


def _read(param: UrlParam, params: Params) -> Any:
    """Return the value of a parameter, or None if it is missing or invalid."""
    try:
        return param.codec.read(params[param.name]) if params.get(param.name) else None
    except ValueError:
        return None
