from streamlit.testing.v1 import AppTest


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
