"""What the charts of the app share: colours that hold on light and dark, short names, and their data as a file."""

ACCENT, SECOND = "#1f9a94", "#d9772f"  # 3:1 and more against the light and the dark page
GREY = "#8d8c88"
LINES = (ACCENT, SECOND, "#8a75c4", "#a08c2e")
KINDS = ("#5487c8", "#cf5b7f", "#a08c2e", "#8a75c4", "#5f9e5a", "#4a9fb0")  # as many as can be told apart
AMOUNT = [[0, "rgba(31, 154, 148, 0.05)"], [0.35, "rgba(31, 154, 148, 0.62)"], [1, "rgba(31, 154, 148, 1)"]]
SIGNED = [[0, SECOND], [0.5, "rgba(141, 140, 136, 0.08)"], [1, ACCENT]]
STILL = {"displayModeBar": False}  # for charts that nobody needs to zoom


def short(label: str, longest: int = 18) -> str:
    """A title that fits an axis."""
    title = label.rpartition(" (")[0] or label
    return title if len(title) <= longest else f"{title[: longest - 1].rstrip()}…"
