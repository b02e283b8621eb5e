"""Every English text that the app shows: those of the words modules, and those that pages take from elsewhere."""

import ast
import json
import re
from importlib import import_module

from pages.evaluation.charts import LOOKS
from pages.ui import i18n
from recsys import paths
from recsys.data.dataset import AGES
from recsys.data.datasets import SETS
from recsys.evaluation import groups, protocols
from recsys.evaluation.studies import read
from recsys.models import registry
from recsys.paths import REPOSITORY
from recsys.serving import history
from recsys.serving.films import search
from recsys.serving.insight import regions
from recsys.studies import plans, run
from recsys.text import films

PROPER_NAME = re.compile(r"\d|[A-Z].*[A-Z]")  # a word of a title that is the same in every language


def names_of_recommenders():
    """The titles that have no translation, and the proper names in all titles, longest first."""
    titles = {recommender.title for recommender in registry.RECOMMENDERS.values()}
    words = {word for title in titles for word in re.findall(r"\w+", title) if PROPER_NAME.search(word)}
    return sorted(words | (titles - i18n.texts("uk").keys()), key=len, reverse=True)


NAMES = re.compile(  # the same in every language; what else holds a word needs a translation
    r"\{[^}]*\}|(?:https?:|github\.com|arXiv)\S*|MovieLens \d+[KM]|NextReel|IMDb|TMDB|CSV|JSON|IMAX"
    rf"|(?<!\w)(?:{'|'.join(map(re.escape, names_of_recommenders()))})(?!\w)"
    r"|eSASRec|ItemKNN|HSTU|HR|NDCG|MRR|RMSE|MAE|softmax|skip-gram|large|Hugging Face|RecTools|RecBole|VAE|PyTorch"
    r"|gBCE|benchmark/\S+|examples/\S+"
)
FORMULA = re.compile(r"FORMULA(?!.*TEXT)")  # names of texts that are LaTeX
WORD = re.compile(r"[A-Za-z]{2,}")
PUBLISHED = REPOSITORY / "recsys" / "evaluation" / "published.json"
SHIPPED = sorted(paths.studies(paths.ASSETS).glob("*.json"))
GROUPS = (
    ("under 10", "200 and more", "women", "men", groups.NO_GENRE, groups.NO_YEAR, groups.UNSAID),
    ("0–1% most watched", "1–10% most watched", "10–50% most watched", "50–100% most watched"),
)
NOTICES = (
    ("A part of the link could not be read and was skipped.", "Films that are in the link twice are kept once."),
    ("Skipped {n} film of the link: not in this data set.", "Skipped {n} films of the link: not in this data set."),
    "The link is long; its newest {n} films are kept.",
)


def of_words():
    """The texts of the words modules."""
    found = []
    for path in sorted((REPOSITORY / "pages").rglob("*words.py")):
        tree = ast.parse(path.read_text("utf-8"))
        module = import_module(path.relative_to(REPOSITORY).with_suffix("").as_posix().replace("/", "."))
        names = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
        spoken = [name for name in sorted(names) if name.isupper() and not FORMULA.search(name)]
        found += [text for name in spoken for text in texts(vars(module)[name])]
    return kept(found)


def from_elsewhere():
    """Return the texts that pages translate with `say`: names of families, protocols, groups, lists and studies.

    Titles of recommenders and families without a row in `LOOKS` may stay English.
    """
    planned = [[plan.title, plan.question, plan.papers, plan.setting_title] for plan in plans.PLANS.values()]
    points = [(point.title, point.setting) for plan in plans.PLANS.values() for point in plan.points]
    lists = [(name, description) for name, (description, _) in history.EXAMPLES.items()]
    return kept(
        [
            *texts(list(LOOKS)),
            *texts([(one.title, one.meaning, one.own_training, one.rules) for one in protocols.PROTOCOLS.values()]),
            *texts([*protocols.ORDERS.values(), "validation", "test"]),
            *texts(of_published(json.loads(PUBLISHED.read_text("utf-8")))),
            *texts([planned, points, list(run.COLUMNS.values()), *map(of_study, SHIPPED)]),
            *texts([lists, GROUPS, AGES, regions.WIDELY[0], regions.SELDOM[0], f"before {regions.OLD}"]),
            *texts([search.TOO_FEW, films.NO_ENCODER, NOTICES]),
            *texts([(one.title, one.licence) for one in SETS.values()]),
        ]
    )


def of_published(known):
    """What is said of figures that others published."""
    rules = [(rule["short"], rule["text"]) for rule in known["rules"].values()]
    return [*known["sources"].values(), *rules, [(row["title"], row.get("note", "")) for row in known["figures"]]]


def of_study(path):
    """Its fixed texts: what it answers and how it was made holds figures, and stays English."""
    study = read(path)
    cells = study.table.select_dtypes(exclude="number")
    parts = [part for name in cells for cell in cells[name] if isinstance(cell, str) for part in cell.split(" – ")]
    return [study.title, study.question, study.papers, list(study.titles.values()), parts]


def texts(value):
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, tuple | list) else []


def kept(found):
    """What needs a translation, each once."""
    return [text for text in dict.fromkeys(found) if WORD.search(NAMES.sub("", text))]
