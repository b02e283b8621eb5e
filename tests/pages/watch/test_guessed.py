import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import recommenders
from pages.watch import guessed
from pages.watch import history_words as words
from recsys.serving import predictor
from recsys.serving.insight.hidden import FOUND
from tests.pages import world
from tests.pages.reading import keys, said

RARE = len(world.TITLES) + 1


def script():
    from pages.ui import cache, session
    from pages.watch import guessed

    session.load()
    dataset = cache.dataset("ml-latest-sample")
    guessed.panel(dataset, session.films(dataset))


@pytest.fixture
def opened(home):
    def panel(s):
        app = AppTest.from_function(script, default_timeout=60)
        app.query_params["s"] = s
        app.session_state["guessed-open"] = True
        return app.run()

    return panel


def rows(app):
    """Recommender → what its row says, without tags."""
    (html,) = [element.value for element in app.html if "nr-guesses" in element.value]
    lines = re.findall(r"<tr>(.*?)</tr>", html.partition("<tbody>")[2])
    cells = [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", line)] for line in lines]
    return {name: rest for name, *rest in cells}


def test_only_recommenders_that_are_there_are_asked_and_nothing_is_fitted(opened, monkeypatch):
    app = opened("1-2-3-4-5-6-7-8-9-10-11-12-13")
    there = guessed.there("ml-latest-sample")
    assert "bert4rec" in there
    assert "markov" not in there
    app.button(key="guess").click().run()
    assert not app.exception
    assert len(rows(app)) == len(there)
    assert guessed.there("ml-latest-sample") == there
    assert "guess" not in keys(app)


def test_numbers_and_names_are_in_the_language_of_the_visitor(opened):
    predictor.load("popular", world.build())
    app = opened("1-2-3-4-5-6-7-8-9-10-11-12-13")
    app.session_state.language = "uk"
    app.button(key="guess").click().run()
    assert not app.exception
    assert "Найпопулярніші" in rows(app)
    assert all(re.fullmatch(r"[01],\d{4}", cells[3]) for cells in rows(app).values())


def test_everybody_watches_in_this_order_so_a_chain_guesses_all_of_them(opened):
    for name in ("markov", "popular"):
        predictor.load(name, world.build())
    app = opened("1-2-3-4-5-6-7-8-9-10-11-12-13")
    app.button(key="guess").click().run()
    told = rows(app)
    share, _, interval, ndcg, middle = told["Markov chain"]
    assert (share, interval, ndcg) == ("10 of 10", "72% – 100%", "1.0000")
    assert middle.startswith("1 ")
    assert "would have shown you 10 of your last 10 films" in said(app)


def test_another_history_is_asked_about_anew(opened):
    app = opened("1-2-3")
    assert (
        f"Each of your last {2} films is hidden in turn, and every recommender that is ready is asked "
        "for it, given the films before it. Nothing is trained or fitted for this."
    ) in said(app)
    app.button(key="guess").click().run()
    app.session_state.films = (5, 6, 7)
    assert "guess" in keys(app.run())


def test_films_that_nobody_can_recommend_are_not_asked_for(opened):
    app = opened(f"1-2-{RARE}")
    assert (
        "Your last film is hidden, and every recommender that is ready is asked for it, given the "
        "film before it. Nothing is trained or fitted for this."
    ).format() in said(app)
    app.button(key="guess").click().run()
    assert not app.exception
    assert "Add a second film: to hide one, there must be another before it." in said(opened("1"))
    assert "Add a second film: to hide one, there must be another before it." in said(opened(""))


def test_the_verdict_says_when_films_are_too_few_to_tell():
    apart = words.verdict([9, 1], [(0.6, 0.98), (0.02, 0.4)], ["A", "B"], 10, FOUND)
    assert (
        "Its interval lies above that of the other one, so these films are enough to tell them apart.".format() in apart
    )
    close = words.verdict([3, 2, 0], [(0.1, 0.6), (0.06, 0.5), (0, 0.28)], ["A", "B", "C"], 10, FOUND)
    assert (
        f"That is little to go by: the intervals of {2} of the {2} others overlap with its own, "
        "so these films cannot tell them apart. The Evaluation page takes hundreds of people."
    ) in close
    assert (
        words.verdict([0, 0], [(0, 0.3)] * 2, ["A", "B"], 10, FOUND)
        == f"No recommender would have shown you one of your last {10} films in its top {FOUND}."
    )
    assert "and 1 more would" in words.verdict([3, 3], [(0.1, 0.6)] * 2, ["A", "B"], 10, FOUND)


def test_the_menu_of_recommenders_has_all_that_are_asked(opened):
    assert set(guessed.there("ml-latest-sample")) <= set(recommenders.menu("ml-latest-sample"))


def test_one_film_and_one_recommender_are_counted_as_one(opened):
    app = opened("1-2")
    texts = [said(app), *(button.label for button in app.button)]
    app.button(key="guess").click().run()
    texts += [said(app), *(element.value for element in app.html)]
    assert not re.search(r"\b1 (films|recommenders|others)\b", " ".join(texts))
