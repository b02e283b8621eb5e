import re
from types import SimpleNamespace

from streamlit.testing.v1 import AppTest

from pages.ui import page


def script():
    import streamlit as st

    from pages.ui import browser

    st.button("Move", key="move", on_click=browser.focus_on, args=("up-1", "down-1"))
    browser.place_focus()


def test_each_request_for_the_focus_is_a_new_one():
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert "focus" not in app.session_state
    app.button(key="move").click().run()
    assert app.session_state.focus == (1, ("up-1", "down-1"))
    app.run()
    assert app.session_state.focus == (1, ("up-1", "down-1"))  # asked for once
    app.button(key="move").click().run()
    assert app.session_state.focus == (2, ("up-1", "down-1"))


def test_the_popover_of_users_focuses_on_its_input_whatever_its_kind(monkeypatch):
    on_change, requests = [], []

    def popover(*_args, **options):
        on_change.append(options["on_change"])
        return SimpleNamespace(open=False)

    monkeypatch.setattr(page.st, "popover", popover)
    monkeypatch.setattr(page.st, "session_state", {"person-open": True})
    monkeypatch.setattr(page.browser, "focus_on", lambda *keys: requests.append(keys))
    page.user_popover(None, "person", "", print)
    on_change[0]()
    assert requests == [("in-person-open",)]  # the container: the key of the input of names is not "person"


def test_rules_for_a_part_of_a_class_name_apply_to_widget_keys_only():
    """`[class*="-enter"]` also moved the rows "nr-entered" of What if, which then covered the next rows."""
    style = (page.STYLE / "nextreel.css").read_text("utf-8")
    parts = re.findall(r'\[class[*^$~|]="([^"]*)"', style)
    assert "st-key-enter-" in parts
    assert [part for part in parts if not part.startswith("st-key-")] == []
