from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pages.watch.filters import FILTER_LABELS
from recsys.data.dataset import Catalog
from recsys.serving import filters
from recsys.serving.filters import Filters
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import keys, picks, said, titles, watched

OF_1984 = next(number for number, title in enumerate(world.TITLES, 1) if "1984" in title)  # movie id


def opened(app):
    """The app with the filters in sight."""
    return open_part(app, "filters_open")


def choose(app, movie, option):
    """Choose an option of the menu of a recommended film."""
    next(menu for menu in app.get("menu_button") if menu.key == f"more-{movie}").click(option).run()
    assert not app.exception


def first_item(app):
    """The item of the first recommended film."""
    return world.TITLES.index(f"{picks(app)[0]} ({with_years(app)[0][1]})")


def filters_label(app):
    return next(block.proto.popover.label for block in app.get("popover") if "filters_open" in block.proto.popover.id)


def test_filters_are_made_only_when_they_are_opened(visit):
    app = visit(s="1-2-3")
    assert not app.slider
    assert len(opened(app).slider) == 2
    assert not app.exception


def test_genres_are_chosen_and_left_out_and_reset_with_a_click(visit):
    app = opened(visit(s="1-2-3"))
    everything = picks(app)
    app.multiselect(key="genres").set_value(["Horror"]).run()
    assert picks(app)
    assert all(world.TITLES.index(f"{film} ({year})") % 2 for film, year in with_years(app))
    app.multiselect(key="excluded_genres").set_value(["Horror"]).run()
    assert "Change one of these: Only these genres, None of these genres." in said(app)
    app.session_state.filters_open = False
    assert filters_label(app.run()) == "Filters · 2"  # not while it is open
    app.button(key="reset-here").click().run()
    assert picks(app) == everything
    assert opened(app).multiselect(key="genres").value == []


def with_years(app):
    years = {title[:-7]: title[-5:-1] for title in world.TITLES}
    return [(film, years[film]) for film in picks(app)]


def test_nothing_newer_than_the_last_film(visit):
    app = opened(visit(s=f"1-{OF_1984}", order="true"))
    app.toggle(key="released_by_last_film").set_value(True).run()
    assert picks(app)
    assert all(int(year) <= 1984 for _, year in with_years(app))


def test_favourites_in_no_order_have_no_filter_by_the_last_film(visit):
    app = opened(visit(s=f"1-{OF_1984}", older="true"))
    assert "released_by_last_film" not in [toggle.key for toggle in app.toggle]
    assert any(int(year) > 1984 for _, year in with_years(app))
    app.toggle(key="hide_seen").set_value(False).run()
    assert app.session_state.filters == Filters(released_by_last_film=True, hide_seen=False)
    app.toggle(key="in_watch_order").set_value(True).run()  # the filter keeps its value
    assert app.toggle(key="released_by_last_film").value
    assert all(int(year) <= 1984 for _, year in with_years(app))


def test_years_from_and_to(visit):
    app = opened(visit(s="1-2-3"))
    app.slider(key="years").set_value((1990, 1995)).run()
    assert {year for _, year in with_years(app)} <= {"1990", "1991", "1992", "1993", "1994", "1995"}
    app.slider(key="years").set_value((1940, 2000)).run()
    assert filters_label(app) == "Filters"


def test_every_filter_that_can_exclude_all_films_has_a_label():
    assert set(FILTER_LABELS) == set(Filters.__dataclass_fields__) - {"hide_seen", "diversity"}


def test_variety_reorders_the_films_but_for_the_first(visit):
    app = opened(visit(s="1-2-3"))
    before = picks(app)
    app.slider(key="diversity").set_value(1.0).run()
    assert picks(app)[0] == before[0]
    assert picks(app)[1] != before[1]  # the second is now the one least like the first by the model's own vectors


def test_how_well_known_a_film_is_can_be_chosen(visit):
    app = opened(visit(s="1-2-3"))
    app.select_slider(key="popularity").set_value("hidden gems").run()
    assert not app.exception
    assert app.session_state.filters == Filters(popularity="hidden gems")


