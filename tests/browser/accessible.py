"""What the accessibility checker axe says of the page in a tab."""

import pytest

TRIES = 6
STILL = "() => document.getAnimations().every(one => !(one instanceof CSSTransition))"


def serious(tab):
    """The serious violations, (rule, element, what axe measured); none is what a test wants.

    Streamlit fades what a rerun makes old, and menus fade in: colours that are read meanwhile are nobody's. So it
    waits for the end of all transitions; a violation counts once it has been seen in every one of several looks.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for _ in range(TRIES):
        tab.wait_for_timeout(500)
        tab.wait_for_function(STILL)
        found = axe.run(tab).response["violations"]
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        if not bad:
            return []
    return [(one["id"], node["html"], node["any"]) for one in bad for node in one["nodes"]]
