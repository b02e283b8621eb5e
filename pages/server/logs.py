"""Logs on standard error: one line per event, and the tracebacks of bugs.

Logs contain no session ids, film titles or API keys. systemd or the container engine stores them and limits their size.
"""

import logging
import traceback

PAGES_LOGGER = "streamlit.error_util"  # logs exceptions of pages
COMPONENTS_LOGGER = "streamlit.components.v2.bidi_component.serialization"  # logs invalid states of components
# functions of Streamlit that read the widget values that a browser sends
WIDGET_READERS = ("deserialize", "unpack_widget_state_value", "on_script_will_rerun", "get_serialized")


def set_up() -> None:
    """Set the log format and shorten the tracebacks of forged widget values."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in (PAGES_LOGGER, COMPONENTS_LOGGER):
        logging.getLogger(name).addFilter(_shorten)


def is_caused_by_forged_value(error: BaseException) -> bool:
    """Return whether a forged widget value, which the page itself cannot send, has caused an error."""
    return any(frame.name in WIDGET_READERS for frame in traceback.extract_tb(error.__traceback__))


def _shorten(record: logging.LogRecord) -> bool:
    """Replace the traceback of a forged widget value by one line. Return True: a logging filter keeps the record."""
    error = record.exc_info[1] if record.exc_info else None
    if error and is_caused_by_forged_value(error):
        record.msg, record.args = "a widget was given a value that it cannot have (%s)", (type(error).__name__,)
        record.exc_info = record.exc_text = None
    return True
