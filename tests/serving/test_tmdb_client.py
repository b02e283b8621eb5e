import asyncio
import logging
import time
import traceback
import tracemalloc
from concurrent.futures import wait
from contextlib import suppress
from itertools import pairwise

import pytest

from recsys.serving import tmdb_client
from recsys.serving.tmdb import FilmRef, ServiceStatus, TmdbService
from recsys.serving.tmdb_client import Client, Key, RateLimited, RequestFailed
from tests import loops
from tests.serving.broken_tmdb import FAULTS, FILMS, GOOD, bomb, broken, reply, says

API_KEY = Key("5e9713e15e9713e15e9713e15e9713e1")
TOKEN = Key("eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxMjM0NTY3OCJ9.c2lnbmF0dXJlc2lnbmF0dXJl")
BROKEN = [name for name in FAULTS if name != "none"]


SHORT = 0.3  # seconds: the deadline where no answer is to be had
LONG = 20.0  # seconds: a busy machine is slow, not wrong


def ask(address, key=API_KEY, longest=tmdb_client.MAX_REPLY_BYTES):
    """An answer, or the error there was."""
    return loops.run(Client(address).get("/movie/949", {}, key, longest))


@pytest.mark.parametrize("fault", BROKEN)
def test_no_fault_keeps_a_page_nor_a_place_for_long(monkeypatch, fault):
    monkeypatch.setattr(tmdb_client, "DEADLINE_SECONDS", SHORT)
    with broken(FAULTS[fault]) as service:
        posters = TmdbService(service.address, "https://images", max_wait=0.2)
        start = time.monotonic()
        assert posters.poster_urls(API_KEY, FILMS) == {}
        assert time.monotonic() - start < LONG
        assert not wait(list(posters._pending.values()), 30).not_done  # the deadline is of all of a question


def test_without_a_fault_every_film_has_its_poster():
    with broken(FAULTS["none"]) as service:
        assert len(TmdbService(service.address, "https://images", max_wait=30).poster_urls(API_KEY, FILMS)) == len(
            FILMS
        )


@pytest.mark.parametrize(("size", "fits"), [(len(GOOD), True), (len(GOOD) - 1, False)])
@pytest.mark.parametrize("headers", [(), ("Content-Encoding: gzip",)])
def test_an_answer_may_have_so_many_bytes_unpacked_and_no_more(size, fits, headers):
    answer = bomb(0) if headers else reply(GOOD)
    with broken(says(answer)) as service:
        if fits:
            assert ask(service.address, longest=size) == {"poster_path": "/poster.jpg"}
        else:
            with pytest.raises(RequestFailed):
                ask(service.address, longest=size)


def test_of_a_bomb_no_more_is_unpacked_than_is_read():
    with broken(says(bomb(100))) as service:
        tracemalloc.start()
        with pytest.raises(RequestFailed):
            ask(service.address)
        assert tracemalloc.get_traced_memory()[1] < 30e6
        tracemalloc.stop()


def test_an_answer_packed_in_a_way_that_nobody_asked_for_is_not_read():
    with broken(says(reply(GOOD, "200 OK", "Content-Encoding: br"))) as service, pytest.raises(RequestFailed):
        ask(service.address)


def test_questions_are_spread_evenly_and_a_delay_is_not_made_up_for():
    begun = []

    async def ask(client):
        await client._wait_for_rate()
        begun.append(client._latest_start)

    async def crowd():
        client = Client("http://127.0.0.1:9")
        asking_now = [asyncio.create_task(ask(client)) for _ in range(60)]
        await asyncio.sleep(0.3)
        time.sleep(0.5)  # the machine is busy
        await asyncio.gather(*asking_now)

    loops.run(crowd())
    assert len(begun) == 60
    assert min(after - before for before, after in pairwise(begun)) >= 1 / tmdb_client.MAX_PER_SECOND - 1e-6


def test_many_posters_of_a_healthy_service_do_not_make_it_rest():
    films = {number: FilmRef(f"Film {number}", 1995, number + 1) for number in range(120)}
    with broken(FAULTS["none"]) as service:
        posters = TmdbService(service.address, "https://images")
        posters.poster_urls(API_KEY, films)
        assert len(service.asked) < len(films)  # they take longer than a page waits
        assert posters.service_status(API_KEY) is ServiceStatus.GOOD
        wait(list(posters._pending.values()), 60)
        assert len(posters.poster_urls(API_KEY, films)) == len(films)


def test_a_pause_that_is_demanded_of_one_key_is_not_kept_by_others():
    with broken(FAULTS["429, Retry-After: 30"]) as service:
        posters = TmdbService(service.address, "https://images", max_wait=30)
        posters.poster_urls(API_KEY, FILMS)
        asked = len(service.asked)
        assert posters.service_status(API_KEY) is ServiceStatus.PAUSED
        assert posters.service_status(TOKEN) is ServiceStatus.GOOD
        posters.poster_urls(API_KEY, FILMS)
        assert len(service.asked) == asked
        posters.poster_urls(TOKEN, FILMS)
        assert len(service.asked) > asked


@pytest.mark.parametrize(("said", "seconds"), [("17", 17), ("0", 1), ("", 60), ("soon", 60), ("99999", 300), ("²", 60)])
def test_a_pause_is_as_long_as_the_service_says_within_reason(said, seconds):
    with broken(says(reply(b"", "429 Too Many Requests", f"Retry-After: {said}"))) as service:
        with pytest.raises(RateLimited) as error:
            ask(service.address)
        assert error.value.seconds == seconds


@pytest.mark.parametrize("key", [API_KEY, TOKEN])
@pytest.mark.parametrize("fault", [*FAULTS, "nobody is there"])
def test_no_key_is_in_a_log_an_error_or_a_traceback(monkeypatch, caplog, key, fault):
    monkeypatch.setattr(tmdb_client, "DEADLINE_SECONDS", SHORT)
    caplog.set_level(logging.DEBUG)
    with broken(FAULTS.get(fault, FAULTS["none"])) as service:
        address = "http://127.0.0.1:9" if fault == "nobody is there" else service.address
        with suppress(RequestFailed) if fault == "none" else pytest.raises(RequestFailed) as raised:
            ask(address, key)
        if raised:
            error = raised.value
            assert key.text not in "".join(traceback.format_exception(error))
            assert key.text not in f"{error!r} {error.__context__!r} {error.__context__}"
        assert service.heard or fault == "nobody is there"
    assert caplog.records
    assert key.text not in caplog.text


def test_an_address_is_logged_without_its_key(caplog):
    caplog.set_level(logging.DEBUG)
    with broken(FAULTS["none"]) as service:
        ask(service.address)
        assert API_KEY.text.encode() in service.heard[0]
    assert "/movie/949?api_key=…" in caplog.text


def test_a_token_is_not_in_the_address():
    with broken(FAULTS["none"]) as service:
        ask(service.address, TOKEN)
        line, _, headers = service.heard[0].partition(b"\r\n")
    assert TOKEN.text.encode() not in line
    assert f"Authorization: Bearer {TOKEN.text}".encode() in headers
