import numpy as np
import pytest

from pages.ui import cache
from recsys.data.dataset import Queries
from recsys.data.split import LEAVE_ONE_OUT
from recsys.evaluation import results
from tests.pages import world
from tests.pages.evaluation.test_page import chart, open_section, result
from tests.pages.reading import said


@pytest.fixture
def confident(home):
    """A BERT4Rec measured here, with probabilities: the hidden film of everybody stands at rank 1."""
    data = world.build()
    n = len(LEAVE_ONE_OUT(data).test)
    ranks = np.ones((1, n), int)
    bins = [{"predicted": 0.5, "hit_rate": 0.25, "share": 1.0}]
    by_rank = {"predicted": [0.5], "hit_rate": [0.25]}
    document = result("bert4rec", "ml-latest-sample", "full", ranks) | {"fingerprint": data.fingerprint}
    results.write(document | {"calibration": {"ece": 0.25, "bins": bins, "by_rank": by_rank}}, ranks)
    return LEAVE_ONE_OUT(data).test


def lines(app, place):
    """The traces of a chart by name."""
    return {trace["name"]: trace for trace in chart(app, place)}


def test_the_list_of_one_person_stands_beside_where_the_hidden_film_of_everybody_stood(visit, confident):
    app = open_section(visit("evaluation"), "calibration")
    assert not app.exception
    number = app.get_by_key("sure-person-ml-latest-sample")
    assert number.value == len(confident)  # there is no person 963, so the last one
    app = number.set_value(3).run()
    history = confident.queries.histories[2]
    scores = cache.load_predictor("bert4rec", "ml-latest-sample").model.score(Queries([history]))[0].astype(float)
    scores[history] = -np.inf
    shares = np.sort(np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum())[::-1]
    drawn = lines(app, 2)["Bert4Rec"]
    assert drawn["y"][:10] == pytest.approx(shares[:10], rel=1e-4)
    assert lines(app, 3)["Bert4Rec"]["y"][0] == 1
    assert lines(app, 2)["Hidden film"]["x"] == [1 + int((scores > scores[confident.targets[2]]).sum())]
    assert "Bert4Rec 100%" in said(app)


def test_recommenders_that_are_not_on_this_machine_have_no_list(visit, confident):
    world.untrain()
    app = open_section(visit("evaluation"), "calibration")
    assert not app.exception
    title = cache.dataset_title("ml-latest-sample")
    assert f"None of these recommenders is trained on this computer for {title}." in said(app)
