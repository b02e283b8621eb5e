"""A bar: what is promised, how it is measured, and what came out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

HOLDS, IN_PART, FAILS, NOT_MEASURED, NOT_AUDITED = VERDICTS = (
    "holds",
    "in part",
    "fails",
    "not measured",
    "not audited",
)


@dataclass(frozen=True)
class Outcome:
    """What a measurement came to."""

    verdict: str
    figure: str  # what was seen, in a line
    open: tuple[str, ...] = ()  # what does not hold, by name


@dataclass(frozen=True)
class Promise:
    """A bar and its measurement, which runs in a process of its own with an empty home folder."""

    name: str  # "L1"
    text: str
    minutes: float  # about how long it takes
    measure: Callable[[], Outcome]


def judged(figure: str, checks: Mapping[str, bool]) -> Outcome:
    """The outcome of several checks: what must be so → whether it is."""
    broken = tuple(name for name, holds in checks.items() if not holds)
    if not broken:
        return Outcome(HOLDS, figure)
    return Outcome(FAILS if len(broken) == len(checks) else IN_PART, figure, broken)


def unmeasured(why: str) -> Outcome:
    """The outcome where nothing could be measured."""
    return Outcome(NOT_MEASURED, why)