def test_filters_last_over_a_change_of_page_and_of_data(visit):
    smaller = world.build("ml-latest-small", world.TITLES[:10], first_id=500)
    catalog = Catalog(
        smaller.catalog.movies.assign(year=pd.array([1950] * 10, dtype="Int64")), smaller.catalog.infrequent
    )
    world.save(replace(smaller, catalog=catalog))
    app = opened(visit(s="1-2-3"))
    app.multiselect(key="genres").set_value(["Horror"]).run()
    opened(app).slider(key="years").set_value((1990, 1999)).run()
    asked = app.session_state.filters
    app.switch_page("2_compare.py").run().switch_page("1_watch_next.py").run()
    assert app.session_state.filters == asked
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert "Change one of these: Released between." in said(app)
    assert not opened(app).exception  # although this set has no film of the years that are asked for


def test_when_no_single_filter_is_to_blame_the_page_says_so(visit):
    app = visit(s="1-2-3")
    app.session_state.filters = Filters(years=(1800, 1801), genres=("Western",))
    app.run()
    assert "No film matches your filters, and changing a single filter is not enough. Reset all filters." in said(app)


POPULAR = "6"  # movie id of the most popular film, see `by_popularity`
ALL_BUT_POPULAR = "-".join(str(film) for film in range(1, 31) if str(film) != POPULAR)


@pytest.fixture
def by_popularity(monkeypatch):
    """Makes one film the only well known one."""
    features = filters.film_features

    def with_popular_film(dataset):
        percentile = np.full(dataset.n_items, 0.5)
        percentile[int(POPULAR) - 1] = 0.0
        return replace(features(dataset), popularity_percentile=percentile)

    monkeypatch.setattr(filters, "film_features", with_popular_film)


@pytest.mark.parametrize(
    ("query", "causes", "label", "n_films"),
    [
        ({"from": "1-2"}, "Use a list", "Stop using the list", 10),  # both are watched
        ({"from": "31"}, "Use a list", "Stop using the list", 10),  # BERT4Rec has no film with too few ratings
        ({"from": POPULAR, "years": "2000-2000"}, "Released between, Use a list", "Reset filters", 1),
        ({"from": POPULAR, "kind": "gems"}, "Hidden gems, Use a list", "Stop using the list", 10),
        ({"not": ALL_BUT_POPULAR, "kind": "gems"}, "Hidden gems", "To your taste", 1),
        (
            {"from": POPULAR, "kind": "gems", "known": "hidden-gems"},
            "How well known, Use a list",
            "Stop using the list",
            10,
        ),
        ({"from": "1-2", "years": "1800-1801"}, None, "Reset all filters", 10),
        ({"from": "1-2", "years": "1800-1801", "kind": "gems"}, None, "Reset all filters", 10),
    ],
)
def test_the_offered_button_brings_films(visit, by_popularity, query, causes, label, n_films):
    app = visit(s="1-2-3", **query)
    assert not app.exception
    assert (
        f"Change one of these: {causes}."
        if causes
        else "No film matches your filters, and changing a single filter is not enough. Reset all filters."
    ) in said(app)
    assert app.button(key="reset-here").label == label
    app.button(key="reset-here").click().run()
    assert not app.exception
    assert len(picks(app)) == n_films


def test_a_film_that_is_not_for_me_leaves_and_can_be_taken_back(visit):
    app = visit(s="1-2-3")
    before, item = picks(app), first_item(app)
    choose(app, item + 1, "not_interested")
    assert before[0] not in picks(app)  # and films like it rank lower
    assert watched(app) == titles(0, 1, 2)
    open_part(app, "unwanted_open").button(key=f"back-{item}").click().run()
    assert picks(app) == before
    assert not [key for key in keys(app) if key.startswith("back-")]


def test_the_filter_by_original_language_is_in_the_url(visit, monkeypatch):
    monkeypatch.setattr("recsys.serving.filters.original_languages", lambda name: {5: "fr", 6: "fr", 7: "ko"})
    app = visit(s="1-2-3", spoken="fr")
    assert {*picks(app)} == {*titles(4, 5)}
    menu = open_part(app, "filters_open").multiselect(key="languages")
    assert menu.value == ["fr"]
    assert menu.options == ["English or unknown", "French", "Korean"]
    menu.set_value(["ko"]).run()
    assert picks(app) == titles(6)
    assert app.query_params["spoken"] in ("ko", ["ko"])


def test_a_film_that_was_seen_is_excluded_and_the_list_of_watched_films_stays(visit):
    app = visit(s="1-2-3")
    before, item = picks(app), first_item(app)
    choose(app, item + 1, "watched_before")
    assert picks(app)[:9] == before[1:]
    assert watched(app) == titles(0, 1, 2)
    assert str(item + 1) in app.query_params["seen"]
    open_part(app, "seen_open").button(key=f"back-{item}").click().run()
    assert picks(app) == before
    assert "seen" not in app.query_params


