"""The page Evaluation: menus of data sets and protocols, the rules of the protocol, and one section.

Session state:
    results_of: Data set of this page.
    protocol-<data set>: Protocol of this page.
    last_open_dataset: Data set that was open on the other pages when this page last ran.
    section: Name of the section.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.evaluation import (
    confidence,
    data,
    head_to_head,
    leaderboard,
    learning,
    own_set,
    person,
    protocols,
    same_second,
    studies,
    trade_offs,
    user_groups,
)
from pages.evaluation.data import EvaluationView
from pages.ui import cache, errors, format, session, url
from pages.ui.i18n import N_, _, ngettext
from pages.ui.visitor import visitor
from pages.ui.widgets import segmented_control, selectbox
from recsys.data import datasets
from recsys.errors import recsys_command
from recsys.evaluation import protocols as recsys_protocols
from recsys.evaluation import results
from recsys.evaluation.significance import FEW_USERS
from recsys.evaluation.studies import studies as read_studies

SHOW_SECTION: dict[str, Callable[[EvaluationView], None]] = {  # name in the URL → function; for "studies" see `show`
    "leaderboard": leaderboard.show,
    "protocols": protocols.show,
    "measures": trade_offs.show,
    "curves": learning.show,
    "slices": user_groups.show,
    "calibration": confidence.show,
    "pair": head_to_head.show,
    "person": person.show,
    "ties": same_second.show,
}
# sections that need protocols with one hidden film per person
ONE_TARGET_SECTIONS = {"slices", "calibration", "pair", "person", "ties"}
RULE_TITLES = {  # rule of a protocol in a result document → title, in display order
    "split": N_("Split"),
    "cuts": N_("Cut-off rule"),
    "dates": N_("Cut-off dates"),
    "users": N_("People"),
    "filter": N_("Films"),
    "order": N_("Order"),
    "history": N_("History"),
    "newest": N_("Films given"),
    "liked": N_("Films given"),
    "drawings": N_("Random lists per person"),
    "targets": N_("Films to find"),
    "metrics": N_("Metrics"),
    "hidden": N_("Excluded"),
    "repeats": N_("Repeated films"),
    "ranked": N_("Candidates"),
    "sampled": N_("Sampled films"),
    "lists": N_("Sampled lists"),
    "seed": N_("Sampling seed"),
    "score_ties": N_("Equal scores"),
    "tags": N_("Tags"),
    "settings": N_("Settings"),
}


def select_dataset_and_protocol() -> tuple[str, str]:
    """Show the menus of data sets and protocols with results. Return the chosen pair (data set, protocol)."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        dataset = _select_dataset(url.evaluation_datasets())
        with_results = recsys_protocols.sort_names(
            protocol for name, protocol in results.available() if name == dataset
        )
        names = with_results or [datasets.serving_splitting(dataset).protocol]
        titles = {name: data.protocol_title(name) for name in names}
        protocol = selectbox(_("Protocol"), titles, f"protocol-{dataset}", width=230)
    return dataset, protocol


def _select_dataset(names: list[str]) -> str:
    """Show the menu of data sets, and return the choice. A data set that was opened since the last run is selected."""
    state, current = st.session_state, visitor().current.dataset
    is_newly_opened = state.get("last_open_dataset", current) != current
    state.last_open_dataset = current
    if is_newly_opened and current in names:
        state.results_of = current
    titles = {name: cache.dataset_title(name) for name in names}
    default = url.default_evaluation_dataset()  # `current` if it is in `names`, otherwise the first name
    return selectbox(_("Films from"), titles, "results_of", default=default, width=230)


