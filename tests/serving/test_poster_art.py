import random
import re
from xml.etree import ElementTree

import pytest

from recsys.serving import motifs
from recsys.serving.poster_art import SHADE, STYLES, TITLE_MOTIFS, UNKNOWN_STYLE, design_poster, poster_svg, poster_url

DRAWN = {motif for _, drawn in [*STYLES.values(), UNKNOWN_STYLE] for motif in drawn} | {
    motif for _, motif in TITLE_MOTIFS
}
MOTIFS = sorted(DRAWN, key=lambda motif: motif.__name__)  # the order of tests must not change from process to process


@pytest.mark.parametrize("genres", [*STYLES, "", "Children's", "Something new", "Comedy|Drama|Romance"])
def test_every_genre_has_well_formed_art_of_two_by_three(genres):
    for year in range(1990, 2000):  # ten compositions
        root = ElementTree.fromstring(poster_svg("Any & <Film>", year, genres))
        assert root.attrib["viewBox"] == "0 0 200 300"


def shows(shape):
    """Whether the box around a shape reaches into the upper half of the poster."""
    across, down = ([point[axis] for point in shape.points] for axis in (0, 1))
    r = shape.radius
    return max(across) + r > 0 and min(across) - r < 200 and max(down) + r > 0 and min(down) - r < 150


@pytest.mark.parametrize("motif", MOTIFS, ids=lambda motif: motif.__name__)
def test_every_motif_draws_something_where_it_shows(motif):
    for seed in range(20):
        shapes = motif(random.Random(seed))
        assert any(shows(shape) for shape in shapes)
        assert all(0 < shape.opacity < 1 for shape in shapes)


def test_a_film_always_looks_the_same_and_another_one_different():
    assert poster_svg("Heat", 1995, "Crime") == poster_svg("Heat", 1995, "Crime")
    assert poster_svg("Heat", 1995, "Crime") != poster_svg("Heat", 1986, "Crime")


def test_films_of_one_genre_are_a_family_but_no_twins():
    posters = [design_poster(f"Film number {number}", 2000, "Sci-Fi") for number in range(20)]
    assert len({len(one.shapes) for one in posters}) >= 5  # drawings
    assert len({(len(one.background.stops), one.background.radius > 0) for one in posters}) >= 4  # backgrounds
    assert len({one.background.stops[0][1] for one in posters}) == 20  # colours


def channels(genres):
    return [int(design_poster("Rose", None, genres).background.stops[0][1][at : at + 2], 16) for at in (1, 3, 5)]


def test_genres_of_other_things_have_a_colour_each_and_none_is_grey():
    colours = [channels(genre) for genre in ("Soap", "Cream", "Balm", "Shampoo")]
    assert all(max(colour) - min(colour) > 30 for colour in colours)
    assert len({tuple(colour) for colour in colours}) == 4
    assert max(channels("")) - min(channels("")) < 30
    assert poster_svg("Rose", None, "Soap") == poster_svg("Rose", None, "Soap") != poster_svg("Rose", None, "Cream")
    assert design_poster("Rose", None, "Soap|Drama") == design_poster("Rose", None, "Drama")
    assert design_poster("Rose", None, "") != design_poster("Rose", None, "Soap")


def test_a_word_of_the_title_is_drawn():
    full_moon = design_poster("A Full Moon", 2000, "Comedy")
    assert any(shape.radius > 29 and shape.opacity == 0.8 for shape in full_moon.shapes)
    assert len(design_poster("Winter Rain", 1999, "").shapes) == 60  # sixty strokes; "train" is no rain
    assert len(design_poster("The Train", 1999, "").shapes) != 60


def test_the_order_of_genres_does_not_matter():
    assert poster_svg("Alien", 1979, "Action|Sci-Fi") == poster_svg("Alien", 1979, "Sci-Fi|Action")


def test_white_words_can_be_read_on_every_colour():
    """WCAG AA for large type (3:1) where titles begin at the earliest, 45 % down, through the shade, even on white."""
    (before, dark), (after, darker), _ = SHADE
    darkness = dark + (darker - dark) * (0.45 - before) / (after - before)
    channel = 1 - darkness
    luminance = ((channel + 0.055) / 1.055) ** 2.4
    assert 1.05 / (luminance + 0.05) >= 3


def test_the_address_needs_no_network_and_is_short():
    assert re.fullmatch(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", poster_url("Heat", 1995, "Crime"))
    assert max(len(poster_url(f"Film {number}", 2000, genre)) for number in range(20) for genre in STYLES) < 40_000


def test_turning_keeps_distances():
    [shape] = motifs.rotate([motifs.polyline([(100, 50), (100, 100)])], 90)
    assert shape.points == (pytest.approx((150, 100)), pytest.approx((100, 100)))
