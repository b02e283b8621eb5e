"""A language in which every text that goes through the translation is marked, ⟦so⟧, and what pages show unmarked.

Only the text itself is marked, not what is put into it: "⟦Why ⟧Heat⟦?⟧".
"""

import json
import re
import string
import sys
from html import unescape

import pandas as pd
from streamlit.testing.v1.element_tree import Block

from pages.ui import i18n

MARKED = re.compile("⟦[^⟦⟧]*⟧")
ENGLISH = re.compile(r"[A-Za-z]{2,}|(?<![\w.,])\d+\.\d+(?![\w.])")  # words, and numbers as English writes them
SAME = re.compile(  # in every language: names of files, metrics, methods, languages, and a title cut off
    r"(?<=⟦Download as a picture: ⟧)[\w@. ]+|\b(?:NextReel|IMDb|TMDB|English|Language|CSV|JSON|PNG|PCA|t-SNE)\b"
    r"|:\w+-badge\b|\b(?:NDCG|HR)@\d+|\b(?:MRR|RMSE|MAE)\b|arXiv:[\d.]+|Star Wars: Ep\w*…"
)
HIDDEN = {  # fields of Streamlit's messages that nobody sees
    *("id", "key", "icon", "url", "url_path", "form_id", "element_id", "mime_type", "file_url", "page_script_hash"),
    *(
        "format",
        "type",
        "autocomplete",
        "scope",
        "language",
        "theme",
        "config",
        "json",
        "component_name",
        *("data", "column_order"),
        "spec",
    ),
    *("deferred_file_id", "columns", "accept", "fragment_id", "styler", "bytes", "url_or_html", "js_content", "mode"),
}
SHOWN = {"text", "name", "title", "ticktext", "hovertemplate", "customdata", "x", "y"}  # of a chart


class Marked(str):
    """A text as it is in the language of marks."""

    source: str

    def __new__(cls, source):
        text = super().__new__(cls, f"⟦{source}⟧" if source else "")
        text.source = source
        return text

    def __reduce__(self):
        return str, (str(self),)  # a copy is not marked twice

    def format(self, *values, **named):
        """Each piece of the text is marked, and numbers are as in Ukrainian."""
        write = i18n._Formatter("uk")
        pieces = []
        for literal, field, spec, _ in string.Formatter().parse(self.source):
            pieces.append(f"⟦{literal}⟧" if literal else "")
            if field is not None:
                pieces.append(write.vformat(f"{{{field}:{spec}}}" if spec else f"{{{field}}}", values, named))
        return "".join(pieces)


def mark(monkeypatch):
    """From now on every page speaks the language of marks."""
    now = i18n.current
    for module in [module for name, module in sys.modules.items() if name.startswith("pages.")]:
        if vars(module).get("current") is now:
            monkeypatch.setattr(module, "current", lambda: "uk")
    monkeypatch.setattr(i18n, "_text", lambda source, _: source if isinstance(source, Marked) else Marked(source))


def unmarked(app, allowed):
    """What a page shows in English words; allowed: names that are the same in every language."""
    names = re.compile("|".join(map(re.escape, sorted(allowed, key=len, reverse=True))))
    left = {names.sub("", _without_marks(SAME.sub("", _plain(text)))) for text in shown(app)}
    return sorted(" ".join(text.split()) for text in left if ENGLISH.search(text))


def shown(app):
    """Every text of a page."""
    return [text for node in _nodes(app._tree) for text in _texts(node)]


def texts_by_kind(app):
    """Every text of a page, with the kind of element that it belongs to."""
    return [(getattr(node, "type", ""), text) for node in _nodes(app._tree) for text in _texts(node)]


def _without_marks(text):
    while (less := MARKED.sub("", text)) != text:
        text = less
    return text


def _nodes(node):
    yield node
    if isinstance(node, Block):
        for child in node.children.values():
            yield from _nodes(child)


def _texts(node):
    """Every text of a part of a page."""
    proto = getattr(node, "proto", None)
    kind = getattr(node, "type", "")
    if proto is None or kind in ("code", "latex", "component", "bidi_component"):
        return
    if not hasattr(proto, "DESCRIPTOR"):
        return
    yield from _strings(proto)
    if kind == "plotly_chart":
        yield from _of_chart(json.loads(proto.spec), "")
    if kind in ("arrow_data_frame", "dataframe", "table", "arrow_table"):
        yield from _of_table(node.value, json.loads(getattr(proto, "columns", "") or "{}"))


def _strings(message):
    for field, value in message.ListFields():
        if field.name in HIDDEN:
            continue
        values = value if isinstance(value, (list, tuple)) or hasattr(value, "append") else [value]
        for one in values:
            if isinstance(one, str):
                yield one
            elif hasattr(one, "ListFields"):
                yield from _strings(one)


def _of_chart(part, name):
    if isinstance(part, dict):
        for key, value in part.items():
            if key != "template":
                yield from _of_chart(value, key if key in SHOWN else name if isinstance(value, (dict, list)) else key)
    elif isinstance(part, list):
        for value in part:
            yield from _of_chart(value, name)
    elif isinstance(part, str) and name in SHOWN and part not in ("skip", "none"):
        yield re.sub(r"%\{[^}]*\}", "", part)


def _of_table(table, config):
    labels = {name: column.get("label") for name, column in config.items() if column}
    yield from (str(labels.get(str(name)) or name) for name in table.columns)
    for name in (*table.columns, None):
        cells = table.index if name is None else table[name]
        if pd.api.types.is_string_dtype(cells) or cells.dtype == object:
            yield from (cell for cell in cells if isinstance(cell, str))
    if table.index.name:
        yield str(table.index.name)


def _plain(text):
    """Without what is for the browser: tags but for the words in their attributes, styles, Markdown, icons, links."""
    text = re.sub(r"<(style|code|dd>arXiv)[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
    spoken = re.findall(r'(?:alt|aria-label|title|placeholder)="([^"]*)"', text)
    text = " ".join([re.sub(r"<[^>]+>", " ", text), *spoken])
    text = re.sub(r":material/\w+:|:small\[|:gray\[|https?://[^\s)]+|`[^`]*`|\[mask\]", " ", text)
    return unescape(re.sub(r"\\(.)", r"\1", text))
