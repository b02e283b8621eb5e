"""Write Cyrillic titles in Latin letters, so that "Брат" finds "Brother (Brat)" and "Brat" finds "Брат".

A text gets a Ukrainian and a Russian form. With a letter that only one of the languages has, it only gets the form of
this language.

Reference: resolution 55 of the Cabinet of Ministers of Ukraine (2010), and the BGN/PCGN romanization of Russian (1947).
Titles of MovieLens follow the latter.
"""

import unicodedata
from typing import NamedTuple

_COMMON = dict(zip("абвдезийклмнопрстуф", "abvdezyiklmnoprstuf", strict=True)) | {  # RUSSIAN replaces и, й, ю and я
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
    """The Latin letters for the Cyrillic letters of a language."""

    letters: dict[str, str]
    initial: dict[str, str]  # exceptions at the beginning of a word
    after_vowel: dict[str, str]  # exceptions after a vowel, ь or ъ
    unique_letters: str  # Cyrillic letters that the other language lacks


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

    The list is empty for a text without Cyrillic letters, or with unique letters of both languages.
    """
    if text.isascii():
        return []
    text = unicodedata.normalize("NFC", text.casefold())  # file names of macOS have й and ї as two characters
    letters = set(text)
    if letters.isdisjoint({*_COMMON, *UKRAINIAN.unique_letters, *RUSSIAN.unique_letters}):
        return []
    languages = [UKRAINIAN] if letters.isdisjoint(RUSSIAN.unique_letters) else []
    languages += [RUSSIAN] if letters.isdisjoint(UKRAINIAN.unique_letters) else []
    return list(dict.fromkeys(_romanize(text, language) for language in languages))


def _romanize(text: str, language: Romanization) -> str:
    """Replace the Cyrillic letters of a lower-case text. Other characters stay."""
    result, previous = [], " "
    for letter in text:
        table = language.letters
        is_initial = not (previous.isalnum() or previous in "'’")
        if is_initial and letter in language.initial:
            table = language.initial
        elif letter in language.after_vowel and previous in _VOWELS_AND_SIGNS:
            table = language.after_vowel
        result.append(table.get(letter, letter))
        previous = letter
    return "".join(result)
