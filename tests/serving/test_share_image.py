import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from recsys.data.dataset import Film
from recsys.serving import share_image
from recsys.serving.motifs import Shape
from recsys.serving.poster_art import design_poster, poster_image
from recsys.serving.share_image import DEFAULT_FONTS, SCALE, WIDTH, Canvas, ShareTexts, scaled, text_width, wrap_text

WORDS = ShareTexts("I watched", "and 3 before", "and what comes next", "Predicted by a toy", "http://localhost/?s=1-2")
FILMS = [Film(n, f"Film & number {n}", 2000 + n, "Sci-Fi") for n in range(9)]
PICKS = [(film, "4.2%") for film in FILMS]


def opened(*args, **settings):
    return Image.open(io.BytesIO(share_image.share_png(*args, **settings)))


def test_the_picture_is_a_png_of_one_size_whatever_is_on_it():
    full, sparse = opened(FILMS, PICKS, WORDS), opened(FILMS[:1], PICKS[:1], WORDS)
    assert full.format == "PNG"
    assert full.size == sparse.size == (WIDTH * SCALE, 868 * SCALE)


def test_the_picture_depends_on_the_newest_films_and_the_first_picks_alone():
    newest, best = FILMS[-share_image.MAX_WATCHED :], PICKS[: share_image.MAX_RECOMMENDED]
    image = share_image.share_png(FILMS, PICKS, WORDS)
    assert image == share_image.share_png(newest, best, WORDS)
    assert image != share_image.share_png(FILMS, PICKS[1:], WORDS)


@pytest.mark.parametrize(
    "title", ["Amélie", "千と千尋の神隠し", "", "A" * 300, "Se7en (a.k.a. Seven)", "(500)", "x\ny\tz"]
)
def test_no_title_breaks_it(title):
    strange = Film(1, title, None, "")
    assert opened([strange], [(strange, "")], ShareTexts("", "", "", "", "")).size[0] == WIDTH * SCALE


def test_a_poster_is_drawn_as_the_page_draws_it():
    """A flat background, one white disc and the shade: three points whose colours can be worked out."""
    drawn = design_poster("Any", 2000, "Drama")
    flat = drawn.background._replace(stops=((0, "#804020"), (1, "#804020")), radius=0.0, end=(0, 300), start=(0, 0))
    disc = Shape(((100, 60),), 30, 0.5)
    image = np.asarray(poster_image(drawn._replace(background=flat, shapes=[disc]), 200, 300), float)
    assert image[5, 5] == pytest.approx([0x80, 0x40, 0x20], abs=1)
    assert image[60, 100] == pytest.approx([(0x80 + 255) / 2, (0x40 + 255) / 2, (0x20 + 255) / 2], abs=1)
    assert image[299, 5] == pytest.approx(np.array([0x80, 0x40, 0x20]) * (1 - 0.76), abs=1)


TABLE = pd.DataFrame({"film": ["Heat", "Amélie"], "rank": [1, 22], "probability": [0.0421, np.nan]})


def test_a_table_becomes_a_picture_as_high_as_it_has_rows():
    two, four = (
        Image.open(io.BytesIO(share_image.table_png(table, "Ranks", "NextReel"))).size
        for table in (TABLE, pd.concat([TABLE, TABLE]))
    )
    assert four[0] == two[0]
    assert four[1] - two[1] == pytest.approx(scaled(2 * 36), abs=1)


def test_a_long_cell_is_cut_off():
    long = TABLE.assign(film="x" * 5000)
    assert Image.open(io.BytesIO(share_image.table_png(long, "Ranks", ""))).size[0] < 1000 * SCALE


def test_cells_are_written_as_people_read_them():
    values = [0.0421, 1234.5, float("nan"), None, 0.0000123, 3, "Heat", pd.NA, 0.5]
    assert list(map(share_image._cell_text, values)) == [
        "0.0421",
        "1,234.5000",
        "",
        "",
        "1.2e-05",
        "3",
        "Heat",
        "",
        "0.5000",
    ]


def test_only_tables_that_can_be_read_as_a_picture_fit():
    assert share_image.fits_image(TABLE)
    assert not share_image.fits_image(TABLE.iloc[:0])
    assert not share_image.fits_image(pd.DataFrame(np.zeros((61, 2))))
    assert not share_image.fits_image(pd.DataFrame(np.zeros((2, 13))))


def test_long_words_are_broken_and_long_texts_end_in_dots():
    rows = wrap_text(DEFAULT_FONTS, "a" * 400, 200, 20, max_lines=2)
    assert len(rows) == 2
    assert rows[1].endswith("…")
    assert all(text_width(DEFAULT_FONTS, row, 20) <= 200 for row in rows)


def test_a_text_that_fits_stays_in_one_line_and_others_break_at_spaces():
    assert wrap_text(DEFAULT_FONTS, "one two", 1000, 20, max_lines=2) == ["one two"]
    assert wrap_text(DEFAULT_FONTS, "one two", text_width(DEFAULT_FONTS, "one two", 20) - 1, 20, max_lines=2) == [
        "one",
        "two",
    ]
    assert wrap_text(DEFAULT_FONTS, "  ", 100, 20, max_lines=2) == []


def test_without_a_font_accents_are_left_out_instead_of_drawn_as_boxes():
    assert share_image.supported_text(DEFAULT_FONTS, "Amélie … 3×") == "Amelie ... 3x"
    assert share_image.supported_text(share_image.Fonts(text=share_image.Path("any.woff2")), "Amélie") == "Amélie"


def test_what_is_drawn_lies_where_it_should():
    sheet = Canvas(DEFAULT_FONTS, 100, 100, "#000000")
    sheet.text((50, 50), "X", 30, "#ffffff")
    left, top, right, bottom = sheet.image.getbbox()
    assert 50 * SCALE <= left < right <= 80 * SCALE
    assert 50 * SCALE <= top < bottom <= 90 * SCALE
