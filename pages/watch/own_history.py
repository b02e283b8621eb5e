"""A history from elsewhere, in a dialog: files, questions about them, a review of what is unsure, and a watch sequence.

Nothing of a file outlives the dialog, but for the films, stars and dates that are taken into the session.

Session state: bringing (what the open dialog knows; None when there is none) · kept_history (a text that the browser
had kept, until the dialog opens with it) · watched_when (label of a film → when and
how often it was watched, as the history says).
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st
from babel.dates import format_date
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.server.uploads import expect
from pages.ui import cache, charts, errors, format, i18n, session
from pages.ui.i18n import _, localize, ngettext
from pages.watch import history_columns, in_browser, ratings
from pages.watch import history_words as words
from recsys.data.dataset import Dataset, Film
from recsys.data.history_import.entries import MAX_FILE_BYTES, Answers, HistoryError, Imported
from recsys.data.history_import.read import read
from recsys.serving import own_history
from recsys.serving.films.matching import Matcher
from recsys.serving.own_history import Review, Watched

AT_ONCE = 6  # films to check on one page
MOST_FILES = 20
MONTH_FIRST = {"en-us", "en-ph", "fil-ph"}  # languages of a browser
BROWSER = "browser"  # stands for the number of a file


@dataclass
class Bringing:
    """What the open dialog knows."""

    answers: dict[str, Answers] = field(default_factory=dict)  # by number of the file
    read: dict[tuple[str, Answers], list[Imported] | HistoryError] = field(default_factory=dict)
    choices: dict[str, int | None] = field(default_factory=dict)  # by `Seen.key`
    reviewed: tuple[tuple[Any, ...], Review] | None = None
    kept: str = ""  # what the browser had kept


def button(dataset: Dataset) -> None:
    """The button that opens the dialog."""
    if st.button(
        _("Bring your history"),
        key="bring",
        icon=":material/upload_file:",
        help=_("Films that you marked or rated elsewhere: Letterboxd, IMDb, Trakt, Netflix, MovieLens, or any list."),
    ):
        _open(dataset, Bringing())


def offer_kept(dataset: Dataset) -> None:
    """On the start screen: the history that this browser keeps, which opens in the dialog."""
    in_browser.offer(_take_on_start, "start")
    if text := st.session_state.pop("kept_history", ""):
        _open(dataset, Bringing(kept=text))


def _take_on_start(text: str) -> None:
    st.session_state.kept_history = text


def _open(dataset: Dataset, bringing: Bringing) -> None:
    st.session_state.bringing = bringing
    st.dialog(_("Bring your history"), width="medium", on_dismiss=_forget)(body)(dataset)


def _forget() -> None:
    st.session_state.bringing = None


@errors.show_errors()
def body(dataset: Dataset) -> None:
    """What the dialog holds."""
    bringing: Bringing = st.session_state.setdefault("bringing", None) or Bringing()
    st.session_state.bringing = bringing
    st.caption(
        _(
            "Bring what you exported: Letterboxd (the ZIP, or files of it), IMDb, Trakt, Netflix, "
            "MovieLens, files of this app, or any CSV. Several files at once are fine: films that are in "
            "more than one are counted once."
        )
    )
    in_browser.offer(_take_kept, "dialog")
    if context := get_script_run_ctx():
        expect(context.session_id, MAX_FILE_BYTES)
    uploads = st.file_uploader(
        _("History files: CSV, JSON or ZIP"),
        accept_multiple_files=True,
        max_upload_size=MAX_FILE_BYTES >> 20,
        key="history-files",
        help=_("Your files are read in memory for this visit. They are not kept, not logged and not sent on."),
    )
    if not (uploads or bringing.kept):
        where()
        return
    if len(uploads) > MOST_FILES:
        st.warning(
            ngettext(
                "Only the first file was read. Bring the others in another round.",
                "Only the first {n} files were read. Bring the others in another round.",
                MOST_FILES,
            )
        )
    parts = [part for one in uploads[:MOST_FILES] for part in file(bringing, one.name, one.file_id, one.getvalue())]
    if bringing.kept:
        parts += file(bringing, _("The history kept in this browser"), BROWSER, bringing.kept.encode())
    if any(part.entries or part.skipped for part in parts):
        look_through(bringing, dataset, parts)


def _take_kept(text: str) -> None:
    st.session_state.bringing.kept = text


def where() -> None:
    """Where the services have their files, and that nothing of them is kept."""
    st.caption(_("Your files are read in memory for this visit. They are not kept, not logged and not sent on."))
    with st.expander(_("Where to find the files"), icon=":material/help:"):
        st.markdown(
            "\n".join(f"- **{service}**: {format.escape_markdown(place)}" for service, place in words.WHERE_TO.items())
        )


def file(bringing: Bringing, name: str, number: str, data: bytes) -> list[Imported]:
    """What one file holds, said in a line, with the questions that it leaves open."""
    found = opened(bringing, name, number, data)
    if isinstance(found, HistoryError):
        errors.show_error(found)
        return []
    for part in found:
        say(part)
        ask(part, number, bringing.answers[number])
    return found


def opened(bringing: Bringing, name: str, number: str, data: bytes) -> list[Imported] | HistoryError:
    """What one file holds, read once for each set of answers; or why nothing could be read."""
    key = (number, bringing.answers.setdefault(number, Answers(month_first=_month_first())))
    if key not in bringing.read:
        try:
            bringing.read[key] = read(name, data, key[1])
        except HistoryError as error:
            bringing.read[key] = error
    return bringing.read[key]


def say(part: Imported) -> None:
    """Where a file comes from and how many lines were read, and what else there is to know of it."""
    if part.source != "ZIP":
        about = {
            "file": format.escape_markdown(part.file),
            "source": i18n.say(part.source) or _("a list of its own kind"),
        }
        st.markdown(words.counted(words.READ, len(part.entries), **about))
    for note in part.notes:
        st.caption(format.escape_markdown(f"{localize(note)}."))


def ask(part: Imported, number: str, answers: Answers) -> None:
    """The questions of a file."""
    name = format.escape_markdown(part.file)
    if part.may_be_watchlist:
        first = _("A watchlist") if part.looks_like_watchlist else _("Films I watched")
        choose(
            _("What are the films in {file}?", file=name),
            {_("Films I watched"): False, _("A watchlist"): True},
            first,
            number,
            "watchlist",
        )
    if part.dates:
        readings = {day(part.dates.day_first): True, day(part.dates.month_first): False}
        first = day(part.dates.day_first if part.dates.likely else part.dates.month_first)
        choose(
            _("What does {cell} in {file} mean?", cell=format.escape_markdown(part.dates.cell), file=name),
            readings,
            first,
            number,
            "day_first",
        )
    if part.columns:
        history_columns.choose(part.columns, part.file, number, answers.columns, _answer)


def _month_first() -> bool:
    """Whether the visitor's browser is set to a language that writes the month first."""
    return (st.context.locale or "").lower() in MONTH_FIRST


