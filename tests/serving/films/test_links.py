import pandas as pd
import pytest

from recsys.data.dataset import Catalog
from recsys.serving.films.links import film_links
from tests import toys


@pytest.mark.parametrize(
    ("imdb", "tmdb", "links"),
    [
        (
            "tt0114709",
            862,
            {"IMDb": "https://www.imdb.com/title/tt0114709/", "TMDB": "https://www.themoviedb.org/movie/862"},
        ),
        ("", None, {}),
        ('tt1"><script>', -3, {}),
        ("tt0114709", None, {"IMDb": "https://www.imdb.com/title/tt0114709/"}),
    ],
)
def test_a_film_is_linked_where_its_ids_are_known_and_look_like_ids(imdb, tmdb, links):
    movies = toys.catalog(1).movies.assign(imdb_id=imdb, tmdb_id=pd.array([tmdb], dtype="Int64"))
    assert film_links(Catalog(movies, movies.iloc[:0]), 0) == links
