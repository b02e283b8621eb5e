import pandas as pd
import pytest

from pages.evaluation import protocols
from pages.evaluation.charts import LETTER_HEIGHT_PX, LETTER_WIDTH_PX
from recsys.evaluation.protocols import PROTOCOLS

TITLE = "Markov chain (both directions)"


@pytest.mark.parametrize(("n", "angle"), [(2, 0), (4, -90), (len(PROTOCOLS), -90)])
def test_titles_of_protocols_and_recommenders_have_room(n, angle):
    names = list(PROTOCOLS)[:n]
    row = {"title": TITLE, "family": "Counting"} | {f"rank {name}": 1 for name in names} | dict.fromkeys(names, 0.5)
    layout = protocols.plot_ranks(pd.DataFrame([row]), names).layout
    assert layout.xaxis.tickangle == angle
    lines = [title.split("<br>") for title in layout.xaxis.ticktext]
    heights = [len(parts) * LETTER_HEIGHT_PX if angle == 0 else len(parts[0]) * LETTER_WIDTH_PX for parts in lines]
    assert layout.margin.t > max(heights)
    assert layout.margin.r > len(TITLE) * LETTER_WIDTH_PX
    assert layout.height > layout.margin.t
