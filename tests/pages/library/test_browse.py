from dataclasses import replace

import pytest

from pages.library import browse, filters
from recsys.data.tags import Tags
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import films_in, said
from tests.pages.ui.test_url import query

FILMS = len(world.TITLES)


def shown(app):
    """The titles on the shelf."""
    return films_in(app, "shelf")


def button(app, film):
    return app.button(key=f"shelf-{film + 1}")


def opened(app):
    return open_part(app, filters.OPEN_KEY)


def test_all_films_are_there_a_page_at_a_time_those_left_out_last(visit):
    app = visit("library")
    assert f"{FILMS + 1} films" in said(app)
    first = shown(app)
    assert len(first) == browse.FILMS_PER_PAGE
    second = shown(app.get_by_key("browse_page").set_value(2).run())
    assert sorted([*first, *second]) == sorted(title[:-7] for title in [*world.TITLES, world.RARE])
    assert second[-1] == world.RARE[:-7]
    assert "fewer than 5 ratings" in said(app)
    assert query(app) == {"data": "ml-latest-sample", "shelf": "2"}


def test_a_card_says_how_many_people_watched_a_film_and_what_they_thought_of_it(visit, home):
    app = visit("library", find="fargo")
    n = int(world.build().counts[world.TITLES.index("Fargo (1996)")])
    assert f"{n} people, 4.0 stars" in app.container(key="shelf").html[0].value


def test_a_film_is_put_into_the_list_and_taken_out_again(visit):
    app = visit("library", s="1", sort="title")
    film = world.TITLES.index("Alien (1979)")
    button(app, film).click().run()
    assert app.session_state.visitor.current.films == (0, film)
    assert query(app)["s"] == f"1-{film + 1}"
    assert any("your 2 films" in link.proto.label for link in app.get("page_link"))
    button(app, film).click().run()
    assert app.session_state.visitor.current.films == (0,)


def test_a_search_and_the_order_find_films_and_what_is_not_there_is_said(visit):
    app = visit("library", s="1")
    assert shown(app.get_by_key("browse_order").set_value("title").run())[:2] == ["Aladdin", "Alien"]
    assert shown(app.text_input(key="browse_title").set_value("goodfelas").run()) == ["GoodFellas"]
    assert query(app) == {"data": "ml-latest-sample", "s": "1", "find": "goodfelas", "sort": "title"}
    app.text_input(key="browse_title").set_value("Oppenheimer").run()
    assert f"is not among the {FILMS + 1} films" in said(app)


def test_filters_narrow_the_films_and_are_reset_with_a_click(visit):
    app = opened(visit("library", shelf="2"))
    app.multiselect(key="in_genres").set_value(["Horror"]).run()
    horror = [title[:-7] for number, title in enumerate(world.TITLES) if number % 2]
    assert set(shown(app)) == set(horror)
    app.slider(key="in_years").set_value((1990, 1995)).run()
    years = {title[:-7]: int(title[-5:-1]) for title in world.TITLES}
    assert shown(app)
    assert all(1990 <= years[title] <= 1995 for title in shown(app))
    assert query(app) == {"data": "ml-latest-sample", "made": "1990-1995", "kinds": "Horror"}
    app.multiselect(key="in_genres").set_value(["Horror", "Comedy"]).run()
    app.button(key="library-reset").click().run()
    assert len(shown(app)) == browse.FILMS_PER_PAGE
    assert {"made", "kinds"} & set(query(app)) == set()


def test_a_link_restores_section_search_and_filters(visit):
    link = {"kinds": "Comedy", "made": "1970-1990", "fame": "hidden-gems", "sort": "oldest"}
    app = visit("library", **link)
    assert query(app) == {"data": "ml-latest-sample", **link}
    assert app.selectbox(key="browse_order").value == "oldest"
    assert opened(app).multiselect(key="in_genres").value == ["Comedy"]
    assert app.slider(key="in_years").value == (1970, 1990)


def test_filters_of_the_library_do_not_narrow_what_is_recommended(visit):
    app = visit("library", s="1", kinds="Horror")
    app.switch_page("1_watch_next.py").run()
    assert not app.session_state.filters.active_fields


def test_tags_are_offered_where_there_are_some_and_any_can_be_typed(visit):
    assert "in_tags" not in [widget.key for widget in opened(visit("library")).multiselect]
    tagged = world.build("ml-latest-small")
    given = Tags.from_rows([(4, "Space", 1), (4, "dark", 1), (18, "dark", 1)])
    world.save(replace(tagged, catalog=replace(tagged.catalog, tags=given)))
    app = opened(visit("library", data="ml-latest-small"))
    assert app.multiselect(key="in_tags").options == ["dark", "space"]
    app.multiselect(key="in_tags").set_value(["dark", "space"]).run()
    assert shown(app) == ["Alien"]
    assert query(app)["tags"] == "dark~space"
    assert shown(visit("library", data="ml-latest-small", tags="DARK")) == ["Alien", "Fargo"]


@pytest.mark.parametrize("page", ["7", "999999"])
def test_a_page_that_is_not_there_is_the_last_one(visit, page):
    assert world.RARE[:-7] in shown(visit("library", shelf=page))


def test_when_nothing_passes_the_page_says_so(visit):
    app = visit("library", made="1800-1801")
    assert shown(app) == []
    assert f"None of the {FILMS + 1} films" in said(app)
    assert f"Filters · {1}" in [block.proto.popover.label for block in app.get("popover")]


@pytest.mark.parametrize(
    "text", ["", "~", "-1", "0", "9" * 5000, "1800-1700", "~".join("ab" for _ in range(999)), "\x00"]
)
def test_odd_links_are_passed_over(visit, text):
    odd = dict.fromkeys(("library", "find", "sort", "shelf", "made", "kinds", "fame", "tags"), text)
    app = visit("library", **odd)
    assert not app.exception
    assert app.selectbox(key="browse_order").value == "most watched"
