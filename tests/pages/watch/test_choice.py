"""A list to choose from: only these films, or none of them."""

from tests.pages import world
from tests.pages.reading import picks, said, watched


def choose(app, text):
    app.session_state.choice_open = True
    app.run().text_area(key="choice_text").set_value(text)
    app.button(key="choice_set").click().run()
    assert not app.exception
    return app


def title(item):
    return world.TITLES[item][:-7]


def test_only_the_films_of_the_list_are_recommended(visit):
    app = choose(visit(s="1-2-3"), f"{world.TITLES[5]}\n{world.TITLES[8]}\nNo such film at all")
    assert {*picks(app)} == {title(5), title(8)}
    assert watched(app) == world.TITLES[:3] or len(watched(app)) == 3
    assert "Not found: 1 title (No such film at all)." in said(app)
    assert app.query_params["from"] in ("6-9", ["6-9"])


def test_none_of_the_films_of_the_list_is_recommended(visit):
    before = picks(visit(s="1-2-3"))
    app = visit(s="1-2-3", **{"from": "6-9"}, among="none")
    assert not {title(5), title(8)} & {*picks(app)}
    app.session_state.choice_open = True
    app.run().button(key="choice_clear").click().run()
    assert picks(app) == before
    assert "from" not in app.query_params


def test_undo_brings_the_list_back(visit):
    app = visit(s="1-2-3", **{"from": "6-9"})
    chosen = picks(app)
    app.session_state.choice_open = True
    app.run().button(key="choice_clear").click().run()
    app.button(key="undo").click().run()
    assert picks(app) == chosen
