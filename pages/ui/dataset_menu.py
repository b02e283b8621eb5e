"""The data sets: which there are, what each holds, and how one that is not on this machine is had.

Session state: chosen_data (the selector of the data set) · sets_done (a button of the dialog was pressed, so it can
close).
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages.ui import add_dataset, enriching, errors, fetch, getting, loaders, recommenders, session, words
from pages.ui.i18n import _, ngettext, say
from recsys import paths
from recsys.data import datasets, film_details, prepared
from recsys.data.dataset import Dataset, Noun
from recsys.errors import RecsysError, recsys_command
from recsys.serving.predictor import trained

README = "https://files.grouplens.org/datasets/movielens/{name}-README.{ending}"
PLAIN_README = ("ml-100k", "ml-1m")  # the others are web pages
FEWEST_TO_TEST = 3  # films of a person: one to learn from, one to tune on, one to test on


@dataclass(frozen=True)
class Facts:
    """What a data set holds."""

    people: int
    films: int
    oldest: int | None  # year of the oldest film, where it is known
    newest: int | None
    learnt: int | None = None  # films with ratings enough to be recommended; None: it is not on this machine
    brief: int = 0  # people with so few films that nothing is tested on them
    noun: Noun = "film"


def facts(name: str) -> Facts:
    """What a data set holds: by the data itself where that is on this machine, else by what was published.

    Raises DataError for a set of somebody's own that is not here any more, or made by another version.
    """
    published = datasets.SETS.get(name)
    if published is None or prepared.fingerprint(name):
        return _counted(name)
    return Facts(published.people, published.films, *published.years)


@loaders.of_set(most=32)
def _counted(name: str) -> Facts:
    """The facts of a prepared set."""
    dataset = datasets.load(name)
    years = [film.year for film in dataset.catalog.films if film.year is not None]
    sizes = dataset.offsets[1:] - dataset.offsets[:-1]
    return Facts(
        dataset.n_users,
        len(dataset.catalog.films),
        min(years, default=None),
        max(years, default=None),
        dataset.n_items,
        int((sizes < FEWEST_TO_TEST).sum()),
        dataset.noun,
    )


def label(name: str) -> str:
    """A data set in the menu: "MovieLens 1M · films 1919–2000"."""
    title = loaders.data_title(name)
    try:
        known = facts(name)
    except RecsysError:  # damaged: the page that opens it says so
        return title
    if known.newest is None:
        return _("{data} · {holds}", data=title, holds=words.counted(known.films, known.noun))
    years = words.years(known.oldest, known.newest)
    return _("{data} · {things} {years}", data=title, things=words.things(known.noun), years=years)


def choose() -> None:
    """The selector of the data set, where the films go along by title, and the way to the others."""
    state = st.session_state
    state.chosen_data = state.data
    options = [*in_order(datasets.prepared_names()), fetch.FIRST_SET, state.data]
    st.selectbox(
        _("Films from"),
        list(dict.fromkeys(options)),
        key="chosen_data",
        format_func=label,
        help=_("Each data set has its own films and its own trained recommenders."),
        on_change=session.switch_data,
    )
    state.pop("sets_done", None)  # of a button that stood outside the dialog
    if st.button(_("More data sets"), key="more-sets", icon=":material/database:", type="tertiary"):
        dialog()


def in_order(names: list[str]) -> list[str]:
    """The published sets as the table has them, by size; then anybody's own."""
    published = sorted(datasets.SETS, key=lambda name: (name != fetch.FIRST_SET, datasets.SETS[name].ratings))
    return [name for name in published if name in names] + [name for name in names if name not in published]


def dialog() -> None:
    """Every data set; whatever is pressed there closes it."""
    st.dialog(_("Data sets"), width="medium", icon=":material/database:", on_dismiss=add_dataset.forget)(_dialog)()


def _dialog() -> None:
    if st.session_state.pop("sets_done", False):
        add_dataset.forget()
        st.rerun()  # the whole page, without the dialog
    every()


def every() -> None:
    """Every data set, what it holds, and one button each."""
    st.caption(
        _(
            "What people watched, as GroupLens at the University of Minnesota has published it. Your "
            "films go along by title when you open another set."
        )
    )
    if not paths.is_public():
        with st.expander(_("Add your own data"), icon=":material/upload_file:", key="own-data"):
            add_dataset.form()
    here = datasets.prepared_names()
    for name in in_order(here if paths.is_public() else list(dict.fromkeys([*datasets.SETS, *here]))):
        with st.container(border=True, gap="xsmall"):
            card(name)
            action(name, name in here)
            if name in here and loaders.noun(name) == "film":
                richer(name)
            if name not in (st.session_state.data, *datasets.SETS) and not paths.is_public():
                add_dataset.removal(name)


def card(name: str) -> None:
    """Title, what it holds, what recommenders learn from, conditions."""
    try:
        known = facts(name)
    except RecsysError as error:
        st.markdown(f"**{words.plain(loaders.data_title(name))}**")
        errors.explain(error)
        return
    st.markdown(
        f"**{words.plain(loaders.data_title(name))}**: {words.holds(known.people, known.films, known.noun)}"
        f"{f', {words.years(known.oldest, known.newest)}' if known.newest else ''}"
    )
    for said in (learning(name, known), conditions(name, known)):
        if said:
            st.caption(" ".join(said))


