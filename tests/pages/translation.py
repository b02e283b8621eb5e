"""A pseudo-language that puts texts between brackets, the texts of a page, and all texts that need a translation."""

import ast
import json
import re
import string
import sys
from gettext import NullTranslations
from html import unescape

import pandas as pd
from streamlit.testing.v1.element_tree import Block

from pages.evaluation.charts import LOOKS
from pages.ui import i18n
from recsys import paths
from recsys.data import film_tables
from recsys.data.dataset import AGES
from recsys.data.datasets import DEFAULT_DATASET, PUBLISHED
from recsys.evaluation import groups, protocols
from recsys.evaluation.studies import read
from recsys.models import registry
from recsys.paths import REPOSITORY
from recsys.serving import history
from recsys.serving.insight import embedding_map
from recsys.serving.search import search
from recsys.studies import plans, run
from recsys.text import films

MARKED = re.compile("⟦[^⟦⟧]*⟧")
ENGLISH = re.compile(r"[A-Za-z]{2,}|(?<![\w.,])\d+\.\d+(?![\w.])")  # words, and numbers as English writes them
SAME = re.compile(  # in every language: names of files, metrics, methods, languages, and a title cut off
    r"(?<=⟦\*Download as a picture: ⟧)[\w@. ]+|\b(?:NextReel|IMDb|TMDB|English|Language|CSV|JSON|PNG|PCA|t-SNE)\b"
    r"|:\w+-badge\b|\b(?:NDCG|HR)@\d+|\b(?:MRR|RMSE|MAE)\b|arXiv:[\d.]+|Star Wars: Ep\w*…|\[mask\]"
    r"|\]\(#\w+\)"  # the address in a link to a heading
)
HIDDEN = {  # fields of Streamlit's messages that nobody sees
    *(
        "anchor",
        "id",
        "key",
        "icon",
        "url",
        "url_path",
        "form_id",
        "element_id",
        "mime_type",
        "file_url",
        "page_script_hash",
    ),
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


class PseudoTranslations(NullTranslations):
    """Translations that put each piece of an English text between brackets: "⟦Why ⟧{film}⟦?⟧"."""

    def gettext(self, message):
        """Return a text with its pieces in brackets and its placeholders unchanged."""
        try:
            pieces = list(string.Formatter().parse(message))
        except ValueError:  # a text without placeholders may contain braces
            return f"⟦{message}⟧"
        return "".join(_bracket(piece) + _placeholder(*field) for piece, *field in pieces)

    def ngettext(self, singular, plural, n):
        """Return the text for a number."""
        return self.gettext(singular if n == 1 else plural)


def _bracket(piece):
    return f"⟦{piece.replace('{', '{{').replace('}', '}}')}⟧" if piece else ""


def _placeholder(name, spec, conversion):
    if name is None:
        return ""
    return f"{{{name}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"


def mark(monkeypatch):
    """Show every page in the pseudo-language, with numbers as in Ukrainian."""
    original = i18n.current_language
    for module in [module for name, module in sys.modules.items() if name.startswith("pages.")]:
        if vars(module).get("current_language") is original:
            monkeypatch.setattr(module, "current_language", lambda: "uk")
    monkeypatch.setattr(i18n, "translations", lambda language, kind: PseudoTranslations())


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
        yield re.sub(r"%?\{[^}]*\}", "", part)  # fields of Plotly


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
    text = re.sub(r":material/\w+:|:small\[|:gray\[|https?://[^\s)⟦⟧]+|`[^`]*`|\[mask\]", " ", text)
    return unescape(re.sub(r"\\(.)", r"\1", text))


# All texts that need a translation

PACKAGE = REPOSITORY / "recsys"
TERMINAL_ONLY = ("cli", "desktop", "studies", "verify.py")
BUILT_IN_ERRORS = "Value|Type|OS|Key|Runtime|Import|FileNotFound|NotImplemented|Cancelled"
MESSAGE_CLASS = re.compile(rf"(?!({BUILT_IN_ERRORS})Error)\w*(Error|MissingData|Message)$")
WITH_ADVICE = ("DownloadError", "DiskError", "_NetworkError")  # errors whose second argument is a text, too
WORD = re.compile(r"[A-Za-z]{2,}")
PROPER_NAME = re.compile(r"\d|[A-Z].*[A-Z]")  # a word of a title that is the same in every language


def texts_in_code():
    """Return the literal texts of `_`, `N_`, `ngettext`, messages and errors: English text → its plural or ""."""
    texts = {}
    for path in [*(REPOSITORY / "pages").rglob("*.py"), *PACKAGE.rglob("*.py")]:
        if path.is_relative_to(PACKAGE) and path.relative_to(PACKAGE).parts[0] in TERMINAL_ONLY:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                texts |= _texts_of_call(node)
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "text":
                texts |= dict.fromkeys(_literals(node.value), "")
    return texts


def _texts_of_call(call):
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    plural = [keyword.value for keyword in call.keywords if keyword.arg == "plural"]
    advice = [keyword.value for keyword in call.keywords if keyword.arg == "advice"]
    app_text = [keyword.value for keyword in call.keywords if keyword.arg == "app_text"]
    if name == "ngettext":
        plural = call.args[1:2]
    elif name in WITH_ADVICE:
        advice += call.args[1:2]
    elif name not in ("_", "N_") and not MESSAGE_CLASS.match(name):
        return {}
    texts = [text for node in app_text or call.args[:1] for text in _literals(node)]
    plurals = [text for node in plural for text in _literals(node)]
    return dict.fromkeys(texts, *(plurals or [""])) | {text: "" for node in advice for text in _literals(node)}


def _literals(node):
    """Return the strings of an expression, with both branches of a condition."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return _literals(node.body) + _literals(node.orelse) if isinstance(node, ast.IfExp) else []


def texts_in_data():
    """Return texts that pages translate with `_(variable)`: such as texts of recommenders, themes and studies."""
    own_groups = ("under 10", "200 or more", "women", "men", groups.NO_GENRE, groups.NO_YEAR, groups.NO_ANSWER)
    by_popularity = (
        "top 1% by popularity",
        "top 1–10% by popularity",
        "top 10–50% by popularity",
        ("bottom 50% by popularity"),
    )
    recommenders = registry.RECOMMENDERS.values()
    return {
        *strings(list(LOOKS)),
        *(protocols.REPEATS_RULE, protocols.OWN_FILTER_RULE),
        *strings([(row.title, row.meaning, row.retraining_reason, row.rules) for row in protocols.PROTOCOLS.values()]),
        *strings([*protocols.TIE_RULES.values(), "validation", "test"]),
        *strings(_published_texts()),
        *strings([[plan.title, plan.question, plan.papers, plan.setting_title] for plan in plans.PLANS.values()]),
        *strings([(point.title, point.setting) for plan in plans.PLANS.values() for point in plan.points]),
        *strings([list(run.COLUMNS.values()), *map(_study_texts, paths.studies(paths.ASSETS).glob("*.json"))]),
        *strings([(name, description) for name, (description, _films) in history.sample_lists().items()]),
        *strings(list(film_tables.themes(DEFAULT_DATASET).values())),
        *strings(
            [
                own_groups,
                by_popularity,
                AGES,
                list(embedding_map.POPULARITY_TERMS),
                f"before {embedding_map.FIRST_DECADE}",
            ]
        ),
        *strings([search.TOO_FEW_RATINGS, films.NO_ENCODER, [(row.title, row.licence) for row in PUBLISHED.values()]]),
        *strings([(row.title, row.family) for row in recommenders]),
    }


def _published_texts():
    published = json.loads((PACKAGE / "evaluation" / "published.json").read_text("utf-8"))
    rules = [(rule["short"], rule["text"]) for rule in published["rules"].values()]
    return [
        *published["sources"].values(),
        *rules,
        [(row["title"], row.get("note", "")) for row in published["figures"]],
    ]


def _study_texts(path):
    """Return the texts of a study. Its answer and method contain figures and are translated as a whole."""
    study = read(path)
    cells = study.table.select_dtypes(exclude="number")
    parts = [part for name in cells for cell in cells[name] if isinstance(cell, str) for part in cell.split(" – ")]
    return [study.title, study.question, study.papers, study.answer, study.method, list(study.titles.values()), parts]


def strings(value):
    """Return all strings of nested tuples, lists and dicts."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for element in value for text in strings(element)] if isinstance(value, tuple | list) else []


def needs_translation(text, translated):
    """Return whether a text has words that are not names. Titles of recommenders may stay English."""
    titles = {recommender.title for recommender in registry.RECOMMENDERS.values()}
    names = {word for title in titles for word in re.findall(r"\w+", title) if PROPER_NAME.search(word)}
    names = sorted(names | (titles - translated), key=len, reverse=True)
    same = re.compile(
        r"\{[^}]*\}|(?:https?:|github\.com|arXiv)\S*|MovieLens \d+[KM]|NextReel|IMDb|TMDB|CSV|JSON|IMAX"
        rf"|(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
        r"|eSASRec|ItemKNN|HSTU|HR|NDCG|MRR|RMSE|MAE|softmax|skip-gram|large|Hugging Face|RecTools|RecBole|VAE|PyTorch"
        r"|gBCE|benchmark/\S+|examples/\S+"
    )
    return bool(WORD.search(same.sub("", text)))
