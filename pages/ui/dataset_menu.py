"""The menu of data sets, the dialog that adds and deletes data sets, and the status of downloads.

The dialog can also enrich a data set: it downloads film details, such as director and cast, from Wikidata.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from pages.ui import add_dataset, cache, errors, session, tasks
from pages.ui.format import escape_markdown, item_count, join_escaped, megabytes, plural_noun, year_range
from pages.ui.i18n import _, count, localize, ngettext
from pages.ui.visitor import DatasetTask, visitor
from pages.ui.widgets import button
from recsys import paths
from recsys.data import datasets, enrich, film_details, prepared
from recsys.data.dataset import Dataset, Noun
from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import Message, RecsysError, recsys_command
from recsys.progress import ProgressCallback
from recsys.serving.predictor import is_ready

README_URL = "https://files.grouplens.org/datasets/movielens/{name}-README.{ending}"
TEXT_READMES = ("ml-100k", "ml-1m")  # data sets whose README is a text file; other READMEs are HTML
MIN_FILMS_OF_TEST_USER = 3  # one film each for training, validation and test


@dataclass(frozen=True)
class DatasetSize:
    """Number of users and films of a data set, and their release years."""

    n_users: int
    n_films: int
    n_items: int  # films with enough ratings; all films, if the data set is not on this computer
    oldest: int | None  # first release year, None if unknown
    newest: int | None  # last release year, None if unknown
    n_untested_users: int = 0  # users with fewer than MIN_FILMS_OF_TEST_USER films
    noun: Noun = "film"


def dataset_size(name: str) -> DatasetSize:
    """Return the size of a data set. If the data set is not on this computer, return its published size.

    Raises:
        DataError: If the data set is a visitor's own and was deleted or made by another version of the app.
    """
    published = datasets.PUBLISHED.get(name)
    if published is None or prepared.fingerprint(name):
        return _computed_size(name)
    return DatasetSize(published.users, published.films, published.films, *published.years)


@cache.cached_for_dataset(max_entries=32)
def _computed_size(name: str) -> DatasetSize:
    """Return the size of a data set of this computer."""
    data = datasets.load(name)
    years = [film.year for film in data.catalog.films if film.year is not None]
    history_lengths = data.offsets[1:] - data.offsets[:-1]
    return DatasetSize(
        data.n_users,
        len(data.catalog.films),
        data.n_items,
        oldest=min(years, default=None),
        newest=max(years, default=None),
        n_untested_users=int((history_lengths < MIN_FILMS_OF_TEST_USER).sum()),
        noun=data.noun,
    )


def menu_label(name: str) -> str:
    """Return the menu entry of a data set: "MovieLens 1M · films 1919–2000"."""
    title = cache.dataset_title(name)
    try:
        size = dataset_size(name)
    except RecsysError:  # `load_or_explain` shows the error when the data set is opened
        return title
    if size.newest is None:
        return _("{data} · {holds}", data=title, holds=item_count(size.n_films, size.noun))
    years = year_range(size.oldest, size.newest)
    return _("{data} · {things} {years}", data=title, things=plural_noun(size.noun), years=years)


def menu() -> None:
    """Show the menu of data sets and the button that opens the dialog."""
    state = st.session_state
    state.chosen_data = current = visitor().current.dataset
    st.selectbox(
        _("Films from"),
        list(dict.fromkeys([*sort_names(datasets.prepared_names()), DEFAULT_DATASET, current])),
        key="chosen_data",
        format_func=menu_label,
        help=_("Each data set has its own films and its own trained recommenders."),
        on_change=lambda: session.open_dataset(state.chosen_data),
    )
    icon = ":material/database:"
    if st.button(_("More data sets"), key="more-sets", icon=icon, type="tertiary"):
        st.dialog(_("Data sets"), width="medium", icon=icon, on_dismiss=add_dataset.clear_cache)(dialog_body)()


def sort_names(names: list[str]) -> list[str]:
    """Sort data sets: first the built-in one, then published ones by size, each once, then the visitors' own."""
    published = sorted(datasets.PUBLISHED, key=lambda name: (name != DEFAULT_DATASET, datasets.PUBLISHED[name].ratings))
    return [name for name in published if name in names] + [name for name in names if name not in published]


