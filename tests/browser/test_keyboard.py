"""Enter in the search box, and where the focus is after the list has changed."""

import pytest

from tests.browser.test_app import ROWS, idle, wait_for_texts
from tests.pages import world

pytestmark = pytest.mark.slow

FOCUSED = "key => !!document.activeElement.closest('.st-key-' + key)"


def test_enter_adds_the_best_match_and_the_focus_stays_in_the_box(address, tab):
    tab.goto(address)
    tab.locator(".st-key-search input").click()
    for typed, films in (("goodfelas", ["GoodFellas"]), ("lion ki", ["GoodFellas", "The Lion King"])):
        tab.keyboard.type(typed)
        tab.keyboard.press("Enter")  # at once: before anything was found
        wait_for_texts(tab, ROWS, films)
        idle(tab)
        assert tab.evaluate(FOCUSED, "search")
        assert tab.locator(".st-key-search input").input_value() == ""


def test_films_typed_faster_than_the_server_answers_are_all_added(address, tab):
    tab.goto(address)
    tab.locator(".st-key-search input").click()
    for title in ("goodfellas", "lion king"):
        tab.keyboard.type(title, delay=30)
        tab.keyboard.press("Enter")
    wait_for_texts(tab, ROWS, ["GoodFellas", "The Lion King"])


def test_enter_adds_nothing_for_a_film_that_is_not_there(address, tab):
    tab.goto(f"{address}/?s=1")
    tab.locator(".st-key-search input").click()
    tab.keyboard.type("Oppenheimer")
    tab.get_by_text("is not among the 31 films").wait_for()
    tab.keyboard.press("Enter")
    idle(tab)
    assert tab.locator(ROWS).count() == 1
    assert tab.locator(".st-key-search input").input_value() == "Oppenheimer"


def test_the_focus_stays_in_the_box_after_a_click_and_goes_with_a_film_that_is_moved(address, tab):
    tab.goto(f"{address}/?s=1-2")
    first, second, third = (world.TITLES[item][:-7] for item in range(3))
    tab.locator(".st-key-search input").fill(world.TITLES[2])
    tab.locator(".st-key-found button").first.click()
    wait_for_texts(tab, ROWS, [first, second, third])
    idle(tab)
    tab.wait_for_function(FOCUSED, arg="search")

    tab.locator(".st-key-up-3 button").focus()
    tab.keyboard.press("Enter")
    wait_for_texts(tab, ROWS, [first, third, second])
    idle(tab)
    tab.wait_for_function(FOCUSED, arg="up-3")
    tab.keyboard.press("Enter")
    wait_for_texts(tab, ROWS, [third, first, second])
    idle(tab)
    tab.wait_for_function(FOCUSED, arg="down-3")  # it cannot go further up

    tab.locator(".st-key-remove-3 button").focus()
    tab.keyboard.press("Enter")
    wait_for_texts(tab, ROWS, [first, second])
    idle(tab)
    tab.wait_for_function(FOCUSED, arg="remove-1")  # the film that has taken its position


@pytest.mark.parametrize(("opener", "widget"), [("share", "file-picture"), ("posters", "typed_poster_key")])
def test_enter_opens_a_popover_and_moves_the_focus_into_it(address, tab, opener, widget):
    tab.goto(f"{address}/?s=1-2")
    tab.locator(".st-key-picks [class*=st-key-more-] button").first.wait_for()  # `idle` is also true before it
    idle(tab)
    tab.locator(f".st-key-{opener} button").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function(FOCUSED, arg=widget)  # the picture takes a second


def test_the_focus_stays_in_the_plan_of_an_evening(address, tab):
    tab.goto(f"{address}/?s=1-2")
    idle(tab)
    tab.locator(".st-key-plan summary").click()
    for clicked, target in (("reject-1", "reject-1"), ("plan-afresh", "plan-add"), ("plan-add", "plan-add")):
        tab.locator(f".st-key-{clicked} button:enabled").focus()
        tab.keyboard.press("Enter")
        idle(tab)
        tab.wait_for_timeout(500)
        tab.wait_for_function(FOCUSED, arg=target)
