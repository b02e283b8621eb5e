import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recsys import paths, storage
from recsys.data import film_details, prepared
from recsys.data.dataset import Dataset
from recsys.data.prepared import MissingData
from recsys.data.tags import Tags
from recsys.errors import recsys_command
from tests import toys
from tests.artifacts import payload, without_hashes
from tests.dying import do_and_die

TAGS = Tags.from_rows([(101, "Cyber, Punk", 7), (100, "naïve", 5), (101, "cyber, punk", 3)])


pytestmark = pytest.mark.usefixtures("home")


def world(name="toy", last=0):
    made = toys.dataset([[0, 1, 2, 3], [3, 2, 1, last]], 4, name)
    return replace(made, catalog=toys.tagged(made.catalog, TAGS))


def file(name):
    """A file of the set by its name without hash."""
    return payload(paths.prepared("toy") / "about.json", name)


def contents(name="toy"):
    return sorted(storage.HASH.sub("", path.name) for path in paths.prepared(name).iterdir())


FILES = sorted(
    ["about.json", "films.csv", "tag_words.json"]
    + [f"{array}.npy" for array in (*prepared.EVENT_COLUMNS, *prepared.TAG_COLUMNS, "user_ids")]
)


def refusal(state, name="toy"):
    return f"^{name} {state}; run: {re.escape(recsys_command('data', 'get', name))}$"


def test_what_is_kept_is_what_was_saved():
    prepared.save(world(), {"file": "some.zip"})
    toys.same(prepared.load("toy"), world())
    assert prepared.names() == ["toy"]
    assert contents() == FILES


def test_a_set_without_tags_is_kept_too():
    prepared.save(toys.cycle(), {})
    toys.same(prepared.load("cycle"), toys.cycle())


PEOPLE = [("F", "25-34", "none"), ("", "56+", 'he said "NA", once')]


def test_people_are_kept_with_a_set_that_describes_them():
    described = toys.described(world(), *PEOPLE)
    prepared.save(described, {})
    toys.same(prepared.load("toy"), described)
    assert prepared.fingerprint("toy") == world().fingerprint


@pytest.mark.parametrize("content", [None, "gender,age,occupation\nF,25-34,none\n"])
def test_people_that_are_gone_or_others_are_reported_with_the_command(content):
    prepared.save(toys.described(world(), *PEOPLE), {})
    people = file("people.csv")
    people.unlink()
    if content:
        people.write_text(content)
    with pytest.raises(MissingData, match=refusal("is damaged")):
        prepared.load("toy")


READ_AFTER_TRUNCATION = """
import os

from recsys import paths
from recsys.data import film_details, prepared

dataset = prepared.load("toy")
for path in paths.prepared("toy").rglob("*"):
    if path.is_file():
        os.truncate(path, 0)
print(dataset.history(1).tolist(), dataset.interactions.timestamp.sum(), dataset.user_ids.sum())
try:
    prepared.load("toy")
except prepared.MissingData:
    print("damaged")
"""


def test_a_file_that_is_truncated_in_place_does_not_end_a_process_that_has_it_open():
    """The system once ended the server (SIGBUS), because the arrays were mapped."""
    prepared.save(world(), {})
    command = [sys.executable, "-c", READ_AFTER_TRUNCATION]
    done = subprocess.run(command, cwd=paths.REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.returncode
    assert done.stdout.splitlines()[-1] == "damaged"


@pytest.mark.parametrize("max_bytes", [prepared.MAX_ARRAY_BYTES, 0])
def test_arrays_are_read_only_and_only_large_ones_are_mapped(monkeypatch, max_bytes):
    monkeypatch.setattr(prepared, "MAX_ARRAY_BYTES", max_bytes)
    prepared.save(world(), {})
    dataset = prepared.load("toy")
    events = dataset.interactions
    for array in (events.user, events.item, events.rating, events.timestamp, dataset.user_ids):
        assert isinstance(array, np.memmap) == (max_bytes == 0)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    toys.same(dataset, world())


def test_the_fingerprint_is_known_without_reading_the_set():
    assert prepared.fingerprint("toy") is None
    prepared.save(world(), {})
    for path in paths.prepared("toy").glob("*.npy"):
        path.unlink()
    assert prepared.fingerprint("toy") == world().fingerprint


def test_loading_computes_no_fingerprint(monkeypatch):
    prepared.save(world(), {})
    for name in ("fingerprint", "full_fingerprint"):
        monkeypatch.setattr(Dataset, name, property(lambda dataset: pytest.fail("computed")))
    assert prepared.load("toy").n_users == 2


# What cannot be used


def test_a_set_that_is_not_there_is_reported_with_the_command():
    with pytest.raises(MissingData, match=refusal("is not on this computer")):
        prepared.load("toy")


@pytest.mark.parametrize(
    "name", ["item.npy", "user.npy", "user_ids.npy", "tag_word.npy", "tag_words.json", "films.csv"]
)
@pytest.mark.parametrize("rest", [0.5, None])
def test_a_damaged_or_missing_file_is_reported_with_the_command(name, rest):
    prepared.save(world(), {})
    victim = file(name)
    if rest is None:
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes()[: int(victim.stat().st_size * rest)])
    with pytest.raises(MissingData, match=refusal("is damaged")):
        prepared.load("toy")


@pytest.mark.parametrize("text", ["", "{", "[]", "[1]", "{}", '{"format": 4}', "[" * 10_000])
def test_a_damaged_document_is_reported_with_the_command(text):
    prepared.save(world(), {})
    (paths.prepared("toy") / "about.json").write_text(text)
    with pytest.raises(MissingData, match=refusal("is damaged")):
        prepared.load("toy")
    assert prepared.fingerprint("toy") is None


