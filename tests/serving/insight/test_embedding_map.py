from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

from recsys import arrays, checkpoints, paths, storage
from recsys.data.published import DEFAULT_DATASET
from recsys.data.tags import Tags
from recsys.models.popular import Popular
from recsys.serving.insight import embedding_map as maps
from recsys.serving.insight import tsne
from recsys.serving.insight.embedding_map import (
    colour_genres,
    find_regions,
    limit_films,
    main_genres,
    make_film_map,
    neighbours,
    pca,
)
from recsys.serving.recommend import ServingError
from tests import toys
from tests.serving.given import Given, predictor
from tests.serving.insight.test_attention import WORLD, bert, sasrec


class Embedded(Given):
    """A model with these embeddings of films."""

    has_item_embeddings = True

    def __init__(self, embeddings):
        super().__init__([0] * len(embeddings))
        self.embeddings = np.array(embeddings, np.float32)

    def item_embeddings(self):
        return self.embeddings


def test_the_projection_agrees_with_scikit_learn():
    vectors = np.random.default_rng(0).normal(size=(50, 7)) @ np.diag([5, 3, 1, 1, 1, 1, 1])
    points, shares = pca(vectors)
    theirs = PCA(2).fit(vectors)
    np.testing.assert_allclose(shares, theirs.explained_variance_ratio_)
    np.testing.assert_allclose(np.abs(points), np.abs(theirs.transform(vectors)), atol=1e-9)


def test_a_mirrored_eigenvector_gives_the_same_map(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(9, 4))
    points, _ = pca(vectors)
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (eigh(matrix)[0], -eigh(matrix)[1]))
    np.testing.assert_allclose(pca(vectors)[0], points)


@pytest.mark.parametrize("vectors", [[[1.0], [2.0]], [[1.0, 2.0]], [[0.0, 0.0]] * 3, [[3.0, 1.0]] * 5])
def test_films_that_hardly_differ_still_have_coordinates(vectors):
    points, shares = pca(np.array(vectors))
    assert points.shape == (len(vectors), 2)
    assert np.isfinite(points).all()
    assert 0 <= sum(shares) <= 1 + 1e-9


def test_neighbours_are_the_nearest_by_cosine_in_all_dimensions():
    world = toys.dataset([[0, 1, 2, 3]], 4)
    found = make_film_map(predictor(world, Embedded([[1, 0, 0], [10, 1, 0], [0, 0, 1], [0, 0, 0]])))
    vectors = found.unit_vectors
    assert [item for item, _ in neighbours(vectors, 0)] == [1, 2, 3]
    assert neighbours(vectors, 0, 1)[0][1] == pytest.approx(10 / np.sqrt(101))
    assert [cosine for _, cosine in neighbours(vectors, 3)] == [0, 0, 0]  # no direction: as near to each


def test_a_row_of_the_map_is_a_film():
    found = make_film_map(predictor(WORLD, bert()))
    assert len(found.table) == 20
    assert found.table["title"].iloc[7] == "Film 7"
    assert found.table["views"].tolist() == WORLD.counts.tolist()
    assert 0 < sum(found.variance_shares) <= 1
    assert found.unit_vectors.shape == (20, 8)
    assert make_film_map(predictor(WORLD, sasrec())).unit_vectors.shape == (20, 8)


def test_a_model_without_embeddings_is_refused_with_a_sentence():
    with pytest.raises(ServingError, match="Most popular has no embeddings of films"):
        make_film_map(predictor(WORLD, Popular().fit(WORLD), "Most popular"))


def test_rare_genres_and_films_without_one_share_a_colour(monkeypatch):
    table = make_film_map(predictor(WORLD, bert())).table
    table.loc[0, "genre"] = ""
    assert set(colour_genres(table)) == {"", "Comedy", "Horror"}
    monkeypatch.setattr(maps, "N_GENRE_COLOURS", 1)
    assert (colour_genres(table) == "Horror").sum() == 10


def test_of_a_large_catalogue_the_most_watched_are_drawn_and_those_that_must_not_be_missing(monkeypatch):
    table = make_film_map(predictor(toys.dataset([[0, 1, 1, 2, 2, 2]], 6), Embedded(np.eye(6)))).table
    assert len(limit_films(table, [5])) == 6
    monkeypatch.setattr(maps, "MAX_DRAWN_FILMS", 2)
    assert limit_films(table, [5]).index.tolist() == [1, 2, 5]


