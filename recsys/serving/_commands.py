"""`python -m recsys recommend`, for people and for programs."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from recsys import store
from recsys.data import movielens
from recsys.data.schema import DataError, Film
from recsys.serving.history import parse_titles
from recsys.serving.recommend import Recommendation, ServingError, recommend
from recsys.serving.search import TitleIndex


def recommend_command(
    dataset_name: str, variant: str, titles: Sequence[str], k: int = 10, as_json: bool = False, hide_seen: bool = True
) -> int:
    """Print the k films to watch after `titles`, oldest first, as a table or a JSON list; returns the exit code.

    Only the answer goes to stdout. Whatever cannot be answered is one line on stderr and exit code 1.
    """
    try:
        dataset = movielens.ensure(dataset_name, _Stages())
        history, notes = parse_titles(TitleIndex(dataset.catalog, dataset.counts), titles)
        model = store.ready(variant, dataset, report=_Stages())
        films = recommend(dataset, model, history, k, hide_seen)
    except (DataError, store.StoreError, ServingError, LookupError) as error:  # UnknownTitle is a LookupError
        print(error, file=sys.stderr)
        return 1
    if not history:
        notes = ["no films given: this is what the model expects of a newcomer"]
    for note in notes:
        print(note, file=sys.stderr)
    print(_json(films) if as_json else _table(films))
    return 0


class _Stages:
    """Says once what is being waited for."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, event: dict[str, Any]) -> None:
        stage = event.get("stage", "fit")
        text = {"download": f"fetching from {event.get('from')} …", "note": event.get("text", ""), "parse": "reading …"}
        said = str(text.get(stage, "fitting the model, on first use only …"))
        if said != self._said:
            print(said, file=sys.stderr)
        self._said = said


def _json(films: list[Recommendation]) -> str:
    return json.dumps([asdict(film) for film in films], ensure_ascii=False, indent=1)


def _table(films: list[Recommendation]) -> str:
    """Rank, title, genres, and the probability, or the score where a model has none, in aligned columns."""
    if not films:
        return "no film is left to recommend"
    worth = "score" if films[0].probability is None else "probability"
    rows = [
        ("", "film", "genres", worth),
        *((str(f.rank), _label(f), f.genres.replace("|", ", "), _worth(f)) for f in films),
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{rank:>{widths[0]}}  {film:<{widths[1]}}  {genres:<{widths[2]}}  {worth:>{widths[3]}}"
        for rank, film, genres, worth in rows
    )


def _label(film: Recommendation) -> str:
    return Film(film.movie_id, film.title, film.year, film.genres).label


def _worth(film: Recommendation) -> str:
    return f"{film.score:.3f}" if film.probability is None else f"{film.probability:.2%}"
