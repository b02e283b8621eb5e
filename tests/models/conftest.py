"""A replacement of the sentence encoder, so that tests of models do not download 90 MB."""

import zlib

import numpy as np
import pytest

from recsys.text import encoder


def words_as_vectors(texts, report):
    """Return the sum of a fixed random vector per word, (len(texts), 384), rows of length 1."""
    vectors = np.array([sum(_word(word) for word in text.replace(".", " ").split()) for text in texts])
    report({"stage": "encode", "done": len(texts), "total": len(texts)})
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _word(word):
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=encoder.DIM)


@pytest.fixture(scope="module")
def known_encoder(tmp_path_factory):
    """Yield an empty home folder and replace the encoder by `words_as_vectors`."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(home))
        patch.setattr(encoder, "encode", words_as_vectors)
        yield home
