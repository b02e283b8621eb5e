import re

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import recommenders, session
from pages.ui.visitor import ListState
from pages.watch import last_films
from recsys.errors import RecsysError
from recsys.serving import predictor
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import keys, said

RARE = len(world.TITLES) + 1
IN_ORDER = "1-2-3-4-5-6-7-8-9-10-11-12-13"  # in the order in which everybody watches the films


def script():
    from pages.ui import cache, session
    from pages.watch import last_films

    session.load()
    dataset = cache.dataset("ml-latest-sample")
    session.convert_pending(dataset)
    last_films.panel(dataset, session.visitor().current.films)


@pytest.fixture
def opened(home):
    def panel(s):
        app = AppTest.from_function(script, default_timeout=60)
        app.query_params["s"] = s
        return open_part(app, "guessed-open")

    return panel


def rows(app):
    """Return the cells of each recommender: hits, interval, NDCG and median rank."""
    return {name: list(cells) for name, *cells in app.table[0].value.itertuples()}


def test_only_recommenders_that_are_there_are_asked_and_nothing_is_fitted(opened, monkeypatch):
    app = opened(IN_ORDER)
    available = recommenders.ready_names("ml-latest-sample")
    assert "bert4rec" in available
    assert "markov" not in available
    app.button(key="guess").click().run()
    assert not app.exception
    assert len(rows(app)) == len(available)
    assert recommenders.ready_names("ml-latest-sample") == available
    assert "guess" not in keys(app)


def test_numbers_and_names_are_in_the_language_of_the_visitor(opened):
    predictor.load("popular", world.build())
    app = opened(IN_ORDER)
    app.session_state.lang = "uk"
    app.button(key="guess").click().run()
    assert not app.exception
    assert "Найпопулярніші" in rows(app)
    assert all(re.fullmatch(r"[01],\d{4}", cells[2]) for cells in rows(app).values())


def test_everybody_watches_in_this_order_so_a_chain_guesses_all_of_them(opened):
    for name in ("markov", "popular"):
        predictor.load(name, world.build())
    app = opened(IN_ORDER)
    app.button(key="guess").click().run()
    hits, interval, ndcg, median_rank = rows(app)["Markov chain"]
    assert (hits, interval, ndcg) == ("10 of 10", "72% – 100%", "1.0000")
    assert median_rank.startswith("1 ")
    assert "had 10 of your last 10 films in" in said(app)
    styles = app.table[0].proto.arrow_data.styler.styles
    assert styles.count("linear-gradient") >= 2
    assert f"{last_films.BAR_COLOUR} 72.2% 99.0%" in styles  # the bar of an interval, for 10 hits of 10


def test_another_history_is_asked_about_anew(opened):
    app = opened("1-2-3")
    assert "Each of your last 2 films is hidden in turn" in said(app)
    app.button(key="guess").click().run()
    app.session_state.visitor.current = ListState(films=(5, 6, 7))
    assert "guess" in keys(app.run())


def test_favourites_are_asked_about_as_favourites_and_a_history_as_a_history(opened, monkeypatch):
    favourites = []
    monkeypatch.setattr(session, "for_unordered_list", lambda each: favourites.append(each) or each)
    app = opened("1-2-3")
    app.button(key="guess").click().run()
    assert favourites
    favourites.clear()
    app.session_state.visitor.current = ListState(films=(0, 1, 2), in_watch_order=True)
    app.run().button(key="guess").click().run()  # the answers for favourites are no longer shown
    assert not app.exception
    assert not favourites


def test_a_recommender_that_is_new_can_be_asked_too(opened):
    app = opened("1-2-3-4-5-6")
    app.button(key="guess").click().run()
    n_asked = len(rows(app))
    predictor.load("markov", world.build())
    app.run()
    assert f"Test {n_asked + 1} recommenders" in app.button(key="guess").label


def test_films_that_nobody_can_recommend_are_not_asked_for(opened):
    app = opened(f"1-2-{RARE}")
    assert "Your last film is hidden" in said(app)
    app.button(key="guess").click().run()
    assert not app.exception
    assert "Add a second film." in said(opened("1"))
    assert "Add a second film." in said(opened(""))


def test_the_button_stays_if_every_recommender_fails(opened, monkeypatch):
    def fail(*args):
        raise RecsysError("the model file is damaged")

    app = opened("1-2-3")
    with monkeypatch.context() as patch:
        patch.setattr(last_films, "ranks_of_hidden_films", fail)
        app.button(key="guess").click().run()
        assert "The model file is damaged." in said(app)
        assert "guess" in keys(app)
    assert "guess" in keys(app.run())
    app.button(key="guess").click().run()
    assert rows(app)


def test_the_bar_has_a_line_at_the_share_of_hits():
    css = last_films.interval_bar(0.25, 0.5, 0.75)
    assert "transparent 25.0%" in css
    assert f"{last_films.charts.ACCENT} 49.0% 51.0%" in css
    assert "transparent 75.0%" in css


def summary(n_films, *results):
    """Return the summary for the hits of recommenders A, B, …, and the interval of each."""
    columns = ["recommender", "hits", "hit_rate_low", "hit_rate_high"]
    table = [(name, *result) for name, result in zip("ABC", results, strict=False)]
    return last_films.summary(pd.DataFrame(table, columns=columns), n_films)


def test_the_summary_says_if_the_difference_is_clear():
    assert "interval is above all others" in summary(10, (9, 0.6, 0.98), (1, 0.02, 0.4))
    assert "intervals of 2 other recommenders overlap" in summary(10, (3, 0.1, 0.6), (2, 0.06, 0.5), (0, 0, 0.28))
    assert "interval of 1 other recommender overlaps" in summary(10, (3, 0.3, 0.6), (2, 0.06, 0.5), (0, 0, 0.28))
    assert summary(10, (0, 0, 0.3), (0, 0, 0.3)) == "No recommender had any of your last 10 films in its top 10."
    assert "**A** and 1 more had 3 of your last 10 films" in summary(10, (3, 0.1, 0.6), (3, 0.1, 0.6))
    assert summary(1, (1, 0.2, 1.0)) == "**A** had your last film in its top 10."


def test_the_menu_of_recommenders_has_all_that_are_asked(opened):
    assert set(recommenders.ready_names("ml-latest-sample")) <= set(recommenders.menu_labels("ml-latest-sample"))


def test_one_film_and_one_recommender_are_counted_as_one(opened):
    app = opened("1-2")
    texts = [said(app), *(button.label for button in app.button)]
    app.button(key="guess").click().run()
    texts += [said(app), app.table[0].value.to_string()]
    assert not re.search(r"\b1 (films|recommenders|others)\b", " ".join(texts))
