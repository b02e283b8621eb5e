"""The six lines of the README that use the project as a library."""

import os
import re
import subprocess
import sys

import pytest

import recsys
from recsys import paths
from recsys.errors import RecsysError
from recsys.serving.filters import Filters
from recsys.serving.search import search
from tests.pages import world


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    """A home with a small ml-latest-sample and a BERT4Rec that has learnt something of it."""
    home = tmp_path_factory.mktemp("home")
    world.furnish(home)
    return home


@pytest.fixture
def data(furnished, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(furnished))
    return recsys.load("ml-latest-sample")


def test_importing_costs_nothing():
    code = "import sys, recsys; sys.exit(bool({'numpy', 'pandas', 'torch', 'tqdm', 'tyro'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=paths.REPOSITORY, check=False).returncode == 0


def lines_of(page):
    """The lines that a page shows, without its indent and empty lines."""
    text = (paths.REPOSITORY / page).read_text("utf-8")
    indent, shown = re.search(r"^( *)(import recsys\n.+?ndcg@10\"\]\)\n)", text, re.MULTILINE | re.DOTALL).groups()
    return [line.removeprefix(indent) for line in shown.splitlines() if line]


def test_the_lines_that_are_shown_work_as_they_stand(furnished):
    lines = lines_of("README.md")
    assert lines == lines_of("recsys/__init__.py")
    code = "\n".join(lines).replace("Inception (2010)", world.TITLES[0]).replace("Interstellar (2014)", world.TITLES[1])
    environment = os.environ | {"RECSYS_HOME": str(furnished)}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=paths.REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *films, figure = ended.stdout.splitlines()
    assert len(films) == 5
    assert films[0].startswith(f"1 {world.TITLES[2]} 0.")  # in this world everybody watches the films in order
    assert 0 < float(figure) <= 1


def test_recommendations_can_be_filtered_and_know_their_film(data):
    bert4rec = recsys.recommender("bert4rec", data)
    (one,) = bert4rec.recommend([world.TITLES[4]], k=1, filters=Filters(genres=("Horror",)))
    assert (one.rank, one.film.genres) == (1, "Horror")
    assert repr(bert4rec) == "<BERT4Rec for ml-latest-sample>"


def test_the_index_of_titles_is_built_once_for_all_recommenders_of_a_data_set(data, monkeypatch):
    built, index = [], search.TitleIndex
    monkeypatch.setattr(search, "TitleIndex", lambda *given: built.append(given) or index(*given))
    for name in ("popular", "bert4rec"):
        recommender = recsys.recommender(name, data)
        recommender.recommend()
        assert recommender.recommend([world.TITLES[4]]) == recommender.recommend([world.TITLES[4]])
    assert len(built) == 1


def test_favourites_in_no_order_get_the_same_films(data, monkeypatch):
    recommender, asked = recsys.recommender("bert4rec", data), []
    monkeypatch.setattr("recsys.serving.predictor.for_unordered_list", lambda each: asked.append(each) or each)
    in_order = recommender.recommend(world.TITLES[:2], in_order=True)
    assert not asked
    assert recommender.recommend(world.TITLES[:2]) == in_order
    assert asked == [recommender.predictor]


def test_a_single_title_and_notes_about_titles(data, monkeypatch):
    recommender = recsys.recommender("bert4rec", data)
    assert recommender.recommend(world.TITLES[4]) == recommender.recommend([world.TITLES[4]])
    monkeypatch.setattr("recsys.serving.history.parse_titles", lambda index, titles: ([4], ["it was read as Film 4"]))
    with pytest.warns(UserWarning, match="it was read as Film 4"):
        recommender.recommend(["film"])


def test_an_unknown_title_a_recommender_and_a_data_set_are_errors_with_a_sentence(data):
    with pytest.raises(RecsysError, match="did you mean"):
        recsys.recommender("popular", data).recommend(["Tom Story"])
    with pytest.raises(RecsysError, match="no recommender is called bert5rec"):
        recsys.recommender("bert5rec", data)
    with pytest.raises(RecsysError, match="-m recsys data get ml-1m"):
        recsys.load("ml-1m")


def test_every_recommender_is_listed():
    assert {"bert4rec", "markov", "popular"} < set(recsys.recommenders())
