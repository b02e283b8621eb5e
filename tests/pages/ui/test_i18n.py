import ast
from importlib import import_module

import pytest

from pages.ui import i18n
from recsys.paths import REPOSITORY

PAGES = sorted((REPOSITORY / "pages").rglob("*.py"))
WORDS = [path for path in PAGES if path.stem.endswith("words")]
PO = """
msgid ""
msgstr ""
"Plural-Forms: nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"

msgid "Add a film"
msgstr "Додати фільм"

msgid "{n:,} films"
msgid_plural "{n:,} films"
msgstr[0] "{n:,} фільм"
msgstr[1] "{n:,} фільми"
msgstr[2] "{n:,} фільмів"

msgid "in {all} lists, {n} films"
msgid_plural "in {all} lists, {n} films"
msgstr[0] "{n} фільм, списків: {all}"
msgstr[1] "{n} фільми, списків: {all}"
msgstr[2] "{n} фільмів, списків: {all}"

msgid "{share:.1%} of {all} films"
msgstr "{share:.1%} з {all} фільмів"

#, fuzzy
msgid "Not sure"
msgstr "Хтозна"
"""


@pytest.fixture
def ukrainian(tmp_path, monkeypatch):
    """A visitor who reads Ukrainian, with a small catalogue; yields its file."""
    (tmp_path / "uk.po").write_text(PO, "utf-8")
    monkeypatch.setattr(i18n, "TRANSLATIONS", tmp_path)
    monkeypatch.setattr(i18n, "current", lambda: "uk")
    read_anew()
    yield tmp_path / "uk.po"
    read_anew()


def read_anew():
    """Let the catalogues be read from disk again."""
    for cached in (i18n.texts, i18n.known, i18n._catalog, i18n._plurals):
        cached.cache_clear()


DAMAGED = {
    "not UTF-8": PO.encode().replace("Додати".encode(), b"\xff\xfe"),
    "not a catalogue": b"<html></html>",
    "placeholder that is not in the English text": PO.replace("{share:.1%} з", "{shade:.1%} з").encode(),
    "format that is not in the English text": PO.replace("{share:.1%} з", "{share:.1q} з").encode(),
    "open brace": PO.replace("{all} фільмів", "{all фільмів").encode(),
    "division by zero": PO.replace("n%10==1", "n%00==1").encode(),
    "unknown plural rule": PO.replace("plural=(", "plural=<").encode(),
}


@pytest.mark.parametrize("damage", [*DAMAGED, "missing"])
def test_a_damaged_catalogue_leaves_english_and_one_warning(ukrainian, caplog, damage):
    if damage == "missing":
        ukrainian.unlink()
    else:
        ukrainian.write_bytes(DAMAGED[damage])
    assert [i18n.say(text) for text in ("Add a film", "", "{n:,} films")] == ["Add a film", "", "{n:,} films"]
    assert i18n.say("{share:.1%} of {all} films").format(share=0.5, all=7) == "50.0% of 7 films"
    assert i18n.known() == {}
    (warning,) = caplog.records
    assert str(ukrainian) in warning.getMessage()


def test_an_altered_byte_of_a_catalogue_never_stops_a_page(ukrainian):
    given = {"n": 21, "all": 3, "share": 0.5}
    sources = ("Add a film", "{n:,} films", "in {all} lists, {n} films", "{share:.1%} of {all} films")
    data = PO.encode()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        ukrainian.write_bytes(changed)
        read_anew()
        for source in sources:
            assert i18n.say(source).format(**given) is not None


def test_the_app_with_a_damaged_catalogue_is_in_english(visit, tmp_path, monkeypatch):
    (tmp_path / "uk.po").write_bytes(b"\xff" * 100)
    (tmp_path / "en.po").write_bytes(b"\xff" * 100)
    monkeypatch.setattr(i18n, "TRANSLATIONS", tmp_path)
    read_anew()
    try:
        app = visit(lang="uk")
        assert not app.exception
        assert app.title[0].value == "Watch next"
    finally:
        read_anew()


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "1 фільм"),
        (3, "3 фільми"),
        (5, "5 фільмів"),
        (11, "11 фільмів"),
        (21, "21 фільм"),
        (1202, "1\xa0202 фільми"),
    ],
)
def test_the_noun_follows_the_number(ukrainian, n, said):
    assert i18n.say("{n:,} films").format(n=n) == said


