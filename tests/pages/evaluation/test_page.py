import base64
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from pages.evaluation import charts, page, trade_offs
from pages.ui import cache, i18n, url
from pages.ui.visitor import ListState
from recsys import paths, storage
from recsys.data.split import FORMER_OTHER_SCALE_RULE, LEAVE_ONE_OUT, OTHER_SCALE_RULE
from recsys.evaluation import protocols, published_figures, results
from recsys.ranking import metrics
from tests import toys
from tests.artifacts import change, remove_ranks
from tests.pages import world
from tests.pages.reading import chart_specs, said
from tests.pages.ui.test_settings import contrast


@pytest.fixture(scope="session")
def stored_results(tmp_path_factory):
    """Write results of two recommenders over two data sets and two protocols once."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(folder))
        for dataset in ("ml-latest-sample", "ml-1m"):
            for protocol in ("full", "popularity-100"):
                for variant, ranks in {"popular": [[4, 30, 9]], "bert4rec": [[1, 2, 3], [1, 2, 12]]}.items():
                    results.write(result(variant, dataset, protocol, np.array(ranks)), np.array(ranks))
    return folder


@pytest.fixture
def measured(stored_results, home):
    """Copy those results into the data folder of the test."""
    shutil.copytree(stored_results, home, dirs_exist_ok=True)


def result(variant, dataset, protocol, ranks):
    """A result file's content, figures computed from the ranks (seeds × users)."""
    by_seed = [metrics.summary(row) for row in ranks]
    figures = {name: [seed[name] for seed in by_seed] for name in by_seed[0]}
    return {
        "variant": variant,
        "model": variant,
        "title": variant.title(),
        "family": "Family",
        "paper": "",
        "dataset": dataset,
        "protocol": {"name": protocol},
        "fingerprint": world.build().fingerprint if dataset == "ml-latest-sample" else "of data that is not here",
        "config": {},
        "users": ranks.shape[1],
        "seeds": [{"seed": seed, "metrics": values} for seed, values in enumerate(by_seed)],
        "mean": {name: float(np.mean(values)) for name, values in figures.items()},
        "std": {name: float(np.std(values)) for name, values in figures.items()},
        "run": {"date": "2026-01-01"},
    }


def trained(document, **seconds):
    """The result of a recommender that was trained; seconds: of its seeds, for each kind of hardware."""
    each = [(kind, one) for kind, own in seconds.items() for one in own]
    times = [{"seed": seed, "seconds": one, "hardware": kind} for seed, (kind, one) in enumerate(each)]
    return document | {"config": {"schedule": {"epochs": 3}}, "run": document["run"] | {"trained": times}}


@pytest.fixture
def measured_here(home):
    """Two recommenders measured on the very data of this machine: one always finds the film, one never does."""
    data = world.build()
    n = len(LEAVE_ONE_OUT(data).test)
    for variant, rank in {"bert4rec": 1, "popular": 25}.items():
        ranks = np.full((1, n), rank)
        document = result(variant, "ml-latest-sample", "full", ranks) | {"fingerprint": data.fingerprint}
        document |= {"interval": {"ndcg@10": [0.25, 0.75]}, "beyond": {"novelty@10": 9.0 + rank}}
        results.write(document, ranks)
    return data


def open_section(app, section):
    return app.get_by_key("section").set_value(section).run()


def board(app):
    """The leaderboard's rows as text."""
    rows = re.findall(
        r'<tr class="nr-(?:ours|theirs)".*?</tr>', re.sub(r"<div popover.*?</div></div>", "", page_board(app))
    )
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip() for row in rows]


def figures(app, place=0):
    """A table of all figures."""
    app.get_by_key("board_view").set_value("all-figures").run()
    return app.dataframe[place].value


def chart(app, place=0):
    """The traces of a chart, their numbers as lists."""
    return [{key: decoded(value) for key, value in trace.items()} for trace in chart_specs(app)[place]["data"]]


def decoded(value):
    """Numbers that Plotly sends as base64."""
    if isinstance(value, dict) and "bdata" in value:
        return np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"]).tolist()
    return value


def test_commands_on_a_public_server_have_none_of_its_paths(visit, measured, tmp_path, monkeypatch):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = visit("evaluation")
    shown = [element.proto.body for element in app.get("html")] + [code.value for code in app.code]
    assert any("-m recsys evaluate" in text for text in shown[:-1])
    assert app.code
    assert not any(str(tmp_path) in text for text in shown)
    figures(app)
    assert not any(str(tmp_path) in code.value for code in app.code)


def test_without_results_the_page_says_what_to_type(visit):
    app = visit("evaluation")
    assert "No recommender has been evaluated yet. Evaluate one first." in said(app)
    assert "-m recsys evaluate" in app.code[0].value


