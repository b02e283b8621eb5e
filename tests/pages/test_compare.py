import re

import pandas as pd

from pages import _words as words
from recsys import paths
from recsys.serving import models
from tests.pages.test_watch_next import said


def lists(app):
    """Recommender → the titles of its list, in order."""
    html = [element.value for element in app.html if element.value.startswith("<ol")]
    return [re.findall(r"<b>(.*?)</b>", column) for column in html]


def test_without_films_the_page_offers_ready_made_lists(visit):
    app = visit("compare")
    assert words.FIRST_ADD in said(app)
    app.button(key="take-Crime of the nineties").click().run()
    assert lists(app)


def test_every_recommender_has_its_list(visit):
    app = visit("compare", s="1-2-3")
    assert not app.exception
    assert len(lists(app)) == len(models.variants())
    assert all(len(titles) == 10 for titles in lists(app))


def test_shared_films_are_marked_in_words(visit):
    app = visit("compare", s="1-2-3")
    columns = [element.value for element in app.html if element.value.startswith("<ol")]
    everything = [title for titles in lists(app) for title in titles]
    for titles, column in zip(lists(app), columns, strict=True):
        notes = [words.ONLY_HERE in row for row in column.split("<li")[1:]]
        assert notes == [everything.count(title) == 1 for title in titles]


def test_the_summary_counts_what_the_lists_share(visit):
    app = visit("compare", s="1-2-3")
    shared = app.dataframe[0].value
    first, second = lists(app)[:2]
    assert shared.iloc[0, 1] == len({*first} & {*second})
    assert isinstance(shared, pd.DataFrame)
    assert (shared.to_numpy() == shared.to_numpy().T).all()


def test_a_recommender_that_cannot_answer_says_so_in_its_place_and_the_others_answer(visit, home):
    (paths.checkpoint("ml-100k", "bert4rec", 0) / "meta.json").rename(home / "gone")
    app = visit("compare", s="1-2-3")
    assert "python -m recsys train bert4rec" in said(app)
    assert len(lists(app)) == len(models.variants()) - 1


def test_one_recommender_is_not_enough_to_compare(visit):
    app = visit("compare", s="1-2-3")
    app.get_by_key("compared").set_value(models.variants()[:1]).run()
    assert words.FIRST_CHOOSE in said(app)
