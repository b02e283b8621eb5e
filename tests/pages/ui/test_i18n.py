from types import SimpleNamespace

import pytest
from streamlit.runtime.state import SessionState

from pages.ui import format, i18n
from pages.ui.i18n import _, ngettext
from tests.pages.translation import MARKED, mark

PO = """
msgid ""
msgstr ""
"Plural-Forms: nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"

msgid "Add a film"
msgstr "Додати фільм"

msgid "{n:,} film in {k} lists"
msgid_plural "{n:,} films in {k} lists"
msgstr[0] "{n:,} фільм, списків: {k}"
msgstr[1] "{n:,} фільми, списків: {k}"
msgstr[2] "{n:,} фільмів, списків: {k}"

msgid "{share:.1%} of {all} films"
msgstr "{share:.1%} з {all} фільмів"

#, fuzzy
msgid "Not sure"
msgstr "Хтозна"
"""
ITEMS = PO[: PO.index('msgid "Add')] + 'msgid "Add a film"\nmsgstr "Додати об’єкт"\n'


@pytest.fixture
def ukrainian(tmp_path, monkeypatch):
    """A visitor who reads Ukrainian, with small catalogues; yields the file of the larger one."""
    (tmp_path / "uk.po").write_text(PO, "utf-8")
    (tmp_path / "uk@item.po").write_text(ITEMS, "utf-8")
    monkeypatch.setattr(i18n, "CATALOGS", tmp_path)
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    i18n.translations.cache_clear()
    yield tmp_path / "uk.po"
    i18n.translations.cache_clear()


def texts():
    return _("Add a film"), ngettext("{n:,} film in {k} lists", "{n:,} films in {k} lists", 1202, k=3)


DAMAGED = {
    "not UTF-8": PO.encode().replace("Додати".encode(), b"\xff\xfe"),
    "not a catalogue": b"<html></html>",
    "division by zero": PO.replace("n%10==1", "n%00==1").encode(),
    "unknown plural rule": PO.replace("plural=(", "plural=<").encode(),
}


@pytest.mark.parametrize("damage", [*DAMAGED, "missing"])
def test_a_damaged_catalogue_leaves_english_and_one_warning(ukrainian, caplog, damage):
    if damage == "missing":
        ukrainian.unlink()
    else:
        ukrainian.write_bytes(DAMAGED[damage])
    assert texts() == ("Add a film", "1\xa0202 films in 3 lists")
    (warning,) = caplog.records
    assert str(ukrainian) in warning.getMessage()


def test_the_app_with_a_damaged_catalogue_is_in_english(visit, ukrainian, monkeypatch):
    ukrainian.write_bytes(b"\xff" * 100)
    app = visit(lang="uk")
    assert not app.exception
    assert app.title[0].value == "Watch next"


@pytest.mark.parametrize(
    ("n", "noun"), [(1, "фільм"), (3, "фільми"), (5, "фільмів"), (11, "фільмів"), (21, "фільм"), (1202, "фільми")]
)
def test_the_plural_form_follows_n(ukrainian, n, noun):
    text = ngettext("{n:,} film in {k} lists", "{n:,} films in {k} lists", n, k=5)
    assert text == f"{n:,} {noun}, списків: 5".replace(",", "\xa0", n > 999)


def test_english_has_plural_forms_too():
    assert [ngettext("{n} film", "{n} films", n) for n in (0, 1, 2)] == ["0 films", "1 film", "2 films"]


def test_numbers_and_lists_are_written_as_the_language_does(ukrainian):
    assert _("{share:.1%} of {all} films", share=0.0325, all=7) == "3,2% з 7 фільмів"
    assert (i18n.number(1234.5, ",.1f"), i18n.count(6040)) == ("1\xa0234,5", "6\xa0040")
    assert i18n.join_names(["A", "B", "C"]) == "A, B і C"


def test_numbers_and_lists_in_english():
    assert (i18n.number(1234.5, ",.1f"), i18n.count(6040)) == ("1,234.5", "6,040")
    assert i18n.join_names(["A", "B", "C"]) == "A, B and C"


def test_values_are_never_formatted_again(ukrainian):
    assert _("{share:.1%} of {all} films", share=0.5, all="{x}") == "50,0% з {x} фільмів"


@pytest.mark.parametrize("text", ["Not translated", "Not sure", ""])
def test_a_text_without_a_certain_translation_stays_english(ukrainian, text):
    assert _(text) == text


def test_a_set_of_items_has_texts_of_its_own_and_all_others_of_its_language(ukrainian, monkeypatch):
    monkeypatch.setattr(i18n, "current_noun", lambda: "item")
    assert texts() == ("Додати об’єкт", "1\xa0202 фільми, списків: 3")


def test_the_kind_of_another_set_does_not_depend_on_the_open_set(monkeypatch):
    monkeypatch.setattr(i18n, "current_noun", lambda: "item")
    assert (format.plural_noun("film"), format.plural_noun("item")) == ("films", "items")


def test_the_pseudo_language_marks_texts_but_not_their_fields(monkeypatch):
    mark(monkeypatch)
    text = _("Why {film}?", film="Heat")
    assert MARKED.sub("", text) == "Heat"


def test_a_browser_that_asks_for_ukrainian_gets_it_and_any_visitor_can_switch(visit, monkeypatch):
    # AppTest cannot send an option whose label has changed
    monkeypatch.setattr("pages.ui.dataset_menu.menu_label", str)
    app = visit(lang="uk")
    assert app.title[0].value == "Що дивитися далі"
    app.segmented_control(key="chosen_language").set_value("en").run()
    assert app.title[0].value == "Watch next"
    app.segmented_control(key="chosen_language").set_value("uk").run()
    assert app.query_params["lang"] == "uk"


def test_a_choice_has_the_same_address_in_every_language(visit):
    assert visit(lang="uk", view="list").query_params["view"] == "list"


def test_a_change_of_language_keeps_choices_and_no_files(visit, monkeypatch):
    monkeypatch.setattr("pages.ui.dataset_menu.menu_label", str)
    app = visit("compare", s="1-2", lang="uk")
    chosen = list(app.multiselect(key="compared").value)
    kept = {}
    app.session_state["uploads"] = [SimpleNamespace(name="history.csv")]
    set_item = SessionState.__setitem__
    monkeypatch.setattr(
        SessionState,
        "__setitem__",
        lambda state, key, value: kept.setdefault(key, value) or set_item(state, key, value),
    )
    app.segmented_control(key="chosen_language").set_value("en").run()
    assert not app.exception
    assert app.multiselect(key="compared").value == chosen
    assert "compared" in kept
    assert "uploads" not in kept
