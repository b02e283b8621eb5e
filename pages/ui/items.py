"""What pages say of films, said of items: for data sets of anything else.

The texts of the app are about films that people watch. Of books, songs or goods it says "items" that they "pick": in
English a regular verb that fits wherever "watch" does. What stands in braces is filled in later, and stays.
"""

import re
from collections.abc import Callable
from functools import lru_cache

_BRACES = re.compile(r"(\{[^{}]*\})")
_ENGLISH = re.compile(r"\b(a |A )?(film|Film|watch|Watch|viewer)(e?s|ed|ing)?\b(?!-)")
_WORDS = {"film": "item", "Film": "Item", "watch": "pick", "Watch": "Pick", "viewer": "person"}
_UKRAINIAN = re.compile(r"\b([Фф])ільм(|и|у|а|ом|і|ів|ам|ами|ах)\b(?!-)")
_ENDINGS = {"у": "а"}  # of the genitive, which is the more frequent; the dative of both is the same


@lru_cache(maxsize=4096)
def english(text: str) -> str:
    """ "Add a film that you watched" is "Add an item that you picked"."""
    return _outside_braces(_ENGLISH, _item, text)


@lru_cache(maxsize=4096)
def ukrainian(text: str) -> str:
    """ "5 фільмів" is "5 об’єктів"; verbs stay as they are."""
    return _outside_braces(_UKRAINIAN, _object, text)


def _outside_braces(pattern: re.Pattern[str], word: Callable[[re.Match[str]], str], text: str) -> str:
    parts = _BRACES.split(text)
    return "".join(part if n % 2 else pattern.sub(word, part) for n, part in enumerate(parts))


def _item(found: re.Match[str]) -> str:
    article, word, ending = found[1] or "", found[2], found[3] or ""
    said = "people" if (word, ending) == ("viewer", "s") else _WORDS[word] + ("s" if ending == "es" else ending)
    return f"{article[0]}n {said}" if article and said[0] in "iI" else article + said


def _object(found: re.Match[str]) -> str:
    return f"{'О' if found[1] == 'Ф' else 'о'}б’єкт{_ENDINGS.get(found[2], found[2])}"
