import pytest

from recsys.data import datasets, movielens_files
from recsys.data.dataset import Dataset


@pytest.fixture(scope="session")
def sample() -> Dataset:
    """The first set, straight from the archive that comes with the project."""
    published = datasets.SETS[datasets.DEFAULT_DATASET]
    with movielens_files.opened(
        datasets.BUNDLED / f"{datasets.DEFAULT_DATASET}.zip", published.title, verified=True
    ) as archive:
        return datasets.assemble(datasets.DEFAULT_DATASET, published.parse(archive), ties=published.ties)
