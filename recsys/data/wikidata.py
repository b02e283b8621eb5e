"""Query Wikidata for facts about films by IMDb id. The data of Wikidata is free (CC0).

The client follows the rules of the Wikidata Query Service: one query at a time, a User-Agent, pauses, and Retry-After.
Queries are in SPARQL 1.1, answers in its JSON format (www.w3.org/TR/sparql11-results-json). A page such as
wikidata.org/wiki/Property:P57 describes each property. Answers are not trusted: their size is limited, and invalid rows
are skipped.
"""

import json
import os
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AliasGenerator, AliasPath, BaseModel, ConfigDict, Field, ValidationError

from recsys.data.download import CHUNK_BYTES, DownloadError, network_error_text, pause, stream_with_timeout
from recsys.data.film_details import SEPARATOR
from recsys.errors import Message
from recsys.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    import requests

HOST = "query.wikidata.org"
ADDRESS = f"https://{HOST}/sparql"
USER_AGENT = "NextReel/1.0 (a film recommender on somebody's own computer)"
ANSWER_FORMAT = "application/sparql-results+json"
READ_TIMEOUT_SECONDS = 75.0  # without a byte; the service stops a query after 60 seconds
TIMEOUT_SECONDS = 120.0  # of the whole answer
MAX_BYTES = 32 << 20  # of one answer
MAX_ATTEMPTS = 4  # of a query
PAUSE_SECONDS = 1.0  # before another attempt, doubled with every failure in a row
BUSY_SECONDS = 60.0  # pause if the service is busy and sends no Retry-After
MAX_PAUSE_SECONDS = 300.0  # if Retry-After is longer, the queries end
MAX_CAST = 10  # best-known actors
MAX_NAMES = 40  # of each other property, and titles
MAX_NAME_LENGTH = 200  # characters
JOINERS = "\u200c\u200d"  # invisible characters that Persian and Hindi need
LANGUAGES = (  # of titles, best first: the most frequent languages of the web, and some for each script
    *("en", "uk", "ru", "de", "fr", "es", "it", "pt", "pt-br", "pl", "nl", "cs", "sk", "hu", "ro", "bg", "sr", "hr"),
    *("el", "tr", "sv", "da", "nb", "fi", "lt", "lv", "et", "ca", "ja", "ko", "zh", "zh-hans", "zh-hant", "ar", "he"),
    *("fa", "hi", "bn", "ta", "th", "vi", "id", "ka", "hy", "mul"),
)
NAME_LANGUAGES = ("en", "mul")  # of people, countries and so on, best first; "mul": equal in all languages
PROPERTIES = {"directors": "P57", "cast": "P161", "subjects": "P921", "countries": "P495", "languages": "P364"}
QUERY = """\
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX psn: <http://www.wikidata.org/prop/statement/value-normalized/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?imdb ?film ?fact ?thing ?text ?pages WHERE {{
  VALUES ?imdb {{ {ids} }}
  ?film wdt:P345 ?imdb .
  {{
    {properties}
    ?thing rdfs:label ?text .
    FILTER(LANG(?text) IN ({name_languages}))
    OPTIONAL {{ ?thing wikibase:sitelinks ?pages }}
  }} UNION {{
    ?film p:P2047 ?duration .
    ?duration a wikibase:BestRank ; psn:P2047/wikibase:quantityAmount ?text .
    BIND("seconds" AS ?fact)
  }} UNION {{
    ?film rdfs:label ?text .
    FILTER(LANG(?text) IN ({languages}))
    BIND("titles" AS ?fact)
  }}
}}
"""

Facts = dict[str, Any]  # {"entity": "Q83495", "directors": [names], …, "minutes": 136 or None}; {}: unknown film

_IMDB_ID = re.compile(r"tt\d{1,12}")


class QueryError(Exception):
    """A query that has failed, or whose answer cannot be used."""

    def __init__(self, reason: Message, is_too_large: bool = False, pause_seconds: float | None = None) -> None:
        """Create the error. If `is_too_large`, a query for fewer films may succeed.

        `pause_seconds` is the pause that the service demands before the next query. None: it demands no pause.
        """
        super().__init__(reason)
        self.reason, self.is_too_large, self.pause_seconds = reason, is_too_large, pause_seconds