def dialog_body() -> None:
    """Show the content of the dialog: all data sets with their size and buttons."""
    text = _(
        "Film ratings published by GroupLens at the University of Minnesota. Your films stay in your list "
        "when you open another data set."
    )
    st.caption(text)
    if not paths.is_public():
        with st.expander(_("Add your own data"), icon=":material/upload_file:", key="own-data"):
            add_dataset.form()
    prepared_names = datasets.prepared_names()
    names = prepared_names if paths.is_public() else [*datasets.PUBLISHED, *prepared_names]
    for name in sort_names(names):
        with st.container(border=True, gap="xsmall"):
            _show_facts(name)
            _show_action(name, name in prepared_names)
            if name in prepared_names and cache.item_noun(name) == "film":
                _show_enrichment(name)
            is_added_by_visitor, is_open = name not in datasets.PUBLISHED, name == visitor().current.dataset
            if is_added_by_visitor and not is_open and not paths.is_public():
                add_dataset.delete_button(name)


def _show_facts(name: str) -> None:
    """Show title, size, trained recommenders and licence of a data set."""
    title = escape_markdown(cache.dataset_title(name))
    try:
        size = dataset_size(name)
    except RecsysError as error:
        st.markdown(f"**{title}**")
        errors.show_error(error)
        return
    people = ngettext("{n:,} person", "{n:,} people", size.n_users)
    years = f", {year_range(size.oldest, size.newest)}" if size.newest else ""
    st.markdown(f"**{title}**: {people}, {item_count(size.n_films, size.noun)}{years}")
    st.caption(" ".join(training_notes(name, size)))
    if name in datasets.PUBLISHED:
        st.caption(_licence(name))


def training_notes(name: str, size: DatasetSize) -> list[str]:
    """Return sentences about the infrequent films, the users without a test film, and the trained recommenders."""
    things = plural_noun(size.noun)
    sentences = []
    if n_infrequent := size.n_films - size.n_items:
        if (min_ratings := datasets.min_ratings(name)) > 1:
            text = _(
                "Recommenders learn from the {n:,} {things} with at least {fewest} ratings.",
                n=size.n_items,
                things=things,
                fewest=min_ratings,
            )
        else:
            text = _("Recommenders learn from the {n:,} {things} that have ratings.", n=size.n_items, things=things)
        infrequent_text = ngettext(
            "You can also add the other film. “Best guess” and the “Content” recommenders compare its genres, tags and "
            "themes. Other recommenders use the most similar film that they have learned from.",
            "You can also add any of the other {n:,} films. “Best guess” and the “Content” recommenders compare their "
            "genres, tags and themes. Other recommenders use the most similar film that they have learned from.",
            n_infrequent,
        )
        sentences += [text, infrequent_text]
    if size.n_untested_users:
        text = ngettext(
            "{n:,} person has fewer than three {things}. Recommenders learn from them but are not tested on them.",
            "{n:,} people have fewer than three {things}. Recommenders learn from them but are not tested on them.",
            size.n_untested_users,
            things=things,
        )
        sentences.append(text)
    titles = [
        cache.recommender_title(recommender)
        for recommender in cache.all_recommenders().values()
        if recommender.needs_training and is_ready(recommender.name, name)
    ]
    if not titles:
        text = _("No trained recommenders yet. Recommenders that need no training are prepared when you choose them.")
    elif len(titles) <= 3:
        text = _("Trained: {models}.", models=join_escaped(titles))
    else:
        models = ", ".join(map(escape_markdown, titles[:2]))
        text = _("Trained: {models} and {n} more.", models=models, n=len(titles) - 2)
    return [*sentences, text]


