import re
from xml.etree import ElementTree

import pytest

from recsys.serving.films.poster_art import STYLES, UNKNOWN, art, art_url


@pytest.mark.parametrize("genres", [*STYLES, "", "Children's", "Something new", "Comedy|Drama|Romance"])
def test_every_genre_has_well_formed_art_of_two_by_three(genres):
    root = ElementTree.fromstring(art("Any & <Film>", 1999, genres))
    assert root.attrib["viewBox"] == "0 0 200 300"


def test_a_film_always_looks_the_same_and_another_one_different():
    assert art("Heat", 1995, "Crime") == art("Heat", 1995, "Crime")
    assert art("Heat", 1995, "Crime") != art("Heat", 1986, "Crime")


def test_the_most_telling_genre_decides_whatever_the_order():
    assert STYLES["Animation"][0] in art("Toy Story", 1995, "Children's|Comedy|Animation")
    assert art("Alien", 1979, "Action|Sci-Fi") == art("Alien", 1979, "Sci-Fi|Action")


def test_white_words_can_be_read_on_every_colour():
    """WCAG AA for large type (3:1) where titles begin at the earliest, 45 % down, through the darkening layer."""
    for colour, _ in [*STYLES.values(), UNKNOWN]:
        channels = [int(colour[start : start + 2], 16) / 255 * 0.8 + 0.2 for start in (1, 3, 5)]  # under a white motif
        darkness = 0.58 * (0.45 - 0.22) / (0.58 - 0.22)
        linear = [(((value * (1 - darkness)) + 0.055) / 1.055) ** 2.4 for value in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 3


def test_the_address_needs_no_network():
    assert re.fullmatch(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", art_url("Heat", 1995, "Crime"))
