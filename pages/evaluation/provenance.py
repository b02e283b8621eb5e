"""Where the metrics of a recommender come from: facts about the measurement, and commands that repeat it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pages.evaluation.charts import TIME_UNITS
from pages.evaluation.data import HARDWARE
from pages.ui import cache, errors
from pages.ui.i18n import N_, _, count, number
from recsys.evaluation import report


@dataclass(frozen=True)
class Provenance:
    """Where the metrics of a row come from."""

    id: str  # part of the HTML id of the popover
    title: str
    facts: dict[str, str]  # label → text
    commands: tuple[str, ...] = ()  # shell commands that reproduce the metrics


def local_provenance(document: dict[str, Any]) -> Provenance:
    """Return the provenance of a result document, with texts in the visitor's language."""
    run, seeds = document["run"], [str(seed["seed"]) for seed in document["seeds"]]
    device = ", ".join(filter(None, [run.get("device", ""), _("threads: {n}", n=run.get("threads", _("all")))]))
    extra_data, extra_features = "", ""
    if dataset := document.get("also"):
        extra_data = _("{data}, without people who are in both data sets", data=cache.dataset_title(dataset))
    if fingerprint := document.get("details"):
        extra_features = _("cast and crew from Wikidata, fingerprint {print}", print=fingerprint[:12])
    facts = {  # English label → translated text, "" if not recorded
        N_("People"): count(document["users"]),
        N_("Seeds"): _("{n} ({seeds})", n=len(seeds), seeds=", ".join(seeds)),
        N_("Code version (commit)"): run.get("commit", ""),
        N_("Measured on"): run.get("date", "")[:10],
        N_("Trained for"): _training_times(run.get("trained", [])),
        N_("Machine"): ", ".join(filter(None, [run.get("machine", ""), device])),
        N_("Versions"): ", ".join(f"{name} {version}" for name, version in run.get("versions", {}).items()),
        N_("Data"): _("{data}, fingerprint {print}", data=document["dataset"], print=document["fingerprint"][:12]),
        N_("Also trained on"): extra_data,
        N_("Extra features"): extra_features,
        N_("Paper"): document["paper"],
    }
    commands = tuple(map(errors.hide_paths, report.reproduction_commands(document)))
    recorded_facts = {_(label): text for label, text in facts.items() if text}
    return Provenance(document["variant"], _(document["title"]), recorded_facts, commands)


def _training_times(timings: Iterable[Mapping[str, Any]]) -> str:
    """Return the training times of all seeds, as in "41 min, 44 min on a CPU; 12 min on a GPU"."""
    by_hardware: dict[str, list[str]] = {}
    for timing in timings:
        seconds = timing["seconds"]
        unit = "h" if seconds >= 3600 else "min" if seconds >= 60 else "s"
        unit_seconds, text = TIME_UNITS[unit]
        value = number(seconds / unit_seconds, ".1f" if unit == "h" else ".0f")
        by_hardware.setdefault(timing["hardware"], []).append(_(text, n=value))
    return "; ".join(
        _("{times} on {hardware}", times=", ".join(times), hardware=_(HARDWARE.get(hardware, hardware)))
        for hardware, times in by_hardware.items()
    )