def test_results_of_a_visitors_data_set_do_not_count_for_a_published_one(visit):
    ranks = np.array([[4, 30, 9]])
    results.write(result("popular", "shop", "full", ranks), ranks)
    app = visit("evaluation")
    assert not app.exception
    assert "No recommender has been evaluated yet. Evaluate one first." in said(app)


def test_the_leaderboard_has_the_best_first_and_every_metric(visit, measured):
    app = visit("evaluation")
    assert [row.split()[:3] for row in board(app)] == [["1", "✚", "Bert4Rec"], ["2", "✚", "Popular"]]
    table = figures(app)
    assert list(table["title"]) == ["Bert4Rec", "Popular"]
    first, second = (1 + 1 / np.log2(3) + 0.5) / 3, (1 + 1 / np.log2(3) + 0) / 3  # ranks 1, 2, 3 and 1, 2, 12
    assert table["ndcg@10"].iloc[0] == pytest.approx((first + second) / 2)
    assert set(results.METRICS) <= set(table)
    assert list(table["seeds"]) == [2, 1]


def test_the_leaderboard_says_which_differences_are_significant(visit, measured, measured_here):
    behind = board(visit("evaluation"))[1]
    assert "1.0000 behind" in behind
    assert "≈" not in behind
    ours = [row for row in board(visit("evaluation", data="ml-1m")) if "Published" not in row]
    assert ["≈" in row for row in ours] == [False, True]  # three people tell nothing


def test_the_metric_orders_the_leaderboard_and_is_the_same_in_every_section(visit, measured):
    app = visit("evaluation", data="ml-1m")
    app.get_by_key("metric").set_value("hr@1").run()
    ours = [row for row in board(app) if "Published" not in row]
    assert " 0.3333 " in ours[0]
    assert open_section(app, "protocols").get_by_key("metric").value == "hr@1"


def test_families_leave_out_the_others_and_what_was_published_of_them(visit, measured):
    popular = result("popular", "ml-1m", "full", np.array([[4, 30, 9]])) | {"family": "Counting"}
    results.write(popular, np.array([[4, 30, 9]]))
    app = visit("evaluation", data="ml-1m")
    assert any("Published" in row and "BERT4Rec" in row for row in board(app))
    app.get_by_key("families-ml-1m-full").set_value(["Counting"]).run()
    assert all("opular" in row for row in board(app))
    assert app.get_by_key("families-ml-1m-full").value == ["Counting"]


def test_the_data_set_of_the_visitor_is_shown_first_and_can_be_changed(visit, measured):
    app = visit("evaluation", data="ml-1m")
    assert app.selectbox(key="results_of").value == "ml-1m"
    app.selectbox(key="results_of").set_value("ml-latest-sample").run()
    figures(app)
    assert len(app.dataframe) == 1  # nobody published figures for it


def page_board(app):
    """The leaderboard as HTML."""
    return next(html.proto.body for html in app.get("html") if "nr-board" in html.proto.body)


