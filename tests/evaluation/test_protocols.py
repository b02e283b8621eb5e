import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from recsys.data import own_data, tables
from recsys.data.split import LEAVE_ONE_OUT, SPLITTINGS
from recsys.evaluation import protocols
from recsys.evaluation.protocols import (
    FULL,
    POPULARITY_100,
    PROTOCOLS,
    TIME,
    UNIFORM_100,
    ProtocolError,
    get,
    sample_by_popularity,
    sample_uniformly,
)
from tests import toys

N_ITEMS = 60 + 3 * max(protocol.n_candidates for protocol in PROTOCOLS.values())  # enough for each sample
COUNTS = np.random.default_rng(0).integers(0, 50, size=N_ITEMS)
HISTORIES = [np.random.default_rng(user).choice(N_ITEMS, size=60, replace=False) for user in range(30)]
USERS = np.arange(30)


SAMPLED = pytest.mark.parametrize(
    "protocol",
    [protocol for protocol in PROTOCOLS.values() if protocol.n_candidates],
    ids=lambda protocol: protocol.name,
)


@SAMPLED
def test_a_list_has_distinct_films_and_none_from_the_users_whole_history(protocol):
    lists = protocol.candidates(COUNTS, HISTORIES, USERS)
    assert lists.shape == (30, protocol.n_candidates)
    assert 0 <= lists.min() <= lists.max() < N_ITEMS
    for films, history in zip(lists, HISTORIES, strict=True):
        assert len(set(films)) == protocol.n_candidates
        assert not set(films) & set(history)


def test_films_that_nobody_watched_are_drawn_uniformly_only():
    assert (COUNTS[POPULARITY_100.candidates(COUNTS, HISTORIES, USERS)] > 0).all()
    assert (COUNTS[UNIFORM_100.candidates(COUNTS, HISTORIES, USERS)] == 0).any()


@SAMPLED
def test_a_users_list_is_the_same_alone_and_in_any_batch(protocol):
    lists = protocol.candidates(COUNTS, HISTORIES, USERS)
    alone = protocol.candidates(COUNTS, HISTORIES[7:8], USERS[7:8])
    assert np.array_equal(lists[7:8], alone)
    assert protocol.candidates(COUNTS, [], USERS[:0]).shape == (0, protocol.n_candidates)


@SAMPLED
def test_users_with_one_history_still_get_lists_of_their_own(protocol):
    lists = protocol.candidates(COUNTS, [HISTORIES[0]] * 2, USERS[:2])
    assert set(lists[0]) != set(lists[1])


def test_the_lists_of_published_results_stay_as_they_are():
    """Figures in assets/ were measured with these; another generator or order of draws would be another protocol."""
    counts = np.random.default_rng(0).integers(0, 50, size=400)
    histories = [np.random.default_rng(0).choice(400, size=60, replace=False)]
    lists = POPULARITY_100.candidates(counts, histories, USERS[:1])
    assert sorted(lists[0])[:8] == [11, 13, 17, 18, 20, 21, 25, 29]


def test_every_film_left_is_drawn_uniformly_as_often_as_any_other():
    rng, taken = np.random.default_rng(0), np.array([2, 0, 6, 6])
    samples = [sample_uniformly(np.zeros(8), taken, 2, rng) for _ in range(4000)]
    drawn = np.bincount(np.concatenate(samples), minlength=8)
    assert (drawn[taken] == 0).all()
    assert chisquare(drawn[[1, 3, 4, 5, 7]]).pvalue > 0.01


def test_the_first_film_drawn_follows_the_counts():
    counts, rng = np.array([1, 2, 3, 4, 90]), np.random.default_rng(0)
    drawn = np.bincount([sample_by_popularity(counts, np.array([4]), 1, rng)[0] for _ in range(4000)], minlength=5)
    assert drawn[4] == 0
    assert chisquare(drawn[:4], 4000 * counts[:4] / 10).pvalue > 0.01


def test_later_films_follow_the_counts_of_those_that_are_left():
    """Two of three films: the probability of each pair, added up by hand over both orders."""
    counts, rng = np.array([1, 2, 3]), np.random.default_rng(0)
    drawn = np.bincount(
        [3 - sample_by_popularity(counts, np.empty(0, int), 2, rng).sum() for _ in range(4000)], minlength=3
    )
    without = np.array([2 / 6 * 3 / 4 + 3 / 6 * 2 / 3, 1 / 6 * 3 / 5 + 3 / 6 * 1 / 3, 1 / 6 * 2 / 5 + 2 / 6 * 1 / 4])
    assert chisquare(drawn, 4000 * without).pvalue > 0.01


