import errno
import hashlib
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys import paths, verify
from recsys.data import datasets, download, movielens_files, prepared, published, wheel
from recsys.data.assemble import RawRatings, assemble, drop_duplicates
from recsys.data.dataset import DataError
from recsys.data.datasets import MissingData
from recsys.data.download import DownloadError
from recsys.data.wheel import Wheel, fetch_wheel
from recsys.errors import recsys_command
from recsys.progress import Cancelled
from tests import toys
from tests.data import archives
from tests.data.server import serving, status

LINE = "run: " + re.escape(recsys_command("data", "get"))


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def site(monkeypatch):
    """The site of MovieLens, with a little 100K on it; its hash and the wheel's are known."""
    content = archives.zipped(archives.hundred_k())
    toy = Wheel("toy==1.0", hashlib.sha256(archives.zipped(archives.recbole())).hexdigest())
    little = {"md5": hashlib.md5(content, usedforsecurity=False).hexdigest(), "wheel": toy}
    monkeypatch.setitem(datasets.PUBLISHED, "ml-100k", replace(datasets.PUBLISHED["ml-100k"], **little))
    with serving(content) as server:
        monkeypatch.setattr(published, "SITE", server.address.removesuffix("file.zip"))
        yield server


@pytest.fixture
def index(monkeypatch):
    """A package index; `index.wheel` is what it sends."""

    class Index:
        wheel = archives.zipped(archives.recbole())

    def send(requirement, folder, report):
        (folder / "toy-1.0.whl").write_bytes(Index.wheel)

    monkeypatch.setattr(wheel, "_pip_download", send)
    return Index


def halves(folder):
    """What a run has left half-done under a folder."""
    return [path for path in folder.rglob("*") if ".part" in path.name]


# What a data set is made of


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 8), st.integers(0, 4)), min_size=1, max_size=60))
def test_histories_are_those_of_a_plain_stable_sort(rows):
    user, movie, time = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    films = pd.DataFrame({"movie_id": np.arange(1, 9)})
    raw = RawRatings(user, movie, np.ones(len(rows), np.float32), time.astype(np.int64), films)
    dataset = assemble("toy", raw, min_ratings=1)
    expected = sorted(rows, key=lambda row: (row[0], row[2]))  # Python's sort is stable
    seen = zip(dataset.user_ids[dataset.interactions.user], dataset.interactions.item, strict=True)
    assert [(int(u), int(dataset.catalog.movie_ids[i])) for u, i in seen] == [row[:2] for row in expected]


def test_times_from_anywhere_in_64_bits_are_sorted():
    time = np.array([2**62, -(2**62), 0, 5], np.int64)
    user = np.array([2, 2, 2, 1], np.int32)
    raw = RawRatings(user, np.array([1, 2, 3, 1], np.int32), np.ones(4), time, pd.DataFrame({"movie_id": [1, 2, 3]}))
    dataset = assemble("toy", raw, min_ratings=1)
    assert [history.tolist() for history in dataset.histories] == [[0], [1, 2, 0]]


def test_films_with_fewer_than_five_ratings_are_left_out_and_so_are_users_without_others():
    user = np.array([1, 2, 3, 4, 5, 6, 7], np.int32)
    movie = np.array([7, 7, 7, 7, 7, 3, 3], np.int32)
    films = pd.DataFrame({"movie_id": [3, 5, 7]})
    dataset = assemble("toy", RawRatings(user, movie, np.ones(7), np.arange(7), films))
    assert dataset.catalog.movie_ids.tolist() == [7]
    assert dataset.catalog.infrequent["movie_id"].tolist() == [3, 5]
    assert dataset.user_ids.tolist() == [1, 2, 3, 4, 5]


