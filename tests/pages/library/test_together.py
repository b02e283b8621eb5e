import pytest

from pages.library import other_person, together
from pages.ui import cache, format, session
from recsys.serving import group, history
from recsys.serving.recommend import Request
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import films_in, keys, picks, said, titles
from tests.pages.ui.test_url import query

LINK = {"library": "together", "with": "ml-latest-sample.8-9-10"}


def offered(app):
    """The titles of the films for both."""
    return films_in(app, "together")


def test_two_with_the_same_films_are_offered_what_one_alone_is(visit):
    alone = picks(visit(s="8-9-10"))
    assert offered(visit("library", s="8-9-10", **LINK)) == alone


def test_each_film_says_how_much_each_of_the_two_wants_it(visit):
    app = visit("library", s="1-2-3", **LINK)
    data = world.build()
    predictor = cache.load_predictor("bert4rec", "ml-latest-sample")
    found = group.recommend_for_two((predictor, predictor), (Request((0, 1, 2)), Request((7, 8, 9))), 10)
    assert offered(app) == [data.catalog.films[one.item].title for one in found]
    first = app.container(key="together").html[0].value
    for who, standing in zip(("You", "Other person"), found[0].positions, strict=True):
        assert f">{who}</span>" in first
        assert f"{format.ordinal(standing.rank)}, {format.precise_percent(standing.probability)}" in first
    assert not {*titles(0, 1, 2, 7, 8, 9)} & {*offered(app)}


def test_the_rule_can_be_changed_and_a_link_keeps_it(visit):
    app = visit("library", s="1-2-3", **LINK)
    assert "(least misery, Masthoff 2011)" in said(app)
    app.get_by_key("together_rule").set_value("average").run()
    assert "both bars together" in said(app)
    assert query(app) == {"data": "ml-latest-sample", "s": "1-2-3", "rule": "average", **LINK}
    assert "both bars together" in said(visit("library", s="1-2-3", rule="average", **LINK))


def test_filters_of_the_library_hold_for_both(visit):
    app = visit("library", s="1-2-3", kinds="Horror", **LINK)
    horror = {title[:-7] for number, title in enumerate(world.TITLES) if number % 2}
    assert offered(app)
    assert set(offered(app)) <= horror


@pytest.mark.parametrize("yours", [False, True])
@pytest.mark.parametrize("theirs", [False, True])
def test_each_list_is_read_as_a_history_or_as_favourites(visit, monkeypatch, yours, theirs):
    asked = []
    monkeypatch.setattr(session, "for_unordered_list", lambda predictor: ("favourites", predictor))
    monkeypatch.setattr(other_person, "for_unordered_list", lambda predictor: ("favourites", predictor))
    monkeypatch.setattr(together, "show_films", lambda predictors, *_arguments: asked.append(predictors))
    orders = {"order": str(yours).lower(), "with-order": str(theirs).lower()}
    app = visit("library", s="1-2-3", **LINK, **orders)
    assert not app.exception
    assert [not isinstance(each, tuple) for each in asked[-1]] == [yours, theirs]


def test_the_films_of_a_user_and_of_a_link_can_be_a_history(visit):
    app = visit("library", s="1-2", library="together", **{"with": "ml-latest-sample.8-9-10"})
    assert not app.toggle(key="other_in_watch_order").value
    app.toggle(key="other_in_watch_order").set_value(True).run()
    assert query(app)["with-order"] == "true"
    app.multiselect(key="other_films").set_value([]).run()
    assert "with-order" not in query(app)
    app.button(key="other-random").click().run()
    assert app.toggle(key="other_in_watch_order").value
    open_part(app, other_person.LINK_POPOVER_KEY)
    link = "http://localhost:8501/?data=ml-latest-sample&s=4-5"
    app.text_input(key="other_link").set_value(link).run()
    assert not app.toggle(key="other_in_watch_order").value
    app.text_input(key="other_link").set_value(f"{link}&order=true#top").run()
    assert app.toggle(key="other_in_watch_order").value
    assert query(app)["with-order"] == "true"
    app.switch_page("1_watch_next.py").run().switch_page("5_library.py").run()
    assert app.toggle(key="other_in_watch_order").value


def test_a_content_recommender_also_has_films_with_too_few_ratings(visit):
    app = visit("library", s="1-2-3", model="content-fields", **LINK)
    assert not app.exception
    assert len(offered(app)) == 10


