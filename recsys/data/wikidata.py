"""Questions to Wikidata about films by their IMDb ids, and its answers, taken apart. Its data is free (CC0).

The Query Service is asked as its manual wants it: one question at a time, under our name, with a pause between two, and
where it answers "too many" with the pause that it names. Questions are SPARQL 1.1, answers its JSON results format
(www.w3.org/TR/sparql11-results-json), properties those of wikidata.org/wiki/Property:P57 and so on. Answers are not
trusted: they are bounded, and whatever in them is not as it should be is left out.
"""

import json
import os
import re
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from recsys.data.download import CHUNK_BYTES, POLL_SECONDS, DownloadError, network_error_text, stream_with_timeout
from recsys.data.film_details import BETWEEN
from recsys.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    import requests

ADDRESS = "https://query.wikidata.org/sparql"
NAME = "NextReel/1.0 (a film recommender on somebody's own computer)"  # who asks; `who` adds whom to write to
FORMAT = "application/sparql-results+json"
SILENCE, TIMEOUT = 75.0, 120.0  # seconds without a byte, and for one answer in all; the service itself stops after 60
LARGEST = 32 << 20  # bytes of one answer
ATTEMPTS = 4  # at one question, before it is given up
PAUSE = 1.0  # seconds, doubled with every failure in a row
BUSY = 60.0  # seconds to wait where the service says that it is busy, and not how long
LONGEST_WAIT = 300.0  # seconds that it may demand; for more, somebody should come back later
CAST = 10  # names kept, the best known
MOST = 40  # names kept of anything else
LONGEST = 200  # letters of a name
JOINERS = "\u200c\u200d"  # invisible, and part of how Persian and Hindi are written
LANGUAGES = (  # of the titles: those of most speakers on the web, a few of each script
    *("en", "uk", "ru", "de", "fr", "es", "it", "pt", "pt-br", "pl", "nl", "cs", "sk", "hu", "ro", "bg", "sr", "hr"),
    *("el", "tr", "sv", "da", "nb", "fi", "lt", "lv", "et", "ca", "ja", "ko", "zh", "zh-hans", "zh-hant", "ar", "he"),
    *("fa", "hi", "bn", "ta", "th", "vi", "id", "ka", "hy", "mul"),
)
OF_NAMES = ("en", "mul")  # languages of all other names, best first; "mul": a name that is the same everywhere
THINGS = {"directors": "P57", "cast": "P161", "subjects": "P921", "countries": "P495", "languages": "P364"}
QUESTION = """\
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX psn: <http://www.wikidata.org/prop/statement/value-normalized/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?imdb ?film ?what ?thing ?text ?known WHERE {{
  VALUES ?imdb {{ {ids} }}
  ?film wdt:P345 ?imdb .
  {{
    {things}
    ?thing rdfs:label ?text .
    FILTER(LANG(?text) IN ({of_names}))
    OPTIONAL {{ ?thing wikibase:sitelinks ?known }}
  }} UNION {{
    ?film p:P2047 ?duration .
    ?duration a wikibase:BestRank ; psn:P2047/wikibase:quantityAmount ?text .
    BIND("seconds" AS ?what)
  }} UNION {{
    ?film rdfs:label ?text .
    FILTER(LANG(?text) IN ({languages}))
    BIND("titles" AS ?what)
  }}
}}
"""

Facts = dict[str, Any]  # {"entity": "Q83495", "directors": [names], …, "minutes": 136 or None}; {} for an unknown film

_IMDB = re.compile(r"tt\d{1,12}")
_ENTITY = re.compile(r"https?://www\.wikidata\.org/entity/Q([1-9]\d{0,11})")


