import pytest
from streamlit.testing.v1 import AppTest

from recsys.serving.recommend import DISLIKED_STARS, LIKED_STARS
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import picks, said, titles, watched


def told(app):
    """What the page says that the ratings did."""
    return "Films similar to those you liked are ranked higher" in said(app)


def test_a_film_that_was_not_liked_is_left_out_of_what_the_model_is_told(visit):
    without = picks(visit(s="1-2"))
    app = visit(s="1-2-11")
    before = picks(app)
    app.button(key="dislike-11").click().run()
    assert not app.exception
    assert told(app)
    assert len({*picks(app)} & {*without}) >= 7  # the model does not get the film; films like it rank lower
    assert watched(app) == titles(0, 1, 10)
    assert titles(10)[0] not in picks(app)  # it was watched, liked or not
    app.button(key="dislike-11").click().run()
    assert picks(app) == before
    assert not told(app)


def test_a_liked_film_changes_the_list_and_the_page_says_so(visit):
    app = visit(s="1-2-3")
    before = picks(app)
    app.button(key="like-3").click().run()
    assert picks(app) != before
    assert told(app)
    assert app.session_state.visitor.ratings == {world.TITLES[2]: LIKED_STARS}
    app.button(key="like-3").click().run()
    assert picks(app) == before
    app.button(key="like-3").click().run()
    app.button(key="dislike-3").click().run()
    assert app.session_state.visitor.ratings == {world.TITLES[2]: DISLIKED_STARS}


def test_a_model_that_reads_ratings_is_told_them_and_the_page_says_so(visit):
    app = visit(s="1-2-3")
    app.selectbox(key="model").set_value("mf-explicit").run()
    app.button(key="dislike-3").click().run()
    assert "MF on ratings uses your ratings." in said(app)
    assert not told(app)


def test_thumbs_say_what_they_do_to_which_film(visit):
    app = visit(s="1-2-3")
    assert "I liked Blade Runner" in app.button(key="like-3").label
    app.button(key="like-3").click().run()
    assert "Remove your thumbs up for Blade Runner" in app.button(key="like-3").label


def test_stars_are_there_for_whoever_wants_them(visit):
    app = visit(s="1-2")
    open_part(app, "ratings-open")
    app.button_group(key="rate_by").set_value("stars").run()
    assert not [button for button in app.button if button.key.startswith("like-")]
    stars = next(group for group in app.get("feedback") or app.get("button_group") if group.key == "stars-2")
    stars.set_value(0).run()
    assert not app.exception
    assert app.session_state.visitor.ratings == {world.TITLES[1]: 1.0}
    assert told(app)
    app.button(key="ratings-forget").click().run()
    assert app.session_state.visitor.ratings == {}


def test_ratings_outlive_a_change_of_page_and_of_data(visit):
    world.save(world.build("ml-latest-small", first_id=500))
    app = visit(s="1-2-3")
    app.button(key="dislike-2").click().run()
    app.switch_page("2_compare.py").run().switch_page("1_watch_next.py").run()
    assert told(app)
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert app.session_state.visitor.ratings == {world.TITLES[1]: DISLIKED_STARS}
    assert app.session_state.rated == "501.2"


def test_what_a_link_says_of_the_films_is_taken_over(visit):
    app = visit(s="1-2-3")
    app.session_state.rated = "2.1~3.5~99.4~nonsense"
    app.run()
    assert app.session_state.visitor.ratings == {world.TITLES[1]: 1.0, world.TITLES[2]: 5.0}
    assert app.session_state.rated == "2.1~3.5"
    app.button(key="like-3").click().run()
    assert app.session_state.rated == "2.1"


@pytest.mark.parametrize("said", ["", "~", ".", "1.9", "1.-3", "x" * 5000])
def test_no_link_breaks_the_ratings(visit, said):
    app = visit(s="1-2-3")
    app.session_state.rated = said
    app.run()
    assert not app.exception
    assert app.session_state.rated == ""


def test_half_stars_and_thousands_of_ratings_survive_a_link(visit):
    app = visit(s="1-2-3", rated="1.3.5~2.0.5~3.4.5")
    assert app.session_state.visitor.ratings == {world.TITLES[0]: 3.5, world.TITLES[1]: 0.5, world.TITLES[2]: 4.5}
    assert app.session_state.rated == "1.3.5~2.0.5~3.4.5"
    app.session_state.rate_by = "stars"
    app.run()
    assert [app.session_state[f"stars-{movie}"] for movie in (1, 2, 3)] == [3, 0, 4]  # half stars are rounded up


def test_films_with_the_same_title_and_year_are_rated_one_by_one(visit):
    twice = [*world.TITLES]
    twice[4] = twice[1]
    world.save(world.build("ml-latest-small", twice, first_id=500))
    app = visit(data="ml-latest-small", s="501-504")
    app.button(key="like-504").click().run()
    assert app.session_state.rated == f"504.{LIKED_STARS:g}"
    app.button(key="dislike-501").click().run()
    assert app.session_state.rated == f"501.{DISLIKED_STARS:g}~504.{LIKED_STARS:g}"
    app = visit(data="ml-latest-small", s="501-504", rated="504.4")
    assert app.session_state.rated == "504.4"


def test_undo_takes_back_a_rating_and_then_the_film_before_it(visit):
    app = visit(s="1-2-3")
    app.button(key="remove-1").click().run()
    app.button(key="like-3").click().run()
    app.button(key="undo").click().run()
    assert app.session_state.visitor.ratings == {}
    assert app.session_state.rated == ""
    assert watched(app) == titles(1, 2)  # the film is still removed
    app.button(key="undo").click().run()
    assert watched(app) == titles(0, 1, 2)


def test_undo_brings_cleared_ratings_back(visit):
    app = visit(s="1-2-3", rated="1.5~2.1")
    open_part(app, "ratings-open")
    app.button(key="ratings-forget").click().run()
    assert app.session_state.rated == ""
    app.button(key="undo").click().run()
    assert app.session_state.visitor.ratings == {world.TITLES[0]: 5.0, world.TITLES[1]: 1.0}
    assert app.session_state.rated == "1.5~2.1"


def test_a_second_click_on_a_rating_before_the_page_runs_again_is_no_step_to_undo(visit):
    def rate_twice():
        from pages.ui import cache, session
        from pages.ui.visitor import visitor

        session.load()
        film = cache.dataset(visitor().current.dataset).catalog.films[0]
        session.rate(film, 4.0)
        session.rate(film, 4.0)

    app = AppTest.from_function(rate_twice, default_timeout=60).run()
    assert not app.exception
    assert len(app.session_state.visitor.undo_stack) == 1