def _licence(name: str) -> str:
    """Return Markdown: the licence of a published data set and, if it is not on this computer, the download size."""
    published, title = datasets.PUBLISHED[name], escape_markdown(cache.dataset_title(name))
    readme = "ml-latest" if name == DEFAULT_DATASET else name  # the default data set is a sample of ml-latest
    address = README_URL.format(name=readme, ending="txt" if name in TEXT_READMES else "html")
    licence = escape_markdown(_(published.licence))
    text = _("For {licence} ([conditions of {data}]({address})).", licence=licence, data=title, address=address)
    if prepared.fingerprint(name):  # the data set is on this computer
        return text
    return _("{n} MB to download.", n=published.megabytes) + " " + text


def _show_action(name: str, is_prepared: bool) -> None:
    """Show the button that opens or downloads a data set, or cancels its download.

    On a public server, visitors see the command for the administrator in place of the download button.
    """
    title, download = escape_markdown(cache.dataset_title(name)), DatasetTask("fetch", name)
    background_task = tasks.find(download.name)
    if background_task and not background_task.is_finished:
        st.caption(escape_markdown(download_text(name, background_task.event)))
        label = _("Cancel *downloading {data}*", data=title)  # only screen readers read the text in *…*
        _dialog_button(label, f"card-stop-{name}", "close", background_task.cancel)
    elif is_prepared and name == visitor().current.dataset:
        st.caption(_("Currently open."))
    elif is_prepared:
        action = partial(session.open_dataset, name)
        _dialog_button(_("Open *{data}*", data=title), f"open-{name}", "arrow_forward", action)
    elif paths.is_public():
        errors.show_command(recsys_command("data", "get", name))
    else:
        partial_file = paths.downloads() / name / f"{name}.zip.part"
        if partial_file.exists() and (n_bytes := partial_file.stat().st_size):
            st.caption(_("{n} MB already downloaded.", n=megabytes(n_bytes)))
        _dialog_button(_("Download *{data}*", data=title), f"get-{name}", "download", partial(start_task, download))


def _show_enrichment(name: str) -> None:
    """Show whether the data set has film details, and the button that downloads them from Wikidata."""
    title, task = escape_markdown(cache.dataset_title(name)), DatasetTask("enrich", name)
    if film_details.version(name):
        st.caption(_("Includes director, cast and titles in other languages from Wikidata."))
        label = _("Download missing details *of {data}*", data=title)
    else:
        label = _("Add cast and more *to {data}*", data=title)
    if not paths.is_public() and not tasks.is_running(task.name):
        help_text = _(
            "Director, cast, subjects, length and titles in other languages, from Wikidata (CC0). A large data set "
            "takes a while. You can cancel and continue later."
        )
        _dialog_button(label, f"enrich-{name}", "groups", partial(start_task, task), help=help_text)


def _dialog_button(label: str, key: str, icon: str, action: Callable[[], object], **options: Any) -> None:
    """Show a button that calls `action` and closes the dialog."""

    def act_and_close() -> None:
        action()
        add_dataset.clear_cache()
        st.rerun()  # of the whole page. Without it, only the dialog would run again and stay open.

    button(label, key, icon, act_and_close, **options)


def load_or_explain(name: str) -> Dataset | None:
    """Return a data set. If it cannot be loaded, show why or how to download it, and return None."""
    try:
        return cache.dataset(name)
    except RecsysError as error:
        if name == DEFAULT_DATASET:
            return _prepare_default()
        if name not in datasets.PUBLISHED:
            errors.show_error(error)
            return None
    task = DatasetTask("fetch", name)  # a published data set can be downloaded
    if task not in visitor().tasks or tasks.find(task.name) is None:  # else `show_task_status` shows it
        title = escape_markdown(cache.dataset_title(name))
        st.info(_("{data} is not on this computer yet.", data=title), icon=":material/database:")
        with st.container(border=True, gap="xsmall"):
            _show_facts(name)
            _show_action(name, is_prepared=False)
    return None


def _prepare_default() -> Dataset | None:
    """Prepare the built-in data set, which takes about a second, and return it. After an error, return None."""
    try:
        with st.spinner(_("Preparing the films. This is only needed once.")):
            datasets.ensure(DEFAULT_DATASET)
    except RecsysError as error:
        errors.show_error(error)
        st.button(_("Try again"), key=f"retry-{DEFAULT_DATASET}", icon=":material/refresh:")
        return None
    return cache.dataset(DEFAULT_DATASET)


