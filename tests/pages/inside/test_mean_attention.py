import json

import pandas as pd
import pytest

from pages.inside import mean_attention
from recsys.serving.insight import attention
from tests.pages.reading import said, unescape

LINK = "1-2-3-4"


@pytest.fixture
def section(visit, monkeypatch):
    """The section, in a world whose histories are short."""
    monkeypatch.setattr(attention, "MAX_TOKENS", 8)
    monkeypatch.setattr(attention, "MIN_USERS", 5)
    return visit("inside", s=LINK, inside="mean")


def charts(app):
    return [(json.loads(chart.proto.spec), chart.proto.alt) for chart in app.get("plotly_chart")]


def test_each_head_has_a_square_with_the_asking_row_framed_and_each_layer_one_of_genres(section):
    assert not section.exception
    *squares, genres = charts(section)
    assert len(squares) == 2  # heads of one layer
    for figure, about in squares:
        assert figure["layout"]["yaxis"]["ticktext"][-1] == "[mask]"
        assert figure["layout"]["shapes"][0]["y0"] == 6.5
        assert "that predicts the next film attends most to" in about
    assert genres[0]["data"][0]["x"] == ["Comedy", "Horror"]
    assert "% inside" in said(section)


def test_the_table_of_the_asking_row_adds_up_to_all_of_its_attention(section):
    section.session_state["table-mean"] = True
    table = section.run().table[0].value.map(unescape).rename(unescape)
    assert list(table.index) == ["[mask]", *map(str, range(1, 8)), "older"]
    for head in table:
        shares = [float(share.strip("<%")) for share in table[head]]
        assert sum(shares) == pytest.approx(100, abs=1)


def test_fewer_than_two_genres_are_refused_with_a_sentence(section):
    section.multiselect[0].set_value(["Comedy"]).run()
    assert not section.exception
    assert "Choose at least two genres." in said(section)


def test_where_nobody_watched_enough_the_page_says_so(visit):
    app = visit("inside", s=LINK, inside="mean")
    assert not app.exception
    assert "has watched 15 films" in said(app)


def test_long_names_of_genres_have_two_lines(monkeypatch):
    monkeypatch.setattr(mean_attention, "display_tag", {"Sci-Fi": "Наукова фантастика", "Horror": "Жахи"}.get)
    pairs = [(row, column) for row in ("Sci-Fi", "Horror") for column in ("Sci-Fi", "Horror")]
    table = pd.DataFrame(pairs, columns=["from", "to"]).assign(ratio=1.0, low=0.9, high=1.1, people=100, colour=0.0)
    layout = mean_attention.genre_chart(table, 1.0).layout
    assert layout.xaxis.ticktext == layout.yaxis.ticktext == ("Наукова<br>фантастика", "Жахи")
