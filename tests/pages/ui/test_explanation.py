import re

import pytest

from pages.ui import explanation, i18n
from recsys.data import film_details, film_tables
from recsys.serving.insight.explain import Explanation, Influence
from recsys.serving.recommend import RankPosition
from tests.pages import world
from tests.pages.panel import opened
from tests.pages.reading import said, tagged

SCRIPT = "<script>alert('1')</script> & \"Co\""


@pytest.fixture
def show(home):
    """Opens the dialog for the films of a link."""
    return lambda **asked: opened("ui.explanation", **asked)


def test_the_film_watched_just_before_is_named_as_the_reason(show):
    app = show(s="1-2-3", item=3, variant="markov")  # everybody watches the fourth film after the third
    assert not app.exception
    assert f"Mostly because you watched {world.TITLES[2]}" in said(app)
    assert tagged(app.html[0].value)[0] == world.TITLES[2]


def test_what_is_known_of_the_film_is_told_with_where_it_is_from(show):
    assert "From Wikidata." not in said(show(s="1-2-3", item=3))
    film_details.write("ml-latest-sample", {4: {"directors": ["Ann *Lee*"], "minutes": 90}})
    app = show(s="1-2-3", item=3)
    assert not app.exception
    assert ":gray[Directed by] Ann *Lee*" in said(app)
    assert "From Wikidata." in said(app)


def test_the_themes_of_the_film_are_shown(show, monkeypatch):
    monkeypatch.setattr(film_tables, "themes", lambda dataset: {4: ("boxing", "time loop")})
    assert ":gray[Themes] boxing, time loop" in said(show(s="1-2-3", item=3))
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    assert ":gray[Мотиви] бокс, часова петля" in said(show(s="1-2-3", item=3))
    assert "Мотиви" not in said(show(s="1-2-3", item=4))


def test_an_only_film_is_compared_with_a_newcomer_and_an_empty_list_says_so(show):
    assert "Computed by removing your only film and asking {model} again.".format(model="BERT4Rec") in said(
        show(s="3", item=3)
    )
    app = show(item=3)
    assert "Your list is empty. BERT4Rec recommends this film to everyone with an empty list." in said(app)
    assert not app.html


def test_a_recommender_that_does_not_look_at_the_films_says_so(show):
    app = show(s="1-2-3", variant="popular")
    assert "No single film of yours makes a difference." in said(app)
    assert not app.html


def test_the_rank_is_said_in_a_sentence():
    assert explanation.rank_text(RankPosition(1, 30, 0.123), "M") == "Top prediction of M, at 12.3%."
    assert explanation.rank_text(RankPosition(4, 30, 0.012), "M") == "M ranks it 4th, at 1.2%."
    assert explanation.rank_text(RankPosition(1, 30, None), "M") == "Top prediction of M."
    assert explanation.rank_text(RankPosition(22, 30, None), "M") == "M ranks it 22nd."
    assert explanation.rank_text(RankPosition(None, 30, 0.0), "M") == "{model} rules it out.".format(model="M")


def influence(item, effect, rank=2, probability=0.012):
    return Influence(item, item, effect, RankPosition(rank, 30, probability))


def explained(*influences, watched=None):
    return Explanation(9, RankPosition(1, 30, 0.1), influences, watched or len(influences))


def test_the_reason_names_at_most_two_films_and_the_one_in_the_way():
    found = explained(influence(0, 2.0), influence(1, 1.0), influence(2, -0.5), influence(3, 0.2))
    assert explanation.reason(found, list("ABCD"), "M") == (
        "Mostly because you watched A, and partly because you watched B. C counts against it."
    )
    assert explanation.reason(explained(influence(0, 1.0)), ["A"], "M") == "Mostly because you watched A."
    assert explanation.reason(explained(influence(0, -1.0)), ["A"], "M") == "A counts against it."
    lowering = explained(influence(1, -2.0), influence(0, -1.0))
    assert explanation.reason(lowering, ["A", "B"], "M") == "Your films count against it, B most of all."


def test_bars_share_one_scale_and_words_say_what_they_mean():
    html = explanation.influence_bars(explained(influence(0, 2.0), influence(1, -1.0, None)), [SCRIPT, "B"])
    assert 'class="nr-up" style="width:66.7%"' in html
    assert 'class="nr-down" style="width:33.3%"' in html
    assert "--nr-zero:33.3%" in html
    assert "counts in its favour: 1.2% without it" in html
    assert "counts against it: ruled out without it" in html
    assert "<script" not in html


@pytest.mark.parametrize(("without", "digits"), [(0.02204, 0.02236), (0.0221, 0.0223), (0.00123, 0.001234)])
def test_percentages_get_the_digits_that_show_a_difference(without, digits):
    found = Explanation(9, RankPosition(4, 30, digits), (influence(0, 0.02, probability=without),), 1)
    (before,) = re.findall(
        r"at ([\d.]+%)", explanation.rank_text(found.rank_position, "M", explanation.extra_digits(found))
    )
    (after,) = re.findall(r"counts in its favour: ([\d.]+%) without it", explanation.influence_bars(found, ["A"]))
    assert before != after
    assert float(before[:-1]) > float(after[:-1])


def test_a_difference_that_no_digit_shows_is_said_to_be_invisible():
    same = influence(0, 0.002, probability=0.0220001)
    found = Explanation(9, RankPosition(4, 30, 0.022), (same,), 1)
    assert explanation.extra_digits(found) == 0
    assert "makes no visible difference" in explanation.influence_bars(found, ["A"])
    assert "counts in its favour" not in explanation.influence_bars(found, ["A"])


def test_a_long_list_shows_eight_bars_and_says_how_many_films_were_weighed():
    found = explained(*[influence(item, 1.0) for item in range(50)], watched=120)
    assert explanation.influence_bars(found, [str(item) for item in range(50)]).count("<li") == 8
    assert "Only your latest 50 films were tested." in explanation.notes(found, "M")
    assert f"{42} more of your films made a smaller difference." in explanation.notes(found, "M")


def test_links_are_made_of_ids_only(home):
    dataset = world.build()
    assert explanation.film_site_links(dataset.catalog, 0) == []
    dataset.catalog.movies.loc[0, ["imdb_id", "tmdb_id"]] = ["tt0114709", 862]
    dataset.catalog.movies.loc[1, "imdb_id"] = 'tt1" onclick="alert(1)'
    imdb, tmdb = explanation.film_site_links(dataset.catalog, 0)
    assert 'href="https://www.imdb.com/title/tt0114709/"' in imdb
    assert 'href="https://www.themoviedb.org/movie/862"' in tmdb
    assert 'rel="noopener' in imdb
    assert explanation.film_site_links(dataset.catalog, 1) == []