def start_task(task: DatasetTask) -> None:
    """Start or continue a download or enrichment, and show its status to this visitor."""
    visitor().tasks = list(dict.fromkeys([*visitor().tasks, task]))
    tasks.start(task.name, partial(run_task, task))


def run_task(task: DatasetTask, report: ProgressCallback) -> None:
    """Download a data set, or its missing film details."""
    if task.kind == "fetch":
        datasets.get(task.dataset, report=report)
    else:
        film_counts = enrich.enrich(task.dataset, report)
        report({"stage": "keep", **film_counts._asdict()})  # the last event; `_show_status` shows its counts


def show_task_status() -> None:
    """Show the progress, the error or the result of each task that this visitor started."""
    for task in visitor().tasks:
        _show_status(task)


def _show_status(task: DatasetTask) -> None:
    """Show the progress, the error or the result of a task. If there is none, dismiss the task."""
    name, background_task, is_download = task.dataset, tasks.find(task.name), task.kind == "fetch"
    title, key = escape_markdown(cache.dataset_title(name)), f"{task.kind}-{name}"

    def dismiss() -> None:
        visitor().tasks = [other for other in visitor().tasks if other != task]
        tasks.remove(task.name)

    def dismiss_button(label: str) -> None:
        st.button(label, key=f"{key}-away", type="tertiary", on_click=dismiss)

    if background_task and not background_task.is_finished:
        if is_download:
            progress_text, cancel_label = download_text, _("Cancel *downloading {data}*", data=title)
        else:
            progress_text, cancel_label = enrichment_text, _("Cancel *asking about {data}*", data=title)
        tasks.show_progress(task.name, partial(progress_text, name), cancel_label, f"{key}-stop")
    elif background_task and background_task.error:
        error = background_task.error
        if is_download and isinstance(error, RecsysError):
            message = Message(
                "{data} could not be downloaded: {why}", data=cache.dataset_title(name), why=error.message
            )
            error = RecsysError(message, error.command)
        with st.container(gap="small"):
            tasks.show_failure(task.name, error, f"{key}-again", partial(start_task, task))
            dismiss_button(_("Not now"))
    elif background_task and not is_download and "films_with_details" in background_task.event:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            text = ngettext(
                "Wikidata has details for {n:,} of the {films} films in {data}.",
                "Wikidata has details for {n:,} of the {films} films in {data}.",
                background_task.event["films_with_details"],
                data=title,
                films=count(background_task.event["films"]),
            )
            st.success(text, icon=":material/check:")
            dismiss_button(_("OK"))
    elif is_download and name != visitor().current.dataset and name in datasets.prepared_names():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.success(_("{data} is ready.", data=title), icon=":material/check:")
            label = _("Open *{data}*", data=title)
            st.button(label, key=f"{key}-open", on_click=session.open_dataset, args=(name,))
            dismiss_button(_("Not now"))
    else:  # the task was cancelled, or the downloaded data set is open
        dismiss()


def download_text(name: str, event: dict[str, Any]) -> str:
    """Return the plain text for a progress event of `datasets.get`."""
    stage, title = event.get("stage"), cache.dataset_title(name)
    if stage == "note":
        return localize(event["text"])
    if stage == "parse":
        return _("Reading the ratings of {data}", data=title)
    if stage == "keep":
        return _("Saving {data}", data=title)
    if stage == "download" and event.get("total"):
        done, total = megabytes(event["done"]), megabytes(event["total"])
        return _("Downloading {data}: {done} of {all} MB", data=title, done=done, all=total)
    if event:
        return _("Downloading {data} from {host}", data=title, host=localize(event["from"]))
    return _("Downloading {data}", data=title)


def enrichment_text(name: str, event: dict[str, Any]) -> str:
    """Return the plain text for a progress event of `enrich.enrich`."""
    title = cache.dataset_title(name)
    if not event.get("total"):
        return _("Asking Wikidata about the films in {data}", data=title)
    done, total = count(event["done"]), count(event["total"])
    return _("Asking Wikidata about the films in {data}: {done} of {all}", data=title, done=done, all=total)
