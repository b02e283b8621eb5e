import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from recsys.data.dataset import Film
from recsys.serving import picture
from recsys.serving.canvas import SCALE, scaled
from recsys.serving.films import poster_image
from recsys.serving.films.motifs import Shape
from recsys.serving.films.poster_art import poster
from recsys.serving.picture import WIDTH, Words

WORDS = Words("I watched", "and 3 before", "and next comes", "Predicted by a toy", "http://localhost/?s=1-2")
FILMS = [Film(n, f"Film & number {n}", 2000 + n, "Sci-Fi") for n in range(9)]
PICKS = [(film, "4.2%") for film in FILMS]


def opened(*args, **settings):
    return Image.open(io.BytesIO(picture.png(*args, **settings)))


def test_the_picture_is_a_png_of_one_size_whatever_is_on_it():
    full, sparse = opened(FILMS, PICKS, WORDS), opened(FILMS[:1], PICKS[:1], WORDS)
    assert full.format == "PNG"
    assert full.size == sparse.size == (WIDTH * SCALE, 868 * SCALE)


def test_the_same_films_give_the_same_picture_and_others_another():
    assert picture.png(FILMS, PICKS, WORDS) == picture.png(FILMS, PICKS, WORDS)
    assert picture.png(FILMS, PICKS, WORDS) != picture.png(FILMS, PICKS[1:], WORDS)


def test_the_newest_films_are_shown_and_the_first_picks():
    newest = FILMS[-picture.WATCHED :]
    assert picture.png(FILMS, PICKS, WORDS) == picture.png(newest, PICKS[: picture.NEXT], WORDS)


@pytest.mark.parametrize(
    "title", ["Amélie", "千と千尋の神隠し", "", "A" * 300, "Se7en (a.k.a. Seven)", "(500)", "x\ny\tz"]
)
def test_no_title_breaks_it(title):
    strange = Film(1, title, None, "")
    assert opened([strange], [(strange, "")], Words("", "", "", "", "")).size[0] == WIDTH * SCALE


def test_a_poster_is_drawn_as_the_page_draws_it():
    """A flat background, one white disc and the shade: three points whose colours can be worked out."""
    drawn = poster("Any", 2000, "Drama")
    flat = drawn.background._replace(stops=((0, "#804020"), (1, "#804020")), radius=0.0, end=(0, 300), start=(0, 0))
    disc = Shape(((100, 60),), 30, 0.5)
    image = np.asarray(poster_image.image(drawn._replace(background=flat, shapes=[disc]), 200, 300), float)
    assert image[5, 5] == pytest.approx([0x80, 0x40, 0x20], abs=1)
    assert image[60, 100] == pytest.approx([(0x80 + 255) / 2, (0x40 + 255) / 2, (0x20 + 255) / 2], abs=1)
    assert image[299, 5] == pytest.approx(np.array([0x80, 0x40, 0x20]) * (1 - 0.76), abs=1)


TABLE = pd.DataFrame({"film": ["Heat", "Amélie"], "rank": [1, 22], "probability": [0.0421, np.nan]})


def test_a_table_becomes_a_picture_as_high_as_it_has_rows():
    two, four = (
        Image.open(io.BytesIO(picture.table_png(table, "Ranks", "NextReel"))).size
        for table in (TABLE, pd.concat([TABLE, TABLE]))
    )
    assert four[0] == two[0]
    assert four[1] - two[1] == pytest.approx(scaled(2 * 36), abs=1)


def test_a_long_cell_is_cut_off():
    long = TABLE.assign(film="x" * 5000)
    assert Image.open(io.BytesIO(picture.table_png(long, "Ranks", ""))).size[0] < 1000 * SCALE


def test_cells_are_written_as_people_read_them():
    values = [0.0421, 1234.5, float("nan"), None, 0.0000123, 3, "Heat", pd.NA, 0.5]
    assert list(map(picture._cell, values)) == ["0.0421", "1,234.5000", "", "", "1.2e-05", "3", "Heat", "", "0.5000"]


def test_only_tables_that_can_be_read_as_a_picture_fit():
    assert picture.fits(TABLE)
    assert not picture.fits(TABLE.iloc[:0])
    assert not picture.fits(pd.DataFrame(np.zeros((61, 2))))
    assert not picture.fits(pd.DataFrame(np.zeros((2, 13))))
