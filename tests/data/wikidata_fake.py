"""A Wikidata Query Service on this machine.

No test has ever spoken to Wikidata itself. The answers are written after what is documented: the SPARQL 1.1 Query
Results JSON Format (www.w3.org/TR/sparql11-results-json) and the RDF dump format of Wikibase.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

import pytest

from recsys.data import wikidata
from tests.data.server import Server, serving

ENTITY = "http://www.wikidata.org/entity/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


def literal(text: str, language: str = "", datatype: str = "") -> dict[str, str]:
    """A term of the format."""
    more = {"xml:lang": language} if language else {"datatype": datatype} if datatype else {}
    return {"type": "literal", "value": text, **more}


def uri(entity: str) -> dict[str, str]:
    return {"type": "uri", "value": f"{ENTITY}{entity}"}


def thing(imdb: str, film: str, what: str, entity: str, name: str, known: int | None = 1, language: str = "en") -> Any:
    """A binding that says who or what belongs to a film."""
    row = {"imdb": literal(imdb), "film": uri(film), "fact": literal(what), "thing": uri(entity)}
    row["text"] = literal(name, language)
    return row if known is None else row | {"pages": literal(str(known), datatype=INTEGER)}


def title(imdb: str, film: str, text: str, language: str) -> Any:
    """A binding that says what a film is called in a language."""
    return {
        "imdb": literal(imdb),
        "film": uri(film),
        "fact": literal("titles"),
        "text": literal(text, language),
    }


def seconds(imdb: str, film: str, amount: str) -> Any:
    """A binding that says how long a film is."""
    text = literal(amount, datatype=DECIMAL)
    return {"imdb": literal(imdb), "film": uri(film), "fact": literal("seconds"), "text": text}


def results(*bindings: Any) -> dict[str, Any]:
    """An answer to a SELECT."""
    names = ["imdb", "film", "fact", "thing", "text", "pages"]
    return {"head": {"vars": names}, "results": {"bindings": list(bindings)}}


MATRIX, PULP = "tt0133093", "tt0110912"
ROWS = [
    thing(MATRIX, "Q83495", "directors", "Q9544977", "Lana Wachowski", 60),
    thing(MATRIX, "Q83495", "directors", "Q9545711", "Lilly Wachowski", 55, "mul"),
    thing(MATRIX, "Q83495", "cast", "Q193048", "Laurence Fishburne", 70),
    thing(MATRIX, "Q83495", "cast", "Q43416", "Keanu Reeves", 110),
    thing(MATRIX, "Q83495", "cast", "Q43416", "Keanu Charles Reeves", 110, "mul"),
    thing(MATRIX, "Q83495", "subjects", "Q11660", "artificial intelligence", 150),
    thing(MATRIX, "Q83495", "countries", "Q30", "United States", 300),
    thing(MATRIX, "Q83495", "languages", "Q1860", "English", 300),
    seconds(MATRIX, "Q83495", "8160"),
    title(MATRIX, "Q83495", "The Matrix", "en"),
    title(MATRIX, "Q83495", "Матриця", "uk"),
    title(MATRIX, "Q83495", "黑客帝国", "zh"),
    thing(PULP, "Q104123", "directors", "Q3772", "Quentin Tarantino", 140),
    thing(PULP, "Q104123", "cast", "Q80938", "John Travolta", 90),
    thing(PULP, "Q104123", "cast", "Q3772", "Quentin Tarantino", 140),
    seconds(PULP, "Q104123", "9240"),
    title(PULP, "Q104123", "Кримінальне чтиво", "uk"),
]
OF_MATRIX = {
    "entity": "Q83495",
    "directors": ["Lana Wachowski", "Lilly Wachowski"],
    "cast": ["Keanu Reeves", "Laurence Fishburne"],
    "subjects": ["artificial intelligence"],
    "countries": ["United States"],
    "languages": ["English"],
    "minutes": 136,
    "titles": ["The Matrix", "Матриця", "黑客帝国"],
}


class Service:
    """What the server was asked, and what it knows."""

    def __init__(self, server: Server) -> None:
        self.server, self.rows, self.asked = server, list(ROWS), []  # asked: the IMDb ids of each question
        self.behave, server.behave = server.behave, self.answer  # type: ignore[method-assign]

    def answer(self, request: Any, stop_after: int | None = None) -> None:
        """The rows of the films that are asked for."""
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        [question] = parse_qs(body)["query"]
        ids = re.findall(r'"(tt\d+)"', question)
        self.asked.append(ids)
        rows = [row for row in self.rows if row["imdb"]["value"] in ids]
        self.server.content = json.dumps(results(*rows)).encode()
        self.behave(request, stop_after)

    def says(self, content: bytes, kind: str = wikidata.ANSWER_FORMAT, status: int = 200, **headers: str) -> Any:
        """A trick: this instead of an answer."""

        def trick(request: Any) -> None:
            request.rfile.read(int(request.headers["Content-Length"]))
            request.send_response(status)
            request.send_header("Content-Type", kind)
            request.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                request.send_header(name.replace("_", "-"), value)
            request.end_headers()
            request.wfile.write(content)

        return trick


@contextmanager
def asking() -> Iterator[Service]:
    """A service that `recsys.data.wikidata` asks for the time of a test."""
    with serving(b"") as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikidata, "HOST", "127.0.0.1")
        patch.setattr(wikidata, "ADDRESS", server.address.replace("file.zip", "sparql"))
        yield Service(server)
