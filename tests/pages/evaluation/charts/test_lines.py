import pandas as pd
import pytest

from pages.evaluation.charts import lines

LOGS = {
    "long": pd.DataFrame({"epoch": [1, 2, 3], "loss": [7.0, 6.0, 5.0], "ndcg@10": [None, 0.1, 0.2]}),
    "short": pd.DataFrame({"epoch": [1, 2], "loss": [7.0, 5.5]}),
    "other": pd.DataFrame({"epoch": [1, 3], "loss": [6.0, 5.0], "ndcg@10": [0.1, 0.3]}),
}
TITLES = {"long": "Long", "short": "Short", "other": "Other"}


def looks(figure):
    return {line.name: (line.line.color, line.line.dash, line.marker.symbol) for line in figure.data}


def test_no_two_lines_share_colour_dash_or_mark():
    many = {str(number): LOGS["long"] for number in range(lines.MOST)}
    drawn = looks(lines.lines(many, {name: name for name in many}, "epoch", "loss", ""))
    for parts in zip(*drawn.values(), strict=True):
        assert len(set(parts)) == lines.MOST


def test_a_recommender_looks_the_same_in_both_charts_though_another_is_missing_in_one():
    loss, validation = (lines.lines(LOGS, TITLES, "epoch", column, "") for column in ("loss", "ndcg@10"))
    assert set(looks(validation)) == {"Long", "Other"}
    assert looks(validation).items() <= looks(loss).items()


def test_lines_are_named_where_they_end():
    figure = lines.name_ends(lines.lines(LOGS, TITLES, "epoch", "loss", ""))
    places = {note.text: (note.x, note.y) for note in figure.layout.annotations}
    assert places["Short"] == (2, 5.5)
    assert {places[name][0] for name in ("Long", "Other")} == {3}
    assert abs(places["Long"][1] - places["Other"][1]) >= lines.LINE / lines.TALL * 2 - 1e-9


def test_without_any_line_nothing_is_named():
    empty = {"a": pd.DataFrame({"epoch": []})}
    assert not lines.name_ends(lines.lines(empty, {"a": "A"}, "epoch", "loss", "")).layout.annotations


@pytest.mark.parametrize(
    ("heights", "spread"),
    [
        ([1.0, 5.0], [1.0, 5.0]),  # far enough apart
        ([2.0, 2.0], [1.5, 2.5]),
        ([2.5, 2.0], [2.75, 1.75]),  # in the order given
        ([0.0, 0.5, 1.0, 9.0], [-0.5, 0.5, 1.5, 9.0]),
        ([0.0, 1.2, 1.3], [-0.1666667, 0.8333333, 1.8333333]),  # the upper two, moved apart, meet the lowest
    ],
)
def test_names_are_moved_only_as_far_as_they_have_to_be(heights, spread):
    assert lines.spread(heights, 1.0) == pytest.approx(spread)
