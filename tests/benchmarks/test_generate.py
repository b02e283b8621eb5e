import csv
import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from benchmarks.generate_movielens import MIN_FILM_RATINGS, MIN_LENGTH, N_THEMES, Generator, GeneratorOptions, write
from recsys import paths
from recsys.data import datasets

SMALL = GeneratorOptions(users=1_200, films=600, ratings=100_000, seed=3)  # more users than are drawn at once


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("generated") / "ml-20m-generated.zip"
    write(SMALL, path)
    return path


def test_the_loader_takes_it_whole(archive, tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    dataset = datasets.get("ml-20m", archive)
    assert (dataset.n_users, dataset.n_items, len(dataset.interactions)) == (SMALL.users, SMALL.films, SMALL.ratings)
    assert np.diff(dataset.offsets).min() >= MIN_LENGTH
    assert dataset.counts.min() >= MIN_FILM_RATINGS
    assert np.all(np.isin(dataset.interactions.rating, np.arange(0.5, 5.5, 0.5)))


def test_ratings_lie_in_the_file_as_in_ml_20m(archive):
    with zipfile.ZipFile(archive) as zipped:
        rows = list(csv.reader(io.StringIO(zipped.read("ml-20m/ratings.csv").decode())))
    assert rows[0] == ["userId", "movieId", "rating", "timestamp"]
    order = [(int(user), int(movie)) for user, movie, _, _ in rows[1:]]
    assert order == sorted(set(order))  # by user, then film, and no film twice


def test_the_archive_says_that_it_is_generated(archive):
    with zipfile.ZipFile(archive) as zipped:
        assert "GENERATED" in zipped.read("ml-20m/README.txt").decode()
        assert b"Generated Film" in zipped.read("ml-20m/movies.csv")


def test_lengths_and_popularity_have_long_tails():
    world = Generator(SMALL)
    films = np.concatenate([world.history(user) for user in range(SMALL.users)])
    counts = np.sort(np.bincount(films))[::-1]
    assert np.median(world.lengths) < 0.8 * world.lengths.mean() < 0.2 * world.lengths.max()
    assert counts[: len(counts) // 10].sum() > 0.3 * counts.sum()


def test_the_next_film_is_mostly_of_the_same_theme_or_of_the_one_after_it():
    world = Generator(SMALL)
    steps = np.concatenate([np.diff(world.themes[world.history(user)]) % N_THEMES for user in range(100)])
    assert np.isin(steps, (0, 1)).mean() > 0.45 > 10 * 2 / N_THEMES  # ten times what random walks give


def test_people_go_on_in_time_and_share_seconds():
    gaps = np.diff(Generator(SMALL).timestamps(10_000))
    assert gaps.min() == 0
    assert 0.2 < np.mean(gaps == 0) < 0.3


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(archive, tmp_path):
    again, other = tmp_path / "again.zip", tmp_path / "other.zip"
    write(SMALL, again)
    write(GeneratorOptions(SMALL.users, SMALL.films, SMALL.ratings, seed=4), other)
    assert again.read_bytes() == archive.read_bytes() != other.read_bytes()


def test_the_command_line_writes_what_it_is_asked_for(tmp_path):
    sizes = ["--users", "50", "--films", "40", "--ratings", "1100"]
    command = [sys.executable, "-m", "benchmarks.generate_movielens", *sizes, "--out", str(tmp_path / "small.zip")]
    said = subprocess.run(command, cwd=paths.REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert "1,100 ratings" in said
    assert [path.name for path in tmp_path.iterdir()] == ["small.zip"]


@pytest.mark.parametrize(("films", "ratings"), [(40, 900), (40, 100_000), (201, 2000)])
def test_sizes_that_cannot_be_are_refused(films, ratings):
    with pytest.raises(SystemExit, match="choose other sizes"):
        GeneratorOptions(users=50, films=films, ratings=ratings)
