import json
import re
from datetime import datetime

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.watch import import_review
from recsys.data.history_import import entries
from tests.data.history_import import files
from tests.pages import world
from tests.pages.reading import keys, said

TEXT = "text/csv"


def script():
    import streamlit as st

    from pages.ui import cache, session
    from pages.watch import import_dialog, my_list

    session.load()
    dataset = cache.dataset("ml-latest-sample")
    session.convert_pending(dataset)
    for film in session.visitor().current.films[-20:]:
        st.caption(my_list.watch_note(dataset.catalog.films[film]))
    st.button("Undo", key="undo", on_click=session.undo)
    st.session_state.link = session.url_params()
    import_dialog.dialog_body(dataset, st.session_state.setdefault("importing", import_dialog.ImportState()))


@pytest.fixture
def dialog(home):
    """The body of the dialog on a page of its own, with some files: `dialog(("diary.csv", text))`."""

    def opened(*given, **query):
        app = AppTest.from_function(script, default_timeout=60)
        app.query_params.update(query)
        app.run()
        if given:
            app.file_uploader[0].set_value(
                [(name, text if isinstance(text, bytes) else text.encode(), TEXT) for name, text in given]
            )
            app.run()
        assert not app.exception
        return app

    return opened


def use(app):
    app.button(key="use-history").click().run()
    assert not app.exception
    return app


def labels(app):
    data = world.build()
    return [data.catalog.films[film].label for film in app.session_state.visitor.current.films]


FORMATS = {
    "letterboxd": (files.letterboxd(), ["Alien (1979)", "Heat (1995)", "Toy Story (1995)"]),
    "diary": (files.DIARY, ["Heat (1995)", "Toy Story (1995)"]),
    "ratings": (files.RATINGS, ["Toy Story (1995)", "Heat (1995)"]),
    "watched": (files.FILMS, ["Alien (1979)", "Toy Story (1995)"]),
    "imdb": (files.IMDB, ["Heat (1995)"]),
    "trakt": (files.trakt(), ["Alien (1979)", "Heat (1995)"]),
    "trakt json": (json.dumps(files.HISTORY), ["Alien (1979)", "Heat (1995)"]),
    "netflix": (files.NETFLIX.format("13/1/25", "14/1/25", "15/1/25"), ["Alien (1979)", "Heat (1995)"]),
    "movielens": (files.SITE, ["Toy Story (1995)", "Heat (1995)"]),
    "ours": (files.OURS, ["Toy Story (1995)", "Heat (1995)"]),
    "ours, json": (files.OURS_JSON, ["Heat (1995)", "Toy Story (1995)"]),
    "to letterboxd": (files.TO_LETTERBOXD, ["Toy Story (1995)"]),
    "any csv": ("Film;Jahr;Datum\nHeat;1995;24.01.23\nAlien;1979;23.01.23\n", ["Alien (1979)", "Heat (1995)"]),
    "bom": (files.DIARY.encode("utf-8-sig"), ["Heat (1995)", "Toy Story (1995)"]),
    "latin-1": (files.DIARY.replace("fun", "é").encode("latin-1"), ["Heat (1995)", "Toy Story (1995)"]),
}


@pytest.mark.parametrize(("text", "films"), FORMATS.values(), ids=FORMATS)
def test_every_format_becomes_a_sequence_oldest_first(dialog, text, films):
    app = dialog(("some.file", text))
    assert f"Import {len(films)} film" in app.button(key="use-history").label
    assert labels(use(app)) == films


