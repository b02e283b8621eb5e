import tomllib

import pytest

from pages.ui.page import PAGES
from recsys.paths import REPOSITORY

SETTINGS = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text("utf-8"))


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """WCAG 2: 1 for equal colours, 21 for black on white."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_nobody_is_asked_counted_or_shown_a_traceback():
    assert SETTINGS["server"]["showEmailPrompt"] is False
    assert SETTINGS["browser"]["gatherUsageStats"] is False
    assert SETTINGS["client"]["showErrorDetails"] == "none"
    assert SETTINGS["server"]["maxUploadSize"] <= 50  # pages that ask for less say so to `uploads.allow_uploads`


def test_a_browser_can_keep_only_so_much_on_the_server_and_not_for_long():
    assert SETTINGS["server"]["maxWidgetStateSize"] <= 2  # MB
    assert SETTINGS["server"]["maxMessageSize"] <= 64
    assert SETTINGS["server"]["disconnectedSessionTTL"] <= 60  # seconds


def test_what_widens_the_way_in_stays_as_streamlit_has_it():
    closed = ("enableCORS", "enableXsrfProtection", "enableStaticServing", "enableAgentApi", "corsAllowedOrigins")
    assert not [name for name in closed if name in SETTINGS["server"]]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("ink", ["textColor", "grayTextColor", "linkColor", "primaryColor"])
@pytest.mark.parametrize("paper", ["backgroundColor", "secondaryBackgroundColor"])
def test_words_can_be_read_in_both_modes(mode, ink, paper):
    theme = SETTINGS["theme"][mode]
    assert contrast(theme[ink], theme[paper]) >= 4.5  # WCAG AA


def test_every_script_in_pages_with_a_number_is_a_page():
    assert {path.name for path in (REPOSITORY / "pages").glob("[0-9]_*.py")} == set(PAGES)
