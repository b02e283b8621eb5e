"""What a protocol means: in a few sentences, and on demand all of its rules as the result files have them."""

from typing import Any

import streamlit as st

from pages.evaluation import measured, words
from pages.evaluation.measured import Shown
from pages.ui import cache, format
from pages.ui.i18n import _, ngettext, say
from recsys.data import datasets
from recsys.evaluation import protocols


def show(shown: Shown) -> None:
    """The meaning of the protocol, how many people take part, and a button for the rules."""
    rules = next(iter(measured.documents(shown).values()))["protocol"]
    st.caption(" ".join([words.meaning(shown.protocol), *special(shown, rules), words.people(shown.users)]))
    if len(rules) == 1:  # its name alone
        return
    with st.popover(
        _("All rules of this protocol"), icon=":material/gavel:", type="tertiary", key=f"rules-{shown.name}"
    ):
        st.markdown("\n".join(f"- {line}" for line in lines(rules)))


def special(shown: Shown, rules: dict[str, Any]) -> list[str]:
    """What everybody should know of the data before reading a figure, as sentences."""
    said = []
    if shown.dataset in datasets.SETS and (n := datasets.min_ratings(shown.dataset)) > 1:
        said.append(
            ngettext(
                "Films without a rating were dropped first.", "Films with fewer than {n} ratings were dropped first.", n
            )
        )
    if rules.get("users") == protocols.LEAVE_ONE_OUT_RULES["users"]:
        said.append(_("People left with fewer than three films take no part in the test; their films only train."))
    if rules.get("order") == protocols.ORDERS["drawn"]:
        said.append(
            _(
                "Films that somebody rated within the same second have no known order, so one was drawn at "
                "random, the same for every recommender."
            )
        )
    return said + learnt_also(shown)


def learnt_also(shown: Shown) -> list[str]:
    """A sentence for each further data set that some of those measured learnt from."""
    others: dict[str, list[str]] = {}
    for document in measured.documents(shown).values():
        if other := document.get("also"):
            others.setdefault(cache.dataset_title(other), []).append(say(document["title"]))
    return [
        _(
            "{models} learnt from the people of {data} too, but for those who are in both sets; the others did not.",
            models=format.listed(sorted(titles)),
            data=data,
        )
        for data, titles in others.items()
    ]


def lines(rules: dict[str, Any]) -> list[str]:
    """Rule by rule, as Markdown."""
    told = {name: words.rule(rule) for name, rule in rules.items() if name != "name"}
    order = [
        *(name for name in words.RULE_NAMES if name in told),
        *(name for name in told if name not in words.RULE_NAMES),
    ]
    return [f"**{words.RULE_NAMES.get(name, name)}**: {format.escape_markdown(told[name])}" for name in order]
