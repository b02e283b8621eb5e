"""What quality costs: the seconds of training, from what checkpoints remember of it. Loads no torch.

Nothing but the training loop's own clock counts: no loading, no ranking. Only trainings on the same kind of hardware
are set side by side, and only of the very settings and data that were measured.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import files, paths
from recsys.evaluation import protocols
from recsys.evaluation.provenance import is_trained
from recsys.ranking.metrics import METRICS
from recsys.store import META

COLUMNS = ["variant", "title", "family", "seconds", "log10", *METRICS]


@dataclass(frozen=True)
class Costs:
    """Training times of one hardware, and who is left out; titles, best NDCG@10 first."""

    table: pd.DataFrame  # COLUMNS, a row for each recommender
    hardware: str  # "cpu", "cuda"; "" where no time is known
    untrained: list[str]  # fitted on first use: nobody trains them
    unknown: list[str]  # trained, but no checkpoint here tells for how long, or it is another one than was measured
    elsewhere: list[str]  # trained on other hardware


def costs(found: Sequence[dict[str, Any]]) -> Costs:
    """The training times of what was measured (`results.documents`), one training (seed) each."""
    trained = [document for document in found if is_trained(document)]
    notes = {document["variant"]: _notes(document) for document in trained}
    kinds = Counter(kind for own in notes.values() if (kind := _hardware(own)))
    hardware = max(kinds, key=lambda kind: (kinds[kind], kind), default="")
    rows = [
        {**document, "seconds": seconds, "log10": np.log10(seconds), **document["mean"]}
        for document in trained
        if hardware and _hardware(own := notes[document["variant"]]) == hardware and (seconds := own["seconds"])
    ]
    shown = {row["variant"] for row in rows}
    others = [document for document in trained if document["variant"] not in shown]
    return Costs(
        pd.DataFrame(rows, columns=COLUMNS),
        hardware,
        untrained=[document["title"] for document in found if not is_trained(document)],
        unknown=[one["title"] for one in others if not _hardware(notes[one["variant"]])],
        elsewhere=[one["title"] for one in others if _hardware(notes[one["variant"]])],
    )


def _notes(document: dict[str, Any]) -> dict[str, Any]:
    """What a checkpoint of just what was measured says of its training; nothing where there is none."""
    dataset, variant = document["dataset"], document["variant"]
    protocol = protocols.PROTOCOLS.get(document["protocol"]["name"])
    if protocol is None:  # one that is no longer there
        return {}
    splitting = protocol.splitting.name
    here = [paths.checkpoint(dataset, splitting, variant, run["seed"]) for run in document["seeds"]]
    for folder in (*here, paths.shipped_checkpoint(dataset, splitting, variant)):
        meta = _meta(folder)
        same = (meta.get("config"), meta.get("fingerprint")) == (document["config"], document["fingerprint"])
        if same and meta.get("notes", {}).get("seconds"):
            return meta["notes"]
    return {}


def _meta(folder: Path) -> dict[str, Any]:
    """What a checkpoint says of itself; nothing where it is missing or damaged, about which `store` complains."""
    try:
        return files.read_sealed(folder / META)
    except (OSError, files.DamagedFileError):
        return {}


def _hardware(notes: dict[str, Any]) -> str:
    """On what a training ran, "" where nothing tells: by its own word, else by a PyTorch that knows no GPU."""
    said = str(notes.get("device", "")).partition(":")[0]
    return said or ("cpu" if str(notes.get("versions", {}).get("torch", "")).endswith("+cpu") else "")
