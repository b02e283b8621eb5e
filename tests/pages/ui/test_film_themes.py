import pytest

from pages.ui import film_themes, i18n
from recsys import paths
from recsys.data import film_tables
from recsys.data.datasets import DEFAULT_DATASET


@pytest.fixture(autouse=True)
def shipped_themes(monkeypatch):
    monkeypatch.setattr(paths, "ASSETS", paths.REPOSITORY / "assets")


@pytest.mark.parametrize("language", [language for language in i18n.LANGUAGES if language != i18n.ENGLISH])
def test_every_theme_has_a_translation_of_its_own(language):
    translations = i18n.read_catalog(language)
    themes = {theme for themes in film_tables.themes(DEFAULT_DATASET).values() for theme in themes}
    names = [translations[theme].string.casefold() for theme in themes if theme in translations]
    assert len(names) == len(set(names)) == len(themes) > 200


def test_a_theme_is_found_by_its_name_in_the_language_of_the_visitor(monkeypatch):
    assert film_themes.english_theme_name("боКС") == "боКС"
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    assert film_themes.english_theme_name("  часова  Петля ") == "time loop"
    assert film_themes.english_theme_name("в'язниця") == "prison"
    assert film_themes.english_theme_name("boxing") == "boxing"


def test_a_genre_is_found_by_its_name_in_the_language_of_the_visitor(monkeypatch):
    assert film_themes.english_theme_name("комедія") == "комедія"
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    names = ("комедія", "жахи", "Драма", "наукова  фантастика", "для дітей")
    assert [*map(film_themes.english_theme_name, names)] == ["Comedy", "Horror", "Drama", "Sci-Fi", "Children's"]


def test_a_tag_is_the_name_of_a_theme_or_as_users_wrote_it():
    assert film_themes.display_tag_or_theme("jane austen") == "Jane Austen"
    assert film_themes.display_tag_or_theme("gory") == "gory"
    assert film_themes.display_tag_or_theme("Film-Noir") == "Film noir"
