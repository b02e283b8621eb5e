import pytest

from pages.ui import film_themes, i18n
from recsys import paths
from recsys.data import film_tables, published


def test_the_list_has_the_themes_of_the_table(monkeypatch):
    monkeypatch.setattr(paths, "ASSETS", paths.REPOSITORY / "assets")
    films = film_tables.themes(published.DEFAULT_DATASET).values()
    assert set(film_themes.THEMES) == {theme for themes in films for theme in themes}
    assert list(film_themes.THEMES) == sorted(set(film_themes.THEMES))


@pytest.mark.parametrize("language", [language for language in i18n.LANGUAGES if language != i18n.ENGLISH])
def test_every_theme_has_a_translation_of_its_own(language):
    translations = i18n.read_catalog(language)
    names = [translations[theme].string.casefold() for theme in film_themes.THEMES if theme in translations]
    assert len(names) == len(set(names)) == len(film_themes.THEMES)


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
