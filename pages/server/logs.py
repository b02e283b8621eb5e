"""Logs on standard error: one line per event, and the traceback of a bug.

Logs contain no sessions, titles or keys. systemd or the container engine stores them and limits their size.
"""

import logging
import traceback

OF_PAGES = "streamlit.error_util"  # logger of exceptions of pages
OF_COMPONENTS = "streamlit.components.v2.bidi_component.serialization"  # logger of invalid component states
READS_WIDGETS = (
    "deserialize",
    "unpack_widget_state_value",
    "on_script_will_rerun",
    "get_serialized",
)  # functions of Streamlit


def tidy() -> None:
    """Set the log format and shorten the tracebacks of forged widget values."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in (OF_PAGES, OF_COMPONENTS):
        logging.getLogger(name).addFilter(_shorten)


def is_forged(error: BaseException) -> bool:
    """Return whether an error was caused by a widget value that no browser sends by itself."""
    return any(frame.name in READS_WIDGETS for frame in traceback.extract_tb(error.__traceback__))


def _shorten(record: logging.LogRecord) -> bool:
    """Replace the traceback of a forged widget value by one line."""
    error = record.exc_info[1] if record.exc_info else None
    if error and is_forged(error):
        record.msg, record.args = "a widget was given a value that it cannot have (%s)", (type(error).__name__,)
        record.exc_info = record.exc_text = None
    return True
