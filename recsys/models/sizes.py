"""Settings for a set on which none were tuned: those of the tuned set most like it in size, fitted to its own.

Four sets were tuned on: 100K (943 people, 6 % of all pairs seen), latest-small (610, 1.5 %), the sample (2,745, 1.7 %)
and 1M (6,040, 4.8 %). What holds beyond them was measured on the Beauty file of the BERT4Rec paper (40,226 people,
54,542 items, 9 events a person), on which nothing was tuned: assets/experiments.md.
"""

from dataclasses import dataclass, replace
from typing import Any

from recsys.data import prepared

TUNED = ("ml-100k", "ml-latest-small", "ml-latest-sample", "ml-1m")
FEW_PEOPLE = 1_500  # below: as on the two sets of some hundred people
SOME_PEOPLE = 4_000  # below, and where little was seen: as on the sample
DENSE = 0.03  # share of the pairs of person and item that were seen
MANY_ITEMS = 20_000  # above: no matrix of items², and losses against some items instead of all
MANY_PEOPLE = 20_000  # above: larger batches
RARE = 20  # events per item; below, networks learn them by heart unless dropout is higher
STEPS_OF = 6_040  # people of 1M: whoever has more needs fewer passes for as many steps
NEGATIVES, BATCH, DROPOUT, RANK = 256, 128, 0.4, 256
FEWEST_EPOCHS = 10


@dataclass(frozen=True)
class Size:
    """How large a set is."""

    people: int
    items: int
    events: int

    @property
    def density(self) -> float:
        """The share of the pairs of person and item that were seen."""
        return self.events / max(self.people * self.items, 1)


def of(name: str) -> Size | None:
    """The size of a prepared set, without reading it; None where it is not known."""
    about = prepared.about(name)
    return Size(about["people"], about["items"], about["ratings"]) if "people" in about else None


def like(size: Size, trained: bool) -> str:
    """The tuned set most like one of this size.

    trained: for a network; on the sample those were tuned together with the people of 1M, which says nothing here.
    """
    if size.people < FEW_PEOPLE:
        return "ml-100k" if size.density >= DENSE else "ml-latest-small"
    few = size.people < SOME_PEOPLE and size.density < DENSE
    return "ml-latest-sample" if few and not trained else "ml-1m"


def fitted(config: Any, size: Size) -> Any:
    """A config changed where a set is of another order of magnitude than those it was tuned on."""
    changes: dict[str, Any] = {}
    if size.items > MANY_ITEMS and getattr(config, "rank", None) == 0:
        changes["rank"] = RANK
    if not hasattr(config, "schedule") or size.people < FEW_PEOPLE:
        return replace(config, **changes)
    if size.items > MANY_ITEMS and getattr(config, "loss", "") == "softmax":
        changes |= {"loss": "gbce", "negatives": NEGATIVES}
        if getattr(config, "only_unseen", False):
            changes["only_unseen"] = False  # it is for the softmax over all items
    if size.events < RARE * size.items and hasattr(config, "dropout"):
        changes["dropout"] = max(config.dropout, DROPOUT)
    return replace(config, schedule=_schedule(config.schedule, size), **changes)


def _schedule(schedule: Any, size: Size) -> Any:
    """About as many steps as on 1M, in batches that suit the number of people; a validation each eighth of the way."""
    batch = max(schedule.batch_size, BATCH) if size.people > MANY_PEOPLE else schedule.batch_size
    passes = schedule.epochs * (STEPS_OF / size.people) * (batch / schedule.batch_size)
    epochs = round(min(max(passes, FEWEST_EPOCHS), 2 * schedule.epochs))
    return replace(schedule, epochs=epochs, batch_size=batch, validate_every=max(1, epochs // 8))
