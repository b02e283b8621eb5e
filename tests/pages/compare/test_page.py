import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pages.compare import common
from pages.compare.order import plot_overlaps, summary
from pages.ui import cache, format, recommenders, session, tasks
from pages.ui.url import COMPARE_TABS
from recsys.models import registry
from recsys.serving import history
from recsys.serving.insight import list_comparison
from recsys.serving.predictor import all_recommenders
from tests.pages import world
from tests.pages.reading import chart_specs, keys, said
from tests.pages.translation import shown as texts

UNTRAINED = [  # neither they nor those that they stand on have to be trained
    name
    for name in registry.names()
    if not any(registry.get(one).needs_training for one in (name, *registry.get(name).members("")))
]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However busy the machine is, the page waits for a fit: no browser looks again by itself here."""
    monkeypatch.setattr(recommenders, "MAX_WAIT_SECONDS", 60.0)


def lists(app):
    """Recommender → the titles of its list, in order."""
    html = [element.value for element in app.html if element.value.startswith("<ol")]
    return [re.findall(r"<b>(.*?)</b>", column) for column in html]


def table(app, alt):
    """The index and the cells of a table, row by row, without Markdown."""
    (element,) = [element for element in app.table if element.proto.alt == alt]
    rows = element.value.reset_index().to_numpy().tolist()
    return [[re.sub(r":[\w-]+\[(.*?)\]|[*\\]", r"\1", cell) for cell in row] for row in rows]


def ranks(app):
    """Recommender → the text of the rank of the film."""
    return {row[0]: row[1] for row in table(app, "The rank of the film with each recommender")}


def sentences(app):
    return " ".join(element.value for element in app.markdown)


def open_tab(app, place):
    app.session_state["compare_section"] = list(COMPARE_TABS)[place]
    return app.run()


def test_only_a_history_is_said_to_begin_with_the_oldest_film(visit):
    assert "Your films, in the order you watched them" not in said(visit("compare", s="1-2-3"))
    assert "Your films, in the order you watched them" in said(visit("compare", s="1-2-3", order="true"))


def test_a_link_and_a_return_to_the_page_open_the_same_tab(visit):
    app = visit("compare", s="1-2-3", tab="rank")
    assert [tab.label for tab in app.tabs if tab.proto.label == app.session_state.compare_tab] == ["Rank of a film"]
    app.switch_page("5_library.py").run().switch_page("2_compare.py").run()
    assert app.session_state.compare_tab == "Rank of a film"
    assert app.query_params["tab"] == "rank"


def test_without_films_the_page_offers_ready_made_lists(visit):
    app = visit("compare")
    assert "There is nothing to compare yet" in said(app)
    app.button(key="take-Nineties crime films").click().run()
    assert lists(app)


def choose(app, *names):
    return app.get_by_key("compared").set_value(list(names)).run()


def demo(app):
    """Recommender → its films for either order, as the demonstration shows them."""
    texts = [element.value for element in app.markdown]
    names = [text.split("**")[1] for text in texts if "the order" in text and text.startswith("**")]
    films = [re.sub(r":gray\[(.*?)\]", r"\1", text).splitlines()[2:] for text in texts if text.startswith(":small[")]
    return {name: (films[2 * n], films[2 * n + 1]) for n, name in enumerate(names[: len(films) // 2])}


def test_the_first_thing_is_what_another_order_does_even_without_films(visit):
    app = visit("compare")
    assert app.header[0].value == "The same films in another order"
    network, people = demo(app).values()
    assert network[0] != network[1]
    assert people[0] == people[1]
    assert "**User kNN** ignores the order" in sentences(app)


def test_what_the_visitor_did_not_like_is_known_here_too(visit):
    app = visit("compare", s="1-2-11")
    choose(app, "bert4rec", "popular")
    before = lists(app)
    app.session_state.visitor.ratings = {world.TITLES[10]: 2.0}
    disliked = lists(app.run())
    assert disliked != before
    app.session_state.visitor.ratings = {}
    assert lists(app.run()) == before


def test_the_films_of_the_visitor_are_reversed_first_and_shuffled_on_demand(visit):
    app = visit("compare", s="1-2-3-4-5")
    shown = [element.value for element in app.markdown if element.value.startswith(":gray[")]
    order = [shown[0].index(format.escape_markdown(world.TITLES[item])) for item in range(5)]
    assert order == sorted(order)
    assert shown[1].index(format.escape_markdown(world.TITLES[4])) < shown[1].index(
        format.escape_markdown(world.TITLES[0])
    )
    before = demo(app)
    app.get_by_key("order_demo").set_value("shuffled").run()
    after = demo(app)
    assert before["User kNN"] == after["User kNN"]
    assert before["BERT4Rec"][0] == after["BERT4Rec"][0]
    assert before["BERT4Rec"][1] != after["BERT4Rec"][1]


def test_where_the_network_is_not_trained_another_that_reads_the_order_is_shown(visit, home):
    world.untrain()
    app = visit("compare", s="1-2-3-4")
    assert list(demo(app)) == ["Markov chain", "User kNN"]


def test_what_is_chosen_at_first_can_answer_and_the_network_is_among_it(visit):
    app = visit("compare", s="1-2-3")
    assert not app.exception
    chosen = app.get_by_key("compared").value
    assert chosen[0] == "bert4rec"
    assert "sasrec-softmax" not in chosen  # nobody has trained it here
    assert len(lists(app)) == len(chosen) == 6


@pytest.mark.slow
@pytest.mark.parametrize("variant", UNTRAINED)
def test_every_recommender_can_be_compared(visit, variant):
    app = choose(visit("compare", s="1-2-3"), "bert4rec", variant if variant != "bert4rec" else "popular")
    assert not app.exception
    assert [len(titles) for titles in lists(app)] == [10, 10]


def test_all_recommenders_are_offered(visit):
    offered = visit("compare", s="1-2-3").get_by_key("compared").options
    assert offered == list(recommenders.menu_labels("ml-latest-sample").values())
    assert len(set(offered)) == len(registry.names())


def test_shared_films_are_marked_in_words(visit):
    app = visit("compare", s="1-2-3")
    choose(app, "bert4rec", "popular", "ials", "bpr-mf")
    columns = [element.value for element in app.html if element.value.startswith("<ol")]
    everything = [title for titles in lists(app) for title in titles]
    for titles, column in zip(lists(app), columns, strict=True):
        notes = ["only here" in row for row in column.split("<li")[1:]]
        assert notes == [everything.count(title) == 1 for title in titles]


def test_the_summary_counts_what_the_lists_share(visit):
    app = visit("compare", s="1-2-3")
    choose(app, "bert4rec", "popular", "ials", "bpr-mf")
    shown = table(app, "Number of films that two lists share")
    sets = [set(titles) for titles in lists(app)]
    assert len(shown) == 4
    for films, (_, *row) in zip(sets, shown, strict=True):
        assert row == ["" if other is films else str(len(films & other)) for other in sets]


def test_films_that_one_list_alone_shows_are_named(visit):
    app = choose(visit("compare", s="1-2-3"), "bert4rec", "popular")
    first, second = lists(app)
    alone = table(app, "Films that are in one list only")
    assert [[label[:-7] for label in films.split(" · ")] for _, films in alone] == [
        [title for title in first if title not in second],
        [title for title in second if title not in first],
    ]


def test_a_recommender_that_cannot_answer_says_so_in_its_place_and_the_others_answer(visit, home):
    world.untrain()
    app = choose(visit("compare", s="1-2-3"), "bert4rec", "popular", "ials")
    assert "-m recsys train bert4rec" in said(app)
    assert len(lists(app)) == 2


def test_what_takes_longer_is_fitted_after_a_click_in_its_column(visit, monkeypatch):
    monkeypatch.setattr(recommenders, "MAX_AUTOMATIC_SECONDS", 0.0)
    app = choose(visit("compare", s="1-2-3"), "bert4rec", "item-knn")
    assert len(lists(app)) == 1
    app.button(key="fit-item-knn").click().run()
    assert [len(titles) for titles in lists(app)] == [10, 10]


def test_one_recommender_is_not_enough_to_compare(visit):
    app = visit("compare", s="1-2-3")
    choose(app, "popular")
    assert "Choose at least two recommenders to compare." in said(app)


def test_only_the_tab_that_is_open_is_computed(visit):
    app = visit("compare", s="1-2-3")
    assert lists(app)
    open_tab(app, 2)
    assert not lists(app)


def test_the_rank_of_any_film_is_that_of_each_list(visit):
    app = choose(visit("compare", s="1-2-3"), "bert4rec", "popular")
    first, second = lists(app)
    label = next(label for label in world.TITLES if label[:-7] == first[2])
    open_tab(app, 1)
    app.text_input(key="seek").set_value(label).run()
    app.button(key=f"seek-{world.TITLES.index(label) + 1}").click().run()
    assert ranks(app)["BERT4Rec"] == "3 of 27"
    rank = int(ranks(app)["Most popular"].split()[0])
    assert (second.index(first[2]) + 1 == rank) if first[2] in second else (rank > 10)


def test_a_watched_film_is_ranked_as_if_watched_films_counted(visit):
    app = open_tab(choose(visit("compare", s="1-2-3"), "bert4rec", "popular"), 1)
    app.text_input(key="seek").set_value(world.TITLES[0][:-7]).run()
    app.button(key="seek-1").click().run()
    assert "so no list shows it" in said(app)
    assert all(rank.endswith("of 30") for rank in ranks(app).values())


def test_a_film_that_no_model_knows_cannot_be_looked_up_and_says_why(visit):
    app = open_tab(visit("compare", s="1-2-3"), 1)
    app.text_input(key="seek").set_value("rare bird").run()
    button = app.button(key=f"seek-{len(world.TITLES) + 1}")
    assert button.disabled
    assert "too few ratings" in button.label


def test_the_order_moves_the_network_and_not_the_count(visit):
    app = open_tab(choose(visit("compare", s="1-2-3-4-5"), "bert4rec", "popular"), 2)
    (spec,) = chart_specs(app)
    mean = spec["data"][2]
    assert [label.split("<br>")[0] for label in mean["y"]] == ["BERT4Rec", "Most popular"]
    assert mean["x"][0] < mean["x"][1] == 1
    assert mean["y"][1].endswith("keeps 10.0 of 10 films")
    assert "**Most popular** gives the same list in any order" in sentences(app)


def test_two_films_are_reversed_but_not_shuffled(visit):
    assert "shuffled" not in said(open_tab(visit("compare", s="1-2"), 2))


def test_the_slider_shows_the_lists_for_another_order(visit):
    app = open_tab(choose(visit("compare", s="1-2-3-4-5"), "bert4rec", "popular"), 2)
    app.session_state["which_order"] = True
    backwards = lists(app.run())
    (slider,) = app.select_slider
    slider.set_value(0).run()
    as_watched = lists(app)
    assert backwards[0] != as_watched[0]
    assert backwards[1] == as_watched[1]
    open_tab(app, 0)
    assert lists(app) == as_watched


def test_one_film_has_no_order_and_cannot_be_hidden(visit):
    app = open_tab(visit("compare", s="1"), 2)
    assert "Add a second film to see what order changes" in said(app)
    assert "Add a second film. To hide a film" in said(open_tab(app, 3))
    assert not app.exception


def test_one_of_the_two_evenings_can_be_taken_over(visit):
    app = visit("compare", s="1")
    (one, _), (other, _) = list_comparison.sample_list_orders(
        history.available_sample_lists(cache.title_index("ml-latest-sample"))
    )
    app.button(key="take-order-1").click().run()
    films = [world.TITLES[item] for item in app.session_state.visitor.current.films]
    assert films[-1] in history.sample_lists()[other][1]
    assert films[0] in history.sample_lists()[one][1]


def test_a_hidden_film_is_found_by_whoever_ranks_it_among_the_first(visit):
    app = open_tab(choose(visit("compare", s="1-2-3-4"), "bert4rec", "popular"), 3)
    shown = ranks(app)
    before = choose(visit("compare", s="1-2-3"), "bert4rec", "popular")
    title = world.TITLES[3][:-7]
    rank = lists(before)[0].index(title) + 1  # everybody watches the films in this order, and BERT4Rec knows it
    assert shown["BERT4Rec"] == f"{rank} of 27 top 10"
    assert "**BERT4Rec**" in sentences(app)


def test_all_that_can_be_fitted_in_seconds_are_asked_on_a_button(visit):
    app = open_tab(choose(visit("compare", s="1-2-3-4"), "bert4rec", "popular"), 0)
    choose(app, "ials", "bpr-mf")
    open_tab(app, 3)
    app.button(key="try_all").click().run()
    assert not app.exception
    able = [variant for variant in all_recommenders() if variant.name in ("bert4rec", *UNTRAINED)]
    assert ranks(app).keys() == {variant.title for variant in able}
    with pytest.raises(KeyError):
        app.button(key="try_all")


def test_further_recommenders_are_adapted_to_the_kind_of_list_too(visit, monkeypatch):
    adapted = set()

    def record(predictor):
        adapted.add(predictor.recommender.name)
        return predictor

    monkeypatch.setattr(session, "adapt_to_current_list", record)
    app = open_tab(choose(visit("compare", s="1-2-3-4"), "bert4rec", "popular"), 3)
    adapted.clear()  # the default selection has also been asked
    app.button(key="try_all").click().run()
    assert "item-knn" in adapted


def test_further_recommenders_are_asked_again_about_a_history(visit):
    app = open_tab(choose(visit("compare", s="1-2-3-4"), "bert4rec", "popular"), 3)
    app.button(key="try_all").click().run()
    with pytest.raises(KeyError):
        app.button(key="try_all")
    state = app.session_state.visitor
    state.current = replace(state.current, in_watch_order=True)
    app.run()
    assert app.button(key="try_all")
    assert ranks(app).keys() == {"BERT4Rec", "Most popular"}


def test_every_film_hidden_in_turn_makes_a_small_evaluation(visit):
    app = choose(visit("compare", s="1-2-3-4"), "bert4rec", "popular")
    app.session_state["hide_all"] = True
    *films, found, mrr = table(open_tab(app, 3), "The rank of each of your films, hidden in turn")
    assert [row[0] for row in films] == [f"{place + 1} · {world.TITLES[place]}" for place in (3, 2, 1)]
    ranks = [int(row[1]) for row in films]
    assert found[1] == str(sum(rank <= 10 for rank in ranks))
    assert mrr[1] == f"{sum(1 / rank for rank in ranks) / 3:.4f}"
    assert "3 films are a small sample" in said(app)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_who_is_not_trained_is_named_in_every_tab_and_the_others_answer(visit, home, place):
    world.untrain()
    app = open_tab(choose(visit("compare", s="1-2-3"), "bert4rec", "popular", "ials"), place)
    assert "Not ready for this data set: **BERT4Rec**" in said(app)
    assert any("Most popular" in text for text in texts(app))


def test_two_are_mixed_by_hand_from_the_one_list_to_the_other(visit):
    app = choose(visit("compare", s="1-2-3"), "popular", "item-knn")
    popular, knn = lists(app)
    open_tab(app, 4)
    assert not app.exception
    assert (app.selectbox(key="mix_one").value, app.selectbox(key="mix_with_popular").value) == ("popular", "item-knn")
    found = {}
    for share in (0, 100, 50):
        app.slider(key="mix_share").set_value(share).run()
        page = next(html.value for html in app.html if "nr-rows" in html.value)
        found[share] = re.findall(r"<b>(.*?)</b>", page)
    assert (found[0], found[100]) == (popular, knn)
    assert found[50] not in (popular, knn)
    assert f"Most popular: rank {popular.index(found[50][0]) + 1}" in page  # below the first film of the mixture


def test_one_alone_cannot_be_mixed(visit):
    app = open_tab(choose(visit("compare", s="1-2-3"), "popular", "sasrec-bce"), 4)
    assert "Choose two recommenders that are ready." in said(app)


def test_a_film_that_few_people_rated_is_not_hidden(visit):
    app = open_tab(visit("compare", s=f"1-2-{len(world.TITLES) + 1}"), 3)
    assert not app.warning
    assert format.escape_markdown(world.TITLES[1]) in sentences(app) or world.TITLES[1] in str(app.selectbox)


def test_the_waits_for_several_fits_add_up_to_one(home, monkeypatch):
    clock = 0.0

    def wait(_task, seconds):
        nonlocal clock
        clock += seconds
        return False

    monkeypatch.setattr(common, "time", SimpleNamespace(monotonic=lambda: clock))
    monkeypatch.setattr(recommenders, "_fit", lambda name, dataset, report: None)
    monkeypatch.setattr(tasks.BackgroundTask, "wait", wait)
    names = ["item-knn", "markov", "ease"]
    get_predictor = common.start_fits(cache.dataset("ml-latest-sample"), names)
    assert [get_predictor(name) for name in names] == [None] * 3
    assert clock == recommenders.MAX_WAIT_SECONDS


def test_a_fit_for_a_hidden_film_runs_beside_the_page_and_can_be_cancelled(visit, monkeypatch):
    finish, load = threading.Event(), recommenders.predictors.load

    def slow(name, *arguments):
        assert name not in ("item-knn", "markov") or finish.wait(60)
        return load(name, *arguments)

    monkeypatch.setattr(recommenders.predictors, "load", slow)
    monkeypatch.setattr(recommenders, "MAX_WAIT_SECONDS", 0.0)
    ready = ("bert4rec", "popular", "item-knn", "markov")
    monkeypatch.setattr(recommenders, "can_answer", lambda name, data: name in ready)
    app = open_tab(choose(visit("compare", s="1-2-3-4"), "bert4rec", "popular"), 3)
    app.button(key="try_all").click().run()
    assert {"stop_trying", "stop-item-knn"} <= set(keys(app)) or {"stop_trying", "stop-markov"} <= set(keys(app))
    finish.set()
    for _ in range(4):
        for name in ("item-knn", "markov"):
            if fit := recommenders.find_fit(name, "ml-latest-sample"):
                assert fit.wait(60)
        app.run()
    assert "stop_trying" not in keys(app)
    assert {"Item kNN", "Markov chain"} <= ranks(app).keys()


def test_ranks_of_a_hidden_film_are_forgotten_when_another_file_replaces_the_data_set(visit):
    app = open_tab(visit("compare", s="1-2-3-4"), 3)
    question = app.session_state.hidden_film_test.question
    assert question == (world.build().fingerprint, (0, 1, 2, 3), False, 3)


def test_the_chart_of_orders_has_the_mean_overlap_as_a_number():
    pick = SimpleNamespace(item=1)
    effects = {"A": list_comparison.OrderEffect([pick], [[pick], [SimpleNamespace(item=2)]])}
    *_, means = plot_overlaps(effects).data
    assert (means.mode, means.text) == ("markers+text", ("0.50",))


def test_equal_lists_for_two_films_do_not_prove_that_the_order_is_ignored():
    pick = SimpleNamespace(item=1)
    assert summary({"A": list_comparison.OrderEffect([pick], [[pick]])}) == ""
    assert "**A** gives the same list in any order" in summary(
        {"A": list_comparison.OrderEffect([pick], [[pick], [pick]])}
    )
