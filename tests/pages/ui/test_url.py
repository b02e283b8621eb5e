import pytest

from pages.ui import page, url
from recsys.paths import REPOSITORY
from recsys.serving.filters import Filters
from tests.pages import world
from tests.pages.reading import picks

CHOSEN = {
    "model": "popular",
    "n": "5",
    "view": "list",
    "compare": "popular~markov",
    "each": "20",
    "section": "pair",
    "metric": "mrr",
    "first": "popular",
    "second": "markov",
    "inside": "map",
    "step": "3",
    "attends": "sasrec-softmax",
    "chart": "heat-map",
    "mapped": "sasrec-softmax",
    "plane": "pca",
    "colour": "genre",
    "years": "1990-1999",
    "genres": "Drama~Sci-Fi",
    "without": "Comedy",
    "known": "well-known",
    "older": "true",
    "hide": "false",
    "variety": "3",
}
FILTERS = Filters(
    years=(1990, 1999),
    genres=("Drama", "Sci-Fi"),
    excluded_genres=("Comedy",),
    popularity="well known",
    released_by_last_film=True,
    hide_seen=False,
    diversity=0.3,
)


def query(app):
    return {name: text if isinstance(text, str) else text[0] for name, text in app.query_params.items()}


def test_a_first_visit_needs_no_address(visit):
    app = visit()
    assert query(app) == {}
    for script in page.PAGES:
        assert query(app.switch_page(script).run()) == {}


def test_a_link_brings_back_everything_that_was_chosen(visit):
    app = visit(s="1-2", **CHOSEN, **{"not": "5"})
    assert not app.exception
    state = app.session_state
    assert (state.model, state.how_many, state.view) == ("popular", 5, "list")
    assert (state.compared, state.how_many_each) == (["popular", "markov"], 20)
    assert (state.section, state.metric, state.inside_section, state.lesson_step) == ("pair", "mrr", "map", 3)
    assert state.filters == FILTERS
    assert state.visitor.current.not_interested == (4,)
    assert query(app) == {"data": "ml-latest-sample", "s": "1-2", "not": "5"} | CHOSEN


def test_the_widgets_show_what_a_link_says(visit):
    app = visit(s="1-2", model="popular", n="5", view="list", compare="popular~markov")
    assert app.selectbox(key="model").value == "popular"
    assert len(picks(app)) == 5
    assert app.switch_page("2_compare.py").run().multiselect(key="compared").value == ["popular", "markov"]


def test_what_was_chosen_is_in_the_address_on_every_page_and_gone_when_taken_back(visit):
    app = visit(s="1-2")
    first = query(app)
    app.button_group(key="how_many").set_value(20).run()
    assert query(app) == first | {"n": "20"}
    app.switch_page("3_evaluation.py").run()
    assert query(app) == first | {"n": "20"}
    app.switch_page("1_watch_next.py").run()
    app.button_group(key="how_many").set_value(10).run()
    assert query(app) == first


ODD = [
    "",
    "none",
    "-1",
    "9" * 5000,
    "<script>",
    "1800-1700",
    "~".join("ab" for _ in range(1000)),
    "\x00",
    "mrr~mrr",
]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_values_are_passed_over(visit, text):
    every = ["order", *(param.name for param in url.URL_PARAMS)]
    app = visit(s="1", **dict.fromkeys(every, text))
    assert not app.exception
    assert {"model", "n", "view", "compare", "each", "section", "metric", "years", "rated"} & set(query(app)) == set()
    assert app.selectbox(key="model").value == "bert4rec"


def test_nothing_to_compare_is_a_choice_too(visit):
    app = visit("compare", s="1-2", compare="~")
    assert app.multiselect(key="compared").value == []
    assert query(app)["compare"] == "~"


def test_a_recommender_of_another_data_set_stays_chosen_there(visit):
    world.save(world.build("ml-latest-small", first_id=500))
    app = visit(s="1", model="popular")
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert query(app)["model"] == "popular"
    app.selectbox(key="model").set_value("bert4rec").run()
    assert query(app)["model"] == "bert4rec"  # where it is not trained, the page would begin with another


def test_the_url_names_a_recommender_that_is_not_the_default_of_another_data_set(visit):
    world.save(world.build("ml-latest-small", first_id=500))
    app = visit(s="1")
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert app.selectbox(key="model").value == "bert4rec"
    assert query(app) == {"data": "ml-latest-small", "s": "500", "model": "bert4rec"}


def test_a_link_to_the_default_value_shows_the_page_and_is_shortened(visit):
    app = visit(s="1-2", n="10", view="cards", model="bert4rec")
    assert app.button_group(key="how_many").value == 10
    assert not {"n", "view", "model"} & set(query(app))


def test_ratings_of_films_come_with_a_link(visit):
    app = visit(s="1-2", rated="1.5~2.1")
    assert query(app)["rated"] == "1.5~2.1"
    assert query(visit(s="1-2", rated="1.9")).get("rated") is None


def test_no_two_choices_share_a_parameter():
    names = ["data", "s", "not", "order", *(param.name for param in url.URL_PARAMS)]
    assert len(set(names)) == len(names)


def test_every_key_of_the_table_is_one_of_a_page():
    """A widget that is given another key would drop out of the address without a word."""
    sources = "".join(path.read_text("utf-8") for path in (REPOSITORY / "pages").glob("*/*.py"))
    sources += "".join(path.read_text("utf-8") for path in (REPOSITORY / "pages").glob("[1-9]_*.py"))
    for param in [param for param in url.URL_PARAMS if param.key not in url.FILTER_FIELDS]:
        key = param.key.replace("{results_of}", "{dataset}")
        assert any(f"{before}{key}{after}" in sources for before, after in (('"', '"'), ("state.", " = "))), key
    assert {param.key for param in url.URL_PARAMS} > url.FILTER_FIELDS


def test_years_in_the_wrong_order_leave_the_filter_as_it_is(visit):
    app = visit("", s="1-2-3", years="2000-1990")
    assert app.session_state["filters"].years == Filters().years
    assert visit("", s="1-2-3", years="1990-2000").session_state["filters"].years == (1990, 2000)
