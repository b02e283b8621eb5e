"""Language of the interface: translations by gettext, numbers and lists by Babel.

`_`, `ngettext` and `N_` mark the texts of the app. A translation is a catalogue `assets/locale/NAME.po`, whose keys are
the English texts. `uk@item.po` and `en@item.po` have other translations for data sets that are not of films. The
language is looked up at every call, because callbacks and fragments of Streamlit run without `main.py`.

Session state:
    lang: Code of the language.
    chosen_language: Value of the menu of languages.
    noun: "film" or "item", the word for the items of the open data set.
"""

import io
import logging
import string
from collections.abc import Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from numbers import Real
from typing import Any

import streamlit as st
from babel import Locale
from babel.lists import format_list
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from plotly.graph_objects import Figure
from streamlit.runtime.scriptrunner import get_script_run_ctx

from recsys.data.dataset import Noun
from recsys.errors import Message, RecsysError
from recsys.paths import ASSETS

ENGLISH = "en"
METRIC_FORMAT = ",.4f"  # for Python and for Plotly
LANGUAGES = {ENGLISH: "English", "uk": "Українська"}  # code → name of the language in this language
CATALOGS = ASSETS / "locale"


def _(message: str, /, **fields: Any) -> str:
    """Return a text in the visitor's language, with its placeholders filled in.

    Numbers with a format specification get the separators of that language: `_("{share:.1%} of your films", share=0.5)`
    contains "50,0%" in Ukrainian.
    """
    text = _translate(message)
    return _fill(text, fields) if fields else text  # a text without placeholders may contain braces


def ngettext(singular: str, plural: str, n: int, /, **fields: Any) -> str:
    """Return the plural form for `n` in the visitor's language. The placeholder {n} is filled in as well."""
    return _fill(_translate(singular, plural, n), {"n": n} | fields)


def N_(message: str) -> str:  # noqa: N802 - the usual name, which tools for translators search for
    """Mark a constant for translation. `_(CONSTANT)` translates it where it is shown."""
    return message


def localize(message: Message | RecsysError | str) -> str:
    """Return a message of recsys in the visitor's language. Strings in its fields are not translated."""
    if isinstance(message, str):
        return _(message)
    if isinstance(message, RecsysError):
        message = message.message
    fields = {name: localize(value) if isinstance(value, Message) else value for name, value in message.fields.items()}
    return _fill(translated_template(message), fields)


def translated_template(message: Message) -> str:
    """Return a message of recsys in the visitor's language, with its placeholders."""
    if message.app_text:
        return _translate(message.app_text)
    return _translate(message.text, message.plural, message.fields.get("n", 1))


def _translate(singular: str, plural: str = "", n: int = 1) -> str:
    """Return the translation of a text, or of a plural form if `plural` is given."""
    if not singular:
        return ""  # gettext would return the header of the catalogue
    catalog = translations(current_language(), current_noun())
    return catalog.ngettext(singular, plural, n) if plural else catalog.gettext(singular)


def film_translation(text: str) -> str:
    """Return the translation of a text about films, even if the items of the open data set are not films."""
    return translations(current_language(), "film").gettext(text)


def set_language() -> None:
    """Set the language of a new visitor to the language of the browser, unless the URL has set it."""
    if st.session_state.get("lang") not in LANGUAGES:
        st.session_state.lang = preferred_language()


def preferred_language() -> str:
    """Return the language of the visitor's browser, or English if there is no translation."""
    code = (st.context.locale or ENGLISH).partition("-")[0].lower()
    return code if code in LANGUAGES else ENGLISH


def language_menu() -> None:
    """Show the menu of languages, at the end of every page."""
    state = st.session_state
    state.chosen_language = state.lang

    def change_language() -> None:
        state.lang = state.chosen_language or state.lang  # a second click on the same language clears the choice
        # Streamlit stores a choice as the label of its option. The labels change with the language, so Streamlit would
        # drop all choices. It keeps a value that was assigned, even if it is the same value.
        for key in list(state):
            if _is_choice(state[key]):
                state[key] = state[key]

    with st.container(key="language", horizontal=True, horizontal_alignment="right"):
        st.segmented_control(
            "Language · Мова",
            list(LANGUAGES),
            key="chosen_language",
            format_func=LANGUAGES.__getitem__,
            label_visibility="collapsed",
            on_change=change_language,
        )


