import json
import os
import sys
from contextlib import suppress

import pytest

from pages.train import form, trainings
from pages.ui import cache, errors, i18n, recommenders
from pages.ui.recommenders import State
from recsys import paths, storage
from recsys.data import own_data, tables
from recsys.errors import recsys_command
from recsys.jobs import options, queue, runner
from tests.pages import world
from tests.pages.reading import keys, picks, said

DATA = "ml-latest-sample"
TINY = {"epochs": 3, "dim": 8, "length": 12, "batch_size": 32, "validate_every": 1}


@pytest.fixture(autouse=True)
def asleep(monkeypatch):
    """Nobody works the queue off but the test itself."""
    monkeypatch.setattr(queue, "start_runner", lambda: None)
    monkeypatch.delenv(paths.PUBLIC, raising=False)


@pytest.fixture
def training(monkeypatch):
    """Training is what this script does."""

    def is_this(script):
        monkeypatch.setattr(runner, "command", lambda job: [sys.executable, "-c", script])

    return is_this


def states():
    return [job.state.value for job in queue.jobs()]


def badges(app):
    return [
        label
        for label, _icon, _colour in trainings.BADGES.values()
        if any(f" {label}]" in text.value for text in app.markdown)
    ]


def choose(app, name, **values):
    app.selectbox(key=recommenders.TRAIN_MENU_KEY).set_value(name).run()
    for setting, value in values.items():
        app.number_input(key=f"train-{DATA}-{name}-{setting}").set_value(value)
    return app.run()


def press(app, name):
    """Press the button of the only training."""
    (job,) = queue.jobs()
    return app.button(key=f"{name}-{job.id}").click().run()


def reported(job, *events):
    (job.folder / queue.PROGRESS).write_text("".join(f"{json.dumps(event)}\n" for event in events))


def test_a_training_is_queued_with_what_was_changed_and_nothing_else(visit):
    app = choose(visit("train"), "sasrec-bce", epochs=7, dropout=0.25)
    assert "There are no training runs yet." in said(app)
    assert app.button(key="train-start").label == "Start training"
    app.button(key="train-start").click().run()
    assert not app.exception
    (job,) = queue.jobs()
    assert (job.variant, job.dataset, job.changes, job.device) == (
        "sasrec-bce",
        DATA,
        {"epochs": 7, "dropout": 0.25},
        "cpu",
    )
    assert badges(app) == ["Waiting"]
    assert "Dropout 0.25" in said(app)
    assert app.button(key="train-start").label == "Add to the queue"
    app.button(key="train-start").click().run()
    assert "SASRec (BCE) is already being trained" in said(app)
    choose(app, "ncf").button(key="train-start").click().run()
    assert [job.variant for job in queue.jobs()] == ["sasrec-bce", "ncf"]


def test_settings_begin_as_tuned_and_are_explained(visit):
    app = choose(visit("train"), "sasrec-bce")
    preset = cache.all_recommenders()["sasrec-bce"].preset(DATA)
    epochs = app.number_input(key=f"train-{DATA}-sasrec-bce-epochs")
    assert epochs.value == preset.schedule.epochs
    assert form.SETTINGS["epochs"][1] in epochs.help


def test_only_a_set_that_was_tuned_on_is_said_to_be(visit):
    text = "user,item\n" + "".join(f"{person},{item}\n" for person in range(9) for item in range(9))
    own_data.add("shop", own_data.check(tables.parse("shop.csv", text.encode())), "shop.csv")
    for data, is_tuned in ((DATA, True), ("shop", False)):
        app = visit("train", data=data)
        assert not app.exception
        title = cache.dataset_title(data)
        assert (f"These settings were tuned for {title}." in said(app)) == is_tuned
        assert (f"There are no tuned settings for {title}." in said(app)) != is_tuned


def test_settings_that_were_not_tuned_are_not_called_tuned(visit):
    app = choose(visit("train"), "narm")
    assert f"There are no tuned settings for {cache.dataset_title(DATA)}." in said(app)
    queue.add("narm", DATA)
    assert "With suggested settings." in said(app.run())


def test_every_setting_has_a_label():
    assert set(form.SETTINGS) == {*options.MAIN_SETTINGS, *options.MORE_SETTINGS}


def test_settings_that_cannot_work_are_a_sentence_and_do_not_start(visit):
    app = choose(visit("train"), "sasrec-bce", dim=30, heads=4)
    assert "dim must be a multiple of heads" in said(app)
    assert app.button(key="train-start").disabled
    choose(app, "sasrec-bce", dim=32)
    assert not app.button(key="train-start").disabled
    choose(app, "sasrec-bce", lr=0.0)
    assert "lr is 0.0, but must be greater than 0" in said(app)


