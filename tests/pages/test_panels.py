"""The parts of Watch next that open on demand, each on a small page of its own."""

import json
import re
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from pages import _explain as explaining
from pages import _posters as posters
from pages import _shared as shared
from pages import _themes as themes
from pages import _what_if as what_if
from pages import _words as words
from recsys.data.download import DownloadError
from recsys.data.schema import Film
from recsys.models import _encoder, _text
from recsys.serving.explain import Explanation, Influence, Standing
from recsys.serving.tmdb import Posters
from recsys.serving.what_if import Place, Shift, Turn
from tests.data import server as servers
from tests.models.conftest import words_as_vectors
from tests.pages import world

SCRIPT = "<script>alert('1')</script> & \"Co\""
PANELS = {"what-if": "_what_if", "plan": "_plan", "theme-open": "_themes"}


def script(part, variant, item):
    import importlib

    import streamlit as st

    from pages import _sequence as sequence
    from pages import _shared as shared

    sequence.seed()
    dataset = shared.dataset("ml-100k")
    films = sequence.films(dataset)
    chosen = next(one for one in shared.variants() if one.name == variant)
    model = shared.model(chosen, dataset.name)
    module = importlib.import_module(f"pages.{part}")
    st.text(" ".join(map(str, films)))
    if part == "_explain":
        module.body(dataset, chosen, model, films, item)
    elif part == "_themes":
        module.search(dataset.name)
    else:
        module.panel(dataset, chosen, model, films)


@pytest.fixture
def show(home):
    """Opens one part for the films of a link, as `show("plan", s="1-2")`."""
    for cached in (explaining.explained, what_if.compared):
        cached.clear()

    def open_part(part, s="", variant="bert4rec", item=3):
        kwargs = {"part": PANELS.get(part, part), "variant": variant, "item": item}
        app = AppTest.from_function(script, kwargs=kwargs, default_timeout=60)
        app.query_params["s"] = s
        if part in PANELS:
            app.session_state[part] = True  # opened
        return app.run()

    return open_part


def said(app):
    texts = [element.value for kind in ("markdown", "caption", "info", "warning") for element in app.get(kind)]
    return " ".join(texts).replace("\\", "")


def films(app):
    return app.text[0].value


def titles(html):
    return [unescape(title) for title in re.findall(r"<b>(.*?)</b>", html)]


# Why


def test_the_film_watched_just_before_is_named_as_the_reason(show):
    app = show("_explain", s="1-2-3", item=3, variant="markov")  # everybody watches the fourth film after the third
    assert not app.exception
    assert f"Mostly because you watched {world.TITLES[2]}" in said(app)
    assert titles(app.html[0].value)[0] == world.TITLES[2]
    assert "place 1 of" in said(app)


def test_an_only_film_is_compared_with_a_newcomer_and_an_empty_list_says_so(show):
    assert words.WHY_ALONE.format(model="BERT4Rec") in said(show("_explain", s="3", item=3))
    app = show("_explain", item=3)
    assert words.WHY_NEWCOMER.format(model="BERT4Rec") in said(app)
    assert not app.html


def test_a_recommender_that_does_not_look_at_the_films_says_so(show):
    app = show("_explain", s="1-2-3", variant="popular")
    assert words.WHY_UNMOVED.format(model="Most popular") in said(app)
    assert not app.html


def influence(item, effect, rank=2, probability=0.012):
    return Influence(item, item, effect, Standing(-1.0, probability, rank))


def explanation(*influences, watched=None):
    return Explanation(9, Standing(0.0, 0.1, 1), influences, watched or len(influences))


def test_the_reason_names_at_most_two_films_and_the_one_in_the_way():
    found = explanation(influence(0, 2.0), influence(1, 1.0), influence(2, -0.5), influence(3, 0.2))
    assert explaining.because(found, list("ABCD"), "M") == (
        "Mostly because you watched A, then B. Without C it would stand higher."
    )
    assert explaining.because(explanation(influence(0, 1.0)), ["A"], "M") == "Mostly because you watched A."
    assert explaining.because(explanation(influence(0, -1.0)), ["A"], "M") == words.WHY_DESPITE.format(one="A")


def test_bars_share_one_scale_and_words_say_what_they_mean():
    html = explaining.bars(explanation(influence(0, 2.0), influence(1, -1.0, None)), [SCRIPT, "B"])
    assert 'class="nr-up" style="width:66.7%"' in html
    assert 'class="nr-down" style="width:33.3%"' in html
    assert "--nr-zero:33.3%" in html
    assert "lifts it: 1.2% without it" in html
    assert "holds it back: ruled out without it" in html
    assert "<script" not in html


def test_a_long_list_shows_eight_bars_and_says_how_many_films_were_weighed():
    found = explanation(*[influence(item, 1.0) for item in range(50)], watched=120)
    assert explaining.bars(found, [str(item) for item in range(50)]).count("<li") == 8
    assert words.WHY_NEWEST.format(n=50) in explaining.notes(found, "M")
    assert words.WHY_REST.format(n=42) in explaining.notes(found, "M")


