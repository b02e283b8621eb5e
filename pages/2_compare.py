"""Compare: the same sequence through several recommenders, side by side."""

from pages.compare import chosen, opening, tabs, words
from pages.shared import errors, head, sequence
from pages.shared import words as common

with errors.explained():
    dataset = head.open_page(common.COMPARE, common.COMPARE_HELP)
    if dataset:
        opening.show(dataset, sequence.films(dataset))
        if films := head.ask_for_films(dataset, words.FIRST_ADD):
            names, k = chosen.choose(dataset)
            if chosen.enough(names):
                tabs.tabs(dataset, films, names, k)
