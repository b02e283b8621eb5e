"""To come."""

from recsys.data.schema import Dataset


def show(dataset: Dataset) -> None:
    """."""
