"""Films as HTML: cards, rows and lists that align, with words for screen readers. Style: assets/style/nextreel.css."""

from collections.abc import Callable, Iterable, Mapping
from html import escape

from pages.ui import words
from pages.ui.i18n import _, say
from recsys.data.dataset import Film
from recsys.serving.films.poster_art import art_url
from recsys.serving.history import Example
from recsys.serving.recommend import Recommendation

NOWHERE: Mapping[str, str] = {}
Figure = Callable[[float], str]  # how a probability is written


def card(
    pick: Recommendation,
    best: float | None,
    sites: Mapping[str, str] = NOWHERE,
    photo: str | None = None,
    figure: Figure = words.fine_percent,
    made: str | None = None,
) -> str:
    """A recommended film: poster, probability, genres, links. `best`: the first one's probability.

    made: by whom, and how long it is; "" where that is not known, None where it is known of no film beside it either.
    """
    genres = escape(words.genres(pick.film.genres)) or "&nbsp;"
    by = "" if made is None else f'<div class="nr-quiet nr-made">{escape(made)}</div>'  # of one height in all cards
    about = f'<div class="nr-quiet nr-one">{genres}</div>{by}{_links(pick.film, sites)}'
    probability = _probability(pick.probability, best, figure)
    return f'<div class="nr-card">{_poster(pick.film, pick.rank, photo)}{probability}{about}</div>'


def shelved(
    film: Film, facts: Iterable[str], sites: Mapping[str, str] = NOWHERE, photo: str | None = None, tag: str = ""
) -> str:
    """A film that nobody has ranked: poster, genres, what else is known of it, links. tag: what sets it apart."""
    lines = [words.genres(film.genres), *facts]
    about = "".join(f'<div class="nr-quiet nr-one">{escape(text) or "&nbsp;"}</div>' for text in lines)
    mark = f'<div class="nr-quiet"><span class="nr-tag">{escape(tag)}</span></div>' if tag else ""
    return f'<div class="nr-card nr-shelved">{_poster(film, None, photo)}{about}{mark}{_links(film, sites)}</div>'


def line(
    number: int,
    film: Film,
    probability: float | None,
    best: float | None,
    sites: Mapping[str, str] = NOWHERE,
    figure: Figure = words.fine_percent,
    note: str = "",
    made: str | None = None,
) -> str:
    """A film as one row of a list, with its rank or position; `best`: the probability that fills the bar.

    note: a sentence below the film; made: by whom, and how long it is, where that is known.
    """
    about = escape(" · ".join(filter(None, [_about(film), made]))) + _links(film, sites) + _note(note)
    return f'<div class="nr-line">{_row(number, film, about)}{_probability(probability, best, figure)}</div>'


def watched(number: int, film: Film, latest: bool, note: str = "") -> str:
    """A film of the visitor's own sequence; note: a sentence below it."""
    tag = f'<span class="nr-tag">{_("latest")}</span>' if latest else ""
    quiet = f"{film.year or ''}{tag}{_note(note)}"
    return f'<div class="nr-line">{_row(number, film, quiet)}</div>'


def example(example: Example, films: Iterable[Film]) -> str:
    """A ready-made sequence: what it is, and its films as a strip and by their titles."""
    shown = list(films)
    strip = "".join(_thumbnail(film) for film in shown)
    titles = escape(" · ".join(film.title for film in shown))
    text = _text(say(example.name), escape(say(example.description)))
    return f'{text}<div class="nr-strip">{strip}</div><div class="nr-quiet">{titles}</div>'


def column(picks: Iterable[Recommendation], counts: Mapping[int, int], n_lists: int) -> str:
    """One recommender's list, for Compare. `counts`: item → in how many of the n lists it is."""
    rows = (_compared(pick, counts[pick.item], n_lists) for pick in picks)
    return f'<ol class="nr-list">{"".join(rows)}</ol>'


def rows(lines: Iterable[str]) -> str:
    """Films below each other: what `line` or `measured` gives for each."""
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'<ol class="nr-rows">{items}</ol>'


def past(numbered: Iterable[tuple[int, Film]]) -> str:
    """Films that somebody watched, each with its position in their history, in as many columns as there is room for."""
    rows = (f'<li class="nr-line">{_row(number, film, escape(_about(film)))}</li>' for number, film in numbered)
    return f'<ol class="nr-list nr-past">{"".join(rows)}</ol>'


def reordered(picks: Iterable[Recommendation], before: list[int]) -> str:
    """One recommender's list for another order of the same films. `before`: the items of its list until then."""
    rows = (_reordered(pick, before) for pick in picks)
    return f'<ol class="nr-list">{"".join(rows)}</ol>'


def measured(number: int, film: Film, share: float, figure: str, note: str = "") -> str:
    """A film as a row with a bar, `share` of it full (0…1), a figure, and something quiet below the title."""
    row = _row(number, film, escape(note or _about(film)))
    return f'<div class="nr-line">{row}{_bar(min(max(share, 0), 1), figure)}</div>'


