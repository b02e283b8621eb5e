"""Format numbers, names and film facts for the pages."""

import math
import re
from collections.abc import Sequence

from pages.ui import i18n
from pages.ui.i18n import N_, _, count, ngettext, number
from recsys.data.dataset import Noun
from recsys.data.film_details import FilmDetails

PLURALS: dict[Noun, str] = {"item": N_("items"), "film": N_("films")}
# Titles of the genres of the published data sets. Other genres are not translated. Without groups in parentheses, ruff
# would put each title on its own line.
GENRES = {
    *(N_("Action"), N_("Adventure"), N_("Animation"), N_("Children's"), N_("Comedy"), N_("Crime")),
    *(N_("Documentary"), N_("Drama"), N_("Fantasy"), N_("Film noir"), N_("Horror"), N_("IMAX"), N_("Musical")),
    *(N_("Mystery"), N_("Romance"), N_("Sci-Fi"), N_("Thriller"), N_("War"), N_("Western")),
}
GENRE_TITLES = {"Children": "Children's", "Film-Noir": "Film noir"}  # genre in the data → its title, one of GENRES
# Positions inside "://", "www." and "@example.org". A word joiner there prevents links.
_IN_URL = re.compile(r"(?<=:/)(?=/)|(?<=www)(?=\.)|(?<=@)(?=[\w-]+\.\w)", re.IGNORECASE)


def escape_markdown(text: str, allows_links: bool = False) -> str:
    """Escape a text for Markdown. allows_links: Whether URLs become links. If not, a word joiner splits them."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text if allows_links else _IN_URL.sub("\u2060", text))


def join_escaped(names: Sequence[str]) -> str:
    """Return names as "A, B and C", with each name escaped for Markdown."""
    return i18n.join_names([escape_markdown(name) for name in names])


def metric(value: float | None, has_sign: bool = False) -> str:
    """Return a metric or p-value with four decimals, "–" if it is missing. has_sign: Whether to write a plus."""
    spec = f"+{i18n.METRIC_FORMAT}" if has_sign else i18n.METRIC_FORMAT
    return "–" if value is None or math.isnan(value) else number(value, spec)


def percent(share: float) -> str:
    """Return a share as "4.2%", below 0.1% as "<0.1%"."""
    return number(share, ".1%") if share >= 0.001 else _("<{percent}", percent=number(0.001, ".1%"))


def precise_percent(share: float, extra_digits: int = 0) -> str:
    """Return a share as a percentage with at least two digits: "12.3%", "4.2%", "0.42%", "0.042%", "<0.001%"."""
    if share >= 0.01:
        return number(share, f".{1 + extra_digits}%")
    if share < 1e-5:
        return _("<{percent}", percent=number(1e-5, ".3%"))
    return number(100 * share, f"#.{2 + extra_digits}g") + "%"


def factor(value: float) -> str:
    """Return a factor as "120×", "12×", "1.2×" or "0.031×"."""
    return number(value, ",.0f" if value >= 9.95 else "#.2g") + "×"  # "#.2g" writes 9.96 as "10."


def ordinal(n: int) -> str:
    """Return "1st", "22nd" or "113th" in English, and the number in other languages."""
    if i18n.current_language() != i18n.ENGLISH:
        return count(n)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{'th' if n % 100 in (11, 12, 13) else ending}"


def rank_change_label(rank_before: int | None, rank: int) -> str:
    """Return "new", "same rank" or "was 3" for a film. rank_before: None if the film was not in the list."""
    if rank_before is None:
        return _("new")
    return _("same rank") if rank_before == rank else _("was {n}", n=rank_before)


def format_duration(seconds: float) -> str:
    """Return a rough duration: "a few seconds", "about 20 seconds", "about 3 minutes"."""
    if seconds <= 5:
        return _("a few seconds")
    if seconds < 45:
        return ngettext("about {n} second", "about {n} seconds", max(1, round(seconds / 10)) * 10)
    if seconds < 90:
        return _("about a minute")
    if seconds < 90 * 60:
        return ngettext("about {n} minute", "about {n} minutes", round(seconds / 60))
    return ngettext("about {n} hour", "about {n} hours", round(seconds / 3600))


def megabytes(n_bytes: int) -> str:
    """Return a number of bytes in megabytes: "5.9", "169"."""
    return number(n_bytes / 1e6, ",.1f" if n_bytes < 1e8 else ",.0f")


def year_range(oldest: int | None, newest: int | None) -> str:
    """Return release years: "1919–2000", "up to 2019" if the oldest year is unknown, or "with unknown years"."""
    if newest is None:
        return _("with unknown years")
    return _("up to {year}", year=newest) if oldest is None else f"{oldest}–{newest}"


def plural_noun(noun: Noun) -> str:
    """Return "films" or "items" in the visitor's language. The noun of the open data set has no influence."""
    return i18n.film_translation(PLURALS[noun])


def item_count(n: int, noun: Noun) -> str:
    """Return "3,883 films" or "3,883 items"."""
    if noun == "film":
        return ngettext("{n:,} film", "{n:,} films", n)
    return ngettext("{n:,} item", "{n:,} items", n)


def display_genres(genres: str) -> str:
    """Return "Action, Sci-Fi" for "Action|Sci-Fi"."""
    return ", ".join(display_tag(genre) for genre in genres.split("|"))


def display_tag(name: str) -> str:
    """Return a genre or a decade ("1990s") in the visitor's language. Other tags stay as users wrote them."""
    if decade := re.fullmatch(r"(\d{4})s", name):
        return _("{year}s", year=decade[1])
    title = GENRE_TITLES.get(name, name)
    return _(title) if title in GENRES else name


def display_group(name: str) -> str:
    """Return the name of a group of films or users, such as "widely watched", in the visitor's language."""
    return display_tag(name) if re.fullmatch(r"\d{4}s", name) else _(GENRE_TITLES.get(name, name))


def running_time(minutes: int | None) -> str:
    """Return "2 h 16 min", or "" if the running time is unknown."""
    if minutes is None:
        return ""
    hours, rest = divmod(minutes, 60)
    return _("{hours} h {minutes} min", hours=hours, minutes=rest) if hours else _("{minutes} min", minutes=rest)


def credits_line(details: FilmDetails) -> str:
    """Return running time and directors: "2 h 34 min · Quentin Tarantino"."""
    return " · ".join(filter(None, [running_time(details.minutes), ", ".join(details.directors)]))
