from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recsys.errors import RecsysError
from recsys.evaluation import protocols, studies
from recsys.evaluation.protocols import FULL
from recsys.models import registry
from recsys.studies import run, trials
from recsys.studies.plans import CHANGE_CHART, LINE_CHART, PLANS, Plan, Point, best_and_worst, sweep
from recsys.studies.trials import Outcome, Trial

RUN = {"cpu": "A processor", "date": "2026-11-22T09:00:00+00:00", "commit": "abc"}
WIDTH = Plan(
    "Width", "How wide?", "Papers say so.", "Dimensions",
    sweep("GRU4Rec", "gru4rec-ce", "dim", (16, 32, 64, 128)), LINE_CHART,
)  # fmt: skip
PARTS = Plan(
    "Parts", "Which?", "Papers say so.", "Change",
    (
        Point("GRU4Rec", "unchanged", "gru4rec-ce"),
        Point("GRU4Rec", "no dropout", "gru4rec-ce", {"dropout": 0.0}),
        Point("GRU4Rec", "narrow", "gru4rec-ce", {"dim": 8}),
    ),
    CHANGE_CHART,
)  # fmt: skip


@pytest.fixture
def outcomes(monkeypatch):
    """The stored trials: (changes, seed) → outcome. A trial that is measured ranks every user's item at 2."""
    stored = {}

    def key(trial):
        return (tuple(trial.changes.items()), trial.seed)

    def measure(trial, dataset, protocol, report):
        return stored.setdefault(key(trial), outcome(2))

    monkeypatch.setattr(trials, "read", lambda trial, dataset, protocol: stored.get(key(trial)))
    monkeypatch.setattr(trials, "measure", measure)
    return stored


def outcome(*ranks, valid=0.25):
    return Outcome(np.resize(ranks, 40), {"ndcg@10": valid}, {}, RUN)


def test_all_points_use_the_first_seed_and_baselines_and_ends_use_the_others():
    planned = [(trial.changes["dim"], trial.seed) for trial in run.list_trials(WIDTH, "toy", (0, 1))]
    assert planned == [(16, 0), (32, 0), (64, 0), (128, 0), (16, 1), (64, 1), (128, 1)]
    planned = [(trial.changes, trial.seed) for trial in run.list_trials(PARTS, "toy", (0, 1))]
    assert planned == [({}, 0), ({"dropout": 0.0}, 0), ({"dim": 8}, 0), ({}, 1)]


def test_stored_trials_are_skipped_and_trials_of_other_processes_are_awaited(small_cycle, outcomes, monkeypatch):
    outcomes[(("dim", 32),), 0] = outcome(1)
    busy, asked = {64}, []
    train = trials.measure

    def measure(trial, *others):
        asked.append(trial.changes["dim"])
        if trial.changes["dim"] in busy:
            busy.clear()
            return None
        return train(trial, *others)

    monkeypatch.setattr(trials, "measure", measure)
    monkeypatch.setattr(run, "POLL_SECONDS", 0)
    run.run_trials(WIDTH, small_cycle, FULL)
    assert asked == [16, 64, 128, 64]


def test_a_change_is_paired_by_user_with_the_baseline(small_cycle, outcomes):
    outcomes[(), 0] = outcome(1, 20)  # NDCG@10 1 and 0 in turn
    outcomes[(("dropout", 0.0),), 0] = outcome(1, 3)  # 1 and .5
    outcomes[(("dim", 8),), 0] = outcome(20, 20)
    document = run.build_document(PARTS, small_cycle, FULL)
    table = pd.DataFrame(document["rows"], columns=[column["name"] for column in document["columns"]])
    assert table["ndcg"].tolist() == [0.5, 0.75, 0]
    assert table["change"].tolist()[1:] == [0.25, -0.5]
    assert np.isnan(table["change"][0])
    assert (table["change_low"][1], table["change_high"][2] < 0) == (pytest.approx(0.175, abs=0.03), True)
    assert document["papers"] == "Papers say so."
    assert document["answer"] == (
        "1 of 2 changes lowers NDCG@10, most of all “narrow” (−.5000), and 1 raises it, most of all “no dropout” "
        "(+.2500). Only differences whose 95% interval excludes 0 are counted."
    )


def test_several_seeds_are_averaged_and_counted(small_cycle, outcomes):
    outcomes[(), 0], outcomes[(), 1] = outcome(1, valid=0.2), outcome(20, valid=0.4)
    outcomes[(("dim", 8),), 0] = outcome(3)
    document = run.build_document(PARTS, small_cycle, FULL, seeds=(0, 1))
    baseline, narrow = document["rows"]
    assert baseline[:5] == ["GRU4Rec", "unchanged", 2, 0.3, 0.5]
    assert narrow[2] == 1
    assert "1 to 2 seeds" in document["how"]
    assert document["how"].endswith("1 of 3 rows is still to be trained; A processor, 2026-11-22, commit abc.")
    outcomes[(("dropout", 0.0),), 0] = replace(outcome(1), run=RUN | {"commit": "def"})
    document = run.build_document(PARTS, small_cycle, FULL, seeds=(0, 1))
    assert document["how"].endswith("; A processor, 2026-11-22, commits abc, def.")


