"""The shipped tables of languages and directors."""

import pytest

from recsys import paths
from recsys.data import film_tables, published


def test_languages_are_those_of_data_sets_with_common_movie_ids():
    languages = film_tables.original_languages(published.DEFAULT_DATASET)
    assert languages[4914] == "fr"  # Breathless (À bout de souffle)
    assert 1 not in languages  # Toy Story
    assert film_tables.original_languages("ml-1m") == languages
    assert film_tables.original_languages("ml-100k") == film_tables.original_languages("my-films") == {}
    lines = paths.film_table("languages").read_text("utf-8").splitlines()[1:]
    assert len(lines) == len(languages)
    assert all(len(code) in (2, 3) for code in languages.values())


def test_directors_are_those_of_data_sets_with_common_movie_ids():
    directors = film_tables.directors(published.DEFAULT_DATASET)
    assert directors[296] == ("Quentin Tarantino",)  # Pulp Fiction
    assert directors[6539] == ("Gore Verbinski",)  # Pirates of the Caribbean
    assert directors[2571] == ("Lana Wachowski", "Lilly Wachowski")  # The Matrix
    assert film_tables.directors("ml-100k") == film_tables.directors("my-films") == {}
    assert all(name == name.strip() != "" for names in directors.values() for name in names)


@pytest.mark.parametrize("table", [film_tables.original_languages, film_tables.directors])
def test_without_its_table_a_fact_is_unknown(table, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(paths, "ASSETS", tmp_path)
    assert table("ml-1m") == {}
    assert "ignored" in caplog.text
