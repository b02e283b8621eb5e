"""`python -m recsys recommend`, for people and for programs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recsys.cli import options
from recsys.cli.options import conf
from recsys.config import Count, config_class

if TYPE_CHECKING:
    from recsys.data.dataset import Dataset
    from recsys.serving.ratings import Ratings
    from recsys.serving.recommend import Recommendation


@config_class
class Recommend:
    """Print the films to watch after a history. Only the answer goes to stdout."""

    titles: conf.Positional[tuple[str, ...]] = ()  # what was watched, oldest first, such as "Toy Story (1995)"
    history: tuple[
        Path, ...
    ] = ()  # files of Letterboxd, IMDb, Trakt, Netflix, MovieLens or this app, in place of titles
    dataset: str = "ml-latest-sample"  # data set; this one comes with the project
    model: str | None = None  # the recommender, loaded or fitted on first use; none: the best one for the data set
    k: Annotated[Count, conf.arg(aliases=("-k",))] = 10  # how many films
    json: options.Flag = False  # print a JSON list
    keep_seen: options.Flag = False  # films of the history may be recommended again
    user: str | None = None  # a person of the data set, by the id in its ratings file, in place of titles
    all: options.Flag = False  # the lists of everybody in the data set, into the file that --out names
    out: Path | None = None  # .csv or .parquet

    def run(self) -> int:
        """Print the k best films as a table or a JSON list; with `all`, write everybody's into a file."""
        from recsys.data import datasets
        from recsys.progress import Terminal
        from recsys.serving import people, predictor
        from recsys.serving.export import as_record
        from recsys.serving.filters import Filters
        from recsys.serving.recommend import Request, recommend

        self._check()
        filters = Filters(hide_seen=not self.keep_seen)
        with Terminal(self.model or "") as report:
            dataset = datasets.ensure(self.dataset, report)
            model = self.model or predictor.default(dataset.name)
            row = None if self.user is None else people.row_of(dataset, self.user)
            history, rated, notes = self._history(dataset)
            ready = predictor.load(model, dataset, report)
            if self.out:
                people.write(people.everybody(ready, self.k, filters, report), self.out)
        if self.out:
            print(f"{self.out}: the {self.k} films to watch next for each of {dataset.n_users:,} people")
            return 0
        if row is not None:
            request = people.request_of(ready, row, self.k, filters)
        else:
            request = Request(tuple(history), self.k, filters, ratings=rated)
        found = recommend(ready, request)
        for note in notes:
            print(note, file=sys.stderr)
        records = [as_record(one) for one in found]
        print(json.dumps(records, ensure_ascii=False, indent=1) if self.json else table(found))
        return 0

    def _history(self, dataset: "Dataset") -> tuple[list[int], "Ratings", list[str]]:
        """The films that the titles or the files name, the stars for them, and what has to be said about them."""
        from recsys.serving import own_history
        from recsys.serving.films.search import TitleIndex
        from recsys.serving.history import parse_titles

        if self.history:
            given = [(path.name, content(path)) for path in self.history]
            watched, notes = own_history.of_files(dataset, given)
            return [one.film for one in watched], own_history.ratings(watched), notes
        if self.titles:
            found, notes = parse_titles(TitleIndex(dataset.catalog, dataset.counts), self.titles)
            return found, (), notes
        newcomer = "no films given: this is what the model expects of a newcomer"
        return [], (), [newcomer] if self.user is None else []

    def _check(self) -> None:
        """Raises RecsysError where it is not clear whose films to recommend, or where to."""
        from recsys.errors import RecsysError
        from recsys.serving import people

        if bool(self.titles) + bool(self.history) + (self.user is not None) + self.all > 1:
            raise RecsysError("titles, --history, --user and --all exclude each other; name one of them")
        if self.all != (self.out is not None):
            raise RecsysError("--all writes a file, and nothing else does; use both: --all --out lists.csv")
        if self.out:
            people.check(self.out)  # before everybody's lists are made


def content(path: Path) -> bytes:
    """A history file; no more of one that is too large than is needed to see that it is."""
    from recsys.data.history_import.entries import MAX_FILE_BYTES
    from recsys.errors import RecsysError

    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise RecsysError(f"cannot read {path}: {error.strerror}; check the path") from error


def read(arguments: Sequence[str]) -> Recommend:
    """The options of `recommend`."""
    return options.read(Recommend, "recommend", arguments)


def table(found: Sequence["Recommendation"]) -> str:
    """Rank, title, genres, and the probability, or the score where a model has none, in aligned columns."""
    if not found:
        return "no film is left to recommend"
    worth = "score" if found[0].probability is None else "probability"
    rows = [
        ("", "film", "genres", worth),
        *((str(one.rank), one.film.label, one.film.genres.replace("|", ", "), _worth(one)) for one in found),
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{rank:>{widths[0]}}  {film:<{widths[1]}}  {genres:<{widths[2]}}  {worth:>{widths[3]}}"
        for rank, film, genres, worth in rows
    )


def _worth(one: "Recommendation") -> str:
    return f"{one.score:.3f}" if one.probability is None else f"{one.probability:.2%}"