def learning(name: str, known: Facts) -> list[str]:
    """Which films and people recommenders learn from, and which are trained, as sentences."""
    said = []
    if known.learnt is not None and known.learnt < known.films:
        fewest = datasets.min_ratings(name)
        others, things = known.films - known.learnt, words.things(known.noun)
        if fewest > 1:
            said.append(
                ngettext(
                    "Recommenders learn from the {learnt:,} {things} with {fewest} ratings or more. The other one can "
                    "be put into your list: the one most like it stands in for it.",
                    "Recommenders learn from the {learnt:,} {things} with {fewest} ratings or more. The other {n:,} can "
                    "be put into your list: the one most like each of them stands in for it.",
                    others,
                    learnt=known.learnt,
                    things=things,
                    fewest=fewest,
                )
            )
        else:
            said.append(
                ngettext(
                    "Recommenders learn from the {learnt:,} {things} that somebody rated. The other one can be put "
                    "into your list: the one most like it stands in for it.",
                    "Recommenders learn from the {learnt:,} {things} that somebody rated. The other {n:,} can be put "
                    "into your list: the one most like each of them stands in for it.",
                    others,
                    learnt=known.learnt,
                    things=things,
                )
            )
    if known.brief:
        said.append(
            ngettext(
                "{n:,} person is left with fewer than three {things}: recommenders learn from them, but are "
                "not tested on them.",
                "{n:,} people are left with fewer than three {things}: recommenders learn from them, but are "
                "not tested on them.",
                known.brief,
                things=words.things(known.noun),
            )
        )
    known_as = loaders.recommenders()
    there = recommenders.ordered(variant for variant in trained(name) if variant.needs_training)
    return [*said, words.trained([loaders.title(known_as[one]) for one in there])]


def conditions(name: str, known: Facts) -> list[str]:
    """How much is to be fetched, and what may be done with it."""
    published = datasets.SETS.get(name)
    if published is None:
        return []
    address = README.format(name="ml-latest" if name == fetch.FIRST_SET else name, ending=_ending(name))
    data = words.plain(loaders.data_title(name))
    allowed = _(
        "For {licence} ([conditions of {data}]({address})).",
        licence=words.plain(say(published.licence)),
        data=data,
        address=address,
    )
    return [allowed] if known.learnt is not None else [_("{n} MB to fetch.", n=published.megabytes), allowed]


def _ending(name: str) -> str:
    return "txt" if name in PLAIN_README else "html"


def action(name: str, here: bool) -> None:
    """The one button of a data set: open it, get it, or stop getting it. Visitors of a public server get none."""
    data, going_on = words.plain(loaders.data_title(name)), fetch.find(name)
    if going_on and not going_on.is_over:
        st.caption(words.plain(fetch.sentence(name, going_on.event)))
        press(_("Cancel *fetching {data}*", data=data), f"card-stop-{name}", "close", going_on.call_off)
    elif name == st.session_state.data and here:
        st.caption(_("Open now."))
    elif here:
        press(_("Open *{data}*", data=data), f"open-{name}", "arrow_forward", getting.open_set, name)
    elif paths.is_public():
        errors.command(recsys_command("data", "get", name))
    else:
        if begun := fetch.begun(name):
            st.caption(_("{n} MB of it are here already; it goes on from there.", n=fetch.megabytes(begun)))
        press(_("Get it *{data}*", data=data), f"get-{name}", "download", getting.get, name)


def richer(name: str) -> None:
    """Whether more is known of its films than their titles, and, but on a public server, the button that asks."""
    if film_details.version(name):
        st.caption(_("Director, cast and titles in other languages are known, from Wikidata."))
    going_on = enriching.find(name)
    if not paths.is_public() and (not going_on or going_on.is_over):  # visitors of a public server add nothing to it
        data = words.plain(loaders.data_title(name))
        text = (
            _("Ask for the rest *of {data}*") if film_details.version(name) else _("Add cast and more *to {data}*")
        ).format(data=data)
        press(
            text,
            f"enrich-{name}",
            "groups",
            enriching.begin,
            name,
            help=_(
                "Director, cast, subjects, length and titles in other languages, from Wikidata, where they "
                "are free (CC0). A large set takes a while; it can be stopped at any time, and goes on from "
                "there."
            ),
        )


def press(text: str, key: str, icon: str, act: Callable[..., None], *arguments: str, help: str = "") -> None:
    """A button that closes the dialog in which it stands."""

    def pressed() -> None:
        act(*arguments)
        st.session_state.sets_done = True

    st.button(text, key=key, icon=f":material/{icon}:", on_click=pressed, help=help or None)


def opened(name: str) -> Dataset | None:
    """The data set that the visitor chose; None after having said how it can be had."""
    try:
        return loaders.dataset(name)
    except RecsysError as error:
        if name == fetch.FIRST_SET:
            return fetch.prepare_first()
        if name not in datasets.SETS:
            errors.explain(error)
            return None
    going_on = fetch.find(name)
    if name not in getting.asked() or not going_on:
        st.info(
            _("{data} is not on this machine yet.", data=words.plain(loaders.data_title(name))),
            icon=":material/database:",
        )
        with st.container(border=True, gap="xsmall"):
            card(name)
            action(name, here=False)
    return None
