"""What `recsys` says, errors above all and what studies found, in the visitor's language.

`recsys` knows no languages: it writes whole English sentences, with names and figures in them. Below `#: recsys` in
`assets/locale` such a sentence has {fields} where those stand. It is recognised by what lies between them, and what
stands in them is translated in the same way, since it may be another sentence; names and paths stay as they are.
"""

import re
from functools import cache
from string import Formatter
from typing import NamedTuple

from pages.ui.i18n import ENGLISH, current, known, number, say, things

FIGURE = re.compile(r"[−+]?(?:\d{1,3}(?:,\d{3})+|\d*\.?\d+)")
BARE = re.compile(r"(?<!\d)(?=\.)")  # where figures such as .1234 lack their 0
BETWEEN = "; "  # clauses, such as what is wrong and what to do; no field goes beyond it
LONGEST = 1_000  # characters of a sentence that is looked at: a file may put anything into one
DEEPEST = 8  # sentences in one another, and clauses of one


class Sentence(NamedTuple):
    """A text with fields, as it is recognised."""

    text: str
    pattern: re.Pattern[str]
    outside: int  # characters outside its fields
    specs: dict[str, str]  # field → how its figure is to be written, "" for as it is


def told(sentence: str) -> str:
    """A sentence of `recsys` in the visitor's language; what has not been translated stays English."""
    if (current(), things()) == (ENGLISH, "film"):
        return sentence
    return str(say(sentence)) if sentence in known() else _filled(sentence, 1)


def _filled(sentence: str, depth: int) -> str:
    """The same where something is filled in."""
    if depth > DEEPEST or len(sentence) > LONGEST:
        return sentence
    for one in _sentences():
        if found := one.pattern.fullmatch(sentence):
            fields = {name: _part(text, depth, one.specs[name]) for name, text in found.groupdict().items()}
            return str(say(one.text).format(**fields))
    begins, _unused, ends = sentence.rpartition(BETWEEN)
    return f"{_part(begins, depth)}{BETWEEN}{_part(ends, depth)}" if begins else sentence


def _part(text: str, depth: int, spec: str = "") -> str | int:
    """What stands in a field: a figure, another sentence, or a name, which stays."""
    if FIGURE.fullmatch(text):
        return int(text.replace(",", "")) if spec else number(BARE.sub("0", text), "")
    return str(say(text)) if known().get(text) else _filled(text, depth + 1)


@cache
def _sentences() -> list[Sentence]:
    """The longest first: of those that fit, it says most."""
    texts = [text for text, of_recsys in known().items() if of_recsys and "{" in text]
    return sorted(map(_recognised, texts), key=lambda one: -one.outside)


def _recognised(text: str) -> Sentence:
    parts = [(literal, field, spec or "") for literal, field, spec, _unused in Formatter().parse(text)]
    anything = f"(?:(?!{BETWEEN}).)+?"
    pattern = "".join(
        re.escape(literal) + (f"(?P<{field}>{anything})" if field else "") for literal, field, _unused in parts
    )
    outside = sum(len(literal) for literal, *_unused in parts)
    return Sentence(
        text, re.compile(pattern, re.DOTALL), outside, {field: spec for _unused, field, spec in parts if field}
    )
