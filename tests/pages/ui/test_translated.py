"""No text that a visitor sees goes past the translation, and none is missing from it."""

import json
import re
import shutil
import string
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.inside import lesson
from pages.ui import charts, i18n, url
from pages.ui.recommenders import TRAIN_MENU_KEY
from pages.ui.url import COMPARE_TABS
from recsys import paths, storage
from recsys.data import own_data, tables
from recsys.data.split import LEAVE_ONE_OUT
from recsys.evaluation import protocols, results
from recsys.jobs import queue
from recsys.serving import predictor
from recsys.serving.insight import attention
from tests.pages import world
from tests.pages.evaluation.test_page import TIES, result, trained
from tests.pages.panel import opened
from tests.pages.reading import said
from tests.pages.translation import mark, needs_translation, shown, texts_in_code, texts_in_data, unmarked

FILMS = "1-2-3-4"
DATA = {"ml-latest-sample", "ml-1m", world.build().fingerprint[:12], "of data that"}  # as files name it
NAMES = {
    *world.TITLES,
    *(title[:-7] for title in world.TITLES),
    world.RARE,
    world.RARE[:-7],
    TIES["run"]["commit"],
    *DATA,
}
WITH_FILES = set(url.EVALUATION_SECTIONS) - {"calibration", "studies"}  # studies name their columns
STUDY = {
    "title": "Does order matter?",
    "dataset": "ml-latest-sample",
    "question": "What is lost?",
    "papers": "Papers say so.",
    "answer": "No change makes a difference whose 95% interval excludes 0.",
    "how": "early stopping on validation; validation included.",
    "columns": [
        {"name": "model", "title": "Recommender"},
        {"name": "setting", "title": "Setting"},
        {"name": "ndcg", "title": "Figure"},
    ],
    "rows": [["A network", "unchanged", 0.25], ["A network", "All films – By date", 0.5]],
    "chart": {"kind": "rows", "x": "setting", "y": "ndcg", "by": "model"},
}


@pytest.fixture
def marked(visit, monkeypatch):
    """A visitor who reads the language of marks."""
    mark(monkeypatch)
    return visit


@pytest.fixture(scope="session")
def stored_sections(tmp_path_factory):
    """Write results with everything that the sections of Evaluation can show once."""
    folder = tmp_path_factory.mktemp("sections")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(folder))
        write_sections()
    return folder


@pytest.fixture
def all_sections(stored_sections, home):
    """Copy those results into the data folder of the test."""
    shutil.copytree(stored_sections, home, dirs_exist_ok=True)


def write_sections():
    data = world.build()
    n = len(LEAVE_ONE_OUT(data).test)
    for protocol in ("full", "popularity-100"):
        rules = protocols.get(protocol).rules | {"dates": {"validation": "1998-03-05"}}
        for variant, rank in {"bert4rec": 1, "popular": 25, "markov": 3}.items():
            ranks = np.full((1, n), rank)
            document = result(variant, data.name, protocol, ranks)
            document |= {"fingerprint": data.fingerprint, "protocol": {"name": protocol} | rules, "also": "ml-1m"}
            document |= {"interval": {"ndcg@10": [0.25, 0.75]}, "beyond": {"novelty@10": 9.0 + rank}}
            error = {"rmse": 1.25, "mae": 1.0, "interval": {"rmse": [1.125, 1.5], "mae": [0.75, 1.25]}}
            document["stars"] = error | {"baselines": {"mean": error, "film and person": error}}
            results.write(document, ranks)
    log = paths.checkpoint(data.name, LEAVE_ONE_OUT.name, "bert4rec", 0) / paths.LOG
    storage.replace_file(log, b'{"epoch": 1, "loss": 2.0, "ndcg@10": 0.1, "seconds": 3}')
    storage.replace_file(paths.ties(paths.home(), data.name), storage.sign_document(TIES | {"dataset": data.name}))
    storage.replace_file(paths.studies(paths.home()) / "order.json", storage.sign_document(STUDY))


def check(app):
    assert not app.exception
    assert len([text for text in shown(app) if "⟦" in text]) > 3  # the marks are there at all
    assert not (left := unmarked(app, NAMES)), left
    assert not any(one.proto.select_all for one in app.multiselect)  # Streamlit has "Select all" in English only


def test_a_text_that_goes_past_the_translation_is_found(marked, monkeypatch):
    monkeypatch.setattr("pages.ui.cache.dataset_title", lambda name: "A set of films")
    assert any("A set of films" in text for text in unmarked(marked(s=FILMS), NAMES))


