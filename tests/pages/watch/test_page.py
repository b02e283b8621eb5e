import pytest

from pages.ui import dataset_menu
from pages.watch import list_kinds
from recsys import paths
from recsys.data import datasets
from recsys.data.dataset import DataError
from recsys.models.common_trait import CommonTrait
from recsys.serving.filters import Filters
from recsys.serving.predictor import Predictor
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import keys, picks, said, titles, watched


def test_a_newcomer_is_shown_films_and_three_ready_made_lists(visit):
    app = visit()
    assert not app.exception
    assert len(picks(app)) == 10
    assert sum(key.startswith("take-") for key in keys(app)) == 3
    assert "Your list is empty" in said(app)


def test_a_ready_made_list_fills_the_sequence(visit):
    app = visit()
    app.button(key="take-Animated family films").click().run()
    assert watched(app) == ["Aladdin", "The Lion King", "Beauty and the Beast", "Pinocchio", "Toy Story"]
    assert app.query_params["s"].count("-") == 4


def test_a_note_appears_if_similar_films_count_more_than_usual(visit, monkeypatch):
    note = "Your films are little known or have something unusual in common"
    assert note not in said(visit(s="1-2"))
    monkeypatch.setattr(Predictor, "favours_content", lambda predictor, films: films == (0, 1))
    assert note in said(visit(s="1-2"))
    assert note not in said(visit(s="1-3"))


@pytest.mark.parametrize(
    ("trait", "language", "note"),
    [
        ("theme/time loop", "en", "theme in common: time loop. Films like them rank higher than usual."),
        ("theme/time loop", "uk", "У ваших фільмів спільна тема: часова петля. Схожі фільми стоять у списку вище"),
        ("director/Agnès Varda", "en", "Your films have a director in common: Agnès Varda."),
        ("language/fr", "en", "Your films have a language in common: French."),
        ("language/fr", "uk", "У ваших фільмів спільна мова: французька."),
        ("genre/Film-Noir", "en", "Your films have a genre in common: Film noir."),
        ("tag/gory", "en", "Your films are little known or have something unusual in common"),
    ],
)
def test_the_note_names_what_the_films_have_in_common(visit, monkeypatch, trait, language, note):
    monkeypatch.setattr(Predictor, "favours_content", lambda predictor, films: True)
    common_trait = CommonTrait(trait, column=0, share=1.0, strength=1.0)
    monkeypatch.setattr(Predictor, "notable_common_trait", lambda predictor, films: common_trait)
    assert note in said(visit(s="1-2", lang=language))


def test_a_link_reproduces_a_sequence_and_its_predictions(visit):
    app = visit(data="ml-latest-sample", s="1-2-3")
    assert watched(app) == titles(0, 1, 2)
    assert world.TITLES[3][:-7] in picks(app)[:3]  # everybody watched that one next
    assert app.query_params == {"data": "ml-latest-sample", "s": "1-2-3"}


def test_films_are_found_by_typing_and_added_by_a_click(visit):
    app = visit(s="1")
    before = picks(app)
    app.text_input(key="search").set_value("toy stroy").run()
    toy_story = world.TITLES.index("Toy Story (1995)")
    app.button(key=f"found-{toy_story + 1}").click().run()
    assert watched(app) == titles(0, toy_story)
    assert app.text_input(key="search").value == ""
    assert app.query_params["s"] == f"1-{toy_story + 1}"
    assert picks(app) != before


def test_a_film_that_is_listed_already_cannot_be_added_again(visit):
    app = visit(s=str(world.TITLES.index("Toy Story (1995)") + 1))
    app.text_input(key="search").set_value("toy story").run()
    found = next(button for button in app.button if button.key.startswith("found-"))
    assert found.disabled
    assert "already in your list" in found.label


def test_a_film_that_was_left_out_of_training_can_be_added_and_the_page_says_what_stands_in_for_it(visit):
    app = visit(s="1")
    app.text_input(key="search").set_value("rare bird").run()
    found = app.button(key=f"found-{len(world.TITLES) + 1}")
    assert "too few ratings: most recommenders use a similar film" in found.label.replace("\\", "")
    found.click().run()
    assert watched(app) == [*titles(0), "Rare Bird"]


