"""Artifacts survive writers that are killed or that write at the same time, and no altered bit is read."""

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from recsys import paths, storage
from recsys.errors import restore_command
from recsys.storage import DamagedFileError
from tests.dying import do_and_die

OLD, NEW = ({"version": version} for version in ("old", "new"))


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "artifact" / "x.json"


def write(path, document, size=1000):
    """Write an artifact whose payload repeats the version."""
    storage.write_document(path, document, {"x.bin": document["version"].encode() * size})


def read(path):
    """Return the version of the document, after a comparison with the payload."""
    document, (data,) = storage.read_payloads(path)
    version = document["version"]
    assert data == version.encode() * (len(data) // len(version))
    return version


def names(path):
    return sorted(other.name for other in path.parent.iterdir())


def without_hash(document):
    return {name: value for name, value in document.items() if name not in ("sha256", "files")}


def test_a_document_names_its_payload_by_hash(path):
    write(path, OLD)
    assert without_hash(storage.read_document(path)) == OLD
    assert read(path) == "old"
    digest = storage.sha256(b"old" * 1000)
    assert names(path) == [f"x-{digest[:12]}.bin", "x.json"]
    assert storage.read_document(path)["files"] == {f"x-{digest[:12]}.bin": digest}


def test_a_payload_can_be_written_by_a_function(path):
    array = np.arange(5)
    storage.write_document(path, {}, {"a.npy": lambda file: np.save(file, array), "b.txt": b"text"})
    contents = storage.read_artifact(path, lambda _, files: (np.load(files["a.npy"]), files["b.txt"].read_bytes()))
    np.testing.assert_array_equal(contents[0], array)
    assert contents[1] == b"text"


def test_a_new_version_deletes_the_payloads_of_the_old_one_and_nothing_else(path):
    path.parent.mkdir()
    others = ["x-bigger-0123456789ab.bin", "xy-0123456789ab.bin", "x.json.md", "x-0123456789ab.json"]
    for name in others:
        (path.parent / name).touch()
    storage.write_document(path, OLD, {"x.bin": b"old", "only-old.bin": b"old"})
    write(path, NEW)
    assert len(names(path)) == len(others) + 2
    assert set(others) < set(names(path))


def test_files_of_older_versions_are_read_and_replaced(path):
    path.parent.mkdir()
    (path.parent / "x.bin").write_bytes(b"old")
    path.write_bytes(storage.sign_document(OLD | {"files": {"x.bin": storage.sha256(b"old")}}))
    assert read(path) == "old"
    write(path, NEW)
    assert read(path) == "new"
    assert len(names(path)) == 2


def test_no_altered_bit_of_a_document_is_read(path):
    storage.write_document(path, {"run": {"date": "x"}, "mean": 1e-05, "text": "naïve"})
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        altered = bytearray(whole)
        altered[bit // 8] ^= 1 << bit % 8
        path.write_bytes(altered)
        with pytest.raises(DamagedFileError, match=r"x\.json is damaged"):
            storage.read_document(path)
    path.write_bytes(whole)
    assert storage.read_document(path)["mean"] == 1e-05


@pytest.mark.parametrize("change", [b"", b"ol", b"olf", None])
def test_an_altered_or_missing_payload_is_reported_by_its_name(path, change):
    write(path, OLD, size=1)
    (payload,) = path.parent.glob("*.bin")
    payload.unlink()
    if change is not None:
        payload.write_bytes(change)
    for attempt in (storage.read_payloads, storage.check):
        with pytest.raises(DamagedFileError, match=rf"{payload.name} is missing or damaged"):
            attempt(path)


@pytest.mark.parametrize("files", [None, [1], "x", 3])
def test_a_signed_document_with_invalid_payload_names_is_damaged(path, files):
    path.parent.mkdir()
    path.write_bytes(storage.sign_document({"files": files}))
    with pytest.raises(DamagedFileError, match=r"x\.json is damaged"):
        storage.read_payloads(path)
    write(path, NEW)
    assert read(path) == "new"


def test_a_file_is_verified_once_for_each_version_of_it(tmp_path, monkeypatch):
    path, reads, digest = tmp_path / "x", [], storage.digest
    monkeypatch.setattr(storage, "digest", lambda *arguments: (reads.append(arguments), digest(*arguments))[1])
    path.write_bytes(b"abc")
    for _ in range(3):
        storage.verify(path, storage.sha256(b"abc"))
    assert len(reads) == 1
    path.write_bytes(b"abd")
    os.utime(path, ns=(7, 7))  # as if the clock had not moved in between
    with pytest.raises(DamagedFileError):
        storage.verify(path, storage.sha256(b"abc"))
    storage.replace_file(path, b"abc")
    storage.verify(path, storage.sha256(b"abc"))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        storage.verify(path, storage.sha256(b"abc"))


def test_check_reads_a_verified_file_again(path):
    write(path, OLD)
    (payload,) = path.parent.glob("*.bin")
    status = payload.stat()
    payload.write_bytes(b"bad" * 1000)
    os.utime(payload, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(DamagedFileError):
        storage.check(path)


def test_the_version_changes_when_a_document_is_written_or_deleted(path):
    other = path.with_name("y.json")
    versions = [storage.version(path, other)]
    for document in (path, other, path):
        write(document, OLD)
        versions.append(storage.version(path, other))
    assert storage.version(path, other) == versions[-1]
    path.unlink()
    versions.append(storage.version(path, other))
    assert versions[0] == ""
    assert len(set(versions)) == len(versions)


def test_binary_data_comes_back_and_no_altered_bit_does(tmp_path):
    path = tmp_path / "x"
    for data in (b"", b"abc"):
        whole = storage.sealed_bytes(data)
        path.write_bytes(whole)
        assert storage.read_sealed_bytes(path) == data
        for bit in range(8 * len(whole)):
            altered = bytearray(whole)
            altered[bit // 8] ^= 1 << bit % 8
            path.write_bytes(altered)
            with pytest.raises(DamagedFileError, match="x is damaged"):
                storage.read_sealed_bytes(path)
    path.write_bytes(b"")
    with pytest.raises(DamagedFileError):
        storage.read_sealed_bytes(path)


def test_a_memory_map_of_a_replaced_file_stays_valid(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(100_000))
    mapped = np.load(path, mmap_mode="r")
    storage.replace_file(path, b"short")
    assert mapped.sum() == np.arange(100_000).sum()  # a file cut short in place would end this process


def test_the_command_restores_shipped_files(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "REPOSITORY", root := tmp_path / "a b")
    files = [root / "assets" / name for name in ("x y.json", "z.json")]
    for path in files:
        storage.replace_file(path, b"whole")
    for arguments in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)
    for path in files:
        path.write_bytes(b"damaged")
    subprocess.run(restore_command(*files), shell=True, check=True, cwd="/")
    assert [path.read_bytes() for path in files] == [b"whole"] * 2


# Writers that fail, are killed, or write at the same time


@pytest.mark.parametrize("step", range(4))
def test_a_full_disk_leaves_the_old_version_and_nothing_else(path, monkeypatch, step):
    write(path, OLD)
    before, sync, calls = names(path), os.fsync, itertools.count()

    def full(handle):
        if next(calls) == step:
            raise OSError("No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(path, NEW)
    monkeypatch.undo()
    version = read(path)
    assert len(names(path)) == 2
    assert version == "new" if step == 3 else (version == "old" and names(path) == before)


def test_a_writer_killed_at_any_step_leaves_one_version_and_the_next_writer_cleans_up(path):
    versions = []
    for step in range(30):
        write(path, OLD)
        code = do_and_die(lambda: write(path, NEW), step)
        versions.append(read(path))
        write(path, OLD)
        assert len(names(path)) == 2
        if code == 0:
            break
        assert code == 9
    assert code == 0
    assert versions == sorted(versions, reverse=True)  # "old" until the commit
    assert len(set(versions[:-1])) == 2


def test_a_reader_that_loses_a_race_reads_the_newer_version(path):
    write(path, OLD)

    def read_slowly(document, files):
        if document["version"] == "old":
            write(path, NEW)  # deletes the payload of the old version
        return files["x.bin"].read_bytes()

    assert storage.read_artifact(path, read_slowly) == b"new" * 1000


def test_two_threads_that_write_one_artifact_leave_it_whole(path):
    def write_often(version):
        for number in range(20):
            write(path, {"version": f"{version}{number}"})

    threads = [threading.Thread(target=write_often, args=(version,)) for version in "ab"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            read(path)
    for thread in threads:
        thread.join()
    assert read(path) in ("a19", "b19")
    assert len(names(path)) == 2


def test_a_lock_excludes_threads_and_processes(path, home):
    entered = threading.Event()

    def enter():
        with storage.locked(path):
            entered.set()

    with storage.locked(path):
        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.2)
        assert do_and_die(lambda: _enter_at_once(path), 1000) == 1
    thread.join()
    assert entered.is_set()
    assert do_and_die(lambda: _enter_at_once(path), 1000) == 0


def _enter_at_once(path):
    (lock,) = (paths.home() / "locks").iterdir()
    with storage.try_locked(lock) as is_free:
        assert is_free


WRITER = """
import itertools, sys
from pathlib import Path
from tests.test_storage import write

for number in itertools.count(int(sys.argv[1])):
    write(Path(sys.argv[2]), {"version": f"v{number}."}, 20_000)
    print(number, flush=True)
"""


def read_number(path):
    """Return the number that a writer stored last."""
    return int(read(path).strip("v."))


def start_writer(number, path):
    """Start a process that writes an artifact again and again, and prints the number of each finished write."""
    command = [sys.executable, "-c", WRITER, str(number), str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=paths.REPOSITORY)


def test_a_killed_writer_loses_nothing(path):
    """After each kill, the last finished write or the next one is on disk."""
    generator, number = random.Random(0), 0
    for _ in range(3):
        with start_writer(number, path) as writer:
            assert writer.stdout.readline()
            time.sleep(generator.uniform(0, 0.1))
            writer.send_signal(signal.SIGKILL)
            finished = number + len(writer.stdout.read().splitlines())
        assert read_number(path) in (finished, finished + 1)
        number = finished + 2
