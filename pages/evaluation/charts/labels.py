"""Where the names of a chart's points can stand without covering each other. Plain Python; lengths in pixels."""

from collections.abc import Sequence

SIDES = {  # where a label stands as seen from its point, y upwards: the centre moves by (half widths, half heights)
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top center": (0, 1),
    "bottom center": (0, -1),
}
LETTER, LINE, GAP, MARK = 6.2, 14.0, 8.0, 6.0  # of 11 px type; from a point to its label; half a point's width
Box = tuple[float, float, float, float]  # left, bottom, right, top


def free_sides(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    widths: Sequence[float],
    height: float,
    placed: Sequence[str | None] = (),
) -> list[str | None]:
    """For each point one of SIDES, None where its name would cover another name or point, or leave the chart.

    points: (x, y) from 0 to 1, the most important first, for these choose first. A name must fit at every one of the
    widths that the chart may have. placed: what an earlier call found; those names stay, and may be all None.
    """
    kept = list(placed) or [None] * len(points)
    charts = [_Chart(points, names, width, height) for width in widths]
    for row in sorted(range(len(kept)), key=lambda row: kept[row] is None):  # those that stand already come first
        side = kept[row] or next((free for free in SIDES if all(chart.fits(row, free) for chart in charts)), None)
        if side:
            kept[row] = side
            for chart in charts:
                chart.take(row, side)
    return kept


class _Chart:
    """What is covered at one width."""

    def __init__(self, points: Sequence[tuple[float, float]], names: Sequence[str], width: float, height: float):
        self.centres = [(x * width, y * height) for x, y in points]
        self.names, self.width, self.height = names, width, height
        self.taken: list[Box] = [(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in self.centres]

    def take(self, row: int, side: str) -> None:
        """Let a name stand."""
        self.taken.append(self._box(row, side))

    def fits(self, row: int, side: str) -> bool:
        """Whether a name would cover nothing and stay within the chart."""
        left, low, right, high = self._box(row, side)
        inside = left >= -GAP and right <= self.width + GAP and low >= -LINE and high <= self.height + LINE
        return inside and not any(left < x1 and right > x0 and low < y1 and high > y0 for x0, y0, x1, y1 in self.taken)

    def _box(self, row: int, side: str) -> Box:
        """What a name covers."""
        across, up = SIDES[side]
        half_width, half_height = len(self.names[row]) * LETTER / 2, LINE / 2
        x, y = self.centres[row]
        x, y = x + across * (GAP + half_width), y + up * (GAP + half_height)
        return x - half_width, y - half_height, x + half_width, y + half_height


def scaled(values: Sequence[float]) -> list[float]:
    """Values from 0 for the least to 1 for the greatest; all 0.5 where they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]
