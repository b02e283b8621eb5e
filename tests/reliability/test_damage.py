"""Every kind of stored file is cut short and has single bits flipped: its reader must notice each damage."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recsys import arrays, checkpoints, paths, storage
from recsys.data import datasets, enrich, film_details, prepared, published
from recsys.data.dataset import MOVIE_COLUMNS, PROFILE_COLUMNS, Catalog, Dataset, Interactions
from recsys.data.tags import Tags
from recsys.errors import RecsysError
from recsys.evaluation import evaluate, file_order, protocols, results, studies
from recsys.jobs import queue
from recsys.models import registry
from recsys.models.popular import Popular
from recsys.studies import run, trials
from recsys.text import encoder
from recsys.training.trainer import RunFolder

pytestmark = pytest.mark.filterwarnings("ignore")
NAME = "damaged"  # of the data set
TEXTS_HASH = "0" * 64  # of the texts of the film vectors
RAISES = object()  # the reader must raise an error; it cannot do without the file


@dataclass
class Kind:
    """A kind of stored file: how it is written and read, and the answer of its reader without the file."""

    write: Callable[[], Any]
    read: Callable[[], Any]
    without: Any = RAISES


@dataclass
class Counts:
    """What happened to the damages of one file."""

    raised: int = 0
    ignored: int = 0
    unnoticed: list[str] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)


def world():
    """Return six users who watched eight films, with every optional part of a data set."""
    films = np.arange(8)
    movies = pd.DataFrame({"movie_id": films + 100, "title": [f"Film {film}" for film in films], "genres": "Comedy"})
    movies["year"] = pd.array(films + 1990, dtype="Int64")
    movies["tmdb_id"] = pd.array([pd.NA] * 8, dtype="Int64")
    movies = movies.assign(imdb_id="tt0000001", tags="slow")[list(MOVIE_COLUMNS)]
    item = np.concatenate([np.roll(films, user) for user in range(6)]).astype(np.int32)
    user, time = np.repeat(np.arange(6, dtype=np.int32), 8), 1_000_000_000 + np.arange(48)
    events = Interactions(user, item, np.full(48, 4, np.float32), time)
    catalog = Catalog(movies, movies.iloc[:0], Tags.from_rows([(100, "slow", 7)]))
    profiles = pd.DataFrame([["F", "25-34", "none"]] * 6, columns=list(PROFILE_COLUMNS), dtype="str")
    names = np.array([f"person {user}" for user in range(6)], object)
    return Dataset(NAME, catalog, events, np.arange(6), "file", profiles, names)


def content(dataset):
    """Return everything in a data set as texts."""
    catalog, tables = dataset.catalog, (dataset.catalog.movies, dataset.catalog.infrequent, dataset.user_profiles)
    columns = (catalog.tags.movie, catalog.tags.tag_index, catalog.tags.timestamp, dataset.user_ids, dataset.user_names)
    texts = [dataset.full_fingerprint, *map(str, catalog.tags.texts)]
    return [*texts, *(table.to_csv() for table in tables if table is not None), *(str(np.asarray(c)) for c in columns)]


def array_kind(path):
    def read():
        array = arrays.read(path, "array", TEXTS_HASH)
        return [] if array is None else array.tolist()

    return Kind(lambda: arrays.write(path, "array", np.eye(8, 16, dtype=np.float16), TEXTS_HASH), read, without=[])


def study_document():
    columns = [{"name": "n"}, {"name": "ndcg"}]
    return {"title": "Length", "question": "How long?", "columns": columns, "rows": [[1, 0.25], [2, 0.5]]}


def write_encoder(folder, monkeypatch):
    path = folder / "config.json"
    storage.replace_file(path, b'{"pooling_mode_mean_tokens": true}')
    monkeypatch.setattr(encoder, "FILE_HASHES", {path.name: storage.digest(path, "sha256")})


def write_bundled_archive(home, monkeypatch):
    path = home / f"{datasets.DEFAULT_DATASET}.zip"
    path.write_bytes((published.SHIPPED_ARCHIVES / path.name).read_bytes())
    monkeypatch.setattr(published, "SHIPPED_ARCHIVES", home)


def kinds(home, monkeypatch):
    """Return every kind of stored file by name. Later kinds may need files of earlier ones."""
    dataset, state, trial = world(), RunFolder(home / "training"), trials.Trial("popular")
    monkeypatch.setattr(queue, "start_runner", lambda: None)
    checkpoint = paths.checkpoint(NAME, "leave-one-out", "popular", 0)
    answer = paths.wikidata() / "answer.json"
    popular = Popular(registry.get("popular").preset(NAME)).fit(dataset)
    study = paths.studies(paths.home()) / f"length-{NAME}.json"
    order = {"dataset": NAME, "run": {}, "recommenders": []}
    return {
        "data": Kind(lambda: prepared.save(dataset, {}), lambda: content(prepared.load(NAME))),
        "details": Kind(
            lambda: film_details.write(NAME, {100: {"directors": ["Somebody"], "minutes": 90}}),
            lambda: film_details.read(NAME).fingerprint,
            without="",
        ),
        "film vectors": array_kind(paths.vectors("film", NAME, TEXTS_HASH)),
        "map": array_kind(paths.film_map(home, NAME, "popular")),
        "checkpoint": Kind(
            lambda: checkpoints.save("popular", popular, dataset, 0),
            lambda: checkpoints.load(checkpoint, dataset).state()["counts"].tolist(),
        ),
        "training state": Kind(lambda: state.save({"run": {}, "step": 7}), state.load),
        "result": Kind(
            lambda: evaluate.evaluate("popular", dataset, "full"),
            lambda: (str(results.load(NAME, "full", "popular")), results.ranks(NAME, "full", "popular").tolist()),
        ),
        "trial": Kind(
            lambda: trials.measure(trial, dataset, protocols.FULL),
            lambda: trials.read(trial, dataset, protocols.FULL) is not None,
            without=False,
        ),
        "study": Kind(lambda: run.write("length", NAME, study_document()), lambda: studies.read(study).table.to_csv()),
        "order": Kind(lambda: file_order.write(order), lambda: file_order.read(NAME, str) or {}, without={}),
        "job": Kind(lambda: queue.add("popular", NAME), lambda: queue.jobs()[0].state, without=queue.State.DAMAGED),
        "answer of Wikidata": Kind(
            lambda: storage.replace_file(answer, storage.sign_document({"films": {"tt0000001": {}}})),
            enrich.stored_facts,
            without={},
        ),
        "encoder": Kind(
            lambda: write_encoder(home / "encoder", monkeypatch),
            lambda: encoder.is_intact(home / "encoder"),
            without=False,
        ),
        "bundled archive": Kind(
            lambda: write_bundled_archive(home, monkeypatch),
            lambda: list(datasets.archives(datasets.DEFAULT_DATASET).values()),
            without=[False],
        ),
    }


def damaged(whole, n_cuts, n_flips):
    """Yield damaged versions of a file, each with a description."""
    rng = np.random.default_rng(0)
    for length in rng.integers(len(whole), size=n_cuts).tolist():
        yield f"cut to {length} bytes", whole[:length]
    for bit in rng.integers(8 * len(whole), size=n_flips).tolist():
        altered = bytearray(whole)
        altered[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit} flipped", bytes(altered)


def damage(kind, path, n_cuts, n_flips):
    """Read damaged versions of a file, then restore it."""
    counts, whole, intact = Counts(), path.read_bytes(), kind.read()
    for number, (description, data) in enumerate(damaged(whole, n_cuts, n_flips)):
        path.write_bytes(data)
        os.utime(path, ns=(number, number))  # readers must see another version, however fast this loop is
        try:
            answer = kind.read()
        except RecsysError:
            counts.raised += 1
        except Exception as error:  # noqa: BLE001 - any other error is what the test looks for
            counts.tracebacks.append(f"{description}: {type(error).__name__}: {error}")
        else:
            if kind.without is not RAISES and answer == kind.without:
                counts.ignored += 1
            else:
                counts.unnoticed.append(description)
    path.write_bytes(whole)
    assert kind.read() == intact
    return counts


def files(home):
    return {path for path in home.rglob("*.*") if path.is_file() and path.suffix not in (".lock", ".jsonl")}


@pytest.mark.parametrize(("n_cuts", "n_flips"), [(10, 20), pytest.param(200, 500, marks=pytest.mark.reliability)])
def test_every_damage_is_noticed(tmp_path, monkeypatch, record_property, n_cuts, n_flips):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    n_files = 0
    for name, kind in kinds(tmp_path, monkeypatch).items():
        before = files(tmp_path)
        kind.write()
        written = files(tmp_path) - before
        assert written, name
        for path in sorted(written):
            counts = damage(kind, path, n_cuts, n_flips)
            assert (counts.unnoticed, counts.tracebacks) == ([], []), f"{name}: {path.name}"
            assert counts.raised + counts.ignored == n_cuts + n_flips
            n_files += 1
    record_property("figure", f"{n_files * (n_cuts + n_flips):,} damages of {n_files} files")


def test_a_reader_that_checks_nothing_is_noticed(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 12345678901234567890}')
    counts = damage(Kind(lambda: None, lambda: json.loads(Path(path).read_bytes())), path, 10, 20)
    assert counts.unnoticed
    assert counts.tracebacks
    assert path.read_text() == '{"a": 12345678901234567890}'
