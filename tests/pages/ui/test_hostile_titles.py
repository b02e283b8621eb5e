"""Whatever a title holds, pages show it as text: no Markdown, no link, no tag of it gets through."""

import re
from dataclasses import replace

import pytest

from pages.inside import lesson
from pages.ui import format, url
from pages.ui.url import COMPARE_TABS
from recsys.data import prepared
from recsys.data.dataset import Catalog
from tests import toys
from tests.pages import world
from tests.pages.panel import opened
from tests.pages.translation import texts_by_kind

FILMS = "1-2-3-4"
EVIL = "<img src=x onerror=alert(1)> **b** :red[c] `d` $e$ [f](http://evil.example) www.evil.example a@evil.example"
# What GitHub's Markdown, which Streamlit renders, makes a link of, escaped or not
LINK = re.compile(r"(https?://|www\.)[-.\w]|[-.\w+]@[-\w]", re.IGNORECASE)
MARKDOWN = re.compile(r"\*\*b\*\*|:red\[c\]|`d`|\$e\$|\]\(http")
TAG = re.compile(r"<img src=x")
PLAIN = {  # kinds of elements whose texts the browser shows as they are
    *("text", "selectbox", "multiselect", "text_input", "text_area", "number_input", "arrow_data_frame", "slider"),
    *("select_slider", "plotly_chart", "dataframe", "code", "page_link", "image"),
}


@pytest.fixture
def hostile(home, visit):
    """A visitor of a set in which every title is an attack."""
    dataset = world.build()
    films, rare = (
        table.assign(title=[f"{EVIL} {n}" for n in range(len(table))])
        for table in (dataset.catalog.movies, dataset.catalog.infrequent)
    )
    prepared.save(replace(dataset, catalog=Catalog(films, rare)), toys.ARCHIVE)
    return visit


def check(app):
    assert not app.exception
    found = [(kind, text) for kind, text in texts_by_kind(app) if "evil" in text]
    assert found, "no title on this page"
    for kind, text in found:
        assert kind == "plotly_chart" or kind in PLAIN or not TAG.search(_unescaped_away(text)), (kind, text)
        if kind not in PLAIN and kind != "html":
            assert not MARKDOWN.search(_unescaped_away(text)), (kind, text)
            assert not LINK.search(re.sub(r"\\(.)", r"\1", text)), (kind, text)
        if kind == "plotly_chart":
            assert not TAG.search(text), (kind, text)


def _unescaped_away(text):
    """Text without the signs that are escaped."""
    return re.sub(r"\\.", "", text)


@pytest.mark.parametrize("view", url.VIEWS)
def test_watch_next(hostile, view):
    check(hostile(s=FILMS, view=view))


@pytest.mark.parametrize("key", ["filters_open", "share", "ratings-open", "person-open", "surprise-open"])
def test_what_opens_on_watch_next(hostile, key):
    app = hostile(s=FILMS, **{"not": "9"})
    app.session_state[key] = True
    app.session_state["unwanted_open"] = True
    check(app.run())


def test_a_search_and_a_link_with_a_film_that_training_left_out(hostile):
    app = hostile(s=f"{FILMS}-31")
    check(app.get_by_key("search").set_value("evil").run())


@pytest.mark.parametrize(
    ("part", "key"), [("ui.explanation", None), ("watch.what_if", "what-if"), ("watch.evening_plan", "plan")]
)
def test_the_panels(hostile, part, key):
    check(opened(part, key, s=FILMS))


@pytest.mark.slow
@pytest.mark.parametrize("place", range(5))
def test_the_tabs_of_compare(hostile, place):
    app = hostile("compare", s=FILMS)
    app.session_state["compare_section"] = list(COMPARE_TABS)[place]
    app.session_state["compare_tab"] = "in another language"
    for key in ("which_order", "hide_all"):
        app.session_state[key] = True
    check(app.run())


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, len(lesson.STEPS) + 1))
def test_the_steps_of_the_lesson(hostile, number):
    app = hostile("inside", s=FILMS, step=str(number))
    for key in ("table-sums", "table-heads", "table-learning"):
        app.session_state[key] = True
    check(app.run())


@pytest.mark.parametrize("section", [section for section in url.LIBRARY_SECTIONS if section != "statistics"])
def test_the_library(hostile, section):
    check(hostile("library", s=FILMS, library=section))


@pytest.mark.parametrize(
    "text", ["http://evil.example/a", "HTTPS://evil.example", "www.evil.example", "a@evil.example", "a/b", "1/2 @ 3"]
)
def test_an_address_in_a_text_is_taken_apart_by_nothing_that_can_be_seen(text):
    shown = re.sub(r"\\(.)", r"\1", format.escape_markdown(text))
    assert shown.replace("\u2060", "") == text
    assert not LINK.search(shown)


def test_an_address_of_ours_can_be_clicked():
    escaped = format.escape_markdown("https://files.grouplens.org", allows_links=True)
    assert escaped == r"https\:\/\/files\.grouplens\.org"
