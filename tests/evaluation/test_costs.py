import pytest

from recsys import files, paths, store
from recsys.evaluation import costs, results
from tests.evaluation.made_up import keep

SETTINGS = {"schedule": {"epochs": 2}}
ON_CPU = {"seconds": 100.0, "versions": {"torch": "2.13.0+cpu"}}


def measured(variant, rank, config=SETTINGS, **more):
    keep(variant, [[rank, rank]], config=config, **more)


def remember(variant, notes, config=SETTINGS, fingerprint="f" * 64, folder=None, splitting="leave-one-out"):
    """A checkpoint as far as it tells of its training."""
    folder = folder or paths.checkpoint("toy", splitting, variant, 0)
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / store.META, files.seal({"config": config, "fingerprint": fingerprint, "notes": notes}))


def found(protocol="full"):
    return costs.costs(results.documents("toy", protocol, pytest.fail))


def test_only_the_clock_of_the_training_counts_and_who_has_none_is_named():
    measured("sasrec", 1)
    measured("fpmc", 2)
    measured("popular", 3, {"run": 1})
    remember("sasrec", ON_CPU)
    told = found()
    assert told.table[["variant", "seconds", "log10"]].values.tolist() == [["sasrec", 100.0, 2.0]]
    assert (told.hardware, told.untrained, told.unknown, told.elsewhere) == ("cpu", ["popular"], ["fpmc"], [])


def test_trainings_on_other_hardware_are_left_out_and_named():
    for rank, variant in enumerate(("a", "b", "c"), start=1):
        measured(variant, rank)
    remember("a", {"seconds": 5.0, "device": "cuda:0", "versions": {"torch": "2.13.0+cu130"}})
    remember("b", ON_CPU)
    remember("c", ON_CPU | {"device": "cpu"})
    told = found()
    assert told.table["variant"].tolist() == ["b", "c"]
    assert (told.hardware, told.elsewhere, told.unknown) == ("cpu", ["a"], [])


def test_where_nothing_tells_the_hardware_the_time_is_unknown():
    measured("a", 1)
    remember("a", {"seconds": 5.0, "versions": {"torch": "2.13.0+cu130"}})
    told = found()
    assert told.table.empty
    assert (told.hardware, told.unknown) == ("", ["a"])


@pytest.mark.parametrize("other", [{"config": {"schedule": {"epochs": 9}}}, {"fingerprint": "e" * 64}])
def test_the_time_of_another_training_than_the_measured_one_does_not_count(other):
    measured("a", 1)
    remember("a", ON_CPU, **other)
    assert found().unknown == ["a"]
    remember("a", ON_CPU | {"seconds": 7.0}, folder=paths.shipped_checkpoint("toy", "leave-one-out", "a"))
    assert found().table["seconds"].tolist() == [7.0]


def test_a_protocol_with_a_split_of_its_own_has_trainings_of_its_own():
    measured("a", 1, protocol="time")
    remember("a", ON_CPU)
    assert found("time").unknown == ["a"]
    remember("a", ON_CPU | {"seconds": 3.0}, splitting="time")
    assert found("time").table["seconds"].tolist() == [3.0]


def test_results_of_a_protocol_that_is_gone_have_no_known_time():
    measured("a", 1, protocol="of-old")
    assert found("of-old").unknown == ["a"]
