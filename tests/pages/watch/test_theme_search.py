import pytest

from pages.ui import cache, i18n
from pages.watch.theme_search import MISSING_TEXTS, Missing
from recsys import paths
from recsys.data import film_tables
from recsys.data.download import DownloadError
from recsys.serving import themes
from recsys.text import encoder
from recsys.text.films import film_vectors
from tests.models.conftest import words_as_vectors
from tests.pages import world
from tests.pages.panel import films, opened
from tests.pages.reading import said


@pytest.fixture
def theme(home, monkeypatch):
    """Opens the search by theme; the encoder is `words_as_vectors`, unless `has` says what is missing."""

    def open_search(has=("vectors", "encoder"), s="1"):
        if "vectors" in has:
            film_vectors("ml-latest-sample", cache.dataset("ml-latest-sample").catalog)
        monkeypatch.setattr(encoder, "load", encoder_loader("encoder" in has))
        return opened("watch.theme_search", "theme-open", s=s)

    return open_search


def encoder_loader(here):
    def load(report, fetch=True):
        if not (here or fetch):
            raise DownloadError("the sentence encoder is not on this machine; fetch it first")
        return words_as_vectors

    return load


def near(app):
    return [button for button in app.button if button.key.startswith("near-")]


def test_films_are_found_by_theme_and_added_by_a_click(theme):
    app = theme()
    app.text_input(key="theme").set_value("Horror").run()
    assert not app.exception
    assert len(near(app)) == 8
    assert all("Horror" in button.label for button in near(app) if not button.disabled)
    first = next(button for button in near(app) if not button.disabled)
    first.click().run()
    assert films(app) == f"0 {int(first.key.removeprefix('near-')) - 1}"
    assert app.text_input(key="theme").value == "Horror"


def test_a_theme_is_found_by_its_name_in_the_language_of_the_visitor(theme, monkeypatch):
    for module in (themes, film_tables):
        monkeypatch.setattr(module, "themes", lambda dataset: {5: ("time loop",)})
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    app = theme(has=["encoder"])
    for text in ("time loop", "часова петля"):
        app.text_input(key="theme").set_value(text).run()
        assert [button.key for button in near(app)] == ["near-5"]
        assert "часова петля" in near(app)[0].label


def test_a_film_of_the_list_is_not_offered_twice(theme):
    app = theme(s="2")
    app.text_input(key="theme").set_value(f"{world.TITLES[1]}. Horror").run()
    assert near(app)[0].disabled
    assert "already in your list" in near(app)[0].label


def test_a_set_without_sentence_vectors_is_searched_by_words_and_says_what_to_type(theme):
    app = theme(has=["encoder"])
    assert MISSING_TEXTS[Missing.VECTORS] in said(app)
    assert app.code[0].value.endswith("-m recsys train content-sentence --dataset ml-latest-sample")
    app.text_input(key="theme").set_value("some horror").run()
    assert "Horror" in near(app)[0].label
    app.text_input(key="theme").set_value("zzzz").run()
    assert "No tag, genre or title contains any of these words." in said(app)


def test_sentence_vectors_that_are_made_meanwhile_are_used(theme):
    app = theme(has=["encoder"])
    film_vectors("ml-latest-sample", cache.dataset("ml-latest-sample").catalog)
    assert MISSING_TEXTS[Missing.VECTORS] not in said(app.run())


def test_a_missing_encoder_is_fetched_when_asked_for(theme, monkeypatch):
    app = theme(has=["vectors"])
    assert MISSING_TEXTS[Missing.ENCODER] in said(app)
    monkeypatch.setattr(encoder, "load", encoder_loader(here=True))
    paths.encoder().mkdir(parents=True)
    app.button(key="theme-fetch").click().run()
    assert MISSING_TEXTS[Missing.ENCODER] not in said(app)


def test_visitors_of_a_public_server_fetch_no_encoder(theme, monkeypatch):
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = theme(has=["vectors"])
    assert MISSING_TEXTS[Missing.ENCODER] in said(app)
    assert "theme-fetch" not in [button.key for button in app.button]
    assert app.code[0].value.endswith("-m recsys prepare ml-latest-sample")


def test_a_failed_download_is_a_sentence(theme, monkeypatch):
    app = theme(has=["vectors"])

    def fail(report, fetch=True):
        report({"stage": "download", "done": 1, "total": 2})
        raise DownloadError("there is no network; connect and try again")

    monkeypatch.setattr(encoder, "load", fail)
    app.button(key="theme-fetch").click().run()
    assert not app.exception
    assert "There is no network; connect and try again." in said(app)


def test_a_film_that_was_found_can_be_kept_for_later_and_taken_off_again(theme):
    app = theme()
    app.text_input(key="theme").set_value("Horror").run()
    key = next(button.key for button in app.button if button.key.startswith("later-"))
    item = int(key.removeprefix("later-")) - 1
    assert "Watch later" in app.button(key=key).label
    app.button(key=key).click().run()
    assert not app.exception
    assert app.session_state.visitor.current.later == (item,)
    assert films(app) == "0"  # it was not watched
    assert "Remove from “Watch later”" in app.button(key=key).label
    app.button(key=key).click().run()
    assert app.session_state.visitor.current.later == ()
