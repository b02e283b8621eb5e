"""Library: the films of a data set, what its numbers say, and what two people could watch together."""

from pages.library import sections
from pages.shared import errors, head, sequence
from pages.shared import words as common

with errors.explained():
    dataset = head.open_page(common.LIBRARY, common.LIBRARY_HELP)
    if dataset:
        sequence.films(dataset)  # read from the link before a section asks for them
        head.show_notices()
        sections.show(dataset)
