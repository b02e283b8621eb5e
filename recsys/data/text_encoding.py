"""Bytes of anybody's file as text, whatever encoding a program has written; what cannot be known is refused.

UTF-8 and UTF-16 are certain. Bytes that are neither are read as Windows-1252, which the older programs of Western
Europe and the Americas write (and which agrees with Latin-1 in all that is a letter), but only if they look like it:
as Windows-1252 the encodings of other scripts give signs that no text has there, or long runs of accented letters.
"""

import codecs
import re
from itertools import islice

from recsys.data.dataset import DataError

MARKS = {  # the longer ones first: UTF-32 begins as UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
GUESS = "cp1252"
GUESSED = "It is not in UTF-8, so it was read as Windows-1252; look whether accents came out right"
LOOKED_AT = 20_000  # signs outside ASCII
FEW = 0.25  # share of them that may look odd
_OUTSIDE = re.compile(r"[^\0-\x7f]")
_ODD = re.compile(
    r"[^\0-\x7f\xa0]{3,}"  # a run, as in Russian or Chinese; blanks that do not break do come in rows
    r"|[À-ÿ][¡-º¼-¿]"  # a letter with a sign behind it: two bytes of UTF-8
    r"|(?<=[A-Za-z])[¡-©«-¶¸¹»-¿](?=[A-Za-z])"  # a sign within a word, as in Polish
    r"|[‚ƒ†‡ˆ‰˜¤¦¨¬¯¶¸]"  # signs that nobody types: the first bytes of Japanese letters
)


class NoTextError(DataError):
    """Bytes that are no text; the message goes on after the name of the file."""


class UnknownEncodingError(NoTextError):
    """Text, but nobody can tell in which encoding."""


def decode_text(data: bytes) -> tuple[str, bool]:
    """The text of a file, and whether its encoding was guessed. Raises NoTextError."""
    mark = next((encoding for mark, encoding in MARKS.items() if data.startswith(mark)), "")
    try:
        text, guessed = data.decode(mark or "utf-8"), False
    except UnicodeDecodeError:
        text, guessed = _western(data), True
    if "\0" in text:
        raise NoTextError("is no text")
    return text, guessed


def _western(data: bytes) -> str:
    """Windows-1252, if it looks like it."""
    try:
        text = data.decode(GUESS)
    except UnicodeDecodeError as error:  # it has five gaps
        raise _unknown(data) from error
    strange = sum(1 for _ in islice(_OUTSIDE.finditer(text), LOOKED_AT))
    odd = sum(len(match[0]) for match in islice(_ODD.finditer(text), LOOKED_AT))
    if odd > FEW * strange:
        raise _unknown(data)
    return text


def _unknown(data: bytes) -> NoTextError:
    if b"\0" in data:
        return NoTextError("is no text")
    return UnknownEncodingError("is in an encoding that nobody can tell; save it as UTF-8")
