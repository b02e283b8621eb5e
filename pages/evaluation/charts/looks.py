"""What all charts of the page share: a family has one colour and one shape everywhere.

Each colour has a contrast of 3:1 and more to both page colours.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from pages.ui.i18n import number


class Look(NamedTuple):
    """How a family is drawn."""

    colour: str
    symbol: str  # Plotly's name
    glyph: str  # the same in text


LOOKS = {
    "Transformers": Look("#1f9a94", "circle", "●"),
    "Hybrid": Look("#a3704c", "hexagon", "⬢"),
    "Recurrent": Look("#4a80d4", "square", "■"),
    "Convolutional": Look("#9a6fd6", "diamond", "◆"),
    "Markov with factors": Look("#cf6a2a", "triangle-up", "▲"),
    "Film embeddings": Look("#c9568c", "triangle-down", "▼"),
    "Factorisation": Look("#8a8220", "star", "★"),
    "Neighbours": Look("#56933c", "triangle-left", "◀"),
    "Attention": Look("#b0509f", "pentagon", "⬟"),
    "Autoencoders": Look("#3a9a6e", "star-diamond", "✦"),
    "Content": Look("#d1514b", "triangle-right", "▶"),
    "No learning": Look("#85847f", "x", "✖"),
}
OTHERS = Look("#2f8fb8", "cross", "✚")  # a family without a row above
MARKS = ("", "-open", "-dot", "-open-dot")  # tell the members of a family apart


def look(family: str) -> Look:
    """Colour and shape of a family."""
    return LOOKS.get(family, OTHERS)


def members(board: pd.DataFrame, variants: Sequence[str]) -> dict[str, tuple[str, Look, int]]:
    """Title, look, and which member of its family each model is; those of one family share the colour."""
    rows = board.drop_duplicates("variant").set_index("variant")
    seen: dict[str, int] = {}
    found = {}
    for variant in variants:
        family = rows.loc[variant, "family"]
        seen[family] = seen.get(family, -1) + 1
        found[variant] = (rows.loc[variant, "title"], look(family), seen[family] % len(MARKS))
    return found


def percents(share: float) -> str:
    """A share at an axis: "0.3%"."""
    return f"{number(100 * share, 'g')}%"
