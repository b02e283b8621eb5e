"""Where one figure comes from: the commands that make it again, the commit, the seeds, the people."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from pages.evaluation import words
from pages.ui import cache, errors
from pages.ui.i18n import _, count, number, say
from recsys.evaluation import report

ARXIV = "arXiv:"


@dataclass(frozen=True)
class About:
    """What is known of a row of the leaderboard."""

    name: str  # its own in the page, for the button and what it opens
    title: str
    facts: Mapping[str, str]  # what → how it is
    commands: tuple[str, ...] = ()  # lines that make it again; none for what others published


def ours(document: dict[str, Any]) -> About:
    """Of a result that was measured here or came with the project."""
    run, seeds = document["run"], [str(run["seed"]) for run in document["seeds"]]
    facts = {
        _("People"): count(document["users"]),
        _("Seeds"): _("{n} ({seeds})", n=len(seeds), seeds=", ".join(seeds)),
        _("Code, by commit"): run.get("commit", ""),
        _("Measured on"): run.get("date", "")[:10],
        _("Trained for"): "; ".join(_trained(run.get("trained", []))),
        _("Machine"): ", ".join(filter(None, [run.get("machine", ""), _device(run)])),
        _("Versions"): ", ".join(f"{name} {version}" for name, version in run.get("versions", {}).items()),
        _("Data"): _("{data}, fingerprint {print}", data=document["dataset"], print=document["fingerprint"][:12]),
        _("Learnt also from"): document.get("also", "")
        and _("the people of {data}, but for those who are in both sets", data=cache.dataset_title(document["also"])),
        _("Reads also"): document.get("details", "")
        and _("who made the films, as Wikidata knows it, fingerprint {print}", print=document["details"][:12]),
        _("Paper"): document["paper"],
    }
    known = {what: how for what, how in facts.items() if how}
    commands = tuple(map(errors.hide_paths, report.commands(document)))
    return About(document["variant"], str(say(document["title"])), known, commands)


def theirs(row: dict[str, Any], number: int) -> About:
    """Of a figure that others published (a row of `published_figures.published`)."""
    facts = {_("Rules"): f"{row['code']}: {words.rules(row['rules'])}", _("Source"): say(row["source"])}
    return About(f"published-{number}", str(say(row["title"])), facts)


def button(about: About) -> str:
    """The title as a button that opens what is known."""
    return f'<button type="button" class="nr-ask" popovertarget="about-{about.name}">{escape(about.title)}</button>'


def popover(about: About) -> str:
    """What the button opens; Escape, a click beside it or the cross close it."""
    name, title = f"about-{about.name}", escape(about.title)
    cross = (
        f'<button type="button" class="nr-cross" popovertarget="{name}" popovertargetaction="hide" '
        f'aria-label="{_("Close")}">✕</button>'
    )
    facts = "".join(f"<dt>{escape(what)}</dt><dd>{_linked(how)}</dd>" for what, how in about.facts.items())
    lines = "".join(f"<code>{escape(line)}</code>" for line in about.commands)
    again = f'<p>{_("To make them again, in a terminal:")}</p><div class="nr-commands">{lines}</div>' if lines else ""
    return (
        f'<div popover id="{name}" class="nr-about" role="dialog" aria-label="{_("Where the figures of {title} come from", title=title)}">'
        f"{cross}<b>{title}</b><dl>{facts}</dl>{again}</div>"
    )


def _trained(times: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """How long the seeds were trained, for each kind of hardware: "41 min, 44 min on a CPU"."""
    by_hardware: dict[str, list[str]] = {}
    for one in times:
        by_hardware.setdefault(one["hardware"], []).append(_spelt(one["seconds"]))
    for hardware, spelt in by_hardware.items():
        yield _("{times} on {hardware}", times=", ".join(spelt), hardware=words.HARDWARE.get(hardware, hardware))


def _spelt(seconds: float) -> str:
    """ "45 s", "41 min", "1.2 h"."""
    for unit, length, spec in (("h", 3600, ".1f"), ("min", 60, ".0f")):
        if seconds >= length:
            return words.TIME_UNITS[unit].format(n=number(seconds / length, spec))
    return words.TIME_UNITS["s"].format(n=number(seconds, ".0f"))


def _device(run: Mapping[str, Any]) -> str:
    """ "cpu, threads: 1"."""
    return ", ".join(filter(None, [run.get("device", ""), _("threads: {n}", n=run.get("threads", _("all")))]))


def _linked(text: str) -> str:
    """Text as HTML, a paper's number as a link to it."""
    if not text.startswith(ARXIV):
        return escape(text)
    address = f"https://arxiv.org/abs/{escape(text.removeprefix(ARXIV))}"
    return f'<a href="{address}" target="_blank" rel="noopener">{escape(text)}</a>'