def choose(question: str, options: dict[str, bool], first: str, number: str, what: str) -> None:
    """One of two answers, kept for the file."""
    key = f"{what}-{number}"
    st.segmented_control(
        question,
        list(options),
        default=first,
        required=True,
        key=key,
        on_change=lambda: _answer(number, **{what: options[st.session_state[key]]}),
    )


def _answer(number: str, **said: Any) -> None:
    answers = st.session_state.bringing.answers
    answers[number] = replace(answers[number], **said)


def day(date: datetime) -> str:
    """ "5 February 2025"."""
    return format_date(date, "d MMMM y", locale=i18n.current())


@cache.cached_for_dataset()
def matcher(name: str) -> Matcher:
    """What finds films of a data set, made once for all visitors."""
    return Matcher(cache.dataset(name))


def look_through(bringing: Bringing, dataset: Dataset, parts: list[Imported]) -> None:
    """The review: how many were found, what is unsure, what was not taken; and the button that takes the films."""
    key = (dataset.name, *bringing.answers.items(), *(part.file for part in parts))
    if bringing.reviewed is None or bringing.reviewed[0] != key:
        with st.spinner(_("Looking your films up")):
            bringing.reviewed = key, own_history.review(matcher(dataset.name), parts)
    review = bringing.reviewed[1]
    watched = review.watched(bringing.choices)
    summary(review, watched, dataset)
    check(bringing, review, dataset)
    lists(bringing, review, dataset)
    if watched:
        use(bringing, review, watched, dataset)


def summary(review: Review, watched: list[Watched], dataset: Dataset) -> None:
    """How many films were found, and how."""
    title = format.escape_markdown(cache.dataset_title(dataset.name))
    if not watched:
        if review.history:
            st.info(
                _(
                    "None of these films is in {data}. Another data set may have them: close this and choose one "
                    "at the top.",
                    data=title,
                ),
                icon=":material/search_off:",
            )
        return
    how = review.how()
    told = words.counted(words.SUMMARY, len(watched), data=title)
    st.markdown(f"{told}: {words.found_how({way.value: n for way, n in how.items()})}." if how else f"{told}.")
    undated, rare = sum(not one.dated for one in watched), sum(one.film >= dataset.n_items for one in watched)
    said = [words.counted(sentences, n) for sentences, n in ((words.UNDATED, undated), (words.FEW_RATED, rare)) if n]
    if said:
        st.caption(" ".join(said))