@pytest.mark.parametrize("view", url.VIEWS)
def test_watch_next(marked, view):
    check(marked(s=FILMS, view=view))


def test_the_first_visit_and_the_steps_of_the_tour(marked):
    app = marked()
    for _ in range(4):
        check(app)
        app.button(key="tour-next").click().run()


@pytest.mark.parametrize(
    "key", ["filters_open", "choice_open", "share", "ratings-open", "person-open", "surprise-open", "posters"]
)
def test_what_opens_on_watch_next(marked, key):
    app = marked(s=FILMS, **{"not": "9"}, genres="Comedy")
    app.session_state[key] = True
    check(app.run())


def test_films_that_are_not_wanted_and_filters_that_leave_none(marked):
    app = marked(s=FILMS, **{"not": "9"}, later="10", seen="12", years="1939-1939")
    for key in ("unwanted_open", "later_open", "seen_open"):
        app.session_state[key] = True
    check(app.run())


def test_a_search_that_finds_nothing_and_one_that_does(marked):
    app = marked(s=f"{FILMS}-31")
    for text in ("Star", "Rare", "Zzyzx"):
        app.get_by_key("search").set_value(text).run()
        assert [found for found in unmarked(app, {*NAMES, "Zzyzx"}) if text not in found] == []


def test_links_that_say_what_is_not_there(marked):
    check(marked(s="1-1-x-999999"))
    check(marked(data="ml-999", s=FILMS))


def test_the_data_sets(marked):
    app = marked(s=FILMS)
    app.button(key="more-sets").click().run()
    check(app)


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ("ui.explanation", None),
        ("watch.what_if", "what-if"),
        ("watch.evening_plan", "plan"),
        ("watch.theme_search", "theme-open"),
    ],
)
@pytest.mark.parametrize("variant", ["bert4rec", "popular"])
def test_the_panels(home, monkeypatch, part, key, variant):
    mark(monkeypatch)
    app = opened(part, key, s=FILMS, variant=variant)
    assert not app.exception
    assert [text for text in unmarked(app, NAMES) if text != "0 1 2 3"] == []


@pytest.mark.parametrize("place", range(5))
def test_the_tabs_of_compare(marked, place):
    app = marked("compare", s=FILMS)
    app.session_state["compare_section"] = list(COMPARE_TABS)[place]
    app.session_state["compare_tab"] = "in another language"
    for key in ("which_order", "hide_all"):
        app.session_state[key] = True
    check(app.run())  # whichever language the name of the tab was in
    assert app.session_state.compare_tab == app.tabs[place].label


@pytest.mark.parametrize("page", ["compare", "inside", "evaluation"])
def test_the_other_pages_without_films(marked, page):
    check(marked(page))


@pytest.mark.parametrize("section", url.LIBRARY_SECTIONS)
def test_the_sections_of_the_library(marked, section):
    check(marked("library", s=FILMS, library=section))


def test_what_two_could_watch(marked):
    app = marked("library", s=FILMS, library="together", **{"with": "ml-latest-sample.8-9-10"})
    app.session_state["other_link_open"] = app.session_state["other_person-open"] = True
    check(app.run())
    app.text_input(key="other_link").set_value("no link").run()
    check(app)


def test_the_form_of_a_training(marked):
    app = marked("train")
    check(app)
    check(app.selectbox(key=TRAIN_MENU_KEY).set_value("sasrec-bce").run())


def test_trainings_in_every_state(marked, monkeypatch):
    monkeypatch.setattr(queue, "start_runner", lambda: None)
    jobs = [queue.add("ncf", "ml-latest-sample", seed=seed) for seed, _ in enumerate(queue.State)]
    told = {"epoch": 2, "epochs": 8, "loss": 7.0, "ndcg@10": 0.0981, "seconds_left": 600.0}
    for job, state in zip(jobs, queue.State, strict=True):
        (job.folder / queue.PROGRESS).write_text(json.dumps(told))
        error = "toy is damaged; run: fetch toy" if state is queue.State.FAILED else ""
        queue._write(replace(job, state=state, started=1.0, ended=99.0, error=error))
    app = marked("train")
    assert not (left := unmarked(app, {*NAMES, "toy", "fetch"})), left
    assert not app.exception


