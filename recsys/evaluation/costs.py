"""What quality costs: the seconds of training, from what results remember of it. Loads no torch.

Nothing but the training loop's own clock counts: no loading, no ranking. A result has the times of the very trainings
that it measured (`evaluate`). Only trainings on the same kind of hardware are set side by side.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from recsys.evaluation.provenance import is_trained, mixed
from recsys.ranking.metrics import METRICS

COLUMNS = ["variant", "title", "family", "seconds", "log10", *METRICS]


@dataclass(frozen=True)
class Costs:
    """Training times of one hardware, and who is left out; titles, best NDCG@10 first."""

    table: pd.DataFrame  # COLUMNS, a row for each recommender
    hardware: str  # "cpu", "cuda"; "" where no time is known
    fitted: list[str]  # fitted on first use, without the training loop and its clock
    mixed: list[str]  # made of other recommenders, whose trainings count for themselves
    unknown: list[str]  # trained, but nobody noted for how long
    other_hardware: list[str]  # trained on other hardware


def costs(found: Sequence[dict[str, Any]]) -> Costs:
    """The training times of what was measured (`results.documents`), the first seed of each whose time is known."""
    trained = [document for document in found if is_trained(document)]
    known = [(document, times[0]) for document in trained if (times := document["run"].get("trained"))]
    kinds = Counter(took["hardware"] for _, took in known)
    hardware = max(kinds, key=lambda kind: (kinds[kind], kind), default="")
    rows = [
        {**document, "seconds": took["seconds"], "log10": np.log10(took["seconds"]), **document["mean"]}
        for document, took in known
        if took["hardware"] == hardware
    ]
    others = [document for document in found if not is_trained(document)]
    timed = [document["variant"] for document, _ in known]
    return Costs(
        pd.DataFrame(rows, columns=COLUMNS),
        hardware,
        fitted=[document["title"] for document in others if not mixed(document)],
        mixed=[document["title"] for document in others if mixed(document)],
        unknown=[document["title"] for document in trained if document["variant"] not in timed],
        other_hardware=[document["title"] for document, took in known if took["hardware"] != hardware],
    )


def time_of(notes: Mapping[str, Any]) -> dict[str, Any]:
    """{"seconds", "hardware"} of a training, from its notes (`TrainingSummary.notes`); {} where they do not tell.

    hardware: "cpu" or "cuda", by its own word, else by a PyTorch that knows no GPU.
    """
    said = str(notes.get("device", "")).partition(":")[0]
    hardware = said or ("cpu" if str(notes.get("versions", {}).get("torch", "")).endswith("+cpu") else "")
    seconds = notes.get("seconds")
    return {"seconds": seconds, "hardware": hardware} if seconds and hardware else {}
