import re
import threading
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

from pages.inside import film_map, lesson
from pages.inside.lesson_input import PAPER_DIFFERENCES
from pages.ui import cache, tasks
from pages.ui.format import escape_markdown, percent
from pages.ui.url import COLOUR_OPTIONS
from pages.ui.visitor import ListState
from recsys import checkpoints, paths
from recsys.data.dataset import Queries
from recsys.data.split import LEAVE_ONE_OUT
from recsys.models import registry
from recsys.serving import substitutes
from recsys.serving.recommend import ServingError
from tests.models.configs import changed
from tests.pages import world
from tests.pages.reading import chart_specs
from tests.pages.reading import said as sentences

FILMS = [0, 1, 2, 3]  # items; the world's films have their number plus one as id
LINK = "-".join(str(item + 1) for item in FILMS)


def section(visit, name, link=LINK):
    app = visit("inside", s=link)
    return app if name == "lesson" else app.get_by_key("inside_section").set_value(name).run()


def step(visit, title, link=LINK):
    """The lesson at the step with a title, reached by the button."""
    app = visit("inside", s=link)
    for _ in lesson.STEPS:
        if title in heading(app):
            return app
        app.button(key="lesson-next").click().run()
        assert not app.exception
    raise AssertionError(f"no step {title}")


def heading(app):
    return app.header[0].value


def html(app):
    return [element.value for element in app.html]


def chips(app):
    """Each strip of tokens as a list of names."""
    return [re.findall(r"</i>(.*?)</li>", strip) for strip in html(app) if strip.startswith("<ol")]


def rows(app):
    """Each list of films as (title, figure) pairs."""
    lists = [text for text in html(app) if text.startswith('<ol class="nr-rows"')]
    return [
        [(unescape(title), figure) for title, figure in re.findall(r"<b>(.*?)</b>.*?</span><span>(.*?)</span>", text)]
        for text in lists
    ]


def chart(app, place=0):
    return chart_specs(app)[place]


def choose(app, variant):
    return app.get_by_key("attending").set_value(variant).run()


def test_without_films_the_page_offers_ready_made_lists(visit):
    app = visit("inside")
    assert not app.header
    app.button(key="take-Nineties crime films").click().run()
    assert not app.exception
    assert heading(app) == "1. The whole network"


def test_next_and_back_go_through_all_steps_of_the_lesson_and_the_last_leads_to_the_first(visit):
    app = section(visit, "lesson")
    assert app.button(key="lesson-back").disabled
    seen = []
    for _ in lesson.STEPS:
        assert not app.exception
        seen.append(heading(app))
        app.button(key="lesson-next").click().run()
    assert seen == [f"{number}. {step_.title}" for number, step_ in enumerate(lesson.STEPS, start=1)]
    assert heading(app) == seen[0]
    app.get_by_key("lesson_step").set_value(4).run()
    assert heading(app) == seen[3]
    app.button(key="lesson-back").click().run()
    assert heading(app) == seen[2]


def test_a_link_leads_to_a_section_and_to_a_step_of_the_lesson(visit):
    app = visit("inside", s=LINK, step="5")
    assert heading(app) == "5. Self-attention"
    app.button(key="lesson-next").click().run()
    assert app.query_params["step"] == "6"
    assert visit("inside", s=LINK, inside="attention").get_by_key("lines-from-5")
    assert heading(visit("inside", s=LINK, step="99")).startswith(f"{len(lesson.STEPS)}. ")


def test_a_link_keeps_the_choices_of_a_section(visit):
    app = visit("inside", s=LINK, inside="map", mapped="popular", plane="pca", colour="genre")
    assert not app.exception
    assert app.get_by_key("mapped").value == "bert4rec"  # films have no embeddings in the list of popular films
    app.get_by_key("map_colour").set_value("views").run()
    assert app.query_params["colour"] in ("views", ["views"])
    assert app.query_params["plane"] in ("pca", ["pca"])
    assert "mapped" not in app.query_params


