import numpy as np
import pytest

from recsys.evaluation import results
from tests.pages.evaluation.test_page import chart, measured, result, stored_results  # noqa: F401  # fixtures
from tests.pages.reading import chart_specs


def write(variant, protocol, rank):
    ranks = np.full((1, 3), rank)
    results.write(result(variant, "ml-1m", protocol, ranks), ranks)


@pytest.mark.usefixtures("measured")
def test_short_lists_are_charted_by_their_length_for_recommenders_measured_with_all(visit):
    for protocol, rank in {"short-1": 3, "short-3": 2, "short-10": 1}.items():
        write("popular", protocol, rank)
    write("markov", "short-1", 1)  # not measured with other lengths
    app = visit("evaluation", data="ml-1m")
    assert not app.get("plotly_chart")  # full lists: no chart above the leaderboard
    app.get_by_key("protocol-ml-1m").set_value("short-1").run()
    (line,) = chart(app)
    full = results.load("ml-1m", "full", "popular")["mean"]["ndcg@10"]
    assert line["name"] == "Popular"
    assert line["x"] == ["1", "3", "10", "all"]
    assert line["y"] == pytest.approx([0.5, 1 / np.log2(3), 1, full])


@pytest.mark.usefixtures("measured")
def test_results_for_one_length_give_no_chart(visit):
    write("markov", "short-1", 1)
    app = visit("evaluation", data="ml-1m")
    app.get_by_key("protocol-ml-1m").set_value("short-1").run()
    assert not app.get("plotly_chart")


@pytest.mark.usefixtures("measured")
def test_favourites_have_a_chart_of_their_own_with_labels_at_the_last_number(visit):
    for protocol, rank in {"favourites-1": 2, "favourites-10": 1}.items():
        write("popular", protocol, rank)
    app = visit("evaluation", data="ml-1m")
    app.get_by_key("protocol-ml-1m").set_value("favourites-1").run()
    (line,) = chart(app)
    assert (line["x"], line["y"]) == (["1", "10"], pytest.approx([1 / np.log2(3), 1]))
    layout = chart_specs(app)[0]["layout"]
    assert [label["x"] for label in layout["annotations"]] == [1]


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("metric", ["hr@10", "ndcg@10", "mrr"])
def test_the_note_below_the_leaderboard_explains_metrics_of_several_hidden_films(visit, metric):
    write("popular", "favourites-1", 2)
    app = visit("evaluation", data="ml-1m")
    app.get_by_key("metric").set_value(metric).run()
    assert "hidden film" in note(app)
    app.get_by_key("protocol-ml-1m").set_value("favourites-1").run()
    assert "hidden film" not in note(app)
    assert "other liked film" in note(app)


def note(app):
    """Return the caption below the leaderboard."""
    return next(caption.value for caption in app.caption if "95% confidence interval" in caption.value)
