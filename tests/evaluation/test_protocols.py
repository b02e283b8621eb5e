import json

import numpy as np
import pytest
from scipy.stats import chisquare

from recsys.evaluation.protocols import FULL, POPULARITY_100, PROTOCOLS, ProtocolError, draw, get

COUNTS = np.random.default_rng(0).integers(0, 50, size=400)
HISTORIES = [np.random.default_rng(user).choice(400, size=60, replace=False) for user in range(30)]
USERS = np.arange(30)


def test_a_list_is_100_distinct_watched_films_none_from_the_users_whole_history():
    lists = POPULARITY_100.candidates(COUNTS, HISTORIES, USERS)
    assert lists.shape == (30, 100)
    for films, history in zip(lists, HISTORIES, strict=True):
        assert len(set(films)) == 100
        assert not set(films) & set(history)
        assert (COUNTS[films] > 0).all()


def test_a_users_list_is_the_same_alone_and_in_any_batch():
    lists = POPULARITY_100.candidates(COUNTS, HISTORIES, USERS)
    alone = POPULARITY_100.candidates(COUNTS, HISTORIES[7:8], USERS[7:8])
    assert np.array_equal(lists[7:8], alone)
    assert POPULARITY_100.candidates(COUNTS, [], USERS[:0]).shape == (0, 100)


def test_users_with_one_history_still_get_lists_of_their_own():
    lists = POPULARITY_100.candidates(COUNTS, [HISTORIES[0]] * 2, USERS[:2])
    assert set(lists[0]) != set(lists[1])


def test_the_first_film_drawn_follows_the_counts():
    counts, rng = np.array([1, 2, 3, 4, 90]), np.random.default_rng(0)
    drawn = np.bincount([draw(counts, np.array([4]), 1, rng)[0] for _ in range(4000)], minlength=5)
    assert drawn[4] == 0
    assert chisquare(drawn[:4], 4000 * counts[:4] / 10).pvalue > 0.01


def test_later_films_follow_the_counts_of_those_that_are_left():
    """Two of three films: the chance of each pair, added up by hand over both orders."""
    counts, rng = np.array([1, 2, 3]), np.random.default_rng(0)
    drawn = np.bincount([3 - draw(counts, np.empty(0, int), 2, rng).sum() for _ in range(4000)], minlength=3)
    without = np.array([2 / 6 * 3 / 4 + 3 / 6 * 2 / 3, 1 / 6 * 3 / 5 + 3 / 6 * 1 / 3, 1 / 6 * 2 / 5 + 2 / 6 * 1 / 4])
    assert chisquare(drawn, 4000 * without).pvalue > 0.01


def test_too_few_films_to_draw_from_is_an_error_that_names_the_way_out():
    with pytest.raises(ProtocolError, match=r"only 99 films .* --protocol full"):
        draw(np.ones(120), np.arange(21), 100, np.random.default_rng(0))
    assert len(draw(np.ones(120), np.arange(20), 100, np.random.default_rng(0))) == 100


def test_rules_are_plain_json_and_say_what_the_code_does():
    for name, protocol in PROTOCOLS.items():
        assert get(name) is protocol
        assert json.loads(json.dumps(protocol.rules)) == protocol.rules
        assert protocol.rules.get("sampled", 0) == protocol.sampled
        assert protocol.rules.get("seed", 0) == protocol.seed
    assert FULL.sampled == 0


def test_an_unknown_protocol_is_answered_with_the_known_ones():
    with pytest.raises(ProtocolError, match="full, popularity-100"):
        get("sampled")