def _is_choice(value: Any) -> bool:
    """Return whether this can be the value of a widget with options. Setting the value of a button is an error."""
    values = value if type(value) in (list, tuple) else [value]
    return all(type(each) in (str, int, float) for each in values)


def current_language() -> str:
    """Return the code of the visitor's language, or English outside a session."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    return str(st.session_state.get("lang", ENGLISH))


def current_noun() -> Noun:
    """Return the word for the items of the open data set, or "film" outside a session."""
    return "film" if get_script_run_ctx(suppress_warning=True) is None else st.session_state.get("noun", "film")


def number(value: Any, spec: str, language: str = "") -> str:
    """Format a number. spec: As in `format`. language: Code of a language. "": the visitor's language."""
    text, language = format(value, spec), language or current_language()
    return text if language == ENGLISH else text.translate(_separators(language))


def count(n: int) -> str:
    """Format a whole number with separators of thousands: "6,040"."""
    return number(n, ",")


def localize_chart(figure: Figure) -> Figure:
    """Set the number format of the axes and hover texts of a chart to the format of the visitor's language."""
    language = current_language()
    if language == ENGLISH:
        return figure
    symbols = Locale(language).number_symbols["latn"]
    return figure.update_layout(separators=symbols["decimal"] + symbols["group"])


def join_names(names: Sequence[str]) -> str:
    """Join names as in a sentence: "A, B and C"."""
    language = current_language()
    return format_list(names, locale="en_GB" if language == ENGLISH else language)  # en_US has a comma before "and"


class _Formatter(string.Formatter):
    """Formatter that writes a number in the visitor's language if its placeholder has a format specification."""

    def format_field(self, value: Any, spec: str) -> str:
        return number(value, spec) if spec and isinstance(value, Real) else super().format_field(value, spec)


def _fill(text: str, fields: dict[str, Any]) -> str:
    """Fill in the placeholders of a text, see `_Formatter`."""
    return _Formatter().vformat(text, (), fields)


@cache
def _separators(language: str) -> dict[int, str]:
    """Return the table for `str.translate` that replaces the English separators by the separators of a language."""
    symbols = Locale(language).number_symbols["latn"]
    return str.maketrans({",": symbols["group"], ".": symbols["decimal"]})


@cache
def translations(language: str, noun: Noun) -> NullTranslations:
    """Return the catalogue of a language for films or items. Texts without a translation stay English."""
    catalog = NullTranslations() if language == ENGLISH else _compile(read_catalog(language))
    if noun == "film":
        return catalog
    item_catalog = _compile(read_catalog(f"{language}@item"))
    item_catalog.add_fallback(catalog)
    return item_catalog


def read_catalog(name: str) -> Catalog:
    """Read `assets/locale/NAME.po`. If it is missing or damaged, log a warning and return an empty catalogue."""
    path, locale = CATALOGS / f"{name}.po", name.partition("@")[0]
    empty = Catalog(locale=locale)
    try:
        with path.open("rb") as file:
            catalog = read_po(file, locale=locale, abort_invalid=True)
        if catalog.plural_forms != empty.plural_forms:
            raise ValueError("unexpected Plural-Forms")
    except (OSError, PoFileError, LookupError, ValueError, TypeError, AttributeError, AssertionError) as error:
        command = f"git checkout -- assets/locale/{name}.po"
        logging.getLogger(__name__).warning("ignored %s: %s; run: %s", path, error, command)
        return empty
    return catalog


def _compile(catalog: Catalog) -> GNUTranslations:
    """Convert a Babel catalogue to a gettext catalogue."""
    file = io.BytesIO()
    write_mo(file, catalog)
    file.seek(0)
    return GNUTranslations(file)
