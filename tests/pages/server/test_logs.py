import logging

import pytest

from pages.server import logs


def deserialize(value):
    """Stands in for Streamlit's, which reads what a browser says of a widget."""
    return {}[value]


def page():
    """Stands in for a page with a bug."""
    return {}["bug"]


@pytest.fixture
def said(caplog, monkeypatch):
    """What the console says when something raises an error."""
    logs.set_up()
    monkeypatch.setattr(logging.getLogger(logs.PAGES_LOGGER), "propagate", True)  # Streamlit prints it itself

    def log(raises, *arguments):
        try:
            raises(*arguments)
        except KeyError as error:
            logging.getLogger(logs.PAGES_LOGGER).error("Uncaught app execution", exc_info=error)
        return caplog.text

    return log


def test_of_a_value_that_no_widget_has_one_line_is_said_without_the_value(said):
    text = said(deserialize, "Sentinel (1999)")
    assert "a widget was given a value that it cannot have (KeyError)" in text
    assert "Sentinel" not in text
    assert "Traceback" not in text


def test_a_bug_keeps_its_traceback(said):
    text = said(page)
    assert "Uncaught app execution" in text
    assert "in page" in text
