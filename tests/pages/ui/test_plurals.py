"""English with the right form for one of what is counted."""

import re

import pytest

from pages.ui import format, i18n
from tests.pages.reading import said
from tests.pages.texts import of_words


def test_one_and_many_have_forms_of_their_own():
    assert "Search {n} film".format(n="1") == "Search 1 film"
    assert "Search {n} films".format(n="1,001") == "Search 1,001 films"
    assert format.item_count(1, "item") == "1 item"
    assert format.holds(1, 2) == "1 person, 2 films"
    assert f"Ask {1} recommender" == "Ask 1 recommender"
    assert (
        "last 1 films"
        not in (
            "Your last film is hidden, and every recommender that is ready is asked for it, given the "
            "film before it. Nothing is trained or fitted for this."
        ).format()
    )


def test_plural_forms_are_said_of_items_as_well(monkeypatch):
    monkeypatch.setattr(i18n, "things", lambda: "item")
    assert f"Search {1} film" == "Search 1 item"
    assert f"Search {5} films" == "Search 5 items"


def test_every_english_form_belongs_to_a_text_of_the_app():
    assert set(i18n.texts("en")) <= set(of_words())


@pytest.mark.parametrize("films", ["1", "1-2"])
def test_no_page_counts_one_of_many(visit, films):
    for page in (None, "compare", "inside", "library", "evaluation", "train"):
        text = said(visit(page, s=films))
        assert not re.search(r"(?<![\d.,–-])1 (films|items|people|recommenders|epochs)\b", text), page
