import json
import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

from pages.inside import film_map, words
from pages.shared import loaders
from pages.shared import words as common
from recsys.data.schema import Queries
from tests.pages import world
from tests.pages.reading import said

FILMS = [0, 1, 2, 3]  # items; the world's films have their number plus one as id
LINK = "-".join(str(item + 1) for item in FILMS)


def section(visit, name, link=LINK):
    app = visit("inside", s=link)
    return app if name == words.HOW_IT_WORKS else app.get_by_key("inside_section").set_value(name).run()


def html(app):
    return [element.value for element in app.html]


def chips(app):
    """Each strip of tokens as a list of names."""
    return [re.findall(r"</i>(.*?)</li>", strip) for strip in html(app) if strip.startswith("<ol")]


def rows(app):
    """Each list of films as (title, figure) pairs."""
    lists = [text for text in html(app) if text.startswith('<div class="nr-rows"')]
    return [
        [(unescape(title), figure) for title, figure in re.findall(r"<b>(.*?)</b>.*?</span><span>(.*?)</span>", text)]
        for text in lists
    ]


def chart(app, place=0):
    return json.loads(app.get("plotly_chart")[place].proto.spec)


def choose(app, variant):
    return app.get_by_key("attending").set_value(variant).run()


def test_without_films_the_page_offers_ready_made_lists(visit):
    app = visit("inside")
    assert words.INSIDE_FIRST_ADD in said(app)
    app.button(key="take-Crime of the nineties").click().run()
    assert not app.exception
    assert len(chips(app)) == 2


def test_the_page_opens_with_the_four_steps_on_the_visitors_films(visit):
    app = section(visit, words.HOW_IT_WORKS)
    assert not app.exception
    learnt, asked = chips(app)
    assert asked == [*(world.TITLES[item] for item in FILMS), "[mask]"]
    assert len(learnt) == len(FILMS)
    assert "[mask]" in learnt
    headings = " ".join(text.value for text in app.markdown)
    for step in (words.STEP_MASK, words.STEP_EMBED, words.STEP_ATTEND, words.STEP_SOFTMAX):
        assert step in headings


def test_the_last_step_shows_the_probabilities_of_the_model(visit, home):
    app = section(visit, words.HOW_IT_WORKS)
    dataset = loaders.dataset("ml-latest-sample")
    scores = loaders.predictor("bert4rec", "ml-latest-sample").model.score(Queries([np.array(FILMS)]))[0].astype(float)
    probabilities = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    title, figure = rows(app)[-1][0]
    assert title == dataset.catalog.films[scores.argmax()].title
    assert figure == common.percent(probabilities.max()).replace("<", "&lt;")


def test_the_heat_map_names_every_film_and_frames_the_row_that_asks(visit):
    app = section(visit, words.ATTENTION)
    assert not app.exception
    heat = chart(app)
    assert len(heat["layout"]["yaxis"]["ticktext"]) == len(FILMS) + 1
    assert heat["layout"]["yaxis"]["ticktext"][-1] == "<b>[mask]</b>"
    frame = heat["layout"]["shapes"][0]
    assert (frame["y0"], frame["y1"]) == (len(FILMS) - 0.5, len(FILMS) + 0.5)
    assert words.NOT_INFLUENCE in said(app)


def test_one_head_can_be_looked_at_alone(visit):
    app = section(visit, words.ATTENTION)
    everything = rows(app)[0]
    app.get_by_key(f"{words.HEAD}-of-2").set_value(1).run()
    assert not app.exception
    assert rows(app)[0] != everything


def test_of_many_films_the_newest_are_drawn_and_the_page_says_so(visit):
    link = "-".join(map(str, range(1, 30)))
    app = section(visit, words.ATTENTION, link)
    assert not app.exception
    assert len(chart(app)["layout"]["yaxis"]["ticktext"]) == 24  # what this model reads
    app.session_state.films = tuple(range(20)) * 60  # films repeated, more than any model reads
    app.run()
    assert not app.exception


