"""Asking Wikidata about the films of a set, beside the page, which goes on and shows how far that is.

Session state: enriching (the names of sets that this visitor asked about, until the outcome was put away).
"""

import streamlit as st

from pages.ui import errors, loaders, tasks, words
from pages.ui.i18n import _, count, ngettext
from recsys.data import enrich
from recsys.errors import RecsysError
from recsys.progress import ProgressCallback


def begin(name: str) -> None:
    """Start to ask about a set's films for this visitor; what was had before is not asked for again."""

    def task(report: ProgressCallback) -> None:
        report({"stage": "keep", **enrich.enrich(name, report)._asdict()})

    tasks.start(_work(name), task)
    st.session_state.enriching = list(dict.fromkeys([*asked(), name]))


def find(name: str) -> tasks.Work | None:
    """The work for a set: going on, or ended and not yet forgotten."""
    return tasks.find(_work(name))


def asked() -> list[str]:
    """The names of the sets that this visitor asked about."""
    return st.session_state.get("enriching", [])


def put_away(name: str) -> None:
    """Show no more how it ended."""
    st.session_state.enriching = [other for other in asked() if other != name]
    tasks.forget(_work(name))


def news() -> None:
    """How far it is with the sets that this visitor asked about; a line each."""
    for name in asked():
        going_on = find(name)
        if going_on and not going_on.is_over:
            watch(name)
        elif going_on and going_on.error:
            failed(name, going_on.error)
        elif going_on and "with_facts" in going_on.event:
            outcome(name, going_on)
        else:  # called off
            put_away(name)


def outcome(name: str, ended: tasks.Work) -> None:
    """What is known by now, until it is put away."""
    data, event = words.plain(loaders.data_title(name)), ended.event
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        said = ngettext(
            "Wikidata knows {known:,} of the {films} films of {data}: who made it, and what it is called elsewhere.",
            "Wikidata knows {known:,} of the {films} films of {data}: who made them, and what they are "
            "called elsewhere.",
            event["with_facts"],
            data=data,
            known=event["with_facts"],
            films=count(event["films"]),
        )
        st.success(said, icon=":material/check:")
        st.button(_("OK"), key=f"enriched-{name}", type="tertiary", on_click=put_away, args=(name,))


def failed(name: str, error: BaseException) -> None:
    """Why it ended before its time, and a way to go on; a bug stays a bug."""
    if not isinstance(error, RecsysError):
        put_away(name)
        raise error
    errors.explain(error)
    with st.container(horizontal=True, gap="small"):
        st.button(_("Try again"), key=f"enrich-{name}-again", icon=":material/refresh:", on_click=begin, args=(name,))
        st.button(_("Not now"), key=f"enrich-{name}-away", type="tertiary", on_click=put_away, args=(name,))


@st.fragment(run_every=tasks.LOOK_EVERY)
def watch(name: str) -> None:
    """How far it is, and a way to stop it; the page begins anew when it has ended."""
    going_on = find(name)
    if going_on is None or going_on.is_over:
        st.rerun()
    data = words.plain(loaders.data_title(name))
    text = _("Stopping") if going_on.called_off else sentence(name, going_on)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.progress(going_on.share(), words.plain(text))
        st.button(
            _("Cancel *asking about {data}*", data=data),
            key=f"enrich-{name}-stop",
            icon=":material/close:",
            on_click=going_on.call_off,
            disabled=going_on.called_off,
        )


def sentence(name: str, going_on: tasks.Work) -> str:
    """How many of the films were asked for."""
    data, event = loaders.data_title(name), going_on.event
    if not event.get("total"):
        return _("Asking Wikidata about the films of {data}", data=data)
    return _(
        "Asking Wikidata about the films of {data}: {done} of {all}",
        data=data,
        done=count(event["done"]),
        all=count(event["total"]),
    )


def _work(name: str) -> str:
    return f"enrich/{name}"
