import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.evaluation import charts

WIDTHS = (270, 700, 1100)
SIZES = [(width, 400) for width in WIDTHS]
share = st.floats(0, 1, allow_nan=False)


def box(point, name, side, width, height=400):
    """What a name covers, worked out anew."""
    across, up = charts.SIDES[side]
    x = point[0] * width + across * (charts.LABEL_GAP_PX + len(name) * charts.LETTER_WIDTH_PX / 2)
    y = point[1] * height + up * (charts.LABEL_GAP_PX + charts.LETTER_HEIGHT_PX / 2)
    return (
        x - len(name) * charts.LETTER_WIDTH_PX / 2,
        y - charts.LETTER_HEIGHT_PX / 2,
        x + len(name) * charts.LETTER_WIDTH_PX / 2,
        y + charts.LETTER_HEIGHT_PX / 2,
    )


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(share, share), max_size=12))
def test_no_name_covers_another_or_a_mark_at_any_width(points):
    names = [f"Recommender {number}" for number in range(len(points))]
    first = charts.free_sides(points, names, SIZES)
    sides = charts.free_sides(points, names, SIZES[1:], first)
    assert all(then == now for then, now in zip(first, sides, strict=True) if then)
    for width in WIDTHS[1:]:
        rows = zip(points, names, sides, strict=True)
        boxes = [box(point, name, side, width) for point, name, side in rows if side]
        marks = [
            (
                x * width - charts.MARK_RADIUS_PX,
                y * 400 - charts.MARK_RADIUS_PX,
                x * width + charts.MARK_RADIUS_PX,
                y * 400 + charts.MARK_RADIUS_PX,
            )
            for x, y in points
        ]
        assert not any(overlap(one, other) for at, one in enumerate(boxes) for other in boxes[:at])
        assert not any(overlap(name, mark) for name in boxes for mark in marks)


def test_a_lone_name_stands_on_the_right_and_one_at_the_right_end_on_the_left():
    assert charts.free_sides([(0.2, 0.5)], ["EASE"], [(300, 400)]) == ["middle right"]
    assert charts.free_sides([(1.0, 0.5)], ["EASE"], [(300, 400)]) == ["middle left"]


def test_the_most_important_of_two_on_one_spot_is_named_first():
    sides = charts.free_sides([(0.5, 0.5), (0.5, 0.5)], ["first", "second"], [(300, 400)])
    assert sides[0] == "middle right"
    assert sides[1] != "middle right"


def test_values_are_scaled_to_the_width_of_the_chart():
    assert charts.relative(pd.Series([2, 4, 3])).tolist() == pytest.approx([0.06, 0.94, 0.5])
    assert charts.relative(pd.Series([7, 7])).tolist() == [0.5, 0.5]
    assert charts.relative(pd.Series([], dtype=float)).empty


LOGS = {
    "long": pd.DataFrame({"epoch": [1, 2, 3], "loss": [7.0, 6.0, 5.0], "ndcg@10": [None, 0.1, 0.2]}),
    "short": pd.DataFrame({"epoch": [1, 2], "loss": [7.0, 5.8]}),
    "other": pd.DataFrame({"epoch": [1, 3], "loss": [6.0, 5.0], "ndcg@10": [0.1, 0.3]}),
}
TITLES = {"long": "Long", "short": "Short", "other": "Other person"}


def looks(figure):
    return {line.name: (line.line.color, line.line.dash, line.marker.symbol) for line in figure.data}


def test_no_two_lines_share_colour_dash_or_mark():
    many = {str(number): LOGS["long"] for number in range(charts.MAX_LINES)}
    drawn = looks(charts.plot_lines(many, str, "epoch", "loss", ""))
    for parts in zip(*drawn.values(), strict=True):
        assert len(set(parts)) == charts.MAX_LINES


