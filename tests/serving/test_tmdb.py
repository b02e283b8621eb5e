import json
import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx2  # noqa: F401  # the first question would wait for the import
import pytest

from recsys.serving import tmdb, tmdb_client
from recsys.serving.tmdb import (
    FilmRef,
    Key,
    ServiceStatus,
    Story,
    TmdbService,
    film_refs,
    parse_key,
    parse_story,
    poster_path,
    unique_hit,
)
from tests import toys
from tests.data import server as servers

API_KEY = Key("0123456789abcdef0123456789abcdef")
TOKEN = Key("eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxMjM0NTY3OCJ9.c2lnbmF0dXJlc2lnbmF0dXJl")
HEAT = {"title": "Heat", "release_date": "1995-12-15", "poster_path": "/heat.jpg"}
FILMS = {0: FilmRef("Heat", 1995, None)}


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def service():
    """A TMDB on this machine that answers every request with `service.content`."""
    with servers.serving(search(HEAT)) as server:
        server.paths = []
        answer = server.answer

        def noting(request):
            server.paths.append(request.path)
            answer(request)

        server.answer = noting
        yield server


def search(*hits, pages=1):
    return json.dumps({"results": hits, "total_pages": pages}).encode()


MAX_WAIT = 0.5  # seconds: enough to send a question on a busy machine


def posters(service, **settings):
    settings = {"max_wait": 10, **settings}  # a loaded machine can take longer than the default of one second
    return TmdbService(service.address.removesuffix("/file.zip"), "https://images", **settings)


@contextmanager
def held(service, n_requests=1):
    """Let the service answer the next requests only at the end of the block."""
    released = threading.Event()
    service.tricks = [lambda request: (released.wait(60), service.behave(request))] * n_requests
    try:
        yield
    finally:
        released.set()


def requests_of(service):
    return [(urlsplit(path).path, parse_qs(urlsplit(path).query)) for path in service.paths]


@pytest.mark.parametrize("text", [API_KEY.text, f"  {TOKEN.text}\n", f"Bearer {TOKEN.text}", API_KEY.text.upper()])
def test_keys_and_tokens_are_recognised(text):
    assert parse_key(text).text in text


@pytest.mark.parametrize("text", ["", "eyJ", "0" * 31, "0" * 33, "g" * 32, "eyJ" + "a" * 2000, "eyJ a.b.c\r\nHost: x"])
def test_other_texts_are_not_keys(text):
    assert parse_key(text) is None


def test_a_key_does_not_print_its_text():
    assert API_KEY.text not in repr(API_KEY)


def test_the_key_of_the_machine_comes_from_its_environment(monkeypatch):
    monkeypatch.delenv("TMDB_TOKEN", raising=False)
    monkeypatch.setenv("TMDB_API_KEY", API_KEY.text)
    assert tmdb.host_key() == API_KEY
    monkeypatch.setenv("TMDB_TOKEN", TOKEN.text)
    assert tmdb.host_key() == TOKEN


def test_without_a_key_nothing_is_requested(service):
    assert posters(service).poster_urls(None, FILMS) == {}
    assert service.paths == []


def test_a_film_is_found_by_title_and_year_and_requested_once(service):
    client = posters(service)
    assert client.poster_urls(API_KEY, FILMS) == {0: "https://images/heat.jpg"}
    assert client.poster_urls(TOKEN, FILMS) == {0: "https://images/heat.jpg"}
    assert requests_of(service) == [("/search/movie", {"query": ["Heat"], "year": ["1995"], "api_key": [API_KEY.text]})]


def test_an_id_is_better_than_a_title(service):
    service.content = json.dumps({"poster_path": "/x_1-Y.png"}).encode()
    urls = posters(service).poster_urls(TOKEN, {7: FilmRef("Heat", 1995, 949)})
    assert urls == {7: "https://images/x_1-Y.png"}
    assert requests_of(service) == [("/movie/949", {})]


def test_a_token_is_in_the_headers_and_not_in_the_url(service):
    posters(service).poster_urls(TOKEN, FILMS)
    assert service.requests[0]["Authorization"] == f"Bearer {TOKEN.text}"
    assert TOKEN.text not in service.paths[0]


@pytest.mark.parametrize("whose", [API_KEY, TOKEN])
def test_no_key_reaches_a_log_even_where_everything_is_logged(service, caplog, whose):
    service.tricks = [servers.status(500)]
    with caplog.at_level(logging.DEBUG):
        posters(service).poster_urls(whose, FILMS)
    assert "search/movie" in caplog.text
    assert whose.text not in caplog.text