def test_only_recommenders_that_learn_step_by_step_are_offered(visit):
    offered = visit("train").selectbox(key=recommenders.TRAIN_MENU_KEY).options
    assert "BERT4Rec" in offered
    assert "SASRec (BCE) · not trained" in offered
    assert not any("Markov chain" in option or "Hybrid" in option for option in offered)


def test_who_replaces_a_trained_one_or_a_half_trained_one_is_warned(visit):
    app = choose(visit("train"), "bert4rec")
    data = cache.dataset_title(DATA)
    assert f"BERT4Rec is already trained for {data}." in said(app)
    choose(app, "sasrec-bce")
    assert f"SASRec (BCE) is already trained for {data}." not in said(app)
    queue.stop(queue.add("sasrec-bce", DATA).id)
    assert "You can resume a stopped training run of this recommender." in said(app.run())


def test_a_new_training_warns_that_it_deletes_the_progress_of_a_failed_training(visit, training):
    queue.add("sasrec-bce", DATA)
    training("raise SystemExit(1)")
    runner.run()
    assert states() == ["failed"]
    app = choose(visit("train"), "sasrec-bce")
    assert "You can resume a stopped training run of this recommender." in said(app)


def test_how_long_it_took_before_is_said_where_it_is_known(visit, monkeypatch):
    app = choose(visit("train"), "sasrec-bce")
    assert "Training time is not known yet (minutes to hours)." in said(app)
    monkeypatch.setattr(options, "previous_training", lambda name, data: options.PreviousTraining(7300.0, 24, "cuda"))
    assert "Training the current model took about 2 hours for 24 epochs on a GPU." in said(app.run())


def test_where_there_is_a_gpu_it_can_be_chosen_or_not(visit, monkeypatch):
    monkeypatch.setattr(options, "devices", lambda: {"cuda": "NVIDIA H100", "cpu": "16 cores"})
    app = choose(visit("train"), "ncf")
    assert app.button_group(key="train_device").options == ["GPU (NVIDIA H100)", "CPU (16 cores)"]
    app.button(key="train-start").click().run()
    app = choose(app, "caser")
    app.button_group(key="train_device").set_value("cpu").run()
    app.button(key="train-start").click().run()
    assert [job.device for job in queue.jobs()] == ["cuda", "cpu"]


def test_what_waits_is_withdrawn_put_back_and_removed(visit):
    queue.add("ncf", DATA)
    app = visit("train")
    press(app, "close")
    assert (states(), badges(app)) == (["stopped"], ["Stopped"])
    assert "Stopped before the first epoch was finished." in said(app)
    press(app, "play_arrow")
    assert badges(app) == ["Waiting"]
    press(app, "close")
    press(app, "delete")
    assert queue.jobs() == []
    assert "There are no training runs yet." in said(app)


def test_a_training_that_goes_on_shows_its_curves_and_the_time_that_is_left(visit):
    queue.add("ncf", DATA)
    app = visit("train")
    with queue.claim_next() as job:
        assert badges(app.run()) == ["Running"]
        assert app.get("progress")[0].proto.text == "Preparing the first epoch…"
        told = [{"epoch": n, "epochs": 8, "loss": 9.0 - n, "seconds_left": 600.0} for n in (1, 2)]
        reported(job, told[0], told[1] | {"ndcg@10": 0.0981})
        os.utime(job.folder / queue.PROGRESS, (job.started + 5, job.started + 5))
        app.run()
        assert app.get("progress")[0].proto.text == "Epoch 2 of 8, about 10 minutes left"
        assert app.get("progress")[0].proto.value == 25
        assert "Best validation so far: NDCG@10 0.0981 after epoch 2." in said(app)
        titles = [json.loads(chart.proto.spec)["layout"]["yaxis"]["title"]["text"] for chart in app.get("plotly_chart")]
        assert titles == ["Loss", "Validation NDCG@10"]
        press(app, "stop")
        assert badges(app) == ["Stopping"]
    assert badges(app.run()) == ["Stopped"]
    assert "Stopped after epoch 2." in said(app)


def test_what_ended_badly_says_why_and_what_can_be_done(visit, training):
    queue.add("ncf", DATA)
    training("import sys; sys.exit('the loss became nan; train again with a lower --lr')")
    runner.run()
    app = visit("train")
    assert badges(app) == ["Failed"]
    assert "the loss became nan" in said(app)
    press(app, "play_arrow")
    with suppress(ZeroDivisionError), queue.claim_next():
        raise ZeroDivisionError  # the runner dies
    assert badges(app.run()) == ["Interrupted"]
    (job,) = queue.jobs()
    (job.folder / queue.JOB_FILE).write_text("{")
    assert badges(app.run()) == ["Damaged"]
    assert [key for key in keys(app) if key.endswith(job.id)] == [f"delete-{job.id}"]
    assert not app.exception


