import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.ranking.ranking import ScoreError
from recsys.serving.insight.cloze import fill_masks, has_films_on_both_sides, insert_masks, rank_by_side
from recsys.serving.recommend import RankPosition, Request, ServingError, recommend
from tests.serving.given import Given, predictor
from tests.serving.insight.test_attention import WORLD, bert, calibrated, sasrec


class Cycle(Given):
    """The next film is the last plus one; a mask is predicted from the nearest film on either side of it."""

    can_fill_masks = True
    max_length = 12

    def __init__(self):
        super().__init__([0] * 20, softmax=True)

    def fill(self, history, masks):
        known = np.setdiff1d(np.arange(len(history)), masks)
        nearest = [known[np.abs(known - mask).argmin()] for mask in masks]
        wanted = [(history[near] + mask - near) % 20 for near, mask in zip(nearest, masks, strict=True)]
        return -np.abs(np.arange(20) - np.array(wanted)[:, None]).astype(np.float32)


def filled(model, sequence, k=10, answers=None, exclude_sequence=True):
    return fill_masks(predictor(WORLD, model), sequence, k, answers or {}, exclude_sequence)


def test_a_mask_is_predicted_from_both_of_its_sides():
    (middle,) = filled(Cycle(), [3, 4, None, 6, 7])
    (first,) = filled(Cycle(), [None, 10, 11, 12])
    assert (middle.position, middle.picks[0].item) == (2, 5)
    assert (first.position, first.picks[0].item) == (0, 9)  # there is nothing before it


def test_probabilities_are_over_the_films_that_may_fill_the_mask():
    for exclude_sequence, films in ((False, 20), (True, 19)):
        (mask,) = filled(Cycle(), [3, None], 20, exclude_sequence=exclude_sequence)
        assert len(mask.picks) == films
        assert sum(film.probability for film in mask.picks) == pytest.approx(1, abs=1e-5)


def test_several_masks_are_predicted_at_once():
    masks = filled(Cycle(), [3, None, 5, 6, None, 8, None], k=1)
    assert [(mask.position, mask.picks[0].item) for mask in masks] == [(1, 4), (4, 7), (6, 9)]


def test_the_film_that_was_really_there_has_its_rank_and_probability():
    sequence, answers = insert_masks([3, 4, 5, 6], [2], [])
    (mask,) = filled(Cycle(), sequence, k=1, answers=answers)
    assert mask.answer_rank == RankPosition(1, 17, mask.picks[0].probability)
    (mask,) = filled(Cycle(), sequence, k=20, answers={2: 15})
    (pick,) = (pick for pick in mask.picks if pick.item == 15)
    assert mask.answer_rank == RankPosition(pick.rank, 17, pytest.approx(pick.probability))
    assert pick.rank > 1


@pytest.mark.parametrize("model", [bert(), calibrated(bert())])
def test_a_mask_at_the_end_is_filled_with_the_recommendations(model):
    (mask,) = filled(model, [3, 4, None], k=5)
    wanted = recommend(predictor(WORLD, model), Request((3, 4), 5))
    assert [film.item for film in mask.picks] == [film.item for film in wanted]
    assert mask.picks[0].probability == pytest.approx(wanted[0].probability, rel=1e-4)


def test_films_of_the_sequence_are_recommended_on_request_only_and_have_no_rank_otherwise():
    (mask,) = filled(bert(), [3, 4, None], k=20, answers={2: 3})
    assert {3, 4} & {film.item for film in mask.picks} == set()
    assert mask.answer_rank is None
    (mask,) = filled(bert(), [3, 4, None], k=20, answers={2: 3}, exclude_sequence=False)
    (pick,) = (pick for pick in mask.picks if pick.item == 3)
    assert (len(mask.picks), mask.answer_rank.rank) == (20, pick.rank)


def test_a_sequence_of_nothing_but_masks_has_answers():
    assert [len(mask.picks) for mask in filled(bert(), [None, None], k=3)] == [3, 3]
    assert filled(bert(), [1, 2]) == []
    assert filled(bert(), []) == []


def test_of_a_long_sequence_the_newest_part_is_read_and_a_mask_before_it_is_left_out():
    films = [None, *range(11), None]
    (mask,) = filled(bert(length=10), films, k=3)
    assert mask.position == 12
    logits = bert(length=10).fill(np.array([*range(2, 11), 0]), np.array([9]))[0]
    assert mask.picks[0].score == pytest.approx(np.delete(logits, np.arange(11)).max(), rel=1e-5)


def test_scores_that_are_no_numbers_are_refused():
    class Broken(Cycle):
        def fill(self, history, masks):
            return np.full((len(masks), 20), np.nan, np.float32)

    with pytest.raises(ScoreError, match="not numbers"):
        filled(Broken(), [3, None])


def test_models_that_read_one_way_and_unknown_films_are_refused():
    with pytest.raises(ServingError, match="reads from the first film to the last"):
        filled(sasrec(), [1, None])
    with pytest.raises(ServingError, match="there is no item 21"):
        filled(bert(), [21, None])
    with pytest.raises(ServingError, match="there is no item 99"):
        filled(bert(), [1, None], answers={1: 99})


def test_the_two_sides_are_shown_alone_and_together():
    class Sum(Cycle):
        """Scores the film that lies as far from 0 as the films that it sees add up to."""

        def fill(self, history, masks):
            total = sum(int(film) for at, film in enumerate(history) if at not in masks)
            return np.tile(-np.abs(np.arange(20) - total).astype(np.float32), (len(masks), 1))

    found = rank_by_side(predictor(WORLD, Sum()), [1, 2, None, 7], 2, 10)
    assert found.both.rank == 1
    assert found.before.rank > found.after.rank > 1  # 3 is further away than 7
    assert found.before.n_ranked == found.after.n_ranked == found.both.n_ranked == 17


def test_a_position_lies_between_films_or_at_an_end():
    assert [has_films_on_both_sides([4, None, 5], at) for at in range(3)] == [False, True, False]
    assert not has_films_on_both_sides([None, None, 5], 1)


def test_films_are_hidden_and_gaps_are_inserted():
    assert insert_masks([7, 8, 9], [1], []) == ([7, None, 9], {1: 8})
    assert insert_masks([7, 8, 9], [], [0, 3]) == ([None, 7, 8, 9, None], {})
    assert insert_masks([7, 8], [0, 1], [1]) == ([None, None, None], {0: 7, 2: 8})
    assert insert_masks([7], [5, -1], [9]) == ([7], {})
    assert insert_masks([], [], [0]) == ([None], {})


POSITIONS = st.lists(st.integers(0, 8), max_size=4)


@given(st.lists(st.integers(0, 19), max_size=8), POSITIONS, POSITIONS)
def test_nothing_is_lost_when_films_are_hidden(films, hidden, gaps):
    sequence, answers = insert_masks(films, hidden, gaps)
    restored = [answers.get(position, item) for position, item in enumerate(sequence)]
    assert [item for item in restored if item is not None] == films
    assert len(sequence) == len(films) + len({gap for gap in gaps if gap <= len(films)})
    assert all(sequence[position] is None for position in answers)