def test_the_key_does_not_follow_a_redirect_to_another_host(service):
    with servers.serving(b"{}") as other:

        def elsewhere(request):
            request.send_response(302)
            request.send_header("Location", other.address)
            request.send_header("Content-Length", "0")
            request.end_headers()

        service.tricks = [elsewhere, elsewhere]
        assert posters(service).poster_urls(TOKEN, FILMS) == {}
        assert other.requests == []


# Which film is meant


def hit(title="Heat", date="1995-12-15", **more):
    return {"title": title, "release_date": date, "poster_path": "/p.jpg", **more}


@pytest.mark.parametrize(
    ("hits", "unique"),
    [
        ([hit()], True),
        ([hit(), hit(date="1986-05-01")], True),
        ([hit(), hit(date="1996-01-01")], True),  # the exact year counts more
        ([hit(date="1996-01-01")], True),  # one year off, and alone
        ([hit(date="1996-01-01"), hit(date="1994-01-01")], False),
        ([hit(), hit()], False),
        ([hit(date="1997-01-01")], False),
        ([hit(date="")], False),
        ([hit("Heat Wave")], False),
        ([hit("Tension", original_title="HEAT")], True),
        ([hit("heat!")], True),
        ([], False),
        ([None, 3, {"title": 5}, hit()], True),
    ],
)
def test_a_search_counts_only_when_one_film_has_the_title_and_the_year(hits, unique):
    assert (unique_hit({"results": hits, "total_pages": 1}, FILMS[0]) is not None) == unique


def test_a_film_without_a_year_needs_a_title_that_is_unique():
    nameless = replace(FILMS[0], year=None)
    assert unique_hit({"results": [hit()]}, nameless)
    assert unique_hit({"results": [hit(), hit(date="1986-05-01")]}, nameless) is None


def test_a_search_of_several_pages_is_not_unique():
    assert unique_hit({"results": [hit()], "total_pages": 2}, FILMS[0]) is None


def test_either_name_of_a_film_will_do():
    film = FilmRef("City of Lost Children, The (Cité des enfants perdus, La)", 1995, None)
    assert unique_hit({"results": [hit("La cité des enfants perdus")]}, film)


@pytest.mark.parametrize(
    "path",
    [None, 3, "heat.jpg", "/../x.jpg", "/a/b.jpg", "/x.jpg?y", '/x".jpg', "/x.gif", "//evil.example/x.jpg", "/x.jpg\n"],
)
def test_an_invalid_path_is_not_used(path):
    assert poster_path({"poster_path": path}) is None


@pytest.mark.parametrize("answer", [b"", b"[]", b"null", b"<html>", b"\xff", b'{"results": 3}', b"[" * 100_000])
def test_invalid_answers_give_no_poster_and_no_error(service, answer):
    service.content = answer
    assert posters(service).poster_urls(API_KEY, FILMS) == {}


