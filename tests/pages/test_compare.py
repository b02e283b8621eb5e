import re

import pandas as pd
import pytest

from pages import _words as words
from recsys import paths
from recsys.models import registry
from recsys.serving import models
from tests.pages.test_watch_next import said

FIRST = ("bert4rec", "sasrec-softmax", "gru4rec-ce", "ials", "content-sentence", "popular")


def lists(app):
    """Recommender → the titles of its list, in order."""
    html = [element.value for element in app.html if element.value.startswith("<ol")]
    return [re.findall(r"<b>(.*?)</b>", column) for column in html]


def test_without_films_the_page_offers_ready_made_lists(visit):
    app = visit("compare")
    assert words.FIRST_ADD in said(app)
    app.button(key="take-Crime of the nineties").click().run()
    assert lists(app)


def choose(app, *names):
    known = {variant.name: variant for variant in models.variants()}
    return app.get_by_key("compared").set_value([known[name] for name in names]).run()


def test_one_recommender_of_each_kind_is_chosen_at_first(visit):
    app = visit("compare", s="1-2-3")
    assert not app.exception
    assert tuple(variant.name for variant in app.get_by_key("compared").value) == FIRST


@pytest.mark.parametrize("variant", [variant for variant in registry.names() if not registry.get(variant).shipped])
def test_every_recommender_can_be_compared(visit, variant):
    app = choose(visit("compare", s="1-2-3"), "bert4rec", variant if variant != "bert4rec" else "popular")
    assert not app.exception
    assert [len(titles) for titles in lists(app)] == [10, 10]


def test_all_recommenders_are_offered(visit):
    offered = visit("compare", s="1-2-3").get_by_key("compared").options
    assert offered == [variant.title for variant in models.variants()]
    assert len(set(offered)) == len(registry.names())


def test_shared_films_are_marked_in_words(visit):
    app = visit("compare", s="1-2-3")
    choose(app, "bert4rec", "popular", "ials", "bpr-mf")
    columns = [element.value for element in app.html if element.value.startswith("<ol")]
    everything = [title for titles in lists(app) for title in titles]
    for titles, column in zip(lists(app), columns, strict=True):
        notes = [words.ONLY_HERE in row for row in column.split("<li")[1:]]
        assert notes == [everything.count(title) == 1 for title in titles]


def test_the_summary_counts_what_the_lists_share(visit):
    app = visit("compare", s="1-2-3")
    choose(app, "bert4rec", "popular", "ials", "bpr-mf")
    shared = app.dataframe[0].value
    first, second = lists(app)[:2]
    assert shared.iloc[0, 1] == len({*first} & {*second})
    assert isinstance(shared, pd.DataFrame)
    assert (shared.to_numpy() == shared.to_numpy().T).all()


def test_a_recommender_that_cannot_answer_says_so_in_its_place_and_the_others_answer(visit, home):
    (paths.checkpoint("ml-100k", "bert4rec", 0) / "meta.json").rename(home / "gone")
    app = visit("compare", s="1-2-3")
    assert "python -m recsys train bert4rec" in said(app)
    choose(app, "bert4rec", "popular", "ials")
    assert len(lists(app)) == 2


def test_one_recommender_is_not_enough_to_compare(visit):
    app = visit("compare", s="1-2-3")
    choose(app, "popular")
    assert words.FIRST_CHOOSE in said(app)