def test_files_of_ones_own_as_a_set_and_as_a_history(home, monkeypatch):
    mark(monkeypatch)
    app = AppTest.from_function(own_set, default_timeout=60).run()
    app.file_uploader(key="own_file").upload("shop.csv", b"who,what,when\nann,x,2\nann,x,2\nbob,,3\n", "text/csv").run()
    named = {*NAMES, "shop", "who", "what", "when", "ann", "bob", "User", "Item"}
    assert unmarked(app, named) == []
    assert not app.exception
    app = AppTest.from_function(own_films, default_timeout=60).run()
    assert unmarked(app, {*NAMES, "Letterboxd", "Trakt", "Netflix", "MovieLens"}) == []
    app.file_uploader[0].set_value([("h.csv", b"Title,Date\nHeat,5/2/25\nNo such film,6/1/25\n", "text/csv")])
    app.run()
    assert not app.exception
    assert unmarked(app, {*NAMES, "h.csv", "No such film"}) == []


def own_set():
    from pages.ui import add_dataset, session

    session.load()
    add_dataset.form()


def own_films():
    from pages.ui import cache, session
    from pages.watch import import_dialog

    session.load()
    import_dialog.dialog_body(cache.dataset("ml-latest-sample"), import_dialog.ImportState())


@pytest.mark.parametrize("section", url.EVALUATION_SECTIONS)
def test_the_sections_of_evaluation_and_the_headings_of_their_files(marked, all_sections, monkeypatch, section):
    headings = headings_of_files(monkeypatch)
    check(marked("evaluation", s=FILMS, section=section))
    if section in WITH_FILES:
        assert headings
        assert english(headings) == []


@pytest.mark.parametrize("slicing", ["history length", "popularity of the film", "genre", "decade"])
def test_groups_of_people(marked, all_sections, slicing):
    app = marked("evaluation", section="slices")
    check(app.get_by_key("slicing").set_value(slicing).run())


def test_all_figures(marked, all_sections):
    app = marked("evaluation")
    check(app.get_by_key("board_view").set_value("all-figures").run())


@pytest.mark.parametrize("view", ["intervals", "all-figures"])
def test_published_figures(marked, home, view):
    ranks = np.array([[1, 2, 3]])
    results.write(result("bert4rec", "ml-1m", "full", ranks), ranks)
    app = marked("evaluation", data="ml-1m", results="ml-1m")
    check(app.get_by_key("board_view").set_value(view).run())


def test_what_quality_costs(marked, all_sections):
    which = (world.build().name, "full", "bert4rec")
    results.write(trained(results.load(*which), cpu=[120.0]), results.ranks(*which))
    check(marked("evaluation", section="curves"))
    check(marked("evaluation"))  # what the leaderboard says of the training


@pytest.mark.parametrize("number", range(1, len(lesson.STEPS) + 1))
def test_the_steps_of_the_lesson(marked, number):
    app = marked("inside", s=FILMS, step=str(number))
    for key in ("departures", "table-sums", "table-heads", "table-order", "table-learning"):
        app.session_state[key] = True
    check(app.run())


@pytest.mark.parametrize("section", ["attention", "mean", "blanks", "map"])
def test_the_sections_of_inside(marked, monkeypatch, section):
    monkeypatch.setattr(attention, "MAX_TOKENS", 8)
    monkeypatch.setattr(attention, "MIN_USERS", 5)
    app = marked("inside", s=FILMS, inside=section)
    for key in ("table-attention", "table-mean", "table-genres-0", "influence", "table-distance"):
        app.session_state[key] = True
    check(app.run())


def test_attention_as_a_heat_map_and_by_distance(marked):
    app = marked("inside", s=FILMS, inside="attention")
    app.get_by_key("attention_drawn").set_value("heat-map").run()
    next(button for button in app.button if button.key.startswith("average-")).click().run()
    app.session_state["table-distance"] = True
    check(app.run())


@pytest.mark.parametrize("colour", ["decade", "genre", "views"])
def test_the_map(marked, colour):
    app = marked("inside", s=FILMS, inside="map")
    check(app.get_by_key("map_colour").set_value(colour).run())


