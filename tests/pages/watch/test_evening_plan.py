import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages import world
from tests.pages.panel import films, opened
from tests.pages.reading import said, tagged


@pytest.fixture
def show(home):
    """Opens the panel for the films of a link."""
    return lambda **asked: opened("watch.evening_plan", "plan", **asked)


def evening(app):
    return [tagged(html.value)[0] for html in app.container(key="evening").html]


def test_an_evening_continues_the_list_and_all_of_it_can_be_added(show):
    app = show(s="1-2-3", variant="markov")  # everybody watches the fourth film after the third
    assert not app.exception
    planned = evening(app)
    assert len(set(planned)) == 3
    assert not {*planned} & {title[:-7] for title in world.TITLES[:3]}
    assert planned[0] == world.TITLES[3][:-7]
    app.button(key="plan-add").click().run()
    assert films(app).startswith("0 1 2 3")
    assert len(films(app).split()) == 6


def test_an_evening_is_as_long_as_is_asked_for(show):
    app = show(s="1-2-3")
    three = evening(app)
    for length in (5, 2):
        app.button_group[0].set_value(length).run()
        assert len(set(evening(app))) == length
    app.button_group[0].set_value(3).run()
    assert evening(app) == three


def test_each_film_of_an_evening_has_a_reason(show):
    app = show(s="1-2-3", variant="markov")
    notes = [re.search(r'nr-note">([^<]*)<', html.value)[1] for html in app.container(key="evening").html]
    assert notes[0] == f"Because of {world.TITLES[2][:-7]}"  # a chain looks at the latest film alone
    assert notes[1] == f"Because of {evening(app)[0]}"
    unmoved = show(s="1-2", variant="popular").container(key="evening").html[0].value
    assert "No single film is the reason" in unmoved


def test_a_film_that_is_turned_down_is_replaced_and_what_stood_before_it_stays(show):
    app = show(s="1-2-3")
    before = evening(app)
    third = next(button for button in app.button if before[2] in button.label.replace("\\", ""))
    third.click().run()
    after = evening(app)
    assert after[:2] == before[:2]
    assert before[2] not in after
    assert len(after) == 3
    assert app.session_state.focus == (1, ("reject-2", "plan-afresh"))
    app.button(key="plan-afresh").click().run()
    assert evening(app) == before
    assert app.session_state.focus == (2, ("plan-add",))


def test_another_list_gets_an_evening_of_its_own(show):
    """Films that were rejected or kept for one list have no effect on another list."""
    app = show(s="1-2-3")
    second = next(button for button in app.button if evening(app)[1] in button.label.replace("\\", ""))
    second.click().run()
    state = app.session_state.visitor
    state.current = replace(state.current, films=(0, 1))
    app.run()
    assert evening(app) == evening(show(s="1-2"))


def test_when_films_run_out_the_evening_says_so(show):
    for n, text in ((28, "Only 2 films are left"), (29, "Only 1 film is left"), (30, "There are no films left")):
        app = show(s="-".join(str(film + 1) for film in range(n)))
        assert f"{text} for the plan." in said(app)
    assert app.button(key="plan-add").disabled


def test_a_recommender_without_probabilities_plans_by_rank(show):
    app = show(s="1-2", variant="popular")
    assert "Most popular gives no probabilities" in said(app)
    assert len(evening(app)) == 3


def test_a_planned_film_that_is_added_is_no_longer_to_watch_later(show):
    app = show(s="1-2-3", variant="markov")
    state = app.session_state.visitor
    state.current = replace(state.current, later=(3, 20))  # the plan begins with film 3
    app.button(key="plan-add").click().run()
    assert state.current.films[:4] == (0, 1, 2, 3)
    assert state.current.later == (20,)
    assert [step.lists.later for step in state.undo_stack] == [(3, 20)]  # one click of Undo restores the mark


def test_a_second_click_on_start_over_before_the_page_runs_again_is_ignored(home):
    def buttons_without_decisions():  # as after the first click, which has removed the decisions from the session
        from pages.watch import evening_plan

        evening_plan._show_buttons(evening_plan.PlanDecisions(("", None), (), (1,)), [])

    app = AppTest.from_function(buttons_without_decisions, default_timeout=60).run()
    app.button(key="plan-afresh").click().run()
    assert not app.exception
