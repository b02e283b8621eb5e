"""What the accessibility checker axe says of the page in a tab."""

import pytest

TRIES = 6
STILL = "() => document.getAnimations().every(one => !(one instanceof CSSTransition))"


# Streamlit opens menus, lists of choices, popovers and hints as children of the body, outside of every landmark: a page
# cannot move them. Only the rule that content belongs to a landmark passes over them.
FLOATING = "body > :not(#root, .nr-aside)"


def serious(tab):
    """The serious violations; as violations."""
    return violations(tab, impacts=("serious", "critical"))


def violations(tab, impacts=("minor", "moderate", "serious", "critical")):
    """The violations, (rule, element, what axe measured); none is what a test wants.

    Streamlit fades what a rerun makes old, and menus fade in: colours that are read meanwhile are nobody's. So it
    waits for the end of all transitions; a violation counts once it has been seen in every one of several looks.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for _ in range(TRIES):
        tab.wait_for_timeout(400)
        tab.wait_for_function(STILL)
        found = [one for one in axe.run(tab).response["violations"] if one["impact"] in impacts]
        bad = [(one["id"], node) for one in found for node in one["nodes"] if not is_floating(tab, one["id"], node)]
        if not bad:
            return []
    return [(rule, node["html"], node["any"]) for rule, node in bad]


def is_floating(tab, rule, node):
    """Whether the rule about landmarks reports an element that Streamlit opens above the page."""
    return rule == "region" and tab.locator(node["target"][0]).first.evaluate(f"one => !!one.closest('{FLOATING}')")