def test_the_lesson_begins_with_a_drawing_of_the_network_and_where_it_departs_from_the_paper(visit):
    app = section(visit, "lesson")
    (image,) = app.get("image")
    assert world.TITLES[3] in image.proto.imgs[0].alt
    departures = app.table[0].value
    assert PAPER_DIFFERENCES["relative_bias"][0] in departures.index
    assert "70%" in departures.loc[PAPER_DIFFERENCES["last_only"][0], "Here"]


def test_the_lesson_can_be_about_the_papers_network_where_that_is_there(visit):
    app = visit("inside", s=LINK)
    assert lesson.NETWORK_KEY not in app.session_state
    paper = registry.get("bert4rec-paper").preset("")
    world.train(cache.dataset("ml-latest-sample"), changed(paper, dim=16, length=24, epochs=1), "bert4rec-paper")
    app = visit("inside", s=LINK)
    ours = app.table[0].value
    app.get_by_key(lesson.NETWORK_KEY).set_value("bert4rec-paper").run()
    assert not app.exception
    theirs = app.table[0].value
    assert PAPER_DIFFERENCES["relative_bias"][0] in ours.index
    assert PAPER_DIFFERENCES["relative_bias"][0] not in theirs.index
    for _ in lesson.STEPS[1:]:
        app.button(key="lesson-next").click().run()
        assert not app.exception


def test_a_film_with_films_on_both_sides_is_covered_and_the_mask_comes_last_to_predict(visit):
    learnt, asked = chips(step(visit, "Mask a film"))
    assert asked == [*(world.TITLES[item] for item in FILMS), "[mask]"]
    assert len(learnt) == len(FILMS)
    assert "[mask]" in learnt[1:-1]
    assert "[mask]" not in (learnt[0], learnt[-1])


def test_the_attention_of_one_head_is_told_in_numbers_that_add_up(visit):
    app = step(visit, "Self-attention")
    dataset = cache.dataset("ml-latest-sample")
    model = cache.load_predictor("bert4rec", dataset.name).model
    weights = model.attention(model.input_tokens(np.array(FILMS)))[0, 0, -1]
    title, figure = rows(app)[0][0]
    assert title == dataset.catalog.films[FILMS[weights[:-1].argmax()]].title
    assert figure == percent(weights[:-1].max())
    app.get_by_key("one-head-of-2").set_value(1).run()
    assert rows(app)[0][0][1] == percent(model.attention(model.input_tokens(np.array(FILMS)))[0, 1, -1, :-1].max())


def test_each_layer_says_what_it_would_predict_and_the_last_agrees_with_the_softmax(visit):
    last = rows(step(visit, "Layers"))[-1]
    softmax = rows(step(visit, "Softmax"))[0]
    assert last == softmax[: len(last)]


def test_the_bars_of_all_layers_have_one_scale(visit):
    text = " ".join(html(step(visit, "Layers")))
    bars = [tuple(map(float, bar)) for bar in re.findall(r'width:([\d.]+)%"></i></span><span>([\d.]+)%', text)]
    assert len(bars) > 4
    longest = max(share for _, share in bars)
    for width, share in bars:
        assert width == pytest.approx(100 * share / longest, abs=1)


def test_the_softmax_shows_the_probabilities_of_the_model(visit):
    app = step(visit, "Softmax")
    dataset = cache.dataset("ml-latest-sample")
    scores = (
        cache.load_predictor("bert4rec", "ml-latest-sample").model.score(Queries([np.array(FILMS)]))[0].astype(float)
    )
    probabilities = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    title, figure = rows(app)[-1][0]
    assert title == dataset.catalog.films[scores.argmax()].title
    assert figure == percent(probabilities.max()).replace("<", "&lt;")


