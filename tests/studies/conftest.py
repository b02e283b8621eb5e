import pytest

from tests import toys


@pytest.fixture
def small_cycle(home, no_assets):
    """A data set of 40 users with 8 films each, an empty data folder and no shipped studies."""
    return toys.cycle(n_users=40, length=8)