def wanted(
    number: int, film: Film, wishes: Iterable[tuple[str, float, str]], sites: Mapping[str, str] = NOWHERE
) -> str:
    """A film as a row with a bar for each who may want it: (who, how full the bar is, 0…1, a figure)."""
    bars = "".join(
        f'<span class="nr-wish"><span class="nr-quiet">{escape(who)}</span>{_bar(share, figure)}</span>'
        for who, share, figure in wishes
    )
    row = _row(number, film, escape(_about(film)) + _links(film, sites))
    return f'<div class="nr-line nr-wanted">{row}<span class="nr-wishes">{bars}</span></div>'


def tokens(chips: Iterable[tuple[int, str, bool]]) -> str:
    """A sequence as chips: (number, label, whether it is a blank); where numbers are left out, dots."""
    items, expected = [], None
    for number, label, blank in chips:
        if number != (expected or 1):
            items.append('<li class="nr-token nr-left-out">…</li>')
        kind = " nr-blank" if blank else ""
        items.append(f'<li class="nr-token{kind}"><i>{number}</i>{escape(label)}</li>')
        expected = number + 1
    return f'<ol class="nr-tokens">{"".join(items)}</ol>'


def link(site: str, address: str, film: Film) -> str:
    """The film's page on "IMDb" or "TMDB", in a new tab."""
    about = escape(words.LINKS[site].format(film=film.label))
    return f'<a href="{escape(address)}" target="_blank" rel="noopener" aria-label="{about}">{site}</a>'


def _compared(pick: Recommendation, n: int, n_lists: int) -> str:
    """A film that is in n lists: said in words and dots, and shown as a shade."""
    dots = f'<span class="nr-dots" aria-hidden="true">{"●" * n}{"○" * (n_lists - n)}</span>'
    note = _("in {n} of {all} lists", n=n, all=n_lists) if n > 1 else _("only here")
    row = _row(pick.rank, pick.film, f"{pick.film.year or ''} {dots} {note}")
    shared = " nr-shared" if n > 1 else ""
    return f'<li class="nr-line{shared}" style="--nr-share:{n / n_lists:.2f}">{row}</li>'


def _about(film: Film) -> str:
    """Year and genres: "1995 · Animation, Comedy"."""
    return " · ".join(filter(None, [str(film.year or ""), words.genres(film.genres)]))


def _reordered(pick: Recommendation, before: list[int]) -> str:
    """A film with the rank that it had before; shaded where it was not in the list."""
    was = before.index(pick.item) + 1 if pick.item in before else None
    row = _row(pick.rank, pick.film, f"{pick.film.year or ''} {words.was(was, pick.rank)}")
    new = "" if was else ' nr-shared" style="--nr-share:0.6'
    return f'<li class="nr-line{new}">{row}</li>'


def _poster(film: Film, rank: int | None, photo: str | None) -> str:
    """A 2:3 card with title, year and rank, if it has one; a photo lies over the drawn card, which shows until then."""
    about = ". ".join(filter(None, [film.label, words.genres(film.genres)]))
    image = f'<img src="{art_url(film.title, film.year, film.genres)}" alt="{escape(about)}">'
    over = f'<img class="nr-photo" src="{escape(photo)}" alt="" referrerpolicy="no-referrer">' if photo else ""
    number = "" if rank is None else f'<span class="nr-rank">{rank}</span>'
    title = f"<b>{escape(film.title)}</b><i>{film.year or ''}</i>"
    return f'<div class="nr-poster">{image}{number}<span class="nr-words" aria-hidden="true">{title}</span>{over}</div>'


def _row(number: int, film: Film, quiet: str) -> str:
    """Number, small picture, title, and something quiet (HTML) below."""
    return f'<span class="nr-number">{number}</span>{_thumbnail(film)}{_text(film.title, quiet)}'


def _text(title: str, quiet: str) -> str:
    return f'<span class="nr-text"><b>{escape(title)}</b><span class="nr-quiet">{quiet}</span></span>'


def _thumbnail(film: Film, about: str = "") -> str:
    """The art alone, small; without words where the title stands beside it."""
    return f'<img class="nr-thumb" src="{art_url(film.title, film.year, film.genres)}" alt="{escape(about)}">'


def _links(film: Film, sites: Mapping[str, str]) -> str:
    """Where to read about a film, {"IMDb": address}; nothing where no site is known."""
    links = "".join(link(site, address, film) for site, address in sites.items())
    return f'<span class="nr-links">{links}</span>' if links else ""


def _note(text: str) -> str:
    """A sentence on a line of its own, whole however long it is."""
    return f'<span class="nr-note">{escape(text)}</span>' if text else ""


def _probability(probability: float | None, best: float | None, figure: Figure) -> str:
    """A probability as a bar and a figure; nothing where the model has none."""
    if probability is None or not best:
        return ""
    return _bar(min(probability / best, 1.0), figure(probability))


def _bar(share: float, figure: str) -> str:
    """A bar, `share` of it full (0…1), and a figure."""
    bar = f'<span class="nr-bar"><i style="width:{share:.1%}"></i></span>'
    return f'<div class="nr-probability">{bar}<span>{escape(figure)}</span></div>'