def test_a_film_that_is_not_there_is_said_not_to_be(visit):
    app = visit()
    app.text_input(key="search").set_value("Oppenheimer").run()
    assert "“Oppenheimer” is not among the 31 films in this data set." in said(app)
    assert not [key for key in keys(app) if key.startswith("found-")]


def test_the_box_says_what_can_be_searched(visit):
    box = visit().text_input(key="search")
    assert box.placeholder.startswith("Search 31 films, 1940–")
    assert "MovieLens latest" in box.label.replace("\\", "")


def test_a_film_that_only_another_set_has_is_said_to_be_there(visit):
    world.save(world.build("ml-1m", ["Solaris (1972)", *world.TITLES[:20]]))
    app = visit()
    app.text_input(key="search").set_value("solaris").run()
    assert "Solaris (1972) is in MovieLens 1M." in said(app)


def test_a_film_of_another_year_is_offered_but_said_not_to_be_the_one(visit):
    app = visit()
    app.text_input(key="search").set_value("toy story 1940").run()
    assert "Most similar titles:" in said(app)
    assert any("Toy Story" in button.label for button in app.button if button.key.startswith("found-"))


def test_predictions_follow_when_a_film_is_moved(visit):
    app = visit(s="6-10")
    before = picks(app)
    app.button(key="down-6").click().run()
    assert watched(app) == titles(9, 5)
    assert app.query_params["s"] == "10-6"
    assert picks(app) != before
    app.button(key="up-6").click().run()
    assert picks(app) == before


def test_the_first_film_cannot_go_up_nor_the_last_one_down(visit):
    app = visit(s="1-2")
    assert app.button(key="up-1").disabled
    assert app.button(key="down-2").disabled


def test_every_step_can_be_undone(visit):
    app = visit(s="1-2-3")
    app.button(key="remove-2").click().run()
    assert watched(app) == titles(0, 2)
    app.button(key="clear").click().run()
    assert watched(app) == []
    assert "s" not in app.query_params
    app.button(key="undo").click().run()
    app.button(key="undo").click().run()
    assert watched(app) == titles(0, 1, 2)
    assert app.button(key="undo").disabled


def test_a_recommended_film_can_be_added(visit):
    app = visit(s="1-2-3")
    app.button(key="pick-4").click().run()
    assert watched(app) == titles(0, 1, 2, 3)
    assert world.TITLES[3][:-7] not in picks(app)


def test_films_already_watched_come_back_when_asked_for(visit):
    app = visit(s="1-2-3")
    assert not {*picks(app)} & {*titles(0, 1, 2)}
    app.button_group(key="how_many").set_value(20)
    open_part(app, "filters_open").toggle(key="hide_seen").set_value(False).run()
    assert {*picks(app)} & {*titles(0, 1, 2)}


def test_when_every_film_was_watched_the_page_says_what_to_do(visit):
    app = visit(s="-".join(str(film + 1) for film in range(len(world.TITLES))))
    assert (
        "There are no films left to recommend. Remove a film from your list, or switch off “Hide watched”."
    ) in said(app)
    assert watched(app) == titles(*range(24, 30))  # long lists come by pages, the latest first in sight


def test_another_recommender_answers_when_chosen(visit):
    app = visit(s="1-2-3")
    assert "BERT4Rec chooses from 27 films you have not watched." in said(app)
    app.selectbox(key="model").set_value("popular").run()
    assert "Most popular ranks films, but gives no probabilities." in said(app)


def test_an_untrained_recommender_says_how_to_train_it_and_another_one_stands_in(visit, home):
    world.untrain()
    app = visit(s="1-2-3")
    app.selectbox(key="model").set_value("bert4rec").run()
    assert "-m recsys train bert4rec --dataset ml-latest-sample" in said(app)
    assert "Until then, you see the recommendations of Most popular." in said(app)
    assert len(picks(app)) == 10


def test_an_unknown_film_in_a_link_is_skipped_and_the_page_says_so(visit):
    app = visit(s="1-99999-3")
    assert watched(app) == titles(0, 2)
    assert "not in this data set" in said(app)
    app.button(key="remove-1").click().run()
    assert not app.warning


HOSTILE = ["<script>alert(1)</script>", "../../etc/passwd", "-1--2-nan", "9" * 10_000, "1" + "-1" * 5_000]


