"""Films as HTML: cards, rows and lists that align, with words for screen readers. Style: assets/style/nextreel.css."""

from collections.abc import Iterable, Mapping
from html import escape

from pages import _words as words
from recsys.data.schema import Film
from recsys.serving.history import Example
from recsys.serving.posters import art_url
from recsys.serving.recommend import Recommendation

NOWHERE: Mapping[str, str] = {}


def card(
    pick: Recommendation, best: float | None, places: Mapping[str, str] = NOWHERE, photo: str | None = None
) -> str:
    """A recommended film: poster, probability, genres, links. `best`: the first one's probability."""
    genres = escape(words.genres(pick.genres)) or "&nbsp;"
    about = f'<div class="nr-quiet nr-one">{genres}</div>{_links(pick, places)}'
    return f'<div class="nr-card">{_poster(_film(pick), pick.rank, photo)}{_chance(pick, best)}{about}</div>'


def line(pick: Recommendation, best: float | None, places: Mapping[str, str] = NOWHERE) -> str:
    """A recommended film as one row of a list."""
    about = escape(_about(_film(pick))) + _links(pick, places)
    return f'<div class="nr-line">{_row(pick.rank, _film(pick), about)}{_chance(pick, best)}</div>'


def watched(number: int, film: Film, latest: bool) -> str:
    """A film of the visitor's own sequence."""
    tag = f'<span class="nr-tag">{words.LATEST}</span>' if latest else ""
    quiet = f"{film.year or ''}{tag}"
    return f'<div class="nr-line">{_row(number, film, quiet)}</div>'


def example(example: Example, films: Iterable[Film]) -> str:
    """A ready-made sequence: what it is, and its films as a strip."""
    strip = "".join(_thumbnail(film, film.label) for film in films)
    return f'{_text(example.name, escape(example.description))}<div class="nr-strip">{strip}</div>'


def column(picks: Iterable[Recommendation], counts: Mapping[int, int], n_lists: int) -> str:
    """One recommender's list, for Compare. `counts`: film id → in how many of the n lists it stands."""
    rows = (_compared(pick, counts[pick.movie_id], n_lists) for pick in picks)
    return f'<ol class="nr-list">{"".join(rows)}</ol>'


def past(numbered: Iterable[tuple[int, Film]]) -> str:
    """Films that somebody watched, each with its place in their history, in as many columns as there is room for."""
    rows = (f'<li class="nr-line">{_row(number, film, escape(_about(film)))}</li>' for number, film in numbered)
    return f'<ol class="nr-list nr-past">{"".join(rows)}</ol>'


def reordered(picks: Iterable[Recommendation], before: list[int]) -> str:
    """One recommender's list for another order of the same films. `before`: the film ids of its list until then."""
    rows = (_reordered(pick, before) for pick in picks)
    return f'<ol class="nr-list">{"".join(rows)}</ol>'


def measured(number: int, film: Film, share: float, figure: str, note: str = "") -> str:
    """A film as a row with a bar, `share` of it full (0…1), a figure, and something quiet below the title."""
    row = _row(number, film, escape(note or _about(film)))
    return f'<div class="nr-line">{row}{_bar(min(max(share, 0), 1), figure)}</div>'


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


def label(pick: Recommendation) -> str:
    """Title and year: "Toy Story (1995)"."""
    return _film(pick).label


def link(place: str, address: str, film: str) -> str:
    """The film's page on "IMDb" or "TMDB", in a new tab."""
    about = escape(words.LINKS[place].format(film=film))
    return f'<a href="{escape(address)}" target="_blank" rel="noopener" aria-label="{about}">{place}</a>'


def _compared(pick: Recommendation, n: int, n_lists: int) -> str:
    """A film that stands in n lists: said in words and dots, and shown as a shade."""
    dots = f'<span class="nr-dots" aria-hidden="true">{"●" * n}{"○" * (n_lists - n)}</span>'
    note = words.IN_LISTS.format(n=n, all=n_lists) if n > 1 else words.ONLY_HERE
    row = _row(pick.rank, _film(pick), f"{pick.year or ''} {dots} {note}")
    shared = " nr-shared" if n > 1 else ""
    return f'<li class="nr-line{shared}" style="--nr-share:{n / n_lists:.2f}">{row}</li>'


def _about(film: Film) -> str:
    """Year and genres: "1995 · Animation, Comedy"."""
    return " · ".join(filter(None, [str(film.year or ""), words.genres(film.genres)]))


def _reordered(pick: Recommendation, before: list[int]) -> str:
    """A film with the place that it had before; shaded where it was not in the list."""
    was = before.index(pick.movie_id) + 1 if pick.movie_id in before else None
    row = _row(pick.rank, _film(pick), f"{pick.year or ''} {words.was(was, pick.rank)}")
    new = "" if was else ' nr-shared" style="--nr-share:0.6'
    return f'<li class="nr-line{new}">{row}</li>'


def _film(pick: Recommendation) -> Film:
    return Film(pick.movie_id, pick.title, pick.year, pick.genres)


def _poster(film: Film, rank: int, photo: str | None) -> str:
    """A 2:3 card with title, year and rank; a photo lies over the drawn card, which shows until it is there."""
    about = ". ".join(filter(None, [film.label, words.genres(film.genres)]))
    image = f'<img src="{art_url(film.title, film.year, film.genres)}" alt="{escape(about)}">'
    over = f'<img class="nr-photo" src="{escape(photo)}" alt="" referrerpolicy="no-referrer">' if photo else ""
    title = f"<b>{escape(film.title)}</b><i>{film.year or ''}</i>"
    return (
        f'<div class="nr-poster">{image}<span class="nr-rank">{rank}</span>'
        f'<span class="nr-words" aria-hidden="true">{title}</span>{over}</div>'
    )


def _row(number: int, film: Film, quiet: str) -> str:
    """Number, small picture, title, and something quiet (HTML) below."""
    return f'<span class="nr-number">{number}</span>{_thumbnail(film)}{_text(film.title, quiet)}'


def _text(title: str, quiet: str) -> str:
    return f'<span class="nr-text"><b>{escape(title)}</b><span class="nr-quiet">{quiet}</span></span>'


def _thumbnail(film: Film, about: str = "") -> str:
    """The art alone, small; without words where the title stands beside it."""
    return f'<img class="nr-thumb" src="{art_url(film.title, film.year, film.genres)}" alt="{escape(about)}">'


def _links(pick: Recommendation, places: Mapping[str, str]) -> str:
    """Where to read about a film, {"IMDb": address}; nothing where no place is known."""
    links = "".join(link(place, address, label(pick)) for place, address in places.items())
    return f'<span class="nr-links">{links}</span>' if links else ""


def _chance(pick: Recommendation, best: float | None) -> str:
    """The probability as a bar and a figure; nothing where the model has none."""
    if pick.probability is None or not best:
        return ""
    return _bar(pick.probability / best, words.percent(pick.probability))


def _bar(share: float, figure: str) -> str:
    """A bar, `share` of it full (0…1), and a figure."""
    bar = f'<span class="nr-bar"><i style="width:{share:.1%}"></i></span>'
    return f'<div class="nr-chance">{bar}<span>{escape(figure)}</span></div>'
