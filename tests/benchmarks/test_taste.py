import json

import numpy as np
import pytest

from benchmarks import taste
from recsys.data.dataset import Film
from recsys.models.content import Content, ContentConfig
from tests import toys

pytestmark = pytest.mark.usefixtures("home")


def test_a_model_of_genres_stays_in_a_genre_and_finds_half_of_a_group_across_genres():
    world = toys.checkerboard(60)  # even films are comedies, odd ones horror
    model = Content(ContentConfig(vectors="genres")).fit(world)
    comedies = np.arange(0, 60, 2)
    assert taste.mean_share(model, comedies, world, seed=0) == 1
    assert taste.mean_share(model, np.arange(40, 46), world, seed=0) < 1


def test_rules_of_groups():
    film = Film(1, "Star Voyage II", 1984, "Horror|Sci-Fi")
    genres = {"Horror", "Sci-Fi"}
    assert taste.title_rule("Star Voyage", years=(1980, 1990))(film, genres, "en")
    assert not taste.title_rule("Star Voyage", years=(1990, 2000))(film, genres, "en")
    assert not taste.title_rule("Star Voyage", years=(1980, 1990), genre="Comedy")(film, genres, "en")
    assert taste.genre_rule("Horror", years=(1980, 1990))(film, genres, "en")
    assert not taste.genre_rule("Horror", excluded=("Sci-Fi",))(film, genres, "en")
    assert taste.language_rule("fr", "it")(film, genres, "it")
    assert not taste.language_rule("fr")(film, genres, "en")
    assert not taste.language_rule("it", is_animated=True)(film, genres, "it")


@pytest.mark.slow
def test_the_built_in_set_has_the_groups():
    from recsys.data import datasets

    groups = taste.items_of_groups(datasets.ensure(datasets.DEFAULT_DATASET))
    assert len(groups) >= 22
    assert min(len(items) for items in groups.values()) >= taste.MIN_FILMS


@pytest.mark.slow
def test_main_writes_the_figures(tmp_path, capsys):
    path = tmp_path / "taste.json"
    taste.main(["content-fields", "content-genre", "--json", str(path)])
    rows = json.loads(path.read_text())["rows"]
    assert rows["content-fields"]["mean"] > rows["content-genre"]["mean"]
