import json

import numpy as np
import pytest

from pages import _words as words
from recsys import paths
from recsys.evaluation import metrics, results
from tests.pages.test_watch_next import said


@pytest.fixture
def measured(home):
    """Two recommenders with results over two data sets and two protocols."""
    for dataset in ("ml-100k", "ml-1m"):
        for protocol in ("full", "popularity-100"):
            for variant, ranks in {"popular": [[4, 30, 9]], "bert4rec": [[1, 2, 3], [1, 2, 12]]}.items():
                results.write(result(variant, dataset, protocol, np.array(ranks)), np.array(ranks))
    return home


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
        "fingerprint": "0",
        "config": {},
        "seeds": [{"seed": seed, "metrics": values} for seed, values in enumerate(by_seed)],
        "mean": {name: float(np.mean(values)) for name, values in figures.items()},
        "std": {name: float(np.std(values)) for name, values in figures.items()},
        "run": {"date": "2026-01-01"},
    }


def table(app, place=0):
    return app.dataframe[place].value


def test_without_results_the_page_says_what_to_type(visit):
    app = visit("evaluation")
    assert words.NO_RESULTS in said(app)
    assert app.code[0].value.startswith("python -m recsys evaluate")


def test_the_leaderboard_has_the_best_first_and_every_metric(visit, measured):
    board = table(visit("evaluation"))
    assert list(board["title"]) == ["Bert4Rec", "Popular"]
    first, second = (1 + 1 / np.log2(3) + 0.5) / 3, (1 + 1 / np.log2(3) + 0) / 3  # ranks 1, 2, 3 and 1, 2, 12
    assert board["ndcg@10"].iloc[0] == pytest.approx((first + second) / 2)
    assert set(results.METRICS) <= set(board)
    assert list(board["seeds"]) == [2, 1]


def test_the_data_set_of_the_visitor_is_shown_first_and_can_be_changed(visit, measured):
    app = visit("evaluation", data="ml-1m")
    assert app.selectbox(key="results_of").value == "ml-1m"
    app.selectbox(key="results_of").set_value("ml-100k").run()
    assert len(app.dataframe) == 1  # nobody published figures for it


def test_published_figures_stand_apart_with_their_source(visit, measured):
    app = visit("evaluation", data="ml-1m")
    published = table(app, 1)
    assert words.PUBLISHED_TITLE in [heading.value for heading in app.subheader]
    assert published["source"].notna().all()
    assert not {"Bert4Rec", "Popular"} & {*published["title"]}


def test_every_protocol_says_what_it_means(visit, measured):
    app = visit("evaluation", data="ml-1m")
    assert words.PROTOCOL_MEANING["full"] in [text.value for text in app.markdown]
    app.get_by_key("protocol-ml-1m").set_value("popularity-100").run()
    assert words.PROTOCOL_MEANING["popularity-100"] in [text.value for text in app.markdown]


def test_the_chart_shows_the_chosen_metric_of_ours_and_of_theirs(visit, measured):
    app = visit("evaluation", data="ml-1m")
    app.get_by_key("metric").set_value("hr@10").run()
    published, ours = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert (published["name"], ours["name"]) == (words.PUBLISHED, words.OURS)
    assert "hr@10" in app.get("plotly_chart")[0].proto.alt.lower()


def test_the_training_curve_shows_what_was_logged(visit, measured):
    folder = paths.checkpoint("ml-100k", "bert4rec", 0)
    events = [{"epoch": 1, "loss": 6.5}, {"epoch": 2, "loss": 5.5, "ndcg@10": 0.1}]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, events)), "utf-8")
    app = visit("evaluation")
    titles = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert titles[1:] == [words.LOSS, words.VALIDATION]


def test_without_a_training_log_the_page_says_how_to_train(visit, measured):
    app = visit("evaluation", data="ml-1m")
    assert "python -m recsys train bert4rec --dataset ml-1m" in [code.value for code in app.code]


def test_a_damaged_result_is_named_and_the_others_are_shown(visit, measured):
    path = paths.results(paths.home(), "ml-100k", "full") / "popular.json"
    path.write_text(path.read_text("utf-8").replace("Family", "Famiky"), "utf-8")
    app = visit("evaluation")
    assert "popular" in app.warning[0].value
    assert list(table(app)["title"]) == ["Bert4Rec"]


def test_the_page_needs_no_data_set(visit, measured, home):
    paths.prepared("ml-100k").rename(home / "elsewhere")
    assert not visit("evaluation").exception
