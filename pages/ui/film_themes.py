"""Translate the names of themes, such as "time travel". The films of each theme are in assets/films/themes.csv."""

from pages.ui import cache, format
from pages.ui.i18n import _
from recsys.data import film_tables
from recsys.data.datasets import DEFAULT_DATASET
from recsys.serving.search.normalize import normalize


def english_theme_name(text: str) -> str:
    """Translate the name of a theme or genre from the visitor's language to English. Any other text is unchanged."""
    names = (*_theme_by_tag(DEFAULT_DATASET).values(), *format.GENRES)
    return next((name for name in names if normalize(_(name)) == normalize(text)), text)


def display_tag_or_theme(tag: str) -> str:
    """Return the translated name of a theme that is also a tag. Return any other tag as `format.display_tag` does."""
    theme = _theme_by_tag(DEFAULT_DATASET).get(tag)
    return _(theme) if theme else format.display_tag(tag)


@cache.cached_for_dataset(max_entries=1, version=film_tables.fingerprint)
def _theme_by_tag(dataset_name: str) -> dict[str, str]:
    """Return tag → English name of each theme. A tag is the name in the form of `normalize`."""
    themes_of_films = film_tables.themes(dataset_name).values()
    return {normalize(theme): theme for themes in themes_of_films for theme in themes}