def test_the_loss_is_told_for_the_films_that_were_covered(visit):
    covered = [film for film in chips(step(visit, "Mask a film"))[0] if film == "[mask]"]
    app = step(visit, "Training")
    assert len(rows(app)[0]) == len(covered)
    assert "3.40" in sentences(app)  # the logarithm of 30 films


def test_films_that_training_left_out_are_stood_in_for_in_every_section(visit):
    link = f"{LINK}-{len(world.TITLES) + 1}"
    for name in ("lesson", "attention", "blanks", "map"):
        app = section(visit, name, link)
        assert not app.exception
        assert "do not know Rare Bird (1999)" in sentences(app)


def test_a_film_and_another_that_it_stands_in_for_are_two_rows_of_the_attention(visit):
    rare = len(world.TITLES)
    twin = substitutes.find_item(world.build(), rare) + 1  # the id of the film that stands in
    app = section(visit, "attention", f"{twin}-{rare + 1}")
    app.session_state["table-attention"] = True
    app.run()
    assert not app.exception
    label = world.TITLES[twin - 1]
    assert [name.replace("\\", "") for name in app.table[0].value.index] == [f"1. {label}", f"2. {label}", "3. [mask]"]


def test_a_short_history_is_drawn_as_lines_from_every_position_or_from_one(visit):
    app = section(visit, "attention")
    figure = chart(app)
    assert figure["layout"]["yaxis"]["ticktext"][-1] == "[mask]"
    assert figure["layout"]["yaxis2"]["side"] == "right"
    strokes = ends(figure)
    assert {left for left, _ in strokes} == set(range(5))
    app.get_by_key("lines-from-5").set_value(4).run()
    assert {left for left, _ in ends(chart(app))} == {4}
    assert len(ends(chart(app))) < len(strokes)


def test_a_model_without_a_mask_also_has_lines_for_at_most_twelve_films(visit):
    sasrec = registry.get("sasrec-softmax").preset("")
    world.train(cache.dataset("ml-latest-sample"), changed(sasrec, dim=16, length=24, epochs=1), "sasrec-softmax")
    for n_films, has_lines in ((12, True), (13, False)):
        app = section(visit, "attention", "-".join(map(str, range(1, n_films + 1))))
        choose(app, "sasrec-softmax")
        assert not app.exception
        assert (f"lines-from-{n_films}" in [box.key for box in app.selectbox]) == has_lines


def ends(figure):
    """(left, right) positions of every line."""
    found = []
    for trace in figure["data"]:
        if trace["mode"] == "lines" and trace["y"] != [None]:
            y = trace["y"]
            found += [(round(y[n]), round(y[n + 1])) for n in range(0, len(y), 3)]
    return found


def test_the_heat_map_names_every_film_and_frames_the_row_that_asks(visit):
    app = section(visit, "attention")
    app.get_by_key("attention_drawn").set_value("heat-map").run()
    assert not app.exception
    heat = chart(app)
    assert len(heat["layout"]["yaxis"]["ticktext"]) == len(FILMS) + 1
    assert heat["layout"]["yaxis"]["ticktext"][-1] == "<b>[mask]</b>"
    frame = heat["layout"]["shapes"][0]
    assert (frame["y0"], frame["y1"]) == (len(FILMS) - 0.5, len(FILMS) + 0.5)


def test_one_head_can_be_looked_at_alone(visit):
    app = section(visit, "attention")
    everything = rows(app)[0]
    app.get_by_key("head-of-2").set_value(1).run()
    assert not app.exception
    assert rows(app)[0] != everything


def test_of_many_films_the_newest_are_drawn_and_the_page_says_so(visit):
    link = "-".join(map(str, range(1, 30)))
    app = section(visit, "attention", link)
    assert not app.exception
    assert len(chart(app)["layout"]["yaxis"]["ticktext"]) == 24  # what this model reads
    app.session_state.visitor.current = ListState(
        films=tuple(range(20)) * 60
    )  # films repeated, more than any model reads
    app.run()
    assert not app.exception


