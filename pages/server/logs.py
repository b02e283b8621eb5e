"""What the server says on its console: a line for each event, without sessions, titles or keys; of a bug its traceback.

It goes to standard error, where systemd's journal or the container's engine takes it, dates it and limits its size.
"""

import logging
import traceback

OF_PAGES = "streamlit.error_util"  # the logger of what a page raises
OF_COMPONENTS = "streamlit.components.v2.bidi_component.serialization"  # of what their state is read from
READS_WIDGETS = ("deserialize", "unpack_widget_state_value", "on_script_will_rerun", "get_serialized")  # Streamlit's


def tidy() -> None:
    """Begin to log so."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in (OF_PAGES, OF_COMPONENTS):
        logging.getLogger(name).addFilter(_shorten)


def is_forged(error: BaseException) -> bool:
    """Whether an error comes of a value that no widget has, which no browser sends by itself."""
    return any(frame.name in READS_WIDGETS for frame in traceback.extract_tb(error.__traceback__))


def _shorten(record: logging.LogRecord) -> bool:
    """Of such an error, one line."""
    error = record.exc_info[1] if record.exc_info else None
    if error and is_forged(error):
        record.msg, record.args = "a widget was given a value that it cannot have (%s)", (type(error).__name__,)
        record.exc_info = record.exc_text = None
    return True
