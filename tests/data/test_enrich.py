"""Against answers written after the documented format, on a server of this machine: see wikidata_fake.py."""

from dataclasses import replace

import pytest

from recsys import paths, storage
from recsys.data import datasets, enrich, prepared, wikidata
from recsys.data.dataset import DataError
from recsys.data.download import DownloadError
from recsys.progress import Cancelled
from tests import toys
from tests.data.wikidata_fake import MATRIX, PULP, asking

NAME = "ml-latest-small"
IDS = [MATRIX, PULP, "tt0000003", "tt0000004", "tt0000005"]


@pytest.fixture
def service():
    with asking() as found:
        yield found


@pytest.fixture(autouse=True)
def six_films(home, monkeypatch):
    """A home with a set of six films, of which the last has no IMDb id; two films a question."""
    monkeypatch.setattr(enrich, "BATCH_SIZE", 2)
    monkeypatch.setattr(enrich, "PAUSE_SECONDS", 0.0)
    save(NAME, [*IDS, ""])


def save(name, ids, **columns):
    world = toys.dataset([range(len(ids))], len(ids), name)
    movies = world.catalog.movies.assign(imdb_id=ids, **columns)
    prepared.save(replace(world, catalog=replace(world.catalog, movies=movies)), toys.ARCHIVE)


def run(name=NAME, report=lambda event: None):
    return enrich.enrich(name, report)


def known(name=NAME):
    return datasets.load(name).catalog.details


def test_films_are_asked_for_in_batches_and_known_from_then_on(service):
    events = []
    assert run(report=events.append) == (6, 5, 2)
    assert service.asked == [IDS[:2], IDS[2:4], IDS[4:]]
    assert known().get(100).directors == ("Lana Wachowski", "Lilly Wachowski")
    assert known().get(101).minutes == 154
    assert len(known()) == 2
    counted = [(event["done"], event["total"]) for event in events if event["stage"] == "describe"]
    assert counted == [(0, 5), (2, 5), (4, 5)]


def test_what_is_had_is_not_asked_for_again_not_even_by_another_set(service):
    run()
    save("ml-25m", [PULP, "tt0000003", "tt0000077"])
    assert run() == (6, 5, 2)
    run("ml-25m")
    assert service.asked[3:] == [["tt0000077"]]
    assert known("ml-25m").get(100).directors == ("Quentin Tarantino",)


def test_between_two_questions_there_is_a_pause(service, monkeypatch):
    pauses = []
    monkeypatch.setattr(enrich, "pause", lambda seconds, report: pauses.append(seconds))
    run()
    assert pauses == 2 * [enrich.PAUSE_SECONDS]


@pytest.mark.parametrize("end", [Cancelled, KeyboardInterrupt])
def test_what_was_had_before_it_was_called_off_counts_and_the_next_run_goes_on(service, end):
    def enough(event):
        if event.get("done") == 2:
            raise end

    with pytest.raises(end):
        run(report=enough)
    assert len(known()) == 2
    run()
    assert service.asked == [IDS[:2], IDS[2:4], IDS[4:]]


def test_a_failure_in_the_middle_says_what_to_do_and_keeps_what_was_had(service):
    service.server.tricks = [service.answer, service.says(b"", status=403)]
    with pytest.raises(DownloadError, match=r"answered 403 .*the details of 2 of 5 films are saved") as error:
        run()
    assert error.value.command.endswith(f"data enrich {NAME}")
    assert len(known()) == 2
    run()
    assert len(service.asked) == 3


def test_films_that_wikidata_does_not_have_are_not_counted_as_saved(service):
    service.server.tricks = [service.answer, service.answer, service.says(b"", status=403)]
    with pytest.raises(DownloadError, match="the details of 2 of 5 films are saved"):
        run()


def test_an_answer_cut_off_by_a_lost_connection_leaves_nothing_half(service):
    service.server.tricks = [lambda request: service.answer(request, stop_after=400)]
    run()
    assert known().get(100).minutes == 136
    assert not list(paths.wikidata().glob("*.part"))


def test_a_damaged_answer_is_asked_for_again(service):
    run()
    broken = next(path for path in paths.wikidata().glob("*.json") if b"tt0000005" in path.read_bytes())
    broken.write_bytes(broken.read_bytes().replace(b"tt0000005", b"tt0000006"))
    run()
    assert service.asked[3:] == [IDS[4:]]


def test_without_a_network_it_says_so_and_the_set_is_as_before(monkeypatch):
    monkeypatch.setattr(wikidata, "ADDRESS", "http://127.0.0.1:9/sparql")
    with pytest.raises(DownloadError, match="it refuses connections; check the network"):
        run()
    assert len(known()) == 0
    assert not paths.details(NAME).exists()


def test_a_set_prepared_again_is_still_enriched_and_its_fingerprint_is_as_before(service):
    before = datasets.load(NAME).fingerprint
    run()
    save(NAME, [*IDS, ""])
    assert len(known()) == 2
    assert datasets.load(NAME).fingerprint == before


def test_another_process_asks_after_this_one(service, monkeypatch):
    taken = []
    monkeypatch.setattr(enrich, "exclusive_folder", lambda folder: taken.append(folder) or storage.locked(paths.home()))
    run()
    assert taken == [paths.wikidata()]


def test_a_set_of_other_things_than_films_is_not_asked_about(service):
    world = datasets.load(NAME)
    prepared.save(replace(world, name="shop", noun="item"), {})
    with pytest.raises(DataError, match="the items of shop are not films"):
        run("shop")
    assert service.asked == []


# Sets without IMDb ids


def first_set(ids, **columns):
    save(datasets.DEFAULT_DATASET, ids, **columns)


def test_a_set_of_movielens_without_ids_has_those_of_the_first_set_by_film_number(service):
    first_set([MATRIX, PULP])
    save("ml-1m", ["", "", ""], title=["Called otherwise", "x", "y"])
    assert run("ml-1m") == (3, 2, 2)
    assert known("ml-1m").get(100).minutes == 136


def test_where_films_are_numbered_otherwise_title_and_year_must_agree(service):
    first_set([MATRIX, PULP, "tt0000003"], title=["The Matrix", "Pulp Fiction", "Twins"])
    save("ml-100k", ["", "", ""], title=["Pulp Fiction", "The Matrix", "Twins"])  # toys are of 1990, 1991, 1992
    assert enrich.imdb_ids(datasets.load("ml-100k")) == {102: "tt0000003"}
    save("mine", [""] * 3, title=["The Matrix", "Pulp Fiction", "Unheard of"])
    assert enrich.imdb_ids(datasets.load("mine")) == {100: MATRIX, 101: PULP}


def test_a_title_that_two_films_of_a_year_share_names_neither(service):
    first_set([MATRIX, PULP], title="Twins", year=1990)
    save("ml-100k", ["", ""], title="Twins", year=1990)
    with pytest.raises(DataError, match="the films of ml-100k cannot be found in Wikidata"):
        run("ml-100k")
    assert service.asked == []
