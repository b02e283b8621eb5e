"""The language of the interface: English as the words modules have it, or its translation, by gettext and Babel.

A words module ends with `speak(__name__)`: from then on its capitalised names are read in the visitor's language, also
the texts inside tuples and dicts. Its functions, which see their own names as they are, and texts from elsewhere go
through `say`. What is read while a module is imported stays English, so read words when you need them.

Translations are `assets/locale/<language>.po`, with the English text as the key. A text with a number may have plural
forms there; `.format` chooses by the number called `n`, else by the first one in the text. `en.po` has the texts whose
English differs for one of what is counted, and no others. Numbers are written as the language writes them.

Session state: language (its code) · chosen_language (the choice of it) · noun (what the open set is of: "film", or
"item", of which texts then speak, by `items`).
"""

import io
import logging
import string
import sys
from collections.abc import Sequence
from functools import cache
from gettext import GNUTranslations
from numbers import Real
from types import ModuleType
from typing import Any

import streamlit as st
from babel import Locale
from babel.lists import format_list
from babel.messages import catalog as babel_catalog
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from plotly.graph_objects import Figure
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui import items
from recsys.data.dataset import Noun
from recsys.errors import Message, RecsysError
from recsys.paths import ASSETS

ENGLISH = "en"
METRIC = ",.4f"  # the format of metrics, for Python and for Plotly; see `words.metric`
NAMES = {ENGLISH: "English", "uk": "Українська"}  # each as its speakers call it
TRANSLATIONS = ASSETS / "locale"


def _(message: str, /, **fields: Any) -> str:
    """Return a text in the visitor's language, with its placeholders filled in.

    Numbers are written as in that language: `_("{n:,} films", n=6040)` is "6 040 фільмів" in Ukrainian.
    """
    return fill(_translate(message, "", 1), fields)


def ngettext(singular: str, plural: str, n: int, /, **fields: Any) -> str:
    """Return the plural form for `n` in the visitor's language. The placeholder {n} is filled in as well."""
    return fill(_translate(singular, plural, n), {"n": n} | fields)


def N_(message: str) -> str:
    """Mark a constant for translation. `_(CONSTANT)` translates it where it is shown."""
    return message


def _translate(singular: str, plural: str, n: int) -> str:
    """Return the translation for the visitor's language and the kind of its items.

    plural: "" for a text without plural forms.
    """
    if not singular:
        return ""  # gettext returns the header of the catalogue for an empty text
    language = current()
    translations = _plurals(language)
    text = translations.ngettext(singular, plural, n) if plural else translations.gettext(singular)
    return text if things() == "film" else _about_items(text, language)


def fill(text: str, fields: dict[str, Any]) -> str:
    """Fill in the placeholders of a text, with numbers as the visitor's language writes them."""
    return _Formatter(current()).vformat(text, (), fields) if fields else text


class Translated(str):
    """A text from a catalogue: a translation, or English with plural forms."""

    source: str  # in English
    language: str
    noun: Noun = "film"  # what it speaks of

    def format(self, *values: Any, **named: Any) -> str:
        """As `str.format`, with the plural form that belongs to the number, and numbers as the language has them."""
        text = _form(self, named)
        return _Formatter(self.language).vformat(text, values, named)


class Spoken(ModuleType):
    """A words module whose capitalised names are in the language of whoever reads them."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return say(value) if name.isupper() else value


def speak(module: str) -> None:
    """Let a words module speak the visitor's language; its last line."""
    sys.modules[module].__class__ = Spoken


def begin() -> None:
    """At the start of a visit: what was chosen or a link says, else the first language of the browser that is known."""
    if st.session_state.get("language") not in NAMES:
        asked = (st.context.locale or ENGLISH).partition("-")[0].lower()
        st.session_state.language = asked if asked in NAMES else ENGLISH


def switch() -> None:
    """The choice of the language, at the end of every page."""
    state = st.session_state
    state.chosen_language = state.language

    def take() -> None:
        state.language = state.chosen_language or state.language  # a second click takes the choice back
        _keep_choices()

    with st.container(key="language", horizontal=True, horizontal_alignment="right"):
        st.segmented_control(
            "Language · Мова",
            list(NAMES),
            key="chosen_language",
            format_func=NAMES.__getitem__,
            label_visibility="collapsed",
            on_change=take,
        )


def _keep_choices() -> None:
    """Let choices outlive a change of their labels: Streamlit knows options by what they are called."""
    state = st.session_state
    for key in list(state):
        if type(state[key]) in (str, int, float, list, tuple):  # buttons, which nobody may set, are bool
            state[key] = state[key]


def current() -> str:
    """The code of the visitor's language; English outside of a visit."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    return str(st.session_state.get("language", ENGLISH))


def say(value: Any, noun: str = "") -> Any:
    """A text, or those of a tuple or dict, in the visitor's language; as it is where it has not been translated.

    noun: what it is to speak of, "film" or "item"; "": of what the open set is of.
    """
    language, noun = current(), noun or things()
    return _said(value, language, noun)


def localize(message: Message | RecsysError | str) -> str:
    """Return a message of recsys in the language of the visitor. Strings in its fields stay as they are."""
    if isinstance(message, str):
        return _(message)
    if isinstance(message, RecsysError):
        message = message.message
    fields = {name: localize(value) if isinstance(value, Message) else value for name, value in message.fields.items()}
    text = _translate(message.text, message.plural, message.fields.get("n", 1))
    return _Formatter(current()).vformat(text, (), fields)


def things() -> str:
    """What the open data set is of: "film" or "item"."""
    return "film" if get_script_run_ctx(suppress_warning=True) is None else st.session_state.get("noun", "film")


def number(value: float | str, spec: str) -> str:
    """A number, or one that is written out in English, as the visitor's language writes it; spec: of `format`."""
    return _number(value, spec, current())