def test_attention_by_distance_is_averaged_when_asked_for(visit):
    app = section(visit, "attention")
    assert len(app.get("plotly_chart")) == 1
    app.button(key="average-bert4rec-ml-latest-sample").click().run()
    assert not app.exception
    line = chart(app, 1)["data"][0]
    assert line["name"] == "Layer 1"
    assert app.get("plotly_chart")[1].proto.alt


def test_a_model_that_is_not_trained_says_how_and_another_can_be_chosen(visit):
    app = choose(section(visit, "attention"), "sasrec-softmax")
    assert not app.exception
    assert "-m recsys train sasrec-softmax" in sentences(app)
    assert chart(choose(app, "bert4rec"))


def test_a_film_is_covered_at_first_and_its_rank_is_said(visit):
    app = section(visit, "blanks")
    assert not app.exception
    assert chips(app)[0] == [world.TITLES[0], world.TITLES[1], "[mask]", world.TITLES[3]]
    assert f"You watched **{world.TITLES[2]}** here: rank" in sentences(app)
    assert len(rows(app)[0]) == 8
    sides = app.table[0].value
    assert list(sides.index) == ["Films before", "Films after", "Both"]
    assert sides.loc["Both", "Rank"] in sentences(app)


def test_cbow_fills_blanks_too_without_probabilities(visit):
    dataset, variant = cache.dataset("ml-latest-sample"), registry.get("item2vec-cbow")
    config = changed(variant.preset(""), dim=8, epochs=1)
    checkpoints.save(variant.name, variant.model(config).fit(LEAVE_ONE_OUT(dataset).train), dataset, seed=0)
    app = section(visit, "blanks")
    app.get_by_key("filling_blanks").set_value("item2vec-cbow").run()
    assert not app.exception
    assert re.search(rf"You watched \*\*{re.escape(world.TITLES[2])}\*\* here: rank \d+\.", sentences(app))
    (listed,) = [text for text in html(app) if text.startswith('<ol class="nr-rows"')]
    assert listed.count("<b>") == 8
    assert "%" not in listed


def test_blanks_go_into_gaps_too_and_without_one_the_page_says_what_to_do(visit):
    app = section(visit, "blanks")
    app.multiselect[1].set_value([0, 4]).run()
    assert chips(app)[0].count("[mask]") == 3
    assert len(rows(app)) == 3
    app.multiselect[1].set_value([]).run()
    app.multiselect[0].set_value([]).run()
    assert "Mask a film or add a mask between films." in sentences(app)


@pytest.mark.parametrize("name", ["lesson", "attention", "blanks", "map"])
def test_one_film_is_enough_for_every_section(visit, name):
    assert not section(visit, name, "1").exception


@pytest.mark.parametrize("name", ["lesson", "blanks"])
def test_without_trained_weights_a_section_says_what_to_type(visit, home, name):
    (home / "checkpoints").rename(home / "gone")
    app = section(visit, name)
    assert not app.exception
    assert "-m recsys train bert4rec" in sentences(app)


TSNE_BUTTON = "tsne-bert4rec-ml-latest-sample"


def tsne_task():
    return tasks.find(f"tsne/{cache.load_predictor('bert4rec', 'ml-latest-sample').key}")


@pytest.mark.slow
def test_the_map_is_pca_until_tsne_is_computed_and_then_has_regions(visit):
    app = section(visit, "map")
    assert "The two axes explain" in sentences(app)
    app.button(key=TSNE_BUTTON).click().run()
    assert not app.exception
    assert tsne_task().wait(60)
    app.run()
    assert "The two axes explain" not in sentences(app)
    app.session_state["table-regions"] = True
    app.run()
    assert list(app.table[0].value.columns) == ["Films", "More frequent here", "Most watched"]
    app.get_by_key("projection").set_value("PCA").run()
    assert "The two axes explain" in sentences(app)


