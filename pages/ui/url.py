"""Settings in the URL. URL_PARAMS has a row for each setting. A URL only contains settings that are not the default.

The sections of pages are declared here, because a URL can open them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui import cache, i18n, recommenders
from pages.ui.i18n import N_
from pages.ui.visitor import visitor
from recsys.data import datasets, prepared
from recsys.evaluation import protocols, results
from recsys.evaluation.file_order import read as read_ties
from recsys.evaluation.studies import studies
from recsys.serving.filters import POPULARITY_LEVELS, Filters
from recsys.serving.group import RULES, SHARED_LIST_PATTERN
from recsys.serving.history import MAX_ID_DIGITS
from recsys.serving.library import ORDERS

SEPARATOR = "~"  # between the values of one parameter; browsers do not escape it
MAX_VALUES = 30  # values of one parameter; further values are ignored
MAX_LABEL_CHARACTERS = 40  # longer genres and tags are cut
MAX_QUERY_CHARACTERS = 100  # characters in the search box of Library
RATING_PATTERN = rf"(\d{{1,{MAX_ID_DIGITS}}})\.([0-4]\.5|[1-5])"  # movie id, dot, stars: "79132.5" or "79132.3.5"
MAX_RATINGS = 1000
RATINGS_PATTERN = rf"{RATING_PATTERN}({SEPARATOR}{RATING_PATTERN}){{0,{MAX_RATINGS - 1}}}"
LIST_LENGTHS = (5, 10, 20)  # options for the number of recommended films
AS_CARDS = "cards"
AS_LIST = "list"
VIEWS = (AS_CARDS, AS_LIST)
LIST_KINDS = {  # name in the URL → title
    "best": N_("Most likely"),
    "taste": N_("To your taste"),
    "last": N_("After your last film"),
    "gems": N_("Hidden gems"),
}
# use of `ListState.filter_list`: name in the URL → title
FILTER_LIST_MODES = {"only": N_("Only these"), "none": N_("None of these")}
# tabs and sections: name in the URL → title
COMPARE_TABS = {
    "lists": N_("The lists"),
    "rank": N_("Rank of a film"),
    "order": N_("Effect of order"),
    "hide": N_("Hide a film"),
    "blend": N_("Mix two"),
}
INSIDE_SECTIONS = {
    "lesson": N_("Lesson"),
    "attention": N_("Attention"),
    "mean": N_("Mean attention"),
    "blanks": N_("Masked films"),
    "map": N_("Map"),
}
CHART_TYPES = {"lines": N_("Lines"), "heat-map": N_("Heat map")}  # in the section Attention
PROJECTIONS = ("t-SNE", "PCA")  # in the section Map
COLOUR_OPTIONS = {"decade": N_("Decade"), "genre": N_("Genre"), "views": N_("Popularity")}
LIBRARY_SECTIONS = {"browse": N_("Browse"), "statistics": N_("Statistics"), "together": N_("Watch together")}
EVALUATION_SECTIONS = {
    "leaderboard": N_("Leaderboard"),
    "protocols": N_("Protocols"),
    "measures": N_("Trade-offs"),
    "curves": N_("Learning"),
    "slices": N_("By group"),
    "calibration": N_("Calibration"),
    "pair": N_("Head-to-head"),
    "person": N_("One person"),
    "ties": N_("Same-second ratings"),
    "studies": N_("Studies"),
}

Params = Mapping[str, str]
Parser = Callable[[str], Any]  # text → value; raises ValueError for an invalid text


def _slug(value: Any) -> str:
    """Return "well-known" for "Well known"."""
    return str(value).lower().replace(" ", "-")


@dataclass(frozen=True)
class UrlParam:
    """A setting in the URL. It is omitted if it has the default value or an empty text."""

    name: str  # in the URL
    # field of `Filters`, or session key, in which {results_of} stands for the data set of Evaluation
    key: str
    parse: Parser
    default: Any  # value, or a function that returns it
    format: Callable[[Any], str] = _slug  # value → text

    @property
    def default_value(self) -> Any:
        """The default value. None: there is none, or it is unknown because the data set is not on this computer."""
        return self.default() if callable(self.default) else self.default


def one_of(options: Callable[[], Iterable[Any]]) -> Parser:
    """Return a parser that finds the option with a slug. It calls `options` each time, because options can change."""
    return lambda text: _find_option(text, options())


def _parse_recommenders(text: str) -> list[str]:
    names = list(cache.all_recommenders())
    return [_find_option(part, names) for part in _split(text)[: recommenders.MAX_COMPARED]]


def _find_option(text: str, options: Iterable[Any]) -> Any:
    """Return the option whose `_slug` is `text`. Raises ValueError if there is none."""
    for value in options:
        if _slug(value) == text:
            return value
    raise ValueError(text)


def _split(text: str) -> list[str]:
    """Return the distinct values of a parameter with several values."""
    return list(dict.fromkeys(part for part in text.split(SEPARATOR)[:MAX_VALUES] if part))


def _parse_years(text: str) -> tuple[int, int]:
    """Return (1980, 1999) for "1980-1999"."""
    oldest, newest = (int(year) for year in text.split("-"))
    if not 1800 <= oldest <= newest <= 2200:
        raise ValueError(text)
    return oldest, newest


def _format_years(years: tuple[int, int] | None) -> str:
    return f"{years[0]}-{years[1]}" if years else ""


def _parse_labels(text: str) -> tuple[str, ...]:
    """Return genres or tags. Any name is valid, because each data set has its own genres and tags."""
    return tuple(part[:MAX_LABEL_CHARACTERS] for part in _split(text) if part.isprintable())


def _parse_query(text: str) -> str:
    """Return the text of a search box."""
    if len(text) > MAX_QUERY_CHARACTERS or not text.isprintable():
        raise ValueError(text)
    return text


def _matching(pattern: str | re.Pattern[str], convert: Parser = str) -> Parser:
    """Return a parser that calls `convert` if the text matches a pattern."""

    def parse(text: str) -> Any:
        if not re.fullmatch(pattern, text):
            raise ValueError(text)
        return convert(text)

    return parse


def _from_open_dataset(function: Callable[[str], Any]) -> Callable[[], Any]:
    """Return a function that calls `function` with the open data set, or returns None if it is not on this computer."""

    def default() -> Any:
        name = visitor().current.dataset
        return function(name) if prepared.version(name) else None

    return default


def evaluation_datasets() -> list[str]:
    """Return the published data sets with results or, if a visitor has added the open data set, only this data set."""
    current = visitor().current.dataset
    if current not in datasets.PUBLISHED:
        return [current]
    names = dict.fromkeys(name for name, _protocol in results.available())
    return [name for name in names if name in datasets.PUBLISHED]


def default_evaluation_dataset() -> str:
    """Return the data set that was open when Evaluation was last shown.

    If `evaluation_datasets` does not have it, return the first of these data sets.
    """
    names = evaluation_datasets()
    last_open = st.session_state.get("last_open_dataset", visitor().current.dataset)  # Evaluation writes it
    return names[0] if names and last_open not in names else last_open


def _evaluation_dataset() -> str:
    """Return the data set that Evaluation shows: the selection in its menu (`results_of`) or the default."""
    return str(st.session_state.get("results_of") or default_evaluation_dataset())


def _protocols() -> list[str]:
    """Return the protocols with results for the data set that Evaluation shows."""
    dataset = _evaluation_dataset()
    return protocols.sort_names(protocol for name, protocol in results.available() if name == dataset)


def _default_protocol() -> str:
    """Return the first protocol with results or, without results, the protocol of the recommendations."""
    names = _protocols()
    return names[0] if names else datasets.serving_splitting(_evaluation_dataset()).protocol


def _ignore(_warning: object) -> None:
    """Ignore a warning about unreadable data, because the section that needs the data shows it."""


def _studies() -> list[str]:
    """Return the names of all studies that can be read."""
    return [study.name for study in studies(_ignore)]


def _evaluation_sections() -> list[str]:
    """Return the sections of Evaluation. Studies and ties are omitted if there is no data for them."""
    dataset = _evaluation_dataset()
    has_data = {"studies": bool(_studies()), "ties": bool(dataset and read_ties(dataset, _ignore))}
    return [name for name in EVALUATION_SECTIONS if has_data.get(name, True)]


PARSE_LENGTH = one_of(lambda: LIST_LENGTHS)
PARSE_POPULARITY = one_of(lambda: POPULARITY_LEVELS)
PARSE_FLAG = one_of(lambda: (True, False))
PARSE_RECOMMENDER = one_of(cache.all_recommenders)

URL_PARAMS = (
    UrlParam("lang", "lang", one_of(lambda: i18n.LANGUAGES), i18n.preferred_language),
    # Watch next
    UrlParam("model", "model", PARSE_RECOMMENDER, _from_open_dataset(recommenders.default)),
    UrlParam("kind", "list_kind", one_of(lambda: LIST_KINDS), next(iter(LIST_KINDS))),
    UrlParam("among", "choice_mode", one_of(lambda: FILTER_LIST_MODES), next(iter(FILTER_LIST_MODES))),
    UrlParam("n", "how_many", PARSE_LENGTH, 10),
    UrlParam("view", "view", one_of(lambda: VIEWS), AS_CARDS),
    UrlParam("rated", "rated", _matching(RATINGS_PATTERN), ""),
    # Compare
    UrlParam(
        "compare",
        "compared",
        _parse_recommenders,
        _from_open_dataset(recommenders.default_comparison),
        lambda names: SEPARATOR.join(names) or SEPARATOR,  # an empty text would mean the default, not an empty choice
    ),
    UrlParam("each", "how_many_each", PARSE_LENGTH, 10),
    UrlParam("tab", "compare_section", one_of(lambda: COMPARE_TABS), next(iter(COMPARE_TABS))),
    # Evaluation
    UrlParam("results", "results_of", one_of(evaluation_datasets), default_evaluation_dataset),
    UrlParam("protocol", "protocol-{results_of}", one_of(_protocols), _default_protocol),
    UrlParam("section", "section", one_of(_evaluation_sections), "leaderboard"),
    UrlParam("metric", "metric", one_of(lambda: results.METRICS), "ndcg@10"),
    UrlParam("first", "first_of_pair", PARSE_RECOMMENDER, None),
    UrlParam("second", "second_of_pair", PARSE_RECOMMENDER, None),
    UrlParam("study", "study", one_of(_studies), None),
    # Inside the model
    UrlParam("inside", "inside_section", one_of(lambda: INSIDE_SECTIONS), "lesson"),
    UrlParam("step", "lesson_step", _matching(r"[1-9]\d?", int), 1),
    UrlParam("network", "lesson_network", PARSE_RECOMMENDER, cache.DEFAULT_MODEL),
    UrlParam("attends", "attending", PARSE_RECOMMENDER, cache.DEFAULT_MODEL),
    UrlParam("chart", "attention_drawn", one_of(lambda: CHART_TYPES), next(iter(CHART_TYPES))),
    UrlParam("fills", "filling_blanks", PARSE_RECOMMENDER, cache.DEFAULT_MODEL),
    UrlParam("mapped", "mapped", PARSE_RECOMMENDER, cache.DEFAULT_MODEL),
    UrlParam("plane", "projection", one_of(lambda: PROJECTIONS), PROJECTIONS[0]),
    UrlParam("colour", "map_colour", one_of(lambda: COLOUR_OPTIONS), next(iter(COLOUR_OPTIONS))),
    # Library. Watch next has similar filters, with the names "years", "genres" and "known".
    UrlParam("library", "library_section", one_of(lambda: LIBRARY_SECTIONS), "browse"),
    UrlParam("find", "browse_title", _parse_query, "", str),
    UrlParam("sort", "browse_order", one_of(lambda: ORDERS), ORDERS[0]),
    UrlParam("shelf", "browse_page", _matching(r"[1-9]\d{0,5}", int), 1),
    UrlParam("made", "library_years", _parse_years, None, _format_years),
    UrlParam("kinds", "library_genres", _parse_labels, (), SEPARATOR.join),
    UrlParam("fame", "library_known", PARSE_POPULARITY, "any"),
    UrlParam("tags", "library_tags", _parse_labels, (), SEPARATOR.join),
    UrlParam("with", "other", _matching(SHARED_LIST_PATTERN), "", str),
    UrlParam("with-order", "other_in_watch_order", PARSE_FLAG, False),
    UrlParam("rule", "together_rule", one_of(lambda: RULES), RULES[0]),
    # Filters of Watch next
    UrlParam("years", "years", _parse_years, Filters.years, _format_years),
    UrlParam("genres", "genres", _parse_labels, Filters.genres, SEPARATOR.join),
    UrlParam("without", "excluded_genres", _parse_labels, Filters.excluded_genres, SEPARATOR.join),
    UrlParam("spoken", "languages", _parse_labels, Filters.languages, SEPARATOR.join),
    UrlParam("country", "countries", _parse_labels, Filters.countries, SEPARATOR.join),
    UrlParam("known", "popularity", PARSE_POPULARITY, Filters.popularity),
    UrlParam("older", "released_by_last_film", PARSE_FLAG, Filters.released_by_last_film),
    UrlParam("hide", "hide_seen", PARSE_FLAG, Filters.hide_seen),
    UrlParam(
        "variety",
        "diversity",
        _matching(r"\d|10", lambda text: int(text) / 10),  # in tenths
        Filters.diversity,
        lambda share: str(round(share * 10)),
    ),
)
FILTER_FIELDS = frozenset(Filters.__dataclass_fields__)


def to_params() -> dict[str, str]:
    """Return the parameters of all settings that differ from their defaults."""
    state, params = st.session_state, {}
    filters = state.get("filters", Filters())
    for param in URL_PARAMS:
        key = _key(param)
        value = getattr(filters, key) if key in FILTER_FIELDS else state.get(key)
        if value is not None and value != param.default_value and (text := param.format(value)):
            params[param.name] = text
    return params


def apply(params: Params) -> None:
    """Set all settings to the values of URL parameters or to their defaults, before any widget is created."""
    state, filters = st.session_state, dict[str, Any]()
    for param in URL_PARAMS:
        key, value = _key(param), _parse(param, params)
        if key in FILTER_FIELDS:
            if value is not None:
                filters[key] = value
        elif value is not None:
            state[key] = value
        elif key in state:  # from an earlier URL or click. Without the key, the widget sets its default
            if (default := param.default_value) is None:
                del state[key]
            else:
                state[key] = default
    state.filters = Filters(**filters)


def _key(param: UrlParam) -> str:
    """Return the field of `Filters` or the session key of a parameter."""
    return param.key.format(results_of=_evaluation_dataset()) if "{" in param.key else param.key


def _parse(param: UrlParam, params: Params) -> Any:
    """Return the value of a parameter, or None if the parameter is missing or invalid."""
    try:
        return param.parse(params[param.name]) if params.get(param.name) else None
    except ValueError:
        return None
