from recsys.serving import canvas
from recsys.serving.canvas import PLAIN, SCALE, Canvas, length, wrapped


def test_long_words_are_broken_and_long_texts_end_in_dots():
    rows = wrapped(PLAIN, "a" * 400, 200, 20, most=2)
    assert len(rows) == 2
    assert rows[1].endswith("…")
    assert all(length(PLAIN, row, 20) <= 200 for row in rows)


def test_a_text_that_fits_stays_in_one_line_and_others_break_at_spaces():
    assert wrapped(PLAIN, "one two", 1000, 20, most=2) == ["one two"]
    assert wrapped(PLAIN, "one two", length(PLAIN, "one two", 20) - 1, 20, most=2) == ["one", "two"]
    assert wrapped(PLAIN, "  ", 100, 20, most=2) == []


def test_without_a_font_accents_are_left_out_instead_of_drawn_as_boxes():
    assert canvas.legible(PLAIN, "Amélie … 3×") == "Amelie ... 3x"
    assert canvas.legible(canvas.Fonts(text=canvas.Path("any.woff2")), "Amélie") == "Amélie"


def test_what_is_drawn_lies_where_it_should():
    sheet = Canvas(PLAIN, 100, 100, "#000000")
    sheet.text((50, 50), "X", 30, "#ffffff")
    left, top, right, bottom = sheet.image.getbbox()
    assert 50 * SCALE <= left < right <= 80 * SCALE
    assert 50 * SCALE <= top < bottom <= 90 * SCALE
