"""What `recsys` says is understood in both languages, and nothing that it says of an error stays English."""

import ast
import re
import time

import pytest

from pages.evaluation.studies import whole
from pages.ui import i18n, sentences
from pages.ui.sentences import told
from recsys.config import REQUIREMENTS
from recsys.data.history_import import csv_text as text_files
from recsys.data.history_import import formats, json_files
from recsys.errors import RecsysError
from recsys.evaluation.studies import read
from recsys.jobs import queue
from recsys.paths import REPOSITORY
from tests.pages.texts import NAMES, SHIPPED

ELSEWHERE = ("cli", "bench", "desktop", "studies", "verify.py")  # in a terminal alone
NOT_OURS = ("Value", "Type", "OS", "Key", "Runtime", "Import", "FileNotFound", "NotImplemented", "Cancelled", "Index")
RAISED = re.compile(rf"(?!({'|'.join(NOT_OURS)})Error)\w*(Error|MissingData)$")
CODE = re.compile(  # names of settings, flags, files and programs, and what stands for a field
    r"--[\w-]+( (none|full|cpu|auto|NAME|FILE(\.zip)?))?|recsys/\S+|\b[A-Z]+[A-Z_\d]+\b|\b[a-z_]+=\S+|⟨\d*⟩"
    r"|[\w-]+\.com/\S+|\b(dim|heads|loss|members|edges|only_unseen|item-knn|pip install|pip|pyarrow|parquet|gzip|csv"
    r"|data add|user|item|null|Trakt|MovieLens|kNN|NextReel|Wikidata|SHA|NaN)\b"
)
ENGLISH = re.compile(r"[A-Za-z]{3,}")
WHERE = re.compile(r"AMD EPYC|\bcpu\b|\bml-[\w-]+|\b[0-9a-f]{12}\b")  # on which set and machine, with which code


@pytest.fixture(autouse=True)
def ukrainian(monkeypatch):
    speak(monkeypatch, "uk", "film")


def speak(monkeypatch, code, noun):
    for module in (i18n, sentences):
        monkeypatch.setattr(module, "current", lambda: code)
        monkeypatch.setattr(module, "things", lambda: noun)


def english(text):
    """The English words of a text."""
    return ENGLISH.findall(NAMES.sub("", CODE.sub("", text)))


def raised():
    """(file and line, sentence) of every error that is written out where it is made; ⟨n⟩: what is filled in."""
    for path in sorted((REPOSITORY / "recsys").rglob("*.py")):
        if path.relative_to(REPOSITORY / "recsys").parts[0] in ELSEWHERE:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and is_error(node.func):
                place = f"{path.relative_to(REPOSITORY)}:{node.lineno}"
                written = [text(one) for one in node.args if isinstance(one, ast.JoinedStr | ast.Constant)]
                yield from ((place, sentence) for sentence in written if " " in sentence and english(sentence))


def is_error(function):
    name = getattr(function, "id", getattr(function, "attr", ""))
    return bool(RAISED.match(name))


def text(node):
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    said = "".join(text(part) if isinstance(part, ast.Constant) else f"⟨{n}⟩" for n, part in enumerate(node.values))
    return re.sub("(?<=[a-z])⟨\\d+⟩", "", said)  # what follows a word without a blank may be there or not


def test_there_are_errors_to_look_at():
    assert len(list(raised())) > 150