def count(n: int) -> str:
    """A whole number: "6,040"; in Ukrainian with a blank."""
    return number(n, ",")


def localised(figure: Figure) -> Figure:
    """A chart whose axes and hover texts have numbers as the visitor's language writes them."""
    language = current()
    if language == ENGLISH:
        return figure
    signs = Locale(language).number_symbols["latn"]
    return figure.update_layout(separators=signs["decimal"] + signs["group"])


def joined(names: list[str]) -> str:
    """Names in a sentence: "A, B and C"; without the comma that American English puts before its "and"."""
    language = current()
    return format_list(names, locale="en_GB" if language == ENGLISH else language)


def _said(value: Any, language: str, noun: str) -> Any:
    if isinstance(value, str):
        said = _text(value, language)
        return said if noun == "film" else _of_items(said)
    if isinstance(value, dict):
        return {key: _said(one, language, noun) for key, one in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_said(one, language, noun) for one in value)
    return value


def _text(source: str, language: str) -> str:
    """A text in another language; itself where it has not been translated."""
    if not source or source not in texts(language):
        return source
    text = Translated(texts(language)[source])
    text.source, text.language = source, language
    return text


def _of_items(text: str) -> str:
    """A text about films, about items."""
    if not isinstance(text, Translated):
        return items.english(text)
    said = Translated(_about_items(text, text.language))
    said.source, said.language, said.noun = text.source, text.language, "item"
    return said


def _about_items(text: str, language: str) -> str:
    return items.english(text) if language == ENGLISH else items.ukrainian(text)


def _form(text: Translated, named: dict[str, Any]) -> str:
    """The plural form of a text for the numbers that are to stand in it."""
    form = _plural(text, named)
    return form if text.noun == "film" else _about_items(form, text.language)


def _plural(text: Translated, named: dict[str, Any]) -> str:
    if not _catalog(text.language)[text.source].pluralizable:
        return str(text)
    fields = [name for _literal, name, _spec, _conversion in string.Formatter().parse(text.source) if name]
    for name in ("n", *fields):
        if digits := "".join(sign for sign in str(named.get(name, "")) if sign.isdecimal()):
            return _plurals(text.language).ngettext(text.source, text.source, int(digits))
    return str(text)


class _Formatter(string.Formatter):
    """Writes numbers that have a format as a language does."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, spec: str) -> str:
        if spec and isinstance(value, Real):
            return _number(value, spec, self.language)
        return super().format_field(value, spec)


def _number(value: Any, spec: str, language: str) -> str:
    written = format(value, spec)
    return written if language == ENGLISH else written.translate(_signs(language))


@cache
def _signs(language: str) -> dict[int, str]:
    """What stands for the comma of thousands, and for the decimal point."""
    signs = Locale(language).number_symbols["latn"]
    return str.maketrans({",": signs["group"], ".": signs["decimal"]})


@cache
def texts(language: str) -> dict[str, str]:
    """English → the translation; of several plural forms, the one for many."""
    entries = [(entry.id, entry.string) for entry in _catalog(language) if not entry.fuzzy]
    return {_forms(source)[0]: _forms(text)[-1] for source, text in entries if source and text}


@cache
def known() -> dict[str, bool]:
    """English → whether it is a sentence of `recsys`, for all that has been translated into any language."""
    entries = [entry for language in NAMES if language != ENGLISH for entry in _catalog(language) if entry.id]
    return {_forms(entry.id)[0]: ("recsys", None) in entry.locations for entry in entries}


def _forms(text: str | Sequence[str]) -> Sequence[str]:
    """A text that has one form for each kind of number, or only one."""
    return [text] if isinstance(text, str) else text


@cache
def _catalog(language: str) -> Catalog:
    """Return the translations of a language; none, with a log warning, if the file is missing or damaged."""
    path = TRANSLATIONS / f"{language}.po"
    empty = Catalog(locale=language)
    try:
        with path.open("rb") as file:
            catalog = read_po(file, locale=language, abort_invalid=True)
        if catalog.plural_forms != empty.plural_forms:
            raise ValueError("unexpected Plural-Forms")
        for entry in catalog:
            _check_placeholders(entry)
        _gettext(catalog)  # raises ValueError where gettext cannot read it
    except (OSError, PoFileError, LookupError, ValueError, TypeError, AttributeError, AssertionError) as error:
        command = f"git checkout -- assets/locale/{language}.po"
        logging.getLogger(__name__).warning("ignored %s: %s; run: %s", path, error, command)
        return empty
    return catalog


def _check_placeholders(entry: babel_catalog.Message) -> None:
    """Raise ValueError if a translation has a placeholder that the English text does not have."""
    try:
        allowed = {field for form in _forms(entry.id) for field in _placeholders(form)}
    except ValueError:
        return  # a formula, which is never formatted
    for form in _forms(entry.string or ""):
        if extra := _placeholders(form) - allowed:
            raise ValueError(f"unknown placeholders {sorted(extra)} in the translation of {entry.id!r}")


def _placeholders(text: str) -> set[str]:
    """Return the replacement fields of a text: name, format and conversion."""
    fields = string.Formatter().parse(text)
    return {f"{name}:{spec}!{conversion}" for _literal, name, spec, conversion in fields if name is not None}


@cache
def _plurals(language: str) -> GNUTranslations:
    """Return the translations of a language as gettext reads them."""
    return _gettext(_catalog(language))


def _gettext(catalog: Catalog) -> GNUTranslations:
    """Return the translations as gettext reads them."""
    written = io.BytesIO()
    write_mo(written, catalog)
    written.seek(0)
    return GNUTranslations(written)
