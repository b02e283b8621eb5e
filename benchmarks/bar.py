"""What a figure has to reach, and whether it does."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A figure and its limit; without a limit it is only reported."""

    figure: str  # its name in a result: "wall_ms.p50"
    limit: float | None = None
    at_least: bool = False  # the limit is the least that it may be, not the most

    def holds(self, value: float | None) -> bool | None:
        """Whether a figure reaches the limit; None where there is no limit or no figure."""
        if value is None or self.limit is None:
            return None
        return value >= self.limit if self.at_least else value <= self.limit

    def verdict(self, value: float | None) -> str:
        """`≤ 30: holds`, `≥ 12: missed`, `≤ 30: not measured`; "" without a limit."""
        if self.limit is None:
            return ""
        said = {True: "holds", False: "missed", None: "not measured"}[self.holds(value)]
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}: {said}"