@pytest.mark.parametrize(
    ("size", "urls"),
    [(tmdb_client.MAX_REPLY_BYTES // 2, {0: "https://images/heat.jpg"}), (8 * tmdb_client.MAX_REPLY_BYTES, {})],
)
def test_an_answer_that_is_too_large_is_ignored(service, size, urls):
    service.content = search(HEAT | {"overview": "x" * size})
    assert posters(service, max_wait=10).poster_urls(API_KEY, FILMS) == urls


def test_a_film_without_a_poster_is_not_requested_again_today_but_tomorrow(service):
    clock = Clock()
    client = posters(service, clock=clock)
    service.content = search()
    assert client.poster_urls(API_KEY, FILMS) == {}
    assert client.poster_urls(API_KEY, FILMS) == {}
    assert len(service.paths) == 1
    clock.now += tmdb.NO_POSTER_TTL_SECONDS + 1
    service.content = search(HEAT)
    assert client.poster_urls(API_KEY, FILMS) == {0: "https://images/heat.jpg"}


def test_addresses_expire(service):
    clock = Clock()
    client = posters(service, clock=clock)
    client.poster_urls(API_KEY, FILMS)
    clock.now += tmdb.POSTER_TTL_SECONDS + 1
    client.poster_urls(API_KEY, FILMS)
    assert len(service.paths) == 2


def test_the_number_of_cached_urls_is_limited(service, monkeypatch):
    monkeypatch.setattr(tmdb, "MAX_CACHED_FILMS", 3)
    client = posters(service)
    client.poster_urls(API_KEY, {item: FilmRef("Heat", 1995, item) for item in range(10)})
    assert len(client._cache) == 3


def test_the_number_of_stored_rejected_keys_is_limited(service, monkeypatch):
    monkeypatch.setattr(tmdb, "MAX_PAUSED_KEYS", 3)
    service.tricks = [servers.status(401)] * 5
    client, keys = posters(service), [Key(f"{number:032x}") for number in range(5)]
    assert [client.check_key(key) for key in keys] == [ServiceStatus.KEY_REJECTED] * 5
    assert list(client._paused_keys) == keys[2:]


# A service that is slow, fails or limits the rate


def test_a_slow_answer_is_used_in_the_next_run(service):
    client = posters(service, max_wait=MAX_WAIT)
    with held(service):
        assert client.poster_urls(API_KEY, FILMS) == {}
        assert client.service_status(API_KEY) is ServiceStatus.PAUSED
        assert client.poster_urls(API_KEY, FILMS) == {}  # not waited for again
    while not (answer := client.poster_urls(API_KEY, FILMS)):
        time.sleep(0.02)
    assert answer == {0: "https://images/heat.jpg"}
    assert len(service.paths) == 1


def test_many_films_on_a_slow_service_delay_a_page_at_most_by_max_wait(service):
    with held(service, 30):
        films = {item: FilmRef("Heat", 1995, item) for item in range(30)}
        assert posters(service, max_wait=0.2).poster_urls(API_KEY, films) == {}


def test_an_answer_that_arrives_byte_by_byte_is_cancelled(service, monkeypatch):
    monkeypatch.setattr(tmdb_client, "DEADLINE_SECONDS", 0.3)
    service.tricks = [servers.slow, servers.slow]
    client = posters(service, max_wait=5)
    start = time.monotonic()
    assert client.poster_urls(API_KEY, FILMS) == {}
    assert time.monotonic() - start < 8  # the whole answer takes 10 s


def test_one_failure_is_tried_again_at_once(service):
    service.tricks = [servers.status(503)]
    assert posters(service).poster_urls(API_KEY, FILMS) == {0: "https://images/heat.jpg"}


def test_requests_to_a_failing_service_are_paused(service):
    clock = Clock()
    client = posters(service, clock=clock)
    films = {item: FilmRef("Heat", 1995, item) for item in range(200)}
    service.tricks = [servers.status(500)] * 1000
    assert client.poster_urls(API_KEY, films) == {}
    first = len(service.paths)
    assert first <= 2 * (tmdb.MAX_FAILURES + tmdb_client.MAX_PARALLEL)  # each tried twice; those under way finish
    assert client.service_status(API_KEY) is ServiceStatus.PAUSED
    client.poster_urls(API_KEY, films)
    assert len(service.paths) == first
    service.tricks.clear()
    clock.now += tmdb.FAILURE_PAUSE_SECONDS + 1
    assert client.poster_urls(API_KEY, FILMS) == {0: "https://images/heat.jpg"}
    assert client.service_status(API_KEY) is ServiceStatus.GOOD


def test_an_unreachable_service_is_not_an_error():
    assert TmdbService("http://127.0.0.1:9", "https://images").poster_urls(API_KEY, FILMS) == {}


def test_a_pause_that_the_service_demands_is_kept(service):
    def rate_limited(request):
        request.send_response(429)
        request.send_header("Retry-After", "17")
        request.send_header("Content-Length", "0")
        request.end_headers()

    clock = Clock()
    client = posters(service, clock=clock)
    service.tricks = [rate_limited]
    assert client.poster_urls(API_KEY, FILMS) == {}
    clock.now += 16
    assert client.poster_urls(API_KEY, FILMS) == {}
    assert len(service.paths) == 1  # and not tried again at once
    clock.now += 2
    assert client.poster_urls(API_KEY, FILMS) == {0: "https://images/heat.jpg"}


def test_a_rejected_key_is_not_used_again_but_other_keys_are(service):
    service.tricks = [servers.status(401)]
    client = posters(service)
    assert client.poster_urls(API_KEY, FILMS) == {}
    assert client.service_status(API_KEY) is ServiceStatus.KEY_REJECTED
    assert client.poster_urls(API_KEY, FILMS) == {}
    assert len(service.paths) == 1
    assert client.service_status(TOKEN) is ServiceStatus.GOOD
    assert client.poster_urls(TOKEN, FILMS) == {0: "https://images/heat.jpg"}


def test_a_key_is_checked_before_it_is_used(service):
    client = posters(service)
    assert client.check_key(API_KEY) is ServiceStatus.GOOD
    service.tricks = [servers.status(401)]
    assert client.check_key(API_KEY) is ServiceStatus.KEY_REJECTED
    assert client.check_key(API_KEY) is ServiceStatus.GOOD  # it may be valid by now
    assert {path for path, _ in requests_of(service)} == {"/authentication"}


def test_a_check_does_not_wait_for_a_slow_service(service):
    released = threading.Event()
    service.tricks = [lambda request: released.wait(60)] * 8
    client = posters(service, max_wait=MAX_WAIT)
    try:
        assert client.check_key(API_KEY) is ServiceStatus.PAUSED
        assert client.poster_urls(API_KEY, FILMS) == {}  # nor for its posters after that
    finally:
        released.set()


def test_eight_threads_request_a_film_once(service):
    client = posters(service)
    threads = [threading.Thread(target=client.poster_urls, args=(API_KEY, FILMS)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(service.paths) == 1


def test_references_have_the_titles_years_and_ids_of_the_catalogue():
    catalog = toys.catalog(3)
    catalog.movies.loc[1, "tmdb_id"] = 862
    catalog.movies.loc[2, "year"] = None
    refs = film_refs(catalog, [1, 2])
    assert refs == {1: FilmRef("Film 1", 1991, 862), 2: FilmRef("Film 2", None, None)}
    assert film_refs(catalog, []) == {}


# Plot and cast

TOLD = {
    "overview": " A heist.\nAnother one. ",
    "credits": {"cast": [{"name": "Al Pacino", "character": "Hanna"}, {"name": "Val Kilmer", "character": None}]},
}
STORY = Story("A heist. Another one.", (("Al Pacino", "Hanna"), ("Val Kilmer", "")))


def test_the_story_of_a_film_with_an_id_needs_one_request(service):
    service.content = json.dumps(TOLD).encode()
    assert posters(service, max_wait=10).story(API_KEY, FilmRef("Heat", 1995, 949)) == STORY
    assert requests_of(service) == [("/movie/949", {"append_to_response": ["credits"], "api_key": [API_KEY.text]})]


def test_a_film_without_an_id_is_searched_first(service):
    def says(content):
        def trick(request):
            service.content = content
            service.behave(request)

        return trick

    service.tricks = [says(search(HEAT | {"id": 949})), says(json.dumps(TOLD).encode())]
    assert posters(service, max_wait=10).story(TOKEN, FILMS[0]) == STORY
    assert [path for path, _ in requests_of(service)] == ["/search/movie", "/movie/949"]


def test_a_film_that_tmdb_lacks_has_no_story(service):
    service.content = search()
    assert posters(service, max_wait=10).story(TOKEN, FILMS[0]) == Story()


def test_a_story_that_cannot_be_loaded_is_none(service):
    with held(service):
        assert posters(service, max_wait=0.1).story(TOKEN, FilmRef("Heat", 1995, 949)) is None


@pytest.mark.parametrize("size", [tmdb_client.MAX_REPLY_BYTES, 2 * tmdb.MAX_STORY_BYTES])
def test_the_size_of_a_story_is_limited(service, size):
    service.content = json.dumps(TOLD | {"crew": "x" * size}).encode()
    story = posters(service, max_wait=10).story(API_KEY, FilmRef("Heat", 1995, 949))
    assert story == (STORY if size < tmdb.MAX_STORY_BYTES else None)


@pytest.mark.parametrize(
    "answer",
    [{}, {"overview": 3}, {"credits": 3}, {"credits": {"cast": 3}}, {"credits": {"cast": [3, {}, {"name": " "}]}}],
)
def test_invalid_parts_of_a_story_are_ignored(answer):
    assert parse_story(answer) == Story()


def test_the_length_of_a_story_is_limited():
    story = parse_story({"overview": "x" * 9_000, "credits": {"cast": [{"name": "y" * 900}] * 99}})
    assert len(story.plot) == tmdb.MAX_PLOT_CHARS + 1
    assert len(story.cast) == tmdb.MAX_CAST
    assert len(story.cast[0][0]) == tmdb.MAX_NAME_CHARS + 1
