import subprocess
import sys

from recsys import paths
from recsys.evaluation import provenance, results
from recsys.evaluation.provenance import Missing
from tests.evaluation.made_up import keep

TRAINED = {"schedule": {"epochs": 2}}


def lines(variant, protocol="full"):
    """Commands without the way to Python."""
    return short(provenance.commands(results.load("toy", protocol, variant)))


def short(commands):
    return [command.partition("recsys ")[2] for command in commands]


def test_what_was_trained_is_trained_again_seed_by_seed_and_then_measured():
    keep("sasrec", [[1, 2], [2, 1]], config=TRAINED)
    assert lines("sasrec") == [
        "train sasrec --dataset toy",
        "train sasrec --dataset toy --seed 1",
        "evaluate sasrec --dataset toy --protocol full --seeds 0 1",
    ]


def test_whose_people_were_learnt_from_too_is_in_the_command():
    keep("sasrec", [[1, 2]], config=TRAINED, also="ml-1m")
    assert lines("sasrec")[0] == "train sasrec --dataset toy --also ml-1m"


def test_what_is_fitted_on_first_use_is_only_measured():
    keep("popular", [[1, 2]])
    assert lines("popular") == ["evaluate popular --dataset toy --protocol full"]


def test_a_protocol_with_a_split_of_its_own_names_it_in_training_too():
    keep("sasrec", [[1, 2]], protocol="time", config=TRAINED)
    keep("sasrec", [[1, 2]], protocol="uniform-100", config=TRAINED)
    assert lines("sasrec", "time")[0] == "train sasrec --dataset toy --protocol time"
    assert lines("sasrec", "uniform-100")[0] == "train sasrec --dataset toy"


def test_the_missing_are_named_as_other_results_name_them_and_say_how_they_are_made(monkeypatch):
    monkeypatch.setattr("recsys.models.registry.names", lambda: ["als", "new", "popular", "sasrec"])
    keep("popular", [[1, 2]], protocol="time")
    keep("sasrec", [[1, 2]], title="SASRec", config=TRAINED)
    keep("als", [[1, 2]], title="ALS", dataset="other")
    found = provenance.missing("toy", "time", ["popular"])
    assert found == [Missing("als", "ALS", False), Missing("new", "new", False), Missing("sasrec", "SASRec", True)]
    assert short(provenance.commands_for(found[2], "toy", "time")) == [
        "train sasrec --dataset toy --protocol time",
        "evaluate sasrec --dataset toy --protocol time",
    ]
    assert short(provenance.commands_for(found[0], "toy", "time")) == ["evaluate als --dataset toy --protocol time"]


MIXED = {"members": ["sasrec", "popular"], "edges": []}


def test_of_a_mixture_the_members_are_trained_seed_by_seed_and_with_the_same_people():
    keep("popular", [[1, 2]])
    keep("sasrec", [[1, 2]], config=TRAINED, also="other")
    keep("hybrid", [[1, 2], [2, 1]], config=MIXED)
    assert lines("hybrid") == [
        "train sasrec --dataset toy --also other",
        "train sasrec --dataset toy --also other --seed 1",
        "evaluate hybrid --dataset toy --protocol full --seeds 0 1",
    ]


def test_a_missing_mixture_says_which_members_are_to_be_trained_first(monkeypatch):
    monkeypatch.setattr("recsys.models.registry.names", lambda: ["hybrid", "popular", "sasrec"])
    for name, config in (("popular", {}), ("sasrec", TRAINED), ("hybrid", MIXED)):
        keep(name, [[1, 2]], config=config)
    hybrid, *_ = provenance.missing("toy", "time", ["popular"])
    assert hybrid == Missing("hybrid", "hybrid", False, ("sasrec", "popular"))
    assert short(provenance.commands_for(hybrid, "toy", "time")) == [
        "train sasrec --dataset toy --protocol time",
        "evaluate hybrid --dataset toy --protocol time",
    ]


def test_it_loads_no_torch():
    code = "import sys, recsys.evaluation.costs, recsys.evaluation.provenance; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=paths.REPOSITORY, capture_output=True, text=True)
    assert done.stdout == "False\n"