def opened(app, name):
    """What a click on a title of the leaderboard opens, as text."""
    page = page_board(app)
    assert f'popovertarget="about-{name}"' in page
    found = page.partition(f'<div popover id="about-{name}"')[2].partition("</th>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found))


def test_a_click_on_a_title_tells_command_commit_seeds_and_people(visit, measured):
    document = results.load("ml-1m", "full", "bert4rec")
    document["run"] = {"date": "2026-01-01", "commit": "abc123def456", "machine": "Linux, 2 cores", "device": "cpu"}
    document = trained(document | {"paper": "arXiv:1904.06690"}, cpu=(2478.2, 60), cuda=(4400.0, 29.0))
    results.write(document, results.ranks("ml-1m", "full", "bert4rec"))
    about = opened(visit("evaluation", data="ml-1m"), "bert4rec")
    for fact in ("abc123def456", "2 (0, 1)", "People 3", "2026-01-01", "Linux, 2 cores, cpu", "arXiv:1904.06690"):
        assert fact in about
    assert "Trained for 41 min, 1 min on a CPU; 1.2 h, 29 s on a GPU" in about
    assert "train bert4rec --dataset ml-1m --seed 1" in about
    assert "evaluate bert4rec --dataset ml-1m --protocol full --seeds 0 1" in about


def test_letters_of_published_figures_are_explained_where_they_stand(visit, measured):
    app = visit("evaluation", data="ml-1m")
    assert "gSASRec Published · A same rules as here" in " ".join(board(app))
    letters = " ".join(html.proto.body for html in app.get("html")).partition("Key to the published figures")[2]
    assert (
        "<dt>B</dt><dd>same films as here, but also trained on the validation films of nearly all people</dd>"
        in letters
    )
    assert "<dt>*</dt>" in letters
    number = published_figures.published("ml-1m", "full")["title"].tolist().index("SASRec (softmax over 3,000)")
    assert "3,000 sampled films; here it is over all films" in opened(app, f"published-{number}")


def test_models_that_know_when_the_hidden_film_was_watched_stand_apart_and_last(visit, measured):
    before, _, after = page_board(visit("evaluation", data="ml-1m")).partition(
        "Not comparable: these recommenders know when the hidden film was watched"
    )
    assert "R+" not in before
    assert "HSTU-large (RecTools)" in after
    assert "Popular</button>" in before  # ours, far below it


def test_a_phone_keeps_hit_rate_and_mrr_beside_the_metric_that_was_chosen(visit, measured):
    def kept(app):
        return re.findall(r'<th scope="col"(?: class="")?>([^<]+)</th>', page_board(app))

    app = visit("evaluation")
    assert kept(app) == ["NDCG@10", "HR@10", "MRR"]
    app.get_by_key("metric").set_value("mrr").run()
    assert kept(app) == ["MRR", "NDCG@10", "HR@10"]
    app.get_by_key("metric").set_value("hr@5").run()
    assert kept(app) == ["HR@5", "HR@10", "MRR"]


def test_who_was_not_measured_is_named_with_the_reason_and_the_command(visit, measured):
    results.write(result("popular", "ml-1m", "full", np.array([[1, 2, 3]])), np.array([[1, 2, 3]]))
    results.write(result("popular", "ml-1m", "time", np.array([[4, 5]])), np.array([[4, 5]]))
    app = visit("evaluation", data="ml-1m")
    app.get_by_key("protocol-ml-1m").set_value("time").run()
    untrained, combined = [text.value for text in app.markdown if "must be trained first" in text.value]
    assert "These must be trained first: BERT4Rec, " in untrained
    assert combined.startswith("These are mixtures of other recommenders, which must be trained first: Best guess")
    assert untrained.endswith(f". {protocols.TIME.retraining_reason}")
    assert "train bert4rec --dataset ml-1m --protocol time" in said(app)
    assert "evaluate bert4rec --dataset ml-1m --protocol time" in said(app)
    assert "`item-knn`" in said(app)
    (ready,) = [text.value for text in app.markdown if "without training" in text.value]
    assert "Item kNN" in ready
    assert "Most popular" not in ready
    assert "Best guess" not in ready


@pytest.mark.parametrize("order", [protocols.TIE_RULES["drawn"], "in the words of an older version"])
def test_the_rules_are_shown_where_the_protocol_is_explained(visit, measured, order):
    drawn = protocols.FULL.rules | {"order": order, "users": "in the words of an older version"}
    for variant in ("popular", "bert4rec"):
        ranks = results.ranks("ml-latest-sample", "full", variant)
        document = results.load("ml-latest-sample", "full", variant)
        results.write(document | {"protocol": {"name": "full", **drawn}}, ranks)
    app = visit("evaluation")
    random_order = "Films rated in the same second have no known order."
    for sentence in (
        "Films with fewer than 5 ratings were removed.",
        "People with fewer than three films are not tested.",
        random_order,
    ):
        assert sentence in said(app)
    assert f"**Order**: {protocols.TIE_RULES['drawn']}" in said(app)
    assert f"**People**: {protocols.FULL.rules['users']}" in said(app)
    assert random_order not in said(visit("evaluation", data="ml-1m"))


def test_rules_in_former_words_are_translated(visit, measured):
    former_rules = {"users": "users with at least 3 films", "repeats": "former words", "order": "former words"}
    for variant in ("popular", "bert4rec"):
        document = results.load("ml-1m", "popularity-100", variant)
        document["protocol"] = {"name": "popularity-100", **former_rules, "sampled": 50, "withdrawn": "a former rule"}
        results.write(document, results.ranks("ml-1m", "popularity-100", variant))
    app = visit("evaluation", data="ml-1m", protocol="popularity-100", lang="uk")
    catalog = i18n.translations("uk", "film")
    for rule in (protocols.LEAVE_ONE_OUT_RULES["users"], protocols.REPEATS_RULE, protocols.TIE_RULES["file"]):
        assert catalog.gettext(rule) != rule
        assert catalog.gettext(rule) in said(app)
    assert "former words" not in said(app)
    assert f"**{catalog.gettext('Sampled films')}**: 50" in said(app)  # as it was measured
    assert "a former rule" in said(app)


def test_a_filter_of_an_own_data_set_is_no_rule_of_the_protocol(monkeypatch):
    monkeypatch.setattr(page.data, "documents", lambda view: {"popular": {"protocol": rules}})
    view = page.EvaluationView("shop", "full", pd.DataFrame())
    rules = {"name": "full", "filter": protocols.OWN_FILTER_RULE, "users": "former words"}
    assert page.data.protocol_rules(view) == rules | {"users": protocols.FULL.rules["users"]}
    view = page.EvaluationView("shop", "withdrawn", pd.DataFrame())
    assert page.data.protocol_rules(view) == rules
    rules = {"name": "favourites-1", "users": FORMER_OTHER_SCALE_RULE}
    view = page.EvaluationView("shop", "favourites-1", pd.DataFrame())
    assert page.data.protocol_rules(view)["users"] == OTHER_SCALE_RULE


def test_a_set_that_is_chosen_on_another_page_is_shown_next_and_a_choice_here_stays(visit, measured):
    app = visit("evaluation", data="ml-1m")
    app.selectbox(key="results_of").set_value("ml-latest-sample").run()
    assert app.run().selectbox(key="results_of").value == "ml-latest-sample"
    app.session_state.visitor.current = ListState("ml-latest-sample")
    app.run()
    app.session_state.visitor.current = ListState("ml-1m")
    assert app.run().selectbox(key="results_of").value == "ml-1m"


def test_published_figures_stand_apart_with_their_source(visit, measured):
    app = visit("evaluation", data="ml-1m")
    published = figures(app, 1)
    assert "Published figures" in [heading.value for heading in app.header]
    assert published["source"].notna().all()
    assert not {"Bert4Rec", "Popular"} & {*published["title"]}


def test_every_protocol_says_what_it_means(visit, measured):
    app = visit("evaluation", data="ml-1m")
    assert protocols.FULL.meaning in said(app)
    app.get_by_key("protocol-ml-1m").set_value("popularity-100").run()
    assert protocols.POPULARITY_100.meaning in said(app)


def test_protocols_show_the_places_of_the_same_models_under_each(visit, measured):
    results.write(result("bert4rec", "ml-1m", "popularity-100", np.array([[50, 60, 70]])), np.array([[50, 60, 70]]))
    app = open_section(visit("evaluation", data="ml-1m"), "protocols")
    assert {line["name"]: line["y"] for line in chart(app)} == {"Bert4Rec": [1, 2], "Popular": [2, 1]}
    assert "The order is not compared, because with fewer than 200 people it is mostly chance." in said(app)
    assert "100%" not in said(app)
    app.get_by_key("protocols-ml-1m").set_value(["full"]).run()
    assert "Select at least two protocols." in said(app)


def test_a_data_set_named_like_a_web_site_is_no_link(visit, home, monkeypatch):
    monkeypatch.setattr(cache, "dataset_title", lambda name: "www.shop.example")
    ranks = np.ones((1, 3), int)
    bins = [{"predicted": 0.5, "hit_rate": 0.25, "share": 1.0}]
    calibration = {"ece": 0.25, "bins": bins, "by_rank": {"predicted": [0.5], "hit_rate": [0.25]}}
    document = result("sasrec-softmax", "ml-1m", "full", ranks)
    results.write(document | {"also": "ml-100k", "calibration": calibration}, ranks)
    app = visit("evaluation", data="ml-1m")
    sentences = ["also learned from", "There are no training logs", "results for one protocol", "None of these"]
    for section, sentence in zip(("leaderboard", "curves", "protocols", "calibration"), sentences, strict=True):
        assert sentence in said(open_section(app, section))
        assert "www.shop.example" not in said(app)


def test_a_former_protocol_can_be_compared_with_the_others(visit, measured):
    for variant, rank in {"bert4rec": 1, "popular": 2}.items():
        results.write(result(variant, "ml-1m", "gone", np.full((1, 3), rank)), np.full((1, 3), rank))
    app = open_section(visit("evaluation", data="ml-1m"), "protocols")
    assert app.get_by_key("protocols-ml-1m").value == ["full", "popularity-100", "gone"]
    assert {line["name"]: line["y"] for line in chart(app)} == {"Bert4Rec": [1, 1, 1], "Popular": [2, 2, 2]}


def test_trade_offs_set_any_two_measures_against_each_other(visit, measured_here):
    app = open_section(visit("evaluation"), "measures")
    assert (chart(app)[0]["x"], chart(app)[0]["y"]) == ([10.0, 34.0], [1.0, 0.0])
    app.get_by_key("across-ml-latest-sample-full").set_value("mrr").run()
    assert chart(app)[0]["x"] == pytest.approx([1, 1 / 25])


def test_learning_shows_what_was_logged_by_epoch_or_by_time(visit, measured):
    folder = paths.checkpoint("ml-latest-sample", LEAVE_ONE_OUT.name, "bert4rec", 0)
    events = [{"epoch": 1, "loss": 6.5, "seconds": 3}, {"epoch": 2, "loss": 5.5, "ndcg@10": 0.1, "seconds": 7}]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, events)), "utf-8")
    app = open_section(visit("evaluation"), "curves")
    (loss,), (validation,) = chart(app, 0), chart(app, 1)
    assert (loss["x"], loss["y"], validation["x"], validation["y"]) == ([1, 2], [6.5, 5.5], [2], [0.1])
    app.get_by_key("curves_by").set_value("seconds").run()
    assert chart(app, 0)[0]["x"] == [3, 7]
    app.multiselect[0].set_value([]).run()
    assert not app.exception


