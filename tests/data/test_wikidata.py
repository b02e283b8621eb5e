"""Against answers written after the documented format, on a server of this machine: see wikidata_fake.py."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data import wikidata
from recsys.data.download import DownloadError
from recsys.progress import Cancelled
from tests.data import wikidata_fake as fake
from tests.data.wikidata_fake import MATRIX, OF_MATRIX, PULP, asking, results, seconds, thing, title


@pytest.fixture
def service():
    with asking() as found:
        yield found


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The seconds of all pauses, which are not waited for."""
    seconds = []
    monkeypatch.setattr(wikidata, "pause", lambda pause, report: (seconds.append(pause), report({"stage": "wait"})))
    return seconds


def facts(ids, report=lambda event: None):
    return wikidata.fetch_facts(ids, report)


# The question


def test_the_question_names_the_films_and_nothing_that_is_no_id():
    asked = wikidata.build_query([MATRIX, 'tt1" } # ', "", "tt" + "1" * 40])
    assert f'VALUES ?imdb {{ "{MATRIX}" }}' in asked
    assert [number in asked for number in ("P345", "P57", "P161", "P921", "P495", "P364", "P2047")] == [True] * 7


def test_it_is_posted_under_our_name_and_asks_for_json(service, monkeypatch):
    monkeypatch.delenv("RECSYS_CONTACT", raising=False)
    facts([MATRIX])
    [headers] = service.server.requests
    assert headers["Accept"] == "application/sparql-results+json"
    assert headers["User-Agent"].startswith("NextReel/")
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_who_runs_it_can_say_whom_to_write_to(monkeypatch):
    monkeypatch.setenv("RECSYS_CONTACT", "me@example.org\r\nHost: x")
    assert (
        wikidata.user_agent() == "NextReel/1.0 (a film recommender on somebody's own computer; me@example.orgHost: x)"
    )


# The answer


def test_what_is_known_of_films_comes_by_their_ids(service):
    found = facts([MATRIX, PULP, "tt0000001"])
    assert found[MATRIX] == OF_MATRIX
    assert found[PULP]["directors"] == ["Quentin Tarantino"]
    assert found[PULP]["minutes"] == 154
    assert found[PULP]["subjects"] == []
    assert found["tt0000001"] == {}
    assert service.asked == [[MATRIX, PULP, "tt0000001"]]


def test_of_two_entities_with_one_id_the_fuller_one_counts_and_they_are_not_mixed():
    rows = [title(PULP, "Q999", "A stage play", "en"), thing(PULP, "Q104123", "cast", "Q1", "A"), *fake.ROWS]
    assert wikidata.parse_answer(results(*rows), [PULP])[PULP]["entity"] == "Q104123"
    twins = [title(PULP, "Q20", "Second", "en"), title(PULP, "Q3", "First", "en")]
    assert wikidata.parse_answer(results(*twins), [PULP])[PULP]["titles"] == ["First"]


def test_the_best_known_of_the_cast_come_first_and_only_so_many():
    rows = [thing(PULP, "Q1", "cast", f"Q{number + 2}", f"Actor {number}", number) for number in range(30)]
    cast = wikidata.parse_answer(results(*rows), [PULP])[PULP]["cast"]
    assert cast == [f"Actor {number}" for number in range(29, 29 - wikidata.MAX_CAST, -1)]


def test_without_fame_names_are_in_alphabetical_order():
    rows = [thing(PULP, "Q1", "cast", f"Q{number}", name, None) for number, name in ((2, "B"), (3, "A"))]
    assert wikidata.parse_answer(results(*rows), [PULP])[PULP]["cast"] == ["A", "B"]


@pytest.mark.parametrize(
    ("amounts", "minutes"),
    [
        (["8160"], 136),
        (["+8160.0"], 136),
        (["12000", "8160"], 136),  # a longer cut
        (["0"], None),
        (["-60"], None),
        (["999999999999"], None),
        (["NaN"], None),
        (["1e3"], None),
        (["٣٦٠٠"], None),
        ([], None),
    ],
)
def test_running_times_are_minutes_and_what_is_none_is_left_out(amounts, minutes):
    rows = [title(PULP, "Q1", "X", "en"), *(seconds(PULP, "Q1", amount) for amount in amounts)]
    assert wikidata.parse_answer(results(*rows), [PULP])[PULP]["minutes"] == minutes


def test_names_are_one_line_without_the_sign_between_names_and_without_hidden_signs():
    assert wikidata.clean_name(" a|b\n c\u202e\0 ") == "a/b c"
    assert wikidata.clean_name("می‌خواهم") == "می‌خواهم"  # with a joiner
    assert wikidata.clean_name("x" * 1000) == "x" * wikidata.MAX_NAME_LENGTH


@pytest.mark.parametrize(
    "broken",
    [
        {},
        None,
        3,
        {"imdb": fake.literal(PULP)},
        thing(PULP, "Q1", "directors", "Q2", ""),
        thing(PULP, "P1", "directors", "Q2", "no entity"),
        thing(PULP, "Q1", "producers", "Q2", "not asked for"),
        thing(PULP, "Q1", "directors", "Q2", "Режисер", language="ru"),
        {**thing(PULP, "Q1", "directors", "Q2", "x"), "thing": {"type": "bnode"}},
        {**thing(PULP, "Q1", "directors", "Q2", "x"), "text": {"value": 3}},
        {**thing(PULP, "Q1", "directors", "Q2", "x"), "text": "x"},
        title("tt0000009", "Q1", "nobody asked for it", "en"),
        title(PULP, "Q104123", "другая", "xx"),
    ],
)
def test_what_is_not_as_it_should_be_is_left_out_and_the_rest_stays(broken):
    [good] = wikidata.parse_answer(results(*fake.ROWS), [PULP]).values()
    assert wikidata.parse_answer(results(broken, *fake.ROWS), [PULP]) == {PULP: good}


