"""Back and Forward, links, the navigation of a phone, menus and dialogs by keyboard, the tour."""

import pytest

from tests.browser import accessible
from tests.browser.test_app import ROWS, WIDER_THAN_THE_SCREEN, add, idle, wait_for_texts
from tests.pages import world

pytestmark = pytest.mark.slow

GOODFELLAS, LION_KING, TOY_STORY = "GoodFellas", "The Lion King", "Toy Story"
FOCUSED = "() => document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-[\\w-]+/)[0]"
NO_FILMS = "() => !document.querySelector('.st-key-sequence .nr-text')"


def ids(*titles):
    return "-".join(str(next(n for n, label in enumerate(world.TITLES, 1) if label[:-7] == title)) for title in titles)


def test_back_and_forward_move_through_films_and_pages(address, tab):
    tab.goto(address)
    add(tab, "goodfelas", GOODFELLAS)
    wait_for_texts(tab, ROWS, [GOODFELLAS])
    idle(tab)
    add(tab, "lion king", LION_KING)
    wait_for_texts(tab, ROWS, [GOODFELLAS, LION_KING])
    tab.wait_for_url(f"**s={ids(GOODFELLAS, LION_KING)}")

    tab.go_back()
    wait_for_texts(tab, ROWS, [GOODFELLAS])
    tab.go_back()
    tab.wait_for_function(NO_FILMS)
    assert "?" not in tab.url
    tab.go_forward()
    wait_for_texts(tab, ROWS, [GOODFELLAS])
    idle(tab)

    tab.get_by_role("link", name="Evaluation").click()
    tab.get_by_role("heading", name="Evaluation", level=1).wait_for()
    tab.wait_for_url(f"**/evaluation?data=ml-latest-sample&s={ids(GOODFELLAS)}")
    assert tab.title() == "Evaluation · NextReel"
    idle(tab)
    tab.go_back()
    wait_for_texts(tab, ROWS, [GOODFELLAS])
    assert tab.title() == "Watch next · NextReel"
    tab.go_forward()
    tab.get_by_role("heading", name="Evaluation", level=1).wait_for()
    tab.go_back()
    wait_for_texts(tab, ROWS, [GOODFELLAS])
    tab.get_by_role("button", name="Undo").click()
    tab.wait_for_function(NO_FILMS)


def test_back_takes_back_how_many_films_are_shown(address, tab):
    tab.goto(f"{address}/?data=ml-latest-sample&s=1-2")
    tab.wait_for_function("() => document.querySelectorAll('.st-key-picks .nr-words b').length == 10")
    tab.locator(".st-key-how_many button").first.click()
    tab.wait_for_function("() => document.querySelectorAll('.st-key-picks .nr-words b').length == 5")
    tab.wait_for_url("**&n=5")
    tab.go_back()
    tab.wait_for_function("() => document.querySelectorAll('.st-key-picks .nr-words b').length == 10")
    assert tab.locator(".st-key-how_many [aria-checked=true]").inner_text() == "10"


