"""Odd values in addresses and in scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui import url
from recsys.ranking import metrics
from recsys.ranking.ranking import Ranking, ScoreError
from tests.pages.conftest import SCRIPTS, app_home, trained_home, visit  # noqa: F401 - fixtures

VALUES = ["", "none", "-1", "NaN", "1e999", "<script>", "../../etc/passwd", "\x00", "١", "9" * 10_000]
VALUES += ["~".join("ab" * 500), ["popular", "popular"]]
PARAMETERS = ["s", "not", "order", "data", "with", "unknown", *(parameter.name for parameter in url.URL_PARAMS)]
SCORES = st.lists(st.floats(width=32), min_size=6, max_size=30)


@pytest.mark.reliability
@pytest.mark.parametrize("page", SCRIPTS)
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_odd_parameters_of_an_address_show_no_error(visit, page, value):  # noqa: F811
    assert not visit(page, **dict.fromkeys(PARAMETERS, value)).exception


@given(SCORES, st.data())
def test_only_finite_scores_are_listed_and_metrics_are_between_0_and_1(values, draw):
    scores = np.array(values, np.float32)
    items = st.integers(0, len(scores) - 1)
    excluded, target = np.array(draw.draw(st.lists(items, max_size=5)), int), draw.draw(items)
    try:
        top = Ranking.from_scores(scores, excluded).top(10)
        ranks = metrics.target_ranks(scores[None], np.array([target]), [excluded])
    except ScoreError:
        assert np.isnan(scores).any() or (scores == np.inf).any() or scores[target] == -np.inf
    else:
        assert np.isfinite(scores[top]).all()
        assert all(0 <= value <= 1 for value in metrics.summary(ranks).values())