def test_people_without_a_film_that_is_kept_are_dropped_from_the_table_of_people_too():
    user, movie = np.array([9, 2, 3, 4, 5, 1], np.int32), np.array([7, 7, 7, 7, 7, 3], np.int32)
    people = pd.DataFrame({"gender": list("FMFMFM")}, [1, 2, 3, 4, 5, 9]).astype("str")
    raw = RawRatings(user, movie, np.ones(6), np.arange(6), pd.DataFrame({"movie_id": [3, 7]}), user_profiles=people)
    for ties in ("file", "drawn"):
        dataset = assemble("toy", raw, ties=ties)
        assert dataset.user_ids.tolist() == [2, 3, 4, 5, 9]
        assert dataset.user_profiles["gender"].tolist() == ["M", "F", "M", "F", "M"]


def test_ml_20m_keeps_every_film_that_somebody_rated(tmp_path):
    archive = archives.write(tmp_path, archives.comma())
    kept = {name: datasets.get(name, archive).catalog.movie_ids.tolist() for name in ("ml-latest-small", "ml-20m")}
    five = [10, 20, 30, 40, 50]
    assert kept == {"ml-latest-small": five, "ml-20m": [*five, 60]}  # 60 has four ratings, 70 has none
    assert [datasets.min_ratings(name) for name in ("ml-20m", "ml-1m", "own")] == [1, 5, 5]


def test_ratings_of_nothing_worth_learning_are_refused(tmp_path):
    files = archives.comma()
    files["ml-latest-small/ratings.csv"] = b"userId,movieId,rating,timestamp\r\n1,10,4,5\r\n"
    with pytest.raises(DataError, match="no film has at least 5 ratings"):
        datasets.get("ml-latest-small", archives.write(tmp_path, files))


@pytest.mark.parametrize(
    ("listed", "rated", "words"),
    [([3, 5, 3], 5, "film 3 is listed twice"), ([3, 5], 4, "film 4 is rated but"), ([3, 5], 9, "film 9 is rated but")],
)
def test_ratings_and_films_that_do_not_fit_together_are_refused(listed, rated, words):
    user, movie = np.arange(9, dtype=np.int32), np.full(9, rated, np.int32)
    raw = RawRatings(user, movie, np.ones(9), np.arange(9), pd.DataFrame({"movie_id": listed}))
    with pytest.raises(DataError, match=words):
        assemble("toy", raw)


# Films of one second


def tied(n_users=200, n_items=6):
    """Everybody rates all films in the same second; the file lists them in ascending order."""
    user = np.repeat(np.arange(1, n_users + 1, dtype=np.int32), n_items)
    movie = np.tile(np.arange(1, n_items + 1, dtype=np.int32), n_users)
    films = pd.DataFrame({"movie_id": np.arange(1, n_items + 1)})
    return RawRatings(user, movie, np.ones(len(user), np.float32), np.full(len(user), 7, np.int64), films)


def test_they_are_put_in_an_order_drawn_for_each_person_whatever_the_order_of_the_file():
    raw = tied()
    drawn = assemble("toy", raw, ties="drawn")
    assert drawn.ties == "drawn"
    first = np.bincount([history[0] for history in drawn.histories], minlength=6)
    assert first.min() > 200 / 6 / 2  # each film is the first of about a sixth of the people
    assert len({tuple(history.tolist()) for history in drawn.histories}) > 100
    shuffled = raw.select(np.random.default_rng(0).permutation(len(raw.user)))
    toys_agree(assemble("toy", shuffled, ties="drawn"), drawn)


def test_films_of_different_seconds_keep_their_order():
    raw = tied()
    times = np.tile(np.arange(6, dtype=np.int64), 200)
    ordered = RawRatings(raw.user, raw.movie, raw.rating, times, raw.films)
    assert (assemble("toy", ordered, ties="drawn").interactions.item == np.tile(np.arange(6), 200)).all()


