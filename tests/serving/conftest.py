import pytest

from recsys.data import datasets, movielens_files, published
from recsys.data.assemble import assemble
from recsys.data.dataset import Dataset
from tests import toys


@pytest.fixture(scope="session")
def sample() -> Dataset:
    """The first set, straight from the archive that comes with the project."""
    entry = datasets.PUBLISHED[datasets.DEFAULT_DATASET]
    with movielens_files.open_archive(
        published.SHIPPED_ARCHIVES / f"{datasets.DEFAULT_DATASET}.zip", entry.title, is_verified=True
    ) as archive:
        return assemble(datasets.DEFAULT_DATASET, entry.parse(archive), ties=entry.ties)


@pytest.fixture
def world() -> Dataset:
    """Six films. Each user watched them in the same order and began somewhere else."""
    return toys.cycle(n_items=6)