def test_links_are_made_of_ids_only(home):
    dataset = world.build()
    assert explaining.links(dataset, 0) == []
    dataset.catalog.movies.loc[0, ["imdb_id", "tmdb_id"]] = ["tt0114709", 862]
    dataset.catalog.movies.loc[1, "imdb_id"] = 'tt1" onclick="alert(1)'
    imdb, tmdb = explaining.links(dataset, 0)
    assert 'href="https://www.imdb.com/title/tt0114709/"' in imdb
    assert 'href="https://www.themoviedb.org/movie/862"' in tmdb
    assert 'rel="noopener' in imdb
    assert explaining.links(dataset, 1) == []


# What if


def test_a_closed_panel_computes_nothing(show, monkeypatch):
    monkeypatch.setattr(what_if, "shifts", None)  # would fail if it were called
    app = AppTest.from_function(script, kwargs={"part": "_what_if", "variant": "bert4rec", "item": 0}).run()
    assert not app.exception
    assert not app.html


def test_dropping_the_latest_film_shows_what_would_change_and_the_list_stays(show):
    app = show("what-if", s="1-2-3")
    assert not app.exception
    assert films(app) == "0 1 2"
    assert world.TITLES[2] in titles(app.html[0].value)  # not watched then, so it comes back as the next
    assert "came in" in said(app)


def test_a_film_is_moved_and_the_change_made_real(show):
    app = show("what-if", s="1-2-3")
    app.get("button_group")[0].set_value(words.MOVED).run()
    app.number_input[0].set_value(1).run()
    assert films(app) == "0 1 2"
    app.button(key="what-if-apply").click().run()
    assert not app.exception
    assert films(app) == "2 0 1"


def test_the_same_place_is_no_change(show):
    app = show("what-if", s="1-2-3")
    app.get("button_group")[0].set_value(words.MOVED).run()
    app.number_input[0].set_value(3).run()
    assert words.THERE_ALREADY.format(place=3) in said(app)


def test_an_only_film_can_be_dropped_and_an_empty_list_says_what_to_do(show):
    app = show("what-if", s="1")
    app.button(key="what-if-apply").click().run()
    assert not app.exception
    assert films(app) == ""
    assert words.WHAT_IF_EMPTY in said(app)


def test_a_recommender_that_does_not_mind_says_so(show):
    app = show("what-if", s="1-2-3", variant="popular")
    app.get("button_group")[0].set_value(words.MOVED).run()
    assert words.UNCHANGED.format(k=10, model="Most popular") in said(app)


def test_shifts_are_told_in_words_and_counted():
    found = [
        Shift(0, Place(7, 0.01), Place(1, 0.2), Turn.ROSE),
        Shift(1, Place(None, 0.3), Place(2, 0.1), Turn.ENTERED),
        Shift(2, Place(2, 0.1), Place(40, 0.001), Turn.LEFT),
    ]
    assert what_if.summary(found, 2, "M") == "1 came in, 1 rose, 1 dropped out."
    html = what_if.table(found, [Film(item, SCRIPT, 1999, "") for item in range(3)])
    assert "rose from 7 to 1" in html
    assert "came in at 2, as it can now be recommended" in html
    assert "dropped out, from 2 to 40" in html
    assert "1.0% → 20.0%" in html
    assert "<script" not in html


# An evening


def evening(app):
    return [titles(html.value)[0] for html in app.container(key="evening").html]


def test_an_evening_continues_the_list_and_all_of_it_can_be_added(show):
    app = show("plan", s="1-2-3", variant="markov")  # everybody watches the fourth film after the third
    assert not app.exception
    planned = evening(app)
    assert len(set(planned)) == 5
    assert not {*planned} & {title[:-7] for title in world.TITLES[:3]}
    assert planned[0] == world.TITLES[3][:-7]
    app.button(key="plan-add").click().run()
    assert films(app).startswith("0 1 2 3")
    assert len(films(app).split()) == 8


def test_a_film_that_is_turned_down_is_replaced_and_what_stood_before_it_stays(show):
    app = show("plan", s="1-2-3")
    before = evening(app)
    third = next(button for button in app.button if before[2] in button.label.replace("\\", ""))
    third.click().run()
    after = evening(app)
    assert after[:2] == before[:2]
    assert before[2] not in after
    assert len(after) == 5
    app.button(key="plan-afresh").click().run()
    assert evening(app) == before


def test_when_films_run_out_the_evening_says_so(show):
    app = show("plan", s="-".join(str(film + 1) for film in range(28)))
    assert words.PLAN_SHORT.format(n=2) in said(app)
    app = show("plan", s="-".join(str(film + 1) for film in range(30)))
    assert words.PLAN_EMPTY in said(app)
    assert app.button(key="plan-add").disabled


def test_a_recommender_without_probabilities_plans_by_rank(show):
    app = show("plan", s="1-2", variant="popular")
    assert words.PLAN_BY_RANK.format(model="Most popular") in said(app)
    assert len(evening(app)) == 5


# Themes


