"""Library: the films of a data set, what its numbers say, and what two people could watch together."""

from pages.library import sections
from pages.ui import errors, page_header, session
from pages.ui.i18n import _

with errors.explained():
    dataset = page_header.open_page(
        _("Library"),
        _("All films of a data set to browse, what its numbers say, and what two people could watch tonight."),
    )
    if dataset:
        session.films(dataset)  # read from the link before a section asks for them
        page_header.show_notices()
        sections.show(dataset)
