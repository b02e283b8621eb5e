import os
import subprocess

import pytest

from recsys import paths, storage
from recsys.storage import DamagedFileError


def test_binary_data_comes_back_and_no_altered_bit_does(tmp_path):
    path = tmp_path / "x"
    for data in (b"", b"abc"):
        whole = storage.sealed_bytes(data)
        path.write_bytes(whole)
        assert storage.read_sealed_bytes(path) == data
        for bit in range(8 * len(whole)):
            altered = bytearray(whole)
            altered[bit // 8] ^= 1 << bit % 8
            path.write_bytes(altered)
            with pytest.raises(DamagedFileError, match="x is damaged"):
                storage.read_sealed_bytes(path)
    path.write_bytes(b"")
    with pytest.raises(DamagedFileError):
        storage.read_sealed_bytes(path)


def test_a_file_is_read_once_for_each_version_of_it(tmp_path, monkeypatch):
    path, reads, digest = tmp_path / "x", [], storage.digest
    monkeypatch.setattr(storage, "digest", lambda *asked: (reads.append(asked), digest(*asked))[1])
    path.write_bytes(b"abc")
    for _ in range(3):
        storage.verify(path, storage.sha256(b"abc"))
    assert len(reads) == 1
    path.write_bytes(b"abd")
    os.utime(path, ns=(7, 7))  # as if the clock had not moved in between
    for _ in range(2):
        with pytest.raises(DamagedFileError):
            storage.verify(path, storage.sha256(b"abc"))
    assert len(reads) == 2
    storage.replace_file(path, b"abc")
    storage.verify(path, storage.sha256(b"abc"))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        storage.verify(path, storage.sha256(b"abc"))


@pytest.mark.parametrize("named", [None, [1], "x", {}, {"y.bin": "0"}])
def test_a_document_that_names_no_hash_of_its_file_is_damage(tmp_path, named):
    index, payload = tmp_path / "x.json", tmp_path / "x.bin"
    payload.write_bytes(b"abc")
    index.write_bytes(storage.sign_document({"files": named}))
    with pytest.raises(DamagedFileError, match=r"x\.bin is missing or damaged"):
        storage.read_artifact(index, payload)


def test_whoever_has_mapped_a_file_keeps_it_when_it_is_replaced(tmp_path):
    np = pytest.importorskip("numpy")
    path = tmp_path / "x.npy"
    np.save(path, np.arange(100_000))
    mapped = np.load(path, mmap_mode="r")
    storage.replace_file(path, b"short")
    assert mapped.sum() == np.arange(100_000).sum()  # a file cut short in place would end this process


def test_what_belongs_to_the_project_is_restored_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "REPOSITORY", root := tmp_path / "a b")
    kept = [root / "assets" / name for name in ("x y.json", "z.json")]
    for path in kept:
        storage.replace_file(path, b"whole")
    for arguments in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)
    for path in kept:
        path.write_bytes(b"damaged")
    subprocess.run(storage.restore_command(*kept), shell=True, check=True, cwd="/")
    assert [path.read_bytes() for path in kept] == [b"whole"] * 2
