"""Library: the films of a data set, what its numbers say, and what two people could watch together."""

from pages.library import sections
from pages.ui import errors, page, session
from pages.ui.i18n import _

with errors.show_errors():
    dataset = page.header(
        _("Library"),
        _("All films of a data set to browse, what its numbers say, and what two people could watch tonight."),
    )
    if dataset:
        session.films(dataset)  # read from the link before a section asks for them
        page.show_notices()
        sections.show(dataset)