def test_a_later_rating_does_not_change_the_order_of_the_earlier_ones():
    raw = tied(n_users=30)
    some = raw.select(np.flatnonzero(raw.movie != 4))
    whole, part = (assemble("toy", these, ties="drawn") for these in (raw, some))
    for all_films, films in zip(whole.histories, part.histories, strict=True):
        ids = [film + 1 for film in all_films.tolist() if film + 1 != 4]
        assert ids == part.catalog.movie_ids[films].tolist()


def toys_agree(one, other):
    np.testing.assert_array_equal(one.interactions.item, other.interactions.item)


def test_the_sets_whose_file_order_would_leak_are_drawn_and_the_prepared_form_remembers(tmp_path):
    drawn = [name for name, entry in datasets.PUBLISHED.items() if entry.ties == "drawn"]
    assert drawn == ["ml-latest-sample", "ml-latest-small"]
    assert datasets.get("ml-latest-small", archives.write(tmp_path, archives.comma())).ties == "drawn"
    assert datasets.get("ml-1m", archives.write(tmp_path, archives.double_colon())).ties == "file"


# The set that comes with the project


def as_text(events):
    """Return progress events whose messages are strings."""
    return [event | {"text": str(event["text"])} if "text" in event else event for event in events]


def test_the_first_start_needs_no_network(monkeypatch):
    monkeypatch.setattr(published, "fetch", None)
    monkeypatch.setattr(published, "fetch_wheel", None)
    events = []
    dataset = datasets.ensure(datasets.DEFAULT_DATASET, events.append)
    gone = {"stage": "note", "text": "people left out because none of their films has at least 5 ratings: 7"}
    assert as_text(events) == [{"stage": "parse"}, gone, {"stage": "keep"}]
    assert (dataset.n_users, dataset.n_items, len(dataset.interactions)) == (2745, 6135, 291716)
    assert len(dataset.catalog.infrequent) == 8902
    assert dataset.catalog.movies["year"].max() == 2022
    assert dataset.fingerprint == "cc458c7e0816cc2cbe3be62c23c6b34992371637648e7b47f29ee395591d4b10"
    datasets.ensure(datasets.DEFAULT_DATASET, events.append)
    assert len(events) == 3


def test_it_is_mended_when_its_prepared_form_is_damaged():
    datasets.ensure(datasets.DEFAULT_DATASET)
    next(paths.prepared(datasets.DEFAULT_DATASET).glob("item-*.npy")).write_bytes(b"")
    assert datasets.ensure(datasets.DEFAULT_DATASET).n_users == 2745


def test_a_copy_that_was_not_made_from_the_archive_of_the_project_is_prepared_again():
    """A test once left a toy of that name in the user's data folder; all commands then ended in an error."""
    prepared.save(toys.dataset([[0, 1, 2, 3], [3, 2, 1, 0]], 4, datasets.DEFAULT_DATASET), {"file": "x.zip"})
    with pytest.raises(MissingData, match=f"was not prepared from the archive .*{LINE} ml-latest-sample$"):
        datasets.load(datasets.DEFAULT_DATASET)
    (found,) = [
        found
        for found in verify.check_dataset(datasets.DEFAULT_DATASET)
        if found.path == paths.prepared(datasets.DEFAULT_DATASET)
    ]
    assert found.problem
    assert datasets.ensure(datasets.DEFAULT_DATASET).n_users == datasets.load(datasets.DEFAULT_DATASET).n_users == 2745
    (found,) = [
        found
        for found in verify.check_dataset(datasets.DEFAULT_DATASET)
        if found.path == paths.prepared(datasets.DEFAULT_DATASET)
    ]
    assert not found.problem


def test_the_set_of_the_project_is_not_taken_from_another_archive(tmp_path):
    with pytest.raises(DataError, match=f"is not the archive of {datasets.DEFAULT_DATASET} .*{LINE}"):
        datasets.get(datasets.DEFAULT_DATASET, archives.write(tmp_path, archives.comma()))
    assert not prepared.metadata(datasets.DEFAULT_DATASET)