def test_advice_without_films_for_both_depends_on_the_filters(visit):
    remove_filter = "No film is left for both of you. Remove a filter."
    remove_film = "No film is left for both of you. Remove a film from one of the lists."
    assert remove_filter in said(visit("library", s="1-2-3", made="1800-1801", **LINK))
    half, other_half = ("-".join(map(str, ids)) for ids in (range(1, 16), range(16, 31)))
    both = {"library": "together", "with": f"ml-latest-sample.{other_half}"}
    assert remove_film in said(visit("library", s=half, **both))
    assert remove_film in said(visit("library", s=half, made="1800-1801", **both))


def test_without_one_of_the_lists_the_page_asks_for_it(visit):
    assert "Two lists are needed" in said(visit("library", s="1-2", library="together"))
    assert "Two lists are needed" in said(visit("library", **LINK))


def test_their_films_are_searched_for_and_taken_out_again(visit):
    app = visit("library", s="1-2", library="together")
    app.text_input(key="other_search").set_value("aladdin").run()
    app.button(key=f"other-{world.TITLES.index('Aladdin (1992)') + 1}").click().run()
    assert query(app)["with"] == "ml-latest-sample.8"
    app.text_input(key="other_search").set_value("fargo").run()
    fargo = world.TITLES.index("Fargo (1996)")
    app.button(key=f"other-{fargo + 1}").click().run()
    assert query(app)["with"] == f"ml-latest-sample.8-{fargo + 1}"
    app.multiselect(key="other_films").set_value([fargo]).run()
    assert query(app)["with"] == f"ml-latest-sample.{fargo + 1}"


def test_they_can_be_a_real_person_at_random_or_by_number(visit):
    data = world.build()
    app = visit("library", s="1-2", library="together")
    app.button(key="other-random").click().run()
    assert offered(app)
    open_part(app, "other_person-open")
    app.number_input(key="other_person").set_value(7).run()
    app.button(key="take-other_person").click().run()
    assert app.session_state.other == group.format_list(
        data.name, [data.catalog.films[item].movie_id for item in history.user_history(data, 6).items]
    )


def test_a_link_is_pasted_and_what_is_none_is_said(visit):
    app = visit("library", s="1-2", library="together")
    open_part(app, other_person.LINK_POPOVER_KEY)
    app.text_input(key="other_link").set_value("I have seen Heat").run()
    assert app.warning
    app.text_input(key="other_link").set_value("http://localhost:8501/?data=ml-latest-sample&s=4-5").run()
    assert not app.warning
    assert query(app)["with"] == "ml-latest-sample.4-5"
    assert offered(app)


def test_their_films_of_another_set_are_found_by_title(visit):
    world.save(world.build("ml-latest-small", world.TITLES[:20], first_id=500))
    app = visit("library", s="1-2", library="together", **{"with": "ml-latest-small.507-508"})
    assert app.multiselect(key="other_films").value == [7, 8]
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert app.multiselect(key="other_films").value == [7, 8]
    app = visit("library", data="ml-latest-small", library="together", **{"with": "ml-latest-sample.8-25-30"})
    assert app.multiselect(key="other_films").value == [7]
    assert "2 of their 3 films are not in" in said(app)
    world.save(world.build("my.films", world.TITLES[:20], first_id=500))
    app = visit("library", s="1-2", library="together", **{"with": "my.films.507-508"})
    assert app.multiselect(key="other_films").value == [7, 8]
    missing = visit("library", s="1-2", library="together", **{"with": "ml-20m.1"})
    assert "are from MovieLens 20M, which is not on this computer" in said(missing)


def test_a_film_for_both_is_put_into_the_list(visit):
    app = visit("library", s="1-2-3", **LINK)
    first = offered(app)[0]
    key = next(key for key in keys(app) if key and key.startswith("together-"))
    app.button(key=key).click().run()
    assert app.session_state.visitor.current.films[-1] == int(key.removeprefix("together-")) - 1
    assert first not in offered(app)


@pytest.mark.parametrize(
    "text", ["", ".", "ml-1m.", "../x.1", "ml-1m.1-", "ml-1m." + "-".join("1" * 500), "\x00.1", "a.b.1"]
)
def test_odd_lists_in_a_link_are_passed_over(visit, text):
    app = visit("library", s="1", library="together", **{"with": text}, rule=text)
    assert not app.exception
    assert "Two lists are needed" in said(app)
