from hypothesis import given, settings
from hypothesis import strategies as st

from pages.evaluation.charts.labels import GAP, LETTER, LINE, MARK, SIDES, free_sides, scaled

WIDTHS = (270, 700, 1100)
share = st.floats(0, 1, allow_nan=False)


def box(point, name, side, width, height=400):
    """What a name covers, worked out anew."""
    across, up = SIDES[side]
    x = point[0] * width + across * (GAP + len(name) * LETTER / 2)
    y = point[1] * height + up * (GAP + LINE / 2)
    return x - len(name) * LETTER / 2, y - LINE / 2, x + len(name) * LETTER / 2, y + LINE / 2


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(share, share), max_size=12))
def test_no_name_covers_another_or_a_mark_at_any_width(points):
    names = [f"Recommender {number}" for number in range(len(points))]
    first = free_sides(points, names, WIDTHS, 400)
    sides = free_sides(points, names, WIDTHS[1:], 400, first)
    assert all(then == now for then, now in zip(first, sides, strict=True) if then)
    for width in WIDTHS[1:]:
        rows = zip(points, names, sides, strict=True)
        boxes = [box(point, name, side, width) for point, name, side in rows if side]
        marks = [(x * width - MARK, y * 400 - MARK, x * width + MARK, y * 400 + MARK) for x, y in points]
        assert not any(overlap(one, other) for at, one in enumerate(boxes) for other in boxes[:at])
        assert not any(overlap(name, mark) for name in boxes for mark in marks)


def test_a_lone_name_stands_on_the_right_and_one_at_the_right_end_on_the_left():
    assert free_sides([(0.2, 0.5)], ["EASE"], [300], 400) == ["middle right"]
    assert free_sides([(1.0, 0.5)], ["EASE"], [300], 400) == ["middle left"]


def test_the_most_important_of_two_on_one_spot_is_named_first():
    sides = free_sides([(0.5, 0.5), (0.5, 0.5)], ["first", "second"], [300], 400)
    assert sides[0] == "middle right"
    assert sides[1] != "middle right"


def test_values_are_scaled_to_the_width_of_the_chart():
    assert scaled([2, 4, 3]) == [0, 1, 0.5]
    assert scaled([7, 7]) == [0.5, 0.5]
    assert scaled([]) == []