def test_what_quality_costs_is_training_time_alone_and_the_others_are_named(visit, measured):
    ranks = np.array([[1, 2, 3]])
    for variant, seconds in (("bert4rec", [120.0]), ("fpmc", [])):
        document = result(variant, "ml-latest-sample", "full", ranks)
        results.write(trained(document, cpu=seconds), ranks)
    mixture = result("hybrid", "ml-latest-sample", "full", ranks) | {"config": {"members": ["bert4rec", "popular"]}}
    results.write(mixture, ranks)
    app = open_section(visit("evaluation"), "curves")
    marks, *_ = chart(app)
    assert marks["x"] == [120.0]
    text = said(app)
    assert "Training time of one seed on a CPU" in text
    assert "Without recorded preparation time: Popular." in text
    assert "Mixtures of other recommenders: Hybrid." in text  # it needs trained members
    assert "Without recorded training time: Fpmc." in text


def test_without_a_training_log_the_page_says_how_to_train(visit, measured):
    app = open_section(visit("evaluation", data="ml-1m"), "curves")
    assert "-m recsys train bert4rec --dataset ml-1m" in said(app)


def test_training_logs_of_another_protocol_are_named(visit, measured, home):
    ranks = np.array([[1, 2, 3]])
    results.write(result("bert4rec", "ml-1m", "untied", ranks), ranks)
    log = paths.checkpoint("ml-1m", "untied", "bert4rec", 0) / paths.LOG
    storage.replace_file(log, b'{"epoch": 1, "loss": 2.0, "ndcg@10": 0.1, "seconds": 3}')
    app = open_section(visit("evaluation", data="ml-1m"), "curves")
    assert "For MovieLens 1M, there are logs for “All films, random order”." in said(app)
    app.get_by_key("protocol-ml-1m").set_value("untied").run()
    assert len(chart(app))  # the curve itself