@pytest.mark.parametrize("draw", [sample_by_popularity, sample_uniformly])
def test_too_few_films_to_draw_from_is_an_error_that_names_the_way_out(draw):
    with pytest.raises(ProtocolError, match=r"only 99 films .* --protocol full"):
        draw(np.ones(120), np.arange(21), 100, np.random.default_rng(0))
    assert len(set(draw(np.ones(120), np.arange(20), 100, np.random.default_rng(0)))) == 100


def test_rules_are_plain_json_and_say_what_the_code_does():
    for name, protocol in PROTOCOLS.items():
        assert get(name) is protocol
        assert json.loads(json.dumps(protocol.rules)) == protocol.rules
        assert protocol.rules.get("sampled", 0) == protocol.n_candidates
        assert protocol.rules.get("seed", 0) == protocol.sampling_seed
    assert FULL.n_candidates == 0


def test_a_split_by_time_names_its_dates_and_that_settings_know_more():
    world = toys.over_days([[(0, 1), (1, 10), (2, 20)]] * 10)
    assert TIME.rules_on(world)["dates"] == {"valid": "2001-09-19", "test": "2001-09-29"}
    assert "tuned with leave-one-out validation" in TIME.rules["settings"]
    assert FULL.rules_on(toys.cycle()) == {"order": protocols.TIE_RULES["file"]} | FULL.rules


def test_the_rules_say_how_films_of_one_second_were_put_in_order():
    drawn = FULL.rules_on(replace(toys.cycle(), ties="drawn"))
    assert "depends on seed 0, the person and the film" in drawn["order"]
    assert {name for name in drawn if drawn[name] != FULL.rules.get(name)} == {"order"}


def test_the_rules_state_that_repeated_targets_compete_with_all_films():
    repeats = toys.dataset([[0, 1, 2, 0], [1, 2, 3, 4], [2, 3, 4, 5]], 6)
    assert FULL.rules_on(repeats)[protocols.REPEATS] == protocols.REPEATS_RULE
    assert protocols.REPEATS not in UNIFORM_100.rules_on(repeats)
    assert protocols.REPEATS not in FULL.rules_on(toys.cycle())


def test_the_rules_of_an_own_data_set_state_that_infrequent_items_were_removed(home):
    rows = "".join(f"{user},{item}\n" for user in range(5) for item in range(4)) + "1,9\n"
    checked = own_data.check(tables.parse("shop.csv", f"user,item\n{rows}".encode()))
    assert FULL.rules_on(own_data.add("shop", checked, "shop.csv", 3))["filter"] == protocols.OWN_FILTER_RULE
    assert FULL.rules_on(own_data.add("all", checked, "shop.csv"))["filter"] == FULL.rules["filter"]


def test_every_protocol_has_words_for_people():
    for name, protocol in PROTOCOLS.items():
        assert protocols.title(name) == protocol.title != name
        assert len(protocol.meaning) > 50
    former = protocols.get_current_or_former("gone")
    assert (protocols.title("gone"), former.meaning, former.retraining_reason) == ("gone", "", "")


def test_protocols_are_shown_in_their_order_and_those_that_are_gone_come_last():
    assert protocols.sort_names(["time", "gone", "an-old-one", "full"]) == ["full", "time", "an-old-one", "gone"]


def test_a_former_protocol_is_taken_to_split_as_most_do():
    assert protocols.get_current_or_former("time") is TIME
    assert protocols.get_current_or_former("gone").splitting is LEAVE_ONE_OUT


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))
def test_models_of_a_protocol_are_trained_under_a_protocol_with_its_splitting(protocol):
    assert protocol.splitting in SPLITTINGS.values()
    assert PROTOCOLS[protocol.splitting.protocol].splitting == protocol.splitting
    assert bool(protocol.retraining_reason) == (protocol.splitting != LEAVE_ONE_OUT)


def test_an_unknown_protocol_is_answered_with_the_known_ones():
    with pytest.raises(ProtocolError, match=", ".join(PROTOCOLS)):
        get("sampled")