@st.fragment
@errors.show_errors()
def show(dataset: str, protocol: str) -> None:
    """Show the rules of a protocol and one section. Widgets inside rerun only this fragment."""
    board, load_errors = data.leaderboard(dataset, protocol)
    view = EvaluationView(dataset, protocol, board)
    if board.empty:
        st.caption(_(view.definition.meaning))
    else:
        show_protocol(view)
    is_own = dataset not in datasets.PUBLISHED
    if is_own:
        own_set.show(view)
    all_studies = read_studies(load_errors.append)
    available_studies = [study for study in all_studies if not is_own or study.dataset == dataset]
    errors.show_file_errors(load_errors)
    sections = available_sections(view, has_studies=bool(available_studies))
    section = segmented_control(_("Section"), sections, "section", label_visibility="collapsed")
    if section == "studies":
        studies.show(available_studies, dataset)
    elif board.empty:
        message = _("There are no readable results for this protocol yet.")
        if is_own:
            title = format.escape_markdown(cache.dataset_title(dataset))
            message = _("No recommender has been evaluated on {data} yet.", data=title)
        st.info(message, icon=":material/leaderboard:")
        errors.show_command(recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol))
    else:
        SHOW_SECTION[section](view)
    session.write_url()  # main.py does not run when a fragment reruns


def available_sections(view: EvaluationView, has_studies: bool) -> dict[str, str]:
    """Return section → title, for the sections that this data set and protocol have."""
    unavailable = set() if has_studies else {"studies"}
    if not same_second.read_statistics(view.dataset):
        unavailable.add("ties")
    if view.definition.uses_favourites:  # all other liked films of a person are hidden
        unavailable |= ONE_TARGET_SECTIONS
    return {name: _(title) for name, title in url.EVALUATION_SECTIONS.items() if name not in unavailable}


def show_protocol(view: EvaluationView) -> None:
    """Show the meaning of the protocol, the number of people, and a popover with all rules."""
    rules = data.protocol_rules(view)
    n_users = int(view.board["users"].iloc[0])
    st.caption(" ".join([_(view.definition.meaning), *data_notes(view, rules), describe_users(n_users)]))
    if len(rules) == 1:  # only the name of the protocol
        return
    with st.popover(_("All rules of this protocol"), icon=":material/gavel:", type="tertiary", key=f"rules-{view.key}"):
        in_display_order = dict.fromkeys([*RULE_TITLES, *rules])  # rules without a title come last
        names = [name for name in in_display_order if name in rules and name != "name"]
        st.markdown("\n".join(f"- **{_(RULE_TITLES.get(name, name))}**: {rule_text(rules[name])}" for name in names))


def rule_text(rule: str | int | dict[str, str]) -> str:
    """Return a rule as Markdown. rule: A sentence, a number, or {part of the split: date}."""
    if isinstance(rule, dict):
        rule = ", ".join(f"{_(part)}: {date}" for part, date in rule.items())
    return format.escape_markdown(_(str(rule)))


def describe_users(n: int) -> str:
    """Return a sentence with the number of test users, and a warning if there are few."""
    text = ngettext("Tested on {n:,} person.", "Tested on {n:,} people.", n)
    if n >= FEW_USERS:
        return text
    warning = _(
        "With fewer than {few} people, only very large differences between recommenders are meaningful.", few=FEW_USERS
    )
    return f"{text} {warning}"


def data_notes(view: EvaluationView, rules: dict[str, Any]) -> list[str]:
    """Return Markdown sentences about removed films, untested users, the order of films, and further training data."""
    notes = []
    if (n := datasets.min_ratings(view.dataset)) > 1:
        text = ngettext(
            "Films with fewer than {n} rating were removed.", "Films with fewer than {n} ratings were removed.", n
        )
        notes.append(text)
    if view.definition.rules.get("users") == recsys_protocols.LEAVE_ONE_OUT_RULES["users"]:
        notes.append(_("People with fewer than three films are not tested. Their films are used for training only."))
    if rules.get("order") == recsys_protocols.TIE_RULES["drawn"]:
        text = _("Films rated in the same second have no known order. All recommenders use the same random order.")
        notes.append(text)
    models_by_dataset: dict[str, list[str]] = {}  # title of a further data set → models that were trained on it
    for document in data.documents(view).values():
        if extra_dataset := document.get("also"):
            models_by_dataset.setdefault(cache.dataset_title(extra_dataset), []).append(_(document["title"]))
    return notes + [
        _(
            "{models} also learned from {data}, except from people who are in both data sets.",
            models=format.join_escaped(sorted(models)),
            data=format.escape_markdown(title),
        )
        for title, models in models_by_dataset.items()
    ]
