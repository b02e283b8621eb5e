"""On a set of anything else, no page speaks of films."""

import re

import pytest

from pages.ui import i18n, items
from recsys.data import own_data, tables
from recsys.serving import predictor
from tests.pages.marked import shown

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


@pytest.mark.parametrize(
    ("said", "of_items"),
    [
        ("Add *a film* that you watched", "Add *an item* that you picked"),
        ("A film, films and the film’s year", "An item, items and the item’s year"),
        ("Watch next: nobody watches, watching", "Pick next: nobody picks, picking"),
        ("A real viewer of {film}, two viewers", "A real person of {film}, two people"),
        ("{n:,} films in {films:,}", "{n:,} items in {films:,}"),
        ("A rewatch on a watchlist is film-noir", "A rewatch on a watchlist is film-noir"),
    ],
)
def test_what_is_said_of_films_is_said_of_items(said, of_items):
    assert items.english(said) == of_items


def test_in_ukrainian_too_with_its_plural_forms(monkeypatch):
    monkeypatch.setattr(i18n, "current", lambda: "uk")
    text = i18n.say("{n:,} films", "item")
    assert [text.format(n=n) for n in (1, 3, 5)] == ["1 об’єкт", "3 об’єкти", "5 об’єктів"]
    assert i18n.say("{n:,} films").format(n=5) == "5 фільмів"


@pytest.fixture(scope="module")
def shop():
    return own_data.check(tables.parse("shop.csv", SHOP.encode()))


@pytest.mark.parametrize("page", PAGES)
def test_no_page_speaks_of_films_where_the_set_is_of_items(visit, page, shop):
    data = own_data.add("shop", shop, "shop.csv")
    for name in ("popular", "markov", "item-knn"):
        predictor.load(name, data)
    for query in PAGES[page]:
        app = visit(None if page == "watch" else page, data="shop", **query)
        assert not app.exception
        assert [text for text in shown(app) if ABOUT_FILMS.search(OTHER_SETS.sub("", text))] == []


def test_other_sets_are_still_of_films(visit, shop):
    own_data.add("shop", shop, "shop.csv")
    app = visit(data="shop")
    assert "MovieLens latest (sample) · films 1940–2000" in app.selectbox(key="chosen_data").options
    app.selectbox(key="chosen_data").set_value("ml-latest-sample").run()
    assert next(one.value for one in app.header) == "Your films"
