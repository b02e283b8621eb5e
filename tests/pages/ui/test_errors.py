import sys

from streamlit.testing.v1 import AppTest

from recsys import paths
from recsys.errors import RecsysError
from tests.pages.reading import said


def page(error):
    import streamlit as st

    from pages.ui import errors

    @errors.show_errors()
    def part():
        raise error

    st.text(str(part()))
    with errors.show_errors():
        raise error
    st.text("the page goes on")


def shown(error):
    return AppTest.from_function(page, kwargs={"error": error}).run()


def test_what_a_person_can_mend_is_a_sentence_and_a_command_to_copy():
    app = shown(RecsysError("there is no such film", "python -m recsys data get ml-latest-sample"))
    assert not app.exception
    assert app.warning[0].value.replace("\\", "") == "There is no such film."
    assert [code.value for code in app.code] == ["python -m recsys data get ml-latest-sample"] * 2
    assert [text.value for text in app.text] == ["None", "the page goes on"]


def test_without_a_command_nothing_is_to_be_typed():
    app = shown(RecsysError("already in your list"))
    assert "Already in your list." in said(app)
    assert not app.code


def files_page():
    import streamlit as st

    from pages.ui import errors
    from recsys.errors import RecsysError

    st.session_state.lang = "uk"
    errors.show_file_errors([RecsysError("already in your list")])


def test_whoever_reads_ukrainian_reads_so_of_errors_too():
    app = AppTest.from_function(page, kwargs={"error": RecsysError("already in your list")})
    app.session_state["lang"] = "uk"
    assert "Уже у вашому списку." in said(app.run())
    app = AppTest.from_function(files_page).run()
    assert [one.value.replace("\\", "") for one in app.warning] == ["уже у вашому списку"]


def test_a_bug_stays_a_bug():
    assert shown(KeyError("item")).exception[0].value


def test_a_public_server_does_not_say_where_its_files_lie(monkeypatch, tmp_path):
    home = tmp_path / "home"
    monkeypatch.setenv("RECSYS_HOME", str(home))
    error = RecsysError(
        f"cannot write {home}/maps nor {paths.REPOSITORY}/assets", f"{sys.executable} -m recsys prepare"
    )
    app = shown(error)
    assert str(home) in app.warning[0].value.replace("\\", "")
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = shown(error)
    text = app.warning[0].value.replace("\\", "")
    assert text == "Cannot write $RECSYS_HOME/maps nor ./assets."
    assert app.code[0].value == "python -m recsys prepare"
    assert "The administrator of this server can run:" in said(app)


def test_the_first_letter_is_a_capital_unless_the_translation_starts_with_a_name():
    error = RecsysError("{name} has no events; choose another data set", name="ml-1m")
    assert shown(error).warning[0].value.startswith("ml")
    app = AppTest.from_function(page, kwargs={"error": error})
    app.session_state.lang = "uk"
    assert app.run().warning[0].value.startswith("У наборі ml")