def test_groups_of_people_are_shown_with_their_number(visit, measured_here):
    app = open_section(visit("evaluation"), "slices")
    app.get_by_key("slicing").set_value("decade").run()
    assert [people["x"] for people in chart(app)] == [[1.0] * len(chart(app)[0]["x"])]  # of the only family, the best
    spec = chart_specs(app)[0]
    groups = [int(re.search(r"n = (\d+)", tick)[1]) for tick in spec["layout"]["yaxis"]["categoryarray"]]
    assert sum(groups) == len(LEAVE_ONE_OUT(measured_here).test)


def test_groups_of_people_by_what_they_said_are_offered_where_the_set_describes_them(visit, measured_here):
    app = open_section(visit("evaluation"), "slices")
    assert not {"Gender", "Age in years"} & set(app.get_by_key("slicing").options)
    people = [("M", "56+", "")] * 50 + [("F", "56+", "")] * (measured_here.n_users - 50)
    world.save(toys.described(measured_here, *people))
    st.cache_resource.clear()
    app = open_section(visit("evaluation"), "slices")
    app.get_by_key("slicing").set_value("gender").run()
    spec = chart_specs(app)[0]
    assert spec["layout"]["yaxis"]["categoryarray"] == ["women<br>n = 150", "men<br>n = 50"]
    assert "(11 for women, 11 for men)" in said(app)
    world.save(measured_here)  # a choice that is no longer offered does no harm
    st.cache_resource.clear()
    app.run()
    assert not app.exception
    assert app.get_by_key("slicing").value == "history length"


