"""What becomes of damaged files: every kind of file that is read is cut short and has single bits flipped.

    python -m benchmarks.reliability.damage --truncations 200 --flips 500

Whoever reads the file has to raise one of our errors, or do without it as if it were not there (or compute it again).
All of it happens in a home of its own, which is deleted afterwards.
"""

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from recsys import arrays, checkpoints, paths, storage
from recsys.data import datasets, enrich, film_details, prepared, published
from recsys.data.dataset import MOVIE_COLUMNS, PEOPLE_COLUMNS, Catalog, Dataset, Interactions
from recsys.data.tags import Tags
from recsys.errors import RecsysError
from recsys.evaluation import evaluate, protocols, results, studies, ties
from recsys.jobs import queue
from recsys.models import registry
from recsys.models.popular import Popular
from recsys.studies import trials
from recsys.text import encoder
from recsys.training.trainer import RunFolder

NAME = "damaged"  # the set that is damaged
TEXTS = "0" * 64  # what the vectors were made of


@dataclass(frozen=True)
class Kind:
    """A file, and what is done with it."""

    name: str
    path: Path
    read: Callable[[], Any]  # equal answers for equal content
    without: Any = None  # its answer where it does without the file; None: it has to raise


@dataclass
class Outcome:
    """What became of the damage to a file."""

    name: str
    trials: int = 0
    typed: int = 0  # one of our errors
    done_without: int = 0  # as if the file were not there, or computed again
    silent: list[str] = field(default_factory=list)  # how it was damaged where nothing was noticed
    tracebacks: list[str] = field(default_factory=list)  # errors that are not ours

    @property
    def holds(self) -> bool:
        """Whether all damage was noticed, and none ended in a traceback."""
        return not self.silent and not self.tracebacks


def measure(truncations: int, flips: int, seed: int = 0) -> list[Outcome]:
    """Damage each kind of file so many times; the same seed damages the same bits."""
    with tempfile.TemporaryDirectory(prefix="nextreel-damage-") as home, ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, RECSYS_HOME=home))
        stack.enter_context(warnings.catch_warnings(action="ignore"))
        return [_try(kind, truncations, flips, np.random.default_rng(seed)) for kind in _kinds(Path(home), stack)]


def _try(kind: Kind, truncations: int, flips: int, rng: np.random.Generator) -> Outcome:
    """Damage one file again and again; in the end it is whole."""
    outcome, whole, sound = Outcome(kind.name), kind.path.read_bytes(), kind.read()
    for number, (how, data) in enumerate(_damaged(whole, truncations, flips, rng)):
        kind.path.write_bytes(data)
        os.utime(kind.path, ns=(number, number))  # another version, however fast this goes
        outcome.trials += 1
        try:
            found = kind.read()
        except RecsysError:
            outcome.typed += 1
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            outcome.tracebacks.append(f"{how}: {type(error).__name__}: {error}")
        else:
            if kind.without is not None and found == kind.without:
                outcome.done_without += 1
            else:
                outcome.silent.append(f"{how}: {'the same' if found == sound else 'another'} answer")
    kind.path.write_bytes(whole)
    assert kind.read() == sound, f"{kind.name} is not read as before"
    return outcome