REFUSED = {
    "empty": b"",
    "picture": b"\x89PNG\r\n",
    "too large": b"a" * (entries.MAX_FILE_BYTES + 1),
    "web page": b"<html></html>",
    "half a zip": files.letterboxd()[:-50],
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_history_is_a_sentence_and_the_others_are_read(dialog, data):
    app = dialog(("bad.csv", data), ("diary.csv", files.DIARY))
    assert "“bad.csv”" in app.warning[0].value.replace("\\", "")
    assert labels(use(app)) == ["Heat (1995)", "Toy Story (1995)"]


def test_several_files_are_one_history_with_stars_and_rewatches(dialog):
    app = use(dialog(("d.csv", files.DIARY), ("r.csv", files.RATINGS), ("w.csv", files.FILMS)))
    assert labels(app) == ["Alien (1979)", "Heat (1995)", "Toy Story (1995)"]
    assert app.session_state.visitor.ratings == {"Heat (1995)": 0.5, "Toy Story (1995)": 4.5}
    assert app.session_state.rate_by == "stars"
    told = [caption.value for caption in app.caption]
    assert "Watched on 30 December 2023. You gave it 0.5 stars." in told
    assert "Watched 2 times, last on 2 January 2024. You gave it 4.5 stars." in told


def test_headings_and_reasons_are_translated_but_not_what_files_say(monkeypatch):
    monkeypatch.setattr(import_review, "_", str.upper)
    table = pd.DataFrame(
        [("Next", "no such film", "none")], columns=["in your files", "reason for leaving it out", "file"]
    )
    shown = import_review.translate_table(table)
    assert shown.iloc[0].tolist() == ["Next", "NO SUCH FILM", "none"]
    assert list(shown.columns) == ["IN YOUR FILES", "REASON FOR LEAVING IT OUT", "FILE"]


def test_dates_in_two_readings_are_asked_and_the_answer_counts(dialog):
    text = "Title,Date\nHeat,5/2/25\nAlien,6/1/25\nToy Story,2/3/25\n"
    app = dialog(("n.csv", text))
    question = app.button_group[0]
    assert question.label.replace("\\", "") == "What does 5/2/25 in n.csv mean?"
    assert list(question.options) == ["5 February 2025", "2 May 2025"]
    orders = []
    for reading in (True, False):
        app = dialog(("n.csv", text))
        app.button_group[0].set_value(reading).run()
        orders.append(labels(use(app)))
    assert orders == [
        ["Alien (1979)", "Heat (1995)", "Toy Story (1995)"],
        ["Toy Story (1995)", "Heat (1995)", "Alien (1979)"],
    ]


def test_a_watchlist_is_not_taken(dialog):
    app = dialog(("films.csv", files.FILMS))
    app.button_group[0].set_value(True).run()
    assert "use-history" not in keys(app)
    assert "Not imported: 2 entries" in [expander.label for expander in app.expander]


def test_the_columns_of_an_unknown_file_are_chosen(dialog):
    app = dialog(("list.csv", "what,when\nHeat,2023-01-24\nAlien,2023-01-25\n"))
    assert "use-history" not in keys(app)
    menus = {menu.label: menu for menu in app.selectbox}
    menus["Title"].set_value("what").run()
    {menu.label: menu for menu in app.selectbox}["Watch date"].set_value("when").run()
    assert labels(use(app)) == ["Heat (1995)", "Alien (1979)"]
    assert app.session_state.visitor.current.watched_by_key["Alien (1979)"].last_date == datetime(2023, 1, 25)
    assert app.session_state.link["order"] == "true"


def test_an_import_without_dates_is_not_in_the_order_of_watching(dialog):
    app = use(dialog(("list.csv", "Title,Year\nHeat,1995\nAlien,1979\n"), s="1-2", order="true"))
    assert labels(app) == ["Heat (1995)", "Alien (1979)"]
    assert "order" not in app.session_state.link
    app.button(key="undo").click().run()
    assert app.session_state.link["order"] == "true"


def test_the_column_of_series_can_be_chosen(dialog):
    app = dialog(("list.csv", "Title,what\nHeat,film\nAlien,series\n"))
    {menu.label: menu for menu in app.selectbox}["Film or series"].set_value("what").run()
    assert labels(use(app)) == ["Heat (1995)"]


def test_the_cells_of_an_unknown_file_are_no_markdown(dialog):
    table = dialog(("list.csv", "*what*,when\n**Heat**,2023-01-24\n")).table[0].value
    assert list(table.columns) == [r"\*what\*", "when"]
    assert table.iloc[0, 0] == r"\*\*Heat\*\*"


def test_what_is_unsure_is_reviewed_and_nothing_is_dropped_in_silence(dialog):
    text = "Title,Year,Date\nReservoir Dogz,1992,2023-01-02\nAlien,1977,2023-01-03\nNowhere,1950,2023-01-04\n"
    text += "Fargo,1996,2023-01-05\n"
    app = dialog(("l.csv", text))
    dogs, alien = [menu for menu in app.selectbox if menu.key.startswith("check-")]
    assert dogs.options[0] == "None of these"
    assert dogs.value == world.TITLES.index("Reservoir Dogs (1992)")  # proposed, as the year agrees
    assert "Alien (1979)" in alien.options[1]
    assert alien.value is None  # two years off: nobody can tell
    lost = app.dataframe[0].value
    assert lost["in your files"].tolist() == ["Alien (1977)", "Nowhere (1950)"]
    assert lost["reason for leaving it out"].tolist() == ["none of the films that were offered", "not in this data set"]
    alien.set_value(world.TITLES.index("Alien (1979)")).run()
    assert app.dataframe[0].value["in your files"].tolist() == ["Nowhere (1950)"]
    assert labels(use(app)) == ["Reservoir Dogs (1992)", "Alien (1979)", "Fargo (1996)"]


def test_the_methods_add_up_to_the_number_of_films(dialog):
    app = dialog(("l.csv", "Title,Year\nReservoir Dogz,1992\nAlien,1977\nFargo,1996\n"))
    _dogs, alien = [menu for menu in app.selectbox if menu.key.startswith("check-")]
    for n_films in (2, 3):  # before and after the choice of a film
        (summary,) = [each.value for each in app.markdown if "of your films" in each.value]
        assert f"**{n_films}** of your films" in summary
        assert sum(map(int, re.findall(r"\d+", summary.rpartition(":")[2]))) == n_films
        alien.set_value(world.TITLES.index("Alien (1979)")).run()


def test_two_files_of_one_name_are_reviewed_line_by_line(dialog):
    dogs, alien = "Title,Year\nReservoir Dogz,1992\n", "Title,Year\nAlien,1977\n"
    app = dialog(("list.csv", dogs), ("list.csv", alien))
    menus = [menu for menu in app.selectbox if menu.key.startswith("check-")]
    assert len(menus) == 2
    menus[1].set_value(world.TITLES.index("Alien (1979)")).run()
    assert labels(use(app)) == ["Reservoir Dogs (1992)", "Alien (1979)"]


def test_a_choice_does_not_outlive_the_column_of_the_titles(dialog):
    app = dialog(("list.csv", "a,b\nReservoir Dogz,Fargoo\n"))
    columns = {menu.label: menu for menu in app.selectbox}
    columns["Title"].set_value("a").run()
    (check,) = [menu for menu in app.selectbox if menu.key.startswith("check-")]
    check.set_value(world.TITLES.index("Reservoir Dogs (1992)")).run()
    {menu.label: menu for menu in app.selectbox}["Title"].set_value("b").run()
    assert not app.exception
    (check,) = [menu for menu in app.selectbox if menu.key.startswith("check-")]
    check.set_value(world.TITLES.index("Fargo (1996)")).run()
    assert labels(use(app)) == ["Fargo (1996)"]


def test_films_of_the_list_are_replaced_and_undo_brings_them_back(dialog):
    app = dialog(("d.csv", files.DIARY), s="1-2")
    before = labels(app)
    assert len(before) == 2
    assert "This replaces the 2 films in your list. You can undo it." in said(app)
    assert labels(use(app)) == ["Heat (1995)", "Toy Story (1995)"]
    app.button(key="undo").click().run()
    assert labels(app) == before


def test_a_history_with_no_film_of_the_set_says_so(dialog):
    app = dialog(("l.csv", "Title,Year\nNowhere,1950\n"))
    assert "use-history" not in keys(app)
    assert "None of these films is in" in said(app)


def test_films_to_check_are_not_called_missing(dialog):
    app = dialog(("l.csv", "Title\nToy Stori\n"))
    (menu,) = [menu for menu in app.selectbox if menu.key.startswith("check-")]
    menu.select_index(0).run()  # none of the suggested films
    assert not app.exception
    said_on_page = said(app) + "".join(each.label for each in app.expander)
    assert "Which film is it? 1 film to check" in said_on_page
    assert "None of these films is in" not in said_on_page


def test_what_a_file_says_is_never_taken_for_markup(dialog):
    evil = "Title,Year\n<script>x</script> **a** :red[b],1950\nHeaat <img src=x>,1995\n"
    app = dialog(("*evil*.csv", evil))
    assert not app.exception
    assert "**a**" not in " ".join(element.value for element in app.markdown)


def test_nothing_of_a_file_is_left_when_its_films_are_taken(dialog):
    app = use(dialog(("d.csv", files.DIARY + "2024-01-05,Secretly Watched,1999,u,,,,2024-01-02\n")))
    del app.session_state["importing"]  # of this script; in the app, the dialog has it
    assert "Secretly" not in repr(app.session_state)


def test_a_history_is_given_to_the_browser_only_on_request(dialog):
    app = dialog(("d.csv", files.DIARY + "2024-01-05,Nowhere,1950,u,2,,,2024-01-02\n"))
    assert app.toggle(key="keep-history").value is False
    assert "keep_in_browser" not in use(app).session_state
    app = dialog(("d.csv", files.DIARY + "2024-01-05,Nowhere,1950,u,2,,,2024-01-02\n"))
    app.toggle(key="keep-history").set_value(True).run()
    number, request = use(app).session_state.keep_in_browser
    assert (number, request["summary"].split()[0]) == (1, "3")
    kept = json.loads(request["text"])["watched"]
    assert {film["title"]: film.get("rating") for film in kept} == {"Heat": None, "Toy Story": 4.5, "Nowhere": 2.0}
    again = dialog(("kept.json", request["text"]))
    assert labels(use(again)) == ["Heat (1995)", "Toy Story (1995)"]
    assert again.session_state.visitor.current.watched_by_key["Toy Story (1995)"].n_viewings == 2


def test_a_history_of_thousands_of_films_works_and_the_address_stays_short(dialog):
    n = 1_500
    world.save(world.build(titles=[f"Film number {film} (2000)" for film in range(n)]))
    lines = [f"Film number {film},2000,{film % 5 + 0.5},{film + 1_000_000_000}" for film in range(n)]
    app = use(dialog(("l.csv", "\n".join(["Title,Year,Rating,Date", *lines]))))
    assert app.session_state.visitor.current.films == tuple(range(n))
    assert len(app.session_state.visitor.ratings) == n
    link = app.session_state.link
    assert sum(map(len, link.values())) < 7_000
    assert link["s"].startswith("e")
    assert link["s"].endswith(f"-{n}")
    assert link["rated"].endswith(f"~{n}.4.5")


def paste(app, text):
    app.text_area(key="history-text").set_value(text).run()
    assert not app.exception
    return app


def test_pasted_titles_are_added_to_the_films_as_favourites(dialog):
    app = paste(dialog(s="1"), "Heat (1995)\nToy Stroy\nStar Wars (1977)\nNo such film at all")
    assert "Which film is it? 1 film to check" in said(app) + "".join(each.label for each in app.expander)
    app.button(key="add-pasted").click().run()
    assert not app.exception
    assert labels(app) == ["Star Wars (1977)", "Heat (1995)", "Toy Story (1995)"]
    assert "order" not in app.session_state.link
    app.button(key="undo").click().run()
    assert labels(app) == ["Star Wars (1977)"]


def test_other_pasted_titles_are_reviewed_again_and_can_be_imported_with_files(dialog):
    app = paste(dialog(("diary.csv", files.DIARY)), "Fargo (1996)")
    paste(app, "Alien (1979)")
    assert labels(use(app)) == ["Alien (1979)", "Heat (1995)", "Toy Story (1995)"]