def test_errors_of_predicted_stars_are_shown_where_they_were_measured(visit, measured):
    app = open_section(visit("evaluation"), "measures")
    assert not app.dataframe
    document = results.load("ml-latest-sample", "full", "popular")
    error = {"rmse": 1.25, "mae": 1.0, "interval": {"rmse": [1.125, 1.5], "mae": [0.75, 1.25]}}
    document["stars"] = error | {"baselines": {"mean": error | {"rmse": 1.5}, "film and person": error | {"rmse": 1.0}}}
    results.write(document, results.ranks("ml-latest-sample", "full", "popular"))
    app = open_section(visit("evaluation"), "measures")
    table = app.dataframe[0].value
    baselines = trade_offs.BASELINE_TITLES
    assert table["name"].tolist() == [baselines["film and person"], "Popular", baselines["mean"]]
    assert table["rmse"].tolist() == [1, 1.25, 1.5]
    assert table["rmse interval"].tolist() == ["1.1250–1.5000"] * 3


@pytest.mark.parametrize(("code", "figure"), [("en", "0.3333"), ("uk", "0,3333")])
def test_metrics_have_a_leading_zero_and_four_decimals_in_every_table_and_chart(
    visit, measured, monkeypatch, code, figure
):
    monkeypatch.setattr(i18n, "current_language", lambda: code)
    app = visit("evaluation", data="ml-1m", metric="hr@1")
    assert figure in board(app)[0]
    figures(app)
    table = convert_arrow_bytes_to_pandas_df(app.dataframe[0].proto.arrow_data.styler.display_values)
    assert table["hr@1"].iloc[0] == figure
    assert all(re.fullmatch(r"\d+[.,]\d{4}|–", text) for name in results.METRICS for text in table[name])
    app = open_section(app, "measures")
    hovers = [trace["hovertemplate"] for trace in chart(app) if "hovertemplate" in trace]
    assert hovers
    assert all(i18n.METRIC_FORMAT in hover for hover in hovers)


def test_results_of_other_data_are_not_shown_as_those_of_this_set(visit, home):
    ranks = np.array([[1, 2, 3]])
    results.write(result("popular", "ml-latest-sample", "full", ranks) | {"fingerprint": "of other data"}, ranks)
    app = visit("evaluation")
    assert "a different version of" in app.warning[0].value.replace("\\", "")
    assert "There are no readable results for this protocol yet." in said(app)
    assert "-m recsys evaluate all --dataset ml-latest-sample --protocol full" in said(app)


def test_every_section_says_how_many_people_there_are_and_that_few_are_noise(visit, measured):
    app = visit("evaluation")
    assert page.describe_users(3) in said(app)
    assert page.describe_users(3).startswith("Tested on 3 people. With fewer than 200 people")
    assert page.describe_users(1).startswith("Tested on 1 person. ")
    assert page.describe_users(200) == "Tested on 200 people."


def test_with_enough_people_the_page_says_how_much_of_the_order_changes(visit, home):
    for protocol, better in (("full", "bert4rec"), ("popularity-100", "popular")):
        for variant in ("bert4rec", "popular"):
            ranks = np.full((1, 200), 1 if variant == better else 5)
            results.write(result(variant, "ml-latest-sample", protocol, ranks), ranks)
    app = open_section(visit("evaluation"), "protocols")
    assert "Compared with “All films”, 100% of all pairs of recommenders are in the opposite order." in said(app)


def test_the_leaderboard_and_the_head_to_head_give_one_verdict(visit, home):
    rng = np.random.default_rng(0)
    for variant, slower in (("bert4rec", 0), ("popular", 0), ("ials", 1), ("fpmc", 4)):
        ranks = rng.integers(1, 12, (1, 300)) + slower
        results.write(result(variant, "ml-latest-sample", "full", ranks), ranks)
    app = visit("evaluation")
    first, *others = board(app)
    like = {row.split()[2]: "≈" in row for row in others}
    assert {*like.values()} == {True, False}
    open_section(app, "pair")
    assert app.get_by_key("first_of_pair").value.title() == first.split()[2]
    for title, even in like.items():
        app.get_by_key("second_of_pair").set_value(title.lower()).run()
        assert ("do not differ significantly" in app.markdown[0].value) == even


@pytest.mark.parametrize("section", ["slices", "person"])
def test_without_the_data_a_section_that_needs_it_says_so(visit, measured, section):
    app = open_section(visit("evaluation", data="ml-1m"), section)
    assert "-m recsys data" in said(app)
    assert not app.exception


