"""Data sets that this visitor asked for: how far each is, and what to do when it is there.

Session state: getting (their names, until they have been opened or put away).
"""

import streamlit as st

from pages.ui import fetch, loaders, session, tasks, words
from pages.ui.i18n import _
from recsys.data import datasets


def get(name: str) -> None:
    """Begin to fetch a data set for this visitor."""
    fetch.begin(name)
    st.session_state.getting = list(dict.fromkeys([*asked(), name]))


def open_set(name: str) -> None:
    """Change to a data set."""
    put_away(name)
    st.session_state.chosen_data = name
    session.switch_data()


def put_away(name: str) -> None:
    """Show no more how the fetching of a data set ended."""
    st.session_state.getting = [other for other in asked() if other != name]
    fetch.forget(name)


def asked() -> list[str]:
    """The names of the data sets that this visitor asked for."""
    return st.session_state.get("getting", [])


def news() -> None:
    """How far the data sets are that this visitor asked for; a line each."""
    for name in asked():
        going_on = fetch.find(name)
        if going_on and not going_on.is_over:
            watch(name)
        elif going_on and going_on.error:
            fetch.failed(name, going_on.error)
            st.button(_("Not now"), key=f"away-{name}", type="tertiary", on_click=put_away, args=(name,))
        elif name == st.session_state.data or name not in datasets.prepared_names():  # shown below, or called off
            put_away(name)
        else:
            arrived(name)


def arrived(name: str) -> None:
    """A data set is there: open it, or go on with this one."""
    data = words.plain(loaders.data_title(name))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.success(_("{data} is here.", data=data), icon=":material/check:")
        st.button(_("Open *{data}*", data=data), key=f"arrived-{name}", on_click=open_set, args=(name,))
        st.button(_("Not now"), key=f"away-{name}", type="tertiary", on_click=put_away, args=(name,))


@st.fragment(run_every=tasks.LOOK_EVERY)
def watch(name: str) -> None:
    """How far the fetching of a data set is, and a way to stop it; the page begins anew when it has ended."""
    going_on = fetch.find(name)
    if going_on is None or going_on.is_over:
        st.rerun()
    text = _("Stopping") if going_on.called_off else fetch.sentence(name, going_on.event)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.progress(going_on.share(), words.plain(text))
        st.button(
            _("Cancel *fetching {data}*", data=words.plain(loaders.data_title(name))),
            key=f"stop-{name}",
            icon=":material/close:",
            on_click=going_on.call_off,
            disabled=going_on.called_off,
        )
