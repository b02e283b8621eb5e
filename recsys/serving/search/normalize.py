"""Normalize names of films and queries, so that they can be compared: letters, articles, years, numbers and scripts.

Cyrillic titles are also written in Latin letters, so that "Брат" finds "Brother (Brat)" and "Brat" finds "Брат". A text
gets a Ukrainian and a Russian form. With a letter that only one of the languages has, it only gets the form of this
language.

Reference: resolution 55 of the Cabinet of Ministers of Ukraine (2010), and the BGN/PCGN romanization of Russian (1947).
Titles of MovieLens follow the latter.
"""

import re
import unicodedata
from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

# the characters that sort before and after all others, for `sorted_span`
MIN_CHAR = "\0"  # sorted_span(names, "x", "x" + MIN_CHAR) contains only the name "x"
MAX_CHAR = "\U0010ffff"  # sorted_span(names, "x", "x" + MAX_CHAR) contains all names that begin with "x"
ARTICLES = "the|a|an|le|la|les|un|une|der|die|das|den|ein|eine|el|los|las|il|lo|gli|una|uno|det|de|het|en|ett|o|os|as"
_MOVED_ARTICLE = re.compile(rf"^(.+), ({ARTICLES}|l')$", re.IGNORECASE)
_LEADING_ARTICLE = re.compile(rf"^(?:{ARTICLES}) (?=.)")
# A part in brackets: "Seven (a.k.a. Se7en)". Brackets within a word, as in "Assassin(s)", do not count, also not inside
# the part. The closing bracket can be missing.
_BRACKETS = re.compile(r"(?:^|(?<=\s))\(((?:[^()]|\(\w+\))*)(?:\)(?!\w)|$)")
_ALSO_KNOWN_AS = re.compile(r"^(?:a\.?k\.?a\.?|also known as)\s+", re.IGNORECASE)
# "heat (1995)", "heat (1995" or "heat 1995"
_YEAR = re.compile(r"^(.*\S)\s*\(((?:18|19|20)\d\d)\)?$|^(.*\S)\s+((?:18|19|20)\d\d)$")
_SPACED_LETTERS = re.compile(r"\b[^\W\d_](?: [^\W\d_]\b)+")  # "m a s h"
_FINAL_NUMBER = re.compile(r"(?<=[^\W\d_])(\d{1,2})$")  # "hp3", "rocky2"
_FINAL_ORDINAL = re.compile(r" the (second|third|fourth|fifth)$")  # "shrek the third"
_PART_WORDS = {"part", "pt", "episode", "chapter", "vol", "volume", "no"}  # removed before a number
# word → digits
_ORDINALS = {"second": "2", "third": "3", "fourth": "4", "fifth": "5"}
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii")
_ROMAN = {numeral: str(number) for number, numeral in enumerate(_NUMERALS, 1)}
_NUMBER_NAMES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBER_WORDS = dict(zip(_NUMBER_NAMES.split(), map(str, range(1, 21)), strict=True))
_CHANGED_WORDS = {*_PART_WORDS, *_ROMAN, *_NUMBER_WORDS}  # words that `numbers_to_digits` changes or removes
# Latin letters for the letters of both languages; RUSSIAN replaces и, й, ю and я
_COMMON_LETTERS = dict(zip("абвдезийклмнопрстуф", "abvdezyiklmnoprstuf", strict=True)) | {
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
    _COMMON_LETTERS | {"г": "h", "ґ": "g", "є": "ie", "і": "i", "ї": "i", "ь": "", "'": "", "’": ""},
    {"є": "ye", "ї": "yi", "й": "y", "ю": "yu", "я": "ya"},
    {},
    "ґєії",
)
RUSSIAN = Romanization(
    _COMMON_LETTERS
    | {"г": "g", "и": "i", "й": "y", "ё": "yo", "ы": "y", "э": "e", "ю": "yu", "я": "ya", "ь": "", "ъ": ""},
    {"е": "ye"},
    {"е": "ye"},
    "ёыэъ",
)


class _Fold(dict[int, str]):
    """Character code → normalized form, cached, for `str.translate`.

    Letters of all scripts stay, accents and apostrophes are removed, and other characters become spaces.
    """

    _replacements = dict(zip("øłđæœð&'’‘`", ["o", "l", "d", "ae", "oe", "d", " and ", "", "", "", ""], strict=True))

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter.casefold() in self._replacements:
            plain = self._replacements[letter.casefold()]
        elif letter.isalnum():
            plain = letter.casefold()
        elif unicodedata.category(letter)[0] == "M":  # a mark: an accent in French, a part of a letter in Hindi or Thai
            is_accent_or_variation_selector = 0x300 <= code < 0x370 or 0xFE00 <= code < 0xFE10
            plain = "" if is_accent_or_variation_selector else letter
        else:
            plain = " "
        return self.setdefault(code, plain)