def test_confidence_shows_predicted_against_observed(visit, measured):
    assert "There are no probabilities" in said(open_section(visit("evaluation"), "calibration"))
    document = results.load("ml-latest-sample", "full", "bert4rec")
    bins = [{"predicted": 0.5, "hit_rate": 0.25, "share": 1.0}]
    document["calibration"] = {"ece": 0.25, "bins": bins, "by_rank": {"predicted": [0.5], "hit_rate": [0.25]}}
    results.write(document, results.ranks("ml-latest-sample", "full", "bert4rec"))
    app = open_section(visit("evaluation"), "calibration")
    assert (chart(app, 0)[0]["x"], chart(app, 0)[0]["y"]) == ([0.5], [0.25])
    assert chart(app, 1)[0]["y"] == [2]
    over_all = "Bert4Rec gives its top ten 50% in total, but the hidden film is among them for 25% of the people."
    assert over_all in said(app)
    document["calibration"]["over"] = results.UNSEEN_ITEMS
    results.write(document, results.ranks("ml-latest-sample", "full", "bert4rec"))
    assert over_all not in said(app.run())


def test_two_recommenders_are_tested_on_the_same_people(visit, measured_here):
    app = open_section(visit("evaluation"), "pair")
    assert app.metric[0].value == "+1.0000"
    assert "is better than" in app.markdown[0].value
    n = len(LEAVE_ONE_OUT(measured_here).test)
    assert f"Bert4Rec {n:,}," in app.markdown[1].value.replace("\\", "")
    app.get_by_key("second_of_pair").set_value("bert4rec").run()
    assert "Select two different recommenders." in said(app)


def test_one_person_is_shown_with_the_hidden_film_and_who_found_it(visit, measured_here):
    app = open_section(visit("evaluation"), "person")
    test = LEAVE_ONE_OUT(measured_here).test
    app.get_by_key("person-ml-latest-sample-full").set_value(3).run()
    films = [html.proto.body for html in app.get("html") if "nr-past" in html.proto.body]
    assert measured_here.catalog.films[test.targets[2]].title in films[0]
    latest = test.queries.histories[2][-1]
    assert measured_here.catalog.films[latest].title in films[1].split("</li>")[0]
    assert "1 of 2" in app.markdown[0].value.replace("\\", "")
    app.get_by_key("draw-person-ml-latest-sample-full").click().run()
    assert 1 <= app.get_by_key("person-ml-latest-sample-full").value <= len(test)


def test_whose_people_some_learnt_from_too_is_said_above_all_figures(visit, measured):
    ranks = np.array([[1, 2, 3]])
    results.write(result("markov", "ml-1m", "full", ranks), ranks)
    results.write(result("bert4rec", "ml-1m", "full", ranks) | {"also": "ml-100k"}, ranks)
    app = visit("evaluation")
    app.get_by_key("results_of").set_value("ml-1m").run()
    assert "Bert4Rec also learned from MovieLens 100K" in said(app)
    assert "Markov" not in said(app).partition(" also learned from")[0].rpartition(".")[2]


TIES = {
    "dataset": "ml-1m",
    "order": "hash",
    "pairs": {"same second": 298_994, "alone": 87_654},
    "lower": {"same second": 0.0, "alone": 0.518},
    "distances": {"same second": [0.0, 0.0, 0.7, 0.3], "alone": [0.2, 0.3, 0.3, 0.2]},
    "without_rating": 3.0,
    "share": 0.45,
    "targets": 0.34,
    "rules": [
        {"title": "Most popular", "protocol": "full", "alone": 0.018, "with the order": 0.0254},
        {"title": "Most popular", "protocol": "untied", "alone": 0.0193, "with the order": 0.0194},
    ],
    "recommenders": [
        {"variant": "a", "title": "Robust", "family": "Neighbours", "full": 0.1, "untied": 0.099},
        {"variant": "b", "title": "Misled", "family": "Transformers", "full": 0.2, "untied": 0.15},
    ],
    "run": {"commit": "abc", "date": "2026-11-22T09:00:00+00:00"},
}


def test_what_a_benchmark_measures_is_told_where_it_was_measured(visit, measured, home):
    app = visit("evaluation")
    app.get_by_key("results_of").set_value("ml-1m").run()
    assert "ties" not in app.get_by_key("section").options
    storage.replace_file(paths.ties(home, "ml-1m"), storage.sign_document(TIES))
    app.run()
    open_section(app, "ties")
    assert not app.exception
    text = said(app)
    assert "45% of all ratings, and 34% of those of hidden films, were given in the same second" in text
    assert "Of 298,994 pairs rated in the same second, 0% are in reverse file order." in text
    assert app.dataframe[0].value.iloc[0].tolist() == ["Most popular", 0.018, 0.0254, 0.0193, 0.0194]
    assert "Misled loses most: NDCG@10 falls from 0.2000 to 0.1500" in text
    assert "a film rated 3 are not counted" in text
    first, second = chart_specs(app)
    assert {trace["name"] for trace in first["data"]} == {"rated in the same second", "rated in different seconds"}
    marks = {trace["name"]: trace for trace in second["data"] if trace.get("name")}
    assert list(marks["in file order"]["y"]) == ["Misled", "Robust"]  # the best in the order of the file on top