def test_a_recommender_looks_the_same_in_both_charts_though_another_is_missing_in_one():
    loss, validation = (charts.plot_lines(LOGS, TITLES.get, "epoch", column, "") for column in ("loss", "ndcg@10"))
    assert set(looks(validation)) == {"Long", "Other person"}
    assert looks(validation).items() <= looks(loss).items()


def test_lines_are_named_where_they_end():
    figure = charts.label_line_ends(charts.plot_lines(LOGS, TITLES.get, "epoch", "loss", ""))
    places = {note.text: (note.x, note.y) for note in figure.layout.annotations}
    assert places["Short"] == (2, 5.8)
    assert {places[name][0] for name in ("Long", "Other person")} == {3}
    assert (
        abs(places["Long"][1] - places["Other person"][1])
        >= charts.LETTER_HEIGHT_PX / charts.LINE_PLOT_HEIGHT_PX * 2 - 1e-9
    )


def test_without_any_line_nothing_is_named():
    empty = {"a": pd.DataFrame({"epoch": []})}
    assert not charts.label_line_ends(charts.plot_lines(empty, str, "epoch", "loss", "")).layout.annotations


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
    assert charts.spread(heights, 1.0) == pytest.approx(spread)


TABLE = pd.DataFrame(
    {"title": ["One", "Two"], "family": ["Transformers"] * 2, "x": [10.0, 1000.0], "log": [1.0, 3.0], "y": [0.1, 0.2]}
)


def test_names_that_fit_a_phone_stand_in_a_trace_that_is_not_the_last():
    *_, phone, wide = charts.plot_scatter(TABLE, "x", "y", "X", "Y", log_column="log").data
    assert [*phone.text] == ["Two", "One"]
    assert [*wide.text] == ["", ""]  # it is there all the same: the style sheet hides the last trace on a phone
    assert len(wide.x) == 2


def test_a_logarithmic_axis_of_times_is_read_in_seconds_minutes_and_hours():
    axis = charts.plot_scatter(TABLE, "x", "y", "X", "Y", log_column="log").layout.xaxis
    ticks = dict(zip(axis.ticktext, axis.tickvals, strict=True))
    assert (ticks["10 s"], ticks["10 min"], ticks["2 h"]) == (10, 600, 7200)
    assert charts.plot_scatter(TABLE, "x", "y", "X", "Y").layout.xaxis.tickvals is None


def test_no_line_crosses_the_label_of_a_line_that_ends_early():
    short = pd.DataFrame({"epoch": [0, 40], "loss": [9.0, 5.0]})
    above = pd.DataFrame({"epoch": [0, 40, 80], "loss": [9.0, 5.2, 5.0]})
    below = pd.DataFrame({"epoch": [0, 80], "loss": [4.9, 4.9]})
    assert anchor_of_short({"short": short}) is None  # at the edge
    assert anchor_of_short({"short": short, "below": below}) == "bottom"
    assert anchor_of_short({"short": short, "above": above}) == "top"
    assert anchor_of_short({"short": short, "above": above, "below": below}) == "no label"


def anchor_of_short(logs):
    figure = charts.label_line_ends(charts.plot_lines(logs, str, "epoch", "loss", ""))
    return {note.text: note.yanchor for note in figure.layout.annotations}.get("short", "no label")


def test_names_do_not_overlap_above_the_tall_legend_of_a_phone():
    families = list(charts.LOOKS)
    n = 20
    rows = [{"title": f"Model {row}", "family": families[row % len(families)], "x": 1.0, "y": row} for row in range(n)]
    figure = charts.plot_scatter(pd.DataFrame(rows), "x", "y", "", "")
    phone = figure.data[-2]
    phone_height = charts.PLOT_HEIGHT_PX - charts.LEGEND_ROW_PX * (len(families) - 1)
    for side in ("middle right", "middle left"):
        heights = sorted(
            phone_height * 0.88 * y / (n - 1)
            for y, text, position in zip(phone.y, phone.text, phone.textposition, strict=True)
            if text and position == side
        )
        assert all(above - below >= charts.LETTER_HEIGHT_PX for below, above in itertools.pairwise(heights))