def test_on_a_phone_the_navigation_closes_after_a_page_was_chosen(address, tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(f"{address}/?s=1-2")
    tab.get_by_role("heading", name="Watch next", level=1).wait_for()
    idle(tab)
    tab.get_by_role("button", name="Expand sidebar").click()
    tab.locator("[data-testid=stSidebarNavLink]", has_text="Evaluation").click()
    tab.get_by_role("heading", name="Evaluation", level=1).wait_for()
    tab.get_by_role("button", name="Expand sidebar").wait_for()
    tab.wait_for_function("() => document.activeElement.id == 'stMain'")


def test_on_a_phone_the_navigation_closes_for_whoever_is_quicker_than_the_script(address, tab):
    held = []
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.route("**/BidiComponent*.js", lambda request: held.append(request))  # what runs assets/style/nextreel.js
    tab.goto(f"{address}/?s=1-2")
    tab.get_by_role("button", name="Expand sidebar").click()
    tab.locator("[data-testid=stSidebarNavLink]", has_text="Evaluation").click()
    tab.get_by_role("heading", name="Evaluation", level=1).wait_for()
    assert tab.evaluate("window.nextreel") is None
    for request in held:
        request.continue_()
    tab.get_by_role("button", name="Expand sidebar").wait_for()


def test_a_menu_by_keyboard_and_the_focus_after_its_dialog(address, tab):
    tab.goto(f"{address}/?data=ml-latest-sample&s=1-2-3")
    more = tab.locator(".st-key-picks [class*=st-key-more-] button").first
    more.wait_for()
    idle(tab)
    more.focus()
    opener = tab.evaluate(FOCUSED)
    tab.keyboard.press("Enter")
    entries = tab.get_by_role("menuitem")
    entries.first.wait_for()
    seen = []
    for _ in range(entries.count()):
        tab.wait_for_function("() => document.activeElement.getAttribute('role') == 'menuitem'")
        seen.append(tab.evaluate("document.activeElement.innerText"))
        tab.keyboard.press("ArrowDown")
    assert seen == entries.all_inner_texts()
    label = tab.get_by_role("menu").get_attribute("aria-label")
    assert not set("\\*") & set(label)
    tab.keyboard.press("Home")
    tab.keyboard.press("Enter")
    tab.get_by_role("dialog").wait_for()
    idle(tab)
    tab.keyboard.press("Escape")
    tab.wait_for_function(f"key => ({FOCUSED})() == key", arg=opener)


def test_not_for_me_keeps_the_focus_in_the_list(address, tab):
    tab.goto(f"{address}/?data=ml-latest-sample&s=1-2-3")
    more = tab.locator(".st-key-picks [class*=st-key-more-] button").first
    more.wait_for()
    idle(tab)
    film = more.evaluate(
        "button => [...button.closest('[class*=st-key-more-]').classList].find(c => c.includes('more-'))"
    )
    more.focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("menuitem").first.wait_for()
    tab.wait_for_function("() => document.activeElement.getAttribute('role') == 'menuitem'")
    while "Not for me" not in tab.evaluate("() => document.activeElement.innerText"):
        tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.locator(f".st-key-picks .{film}").wait_for(state="detached")
    idle(tab)
    tab.wait_for_function("() => document.activeElement.closest('.st-key-picks') !== null")


def test_the_tour_by_keyboard_and_on_the_next_visit(address, tab):
    tab.goto(address)
    strip = tab.locator(".nr-tour")
    strip.wait_for()
    idle(tab)
    for number in range(1, 5):
        strip.filter(has_text=f"{number} of 4").wait_for()
        idle(tab)
        tab.locator(".st-key-tour-next button").focus()
        tab.keyboard.press("Enter")
    strip.wait_for(state="detached")
    tab.wait_for_function(f"() => ({FOCUSED})() == 'st-key-tour-again'")
    tab.reload()
    tab.get_by_role("button", name="Take the tour").wait_for()
    assert strip.count() == 0


def test_on_a_phone_the_page_moves_to_the_films_of_a_step_of_the_tour(address, tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(address)
    tab.locator(".nr-tour").wait_for()
    idle(tab)
    tab.locator(".st-key-tour-next button").click()
    in_view = (
        "name => ((top) => top > 0 && top < innerHeight)(document.querySelector(name).getBoundingClientRect().top)"
    )
    tab.wait_for_function(in_view, arg=".st-key-picks")
    assert tab.evaluate(in_view, ".st-key-tour")


def test_axe_finds_nothing_serious_in_the_tour_and_on_a_phone_in_a_menu(address, tab):
    tab.goto(address)
    tab.locator(".nr-tour").wait_for()
    tab.locator(".st-key-picks [class*=st-key-more-] button").first.wait_for()
    idle(tab)
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        assert accessible.serious(tab) == []
        assert not tab.evaluate(WIDER_THAN_THE_SCREEN)
    tab.locator(".st-key-picks [class*=st-key-more-] button").first.click()
    tab.get_by_role("menuitem").first.wait_for()
    assert accessible.serious(tab) == []
