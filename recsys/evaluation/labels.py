"""Where the names of a chart's points can stand without covering each other. Plain Python; lengths in pixels."""

from collections.abc import Sequence

SIDES = {  # where a label stands as seen from its point, y upwards: the centre moves by (half widths, half heights)
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top center": (0, 1),
    "bottom center": (0, -1),
}
LETTER, LINE, GAP = 6.2, 14.0, 8.0  # of 11 px type; GAP: from the middle of a point to its label
Box = tuple[float, float, float, float]  # left, bottom, right, top


def free_sides(
    points: Sequence[tuple[float, float]], names: Sequence[str], width: float, height: float
) -> list[str | None]:
    """For each point one of SIDES, None where its name would cover another name or point, or leave the chart.

    points: (x, y) from 0 to 1, the most important first, for these choose first. A name that fits into width × height
    fits into any wider chart too, where points lie further apart and letters are as large.
    """
    centres = [(x * width, y * height) for x, y in points]
    taken = [(x - GAP / 2, y - GAP / 2, x + GAP / 2, y + GAP / 2) for x, y in centres]
    chosen: list[str | None] = []
    for centre, name in zip(centres, names, strict=True):
        boxes = {side: _box(centre, len(name), side) for side in SIDES}
        side = next((side for side, box in boxes.items() if _fits(box, taken, width, height)), None)
        chosen.append(side)
        if side:
            taken.append(boxes[side])
    return chosen


def scaled(values: Sequence[float]) -> list[float]:
    """Values from 0 for the least to 1 for the greatest; all 0.5 where they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


def _box(centre: tuple[float, float], letters: int, side: str) -> Box:
    """What a name covers."""
    across, up = SIDES[side]
    half_width, half_height = letters * LETTER / 2, LINE / 2
    x, y = centre[0] + across * (GAP + half_width), centre[1] + up * (GAP + half_height)
    return x - half_width, y - half_height, x + half_width, y + half_height


def _fits(box: Box, taken: Sequence[Box], width: float, height: float) -> bool:
    left, bottom, right, top = box
    inside = left >= -GAP and right <= width + GAP and bottom >= -LINE and top <= height + LINE
    return inside and not any(left < x1 and right > x0 and bottom < y1 and top > y0 for x0, y0, x1, y1 in taken)