def test_a_change_uses_the_seeds_of_both_points(small_cycle, outcomes):
    baseline = {0: outcome(1), 1: outcome(20), 2: outcome(3)}  # NDCG@10 1, 0 and .5: lucky and unlucky seeds
    outcomes.update({((), seed): outcome_of_seed for seed, outcome_of_seed in baseline.items()})
    outcomes[(("dropout", 0.0),), 0] = outcome(1)
    outcomes[(("dim", 8),), 1], outcomes[(("dim", 8),), 2] = outcome(3), outcome(3)
    document = run.build_document(PARTS, small_cycle, FULL, seeds=(0, 1, 2))
    assert [row[4] for row in document["rows"]] == [0.5, 1, 0.5]
    assert [row[-3:] for row in document["rows"]] == [[None] * 3, [0, 0, 0], [0.25, 0.25, 0.25]]
    assert "with no value under “Difference”), paired by person and seed" in document["how"]
    del outcomes[(), 0]
    assert run.build_document(PARTS, small_cycle, FULL, seeds=(0, 1, 2))["rows"][1][-3:] == [None] * 3


def test_a_study_without_significant_changes_has_its_own_answer(small_cycle, outcomes):
    outcomes[(), 0], outcomes[(("dim", 8),), 0] = outcome(3), outcome(3)
    assert "No change makes a difference" in run.build_document(PARTS, small_cycle, FULL)["answer"]


def test_a_recommender_with_one_row_has_one_value():
    rows = [("A", "x", 0.25), ("B", "x", 0.5), ("B", "y", 0.75)]
    table = pd.DataFrame(rows, columns=["recommender", "setting", "ndcg"])
    assert best_and_worst(table) == (
        "The NDCG@10 of A is .2500 with “x”. The NDCG@10 of B is lowest with “x” (.5000) and highest with “y” (.7500)."
    )
    numbers = table.assign(setting=[0.0, 1.0, 1.25])
    assert best_and_worst(numbers) == (
        "The NDCG@10 of A is .2500 at 0. The NDCG@10 of B is lowest at 1 (.5000) and highest at 1.25 (.7500)."
    )


def test_a_study_names_the_best_and_the_worst_setting_and_can_be_drawn(small_cycle, outcomes):
    for dim, rank in ((16, 20), (32, 3), (64, 1), (128, 3)):
        outcomes[(("dim", dim),), 0] = outcome(rank)
    document = run.build_document(WIDTH, small_cycle, FULL)
    assert document["answer"] == "The NDCG@10 of GRU4Rec is lowest at 16 (.0000) and highest at 64 (1.0000)."
    run.write("width", "toy", document)
    (study,) = studies.studies()
    assert (study.name, study.title, study.dataset) == ("width-toy", "Width", "cycle")
    assert study.table["setting"].tolist() == [16, 32, 64, 128]
    assert study.titles["setting"] == "Dimensions"
    assert study.chart.by == "recommender"


@pytest.mark.parametrize("training", [{}, {"seconds": 3.0}])
def test_only_a_study_that_trained_speaks_of_early_stopping(training, small_cycle, outcomes):
    outcomes[(), 0] = outcomes[(("dim", 8),), 0] = replace(outcome(1), training=training)
    assert ("early stopping" in run.build_document(PARTS, small_cycle, FULL)["how"]) == bool(training)


def test_a_plan_with_all_seeds_trains_every_point_with_each_seed():
    changes = [trial.changes for trial in run.list_trials(replace(PARTS, all_seeds=True), "toy", (0, 1))]
    assert changes == [{}, {"dropout": 0.0}, {"dim": 8}] * 2
    assert len(list(run.list_trials(PARTS, "toy", (0, 1)))) == 4


@pytest.mark.parametrize("name", ["losses", "mask-share", "length", "popularity", "steps"])
def test_studies_that_compare_every_row_train_every_row_with_each_seed(name):
    planned = list(run.list_trials(PLANS[name], "ml-100k", (0, 1, 2)))
    assert len(planned) == 3 * len(PLANS[name].points)


@pytest.mark.parametrize(("dataset", "usual", "other"), [("toy", "full", "untied"), ("ml-1m", "untied", "full")])
def test_a_study_under_another_protocol_is_kept_beside_the_usual_one(dataset, usual, other, small_cycle, outcomes):
    outcomes[(), 0], outcomes[(("dim", 8),), 0] = outcome(1), outcome(2)
    named = replace(small_cycle, name=dataset)
    for protocol in (usual, other):
        run.write("parts", dataset, run.build_document(PARTS, named, protocols.get(protocol)), protocol)
    titles = {study.name: study.title for study in studies.studies()}
    assert titles.pop(f"parts-{dataset}") == "Parts"
    assert titles == {f"parts-{other}-{dataset}": f"Parts ({protocols.title(other)})"}


@pytest.mark.parametrize("stored", [{}, {((), 0): outcome(1)}])
def test_a_single_row_is_no_study(small_cycle, outcomes, stored):
    outcomes.update(stored)
    with pytest.raises(RecsysError, match="nothing of “Parts” has been measured"):
        run.build_document(PARTS, small_cycle, FULL)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("dataset", ["ml-1m", "ml-100k", "anybody's"])
def test_every_plan_has_settings_that_work_and_rows_that_differ(name, dataset):
    plan = PLANS[name]
    folders = [Trial(point.recommender, point.changes).folder(dataset, "full") for point in plan.points]
    assert len(set(folders)) == len(folders)
    rows = [(point.title, point.setting) for point in plan.points]
    assert len(set(rows)) == len(rows)
    for title in {point.title for point in plan.points}:  # changes are measured against the baseline of the title
        rows = [point for point in plan.points if point.title == title]
        assert any(run.is_baseline(point, dataset) for point in rows)
        trained = {registry.get(point.recommender).needs_training for point in rows}
        assert trained == {name != "popularity"}  # what is fitted on first use is not a study of training
