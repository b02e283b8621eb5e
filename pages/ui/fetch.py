"""Data sets that are not on this machine yet: fetched beside the page, which goes on and looks how far it is."""

from typing import Any

import streamlit as st

from pages.ui import errors, loaders, tasks, words
from pages.ui.i18n import _, localize, number
from recsys import paths
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.errors import Message, RecsysError
from recsys.progress import ProgressCallback

FIRST_SET = datasets.DEFAULT_DATASET  # comes with the project; prepared on the first start
LOOK = 0.1  # seconds between two looks at the first set, which takes about one


def begin(name: str) -> None:
    """Start to fetch a data set, unless that goes on already. A download that was called off goes on where it was."""
    _begun(name)


def _begun(name: str) -> tasks.Work:
    """The work of fetching a data set, started if it was not."""

    def task(report: ProgressCallback) -> None:
        if name == FIRST_SET:
            datasets.ensure(name, report)
        else:
            datasets.get(name, report=report)

    return tasks.start(_work(name), task)


def find(name: str) -> tasks.Work | None:
    """The fetching of a data set: going on, or ended and not yet forgotten."""
    return tasks.find(_work(name))


def forget(name: str) -> None:
    """Drop the news of a fetching that has ended."""
    tasks.forget(_work(name))


def prepare_first() -> Dataset | None:
    """The first set, made ready while the page shows how far that is; after a failure, None and a way to try again."""
    going_on = find(FIRST_SET) or _begun(FIRST_SET)
    bar = st.progress(0.0, _("Getting the films ready. This happens once."))
    while not going_on.wait(LOOK):
        bar.progress(going_on.share(), words.plain(sentence(FIRST_SET, going_on.event, first=True)))
    bar.empty()
    if going_on.error:
        failed(FIRST_SET, going_on.error)
        return None
    forget(FIRST_SET)
    return loaders.dataset(FIRST_SET)


def failed(name: str, error: BaseException) -> None:
    """Why a data set could not be had, and a way to try again; a bug stays a bug."""
    if not isinstance(error, RecsysError):
        forget(name)
        raise error
    if name != FIRST_SET:  # which is not fetched: it comes with the project
        message = Message("{data} could not be fetched: {why}", data=loaders.data_title(name), why=error.message)
        error = RecsysError(message, error.command)
    errors.explain(error)
    st.button(_("Try again"), key=f"retry-{name}", icon=":material/refresh:", on_click=begin, args=(name,))


def sentence(name: str, event: dict[str, Any], first: bool = False) -> str:
    """What is being done, after an event of `datasets.get`."""
    stage, data = event.get("stage"), loaders.data_title(name)
    if stage == "note":
        return localize(event["text"])
    if stage == "parse":
        return _("Reading the ratings of {data}", data=data)
    if stage == "keep":
        return _("Keeping {data}", data=data)
    if first:
        return _("Getting the films ready. This happens once.")
    if stage == "download" and event.get("total"):
        return _(
            "Fetching {data}: {done} of {all} MB",
            data=data,
            done=megabytes(event["done"]),
            all=megabytes(event["total"]),
        )
    if event:
        return _("Fetching {data} from {host}", data=data, host=event["from"])
    return _("Fetching {data}", data=data)


def begun(name: str) -> int:
    """The bytes of a download that was called off: what the next one does not have to fetch again."""
    part = paths.downloads() / name / f"{name}.zip.part"
    return part.stat().st_size if part.exists() else 0


def megabytes(size: int) -> str:
    """ "5.9": a tenth of a megabyte is enough for everybody."""
    return number(size / 1e6, ",.1f" if size < 1e8 else ",.0f")


def _work(name: str) -> str:
    return f"fetch/{name}"