def test_a_wheel_can_be_given_in_place_of_the_archive(tmp_path, site):
    path = archives.write(tmp_path, archives.recbole())
    assert datasets.get("ml-100k", path).n_users
    assert prepared.metadata("ml-100k")["archive"]["official"]


@pytest.mark.parametrize(("content", "state"), [(None, "missing"), (b"PK", "damaged")])
def test_an_archive_of_the_project_that_is_not_whole_is_said_so(tmp_path, monkeypatch, content, state):
    monkeypatch.setattr(published, "SHIPPED_ARCHIVES", tmp_path)
    if content:
        (tmp_path / "ml-latest-sample.zip").write_bytes(content)
    with pytest.raises(DataError, match=f"is {state}; run: git -C .* checkout -- "):
        datasets.ensure(datasets.DEFAULT_DATASET)


# From an archive to the prepared form and back


def test_what_is_kept_is_what_was_read(tmp_path):
    path = archives.write(tmp_path, archives.comma())
    with movielens_files.open_archive(path, "a test") as archive:
        fresh = assemble("ml-latest-small", movielens_files.parse_csv(archive), ties="drawn")
    toys.same(datasets.get("ml-latest-small", path), fresh)
    toys.same(datasets.load("ml-latest-small"), fresh)


@pytest.mark.parametrize("from_file", [True, False])
def test_an_archive_is_hashed_once(site, tmp_path, monkeypatch, from_file):
    def count(path, original=published.file_hashes):
        hashed.append(path.name)
        return original(path)

    hashed = []
    for module in (published, download):
        monkeypatch.setattr(module, "file_hashes", count)
    monkeypatch.setattr("recsys.storage.digest", None)
    monkeypatch.setattr(prepared, "save", lambda dataset, provenance: None)
    monkeypatch.setattr(prepared, "load", lambda name: None)
    datasets.get("ml-100k", archives.write(tmp_path, archives.hundred_k()) if from_file else None)
    assert hashed == ["some.zip" if from_file else "ml-100k.zip.part"]


