"""Library: the films of a data set, what its numbers say, and what two people could watch together."""

from pages.library import sections
from pages.ui import errors, page_header, session
from pages.ui import words as common

with errors.explained():
    dataset = page_header.open_page(common.LIBRARY, common.LIBRARY_HELP)
    if dataset:
        session.films(dataset)  # read from the link before a section asks for them
        page_header.show_notices()
        sections.show(dataset)
