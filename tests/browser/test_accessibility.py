"""axe on every page in light and dark mode, with each of its menus, popovers, dialogs and drawers open."""

import pytest

from tests.browser import accessible
from tests.browser.test_app import PAGES, ROWS, WIDER_THAN_THE_SCREEN, add, idle, look_at, wait_for_texts
from tests.pages import world

pytestmark = pytest.mark.slow

OPENERS = """() => [...document.querySelectorAll(
  'main [data-testid=stPopover] button, main [aria-haspopup], main details:not([open]) > summary, .stMainMenu button'
)].filter(one => one.checkVisibility() && !one.disabled && one.getBoundingClientRect().width > 0).map((one, number) => {
  one.dataset.opener = number
  const key = one.closest('[class*=st-key-]')?.className.match(/st-key-([a-z_-]+)/)?.[1] ?? ''
  return [number, `${key} ${one.tagName} ${one.ariaLabel ?? ''} ${key ? '' : one.innerText}`]
})"""


SMALL = """() => [
  ...document.querySelectorAll('.stMain button, .stMain summary, .nr-links a, [data-testid=stHeader] button')
]
  .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.closest('[aria-hidden=true]'))
  .map(one => [one, one.getBoundingClientRect()])
  .filter(([one, box]) => box.width > 2 && (box.width < 39.5 || box.height < 39.5))
  .map(([one, box]) => `${one.outerHTML.slice(0, 150)} ${box.width} x ${box.height}`)"""
WIDE = """() => {
  const main = document.querySelector('[data-testid=stMain]')
  return document.documentElement.scrollWidth > innerWidth || main.scrollWidth > main.clientWidth
}"""
CUT = (
    f"() => [...document.querySelectorAll('{ROWS}')].some(one => !one.clientWidth || one.scrollWidth > one.clientWidth)"
)


@pytest.mark.parametrize("page", PAGES)
def test_axe_reports_nothing_in_any_open_state(address, tab, page):
    look_at(tab, address, page)
    wrong = looks(tab, page)
    kinds = {name: number for number, name in reversed(tab.evaluate(OPENERS))}
    for name, number in kinds.items():
        opener = tab.locator(f"[data-opener='{number}']")
        if not opener.count():  # a rerun has replaced the element: find it by its name
            number = next(current for current, other in tab.evaluate(OPENERS) if other == name)
            opener = tab.locator(f"[data-opener='{number}']")
        opener.click()
        tab.mouse.move(0, 0)  # what the pointer is over has a colour of its own
        idle(tab)
        wrong += looks(tab, f"{page} {name}")
        if "SUMMARY" not in name:
            tab.keyboard.press("Escape")
            idle(tab)
    assert wrong == []


def test_axe_reports_nothing_in_a_menu_and_the_dialogs(address, tab):
    tab.goto(f"{address}/?data=ml-latest-sample&s=1-2-3")
    more = tab.locator(".st-key-picks [class*=st-key-more-] button").first
    more.wait_for()
    idle(tab)
    more.click()
    tab.get_by_role("menuitem").first.wait_for()
    tab.mouse.move(0, 0)
    wrong = looks(tab, "menu")
    tab.keyboard.press("Escape")
    openers = {"why": more} | {key: tab.locator(f".st-key-{key} button").first for key in ("bring", "more-sets")}
    for name, opener in openers.items():
        opener.click()
        if name == "why":
            tab.get_by_role("menuitem").first.click()
        tab.get_by_role("dialog").wait_for()
        tab.mouse.move(0, 0)
        idle(tab)
        wrong += looks(tab, name)
        tab.keyboard.press("Escape")
        tab.get_by_role("dialog").wait_for(state="detached")
        idle(tab)
    assert wrong == []


@pytest.mark.parametrize("page", ["", "evaluation"])
def test_axe_reports_nothing_with_the_navigation_open_on_a_phone(address, tab, page):
    tab.set_viewport_size({"width": 390, "height": 844})
    look_at(tab, address, page)
    tab.get_by_test_id("stExpandSidebarButton").click()
    tab.get_by_role("link", name="Library").wait_for()
    assert looks(tab, page) == []


@pytest.mark.parametrize("page", PAGES)
def test_on_a_phone_targets_are_large_enough_and_nothing_is_wider_than_the_screen(address, chromium, page):
    tab = chromium.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    try:
        look_at(tab, address, page)
        assert tab.evaluate("matchMedia('(pointer: coarse)').matches")
        for _ in range(40):  # the style sheet of the app arrives after the page
            if not (small := tab.evaluate(SMALL)):
                break
            tab.wait_for_timeout(500)
        assert small == []
        assert not tab.evaluate(WIDER_THAN_THE_SCREEN)
    finally:
        tab.close()


@pytest.mark.parametrize("page", ["", "compare"])
def test_nothing_is_cut_off_or_wider_than_the_window_at_any_width(address, tab, page):
    look_at(tab, address, page)
    wrong = []
    for width in range(320, 2561, 160):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_timeout(150)
        wrong += [(width, what) for what, script in (("wide", WIDE), ("cut", CUT)) if tab.evaluate(script)]
    assert wrong == []


def test_changes_of_the_list_are_announced(address, tab):
    tab.goto(f"{address}/?s=1")
    wait_for_texts(tab, ROWS, [world.TITLES[0][:-7]])
    idle(tab)
    tab.locator("[data-live-announcer]").wait_for(state="attached")  # the script that makes it loads after the page
    tab.evaluate(
        "() => { window.said = []; const region = document.querySelector('[data-live-announcer]');"
        " new MutationObserver(() => said.push(region.textContent)).observe(region, {childList: true}) }"
    )
    heard = "text => said.some(one => one.includes(text))"
    add(tab, "lion king", "The Lion King")
    tab.wait_for_function(heard, arg="found")
    tab.wait_for_function(heard, arg="The Lion King (1994) added")
    tab.wait_for_function(heard, arg="Recommendations:")
    tab.get_by_role("button", name="Remove The Lion King (1994)").click()
    tab.wait_for_function(heard, arg="The Lion King (1994) removed")


def test_the_link_to_the_content_moves_the_focus_there(address, tab):
    look_at(tab, address, "train")
    tab.get_by_test_id("stSkipToContent").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => document.activeElement.closest('main, .stMain') !== null")


def looks(tab, where):
    """What axe reports of the current state, in light and in dark mode."""
    found = []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        found += [(where, scheme, *one) for one in accessible.violations(tab)]
    return found