def test_a_bare_machine_can_take_and_load_a_set(tmp_path):
    path = archives.write(tmp_path, archives.comma())
    absent = ("pyarrow", "requests", "platformdirs", "tqdm", "streamlit", "torch", "implicit", "rapidfuzz", "sklearn")
    program = f"""
import sys
from pathlib import Path
for name in {absent}: sys.modules[name] = None
from recsys.data import datasets
datasets.get("ml-latest-small", Path({str(path)!r}))
print(datasets.load("ml-latest-small").fingerprint)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout.strip() == datasets.load("ml-latest-small").fingerprint


def test_a_missing_set_is_reported_with_the_command():
    with pytest.raises(MissingData, match=f"ml-1m is not on this computer; {LINE} ml-1m$"):
        datasets.load("ml-1m")
    with pytest.raises(MissingData, match=f"{LINE} ml-1m$"):
        datasets.ensure("ml-1m")


@pytest.mark.parametrize("call", [datasets.load, datasets.ensure])
def test_an_unknown_set_is_reported_with_those_there_are(call):
    with pytest.raises(DataError, match="no data set is called ml-2m; choose one of: ml-latest-sample, ml-100k, ml-1m"):
        call("ml-2m")


def test_a_set_that_was_added_is_not_downloaded_and_no_choice_for_that():
    prepared.save(toys.dataset([[0, 1]], 2), {})
    with pytest.raises(DataError, match=r"toy is not a published data set; choose one of: .*ml-latest-small$"):
        datasets.get("toy")


def test_a_failure_leaves_the_older_form_and_nothing_half_written(tmp_path, home):
    kept = datasets.get("ml-latest-small", archives.write(tmp_path, archives.comma()))
    with pytest.raises(DataError, match=r"holds no ratings\.csv"):
        datasets.get("ml-latest-small", archives.write(tmp_path, archives.hundred_k()))
    toys.same(datasets.load("ml-latest-small"), kept)
    assert halves(home) == []


@pytest.mark.parametrize("stage", ["download", "parse", "keep"])
def test_a_set_that_is_called_off_is_not_kept(site, home, stage):
    def report(event):
        if event["stage"] == stage:
            raise Cancelled

    with pytest.raises(Cancelled):
        datasets.get("ml-100k", report=report)
    assert datasets.prepared_names() == []
    assert {path.name for path in halves(home)} <= {"ml-100k.zip.part", "ml-100k.zip.etag.part"}
    assert datasets.get("ml-100k").n_users == 5
    assert halves(home) == []


@pytest.mark.parametrize("words", [(errno.ENOSPC, "No space left on device"), ("500 requested and 100 written",)])
def test_a_disk_that_fills_up_is_one_line_and_leaves_nothing(tmp_path, home, monkeypatch, words):
    save, count = np.save, iter(range(9))

    def fill_up(*arguments, **settings):
        if next(count) == 3:
            raise OSError(*words)
        save(*arguments, **settings)

    monkeypatch.setattr(prepared.np, "save", fill_up)
    with pytest.raises(
        DataError, match=r"^cannot write [^\n]+; free up disk space, or set RECSYS_HOME to a folder elsewhere$"
    ):
        datasets.get("ml-latest-small", archives.write(tmp_path, archives.comma()))
    assert halves(home) == []
    assert datasets.prepared_names() == []


def test_ctrl_c_while_keeping_leaves_nothing_half_written(tmp_path, home, monkeypatch):
    def press(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(prepared.np, "save", press)
    with pytest.raises(KeyboardInterrupt):
        datasets.get("ml-latest-small", archives.write(tmp_path, archives.comma()))
    assert halves(home) == []
    assert datasets.prepared_names() == []


def test_what_a_killed_run_left_is_cleared_away_by_the_next(tmp_path, home):
    stale = home / "data" / ".ml-latest-small~abc.part" / "new"
    stale.mkdir(parents=True)
    datasets.get("ml-latest-small", archives.write(tmp_path, archives.comma()))
    assert halves(home) == []


def test_a_home_that_cannot_be_written_to_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"^cannot write [^\n]+; set RECSYS_HOME to another folder$"):
        datasets.get("ml-latest-small", archives.write(tmp_path, archives.comma()))


def test_an_archive_that_is_not_the_official_one_is_taken_and_said_so(tmp_path):
    events = []
    datasets.get("ml-1m", archives.write(tmp_path, archives.double_colon()), events.append)
    assert as_text(events) == [
        {"stage": "note", "text": "some.zip is not the official archive of MovieLens 1M: its hash is different"},
        {"stage": "parse"},
        {"stage": "keep"},
    ]


@pytest.mark.parametrize("name", ["nowhere.zip", ""])
def test_an_archive_that_is_not_there_is_one_line(tmp_path, name):
    with pytest.raises(DataError, match=r"^cannot read [^\n]+; check the path$"):
        datasets.get("ml-1m", tmp_path / name)


# From the network


def test_100k_is_fetched_from_its_site_once(site):
    events = []
    first = datasets.get("ml-100k", report=events.append)
    assert [event["stage"] for event in events] == ["download", "parse", "keep"]
    toys.same(datasets.get("ml-100k", report=events.append), first)
    assert len(site.requests) == 1


@pytest.mark.parametrize("code", [404, 500, 503])
def test_when_the_site_fails_the_package_index_has_the_same_data(site, index, tmp_path, home, code):
    site.tricks = [status(code)]
    events = []
    dataset = datasets.get("ml-100k", report=events.append)
    note, pip, parse, _ = events
    assert f"answered {code}" in str(note["text"])
    assert str(note["text"]).endswith("; downloading the same ratings from the package index")
    assert (pip["from"], parse) == ("the package index", {"stage": "parse"})
    toys.same(dataset, datasets.get("ml-100k", archives.write(tmp_path, archives.hundred_k())))
    assert halves(home) == []


def test_another_file_on_the_site_counts_as_a_failure(site, index):
    site.content = b"PK" + site.content
    events = []
    assert datasets.get("ml-100k", report=events.append).n_users == 5
    assert "a different file from the one expected" in str(events[-4]["text"])


def test_when_nobody_has_100k_the_sentence_holds_both_reasons_and_a_remedy(site, index, home):
    site.tricks = [status(404)]
    index.wheel = b"something else"
    words = (
        r"^neither the site \(\S+ answered 404 Not Found\) nor the package index \([^;]*\) delivered MovieLens 100K; "
        r"check the network, or download http\S+/ml-100k\.zip elsewhere and add --from FILE\.zip$"
    )
    with pytest.raises(DownloadError) as error:
        datasets.get("ml-100k")
    assert re.match(words, str(error.value.message))
    assert error.value.command == recsys_command("data", "get", "ml-100k")
    assert halves(home) == []
    assert datasets.prepared_names() == []


def test_the_wheels_100k_is_that_of_the_official_archive(tmp_path):
    """On the real data, where both can be had."""
    try:
        path = fetch_wheel(published.RECBOLE, tmp_path / "wheel")
    except DownloadError as error:
        pytest.skip(f"ML-100K cannot be had: {error}")
    with movielens_files.open_archive(path, "ML-100K") as archive:
        dataset = assemble("ml-100k", movielens_files.parse_recbole(archive))
    assert (dataset.n_users, dataset.n_items, len(dataset.interactions)) == (943, 1349, 99287)
    # Both hashes were taken from ml-100k.zip in the official layout.
    assert dataset.fingerprint == "d581be272a9ab1c2718abd6a97988600593fac89b9162395ca6e1f340ca157e9"
    films = pd.concat([dataset.catalog.movies, dataset.catalog.infrequent])[["movie_id", "title", "year", "genres"]]
    assert len(films) == 1682
    assert hashlib.sha256(films.to_csv(index=False).encode()).hexdigest() == (
        "9fea80cc99b30af80fb3a3b2c5dec8b08638ee1f96183c02475770633ae8a7e6"
    )


# The lists


def test_every_published_set_can_be_had():
    sets = ["ml-latest-sample", "ml-100k", "ml-1m", "ml-10m", "ml-20m", "ml-25m", "ml-32m", "ml-latest-small"]
    assert list(datasets.PUBLISHED) == sets
    frozen = [name for name, entry in datasets.PUBLISHED.items() if entry.md5 or entry.sha256]
    assert frozen == sets[:-1]
    assert all(entry.licence.startswith("research only") for entry in datasets.PUBLISHED.values())


def test_the_table_tells_what_is_here(tmp_path):
    assert [row.name for row in datasets.summaries() if row.is_present] == [
        "ml-latest-sample"
    ]  # comes with the project
    datasets.get("ml-1m", archives.write(tmp_path, archives.double_colon()))
    assert [row.name for row in datasets.summaries() if row.is_present] == ["ml-latest-sample", "ml-1m"]
    assert datasets.prepared_names() == ["ml-1m"]


def test_of_ratings_that_repeat_each_other_the_first_counts():
    user, movie, time = np.array([1, 1, 1, 2, 1, 1]), np.array([5, 5, 5, 5, 6, 5]), np.array([9, 9, 8, 9, 9, 9])
    rating, notes = np.array([4, 2, 3, 1, 5, 2], np.float32), []
    once = drop_duplicates(RawRatings(user, movie, rating, time, pd.DataFrame()), notes.append)
    assert once.rating.tolist() == [4, 3, 1, 5]
    assert str(notes[0]["text"]).endswith("count once: 2")
    assert drop_duplicates(once, notes.append) is once
    assert len(notes) == 1
