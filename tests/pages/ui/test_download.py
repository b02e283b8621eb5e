import pandas as pd

from pages.ui import charts


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
    assert charts.as_png(pd.DataFrame({"film": ["Amélie"], "rank": [1]}), "hidden-film").startswith(b"\x89PNG")


def test_the_fonts_of_the_page_are_still_where_they_used_to_be():
    """If this fails after an update of Streamlit, pictures still work, but without accents."""
    found = charts.fonts()
    assert found.title
    assert found.text
