"""Artifacts are whole while two processes write them, and nothing that the app reads is run."""

import gzip
import io
import json
import shutil
import stat
import subprocess
import sys
import time
import warnings
import zipfile
from contextlib import suppress

import pytest

from recsys import checkpoints, paths, storage
from recsys.checkpoints import META, WEIGHTS
from recsys.data import datasets, film_details, movielens_files, own_data, prepared, tables
from recsys.data.history_import.read import read as read_history
from recsys.errors import RecsysError
from recsys.evaluation import results
from recsys.models import registry
from recsys.serving import predictor
from recsys.text import films
from recsys.training.trainer import RunFolder
from tests.artifacts import without_hashes
from tests.test_storage import read_number, start_writer

NAME = datasets.DEFAULT_DATASET
WRITING_SECONDS = 60
TEXTS_HASH = "0" * 64  # of the texts of the film vectors
DIARY = b"Date,Name,Year,Letterboxd URI\n2020-01-01,Heat,1995,https://boxd.it/f1\n"
PATHS = ["../out.csv", "/out.csv", "C:\\out.csv", "..\\out.csv", "a/../../out.csv", "ratings.csv/../../../out.csv"]
PLAIN_FORMATS = {
    *(".json", ".jsonl", ".safetensors", ".npz", ".zip", ".csv", ".md", ".po"),
    *(".png", ".svg", ".webp", ".css", ".js"),
}
LOAD_EVERYTHING = """
import sys, tempfile
from pathlib import Path
classes = []
sys.addaudithook(lambda event, args: classes.append(args) if event == "pickle.find_class" else None)
import torch
from recsys.data import datasets
from recsys.evaluation import results
from recsys.serving import predictor
from recsys.serving import themes
from recsys.serving.insight import tsne
from recsys.text import films
from recsys.training.trainer import RunFolder
name = datasets.DEFAULT_DATASET
dataset = datasets.ensure(name)
loaded = [datasets.get(name), datasets.load(name), themes.open_index(dataset)]
loaded.append(films.stored_film_vectors(name, dataset.catalog))
for variant in predictor.all_recommenders():
    if not predictor.is_ready(variant.name, name):
        continue
    ready = predictor.load(variant.name, dataset)
    loaded += [ready, tsne.load_points(ready)]
for protocol in {protocol for data, protocol in results.available() if data == name}:
    for document in results.documents(name, protocol, warn=lambda _: None):
        loaded.append(results.ranks(name, protocol, document["variant"]))
folder = RunFolder(Path(tempfile.mkdtemp()))
folder.save({"run": {"a": 1}, "weights": {"w": torch.zeros(3)}})
loaded.append(folder.load())
print(sum(artifact is not None for artifact in loaded), len(classes))
"""


