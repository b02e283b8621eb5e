import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import cache, film_search
from recsys.data import datasets, film_details
from recsys.data.dataset import DataError
from tests.pages import world
from tests.pages.reading import said


def script():
    import streamlit as st

    from pages.ui import film_search

    st.session_state.setdefault("taken", [])

    def offer(film):
        film_search.film_button(
            film, f"found-{film.movie_id}", "add", st.session_state.taken.append, (film.title,), "", "a note"
        )

    film_search.search_box("ml-latest-sample", "Add *a film*", "box", offer, 8, on_enter=lambda film: None)


@pytest.fixture
def box(home):
    """Types into a search box on a page of its own."""

    def typed(text):
        app = AppTest.from_function(script, default_timeout=60).run()
        return app.text_input(key="box").set_value(text).run()

    return typed


def test_the_box_names_the_set_its_films_and_their_years(box):
    years = cache.title_index("ml-latest-sample").years
    assert box("").text_input(key="box").placeholder == f"Search 31 films, {years[0]}–{years[1]}"
    assert box("").text_input(key="box").label.endswith(":small[:gray[· MovieLens latest \\(sample\\)]]")


def test_films_found_are_lines_to_click(box):
    app = box("toy story")
    button = next(button for button in app.button if button.key.startswith("found-"))
    assert button.label == "Toy Story \\(1995\\) :small[:gray[a note]]"
    assert button.click().run().session_state.taken == ["Toy Story"]


def test_who_a_film_was_found_by_stands_behind_it_and_enter_takes_none_of_theirs(box):
    film_details.write(
        "ml-latest-sample", {15: {"directors": ["Quentin Tarantino"]}, 12: {"titles": ["Історія іграшок"]}}
    )
    [button] = [button for button in box("tarantino").button if button.key.startswith("found-")]
    assert button.label == "Pulp Fiction \\(1994\\) :small[:gray[Quentin Tarantino · a note]]"
    taken = []
    for text in ("tarantino", "історія"):
        film_search.choose_best("ml-latest-sample", taken.append, text)
    assert [film.title for film in taken] == ["Toy Story"]


def test_what_is_not_there_is_said_and_what_is_like_it_is_not_called_a_hit(box):
    assert said(box("oppenheimer")).startswith("“oppenheimer” is not among the 31 films in this data set.")
    assert "Most similar titles:" not in said(box("oppenheimer"))
    assert "Most similar titles:" in said(box("toy story 1940"))
    assert "Most similar titles:" not in said(box("toy story"))


def test_a_long_query_is_not_quoted_in_full(box):
    assert f"“{'x' * film_search.MAX_QUOTED_CHARACTERS}…” is not among" in said(box("x" * 500))


def test_markdown_in_a_query_stays_text(box):
    assert "“*x*” is not among" in said(box("*x*"))


def test_other_sets_on_this_machine_are_looked_into(box):
    world.save(world.build("ml-1m", ["Solaris (1972)", "Toy Story Again (1996)", *world.TITLES[:9]]))
    assert "Solaris (1972) is in MovieLens 1M." in said(box("solaris"))
    assert "MovieLens 1M" not in said(box("so"))  # of a few letters nothing is said
    assert "MovieLens 1M" not in said(box("toy story"))


def test_a_damaged_set_does_not_break_the_search(box, monkeypatch):
    world.save(world.build("ml-1m"))

    def damaged(name):
        raise DataError(f"{name} is damaged")

    monkeypatch.setattr(datasets, "load", damaged)
    assert film_search.matches_in_other_datasets("ml-latest-sample", "solaris") == []


def test_enter_takes_the_best_match_only_where_it_is_sure(home):
    taken = []
    for text in ("toy stroy", "oppenheimer", "toy story 1940", "", "rare bird"):
        film_search.choose_best("ml-latest-sample", taken.append, text)
    assert [film.label for film in taken] == ["Toy Story (1995)", "Rare Bird (1999)"]


def test_another_search_is_offered_in_place_of_the_report_of_a_missing_film(home):
    def script():
        import streamlit as st

        from pages.ui import film_search

        def offer(text):
            if text == "boxing":
                st.text("another search")
            return text == "boxing"

        film_search.search_box("ml-latest-sample", "Add a film", "box", lambda film: None, 8, offer_other_search=offer)

    app = AppTest.from_function(script, default_timeout=60).run()
    app.text_input(key="box").set_value("boxing").run()
    assert app.text[0].value == "another search"
    assert "is not among" not in said(app)
    app.text_input(key="box").set_value("wrestling").run()
    assert not app.text
    assert "“wrestling” is not among the 31 films" in said(app)
