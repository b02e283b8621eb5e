from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.serving.cloze import fill_blanks, with_blanks
from recsys.serving.recommend import ServingError, recommend
from tests.serving.test_attention import WORLD, bert, sasrec


class Cycle:
    """Knows that the next film is the last plus one, and looks at the nearest film on either side of a blank."""

    title, softmax = "Cycle", True
    config, module = SimpleNamespace(length=12), SimpleNamespace(mask=21)

    def prompt(self, history):
        return np.append(history[-11:], 21)

    def attention(self, tokens):
        raise NotImplementedError

    def fill(self, tokens, places):
        known = np.flatnonzero(tokens < 20)
        nearest = [known[np.abs(known - place).argmin()] for place in places]
        wanted = [(tokens[near] + place - near) % 20 for near, place in zip(nearest, places, strict=True)]
        return -np.abs(np.arange(20) - np.array(wanted)[:, None]).astype(np.float32)


def best(blank):
    return blank.picks[0].movie_id - 100


def test_a_blank_is_guessed_from_both_of_its_sides():
    (middle,) = fill_blanks(WORLD, Cycle(), [3, 4, None, 6, 7])
    (first,) = fill_blanks(WORLD, Cycle(), [None, 10, 11, 12])
    assert (middle.place, best(middle)) == (2, 5)
    assert (first.place, best(first)) == (0, 9)  # nothing stands before it
    assert sum(film.probability for film in fill_blanks(WORLD, Cycle(), [3, None], 20, hide_seen=False)[0].picks) == (
        pytest.approx(1, abs=1e-5)
    )


def test_several_blanks_are_guessed_at_once():
    blanks = fill_blanks(WORLD, Cycle(), [3, None, 5, 6, None, 8, None], k=1)
    assert [(blank.place, best(blank)) for blank in blanks] == [(1, 4), (4, 7), (6, 9)]


def test_the_film_that_stood_there_is_found_with_rank_and_probability():
    sequence, answers = with_blanks([3, 4, 5, 6], [2], [])
    (blank,) = fill_blanks(WORLD, Cycle(), sequence, k=1, answers=answers)
    assert blank.answer == blank.picks[0]
    (blank,) = fill_blanks(WORLD, Cycle(), sequence, k=20, answers={2: 15})
    assert blank.answer in blank.picks
    assert blank.answer.rank > 1


def test_a_blank_at_the_end_asks_what_the_recommender_asks():
    (blank,) = fill_blanks(WORLD, bert(), [3, 4, None], k=5)
    wanted = recommend(WORLD, bert(), [3, 4], k=5)
    assert [film.movie_id for film in blank.picks] == [film.movie_id for film in wanted]
    assert blank.picks[0].probability == pytest.approx(wanted[0].probability, rel=1e-4)


def test_listed_films_are_offered_only_on_request_and_a_listed_answer_has_no_rank():
    (blank,) = fill_blanks(WORLD, bert(), [3, 4, None], k=20, answers={2: 3})
    assert {3, 4} & {film.movie_id - 100 for film in blank.picks} == set()
    assert blank.answer is None
    (blank,) = fill_blanks(WORLD, bert(), [3, 4, None], k=20, answers={2: 3}, hide_seen=False)
    assert len(blank.picks) == 20
    assert blank.answer.movie_id == 103


def test_a_sequence_of_nothing_but_blanks_has_answers():
    assert [len(blank.picks) for blank in fill_blanks(WORLD, bert(), [None, None], k=3)] == [3, 3]
    assert fill_blanks(WORLD, bert(), [1, 2]) == []
    assert fill_blanks(WORLD, bert(), []) == []


def test_of_a_long_sequence_the_newest_part_is_read_and_a_blank_before_it_is_passed_over():
    films = [None, *range(11), None]
    (blank,) = fill_blanks(WORLD, bert(length=10), films, k=3)
    assert blank.place == 12
    logits = bert(length=10).fill(np.array([*range(2, 11), 21]), np.array([9]))[0]
    assert blank.picks[0].score == pytest.approx(np.delete(logits, np.arange(11)).max(), rel=1e-5)


def test_models_that_read_one_way_and_strange_films_are_refused():
    with pytest.raises(ServingError, match="reads from the first film to the last"):
        fill_blanks(WORLD, sasrec(), [1, None])
    with pytest.raises(ServingError, match="there is no item 21"):
        fill_blanks(WORLD, bert(), [21, None])
    with pytest.raises(ServingError, match="there is no item 99"):
        fill_blanks(WORLD, bert(), [1, None], answers={1: 99})


def test_films_are_covered_and_gaps_are_opened_where_asked():
    assert with_blanks([7, 8, 9], [1], []) == ([7, None, 9], {1: 8})
    assert with_blanks([7, 8, 9], [], [0, 3]) == ([None, 7, 8, 9, None], {})
    assert with_blanks([7, 8], [0, 1], [1]) == ([None, None, None], {0: 7, 2: 8})
    assert with_blanks([7], [5, -1], [9]) == ([7], {})
    assert with_blanks([], [], [0]) == ([None], {})


PLACES = st.lists(st.integers(0, 8), max_size=4)


@given(st.lists(st.integers(0, 19), max_size=8), PLACES, PLACES)
def test_nothing_is_lost_when_films_are_covered(films, hidden, gaps):
    sequence, answers = with_blanks(films, hidden, gaps)
    restored = [answers.get(place, item) for place, item in enumerate(sequence)]
    assert [item for item in restored if item is not None] == films
    assert len(sequence) == len(films) + len({gap for gap in gaps if gap <= len(films)})
    assert all(sequence[place] is None for place in answers)