def zipped(*members):
    """Return an archive of (name, content) pairs, in which a name may occur twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings(action="ignore"):
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def link_to(target):
    """Return an archive with a symbolic link."""
    link = zipfile.ZipInfo("out.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped((link, target))


def read_set_archive(folder, data):
    """Read an archive as that of a MovieLens set."""
    path = folder / "archive.zip"
    path.write_bytes(data)
    try:
        with movielens_files.open_archive(path, "ml-latest") as archive:
            return movielens_files.parse_csv(archive)
    finally:
        path.unlink()


def pickle_that_touches(canary):
    """Return a pickle that creates a file when it is loaded: protocol 0 of `os.system("touch …")`."""
    return f"cos\nsystem\n(S'touch {canary}'\ntR.".encode()


def array_of_objects(data):
    """Return a .npy file whose header announces Python objects, with a pickle as its content."""
    head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    head += b" " * (64 - (len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def traps(folder, data):
    """Put a file in each place where the app looks for its own, with valid hashes. Yield the place and its reader."""
    dataset = datasets.load(NAME)
    for upload in ("a.csv", "a.json", "a.zip", "a.parquet", "a.npy"):
        yield f"history {upload}", lambda upload=upload: read_history(upload, data)
    yield "own data", lambda: own_data.check(tables.parse("a.csv", data))
    yield "archive of a set", lambda: read_set_archive(folder, data)
    popular = registry.get("popular").model().fit(dataset)
    replace_payload(checkpoints.save("popular", popular, dataset, 0) / META, WEIGHTS, data)
    yield "checkpoint", lambda: predictor.load("popular", dataset)
    storage.replace_file(folder / "run" / RunFolder.STATE, data)
    yield "training state", lambda: RunFolder(folder / "run").load()
    vectors = paths.vectors("film", NAME, TEXTS_HASH)
    storage.write_document(vectors, {"made_of": TEXTS_HASH}, {f"{vectors.stem}.safetensors": data})
    yield "film vectors", lambda: films.read_vectors("film", NAME, TEXTS_HASH)
    shipped = without_hashes(paths.results(paths.ASSETS, NAME, "full"))
    board = paths.results(paths.home(), NAME, "full")
    storage.write_document(board, shipped, {"full.npz": data})
    yield "ranks", lambda: results.ranks(NAME, "full", "popular")
    shutil.rmtree(board.parent)
    storage.write_document(paths.details(NAME), {"dataset": NAME}, {"films.csv": data})
    yield "film details", lambda: film_details.read(NAME)
    shutil.rmtree(paths.details(NAME).parent)
    intact = replace_payload(paths.prepared(NAME) / prepared.ABOUT, "item.npy", data)
    yield "prepared array", lambda: datasets.load(NAME)
    replace_payload(paths.prepared(NAME) / prepared.ABOUT, "item.npy", intact)


def replace_payload(document, name, data):
    """Write an artifact again with another payload and valid hashes. Return the old payload."""
    payloads = storage.read_artifact(document, lambda _, files: {n: path.read_bytes() for n, path in files.items()})
    storage.write_document(document, without_hashes(document), payloads | {name: data})
    return payloads[name]


@pytest.mark.slow
def test_reading_every_artifact_unpickles_nothing(sample_home, record_property):
    command = [sys.executable, "-c", LOAD_EVERYTHING]  # a process, because an audit hook cannot be removed
    process = subprocess.run(command, cwd=paths.REPOSITORY, capture_output=True, text=True, check=True)
    loaded, unpickled_classes = map(int, process.stdout.splitlines()[-1].split())
    record_property("figure", f"{loaded} artifacts")
    assert loaded > 20
    assert unpickled_classes == 0


@pytest.mark.filterwarnings("ignore")
def test_no_malicious_artifact_runs(sample_home, tmp_path, monkeypatch, record_property):
    shutil.copytree(sample_home / "data", tmp_path / "home" / "data")
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    canary = tmp_path / "canary"
    evil = pickle_that_touches(canary)
    unsafe = "import pickle, sys; pickle.loads(sys.stdin.buffer.read())"
    subprocess.run([sys.executable, "-c", unsafe], input=evil, check=True)
    assert canary.exists()  # the payload works
    canary.unlink()
    files = {
        "pickle": evil,
        "gzip": gzip.compress(evil),
        "npy": array_of_objects(evil),
        "npz": zipped(("ranks.npy", array_of_objects(evil))),
        "torch": zipped(("archive/data.pkl", evil), ("archive/version", "3\n"), ("archive/byteorder", "little")),
    }
    count = 0
    for kind, data in files.items():
        for place, read in traps(tmp_path, data):
            with suppress(RecsysError):
                read()
            assert not canary.exists(), f"{kind} as {place}"
            count += 1
    record_property("figure", f"{count} malicious files")


@pytest.mark.parametrize(
    "data",
    [
        *(zipped((name, DIARY)) for name in PATHS),
        link_to("/etc/passwd"),
        zipped(("diary.csv", DIARY), ("diary.csv", b"")),
        zipped(("diary.csv", DIARY), ("DIARY.csv", b"")),
    ],
    ids=[*PATHS, "link", "duplicate", "case"],
)
def test_names_in_archives_write_nothing(tmp_path, monkeypatch, data):
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for read in (lambda: read_history("a.zip", data), lambda: read_set_archive(folder, data)):
        with suppress(RecsysError):
            read()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_shipped_files_have_plain_formats_and_their_hashes(record_property):
    shipped = [path for path in paths.ASSETS.rglob("*") if path.is_file()]
    assert {path.suffix for path in shipped if path.name != "SHA256SUMS"} <= PLAIN_FORMATS
    named = {}
    for path in (path for path in shipped if path.suffix == ".json"):
        content = json.loads(path.read_bytes())
        files = content.get("files", {}) if isinstance(content, dict) else {}
        named |= {(path.parent / name).resolve(): digest for name, digest in files.items()}
    payloads = [path for path in shipped if path.suffix in (".npz", ".safetensors")]
    assert {path.resolve(): storage.digest(path, "sha256") for path in payloads} == named
    record_property("figure", f"{len(shipped)} files, {len(payloads)} of them payloads")


@pytest.mark.reliability
def test_two_writers_of_one_artifact_damage_no_read(tmp_path, monkeypatch, record_property):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    path = tmp_path / "artifact" / "x.json"
    writers = [start_writer(number, path) for number in (0, 10**6)]
    for writer in writers:
        writer.stdout.readline()
    reads = damaged = 0
    numbers = set()
    deadline = time.monotonic() + WRITING_SECONDS
    while time.monotonic() < deadline:
        reads += 1
        try:
            numbers.add(read_number(path))
        except (OSError, ValueError, AssertionError, storage.DamagedFileError):
            damaged += 1
    for writer in writers:
        writer.kill()
    writes = sum(len(writer.communicate()[0].splitlines()) for writer in writers)
    record_property("figure", f"{writes:,} writes, {reads:,} reads, {damaged} of them damaged")
    assert damaged == 0
    assert min(numbers) < 10**6 <= max(numbers)  # both writers were read