def test_a_film_is_told_by_the_rarest_of_its_genres_that_is_not_rare():
    genres = pd.Series(["Drama|War", "Drama|Horror", "Drama|Horror", "Horror", "", "War"] + ["Drama"] * 40)
    assert main_genres(genres)[:7].tolist() == ["Drama", "Horror", "Horror", "Horror", "", "War", "Drama"]
    many = pd.Series(["Drama|Horror"] * 3 + ["Drama"] * 7)
    assert main_genres(many).tolist() == ["Horror"] * 3 + ["Drama"] * 7


def test_a_tsne_map_must_have_been_computed(monkeypatch):
    asked = predictor(WORLD, Embedded(np.eye(20)))
    monkeypatch.setattr(tsne, "load_points", lambda predictor: None)
    with pytest.raises(ServingError, match="compute it first"):
        make_film_map(asked, "t-SNE")
    monkeypatch.setattr(tsne, "load_points", lambda predictor: np.arange(40, dtype=np.float32).reshape(20, 2))
    found = make_film_map(asked, "t-SNE")
    assert found.table["y"].iloc[3] == 7
    assert found.variance_shares is None


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "MAX_REGIONS", 2)
        areas = find_regions(apart(), catalog, np.arange(N) if views is None else views)
    return sorted(areas, key=lambda area: len(area.items))


def label(region):
    return " · ".join(term.name for term in region.label_terms)


def test_a_region_is_called_by_the_genre_and_decade_that_are_over_represented_there():
    catalog = world()
    catalog.movies.loc[: N // 4 - 1, "genres"] = "Drama|Horror"
    catalog.movies.loc[: N // 4 - 1, "year"] = 1985
    one, other = found(catalog, np.tile([5, 1], N // 2))
    assert sorted(one.items.tolist()) == list(range(N // 4))
    assert label(one) == "Horror · 1980s"
    assert {term.name: (term.region_share, term.catalog_share) for term in one.terms}["Horror"] == (1.0, 0.25)
    assert (one.x, one.y) == (pytest.approx(40, abs=1), pytest.approx(40, abs=1))
    assert "Horror" not in label(other)


def test_where_nothing_stands_out_nothing_is_said():
    one, other = found(world(), np.tile([5, 1], N // 2))
    assert one.terms == other.terms == ()
    assert label(one) == ""
    assert not one.has_topic


def test_a_tag_counts_when_people_agree_on_it_and_not_when_it_is_one_persons_list():
    films = np.repeat(np.arange(100, 130), 2)  # each twice, by two people
    given = [(int(film), "space opera", 0) for film in films] + [(film, "my dvds", 0) for film in range(100, 200)]
    given += [(film, "national film registry", 0) for film in [*range(100, 160), *range(100, 105)]]
    one, _ = found(world(Tags.from_rows(given)), np.tile([5, 1], N // 2))
    assert [term.name for term in one.terms] == ["space opera"]


def test_how_widely_films_are_watched_is_said_and_the_most_watched_come_first():
    views = np.where(np.arange(N) < N // 10, 1000, 1) + np.arange(N)
    one, _ = found(world(), views)
    assert label(one) == "widely watched"
    assert one.items[0] == N // 10 - 1
    assert not one.has_topic


@pytest.mark.parametrize(("year", "text"), [(1925, "before 1960"), (1959, "before 1960"), (1960, "1960s"), (pd.NA, "")])
def test_early_decades_are_one_term_and_an_unknown_year_is_none(year, text):
    catalog = world()
    catalog.movies.loc[: N // 4 - 1, "year"] = year
    region, _ = found(catalog, np.tile([5, 1], N // 2))
    assert label(region) == text


def test_few_films_and_films_without_year_or_tags_have_regions():
    catalog = toys.catalog(3)
    catalog.movies["year"] = pd.array([pd.NA] * 3, dtype="Int64")
    (area,) = find_regions(np.zeros((3, 2)), catalog, np.ones(3))
    assert sorted(area.items.tolist()) == [0, 1, 2]


def test_the_shipped_map_is_that_of_the_shipped_network():
    names = DEFAULT_DATASET, "bert4rec"
    document = paths.shipped_checkpoint(DEFAULT_DATASET, "leave-one-out", "bert4rec") / checkpoints.META
    meta, payloads = storage.read_payloads(document)
    weights = checkpoints.weights_from_bytes(payloads[0])["items.weight"][: meta["n_items"]]
    points = arrays.read(
        paths.film_map(paths.ASSETS, *names), tsne.POINTS_NAME, tsne.fingerprint(weights.astype("<f4"))
    )
    assert points is not None
    assert points.shape == (meta["n_items"], 2)