def _damaged(whole: bytes, truncations: int, flips: int, rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    for length in rng.integers(len(whole), size=truncations).tolist():
        yield f"cut to {length} bytes", whole[:length]
    for bit in rng.integers(8 * len(whole), size=flips).tolist():
        altered = bytearray(whole)
        altered[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit} flipped", bytes(altered)


def _kinds(home: Path, stack: ExitStack) -> Iterator[Kind]:
    """Every kind of file that is read, in a home that is furnished with them."""
    world = _world()
    prepared.save(world, {})
    for path in sorted(paths.prepared(NAME).rglob("*.*")):
        yield Kind(f"data/{path.name}", path, lambda: _content(prepared.load(NAME)))
    film_details.write(NAME, {100: {"directors": ["Somebody"], "minutes": 90}})
    for path in _files(paths.details(NAME)):
        yield Kind(f"details/{path.name}", path, lambda: film_details.read(NAME).fingerprint, without="")
    yield from _computed(world, home)
    folder = checkpoints.save("popular", Popular(registry.get("popular").preset(NAME)).fit(world), world, 0)
    for path in _files(folder / checkpoints.META):
        yield Kind(f"checkpoints/{path.name}", path, lambda: checkpoints.load(folder, world).state()["counts"].tolist())
    RunFolder(folder).save({"run": {}, "step": 7})
    yield Kind("checkpoints/resume.pt", folder / RunFolder.STATE, lambda: RunFolder(folder).load())
    yield from _measured(world)
    yield _job()
    answer = paths.wikidata() / "answer.json"
    storage.replace_file(answer, storage.sign_document({"films": {"tt0000001": {}}}))
    yield Kind("wikidata/answer.json", answer, enrich.stored_answers, without={})
    yield _encoder(home, stack)
    yield _archive(home, stack)


def _world() -> Dataset:
    """Eight films, six people who watched them in another order each, with all that a set can have."""
    films = np.arange(8)
    movies = pd.DataFrame({"movie_id": films + 100, "title": [f"Film {film}" for film in films], "genres": "Comedy"})
    movies["year"] = pd.array(films + 1990, dtype="Int64")
    movies["tmdb_id"] = pd.array([pd.NA] * 8, dtype="Int64")
    movies = movies.assign(imdb_id="tt0000001", tags="slow")[list(MOVIE_COLUMNS)]
    item = np.concatenate([np.roll(films, user) for user in range(6)]).astype(np.int32)
    user, time = np.repeat(np.arange(6, dtype=np.int32), 8), 1_000_000_000 + np.arange(48)
    events = Interactions(user, item, np.full(48, 4, np.float32), time)
    catalog = Catalog(movies, movies.iloc[:0], Tags.from_rows([(100, "slow", 7)]))
    people = pd.DataFrame([["F", "25-34", "none"]] * 6, columns=list(PEOPLE_COLUMNS), dtype="str")
    names = np.array([f"person {user}" for user in range(6)], object)
    return Dataset(NAME, catalog, events, np.arange(6), "file", people, names)


def _content(dataset: Dataset) -> list[str]:
    """All that is in a set."""
    catalog, tables = dataset.catalog, (dataset.catalog.movies, dataset.catalog.infrequent, dataset.user_profiles)
    columns = (catalog.tags.movie, catalog.tags.word, catalog.tags.timestamp, dataset.user_ids, dataset.user_names)
    said = [dataset.full_fingerprint, *map(str, catalog.tags.words)]
    return [*said, *(table.to_csv() for table in tables if table is not None), *(str(np.asarray(c)) for c in columns)]


def _computed(world: Dataset, home: Path) -> Iterator[Kind]:
    """Vectors and maps, which are computed again where they cannot be read."""
    for path in (paths.film_vectors(NAME, TEXTS), paths.film_map(home, NAME, "popular")):
        arrays.write(path, "array", np.eye(8, 16, dtype=np.float16), TEXTS)
        for each in _files(path):
            name = str(each.relative_to(home).with_stem("x"))
            yield Kind(name, each, lambda path=path: _list(arrays.read(path, "array", TEXTS)), without=[])


def _list(array: np.ndarray | None) -> list[Any]:
    return [] if array is None else array.tolist()


def _measured(world: Dataset) -> Iterator[Kind]:
    """Results, what one training of a study left, studies, and what is told of the order within a second."""
    evaluate.evaluate("popular", world, "full")
    path = paths.results(paths.home(), NAME, "full") / "popular.json"
    yield Kind("results/x.json", path, lambda: str(results.load(NAME, "full", "popular")))
    yield Kind("results/x.npz", _files(path)[1], lambda: results.ranks(NAME, "full", "popular").tolist())
    trial = trials.Trial("popular")
    trials.measure(trial, world, protocols.FULL)
    file = trial.folder(NAME, "full") / trials.FILE
    yield Kind("trials/trial.json", file, lambda: bool(trials.read(trial, world, protocols.FULL)), without=False)
    study = paths.studies(paths.home()) / f"length-{NAME}.json"
    table = {"columns": [{"name": "n"}, {"name": "ndcg"}], "rows": [[1, 0.25], [2, 0.5]]}
    storage.replace_file(study, storage.sign_document({"title": "Length", "question": "How long?", **table}))
    yield Kind("results/studies/x.json", study, lambda: studies.read(study).table.to_csv())
    order = paths.ties(paths.home(), NAME)
    storage.replace_file(order, storage.sign_document(dict.fromkeys(ties.FIELDS, 1) | {"run": {}}))
    yield Kind("results/ties/x.json", order, lambda: ties.read(NAME, str) or {}, without={})


def _job() -> Kind:
    job = queue.Job("20260101-000000", "popular", NAME, state=queue.State.DONE)
    path = job.folder / queue.FILE
    storage.replace_file(path, storage.sign_document(vars(job) | {"changes": {}}))
    return Kind("jobs/job.json", path, lambda: queue.jobs()[0].state, without=queue.State.DAMAGED)


def _encoder(home: Path, stack: ExitStack) -> Kind:
    """A file beside the encoder's weights; whether it is whole is asked before it is used."""
    path = home / "encoder" / "config.json"
    storage.replace_file(path, b'{"pooling_mode_mean_tokens": true}')
    stack.enter_context(mock.patch.dict(encoder.FILE_HASHES, {path.name: storage.digest(path, "sha256")}, clear=True))
    return Kind("encoder/config.json", path, lambda: encoder.is_intact(path.parent), without=False)


def _archive(home: Path, stack: ExitStack) -> Kind:
    """The archive that comes with the project; it is read where the first set is not prepared yet."""
    path = home / f"{datasets.DEFAULT_DATASET}.zip"
    path.write_bytes((published.BUNDLED / path.name).read_bytes())
    stack.enter_context(mock.patch.object(published, "BUNDLED", home))
    return Kind("assets/data/x.zip", path, lambda: datasets.archives(datasets.DEFAULT_DATASET)[path], without=False)


def _files(document: Path) -> list[Path]:
    """A document and its payloads."""
    return [document, *(document.with_name(name) for name in storage.read_document(document)["files"])]


def main() -> None:
    """Damage, and print a line for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--truncations", type=int, default=200)
    parser.add_argument("--flips", type=int, default=500)
    options = parser.parse_args()
    found = measure(options.truncations, options.flips)
    print(f"{'file':<36}{'trials':>7}{'typed':>7}{'without':>9}{'silent':>8}{'tracebacks':>12}")
    for one in found:
        counts = f"{one.trials:>7}{one.typed:>7}{one.done_without:>9}{len(one.silent):>8}{len(one.tracebacks):>12}"
        print(f"{one.name:<36}{counts}")
        print("".join(f"  {line}\n" for line in [*one.silent, *one.tracebacks][:3]), end="")
    raise SystemExit(not all(one.holds for one in found))


if __name__ == "__main__":
    main()