def test_of_several_numbers_the_one_called_n_decides(ukrainian):
    assert i18n.say("in {all} lists, {n} films").format(all=5, n=1) == "1 фільм, списків: 5"


def test_numbers_are_written_as_the_language_has_them(ukrainian):
    assert i18n.say("{share:.1%} of {all} films").format(share=0.0325, all=7) == "3,2% з 7 фільмів"
    assert (i18n.number(1234.5, ",.1f"), i18n.count(6040)) == ("1\xa0234,5", "6\xa0040")


def test_texts_inside_tuples_and_dicts_are_translated_and_keys_are_not(ukrainian):
    assert i18n.say({"Add a film": ("Add a film", 3)}) == {"Add a film": ("Додати фільм", 3)}


@pytest.mark.parametrize("text", ["Nobody has translated this", "Not sure", ""])
def test_what_is_not_translated_stays_english(ukrainian, text):
    assert i18n.say(text) == text


def test_names_are_joined_as_the_language_does(ukrainian):
    assert i18n.joined(["A", "B", "C"]) == "A, B і C"


def test_english_is_as_it_is_written():
    assert i18n.joined(["A", "B", "C"]) == "A, B and C"
    assert (i18n.number(1234.5, ",.1f"), i18n.count(6040)) == ("1,234.5", "6,040")


def test_a_browser_that_asks_for_ukrainian_gets_it_and_any_visitor_can_switch(visit, monkeypatch):
    monkeypatch.setattr("pages.ui.dataset_menu.label", str)  # AppTest trips over a changed label
    app = visit(lang="uk")
    assert app.title[0].value == "Що дивитися далі"
    app.segmented_control(key="chosen_language").set_value("en").run()
    assert app.title[0].value == "Watch next"
    app.segmented_control(key="chosen_language").set_value("uk").run()
    assert app.query_params["lang"] == "uk"


def test_a_choice_has_the_same_address_in_every_language(visit):
    app = visit(lang="uk", view="list")
    assert app.query_params["view"] == "list"


def test_words_are_read_when_they_are_needed():
    """What is read while a module is imported, in the language of nobody, stays English."""
    assert [found for path in PAGES for found in read_too_early(path)] == []


@pytest.mark.parametrize("path", WORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_words_module_speaks_and_its_functions_say_the_texts_that_they_read(path):
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.unparse(tree.body[-1]) == "speak(__name__)"
    module = import_module(path.relative_to(REPOSITORY).with_suffix("").as_posix().replace("/", "."))
    own = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    texts = {name for name in own if name.isupper() and isinstance(getattr(module, name), str | tuple | dict)}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    said = {name for function in functions for call in ast.walk(function) if is_say(call) for name in ast.walk(call)}
    read = [name for function in functions for name in ast.walk(function) if isinstance(name, ast.Name)]
    assert [name.id for name in read if name.id in texts and name not in said] == []


def is_say(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say"


def read_too_early(path):
    """Lines of a module that read a word outside of a function."""
    modules = {"words", "common", "lesson_words"}

    def visit(node):
        if isinstance(node, ast.FunctionDef):
            outside = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
        elif isinstance(node, ast.Lambda):
            return
        else:
            outside = ast.iter_child_nodes(node)
            if isinstance(node, ast.Attribute) and node.attr.isupper() and ast.unparse(node.value) in modules:
                yield f"{path.relative_to(REPOSITORY)}:{node.lineno}: {ast.unparse(node)}"
        for child in outside:
            if child is not None:
                yield from visit(child)

    if path.name[0].isdigit():
        return  # scripts run for every visit
    for node in ast.parse(path.read_text("utf-8")).body:
        yield from visit(node)