def test_a_section_that_only_another_data_set_has_is_left_with_it(visit, measured, home):
    storage.replace_file(paths.ties(home, "ml-1m"), storage.sign_document(TIES))
    app = visit("evaluation")
    app.get_by_key("results_of").set_value("ml-1m").run()
    open_section(app, "ties")
    app.get_by_key("results_of").set_value("ml-latest-sample").run()
    assert not app.exception
    assert app.get_by_key("section").value == "leaderboard"


def test_studies_are_shown_where_there_are_any(visit, measured, home):
    app = visit("evaluation")
    assert "studies" not in app.get_by_key("section").options
    study = {
        "title": "Does *order* matter?",
        "question": "What is lost?",
        "columns": [{"name": "n", "title": "Films"}, {"name": "ndcg", "title": "NDCG@10"}],
        "rows": [[1, 0.25], [2, 0.5]],
        "chart": {"kind": "line", "x": "n", "y": "ndcg"},
    }
    folder = paths.studies(home)
    folder.mkdir(parents=True)
    (folder / "order.json").write_bytes(storage.sign_document(study))
    (folder / "half.json").write_text("{", "utf-8")
    other = study | {"title": "Width", "dataset": "ml-1m", "papers": "Papers say so.", "rows": [[3, 0.75]]}
    (folder / "earlier.json").write_bytes(storage.sign_document(other | {"dataset": "ml-100k"}))
    app = open_section(visit("evaluation"), "studies")
    titles = ["Width · MovieLens 100K", "Does *order* matter?"]
    assert app.get_by_key("study").options == titles
    app.get_by_key("results_of").set_value("ml-1m").run()
    (folder / "width.json").write_bytes(storage.sign_document(other))
    app.run()
    assert app.get_by_key("study").options == ["Width · MovieLens 1M", *titles]
    assert "Papers say so." in said(app)
    app.get_by_key("study").set_value("order").run()
    assert chart(app)[0]["y"] == [0.25, 0.5]
    assert app.dataframe[0].value["n"].tolist() == [1, 2]
    assert "half" in said(app)
    assert app.query_params["study"] == "order"
    app = visit("evaluation", section="studies", study="order")
    assert app.get_by_key("study").value == "order"
    app = visit("evaluation", section="studies", study="half")  # damaged
    assert app.get_by_key("study").value == "earlier"


def test_a_damaged_result_is_named_and_the_others_are_shown(visit, measured):
    change(paths.results(paths.home(), "ml-latest-sample", "full"), "popular", "family")
    app = visit("evaluation")
    assert "popular" in app.warning[0].value
    assert len(board(app)) == 1


@pytest.mark.parametrize("section", url.EVALUATION_SECTIONS)
def test_no_section_needs_more_than_one_result_nor_fails_where_all_are_damaged(visit, measured, section):
    path = paths.results(paths.home(), "ml-latest-sample", "full")
    change(path, "popular", "family")
    app = visit("evaluation")
    if section in app.get_by_key("section").options:
        assert not open_section(app, section).exception
    path.write_text("{}", "utf-8")
    app.run()
    assert not app.exception
    assert "There are no readable results for this protocol yet." in said(app)


def test_damaged_ranks_cost_the_tests_and_not_the_leaderboard(visit, measured):
    remove_ranks(paths.results(paths.home(), "ml-latest-sample", "full"), "popular")
    app = visit("evaluation")
    assert len(board(app)) == 2
    assert "popular" in app.warning[0].value
    assert not open_section(app, "pair").exception


def test_a_new_result_is_shown_without_a_restart(visit, measured):
    app = visit("evaluation")
    results.write(result("als", "ml-latest-sample", "full", np.array([[1, 1, 1]])), np.array([[1, 1, 1]]))
    assert "Als" in board(app.run())[0]


def test_the_page_needs_no_data_set(visit, measured, home):
    paths.prepared("ml-latest-sample").rename(home / "elsewhere")
    assert not visit("evaluation").exception


@pytest.mark.slow
def test_the_page_loads_no_torch():
    code = "import sys; from pages.evaluation import page; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=paths.REPOSITORY, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_every_family_has_a_colour_of_its_own_that_stands_out_from_both_pages():
    every = [*charts.LOOKS.values(), charts.OTHER_LOOK]
    assert len({look.colour for look in every}) == len({look.symbol for look in every}) == len(every)
    for look in every:
        assert min(contrast(look.colour, "#fbfaf8"), contrast(look.colour, "#141518")) >= 3
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_a_family_without_a_row_gets_the_look_of_the_others():
    assert charts.look("A new family") == charts.OTHER_LOOK