def test_attention_by_distance_is_averaged_when_asked_for(visit):
    app = section(visit, words.ATTENTION)
    assert len(app.get("plotly_chart")) == 1
    app.button(key="average-bert4rec-ml-latest-sample").click().run()
    assert not app.exception
    line = chart(app, 1)["data"][0]
    assert line["name"] == words.LAYER_N.format(n=1)
    assert app.get("plotly_chart")[1].proto.alt


def test_a_model_that_is_not_trained_says_how_and_another_can_be_chosen(visit):
    app = choose(section(visit, words.ATTENTION), "sasrec-softmax")
    assert not app.exception
    assert "-m recsys train sasrec-softmax" in said(app)
    assert chart(choose(app, "bert4rec"))


def test_a_film_is_covered_at_first_and_its_rank_is_said(visit):
    app = section(visit, words.BLANKS)
    assert not app.exception
    assert chips(app)[0] == [world.TITLES[0], world.TITLES[1], "[mask]", world.TITLES[3]]
    assert f"You watched **{world.TITLES[2]}** here: rank" in said(app)
    assert len(rows(app)[0]) == 8


def test_blanks_go_into_gaps_too_and_without_one_the_page_says_what_to_do(visit):
    app = section(visit, words.BLANKS)
    app.multiselect[1].set_value([0, 4]).run()
    assert chips(app)[0].count("[mask]") == 3
    assert len(rows(app)) == 3
    app.multiselect[1].set_value([]).run()
    app.multiselect[0].set_value([]).run()
    assert words.CHOOSE_BLANK in said(app)


@pytest.mark.parametrize("name", [words.HOW_IT_WORKS, words.ATTENTION, words.BLANKS, words.MAP])
def test_one_film_is_enough_for_every_section(visit, name):
    assert not section(visit, name, "1").exception


@pytest.mark.parametrize("name", [words.HOW_IT_WORKS, words.BLANKS])
def test_without_trained_weights_a_section_says_what_to_type(visit, home, name):
    (home / "checkpoints").rename(home / "gone")
    app = section(visit, name)
    assert not app.exception
    assert "-m recsys train bert4rec" in said(app)


def test_the_map_marks_the_newest_film_and_lists_its_neighbours(visit):
    app = section(visit, words.MAP)
    assert not app.exception
    assert len(rows(app)[0]) == 10
    drawn = chart(app)
    assert drawn["layout"]["annotations"][0]["text"] == f"<b>{world.TITLES[3][:-7]}</b>"
    marks = {trace["name"]: trace for trace in drawn["data"]}
    assert {words.YOUR_FILMS_ON_MAP, words.NEAR_ON_MAP, words.CHOSEN_ON_MAP} <= set(marks)


@pytest.mark.parametrize("colour", ["year", "views"])
def test_the_map_can_be_coloured_by_year_and_popularity(visit, colour):
    app = section(visit, words.MAP)
    app.get_by_key("map_colour").set_value(colour).run()
    assert not app.exception
    assert words.COLOURS[colour] in app.get("plotly_chart")[0].proto.alt


def test_a_film_that_was_found_is_marked(visit):
    app = section(visit, words.MAP)
    app.text_input(key="map_search").set_value("Film 20").run()
    app.button(key="mark-21").click().run()
    assert not app.exception
    assert common.plain(words.NEAREST.format(film="Film 20 (2000)")) in [heading.value for heading in app.subheader]


@pytest.mark.parametrize(
    ("sent", "marked"), [([7], 7), (7, 7), (-1, None), (99, None), ("7", None), ([], None), (None, None)]
)
def test_a_click_marks_a_film_and_nothing_else_does(monkeypatch, sent, marked):
    state = SimpleNamespace(map_film=None)
    points = [] if sent is None else [{"customdata": sent}]
    chart = SimpleNamespace(selection=SimpleNamespace(points=points))
    monkeypatch.setattr(film_map.st, "session_state", type("State", (dict,), {"__getattr__": dict.get})())
    session = film_map.st.session_state
    session[film_map.POINTS] = chart
    monkeypatch.setattr(film_map, "choose_film", lambda name, item: setattr(state, "map_film", (name, item)))
    film_map.clicked("ml-latest-sample", 30)
    assert state.map_film == (None if marked is None else ("ml-latest-sample", marked))
