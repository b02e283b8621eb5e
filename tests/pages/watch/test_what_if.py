import pytest

from pages.ui.visitor import ListState
from pages.watch import what_if
from recsys.data.dataset import Film
from recsys.serving.insight.list_comparison import Change, RankChange
from recsys.serving.recommend import RankPosition
from tests.pages import world
from tests.pages.panel import films, opened
from tests.pages.reading import said, tagged

SCRIPT = "<script>alert('1')</script> & \"Co\""


@pytest.fixture
def show(home):
    """Opens the panel for the films of a link."""
    return lambda **asked: opened("watch.what_if", "what-if", **asked)


def test_a_closed_panel_computes_nothing(home, monkeypatch):
    monkeypatch.setattr(what_if, "rank_changes", None)  # would fail if it were called
    app = opened("watch.what_if")
    assert not app.exception
    assert not app.html


def test_dropping_the_latest_film_shows_what_would_change_and_the_list_stays(show):
    app = show(s="1-2-3")
    assert not app.exception
    assert films(app) == "0 1 2"
    assert world.TITLES[2] in tagged(app.html[0].value)  # not watched then, so it comes back as the next
    assert "is new" in said(app)


def test_a_film_is_moved_and_the_change_made_real(show):
    app = show(s="1-2-3")
    app.button_group[0].set_value(what_if.MOVE).run()
    app.number_input[0].set_value(1).run()
    assert films(app) == "0 1 2"
    app.button(key="what-if-apply").click().run()
    assert not app.exception
    assert films(app) == "2 0 1"
    assert app.session_state.visitor.current.in_watch_order  # as after a move in the list


def test_a_removal_keeps_favourites_favourites_and_a_history_a_history(show):
    app = show(s="1-2-3")
    app.button(key="what-if-apply").click().run()
    assert films(app) == "0 1"
    assert not app.session_state.visitor.current.in_watch_order
    app.session_state.visitor.current = ListState(films=(0, 1, 2), in_watch_order=True)
    app.run().button(key="what-if-apply").click().run()
    assert films(app) == "0 1"
    assert app.session_state.visitor.current.in_watch_order


def test_the_same_position_is_no_change(show):
    app = show(s="1-2-3")
    app.button_group[0].set_value(what_if.MOVE).run()
    app.number_input[0].set_value(3).run()
    assert "The film is already at position 3." in said(app)


def test_an_only_film_can_be_dropped_and_an_empty_list_says_what_to_do(show):
    app = show(s="1")
    app.button(key="what-if-apply").click().run()
    assert not app.exception
    assert films(app) == ""
    assert "Add a film first." in said(app)


def test_a_recommender_that_does_not_mind_says_so(show):
    app = show(s="1-2-3", variant="popular")
    app.button_group[0].set_value(what_if.MOVE).run()
    assert "Most popular recommends the same 10 films in the same order." in said(app)


def test_shifts_are_told_in_words_and_counted():
    changes = [
        RankChange(0, RankPosition(7, 50, 0.01), RankPosition(1, 50, 0.2), Change.ROSE),
        RankChange(1, RankPosition(None, 50, 0.3), RankPosition(2, 50, 0.1), Change.ENTERED),
        RankChange(2, RankPosition(2, 50, 0.1), RankPosition(40, 50, 0.001), Change.LEFT),
    ]
    assert what_if.summary(changes, "M") == "1 film is new, 1 film moves up, 1 film drops out."
    assert what_if.summary([*changes, *changes], "M") == "2 films are new, 2 films move up, 2 films drop out."
    html = what_if.table(changes, [Film(item, SCRIPT, 1999, "") for item in range(3)])
    assert "up from rank 7 to 1" in html
    assert "new at rank 2, was not available before" in html
    assert "no longer in the list, down from rank 2 to 40" in html
    assert "1.0% → 20.0%" in html
    assert "– → 10.0%" in html
    assert "<script" not in html


def test_nothing_is_green_whose_probability_falls():
    film = [Film(0, "Heat", 1995, "")]

    def row(before, after, turn):
        return what_if.table([RankChange(0, RankPosition(*before), RankPosition(*after), turn)], film)

    assert "nr-rose" in row((5, 50, 0.01), (3, 50, 0.02), Change.ROSE)
    less = row((5, 50, 0.02), (3, 50, 0.01), Change.ROSE)  # others fell further
    assert "nr-mixed" in less
    assert "nr-rose" not in less
    assert "up from rank 5 to 3, but less likely" in less
    assert "nr-mixed" in row((12, 50, 0.02), (9, 50, 0.01), Change.ENTERED)
    assert "but more likely" in row((3, 50, 0.01), (5, 50, 0.02), Change.FELL)
    assert "nr-fell" in row((3, 50, 0.02), (5, 50, 0.01), Change.FELL)
    assert "nr-rose" in row((5, 50, None), (3, 50, None), Change.ROSE)  # a recommender without probabilities


def test_a_list_that_did_not_change_is_counted_as_it_is(show):
    app = show(s="-".join(str(film + 1) for film in range(26)), variant="popular")  # of 30 films
    app.button_group[0].set_value(what_if.MOVE).run()
    assert "Most popular recommends the same 4 films in the same order." in said(app)


def test_films_of_favourites_in_no_order_cannot_be_moved(show, monkeypatch):
    assert len(show(s="1-2-3").get("button_group")[0].options) == 2
    monkeypatch.setattr("recsys.models.base.Model.ignores_order", True)
    app = show(s="1-2-3")
    assert len(app.button_group[0].options) == 1
    assert "Remove a film to see which recommendations change" in said(app)