@pytest.fixture
def theme(show, monkeypatch):
    """Opens the search by theme; the encoder is `words_as_vectors`, unless `has` says what is missing."""

    def open_search(has=("vectors", "encoder"), s="1"):
        themes.index.clear()
        if "vectors" in has:
            _text.film_vectors("ml-100k", shared.dataset("ml-100k").catalog)
        monkeypatch.setattr(_encoder, "load", encoder_loader("encoder" in has))
        return show("theme-open", s=s)

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


def test_a_film_of_the_list_is_not_offered_twice(theme):
    app = theme(s="2")
    app.text_input(key="theme").set_value(f"{world.TITLES[1]}. Horror").run()
    assert near(app)[0].disabled
    assert words.ALREADY in near(app)[0].label


def test_a_set_without_sentence_vectors_is_searched_by_words_and_says_what_to_type(theme):
    app = theme(has=["encoder"])
    assert words.THEME_LACKING["vectors"] in said(app)
    assert app.code[0].value == "python -m recsys train content-sentence --dataset ml-100k"
    app.text_input(key="theme").set_value("some horror").run()
    assert "Horror" in near(app)[0].label
    app.text_input(key="theme").set_value("zzzz").run()
    assert words.THEME_NONE in said(app)


def test_a_missing_encoder_is_fetched_when_asked_for(theme, monkeypatch):
    app = theme(has=["vectors"])
    assert words.THEME_LACKING["encoder"] in said(app)
    monkeypatch.setattr(_encoder, "load", encoder_loader(here=True))
    app.button(key="theme-fetch").click().run()
    assert words.THEME_LACKING["encoder"] not in said(app)


def test_a_failed_download_is_a_sentence(theme, monkeypatch):
    app = theme(has=["vectors"])

    def fail(report, fetch=True):
        report({"stage": "download", "done": 1, "total": 2})
        raise DownloadError("no network; connect and try again")

    monkeypatch.setattr(_encoder, "load", fail)
    app.button(key="theme-fetch").click().run()
    assert not app.exception
    assert "No network; connect and try again." in said(app)


# Posters

POSTER_KEY = "0123456789abcdef0123456789abcdef"


def poster_page():
    import streamlit as st

    from pages import _posters as posters
    from pages import _shared as shared

    dataset = shared.dataset("ml-100k")
    posters.settings()
    st.json(posters.addresses(dataset, [0, 1]))


@pytest.fixture
def tmdb(home, monkeypatch):
    """A TMDB on this machine that knows one film, and no key in the environment."""
    for name in ("TMDB_TOKEN", "TMDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    title, year = world.TITLES[0][:-7], world.TITLES[0][-5:-1]
    hit = {"title": title, "release_date": f"{year}-01-01", "poster_path": "/p.jpg"}
    with servers.serving(json.dumps({"results": [hit], "total_pages": 1}).encode()) as server:
        service = Posters(server.address.removesuffix("/file.zip"), "https://images", patience=2)
        monkeypatch.setattr(posters, "service", lambda: service)
        yield server


def settings():
    app = AppTest.from_function(poster_page)
    app.session_state["posters"] = True  # opened
    return app.run()


def test_without_a_key_there_are_no_posters_and_nothing_is_asked(tmdb):
    app = settings()
    assert not app.exception
    assert app.json[0].value == "{}"
    assert words.ATTRIBUTION in said(app)
    assert tmdb.asked == []


def test_a_key_that_is_typed_brings_posters_and_is_in_no_field_and_no_address(tmdb):
    app = settings()
    app.text_input(key="typed_poster_key").set_value(POSTER_KEY).run()
    assert json.loads(app.json[0].value) == {"0": "https://images/p.jpg"}
    assert app.success[0].value == words.POSTER_ON
    assert not app.text_input
    assert not app.query_params
    app.button(key="poster-forget").click().run()
    assert app.json[0].value == "{}"
    assert app.text_input(key="typed_poster_key").value == ""


def test_a_key_that_tmdb_refuses_says_so(tmdb):
    tmdb.tricks = [servers.status(401)]
    app = settings()
    app.text_input(key="typed_poster_key").set_value(POSTER_KEY).run()
    assert words.POSTER_REFUSED in said(app)
    assert app.json[0].value == "{}"
    assert len(tmdb.asked) == 1


def test_text_that_is_no_key_says_so_and_is_not_sent(tmdb):
    app = settings()
    app.text_input(key="typed_poster_key").set_value("my password").run()
    assert words.POSTER_STRANGE in said(app)
    assert tmdb.asked == []


def test_a_service_that_fails_says_that_cards_stand_in(tmdb):
    tmdb.tricks = [servers.status(500)] * 50
    app = settings()
    app.text_input(key="typed_poster_key").set_value(POSTER_KEY).run()
    app.run()
    app.run()
    assert not app.exception
    assert words.POSTER_SLOW in said(app)
    assert app.json[0].value == "{}"


def test_the_key_of_the_machine_is_used_and_cannot_be_forgotten_by_a_visitor(tmdb, monkeypatch):
    monkeypatch.setenv("TMDB_API_KEY", POSTER_KEY)
    app = settings()
    app.run()
    assert json.loads(app.json[0].value) == {"0": "https://images/p.jpg"}
    assert app.success[0].value == words.POSTER_FROM_HOST
    assert not app.button