def test_the_computation_of_a_map_shows_its_progress_and_can_be_cancelled_or_repeated(visit, monkeypatch):
    go_on, results = threading.Event(), [ServingError("the process ended"), None]

    def compute(predictor, report):
        report({"stage": "map", "done": 250, "total": 1000})
        assert go_on.wait(60)
        report({"stage": "map", "done": 300, "total": 1000})
        if error := results.pop(0):
            raise error

    monkeypatch.setattr(film_map.tsne, "compute_map", compute)
    app = section(visit, "map")
    app.button(key=TSNE_BUTTON).click().run()
    assert not app.exception
    assert "The two axes explain" in sentences(app)
    app.button(key=f"stop-{TSNE_BUTTON}").click().run()
    go_on.set()
    assert tsne_task().wait(60)
    app.run().button(key=TSNE_BUTTON).click().run()
    assert tsne_task().wait(60)
    app.run()
    assert "The process ended." in sentences(app)
    app.button(key=f"again-{TSNE_BUTTON}").click().run()
    assert tsne_task().wait(60)
    assert tsne_task().error is None


def test_visitors_of_a_public_server_compute_no_map(visit, monkeypatch):
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = section(visit, "map")
    assert "The two axes explain" in sentences(app)
    assert TSNE_BUTTON not in [button.key for button in app.button]
    assert app.code[0].value.endswith("-m recsys.serving.insight.tsne ml-latest-sample bert4rec")


def test_the_map_marks_the_newest_film_and_lists_its_neighbours(visit):
    app = section(visit, "map")
    assert not app.exception
    assert len(rows(app)[0]) == 10
    drawn = chart(app)
    assert drawn["layout"]["annotations"][0]["text"] == f"<b>{world.TITLES[3][:-7]}</b>"
    marks = {trace["name"]: trace for trace in drawn["data"]}
    assert {"Your films", "Nearest films", "Chosen film"} <= set(marks)


@pytest.mark.parametrize("colour", ["genre", "views"])
def test_the_map_can_be_coloured_by_genre_and_popularity(visit, colour):
    app = section(visit, "map")
    app.get_by_key("map_colour").set_value(colour).run()
    assert not app.exception
    assert COLOUR_OPTIONS[colour] in app.get("plotly_chart")[0].proto.alt


def test_a_film_that_was_found_is_marked(visit):
    app = section(visit, "map")
    app.text_input(key="map_search").set_value("Film 20").run()
    app.button(key="mark-21").click().run()
    assert not app.exception
    assert escape_markdown("Nearest to Film 20 (2000)") in [heading.value for heading in app.header]


@pytest.mark.parametrize(
    ("sent", "marked"), [([7], 7), (7, 7), (-1, None), (99, None), ("7", None), ([], None), (None, None)]
)
def test_a_click_marks_a_film_and_nothing_else_does(monkeypatch, sent, marked):
    state = SimpleNamespace(map_film=None)
    points = [] if sent is None else [{"customdata": sent}]
    chart = SimpleNamespace(selection=SimpleNamespace(points=points))
    monkeypatch.setattr(film_map.st, "session_state", type("State", (dict,), {"__getattr__": dict.get})())
    session = film_map.st.session_state
    session[film_map.CHART_KEY] = chart
    monkeypatch.setattr(film_map, "choose_film", lambda data, item: setattr(state, "map_film", (data, item)))
    film_map.handle_click("fingerprint", 30)
    assert state.map_film == (None if marked is None else ("fingerprint", marked))


def test_a_marked_film_belongs_to_the_content_of_a_data_set_not_to_its_name(monkeypatch):
    data, replaced = world.build(), world.build(titles=world.TITLES[:20])
    monkeypatch.setattr(film_map.st, "session_state", type("State", (dict,), {"__setattr__": dict.__setitem__})())
    film_map.choose_film(data.fingerprint, 7)
    assert film_map.find_chosen_item(data, (1, 2)) == 7
    assert replaced.name == data.name
    assert film_map.find_chosen_item(replaced, (1, 2)) == 2