@pytest.mark.parametrize(("place", "sentence"), list(raised()))
def test_every_error_has_its_ukrainian(place, sentence):
    said = told(sentence)
    assert english(said) == [], f"assets/locale/uk.po lacks what {place} says"
    assert sorted(re.findall("⟨\\d+⟩", said)) == sorted(re.findall("⟨\\d+⟩", sentence))  # nothing is lost on the way


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("ml-1m is not on this machine", "ml-1m: на цьому комп’ютері немає таких даних"),
        # another sentence in a field
        ("lr is 0, but must be at least 1", "lr має значення 0, а має бути принаймні 1"),
        ("host.org: it does not answer", "host.org: сервер не відповідає"),
        # clauses that are put together elsewhere, and a command behind them
        (
            "x.csv is in an encoding that nobody can tell; save it as UTF-8; parquet and gzip are read too",
            "x.csv має кодування, яке не вдалося визначити; збережіть файл як UTF-8; читаються також parquet і gzip",
        ),
        (str(RecsysError("a is damaged", "fetch a")), "a: дані пошкоджено; виконайте: fetch a"),
        # the text that says more is taken, and a field ends where a clause does
        ("“a” is empty; export it again", "«a» порожній; зробіть експорт ще раз"),
        (
            "a.csv has the columns who, at, and which is the item does not show",
            "у a.csv є стовпці who, at, і незрозуміло, який із них — об’єкт",
        ),
        # figures, and the plural that belongs to them
        ("1,234 dates could not be read; the films stay", "Не вдалося прочитати 1 234 дати; фільми лишаються"),
        ("3 ratings are none from 0 to 0.5; the films stay", "Оцінок поза межами від 0 до 0,5: 3; фільми лишаються"),
        # studies: a clause for each recommender, figures without their zero
        (
            "Here SASRec with memory has from .1140 (1.25) to .2004 (0); LSTM (softmax) has .1734 (no blocks)",
            "Тут SASRec із пам’яттю: від 0,1140 (1,25) до 0,2004 (0); LSTM (softmax): 0,1734 (без блоків)",
        ),
        (
            "Here, of 9 changes, 2 lower (most of all “no dropout”, −.0211) and 3 raise (most of all “8 heads”, +.0100)"
            " NDCG@10 by more than the interval over people",
            "Тут із 9 змін більше, ніж на довірчий інтервал за людьми, знижують NDCG@10 2 "
            "(найбільше «без дропауту», −0,0211) і підвищують 3 (найбільше «8 голів», +0,0100)",
        ),
        # names that are words of the app, too
        ("loss.csv has no column item; there are: a, b", "у loss.csv немає стовпця item; є такі: a, b"),
        ("no model is called loss; there are: film", "немає моделі з назвою loss; є такі: film"),
        # what nobody has translated
        ("Truth or Dare; Now: Then", "Truth or Dare; Now: Then"),
    ],
)
def test_a_sentence_with_names_and_figures(sentence, said):
    assert told(sentence).replace("\xa0", " ") == said


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_a_study_found_and_how_it_was_made_is_in_ukrainian(path):
    study = read(path)
    for sentence in (study.answer, study.how):
        assert english(WHERE.sub("", whole(sentence))) == []


PARTS = [
    *text_files._BINARY_FORMATS.values(),
    json_files._ADVICE,
    *(part for source in formats.SOURCES if source.advice for part in source.advice.split(sentences.BETWEEN)),
    *(state for state in queue.State if state is not queue.State.DAMAGED),
    *(text.format(ge=1, gt=0, le=1, expected="'a'") for text in REQUIREMENTS.values()),
]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_filled_in_is_translated_where_it_is_no_name(part):
    assert english(told(f"“a” {part}")) == []


def test_english_stays_as_it_is_but_for_the_items_of_a_shop(monkeypatch):
    sentence = "film.csv: no film has 5 ratings, so there is nothing to learn from"
    speak(monkeypatch, "en", "film")
    assert told(sentence) == sentence
    speak(monkeypatch, "en", "item")
    assert told(sentence) == "film.csv: no item has 5 ratings, so there is nothing to learn from"


@pytest.mark.parametrize(
    "piece", ["a; ", "a: ", "“a” ", " is ", "x is 1, but must be ", "host answered ", "file " * 99]
)
def test_a_sentence_that_somebody_made_up_takes_no_time(piece):
    for times in (20, 150, 100_000):
        began = time.process_time()
        told(piece * times)
        assert time.process_time() - began < 5
