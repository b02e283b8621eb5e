from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recsys.data.tags import Tags
from recsys.serving.insight.regions import regions
from tests import toys

N = 400


def world(tags=Tags()):  # noqa: B008  # frozen
    """400 films: the first quarter lies apart from the others; genres and decades as each test has them."""
    catalog = toys.catalog(N)
    movies = catalog.movies.assign(genres="Drama", year=pd.array([1995] * N, dtype="Int64"))
    return replace(catalog, movies=movies, tags=tags)


def apart():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(N, 2))
    points[: N // 4] += 40
    return points


def found(catalog, views=None):
    """The region of the first quarter and that of the others."""
    areas = regions(apart(), catalog, np.arange(N) if views is None else views, most=2)
    return sorted(areas, key=lambda area: len(area.items))


def test_a_region_is_called_by_the_genre_and_decade_that_are_over_represented_there():
    catalog = world()
    catalog.movies.loc[: N // 4 - 1, "genres"] = "Drama|Horror"
    catalog.movies.loc[: N // 4 - 1, "year"] = 1985
    one, other = found(catalog, np.tile([5, 1], N // 2))
    assert sorted(one.items.tolist()) == list(range(N // 4))
    assert one.label == "Horror · 1980s"
    assert {term.name: (term.here, term.everywhere) for term in one.terms}["Horror"] == (1.0, 0.25)
    assert (one.x, one.y) == (pytest.approx(40, abs=1), pytest.approx(40, abs=1))
    assert "Horror" not in other.label


def test_where_nothing_stands_out_nothing_is_said():
    one, other = found(world(), np.tile([5, 1], N // 2))
    assert one.terms == other.terms == ()
    assert one.label == ""
    assert not one.tells_what


def test_a_tag_counts_when_people_agree_on_it_and_not_when_it_is_one_persons_list():
    films = np.repeat(np.arange(100, 130), 2)  # each twice, by two people
    given = [(int(film), "space opera", 0) for film in films] + [(film, "my dvds", 0) for film in range(100, 200)]
    one, _ = found(world(Tags.from_rows(given)), np.tile([5, 1], N // 2))
    assert [term.name for term in one.terms] == ["space opera"]


def test_how_widely_films_are_watched_is_said_and_the_most_watched_come_first():
    views = np.where(np.arange(N) < N // 10, 1000, 1) + np.arange(N)
    one, _ = found(world(), views)
    assert one.label == "widely watched"
    assert one.items[0] == N // 10 - 1
    assert not one.tells_what


def test_few_films_and_films_without_year_or_tags_have_regions():
    catalog = toys.catalog(3)
    catalog.movies["year"] = pd.array([pd.NA] * 3, dtype="Int64")
    (area,) = regions(np.zeros((3, 2)), catalog, np.ones(3))
    assert sorted(area.items.tolist()) == [0, 1, 2]
