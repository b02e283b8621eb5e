import pytest

from recsys.data import layouts, movielens
from recsys.data.schema import Dataset


@pytest.fixture(scope="session")
def sample() -> Dataset:
    """The first set, straight from the archive that comes with the project."""
    published = movielens.SETS[movielens.FIRST]
    with layouts.opened(movielens.BUNDLED / f"{movielens.FIRST}.zip", published.title, verified=True) as archive:
        return movielens.assemble(movielens.FIRST, published.parse(archive), ties=published.ties)
