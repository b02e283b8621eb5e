"""What Inside the model says."""

from collections.abc import Sequence
from html import escape

from pages.ui.format import display_tag
from pages.ui.i18n import _, count, speak

# Inside the model
SECTIONS = {
    "lesson": "Lesson",
    "attention": "Attention",
    "mean": "Mean attention",
    "blanks": "Fill a blank",
    "map": "Map",
}
PARTS = {"layer": "Layer", "head": "Head"}
DRAWN_AS = {"lines": "Lines", "heat-map": "Heat map"}
BY_DISTANCE_COLUMNS = {"distance": "distance", "attention": "attention", "people": "people"}
TIMES = "{times:.2f}×"
GAP = "between {before} and {after}"
SHOWN = "Shown"
RANK = "Rank"
COLOURS = {"decade": "Decade", "genre": "Genre", "views": "Popularity"}
NO_YEAR = "no year"


def stands_in(film: str, others: Sequence[str]) -> str:
    """What stands in for a film that training left out."""
    return _(
        "The network has not learnt {film}: too few people of this set rated it. Here {others} stands in for it.",
        film=film,
        others=", ".join(others),
    )


def region(label: str) -> str:
    """The name of a region of the map: "Horror · 1980s"."""
    return " · ".join(map(display_tag, label.split(" · ")))


def rank(number: int | None) -> str:
    """ "1,204"; a film that is not in the list has none."""
    return _("not in the list") if number is None else count(number)


def in_chart(text: str) -> str:
    """Text for a chart, where a few HTML tags mean something: as it is."""
    return escape(text, quote=False)


speak(__name__)
