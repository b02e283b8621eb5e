"""The command `recommend`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recsys import DEFAULT_DATASET
from recsys.cli.options import command, conf
from recsys.config import Count
from recsys.errors import RecsysError, os_error_reason

if TYPE_CHECKING:
    from recsys.serving.recommend import Recommendation


@command("recommend")
def recommend(
    titles: conf.Positional[tuple[str, ...]] = (),
    in_order: bool = False,
    history: tuple[Path, ...] = (),
    dataset: str = DEFAULT_DATASET,
    model: str | None = None,
    k: Annotated[Count, conf.arg(aliases=("-k",))] = 10,
    as_json: Annotated[bool, conf.arg(name="json")] = False,
    keep_seen: bool = False,
    user: str | None = None,
    all_users: Annotated[bool, conf.arg(name="all")] = False,
    out: Path | None = None,
) -> None:
    """Print recommendations for favourites or a history. Only the films are printed to stdout.

    Args:
        titles: Favourites in no order: "Toy Story (1995)".
        in_order: The titles are the watched films, oldest first. Only pool and pool-favourites treat both differently.
        history: History files of Letterboxd, IMDb, Trakt, Netflix, MovieLens or this app, instead of titles.
        dataset: A data set. The default comes with the project.
        model: A recommender, which is fitted on first use if necessary. None: the default of the data set.
        k: Number of films.
        as_json: Print a JSON list.
        keep_seen: Also recommend films of the history.
        user: A user of the data set, by the id in its ratings file, instead of titles.
        all_users: Write the lists of all users of the data set into a file.
        out: The file for --all: .csv or .parquet.
    """
    from recsys.data import datasets
    from recsys.progress import TerminalProgress
    from recsys.serving import history_review, predictor, users
    from recsys.serving.export import as_record
    from recsys.serving.filters import Filters
    from recsys.serving.history import parse_titles
    from recsys.serving.recommend import Request
    from recsys.serving.recommend import recommend as best_films
    from recsys.serving.search.search import TitleIndex

    if bool(titles) + bool(history) + (user is not None) + all_users > 1:
        raise RecsysError("titles, --history, --user and --all exclude each other; use only one of them")
    if all_users != (out is not None):
        raise RecsysError("--all and --out need each other; use both: --all --out lists.csv")
    if out:
        users.check_format(out)  # before the long computation
    filters = Filters(hide_seen=not keep_seen)
    with TerminalProgress(title=model or "") as report:
        data = datasets.ensure(dataset, report)
        model = model or predictor.default_name(data.name)
        user_row = None if user is None else users.user_row(data, user)
        films: list[int] = []
        ratings: tuple[tuple[int, float], ...] = ()
        notes: list[str] = []  # about the history, for the user
        if history:
            watched, notes = history_review.import_files(data, [(path.name, read_history(path)) for path in history])
            films, ratings = [film.number for film in watched], history_review.watched_ratings(watched)
        elif titles:
            films, notes = parse_titles(TitleIndex(data.catalog, data.counts), titles)
        elif user_row is None:
            notes = [f"no {data.noun}s given, so these are the recommendations for a new user"]
        loaded_predictor = predictor.load(model, data, report)
        if titles and not in_order:
            loaded_predictor = predictor.for_unordered_list(loaded_predictor)
        if out:
            lists = users.recommend_for_users(loaded_predictor, k, filters, report)
            try:
                users.write_table(lists, out)
            except OSError as error:
                text = "cannot write {path}: {reason}; choose another file for --out"
                raise RecsysError(text, path=out, reason=os_error_reason(error)) from error
            print(f"{out}: {k} recommendations for each of {data.n_users:,} users")
            return
    request = Request(tuple(films), k, filters, ratings=ratings)
    if user_row is not None:
        request = users.user_request(loaded_predictor, user_row, k, filters)
    recommendations = best_films(loaded_predictor, request)
    for note in notes:
        print(note, file=sys.stderr)
    records = [as_record(recommendation) for recommendation in recommendations]
    print(json.dumps(records, ensure_ascii=False, indent=1) if as_json else format_table(recommendations, data.noun))


def read_history(path: Path) -> bytes:
    """Return the content of a history file.

    A file that is too large is read up to one byte above the limit, so that the import rejects it.
    """
    from recsys.data.dataset import read_errors
    from recsys.data.history_import.entries import MAX_FILE_BYTES

    with read_errors(path), path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def format_table(recommendations: Sequence["Recommendation"], noun: str = "film") -> str:
    """Return a text table with rank, title, genres, and the probability or, if the model has none, the score."""
    if not recommendations:
        return f"no {noun} is left to recommend"
    rows = [("", noun, "genres", "score" if recommendations[0].probability is None else "probability")]
    for row in recommendations:
        value = f"{row.score:.3f}" if row.probability is None else f"{row.probability:.2%}"
        rows.append((str(row.rank), row.film.label, row.film.genres.replace("|", ", "), value))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{rank:>{widths[0]}}  {title:<{widths[1]}}  {genres:<{widths[2]}}  {value:>{widths[3]}}"
        for rank, title, genres, value in rows
    )