def test_another_array_is_noticed_and_a_sound_set_is_read_once(monkeypatch):
    prepared.save(world(), {})
    read, digest = [], storage.digest
    monkeypatch.setattr(storage, "digest", lambda path, kind: (read.append(path.name), digest(path, kind))[1])
    for _ in range(3):
        prepared.load("toy")
    assert sorted(storage.HASH.sub("", name) for name in read) == [name for name in FILES if name != "about.json"]
    np.save(file("rating.npy"), np.full(8, 3, np.float32))
    with pytest.raises(MissingData, match="damaged"):
        prepared.load("toy")


def test_a_sealed_document_of_arrays_of_different_lengths_is_refused():
    prepared.save(world(), {})
    np.save(file("rating.npy"), np.ones(3, np.float32))
    about = prepared.metadata("toy")
    about["files"][file("rating.npy").name] = storage.digest(file("rating.npy"), "sha256")
    (paths.prepared("toy") / "about.json").write_bytes(storage.sign_document(about))
    with pytest.raises(MissingData, match="damaged"):
        prepared.load("toy")


@pytest.mark.parametrize("change", [{"files": [1]}, {"files": None}, {"folder": "../x"}, {"ratings": "8"}])
def test_a_sealed_but_malformed_document_is_no_traceback(change):
    prepared.save(world(), {})
    (paths.prepared("toy") / "about.json").write_bytes(storage.sign_document(prepared.metadata("toy") | change))
    with pytest.raises(MissingData, match="damaged"):
        prepared.load("toy")


def as_in_format_4():
    """Turn the set into what an earlier version wrote, with the files in a folder of their own."""
    target = paths.prepared("toy")
    document = without_hashes(target / "about.json") | {"format": 4, "folder": "v0"}
    (target / "v0").mkdir()
    for path in target.glob("*-*"):
        path.rename(target / "v0" / storage.HASH.sub("", path.name))
    pd.read_csv(target / "v0" / "films.csv").to_parquet(target / "v0" / "films.parquet")
    files = {path.name: storage.digest(path, "sha256") for path in (target / "v0").iterdir()}
    (target / "about.json").write_bytes(storage.sign_document(document | {"files": files}))


def test_a_set_of_format_4_is_read_and_replaced():
    prepared.save(world(), {"own": True})
    as_in_format_4()
    toys.same(prepared.load("toy"), world())
    assert prepared.metadata("toy")["archive"] == {"own": True}
    (paths.prepared("toy").parent / ".toy~abc.part").mkdir()
    (paths.prepared("toy").parent / ".toy-1m~abc.part").mkdir()  # of another set
    prepared.save(world(last=1), {})
    assert contents() == FILES
    assert sorted(path.name for path in paths.prepared("toy").parent.iterdir()) == [".toy-1m~abc.part", "toy"]
    toys.same(prepared.load("toy"), world(last=1))


@pytest.mark.parametrize("version", [3, 6])
def test_a_form_of_another_version_has_to_be_prepared_again_and_then_works(version):
    prepared.save(world(), {})
    (paths.prepared("toy") / "about.json").write_bytes(storage.sign_document({"format": version}))
    with pytest.raises(MissingData, match=refusal("was prepared by another version")):
        prepared.load("toy")
    assert prepared.fingerprint("toy") is None
    prepared.save(world(), {})
    toys.same(prepared.load("toy"), world())
    assert contents() == FILES


# Replacing a set


def test_a_newer_form_replaces_the_older_one_which_stays_usable_where_it_is_open():
    prepared.save(world(last=0), {})
    before = prepared.load("toy")
    for last in (1, 2, 3):
        prepared.save(world(last=last), {})
        toys.same(prepared.load("toy"), world(last=last))
    toys.same(before, world(last=0))
    assert contents() == FILES


@pytest.mark.slow
def test_a_save_killed_at_any_step_leaves_the_old_or_the_new_and_the_next_one_cleans_up(home):
    outcomes = []
    for step in range(0, 200, 3):
        prepared.save(world(last=0), {})
        code = do_and_die(lambda: prepared.save(world(last=1), {}), step)
        outcomes.append(int(prepared.load("toy").history(1)[-1]))
        if code == 0:
            break
        assert code == 9
    assert code == 0
    assert outcomes == sorted(outcomes)
    prepared.save(world(last=3), {})
    assert contents() == FILES
    assert sorted(path.name for path in (home / "data").iterdir()) == ["toy"]


def test_a_first_save_that_fails_leaves_nothing(home, monkeypatch):
    def fail(*arguments):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        prepared.save(world(), {})
    assert not list((home / "data").iterdir())


def test_a_set_that_is_replaced_while_it_is_being_read_is_read_again(monkeypatch):
    prepared.save(world(last=0), {})
    read_array, saved = prepared._read_array, []

    def save_and_read(path):
        if not saved:
            saved.append(prepared.save(world(last=1), {}))
        return read_array(path)

    monkeypatch.setattr(prepared, "_read_array", save_and_read)
    toys.same(prepared.load("toy"), world(last=1))


def test_the_version_changes_with_the_set_and_with_the_facts_about_its_films():
    versions = [prepared.version("toy")]
    film_details.write("toy", {100: {"minutes": 90}})
    assert prepared.version("toy") == versions[0] == ""
    prepared.save(world(), {})
    versions.append(prepared.version("toy"))
    film_details.write("toy", {100: {"minutes": 91}})
    versions.append(prepared.version("toy"))
    assert len(set(versions)) == 3
