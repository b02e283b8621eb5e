"""Messages and errors of recsys: texts, fields, storage, and translation."""

import copy
import json
from dataclasses import asdict

import pytest

from pages.ui import errors, i18n
from recsys.data.download import DownloadError
from recsys.errors import Message, MissingLibraryError, RecsysError
from recsys.models.ncf import NcfConfig


@pytest.fixture
def ukrainian(monkeypatch):
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    monkeypatch.setattr(i18n, "current_noun", lambda: "film")


def test_values_are_never_formatted_again():
    error = RecsysError("{path} is {{damaged}}: {reason}", path="{n}", reason=Message.literal("{x}"))
    assert str(error) == "{n} is {damaged}: {x}"


def test_the_plural_text_is_used_unless_n_is_one():
    films = [Message("{n} film", plural="{n:,} films", n=n) for n in (0, 1, 1000)]
    assert [str(message) for message in films] == [
        "0 films",
        "1 film",
        "1,000 films",
    ]


@pytest.mark.parametrize(
    "error",
    [
        RecsysError("{name} is damaged", "fetch it", name="a"),
        DownloadError("{host} is busy", "try {host} later", host="b"),
        MissingLibraryError("TF-IDF", "scikit-learn"),
    ],
)
def test_an_error_survives_pickling(error):
    copied = copy.deepcopy(error)  # by the protocol of pickle
    assert (type(copied), str(copied), copied.message, copied.command) == (
        type(error),
        str(error),
        error.message,
        error.command,
    )


def test_a_stored_message_is_read_again():
    message = Message("{error} after {n} epochs", error=RecsysError("{a}", "b", a="{c}"), n=2)
    assert Message.from_document(json.loads(json.dumps(asdict(message)))) == message


def test_a_message_of_an_older_document_has_no_text_for_pages():
    document = {"text": "{n} films", "plural": "", "fields": {"n": 2}}
    assert Message.from_document(document) == Message("{n} films", n=2)


def test_pages_name_a_control_and_the_command_line_its_option(monkeypatch):
    monkeypatch.setattr(i18n, "current_language", lambda: "en")
    error = RecsysError("{name} exists; add --replace", app_text="{name} exists; choose another name", name="a")
    advice = DownloadError("{host} is busy", Message("use --from", app_text="try later"), host="b")
    assert (str(error), i18n.localize(error)) == ("a exists; add --replace", "a exists; choose another name")
    assert (str(advice), i18n.localize(advice)) == ("b is busy; use --from", "b is busy; try later")


@pytest.mark.parametrize("document", [{}, {"text": "{n}", "plural": "", "fields": {}}, {"text": 1, "fields": []}])
def test_a_damaged_message_is_a_value_error(document):
    with pytest.raises(ValueError, match="no message"):
        Message.from_document(document)


def test_messages_in_fields_are_translated_and_other_values_are_not(ukrainian):
    error = RecsysError("{host}: {why}", host="loss", why=Message("it does not answer"))
    assert i18n.localize(error) == "loss: сервер не відповідає"


def test_numbers_are_written_as_the_language_writes_them(ukrainian):
    note = Message(
        "{n:,} date could not be read; its film is imported without a date",
        plural="{n:,} dates could not be read; their films are imported without dates",
        n=1234,
    )
    assert i18n.localize(note).replace("\xa0", " ") == "Не вдалося прочитати 1 234 дати; фільми лишаються"


def test_a_limit_of_a_setting_is_translated(ukrainian):
    with pytest.raises(RecsysError) as error:
        NcfConfig(layers=0)
    assert i18n.localize(error.value) == "layers має значення 0, а має бути принаймні 1"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RecsysError("{name}: nobody has three films", name="ml-1m"), "ml-1m: nobody has three films."),
        (RecsysError("the disk is full"), "The disk is full."),
        (DownloadError("the disk is full", "make room"), "The disk is full; make room."),
        (
            DownloadError("it is slow", "does this network require a login?"),
            "It is slow; does this network require a login?",
        ),
    ],
)
def test_a_name_at_the_start_of_a_message_keeps_its_case(error, sentence, monkeypatch):
    warnings = []
    monkeypatch.setattr(errors.st, "warning", lambda text, icon: warnings.append(text))
    errors.show_error(error)
    assert [text.replace("\\", "") for text in warnings] == [sentence]
