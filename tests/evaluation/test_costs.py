import pytest

from recsys.evaluation import costs, results
from tests.evaluation.made_up import CIRCUMSTANCES, keep

SETTINGS = {"schedule": {"epochs": 2}}


def measured(variant, rank, *trained, config=SETTINGS):
    """A result of which these trainings are known: (seed, seconds, hardware)."""
    times = [dict(zip(("seed", "seconds", "hardware"), one, strict=True)) for one in trained]
    keep(variant, [[rank, rank]], config=config, run=CIRCUMSTANCES | {"trained": times})


def found():
    return costs.costs(results.documents("toy", "full", pytest.fail))


def test_the_first_training_counts_and_who_has_no_time_is_named():
    measured("sasrec", 1, (1, 100.0, "cpu"), (2, 300.0, "cpu"))
    measured("fpmc", 2)
    measured("popular", 3, config={"run": 1})
    measured("hybrid", 4, config={"members": ["sasrec", "popular"]})
    told = found()
    assert told.table[["variant", "seconds", "log10"]].values.tolist() == [["sasrec", 100.0, 2.0]]
    assert told.table["ndcg@10"].tolist() == [1.0]
    assert (told.hardware, told.unknown, told.other_hardware) == ("cpu", ["fpmc"], [])
    assert (told.fitted, told.mixed) == (["popular"], ["hybrid"])


def test_results_from_before_times_were_noted_have_none():
    keep("sasrec", [[1, 1]], config=SETTINGS)
    assert (found().hardware, found().unknown, found().table.empty) == ("", ["sasrec"], True)


def test_trainings_on_other_hardware_are_left_out_and_named():
    measured("a", 1, (0, 5.0, "cuda"))
    measured("b", 2, (0, 100.0, "cpu"))
    measured("c", 3, (0, 100.0, "cpu"))
    told = found()
    assert told.table["variant"].tolist() == ["b", "c"]
    assert (told.hardware, told.other_hardware, told.unknown) == ("cpu", ["a"], [])


@pytest.mark.parametrize(
    ("notes", "time"),
    [
        ({"seconds": 0.04, "device": "cuda:0", "versions": {"torch": "2.13.0+cpu"}}, (0.04, "cuda")),
        ({"seconds": 5.0, "device": "cpu"}, (5.0, "cpu")),
        ({"seconds": 5.0, "versions": {"torch": "2.13.0+cpu"}}, (5.0, "cpu")),
        ({"seconds": 5.0, "versions": {"torch": "2.13.0+cu130"}}, None),
        ({"device": "cpu"}, None),
        ({}, None),
    ],
)
def test_the_time_of_a_training_is_known_with_its_hardware_or_not_at_all(notes, time):
    assert costs.time_of(notes) == (dict(zip(("seconds", "hardware"), time, strict=True)) if time else {})
