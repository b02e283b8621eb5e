"""Decode text files in unknown encodings.

UTF-8 is recognised with certainty, and UTF-16 and UTF-32 by a byte order mark. Other text is read as Windows-1252, the
encoding of older programs in Western Europe and the Americas, which contains Latin-1. Text in another encoding has
undefined characters or runs of accented letters when it is read as Windows-1252. Such text is refused.
"""

import codecs
import re
from itertools import islice

from recsys.data.dataset import DataError
from recsys.errors import N_

BYTE_ORDER_MARKS = {  # mark → encoding; longer marks first, because UTF-32 begins like UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
GUESSED_WARNING = N_("the file is not in UTF-8, so it was read as Windows-1252; check that accented letters look right")
MAX_CHECKED_CHARACTERS = 20_000  # first characters outside ASCII
MAX_ODD_SHARE = 0.25  # maximum share of characters in matches of _ODD among the checked characters
_NON_ASCII = re.compile(r"[^\0-\x7f]")
_ODD = re.compile(  # characters that are unusual in text in Windows-1252
    r"[^\0-\x7f\xa0]{3,}"  # a run, as in Russian or Chinese; runs of no-break spaces are usual
    r"|[À-ÿ][¡-º¼-¿]"  # a letter before a sign: a UTF-8 letter in a text that is not UTF-8 throughout
    r"|(?<=[A-Za-z])[¡-©«-¶¸¹»-¿](?=[A-Za-z])"  # a sign within a word, as in Polish
    r"|[‚ƒ†‡ˆ‰˜¤¦¨¬¯¶¸]"  # unusual signs: lead bytes of Japanese letters
)


class UnreadableTextError(DataError):
    """A file that cannot be read as text. The message has no subject: the caller puts the file name before it."""


class UnknownEncodingError(UnreadableTextError):
    """A file in an unknown encoding."""


def decode_text(data: bytes) -> tuple[str, bool]:
    """Return the text of a file, and whether its encoding is a guess (Windows-1252). Raises UnreadableTextError."""
    encoding = next((encoding for mark, encoding in BYTE_ORDER_MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text, is_guessed = data.decode(encoding), False
    except UnicodeDecodeError:
        text, is_guessed = _decode_windows_1252(data), True
    if "\0" in text:
        raise UnreadableTextError("is not a text file")
    return text, is_guessed


def _decode_windows_1252(data: bytes) -> str:
    """Decode Windows-1252. Raises UnreadableTextError if the result has too many odd characters."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:  # Windows-1252 does not define five of the 256 bytes
        raise _encoding_error(data) from error
    end_positions = [match.end() for match in islice(_NON_ASCII.finditer(text), MAX_CHECKED_CHARACTERS)]
    checked_text = text[: end_positions[-1]] if len(end_positions) == MAX_CHECKED_CHARACTERS else text
    n_odd = sum(len(match[0]) for match in _ODD.finditer(checked_text))
    if n_odd > MAX_ODD_SHARE * len(end_positions):
        raise _encoding_error(data)
    return text


def _encoding_error(data: bytes) -> UnreadableTextError:
    """Return the error for bytes that cannot be decoded."""
    if b"\0" in data:
        return UnreadableTextError("is not a text file")
    return UnknownEncodingError("has an unknown encoding; save it as UTF-8")
