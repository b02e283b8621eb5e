import errno
import os

import numpy as np
import pytest

from recsys import arrays, storage
from tests.artifacts import payload

pytestmark = pytest.mark.usefixtures("home")


def test_an_array_is_read_again_by_its_name_and_by_what_it_was_made_of(tmp_path):
    path, array = tmp_path / "deep" / "x.json", np.arange(6, dtype=np.float16).reshape(2, 3)
    assert arrays.read(path, "points", "a") is None
    arrays.write(path, "points", array, "a")
    np.testing.assert_array_equal(arrays.read(path, "points", "a"), array)
    assert arrays.read(path, "points", "b") is None
    assert arrays.read(path, "vectors", "a") is None
    payload(path, "x.safetensors").unlink()
    assert arrays.read(path, "points", "a") is None


def test_where_the_disk_takes_nothing_it_is_said_and_the_older_one_stays(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    arrays.write(path, "points", np.zeros(2), "a")

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(storage, "replace_file", full)
    with pytest.warns(UserWarning, match=r"cannot write .*x\.json: No space left on device; free up disk space"):
        arrays.write_or_warn(path, "points", np.ones(2), "a")
    with pytest.raises(OSError, match="No space"):
        arrays.write(path, "points", np.ones(2), "a")
    assert arrays.read(path, "points", "a").tolist() == [0, 0]
