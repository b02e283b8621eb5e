import pytest

from tests.pages import world

CARDS = ".st-key-picks .nr-words b"
ROWS = ".st-key-sequence .nr-text b"
PAGES = {
    "": "Watch next",
    "compare": "Compare",
    "evaluation": "Evaluation",
    "inside": "Inside the model",
    "library": "Library",
    "library?library=statistics": "Library",
    "library?library=together&with=ml-latest-sample.5-6": "Library",
    "train": "Train",
}
WIDER_THAN_THE_SCREEN = "document.documentElement.scrollWidth > innerWidth"


def idle(page):
    """Wait until the app has nothing more to do."""
    page.wait_for_timeout(100)
    page.wait_for_selector("[data-test-script-state=notRunning]", state="attached")


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def wait_for_texts(page, selector, wanted):
    page.wait_for_function(
        "([selector, wanted]) => [...document.querySelectorAll(selector)].map(e => e.innerText).join('|') == wanted",
        arg=[selector, "|".join(wanted)],
    )


def wait_for_other_texts(page, selector, old):
    page.wait_for_function(
        "([selector, old]) => { const now = [...document.querySelectorAll(selector)].map(e => e.innerText).join('|');"
        " return now != '' && now != old }",
        arg=[selector, "|".join(old)],
    )


def add(page, text, title):
    """Type into the search box and take the film that is found."""
    page.get_by_label("Add a film").press_sequentially(text, delay=30)
    page.locator(".st-key-found button", has_text=title).click()


@pytest.mark.slow
def test_a_link_to_another_page_works_right_after_a_start(address, tab):
    # This test comes first: only the very first request of a server can go wrong here.
    tab.goto(f"{address}/evaluation?s=1-2")
    tab.get_by_role("heading", name="Evaluation", level=1).wait_for()
    idle(tab)
    tab.get_by_role("link", name="Watch next").click()
    wait_for_texts(tab, ROWS, [title[:-7] for title in world.TITLES[:2]])


def test_a_sequence_is_built_by_typing_and_reordered_and_the_predictions_follow(address, tab):
    # The only test in a browser that is not slow.
    tab.goto(address)
    tab.wait_for_selector(CARDS)
    newcomer = texts(tab, CARDS)

    add(tab, "goodfelas", "GoodFellas")
    wait_for_texts(tab, ROWS, ["GoodFellas"])
    add(tab, "lion king", "The Lion King")
    wait_for_texts(tab, ROWS, ["GoodFellas", "The Lion King"])
    idle(tab)
    before = texts(tab, CARDS)
    assert before != newcomer

    tab.get_by_role("button", name="Move The Lion King (1994) up").click()
    wait_for_texts(tab, ROWS, ["The Lion King", "GoodFellas"])
    wait_for_other_texts(tab, CARDS, before)

    ids = [world.TITLES.index(title) + 1 for title in ("The Lion King (1994)", "GoodFellas (1990)")]
    tab.wait_for_url(f"**/?data=ml-latest-sample&s={ids[0]}-{ids[1]}&order=true")
    tab.reload()
    wait_for_texts(tab, ROWS, ["The Lion King", "GoodFellas"])


def look_at(tab, address, page):
    """Open a page with three films and wait until it stands."""
    tab.goto(f"{address}/{page}{'&' if '?' in page else '?'}s=1-2-3")
    tab.get_by_role("heading", name=PAGES[page], level=1).wait_for()
    tab.wait_for_timeout(500)
    idle(tab)
