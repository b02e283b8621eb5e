import re

import numpy as np
import pytest

from recsys.errors import RecsysError
from recsys.studies.comparisons import compare_costs, correlate_protocols
from tests.evaluation.made_up import CIRCUMSTANCES, keep

NAMES = ["a", "b", "c", "d", "e"]


pytestmark = pytest.mark.usefixtures("home", "no_assets")


def measured(protocol, ranks, people=200):
    for name, rank in zip(NAMES, ranks, strict=False):
        keep(name, np.full((1, people), rank), protocol=protocol)


def test_the_same_order_is_1_the_reverse_minus_1_and_one_swap_of_ten_pairs_between():
    measured("full", [1, 2, 3, 4, 5])
    measured("untied", [1, 2, 3, 5, 4])
    measured("uniform-100", [5, 4, 3, 2, 1])
    document = correlate_protocols("toy")
    taus = {row[0]: row[1] for row in document["rows"]}
    assert taus == {
        "All films – All films, random order": 0.8,
        "All films – 100 random films": -1,
        "All films, random order – 100 random films": -0.8,
    }
    assert document["rows"][0] == ["All films – 100 random films", -1, 5, "a", 5]
    assert (
        "“100 random films” agree least (−1.00), “All films” and “All films, random order” most" in document["answer"]
    )


def test_protocols_that_shorten_histories_are_left_out():
    for protocol in ("full", "untied", "short-1", "favourites-3"):
        measured(protocol, [1, 2, 3, 4, 5])
    assert [row[0] for row in correlate_protocols("toy")["rows"]] == ["All films – All films, random order"]


@pytest.mark.parametrize(("ranks", "people"), [([1, 2, 3, 4], 200), ([1, 2, 3, 4, 5], 199)])
def test_pairs_with_few_recommenders_or_users_are_left_out(ranks, people):
    measured("full", [1, 2, 3, 4, 5])
    measured("time", ranks, people)
    with pytest.raises(RecsysError, match="fewer than two protocols"):
        correlate_protocols("toy")


@pytest.mark.parametrize(
    ("near", "ending"),
    [
        (9, "b is the quickest to come within 5% of it (.9631 after 90 s)."),
        (8, "nothing quicker comes within 5% of it."),
    ],
)
def test_the_quickest_that_comes_near_the_best_is_named(near, ending):
    some = [1] * near + [2] * (10 - near)
    for name, ranks, seconds in (("a", [1] * 10, 600), ("b", some, 90), ("c", [1] * 5 + [20] * 5, 1)):
        trained = [{"seed": 0, "seconds": seconds, "hardware": "cpu"}]
        keep(name, [ranks], config={"schedule": {"epochs": 2}}, run=CIRCUMSTANCES | {"trained": trained})
    document = compare_costs("toy")
    assert [row[0] for row in document["rows"]] == ["c", "b", "a"]
    assert document["answer"].endswith(f"a is best (1.0000 after 10 min), and {ending}")


def test_a_result_under_a_former_protocol_is_not_compared():
    trained = [{"seed": 0, "seconds": 60, "hardware": "cpu"}]
    for name, protocol in (("a", "full"), ("b", "former"), ("c", "former")):
        timed = {"config": {"schedule": {"epochs": 2}}, "run": CIRCUMSTANCES | {"trained": trained}}
        keep(name, [[1, 2]], protocol=protocol, **timed)
    assert [row[0] for row in compare_costs("toy")["rows"]] == ["a"]


def test_without_any_time_there_is_a_command_that_trains():
    keep("a", [[1, 2]])
    with pytest.raises(RecsysError, match="says how long") as raised:
        compare_costs("toy")
    assert re.fullmatch(r".* train bert4rec --dataset toy && .* evaluate bert4rec --dataset toy", raised.value.command)