class QueryFailed(Exception):
    """A question without an answer: why, whether it asked too much at once, and the pause that was demanded."""

    def __init__(self, reason: str, too_much: bool = False, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.too_much, self.seconds = reason, too_much, seconds


class Row(NamedTuple):
    """One fact of an answer."""

    imdb: str
    film: int  # number of the entity: 83495 for Q83495
    what: str  # a key of THINGS, "seconds" or "titles"
    thing: str  # address of the person, country, …; "" where the fact is a text or a number
    text: str
    language: str
    known: int  # pages about the thing in all of Wikimedia, which tells well-known people from others


def is_id(text: str) -> bool:
    """Whether a text looks like an IMDb id."""
    return bool(_IMDB.fullmatch(text))


def question(ids: Collection[str]) -> str:
    """The SPARQL query for films by their IMDb ids."""
    branches = [f'{{ ?film wdt:{number} ?thing . BIND("{what}" AS ?what) }}' for what, number in THINGS.items()]
    return QUESTION.format(
        ids=_quoted(one for one in ids if is_id(one)),
        things=" UNION ".join(branches),
        of_names=_quoted(OF_NAMES, ", "),
        languages=_quoted(LANGUAGES, ", "),
    )


def _quoted(texts: Collection[str] | Iterator[str], between: str = " ") -> str:
    return between.join(f'"{text}"' for text in texts)


def who() -> str:
    """Who asks, for the log of the service; with $RECSYS_CONTACT, an address that its people can write to."""
    contact = "".join(letter for letter in os.environ.get("RECSYS_CONTACT", "") if " " <= letter <= "~")[:100]
    return f"{NAME[:-1]}; {contact})" if contact else NAME


def facts(
    ids: Sequence[str], report: ProgressCallback = no_progress, sleep: Callable[[float], None] = time.sleep
) -> dict[str, Facts]:
    """What Wikidata knows of each film, {} of one that it has not; waits and asks again where that may help.

    Reports {"stage": "wait"} meanwhile, so that whoever reports to can call it off. Raises DownloadError.
    """
    for failures in range(1, ATTEMPTS + 1):
        try:
            return ask(ids, report)
        except QueryFailed as error:
            wait = PAUSE * 2 ** (failures - 1) if error.seconds is None else error.seconds
            if failures == ATTEMPTS or wait > LONGEST_WAIT:
                later = f"; it asks for a pause of {wait / 60:.0f} minutes" if wait > LONGEST_WAIT else ""
                raise DownloadError(f"{_host()}: {error.reason}{later}", "check the network, or go on later") from error
            pause(wait, report, sleep)
            if error.too_much and len(ids) > 1:
                break
    half = len(ids) // 2
    return facts(ids[:half], report, sleep) | facts(ids[half:], report, sleep)


def pause(seconds: float, report: ProgressCallback, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait, and say so all along."""
    while seconds > 0:
        sleep(min(seconds, POLL_SECONDS))
        report({"stage": "wait"})
        seconds -= POLL_SECONDS


def ask(ids: Sequence[str], report: ProgressCallback = no_progress) -> dict[str, Facts]:
    """Ask once. Raises Unanswered, and DownloadError where asking again would not help."""
    late = time.monotonic() + TIMEOUT
    try:
        with closing(
            stream_with_timeout(_post(question(ids)), report, late, f"{_host()} does not answer in time")
        ) as stream:
            response = next(stream)
            _refuse(response)
            body = b""
            for chunk in stream:
                body += chunk
                if len(body) > LARGEST:
                    raise QueryFailed(f"it sends more than {LARGEST:,} bytes", too_much=True)
        return read(json.loads(body), ids)
    except RecursionError:
        raise QueryFailed("it sends no sense") from None
    except ValueError as error:  # cut off in the middle, which is how the service ends an answer that takes too long
        raise QueryFailed("its answer is damaged", too_much=True) from error


def _post(query: str) -> Iterator[Any]:
    """The response, then its body in chunks. POST, because so long a question fits no address."""
    import requests

    headers = {"Accept": FORMAT, "User-Agent": who()}
    try:
        with requests.post(ADDRESS, data={"query": query}, headers=headers, stream=True, timeout=SILENCE) as response:
            yield response
            yield from response.iter_content(CHUNK_BYTES)
    except requests.RequestException as error:
        slow = isinstance(error, requests.exceptions.ReadTimeout | requests.exceptions.ChunkedEncodingError)
        raise QueryFailed(network_error_text(error), too_much=slow) from error


def _refuse(response: "requests.Response") -> None:
    """Raise Unanswered, or DownloadError where waiting does not help, for whatever is no answer."""
    status = response.status_code
    if status in (429, 503):
        raise QueryFailed(f"it answered {status}", seconds=_demanded(response.headers))
    if status in (500, 502, 504):
        raise QueryFailed(f"it answered {status}", too_much=True)
    if status != 200:
        raise DownloadError(f"{_host()} answered {status} {response.reason}", "try again in a day")
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise DownloadError(f"{_host()} answered with a web page", "does this network ask for a log-in?")


def _demanded(headers: Mapping[str, str]) -> float:
    """The seconds to wait that a busy service names, else a minute."""
    text = headers.get("Retry-After", "")
    return max(1.0, float(text)) if text.isascii() and text.isdigit() and len(text) < 7 else BUSY


def _host() -> str:
    return urlsplit(ADDRESS).hostname or ADDRESS


def read(answer: object, ids: Collection[str]) -> dict[str, Facts]:
    """An answer as facts by IMDb id, for each of `ids`. Raises ValueError for what is no answer to a SELECT.

    Where several entities claim an id, the one of which most is known counts.
    """
    found: dict[str, dict[int, list[Row]]] = {one: {} for one in ids}
    for binding in _bindings(answer):
        row = _row(binding)
        if row and row.imdb in found:
            found[row.imdb].setdefault(row.film, []).append(row)
    return {imdb: _facts(max(films.values(), key=_weight)) if films else {} for imdb, films in found.items()}


def _weight(rows: list[Row]) -> tuple[int, int]:
    """Of several entities the fullest comes first, then the oldest."""
    return len(rows), -rows[0].film


def _bindings(answer: object) -> list[Any]:
    results = answer.get("results") if isinstance(answer, dict) else None
    bindings = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(bindings, list):
        raise ValueError("no SPARQL results")
    return bindings


def _row(binding: object) -> Row | None:
    """One binding; None where it is not as asked for."""
    if not isinstance(binding, dict):
        return None
    imdb, film, what, thing, text, known = (
        _value(binding, name) for name in ("imdb", "film", "what", "thing", "text", "known")
    )
    entity = _ENTITY.fullmatch(film)
    if not (entity and text and (what in ("seconds", "titles") or (what in THINGS and thing))):
        return None
    language = binding["text"].get("xml:lang", "")
    pages = int(known) if known.isascii() and known.isdigit() and len(known) < 7 else 0
    return Row(imdb, int(entity[1]), what, thing, text, language if isinstance(language, str) else "", pages)


def _value(binding: dict[str, Any], name: str) -> str:
    """The text of one variable; "" where it is not bound, or no text."""
    term = binding.get(name)
    value = term.get("value") if isinstance(term, dict) else None
    return value if isinstance(value, str) else ""


def _facts(rows: list[Row]) -> Facts:
    """What an entity says of a film."""
    lists = {what: _names([row for row in rows if row.what == what]) for what in THINGS}
    return {
        "entity": f"Q{rows[0].film}",
        **lists,
        "cast": lists["cast"][:CAST],
        "minutes": _minutes([row.text for row in rows if row.what == "seconds"]),
        "titles": _titles([row for row in rows if row.what == "titles"]),
    }


def _names(rows: list[Row]) -> list[str]:
    """The names of things, each once and in its best language, the best-known thing first."""
    best: dict[str, tuple[int, int, str]] = {}  # thing → (language, pages about it, below 0; name)
    for row in rows:
        if row.language in OF_NAMES and (name := plain(row.text)):
            one = (OF_NAMES.index(row.language), -row.known, name)
            best[row.thing] = min(one, best.get(row.thing, one))
    ordered = sorted(best.values(), key=lambda one: one[1:])
    return list(dict.fromkeys(name for *_, name in ordered))[:MOST]


def _titles(rows: list[Row]) -> list[str]:
    """Titles in the order of LANGUAGES, each once."""
    known = [(LANGUAGES.index(row.language), plain(row.text)) for row in rows if row.language in LANGUAGES]
    return list(dict.fromkeys(title for _, title in sorted(known) if title))[:MOST]


def _minutes(seconds: list[str]) -> int | None:
    """The shortest running time, which is that of the cinemas where longer cuts are known too; None without one."""
    numbers = [float(text) for text in seconds if re.fullmatch(r"\+?\d{1,6}(\.\d{1,12})?", text, re.ASCII)]
    return min((round(number / 60) for number in numbers if 60 <= number < 600_000), default=None)


def plain(text: str) -> str:
    """A name on one line, without invisible signs and without the one that stands between names."""
    text = " ".join(text[: 10 * LONGEST].split())  # so that no text takes long
    visible = "".join(letter for letter in text if letter in JOINERS or _is_seen(letter))
    return " ".join(visible.replace(BETWEEN, "/").split())[:LONGEST].strip()


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter)[0] != "C"
