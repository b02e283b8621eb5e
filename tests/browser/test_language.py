import pytest

from tests.browser.test_app import idle

pytestmark = pytest.mark.slow


def test_a_choice_outlives_a_switch_of_the_language_which_the_document_names(address, tab):
    tab.goto(f"{address}/inside?s=1-2-3&inside=lesson&step=2&lang=en")
    tab.get_by_role("heading", name="2. Mask a film").wait_for()
    for name, code in (("Українська", "uk"), ("English", "en")):
        tab.get_by_text(name, exact=True).click()
        tab.wait_for_function("code => document.documentElement.lang == code", arg=code)
        idle(tab)
        assert tab.locator(".st-key-lesson h2").inner_text().startswith("2.")
        assert tab.locator("[data-testid=stException]").count() == 0
    tab.get_by_role("heading", name="2. Mask a film").wait_for()
    assert "step=2" in tab.url
