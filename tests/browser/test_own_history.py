"""A history from elsewhere, from files to recommendations, and kept by the browser when it is asked to."""

import json

import pytest

from recsys.data.history_import.entries import MAX_FILE_BYTES
from tests.browser import accessible
from tests.browser.conftest import SLOW
from tests.browser.test_app import CARDS, ROWS, WIDER_THAN_THE_SCREEN, idle, texts, wait_for_texts
from tests.data.history_import import files

pytestmark = pytest.mark.slow

USE = ".st-key-use-history button"
GIVEN = {
    "letterboxd.zip": files.letterboxd(),
    "trakt.zip": files.trakt(),
    "history.json": json.dumps(files.HISTORY).encode(),
    "imdb.csv": files.IMDB.encode("utf-8-sig"),
    "netflix.csv": files.NETFLIX.format("13/1/25", "14/1/25", "15/1/25").encode(),
    "movielens.csv": files.SITE.encode(),
    "films.json": files.OURS_JSON.encode(),
    "list.csv": "Titel;Jahr\nDer König der Löwen;1994\nPulp Ficton;1994\n".encode("latin-1"),
    "empty.csv": b"",
    "picture.csv": b"\x89PNG\r\n\x1a\n",
    "large.csv": b"a,b\n" * (MAX_FILE_BYTES // 4 + 1),
}


def bring(tab, *names):
    """Open the dialog and give it files."""
    tab.get_by_role("button", name="Import your history").first.click()
    dialog = tab.get_by_role("dialog")
    dialog.wait_for()
    idle(tab)
    if names:
        given = [{"name": name, "mimeType": "text/plain", "buffer": GIVEN[name]} for name in names]
        dialog.locator("input[type=file]").set_input_files(given)
        tab.locator(USE).wait_for()
        idle(tab)
    return dialog


def use(tab):
    tab.locator(USE).click()
    tab.get_by_role("dialog").wait_for(state="detached")
    idle(tab)


def keep(tab, address):
    """Import a history that the browser keeps."""
    tab.goto(address)
    bring(tab, "trakt.zip")
    tab.locator(".st-key-keep-history label").first.click()
    idle(tab)
    use(tab)
    tab.wait_for_function("() => localStorage.getItem('nextreel_history')")


def test_files_of_every_service_go_through_review_to_recommendations(address, tab):
    tab.goto(f"{address}/?data=ml-latest-sample&s=5-6")
    tab.wait_for_selector(CARDS)
    before, own = texts(tab, CARDS), texts(tab, ROWS)
    dialog = bring(tab, *GIVEN)
    said = dialog.inner_text()
    for name in ("letterboxd.zip › diary.csv", "trakt.zip", "Netflix history", "IMDb ratings", "MovieLens ratings"):
        assert name in said
    for told in ("“empty.csv” is empty", "“picture.csv” is a picture", "read as Windows-1252", "10.0MB or smaller"):
        assert told in said
    assert "Pulp Ficton (1994)" in said  # to check, and proposed
    assert "Not imported" in said
    use(tab)
    # one without a date; then as the diary (2024) and Netflix (2025) have them
    wait_for_texts(tab, ROWS, ["Pulp Fiction", "Toy Story", "Alien", "Heat"])
    assert texts(tab, CARDS) != before
    idle(tab)
    tab.get_by_role("button", name="Undo").click()
    wait_for_texts(tab, ROWS, own)


def test_the_browser_keeps_a_history_on_request_until_it_is_told_to_forget_it(address, tab):
    keep(tab, address)
    tab.goto(address)
    bring(tab)
    tab.locator(".st-key-dialog-load button").first.click()
    tab.locator(USE).wait_for()
    idle(tab)
    tab.locator(".st-key-dialog-forget button").first.click()
    tab.locator(".st-key-dialog-forget").wait_for(state="detached")
    assert tab.evaluate("localStorage.getItem('nextreel_history')") is None
    use(tab)
    wait_for_texts(tab, ROWS, ["Alien", "Heat"])


def test_a_history_that_the_browser_keeps_is_offered_on_the_next_visit(address, tab, chromium):
    keep(tab, address)
    visit = chromium.new_context(storage_state=tab.context.storage_state()).new_page()  # a new session, same storage
    visit.set_default_timeout(SLOW)
    visit.goto(address)
    visit.locator(".st-key-start-load button").click()
    visit.locator(USE).wait_for()
    idle(visit)
    use(visit)
    wait_for_texts(visit, ROWS, ["Alien", "Heat"])
    visit.goto(address)
    visit.locator(".st-key-start-forget button").click()
    visit.locator(".st-key-start-forget").wait_for(state="detached")
    assert visit.evaluate("localStorage.getItem('nextreel_history')") is None
    visit.context.close()


def test_axe_finds_nothing_serious_in_the_dialog(address, tab):
    tab.goto(address)
    bring(tab, "letterboxd.zip", "list.csv")
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        assert accessible.serious(tab) == []
        assert not tab.evaluate(WIDER_THAN_THE_SCREEN)
