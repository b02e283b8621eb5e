import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pages.library import statistics as section
from pages.ui import i18n
from pages.ui.charts import MAX_TITLE_LENGTH
from recsys.data import statistics
from tests import toys
from tests.pages import world
from tests.pages.reading import said


def test_the_page_says_how_much_there_is_and_what_the_charts_show(visit):
    app = visit("library", library="statistics")
    assert {metric.label: metric.value for metric in app.metric} == {
        "People": "200",
        "Films": "30",
        "Ratings": "2,400",
        "Density": "40.0%",
    }
    text = said(app)
    assert "Half of the people rated at most 12 films. One in ten rated more than 12, and one person rated 12." in text
    assert "1 film with too few ratings for training is not counted." in text
    found = app.get("plotly_chart")
    assert len(found) == 7
    for chart in found:
        assert json.loads(chart.proto.spec)["data"]
        assert chart.proto.alt.startswith("Chart: ")
    assert len([file for file in app.get("download_button") if file.label == "Download as CSV"]) == 7


def test_a_set_without_stars_and_times_shows_no_empty_charts(visit):
    data = world.build("ml-latest-small")
    ones = replace(data.interactions, rating=np.ones_like(data.interactions.rating))
    world.save(replace(data, interactions=ones, ties="rows"))
    app = visit("library", data="ml-latest-small", library="statistics")
    assert not app.exception
    assert "Ratings" in [metric.label for metric in app.metric]


def test_the_median_stands_where_it_belongs_among_bars_of_growing_width():
    found = statistics.lengths(toys.dataset([list(range(n)) for n in (1, 2, 50, 60, 100)], 100))
    bar = int(found.table["from"].searchsorted(50, side="right")) - 1
    assert found.table.loc[bar, "from"] <= 50 <= found.table.loc[bar, "to"]
    assert bar - 0.5 <= section.bar_position(found.table, 50) < bar + 0.5
    assert section.bar_position(found.table, 1) == -0.5
    lines = [shape.x0 for shape in section.plot_lengths(found)[1].layout.shapes]
    assert lines == pytest.approx(
        [section.bar_position(found.table, found.median), section.bar_position(found.table, found.p90)]
    )


def test_the_ticks_have_the_separators_of_the_language(monkeypatch):
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    table = pd.DataFrame({"stars": [0.5, 1.0, 4.5], "share": [0.2, 0.3, 0.5]})
    assert section.plot_stars(table)[1].data[0].x == ("0,5", "1", "4,5")


def test_the_labels_of_close_lines_are_one_above_the_other_and_the_title_fits_a_phone():
    found = statistics.lengths(toys.dataset([[0, 1]] * 5, 2))
    layout = section.plot_lengths(found)[1].layout
    median, p90 = layout.annotations
    assert median.x == p90.x
    assert abs((median.yshift or 0) - (p90.yshift or 0)) >= median.font.size
    assert max(map(len, layout.xaxis.title.text.split("<br>"))) <= MAX_TITLE_LENGTH


def test_only_movielens_sets_are_said_to_have_pages_of_ratings():
    table = pd.DataFrame({"gap": ["the same second", "a day or more"], "share": [0.25, 0.75]})
    own, movielens = (section.plot_gaps(table, is_movielens)[0] for is_movielens in (False, True))
    shared = "25% of the ratings were given in the same second as the previous rating."
    assert own == f"{shared} Their order is not known."
    assert movielens.startswith(f"{shared} People rate a page of films at once")


def test_the_tail_marks_what_its_sentence_says():
    found = statistics.long_tail(np.array([50, 20, 10, *[1] * 20]))
    sentence, figure = section.plot_long_tail(found)
    assert list(figure.data[2].y) == list(found.rating_share_of_top.values())
    assert "1% of the films have 50% of all ratings" in sentence


def test_the_genres_that_stand_out_are_named():
    world_of = toys.dataset([[0, 0, 0, 1]], 4)  # two comedies, two films of horror; comedies have three ratings of four
    sentence, _ = section.plot_genres(statistics.genres(world_of))
    assert "Comedy is watched most and Horror least" in sentence