@pytest.mark.parametrize("answer", [None, [], {}, {"results": []}, {"results": {}}, {"results": {"bindings": {}}}])
def test_what_is_no_answer_at_all_is_an_error(answer):
    with pytest.raises(ValueError, match="no SPARQL results"):
        wikidata.parse_answer(answer, [PULP])


@given(st.permutations(fake.ROWS))
def test_the_order_of_an_answer_does_not_matter(rows):
    assert wikidata.parse_answer(results(*rows), [MATRIX])[MATRIX] == OF_MATRIX


# A service that is busy, fails or sends no sense


def test_a_busy_service_is_left_alone_for_as_long_as_it_asks(service, pauses):
    service.server.tricks = [service.says(b"", status=429, Retry_After="17")]
    assert facts([MATRIX])[MATRIX] == OF_MATRIX
    assert pauses == [17]


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "soon"}, {"Retry_After": "Wed, 21 Oct 2026 07:28:00 GMT"}])
def test_a_busy_service_that_does_not_say_how_long_is_left_alone_for_a_minute(service, headers, pauses):
    service.server.tricks = [service.says(b"", status=503, **headers)]
    assert facts([MATRIX])[MATRIX] == OF_MATRIX
    assert pauses == [wikidata.BUSY_SECONDS]


def test_for_a_long_pause_nobody_waits(service, pauses):
    service.server.tricks = [service.says(b"", status=429, Retry_After="86400")]
    with pytest.raises(DownloadError, match="it answered 429; it asks for a pause of 1440 minutes"):
        facts([MATRIX])
    assert pauses == []
    assert len(service.server.requests) == 1


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_question_that_takes_too_long_is_asked_in_halves(service, status):
    service.server.tricks = [service.says(b"java.util.concurrent.TimeoutException", status=status)]
    assert facts([MATRIX, PULP])[MATRIX] == OF_MATRIX
    assert service.asked == [[MATRIX], [PULP]]


def test_an_answer_that_is_cut_off_is_asked_for_in_halves(service):
    def cut(request):
        service.answer(request, stop_after=300)

    ended = json.dumps(results(*fake.ROWS)).encode()[:900] + b"\njava.util.concurrent.TimeoutException"
    for trick in (cut, service.says(ended)):
        service.asked.clear()
        service.server.tricks = [trick]
        assert facts([MATRIX, PULP])[PULP]["minutes"] == 154
        assert service.asked[-2:] == [[MATRIX], [PULP]]


def test_a_huge_answer_is_not_read_to_its_end(service, monkeypatch):
    monkeypatch.setattr(wikidata, "MAX_BYTES", 1000)
    with pytest.raises(DownloadError, match="it sends more than 1,000 bytes"):
        facts([MATRIX])


def test_one_film_that_fails_again_and_again_ends_it_and_waits_longer_each_time(service, pauses):
    service.server.tricks = [service.says(b"", status=500)] * 9
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1: it answered 500; check the network, or continue later"):
        facts([MATRIX])
    assert len(service.server.requests) == wikidata.MAX_ATTEMPTS
    assert pauses == [1, 2, 4]


def test_many_films_that_fail_do_not_bring_many_requests(service):
    service.server.tricks = [service.says(b"", status=500)] * 999
    with pytest.raises(DownloadError):
        facts([f"tt{number}" for number in range(100)])
    assert len(service.server.requests) < 15  # the service allows 30 errors a minute


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{}", b'{"results": 3}', b"\xff\xfe", b"[" * 100_000])
def test_an_answer_without_sense_is_an_error_in_one_line(service, body):
    service.server.tricks = [service.says(body)] * wikidata.MAX_ATTEMPTS
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1: "):
        facts([MATRIX])


@pytest.mark.parametrize("status", [400, 403, 404])
def test_where_asking_again_would_not_help_nobody_does(service, status):
    service.server.tricks = [service.says(b"You have been banned", status=status)]
    with pytest.raises(DownloadError, match=f"answered {status}"):
        facts([MATRIX])
    assert len(service.server.requests) == 1


def test_the_log_in_page_of_a_hotel_is_no_answer(service):
    service.server.tricks = [service.says(b"<html>", kind="text/html; charset=utf-8")]
    with pytest.raises(DownloadError, match="does this network require a login"):
        facts([MATRIX])


def test_without_a_network_it_says_so(monkeypatch):
    monkeypatch.setattr(wikidata, "ADDRESS", "http://127.0.0.1:9/sparql")
    with pytest.raises(DownloadError, match="it refuses connections; check the network"):
        facts([MATRIX])


def test_a_wait_can_be_called_off(service):
    service.server.tricks = [service.says(b"", status=429, Retry_After="60")]

    def enough(event):
        raise Cancelled

    with pytest.raises(Cancelled):
        facts([MATRIX], report=enough)
    assert len(service.server.requests) == 1
