from dataclasses import replace

import pytest

from recsys import paths, storage
from recsys.data import film_details
from recsys.data.film_details import Details, FilmDetails
from tests import toys
from tests.artifacts import payload
from tests.data.wikidata_fake import OF_MATRIX

NOTHING: dict[str, list[str]] = {}


pytestmark = pytest.mark.usefixtures("home")


def test_what_is_written_is_read_again_whatever_stands_in_it():
    strange = {"titles": ['He said "NA", then left', "NaN", "null", "黑客帝国", "Ünïcödé, Ł"]}
    film_details.write("x", {2571: OF_MATRIX, 7: strange})
    found = film_details.read("x")
    assert len(found) == 2
    assert found.get(2571).directors == ("Lana Wachowski", "Lilly Wachowski")
    assert found.get(2571).minutes == 136
    assert found.get(7) == FilmDetails(titles=tuple(strange["titles"]))
    assert found.get(8) == FilmDetails()


def test_a_set_that_was_never_enriched_knows_nothing():
    found = film_details.read("x")
    assert (len(found), found.fingerprint, found.version, found.get(1)) == (0, "", "", FilmDetails())


@pytest.mark.parametrize("content", [b"", b"\0\0", b"movie_id,x\n1,2\n", b"\xff\xfe\xfd"])
def test_a_damaged_table_is_said_and_done_without(content):
    film_details.write("x", {1: OF_MATRIX})
    payload(paths.details("x"), "films.csv").write_bytes(content)
    with pytest.warns(UserWarning, match=r"damaged; run: .* data enrich x"):
        assert len(film_details.read("x")) == 0


@pytest.mark.parametrize("film", ["1", "x"])
def test_a_film_that_stands_in_it_twice_or_has_no_number_is_damage(film):
    film_details.write("x", {1: OF_MATRIX})
    lines = payload(paths.details("x"), "films.csv").read_text("utf-8").splitlines(keepends=True)
    table = "".join([*lines, lines[-1].replace("1", film, 1)]).encode()
    storage.write_document(paths.details("x"), {"dataset": "x"}, {"films.csv": table})
    with pytest.warns(UserWarning, match="damaged"):
        assert len(film_details.read("x")) == 0


def test_the_fingerprint_tells_what_is_known_not_how_it_stands():
    one = {1: OF_MATRIX, 2: NOTHING}
    prints = []
    for known in (one, dict(reversed(one.items())), {1: {**OF_MATRIX, "minutes": 137}, 2: NOTHING}):
        film_details.write("x", known)
        prints.append(film_details.read("x").fingerprint)
    assert prints[0] == prints[1] != prints[2]


def test_a_catalogue_of_the_past_does_not_know_the_subjects():
    film_details.write("x", {100: OF_MATRIX})
    catalog = replace(toys.catalog(2), details=film_details.read("x"))
    then = catalog.as_of(0).details.get(100)
    assert then.subjects == ()
    assert then.directors == catalog.details.get(100).directors
    assert len(replace(catalog, details=Details()).as_of(0).details) == 0