_fold = _Fold()


def normalize(text: str) -> str:
    """Return the form in which names are compared: "Amélie & L.A." → "amelie and la", "M*A*S*H" → "mash".

    A name without letters and digits, such as "***", stays as it is.
    """
    # NFKD would turn "´", which some people type as an apostrophe, into a space and an accent
    plain = unicodedata.normalize("NFKD", text.replace("´", "")).translate(_fold)
    words = (text if plain.isspace() else plain).split()
    return _SPACED_LETTERS.sub(lambda match: match[0].replace(" ", ""), " ".join(words))


def title_names(title: str) -> list[str]:
    """Return the names in a title, at least one: "Seven (a.k.a. Se7en)" → ["Seven", "Se7en"].

    Articles at the end are moved to the front: "Matrix, The" → ["The Matrix"].
    """
    parts = [_BRACKETS.sub(" ", title), *_BRACKETS.findall(title)] if "(" in title else [title]
    parts = [_ALSO_KNOWN_AS.sub("", part.strip()) for part in parts]
    return [_MOVED_ARTICLE.sub(r"\2 \1", part) if ", " in part else part for part in parts if part] or [title]


def split_year(text: str) -> tuple[str, int | None]:
    """Return a text without its final year, and the year: "heat 1995" → ("heat", 1995). "1984" alone is a title."""
    if match := _YEAR.match(text):  # groups 1 and 2: the year is in brackets; groups 3 and 4: it is not
        return match[1] or match[3], int(match[2] or match[4])
    return text, None


def strip_article(name: str) -> str:
    """Return a normalized name without a leading article."""
    return _LEADING_ARTICLE.sub("", name)


def numbers_to_digits(name: str) -> str:
    """Return a normalized name with numbers as digits, and without words such as "part" before them.

    "rocky part iv" → "rocky 4", "twelve monkeys" → "12 monkeys", "shrek the third" → "shrek 3". A Roman numeral as
    first word stays, as in "v for vendetta".
    """
    if name.endswith(tuple(_ORDINALS)):
        name = _FINAL_ORDINAL.sub(lambda match: f" {_ORDINALS[match[1]]}", name)
    if _CHANGED_WORDS.isdisjoint(name.split()):
        return name
    words = [_NUMBER_WORDS.get(word, word) for word in name.split()]
    later_words = [_ROMAN.get(word, word) for word in words[1:]]
    result = words[:1]
    for word, next_word in pairwise([*later_words, ""]):
        if not (word in _PART_WORDS and next_word.isdigit()):
            result.append(word)
    return " ".join(result)


def comparable_name(name: str) -> str:
    """Return a normalized name without a leading article, and with numbers as digits."""
    return strip_article(numbers_to_digits(normalize(name)))


def separate_number(query: str) -> str:
    """Return a normalized query with its final number as a word: "hp3" → "hp 3"."""
    return _FINAL_NUMBER.sub(r" \1", query)


def initials(name: str) -> str:
    """Return the first letters of the words of a normalized name: "lord of the rings" → "lotr"."""
    return "".join(word[0] for word in name.split())


def sorted_span(ordered: list[str], start: str, end: str) -> slice:
    """Return the slice of a sorted list from `start` up to, not including, `end`."""
    return slice(bisect_left(ordered, start), bisect_left(ordered, end))


def romanizations(text: str) -> list[str]:
    """Return the possible Latin forms of a text, in lower case, from Ukrainian and from Russian.

    The list is empty for a text without Cyrillic letters, or with unique letters of both languages.
    """
    if text.isascii():
        return []
    text = unicodedata.normalize("NFC", text.casefold())  # file names of macOS have й and ї as two characters
    letters = set(text)
    if letters.isdisjoint({*_COMMON_LETTERS, *UKRAINIAN.unique_letters, *RUSSIAN.unique_letters}):
        return []
    languages = [UKRAINIAN] if letters.isdisjoint(RUSSIAN.unique_letters) else []
    languages += [RUSSIAN] if letters.isdisjoint(UKRAINIAN.unique_letters) else []
    return list(dict.fromkeys(_romanize(text, language) for language in languages))


def _romanize(text: str, language: Romanization) -> str:
    """Replace the Cyrillic letters of a lower-case text. Other characters stay."""
    if language is UKRAINIAN:
        text = text.replace("зг", "zgh")  # "zh" is ж
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
