import numpy as np
import pandas as pd
import pytest

from pages.inside import film_map_chart
from pages.ui import film_themes, i18n
from pages.ui.charts import GREY
from recsys.serving.insight.embedding_map import Region, Term

TABLE = pd.DataFrame({"x": [0.0, 100.0], "y": [0.0, 100.0]})
ROOM = (1000, 1000)  # ten pixels to a step


def region(x, y, name, kind="genre", films=50):
    return Region(x, y, np.arange(films), (Term(name, kind, 0.9, 0.1),))


def names(areas, room=ROOM):
    return [film_map_chart.region_label(area) for area in film_map_chart.regions_with_room(areas, TABLE, room)]


def test_names_that_would_lie_over_each_other_are_left_out_on_a_phone_first():
    areas = [region(10, 50, "Horror"), region(24, 50, "Western"), region(24, 90, "Musical")]
    assert names(areas) == ["Horror", "Western", "Musical"]
    assert names(areas, (300, 300)) == ["Horror", "Musical"]


def test_a_name_that_tells_what_films_are_about_has_its_room_first():
    areas = [region(10, 50, "1990s", "decade", films=500), region(11, 50, "Western")]
    assert names(areas) == ["Western"]


def test_a_region_without_a_name_takes_no_room():
    nameless = Region(10, 50, np.arange(500), ())
    assert names([nameless, region(10, 50, "Horror")]) == ["Horror"]


@pytest.mark.parametrize(
    ("name", "kind", "is_translated"),
    [
        ("widely watched", "popularity", True),
        ("before 1960", "decade", True),
        ("1980s", "decade", True),
        ("Horror", "genre", True),
        ("space opera", "tag", True),  # the name of a theme
        ("loss", "tag", False),  # the heading "loss" of a table has a translation
    ],
)
def test_a_region_has_its_name_in_the_language_of_the_visitor_and_other_tags_stay(
    monkeypatch, name, kind, is_translated
):
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    monkeypatch.setattr(film_themes, "_theme_by_tag", lambda _dataset: {"space opera": "Space opera"})
    assert (film_map_chart.region_label(region(0, 0, name, kind)) != name) == is_translated


def test_films_have_the_colour_of_their_decade_and_the_old_ones_share_one():
    table = pd.DataFrame(
        {
            "x": range(5),
            "y": range(5),
            "year": pd.array([1925, 1969, 1995, 2023, pd.NA], dtype="Int64"),
            "title": list("abcde"),
            "genres": "Drama",
            "views": 1,
        }
    )
    found = {
        trace.name: (list(trace.customdata), trace.marker.color)
        for trace in film_map_chart.group_traces(table, "decade")
    }
    assert {name: films for name, (films, _) in found.items()} == {
        "no year": [4],
        "before 1970": [0, 1],
        "1990s": [2],
        "2020s": [3],
    }
    assert len({colour for _, colour in found.values()}) == 4
    assert found["no year"][1] == GREY


def test_the_colour_bar_has_a_title():
    table = pd.DataFrame(
        {"x": [0, 1], "y": [0, 1], "year": 1995, "title": ["a", "b"], "genres": "Drama", "views": [1, 9]}
    )
    assert film_map_chart.popularity_trace(table).marker.colorbar.title.text == "Ratings"