def test_the_ukrainian_catalogue_has_the_texts_of_the_app_and_no_others(monkeypatch):
    monkeypatch.setattr(paths, "ASSETS", paths.REPOSITORY / "assets")  # with the texts of shipped studies
    forms = [(entry.id,) if isinstance(entry.id, str) else entry.id for entry in i18n.read_catalog("uk") if entry.id]
    entries = {texts[0]: texts for texts in forms}
    in_code, in_data = texts_in_code(), texts_in_data()
    missing = {text for text in {*in_code, *in_data} - entries.keys() if needs_translation(text, entries.keys())}
    assert missing == set()
    assert entries.keys() - in_code.keys() - in_data == set()
    assert {
        text for text, forms in entries.items() if tuple(forms[1:]) != tuple(filter(None, [in_code.get(text)]))
    } == set()


@pytest.mark.parametrize("name", ["uk", "uk@item", "en@item"])
def test_a_translation_has_the_placeholders_of_its_text(name):
    entries = [entry for entry in i18n.read_catalog(name) if entry.id]
    assert len(entries) > 400
    assert [entry.id for entry in entries if not entry.pluralizable and fields(entry.id) != fields(entry.string)] == []
    plurals = [entry for entry in entries if entry.pluralizable]
    assert [entry.id for entry in plurals if not set().union(*map(fields, entry.string)) <= fields(entry.id[1])] == []


@pytest.mark.parametrize("name", ["uk@item", "en@item"])
def test_texts_about_items_replace_texts_of_the_app(name):
    assert {entry.id for entry in i18n.read_catalog(name)} <= {entry.id for entry in i18n.read_catalog("uk")}


def fields(text):
    """Return the placeholders of a text. A formula has none."""
    try:
        parts = string.Formatter().parse(text)
        return {f"{name}:{spec}!{conversion}" for _literal, name, spec, conversion in parts if name is not None}
    except ValueError:
        return set()


@pytest.mark.slow
@pytest.mark.parametrize("films", ["1", "1-2"])
def test_no_page_counts_one_of_many(visit, films):
    for page in (None, "compare", "inside", "library", "evaluation", "train"):
        text = said(visit(page, s=films))
        assert not re.search(r"(?<![\d.,–-])1 (films|items|people|recommenders|epochs)\b", text), page


ABOUT_FILMS = re.compile(r"\b(film|watch(?!ing\.)|viewer|movie(?!lens))", re.IGNORECASE)
OTHER_SETS = re.compile(r"MovieLens [^·]+· films [\d–]+|<style>.*</style>", re.DOTALL)
SHOP = "customer,product,time\n" + "".join(
    f"p{person},i{(person + step) % 30},{step}\n" for person in range(40) for step in range(8)
)
PAGES = {
    "watch": [{}, {"s": "1-2-3"}],
    "compare": [{"s": "1-2-3"}],
    "inside": [{"s": "1-2-3"}],
    "library": [{"library": section} for section in ("browse", "statistics", "together")],
    "evaluation": [{}],
    "train": [{}],
}


@pytest.mark.parametrize("page", PAGES)
def test_no_page_speaks_of_films_if_the_data_set_is_of_items(visit, page):
    data = own_data.add("shop", own_data.check(tables.parse("shop.csv", SHOP.encode())), "shop.csv")
    for name in ("popular", "markov", "item-knn"):
        predictor.load(name, data)
    for query in PAGES[page]:
        app = visit(None if page == "watch" else page, data="shop", **query)
        assert not app.exception
        assert [text for text in shown(app) if ABOUT_FILMS.search(OTHER_SETS.sub("", text))] == []


SAME = re.compile(r"\w+@\d+|mrr|rmse|mae|p|p_holm|" + "|".join(protocols.PROTOCOLS))  # metrics and ids of protocols


@pytest.mark.parametrize(("page", "link"), [("compare", {}), ("library", {"library": "statistics"})])
def test_headings_of_files_are_translated(marked, monkeypatch, page, link):
    headings = headings_of_files(monkeypatch)
    check(marked(page, s=FILMS, **link))
    assert headings
    assert english(headings) == []


def headings_of_files(monkeypatch):
    """Return a list to which the headings of every table are added that a page offers as a file."""
    headings = []
    monkeypatch.setattr(charts, "as_csv", lambda table: headings.extend(table.columns) or "")
    return headings


def english(headings):
    """Return the headings that are not translated."""
    return [name for name in headings if "⟦" not in name and not SAME.fullmatch(name)]


def test_a_page_and_a_section_of_another_page_have_different_names():
    pages = ("Watch next", "Compare", "Evaluation", "Inside the model", "Library", "Train")
    translate = i18n.translations("uk", "film").gettext
    sections = {translate(text) for text in url.EVALUATION_SECTIONS.values()}
    assert sections.isdisjoint(map(translate, pages))
