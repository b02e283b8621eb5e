"""Write Cyrillic titles in Latin letters, so that "Брат" finds "Brother (Brat)" and "Brat" finds "Брат".

A text gets a Ukrainian and a Russian form, unless it has a letter that only one of the languages has.

Reference: resolution 55 of the Cabinet of Ministers of Ukraine (2010) · BGN/PCGN romanization of Russian (1947), which
titles of MovieLens follow.
"""

import unicodedata
from typing import NamedTuple

_COMMON = dict(zip("абвдезийклмнопрстуф", "abvdezyiklmnoprstuf", strict=True)) | {
    "ж": "zh",
    "х": "kh",
    "ц": "ts",
    "ч": "ch",
    "ш": "sh",
    "щ": "shch",
    "ю": "iu",
    "я": "ia",
}
_VOWELS_AND_SIGNS = "аеёиоуыэюяьъ"


class Romanization(NamedTuple):
    """The Latin letters of a language."""

    letters: dict[str, str]
    initial: dict[str, str]  # at the beginning of a word
    after_vowel: dict[str, str]  # after a vowel or a sign
    unique_letters: str  # letters that the other language lacks


UKRAINIAN = Romanization(
    _COMMON | {"г": "h", "ґ": "g", "є": "ie", "і": "i", "ї": "i", "ь": "", "'": "", "’": ""},
    {"є": "ye", "ї": "yi", "й": "y", "ю": "yu", "я": "ya"},
    {},
    "ґєії",
)
RUSSIAN = Romanization(
    _COMMON | {"г": "g", "и": "i", "й": "y", "ё": "yo", "ы": "y", "э": "e", "ю": "yu", "я": "ya", "ь": "", "ъ": ""},
    {"е": "ye"},
    {"е": "ye"},
    "ёыэъ",
)


def romanizations(text: str) -> list[str]:
    """Return the possible Latin forms of a text, in lower case.

    The list is empty without Cyrillic letters, or with unique letters of both languages.
    """
    if text.isascii():
        return []
    text = unicodedata.normalize("NFC", text.casefold())  # file names of macOS have й and ї as two characters
    letters = set(text)
    if not letters & (_COMMON.keys() | set(UKRAINIAN.unique_letters) | set(RUSSIAN.unique_letters)):
        return []
    languages = [UKRAINIAN] if letters.isdisjoint(RUSSIAN.unique_letters) else []
    languages += [RUSSIAN] if letters.isdisjoint(UKRAINIAN.unique_letters) else []
    return list(dict.fromkeys(_romanize(text, language) for language in languages))


def _romanize(text: str, language: Romanization) -> str:
    """Replace the letters of a lower-case text. Other characters stay."""
    result, previous = [], " "
    for letter in text:
        table = language.letters
        if letter in language.initial and not (previous.isalnum() or previous in "'’"):
            table = language.initial
        elif letter in language.after_vowel and previous in _VOWELS_AND_SIGNS:
            table = language.after_vowel
        result.append(table.get(letter, letter))
        previous = letter
    return "".join(result)
