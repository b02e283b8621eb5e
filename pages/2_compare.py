"""Compare: the same sequence through several recommenders, side by side."""

from pages.compare import chosen, opening, tabs, words
from pages.ui import errors, page_header, session
from pages.ui import words as common

with errors.explained():
    dataset = page_header.open_page(common.COMPARE, common.COMPARE_HELP)
    if dataset:
        opening.show(dataset, session.films(dataset))
        if films := page_header.ask_for_films(dataset, words.FIRST_ADD):
            names, k = chosen.choose(dataset)
            if chosen.enough(names):
                tabs.tabs(dataset, films, names, k)