@pytest.mark.slow
def test_what_was_trained_is_ready_on_every_page_without_a_restart(visit):
    app = choose(visit("train", s="1-2-3"), "sasrec-bce", **TINY)
    assert recommenders.state("sasrec-bce", DATA) is State.UNTRAINED
    app.button(key="train-start").click().run()
    runner.run()  # a real training, in a process of its own
    app.run()
    assert badges(app) == ["Done"], queue.jobs()
    assert "SASRec (BCE)" in app.selectbox(key=recommenders.TRAIN_MENU_KEY).options
    assert recommenders.state("sasrec-bce", DATA) is State.READY
    press(app, "use")
    assert not app.exception
    assert app.title[0].value == "Watch next"
    assert app.selectbox(key="model").value == "sasrec-bce"
    assert len(picks(app)) == 10
    assert app.query_params["model"] in ("sasrec-bce", ["sasrec-bce"])
    assert app.session_state.visitor.current.films == (0, 1, 2)


def test_using_one_of_another_set_changes_to_that_set(visit, training):
    world.save(world.build("ml-100k"))
    queue.add("ncf", "ml-100k")
    training("")
    runner.run()
    app = visit("train", s="1-2-3")
    press(app, "use")
    assert (app.session_state.visitor.current.dataset, app.session_state.model) == ("ml-100k", "ncf")
    assert app.session_state.visitor.current.films == (0, 1, 2)  # along by title


MALFORMED_JOBS = [
    {"variant": 5},
    {"dataset": ["ml-100k"]},
    {"queued": None},
    {"started": 1e300},
    {"changes": [1]},
    {"error": {"text": "no"}},
]


@pytest.mark.parametrize("values", MALFORMED_JOBS, ids=str)
def test_a_sealed_but_malformed_job_is_shown_as_damaged(visit, values):
    job = queue.add("ncf", DATA)
    path = job.folder / queue.JOB_FILE
    storage.replace_file(path, storage.sign_document(storage.read_document(path) | values))
    app = visit("train")
    assert not app.exception
    assert badges(app) == ["Damaged"]
    press(app, "delete")
    assert queue.jobs() == []


@pytest.mark.parametrize("end", ["", '\n{"epoch": 3, "epochs": 9, "loss": 1.0}\n'])
def test_an_endless_report_of_a_training_does_not_stop_the_page(visit, end):
    queue.add("ncf", DATA)
    with queue.claim_next() as job:
        path = job.folder / queue.PROGRESS
        path.write_bytes(b"\0")
        os.truncate(path, 1 << 40)  # bytes; the file is sparse
        with path.open("a") as file:
            file.write(end)
        app = visit("train")
        assert not app.exception
        assert badges(app) == ["Running"]
        assert app.get("progress")[0].proto.value == (33 if end else 0)


def test_of_many_that_are_over_the_newest_are_shown(visit, training, monkeypatch):
    monkeypatch.setattr(trainings, "MAX_FINISHED", 1)
    older, newest = queue.add("ncf", DATA), queue.add("caser", DATA)
    training("")
    runner.run()
    app = visit("train")
    assert f"use-{newest.id}" in keys(app)
    assert f"use-{older.id}" not in keys(app)
    assert "1 older training run is hidden." in said(app)


def test_a_recommender_that_is_missing_elsewhere_leads_here(visit):
    app = visit(model="hybrid")
    app.button(key="train-sasrec-softmax").click().run()
    assert app.title[0].value == "Train"
    assert app.selectbox(key=recommenders.TRAIN_MENU_KEY).value == "sasrec-softmax"


def test_the_page_opens_on_the_network_that_the_app_is_about(visit):
    assert visit("train").selectbox(key=recommenders.TRAIN_MENU_KEY).value == cache.DEFAULT_MODEL == "bert4rec"


def test_a_public_server_has_no_such_page_and_no_way_to_it(visit, monkeypatch):
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = visit(model="sasrec-bce")
    assert errors.hide_paths(recsys_command("train", "sasrec-bce", "--dataset", DATA)) in said(app)
    assert "train-sasrec-bce" not in keys(app)
    with pytest.raises(ValueError, match="Could not find a navigation page"):
        app.switch_page("6_train.py")


def test_the_help_of_a_setting_is_in_the_visitors_language(visit, monkeypatch):
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    app = visit("train")
    name = app.selectbox(key=recommenders.TRAIN_MENU_KEY).value
    text = app.number_input(key=f"train-{DATA}-{name}-epochs").help.replace("\\", "")
    assert i18n._("Passes over the training histories") in text