class AnswerRow(BaseModel):
    """A row of an answer, with the variables of QUERY. A *thing* is a person, a country and so on."""

    # example of a row: {"imdb": {"value": "tt0114709", …}, "text": {"value": "Toy Story", "xml:lang": "en", …}, …}
    model_config = ConfigDict(
        strict=True, alias_generator=AliasGenerator(validation_alias=lambda variable: AliasPath(variable, "value"))
    )

    imdb: str  # IMDb id of the film
    film: str = Field(pattern=r"^https?://www\.wikidata\.org/entity/Q[1-9][0-9]{0,11}$")  # URL of its entity
    fact: Literal["directors", "cast", "subjects", "countries", "languages", "seconds", "titles"]
    thing: str = ""  # URL of the thing; "" for a running time or a title
    text: str = Field(min_length=1)  # name of the thing, seconds or title
    language: str = Field("", validation_alias=AliasPath("text", "xml:lang"))
    pages: str = Field("0", pattern=r"^[0-9]{1,6}$")  # number of Wikipedia pages about the thing, in all languages

    @property
    def entity_number(self) -> int:
        """Number of the film's entity: 83495 for Q83495."""
        return int(self.film.rpartition("/Q")[2])


def is_imdb_id(text: str) -> bool:
    """Return whether a text has the form of an IMDb id."""
    return bool(_IMDB_ID.fullmatch(text))


def build_query(ids: Collection[str]) -> str:
    """Return the SPARQL query for films by their IMDb ids."""
    branches = [f'{{ ?film wdt:{code} ?thing . BIND("{name}" AS ?fact) }}' for name, code in PROPERTIES.items()]
    return QUERY.format(
        ids=_quoted(text for text in ids if is_imdb_id(text)),
        properties=" UNION ".join(branches),
        name_languages=_quoted(NAME_LANGUAGES, ", "),
        languages=_quoted(LANGUAGES, ", "),
    )


def _quoted(texts: Collection[str] | Iterator[str], separator: str = " ") -> str:
    """Return texts in quotation marks, joined by a separator."""
    return separator.join(f'"{text}"' for text in texts)


def user_agent() -> str:
    """Return the User-Agent, with the contact address in $RECSYS_CONTACT if it is set."""
    # a header can only have printable ASCII characters, and a contact address has at most 100
    contact = "".join(letter for letter in os.environ.get("RECSYS_CONTACT", "") if " " <= letter <= "~")[:100]
    return f"{USER_AGENT[:-1]}; {contact})" if contact else USER_AGENT


def fetch_facts(ids: Sequence[str], report: ProgressCallback = no_progress) -> dict[str, Facts]:
    """Return IMDb id → facts. The facts of films that Wikidata does not have are {}.

    A failed query is repeated after a pause. It is divided into two queries if a query for fewer films may succeed.
    `report` receives {"stage": "wait"} during pauses. Raises DownloadError if the service cannot be used now.
    """
    failures = 0
    while True:
        try:
            return send_query(ids, report)
        except QueryError as error:
            pause_seconds = PAUSE_SECONDS * 2**failures if error.pause_seconds is None else error.pause_seconds
            failures += 1
            if failures == MAX_ATTEMPTS or pause_seconds > MAX_PAUSE_SECONDS:
                reason = Message("{host}: {why}", host=HOST, why=error.reason)
                if pause_seconds > MAX_PAUSE_SECONDS:
                    pause_text = Message("it asks for a pause of {wait:.0f} minutes", wait=pause_seconds / 60)
                    reason = Message("{reason}; {pause}", reason=reason, pause=pause_text)
                raise DownloadError(reason, "check the network, or continue later") from error
            pause(pause_seconds, report)
            if error.is_too_large and len(ids) > 1:
                half = len(ids) // 2
                return fetch_facts(ids[:half], report) | fetch_facts(ids[half:], report)


def send_query(ids: Sequence[str], report: ProgressCallback = no_progress) -> dict[str, Facts]:
    """Send one query, and return as `fetch_facts`. Raises QueryError, or DownloadError if no attempt can succeed."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    timeout_message = Message("{host} did not respond in time", host=HOST)
    try:
        with closing(stream_with_timeout(_post(build_query(ids)), report, deadline, timeout_message)) as stream:
            _check_response(next(stream))
            body = b""
            for chunk in stream:
                body += chunk
                if len(body) > MAX_BYTES:
                    raise QueryError(
                        Message("it sends more than {max_bytes:,} bytes", max_bytes=MAX_BYTES), is_too_large=True
                    )
        return parse_answer(json.loads(body), ids)
    except (ValueError, RecursionError) as error:  # the service truncates an answer that takes too long
        raise QueryError(Message("its answer cannot be read"), is_too_large=True) from error


def _post(query: str) -> Iterator[Any]:
    """Yield the response, then its body in chunks. The query is too long for a GET request."""
    import requests

    headers, data = {"Accept": ANSWER_FORMAT, "User-Agent": user_agent()}, {"query": query}
    try:
        with requests.post(ADDRESS, data, headers=headers, stream=True, timeout=READ_TIMEOUT_SECONDS) as response:
            yield response
            yield from response.iter_content(CHUNK_BYTES)
    except requests.RequestException as error:
        is_slow = isinstance(error, requests.exceptions.ReadTimeout | requests.exceptions.ChunkedEncodingError)
        raise QueryError(network_error_text(error), is_too_large=is_slow) from error


def _check_response(response: "requests.Response") -> None:
    """Raise QueryError for a response without an answer, or DownloadError if another attempt cannot succeed."""
    status = response.status_code
    if status in (429, 503):
        raise QueryError(Message("it answered {status}", status=status), pause_seconds=_retry_after(response.headers))
    if status in (500, 502, 504):
        raise QueryError(Message("it answered {status}", status=status), is_too_large=True)
    if status != 200:
        text = "{host} answered {status} {reason}"
        raise DownloadError(text, "try again in a day", host=HOST, status=status, reason=response.reason)
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise DownloadError("{host} answered with a web page", "does this network require a login?", host=HOST)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the pause in seconds that a busy service demands."""
    text = headers.get("Retry-After", "")
    is_number = text.isascii() and text.isdigit() and len(text) < 7  # up to 11 days; the header can also be a date
    return max(1.0, float(text)) if is_number else BUSY_SECONDS


