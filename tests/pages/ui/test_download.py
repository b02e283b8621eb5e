import pandas as pd

from pages.ui import charts, i18n
from recsys.serving import share_image


def test_text_that_a_spreadsheet_would_run_is_made_harmless():
    assert charts.as_csv(pd.DataFrame({"film": ["=1+1", "Heat"], "rank": [1, -2]})) == "film,rank\n'=1+1,1\nHeat,-2\n"


def test_headings_and_the_index_are_made_harmless_too():
    table = pd.DataFrame([[1]], index=["@sum"], columns=["=1+1"])
    assert charts.as_csv(table.reset_index()) == "index,'=1+1\n'@sum,1\n"


def test_what_begins_with_a_carriage_return_is_made_harmless():
    heading, cell = charts.as_csv(pd.DataFrame({"\r=1": ["\r=1+1"]})).split('"\n')[:2]
    assert heading.startswith("\"'")
    assert cell.startswith("\"'")


def test_a_small_table_is_drawn_when_its_picture_is_asked_for():
    assert charts.png_renderer(pd.DataFrame({"film": ["Amélie"], "rank": [1]}), "Films")().startswith(b"\x89PNG")


def test_the_picture_is_in_the_language_of_the_visitor(monkeypatch):
    drawn = []
    for module in (i18n, charts):
        monkeypatch.setattr(module, "current_language", lambda: "uk")
    monkeypatch.setattr(charts.share_image, "table_png", lambda *arguments: drawn.append(arguments))
    draw = charts.png_renderer(pd.DataFrame({"movie_id": [1], "genres": ["Crime|Drama"], "score": [1082.25]}), "Назва")
    monkeypatch.setattr(i18n, "current_language", lambda: "en")  # Streamlit draws it after the run of the page
    draw()
    table, title, _footer, _fonts, format_number = drawn[0]
    assert list(table.columns) == ["код фільму", "жанри", "бал"]
    assert table["жанри"].tolist() == ["Кримінал, Драма"]
    assert title == "Назва"
    assert share_image._cell_text(1082.25, format_number) == "1\xa0082,2500"


def test_the_fonts_of_the_page_are_still_where_they_used_to_be():
    """If this fails after an update of Streamlit, pictures still work, but without accents."""
    found = charts.fonts()
    assert found.title
    assert found.text