@pytest.mark.parametrize("link", HOSTILE)
def test_no_link_breaks_the_page(visit, link):
    app = visit(s=link)
    assert not app.exception
    assert len(watched(app)) <= 1
    assert app.warning


def test_a_link_to_an_unknown_data_set_shows_the_first_one(visit):
    app = visit(data="../etc", s="1-2")
    assert "The link names a data set that does not exist, so you see the films that come with the app." in said(app)
    assert app.query_params == {}


def test_a_data_set_that_is_not_here_is_offered_and_the_link_is_kept(visit, home, monkeypatch):
    monkeypatch.setattr(dataset_menu, "menu_label", lambda name: name)  # AppTest trips over a label that changes
    app = visit(data="ml-1m", s="1-2")
    assert "MovieLens 1M is not on this computer yet." in said(app)
    assert "get-ml-1m" in keys(app)
    assert app.query_params == {"data": "ml-1m", "s": "1-2"}
    world.save(world.build("ml-1m"))
    app.run()
    assert watched(app) == titles(0, 1)


def test_films_go_along_to_another_data_set_by_title(visit):
    world.save(world.build("ml-latest-small", [*world.TITLES[:10], *world.TITLES[11:]], first_id=500))
    app = visit(s="2-11-3")
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    assert watched(app) == titles(1, 2)
    assert app.query_params == {"data": "ml-latest-small", "s": "501-502", "model": "bert4rec"}
    assert "{n} of your {all} films is not in {data}.".format(n=1, all=3, data="MovieLens latest-small") in said(app)


def test_the_sequence_survives_a_change_of_page(visit):
    app = visit(s="1-2-3").switch_page("2_compare.py").run()
    assert app.query_params["s"] == "1-2-3"
    app.switch_page("3_evaluation.py").run()
    assert app.query_params["s"] == "1-2-3"
    assert watched(app.switch_page("1_watch_next.py").run()) == titles(0, 1, 2)


def test_the_first_start_fetches_the_data_and_a_failure_can_be_tried_again(visit, home, monkeypatch):
    fetched = paths.prepared("ml-latest-sample").rename(home / "elsewhere")

    def fail(name):
        raise DataError("no network; connect and try again")

    monkeypatch.setattr(datasets, "ensure", fail)
    app = visit(s="1-2")
    assert "No network" in said(app)
    assert app.button(key="retry-ml-latest-sample").label == "Try again"

    monkeypatch.setattr(datasets, "ensure", lambda name: fetched.rename(paths.prepared(name)))
    app.button(key="retry-ml-latest-sample").click().run()
    assert watched(app) == titles(0, 1)


def test_every_button_says_what_it_does(visit):
    app = visit(s="1-2-3")
    labels = [button.label for button in app.button]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def choose_kind(app, kind):
    app.button_group(key="list_kind").set_value(kind).run()
    assert not app.exception


def test_the_kind_of_list_is_remembered_in_the_url(visit):
    app = visit(s="1-2-3")
    best = picks(app)
    choose_kind(app, "taste")
    assert app.query_params["kind"] in ("taste", ["taste"])
    assert picks(app) != best
    assert picks(visit(s="1-2-3", kind="taste")) == picks(app)
    choose_kind(app, "best")
    assert "kind" not in app.query_params
    assert picks(app) == best


def test_a_list_like_the_last_film_is_of_the_markov_chain_until_another_model_is_chosen(visit):
    app = visit(s="1-2-3", kind="last")
    assert "Markov chain ranks films" in said(app)
    assert app.selectbox(key="model").value == "bert4rec"
    app.selectbox(key="model").set_value("popular").run()
    assert "Most popular ranks films" in said(app)
    assert app.session_state.list_kind == "best"


def test_hidden_gems_are_lesser_known_films_unless_the_visitor_filters(visit):
    assert list_kinds.adapt_filters("gems", Filters()) == Filters(popularity="lesser known")
    assert list_kinds.adapt_filters("gems", Filters(popularity="mainstream")) == Filters(popularity="mainstream")
    assert list_kinds.adapt_filters("taste", Filters()) == Filters()
    assert not visit(s="1-2-3", kind="gems").exception


def test_the_first_recommender_of_the_menu_is_bert4rec(visit):
    assert visit(s="1-2").selectbox(key="model").options[0].startswith("BERT4Rec")