def parse_answer(answer: Any, ids: Collection[str]) -> dict[str, Facts]:
    """Return IMDb id → facts in an answer. The facts of films that it lacks are {}.

    If several entities have the same IMDb id, `_facts` chooses one. Raises ValueError if `answer` is not the answer to
    a SELECT query.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    bindings = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(bindings, list):
        raise ValueError("no SPARQL results")
    rows: dict[str, dict[int, list[AnswerRow]]] = {imdb: {} for imdb in ids}  # IMDb id → number of the entity → rows
    for binding in bindings:
        try:
            row = AnswerRow.model_validate(binding)
        except ValidationError:
            continue
        lacks_thing = row.fact in PROPERTIES and not row.thing
        if row.imdb in rows and not lacks_thing:
            rows[row.imdb].setdefault(row.entity_number, []).append(row)
    return {imdb: _facts(list(entities.values())) for imdb, entities in rows.items()}


def _facts(entities: list[list[AnswerRow]]) -> Facts:
    """Return the facts of the entity with the most rows or, among equals, the lowest number. Without entities: {}.

    `entities` has the rows of each entity.
    """
    if not entities:
        return {}
    rows = max(entities, key=lambda entity: (len(entity), -entity[0].entity_number))
    by_fact: dict[str, list[AnswerRow]] = defaultdict(list)  # a value of `AnswerRow.fact` → rows
    for row in rows:
        by_fact[row.fact].append(row)
    lists = {name: _names(by_fact[name]) for name in PROPERTIES}
    titles = [row for row in by_fact["titles"] if row.language in LANGUAGES]
    ranked_titles = sorted((LANGUAGES.index(row.language), clean_name(row.text)) for row in titles)
    return {
        "entity": f"Q{rows[0].entity_number}",
        **lists,
        "cast": lists["cast"][:MAX_CAST],
        "minutes": _minutes([row.text for row in by_fact["seconds"]]),
        "titles": list(dict.fromkeys(title for _, title in ranked_titles if title))[:MAX_NAMES],
    }


def _names(rows: list[AnswerRow]) -> list[str]:
    """Return the name of each thing in the best of NAME_LANGUAGES that it has, the things with the most pages first."""
    best: dict[str, tuple[int, int, str]] = {}  # thing → (rank of the language, -pages, name)
    for row in rows:
        if row.language in NAME_LANGUAGES and (name := clean_name(row.text)):
            candidate = (NAME_LANGUAGES.index(row.language), -int(row.pages), name)
            best[row.thing] = min(candidate, best.get(row.thing, candidate))
    by_pages = sorted((negative_pages, name) for _, negative_pages, name in best.values())
    return list(dict.fromkeys(name for _, name in by_pages))[:MAX_NAMES]


def _minutes(seconds: list[str]) -> int | None:
    """Return the shortest running time in minutes, because longer times are usually of extended cuts. None: unknown."""
    # times of less than a minute, or of about a week and more, are errors
    numbers = [float(text) for text in seconds if re.fullmatch(r"\+?\d{1,6}(\.\d{1,12})?", text, re.ASCII)]
    return min((round(number / 60) for number in numbers if 60 <= number < 600_000), default=None)


def clean_name(text: str) -> str:
    """Return a name on one line, without invisible characters and without SEPARATOR."""
    text = " ".join(text[: 10 * MAX_NAME_LENGTH].split())  # cut first, to limit the time for a long text
    visible = "".join(letter for letter in text if letter in JOINERS or unicodedata.category(letter)[0] != "C")
    return " ".join(visible.replace(SEPARATOR, "/").split())[:MAX_NAME_LENGTH].strip()