def check(bringing: Bringing, review: Review, dataset: Dataset) -> None:
    """The films that are unsure, some at a time, each with what it may be."""
    unsure = review.unsure
    if not unsure:
        return
    with st.expander(_("Which film is meant? {n:,} to check", n=len(unsure)), icon=":material/rule:", expanded=True):
        st.caption(
            _("A proposal is made where title and year leave little doubt. What you leave at “none” is not taken.")
        )
        pages = -(-len(unsure) // AT_ONCE)
        page = st.pagination(pages, key="check-page") if pages > 1 else 1
        for at in unsure[(page - 1) * AT_ONCE : page * AT_ONCE]:
            one(bringing, review, at, dataset)


def one(bringing: Bringing, review: Review, at: int, dataset: Dataset) -> None:
    """One film that is unsure."""
    seen, match = review.history[at], review.matches[at]
    options = [None, *match.films]
    chosen = bringing.choices.get(seen.key, match.films[0] if match.likely else None)
    key = f"check-{seen.key}"
    line = seen.lines[0]
    origin = _("{file}, line {line}", file=format.escape_markdown(line.file), line=line.line)
    st.selectbox(
        f"{format.escape_markdown(seen.name)} :small[:gray[· {origin}]]",
        options,
        index=options.index(chosen),
        format_func=lambda film: _("None of these") if film is None else named(dataset, film),
        key=key,
        on_change=lambda: bringing.choices.update({seen.key: st.session_state[key]}),
    )


def named(dataset: Dataset, film: int) -> str:
    """A film to choose; its genres tell it from another of the same title and year."""
    known = dataset.catalog.films[film]
    return f"{known.label} · {format.display_genres(known.genres)}"


def lists(bringing: Bringing, review: Review, dataset: Dataset) -> None:
    """How each film was found, and everything that was not taken, to read and to save."""
    found = review.found(bringing.choices, dataset.catalog.films)
    lost = review.lost(bringing.choices)
    if len(lost):
        with st.expander(words.counted(words.LOST, len(lost)), icon=":material/playlist_remove:"):
            st.caption(_("Everything in your files that is not in your list afterwards, with the reason."))
            st.dataframe(in_words(lost), hide_index=True, height=min(38 + 35 * len(lost), 320))
            charts.download_buttons(lost, "not-taken", quiet=True)
    if len(found):
        with st.expander(_("How each film was found"), icon=":material/playlist_add_check:"):
            st.dataframe(in_words(found), hide_index=True, height=min(38 + 35 * len(found), 320))


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """A table with headings and reasons in the visitor's language; files keep the English ones."""
    reasons = {column: table[column].map(i18n.say) for column in own_history.REASONS if column in table}
    return table.assign(**reasons).rename(columns=i18n.say)


def use(bringing: Bringing, review: Review, watched: list[Watched], dataset: Dataset) -> None:
    """The button that takes the films into the watch sequence, and whether the browser is to keep the history."""
    kept = st.toggle(
        _("Keep this history in this browser"),
        key="keep-history",
        help=_(
            "Saves titles, dates and stars in this browser's own storage, so that the next visit can "
            "load them. Nothing of it stays on the server. Leave it off on a machine that you share."
        ),
    )
    if now := len(st.session_state.films or ()):
        st.caption(words.counted(words.REPLACES, now))
    if st.button(
        words.counted(words.USE, len(watched)), key="use-history", type="primary", icon=":material/playlist_add:"
    ):
        if kept:
            text = own_history.as_json(dataset.name, dataset.catalog, review.history, review.chosen(bringing.choices))
            in_browser.keep(text, len(review.history))
        take(dataset, watched)
        st.rerun()  # all of the page, which closes the dialog


def take(dataset: Dataset, watched: list[Watched]) -> None:
    """Make these films the watch sequence, with their stars, dates and rewatches."""
    state, films = st.session_state, dataset.catalog.films
    session.set_films([one.film for one in watched])
    stars = {films[one.film].label: one.stars for one in watched if one.stars is not None}
    session.import_ratings(stars)
    if stars:
        state.rate_by = ratings.STARS
    state.watched_when = {films[one.film].label: one for one in watched}
    state.bringing = None


def note(film: Film) -> str:
    """When and how often a film of the list was watched, and half stars, in sentences; "" where nothing is known."""
    one: Watched | None = st.session_state.get("watched_when", {}).get(film.label)
    said = []
    if one and one.dated and one.last:
        said.append(words.counted(words.TIMES, one.times, date=day(one.last)))
    elif one and one.times > 1:
        said.append(ngettext("Watched once.", "Watched {n} times.", one.times))
    if (stars := session.rating(film) or 0) % 1:
        said.append(_("You gave it {stars} stars.", stars=i18n.number(stars, ".1f")))
    return " ".join(said)