def test_a_film_to_watch_later_stays_in_the_list_and_is_exported(visit):
    app = visit(s="1-2-3")
    before, item = picks(app), first_item(app)
    choose(app, item + 1, "later")
    assert picks(app) == before
    assert app.session_state.visitor.current.later == (item,)
    open_part(app, "share")
    assert "Watch later, CSV" in [file.label for file in app.get("download_button")]
    choose(app, item + 1, "later")  # again: removes it
    assert app.session_state.visitor.current.later == ()


def test_a_film_to_watch_later_can_be_added_as_watched(visit):
    app = visit(s="1-2-3", later="5")
    open_part(app, "later_open").button(key="watched-4").click().run()
    assert watched(app) == titles(0, 1, 2, 4)
    assert app.session_state.visitor.current.later == ()


def test_a_film_has_one_mark(visit):
    app = visit(s="1-2-3", later="5", seen="6")
    assert app.session_state.visitor.current.later == (4,)
    choose(app, 5, "not_interested")
    current = app.session_state.visitor.current
    assert (current.later, current.watched_before, current.not_interested) == ((), (5,), (4,))
    app.button(key="undo").click().run()
    assert app.session_state.visitor.current.later == (4,)


def test_undo_covers_both_kinds_of_steps_in_order(visit):
    app = visit(s="1-2-3")
    before = picks(app)
    choose(app, 5, "not_interested")
    app.button(key="remove-2").click().run()
    app.button(key="undo").click().run()
    assert (watched(app), app.session_state.visitor.current.not_interested) == (titles(0, 1, 2), (4,))
    app.button(key="undo").click().run()
    assert picks(app) == before
    assert app.button(key="undo").disabled


def test_unwanted_films_go_along_to_another_data_set(visit):
    world.save(world.build("ml-latest-small", first_id=500))
    app = visit(s="1-2-3")
    choose(app, 5, "not_interested")
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert app.session_state.visitor.current.not_interested == (4,)
    assert world.TITLES[4][:-7] not in picks(app)


def test_a_real_viewer_replaces_the_list_and_undo_brings_it_back(visit):
    app = visit(s="1-2-3")
    state = app.session_state.visitor
    state.rng = np.random.default_rng(8)
    open_part(app, "surprise-open")
    app.button(key="surprise").click().run()
    first = watched(app)
    assert len(first) == 12
    assert "A real person" in said(app)
    app.button(key="surprise").click().run()
    assert watched(app) != first
    state.rng = np.random.default_rng(8)
    app.button(key="surprise").click().run()
    assert watched(app) == first  # the same seed and turn: the same person
    for _ in range(3):
        app.button(key="undo").click().run()
    assert watched(app) == titles(0, 1, 2)
    assert "A real person" not in said(app)


def test_files_are_made_when_the_share_panel_is_opened(visit):
    app = visit(s="1-2-3")
    assert not app.get("download_button")
    open_part(app, "share")
    assert not app.exception
    assert [file.label for file in app.get("download_button")] == [
        "Save the picture",
        "Your films, CSV",
        "Predictions, CSV",
        "All, JSON",
        "For Letterboxd",
    ]
    assert "?data=ml-latest-sample&s=1-2-3" in app.code[0].value


@pytest.mark.parametrize("view", ["cards", "list"])
def test_films_are_linked_where_their_ids_are_known(visit, home, view):
    known = world.build("ml-latest-small")
    movies = known.catalog.movies.assign(imdb_id="tt0114709", tmdb_id=pd.array([862] * 30, dtype="Int64"))
    world.save(replace(known, catalog=Catalog(movies, known.catalog.infrequent)))
    app = visit(data="ml-latest-small", s="1-2-3")
    app.button_group(key="view").set_value(view).run()
    html = app.container(key="picks").html[0].value
    assert 'href="https://www.imdb.com/title/tt0114709/" target="_blank" rel="noopener" aria-label="' in html
    assert "on TMDB, in a new tab" in html


def test_years_are_kept_in_a_data_set_of_a_single_year(visit):
    titles_of_1984 = [f"{title[:-6]}(1984)" for title in world.TITLES]
    world.save(world.build("ml-latest-small", titles_of_1984))
    app = opened(visit(data="ml-latest-small", years="1980-1990"))
    assert not [slider for slider in app.slider if slider.key == "years"]
    app.toggle(key="hide_seen").set_value(False).run()
    assert app.session_state.filters.years == (1980, 1990)
