"""Links to a film's pages elsewhere, from the ids that its data set has."""

import re

import pandas as pd

from recsys.data.dataset import Catalog

_IMDB = re.compile(r"tt\d{1,12}")


def film_links(catalog: Catalog, item: int) -> dict[str, str]:
    """{"IMDb": address, "TMDB": address}, as far as the ids are known and look like ids."""
    found = {}
    imdb, tmdb = (catalog.movies[column].iloc[item] for column in ("imdb_id", "tmdb_id"))
    if _IMDB.fullmatch(str(imdb)):
        found["IMDb"] = f"https://www.imdb.com/title/{imdb}/"
    if not pd.isna(tmdb) and tmdb > 0:
        found["TMDB"] = f"https://www.themoviedb.org/movie/{int(tmdb)}"
    return found
