"""The trait that the films of a list have in common."""

import numpy as np
import pytest
from scipy import sparse

from recsys.models import common_trait
from recsys.models.common_trait import TraitTable


def test_a_common_trait_is_one_that_random_films_would_hardly_share():
    traits = {
        "theme/boxing": [0, 1, 2],
        "language/ko": [2, 3, 4],
        "genre/Drama": range(8),
        "tag/slow": [0, 1, 5, 6, 7],
        "director/Ryan Coogler": [1, 2],
    }
    matrix = np.zeros((10, len(traits)), bool)
    for column, items in enumerate(traits.values()):
        matrix[list(items), column] = True
    shares = np.array([0.004, 0.001, 0.05, 0.002, 0.0001], np.float32)
    table = TraitTable(list(traits), sparse.csr_array(matrix), shares)

    def common_name(*items):
        trait = table.find_common(np.array(items))
        return trait.name if trait else None

    assert common_name(2, 3) == "language/ko"
    assert common_name(0, 1) == "theme/boxing"  # before the tag, although fewer films have the tag
    assert common_name(5, 6) == "tag/slow"
    assert common_name(0, 3) == "genre/Drama"
    assert common_name(0, 0) is common_name(8, 9) is None
    assert common_name(2, 3, 8) == "language/ko"  # two of three, but it is rare enough to be no accident
    assert common_name(0, 2, 9) is None  # two of three, but not as rare
    assert common_name(1, 2) == "director/Ryan Coogler"
    assert common_name(0, 1, 2) == "theme/boxing"  # all three, but two have the same director


def test_strength_of_a_common_trait():
    """Five of ten items have the trait, and .1 % of the events."""
    item_traits = sparse.csr_array(np.arange(10)[:, None] < 5)
    table = TraitTable(["language/ko"], item_traits, np.array([0.001], np.float32))
    complete, partial = table.find_common(np.array([2, 3])), table.find_common(np.array([2, 3, 8]))
    assert (complete.share, partial.share) == (1, pytest.approx(2 / 3))
    assert complete.strength == pytest.approx(np.log(80))
    assert partial.strength == pytest.approx(np.log(80) * 2 / 3)
    assert table.items_with(complete).tolist() == [0, 1, 2, 3, 4]


def test_a_trait_of_films_that_cannot_be_recommended_is_not_used():
    item_traits = sparse.csr_array(np.array([[1, 1], [1, 1], [0, 1], [0, 0]], bool))
    shares = np.array([0.0001, 0.01], np.float32)
    names = ["language/tr", "theme/jazz"]
    assert TraitTable(names, item_traits, shares).find_common(np.array([0, 1])).name == "language/tr"
    table = TraitTable(names, item_traits, shares, np.array([False, True]))
    assert table.find_common(np.array([0, 1])).name == "theme/jazz"


def test_the_surprise_of_long_lists_is_finite():
    surprise = common_trait._surprise(np.array([1000, 2]), 1500, np.array([0.1, 0.1]))
    assert surprise[0] > 1000
    assert common_trait._surprise(np.array([2]), 3, np.array([0.1])) == pytest.approx(-np.log(3 * 0.01 * 0.9))
