"""Compare: the same sequence through several recommenders, side by side."""

from pages.compare import chosen, tabs, words
from pages.shared import errors, head
from pages.shared import words as common
from pages.shared.frame import enter

enter()
with errors.explained():
    dataset = head.open_page(common.COMPARE, common.COMPARE_HELP)
    films = head.ask_for_films(dataset, words.FIRST_ADD) if dataset else ()
    if dataset and films:
        names, k = chosen.choose()
        if chosen.enough(names):
            tabs.tabs(dataset, films, names, k)
