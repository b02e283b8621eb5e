"""Payload files of artifacts, see `recsys.storage`."""

import io
import json

import numpy as np

from recsys import boards, storage
from recsys.serving import predictor


def available_names(dataset_name):
    """Return the names of the recommenders that can be loaded without training or fitting."""
    names = [recommender.name for recommender in predictor.all_recommenders()]
    return [name for name in names if predictor.is_ready(name, dataset_name)]


def payload(document, name):
    """Return a payload by its name without hash. The document may be damaged later, but not yet."""
    files = json.loads(document.read_bytes())["files"]
    return next(document.with_name(file) for file in files if storage.HASH.sub("", file) == name)


def change(board, name, *removed, **changes):
    """Write a board again with an altered document: fields are removed and changed."""
    content = without_hashes(board)
    entry = content["documents"][name] | changes
    content["documents"][name] = {key: value for key, value in entry.items() if key not in removed}
    ranks = payload(board, f"{board.stem}.npz").read_bytes()
    storage.write_document(board, content, {f"{board.stem}.npz": ranks})


def remove_ranks(board, name):
    """Write a board again without the ranks of a name, as after a damage of the .npz file."""
    ranks = boards.read_ranks(board)
    del ranks[name]
    buffer = io.BytesIO()
    np.savez(buffer, **ranks)
    storage.write_document(board, without_hashes(board), {f"{board.stem}.npz": buffer.getvalue()})


def without_hashes(document):
    """Return the content of a document as it was written."""
    content = storage.read_document(document)
    return {name: value for name, value in content.items() if name not in ("sha256", "files")}
