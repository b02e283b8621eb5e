import ast
import re
import tomllib
from collections import Counter

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
    assert SETTINGS["server"]["maxUploadSize"] <= 50  # pages that ask for less say so to `uploads.expect`


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


WORDS = sorted((REPOSITORY / "pages").glob("*/words.py"))


def test_every_page_has_its_words_in_one_file():
    assert [path.parent.name for path in WORDS] == [
        "compare",
        "evaluation",
        "inside",
        "library",
        "shared",
        "train",
        "watch",
    ]


@pytest.mark.parametrize("path", WORDS, ids=lambda path: path.parent.name)
def test_each_name_stands_for_one_sentence(path):
    """Two parts of a page that use one name for two sentences would each show the other's."""
    tree = ast.parse(path.read_text("utf-8"))
    made = [node for node in tree.body if isinstance(node, ast.Assign)]
    targets = [
        name.id for node in made for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
    ]
    assert [name for name, times in Counter(targets).items() if times > 1] == []


@pytest.mark.parametrize("path", WORDS, ids=lambda path: path.parent.name)
def test_lines_for_the_terminal_are_made_by_code_that_knows_the_environment(path):
    assert "recsys train" not in path.read_text("utf-8")
    assert "-m recsys" not in path.read_text("utf-8")
    assert "pip install" not in path.read_text("utf-8")


def test_every_sentence_is_said_somewhere():
    """Words that nobody says any more would be translated for nothing."""
    sources = "".join(path.read_text("utf-8") for path in (REPOSITORY / "pages").glob("**/*.py"))
    for path in WORDS:
        names = [
            name.id
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        ]
        assert [name for name in names if len(re.findall(rf"\b{name}\b", sources)) < 2] == [], path


def test_every_script_in_pages_with_a_number_is_a_page():
    assert {path.name for path in (REPOSITORY / "pages").glob("[0-9]_*.py")} == set(PAGES)
