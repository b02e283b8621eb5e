"""Where figures come from, and which are missing: the commands that make them. Loads neither torch nor Streamlit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recsys import checkpoints
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import recsys_command
from recsys.evaluation import protocols, results
from recsys.models import registry


@dataclass(frozen=True)
class Missing:
    """A recommender that was not measured under a protocol."""

    variant: str
    title: str  # its name where no result says what people call it
    trained: bool  # whether it has to be trained first, as far as a result under another protocol or data set tells
    members: tuple[str, ...] = ()  # the variants that it mixes, as far as such a result tells


def is_trained(document: dict[str, Any]) -> bool:
    """Whether what a result measured was made by the training loop; the others are fitted on first use."""
    return "schedule" in document["config"]


def commands(document: dict[str, Any]) -> list[str]:
    """The lines that make a result again: the training of each seed, its own or its members', then the measuring."""
    variant, dataset, protocol = document["variant"], document["dataset"], document["protocol"]["name"]
    seeds = [run["seed"] for run in document["seeds"]]
    parts = [(one["variant"], one.get("also", "")) for one in [document, *_members(document)] if is_trained(one)]
    lines = [training(name, dataset, protocol, seed, also) for name, also in parts for seed in seeds]
    return [*lines, recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol, *_seeds(seeds))]


def missing(dataset: str, protocol: str, measured: Iterable[str]) -> list[Missing]:
    """The recommenders that are not among those measured, by title."""
    absent = set(registry.names()) - set(measured)
    known = _known(dataset, absent)
    found = [known.get(variant, Missing(variant, variant, False)) for variant in absent]
    return sorted(found, key=lambda one: one.title.lower())


def commands_for(one: Missing, dataset: str, protocol: str) -> list[str]:
    """The lines that measure what is missing."""
    known = _known(dataset, set(one.members))
    parts = [one, *(known[name] for name in one.members if name in known)]
    lines = [training(part.variant, dataset, protocol, 0) for part in parts if part.trained]
    return [*lines, recsys_command("evaluate", one.variant, "--dataset", dataset, "--protocol", protocol)]


def _known(dataset: str, absent: set[str]) -> dict[str, Missing]:
    """What results tell of recommenders, those on the same data set first; no more files are read than needed."""
    known: dict[str, Missing] = {}
    pairs = sorted(results.available(), key=lambda pair: (pair[0] != dataset, protocols.in_order([pair[1]])))
    for name, protocol in pairs:
        if absent <= set(known):
            break
        for document in results.documents(name, protocol, _nobody):
            found = Missing(document["variant"], document["title"], is_trained(document), mixed(document))
            known.setdefault(document["variant"], found)
    return known


def mixed(document: dict[str, Any]) -> tuple[str, ...]:
    """The variants that the one of a result mixes."""
    return tuple(document["config"].get("members", ()))


def _members(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What was measured of those variants under the same protocol; for no mixture is a file read."""
    if not mixed(document):
        return []
    measured = results.documents(document["dataset"], document["protocol"]["name"], _nobody)
    return [one for one in measured if one["variant"] in mixed(document)]


def training(variant: str, dataset: str, protocol: str, seed: int = 0, also: str = "") -> str:
    """The line that trains a recommender for a protocol; also: another set whose people it learns from too."""
    splitting = protocol if protocols.trains_apart(protocol) else LEAVE_ONE_OUT.name
    return checkpoints.training_command(variant, dataset, splitting, seed, also)


def _seeds(seeds: list[int]) -> list[str]:
    return ["--seeds", *map(str, seeds)] if seeds != [0] else []


def _nobody(sentence: str) -> None:
    """What is damaged is said where it is shown."""
