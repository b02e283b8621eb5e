"""Who is missing from a leaderboard, why, and the commands that measure them."""

import streamlit as st

from pages.evaluation import measured
from pages.evaluation.measured import Shown
from pages.ui import cache, errors, format
from pages.ui.i18n import _, ngettext, say
from recsys.evaluation import protocols, report
from recsys.evaluation.report import Missing


def show(shown: Shown) -> None:
    """The recommenders that were not measured here; nothing where all were."""
    missing = measured.missing(shown)
    if not missing:
        return
    with st.expander(
        ngettext("Not measured here: {n} recommender", "Not measured here: {n} recommenders", len(missing)),
        icon=":material/pending:",
        key=f"missing-{shown.name}",
    ):
        trained = [one for one in missing if one.needs_training]
        if trained:
            own_training = protocols.get_or_former(shown.protocol).own_training
            explain(
                shown, trained, _("To be trained first: {models}.") + (f" {say(own_training)}" if own_training else "")
            )
        if others := [one for one in missing if not one.needs_training]:
            explain(shown, others, _("To be measured, without any training: {models}."))


def explain(shown: Shown, missing: list[Missing], why: str) -> None:
    """Some of the missing, why they are, and what measures the best known of them."""
    st.markdown(why.format(models=format.listed([say(one.title) for one in missing])))
    first = next((one for one in missing if one.variant == cache.DEFAULT_MODEL), missing[0])
    st.caption(_("For {model}, in a terminal:", model=format.escape_markdown(say(first.title))))
    lines = map(errors.hide_paths, report.commands_for(first, shown.dataset, shown.protocol))
    st.code("\n".join(lines), language=None, wrap_lines=True)
    if names := [f"`{one.variant}`" for one in missing if one is not first]:
        st.caption(_("For the others put in {names}.", names=", ".join(names)))
