"""Compare: the same sequence through several recommenders, side by side."""

from pages.compare import chosen, opening, tabs
from pages.ui import errors, page, session
from pages.ui.i18n import _

with errors.show_errors():
    dataset = page.header(_("Compare"), _("The same films through several recommenders, side by side."))
    if dataset:
        opening.show(dataset, session.films(dataset))
        if films := page.require_films(
            dataset, _("There is nothing to compare yet. Take a ready-made list, or build your own first.")
        ):
            names, k = chosen.choose(dataset)
            if chosen.enough(names):
                tabs.tabs(dataset, films, names, k)
