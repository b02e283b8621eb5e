"""Films as HTML: cards, rows and lists, with texts for screen readers. The style is in assets/style/nextreel.css."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from pages.ui.format import display_genres, precise_percent, rank_change_label
from pages.ui.i18n import N_, _
from recsys.data.dataset import Film
from recsys.serving.history import SampleList
from recsys.serving.poster_art import poster_url
from recsys.serving.recommend import Recommendation

LINK_LABELS = {"IMDb": N_("{film} on IMDb, in a new tab"), "TMDB": N_("{film} on TMDB, in a new tab")}
ProbabilityFormat = Callable[[float], str]  # a function of a probability that returns a text


def card(
    pick: Recommendation,
    full_bar: float | None,
    links: Mapping[str, str] | None = None,
    photo: str | None = None,
    probability_format: ProbabilityFormat = precise_percent,
    credits_text: str | None = None,
) -> str:
    """Return a recommended film as a card.

    Args:
        pick: The recommended film.
        full_bar: Probability of a full bar. None: no bar.
        links: Site → address.
        photo: URL of a poster, which covers the drawn poster.
        probability_format: Formats the probability beside the bar.
        credits_text: Running time and directors, "" if unknown. None: no line for them.
    """
    genres = escape(display_genres(pick.film.genres)) or "&nbsp;"
    credits_line = "" if credits_text is None else f'<div class="nr-quiet nr-made">{escape(credits_text)}</div>'
    details = f'<div class="nr-quiet nr-one">{genres}</div>{credits_line}{_links(pick.film, links)}'
    probability = _probability(pick.probability, full_bar, probability_format)
    return f'<div class="nr-card">{_poster(pick.film, pick.rank, photo)}{probability}{details}</div>'


def library_card(film: Film, details: Iterable[str], links: Mapping[str, str], tag: str = "") -> str:
    """Return a film without a rank as a card. details: Lines below the genres. tag: Label below them."""
    texts = [display_genres(film.genres), *details]
    lines = "".join(f'<div class="nr-quiet nr-one">{escape(text) or "&nbsp;"}</div>' for text in texts)
    tag_line = f'<div class="nr-quiet"><span class="nr-tag">{escape(tag)}</span></div>' if tag else ""
    return f'<div class="nr-card nr-shelved">{_poster(film)}{lines}{tag_line}{_links(film, links)}</div>'


def row(
    number: int,
    film: Film,
    probability: float | None,
    full_bar: float | None,
    links: Mapping[str, str] | None = None,
    probability_format: ProbabilityFormat = precise_percent,
    note: str = "",
    credits_text: str | None = None,
) -> str:
    """Return a film as a row with a number and a bar.

    number: Rank or position. note: Sentence below the film. For the other arguments, see `card`.
    """
    details = escape(" · ".join(filter(None, [_details(film), credits_text]))) + _links(film, links) + _note(note)
    bar = _probability(probability, full_bar, probability_format)
    return f'<div class="nr-line">{_film(number, film, details)}{bar}</div>'


def watched_row(number: int, film: Film, is_latest: bool, note: str = "") -> str:
    """Return a film of the visitor's list as a row. number: Position. note: Sentence below the film."""
    tag = f'<span class="nr-tag">{_("latest")}</span>' if is_latest else ""
    details = f"{film.year or ''}{tag}{_note(note)}"
    return f'<div class="nr-line">{_film(number, film, details)}</div>'


def example_card(example: SampleList, films: Sequence[Film]) -> str:
    """Return an example list with its name, posters and titles."""
    strip = "".join(_thumbnail(film) for film in films)
    titles = escape(" · ".join(film.title for film in films))
    text = _text(_(example.name), escape(_(example.description)))
    return f'{text}<div class="nr-strip">{strip}</div><div class="nr-quiet">{titles}</div>'


def compared_list(picks: Iterable[Recommendation], list_counts: Mapping[int, int], n_lists: int) -> str:
    """Return one of `n_lists` lists. Each film has a note. list_counts: Item → number of lists that have it."""
    rows = []
    for pick in picks:
        n = list_counts[pick.item]
        dots = f'<span class="nr-dots" aria-hidden="true">{"●" * n}{"○" * (n_lists - n)}</span>'
        note = _("in {n} of {all} lists", n=n, all=n_lists) if n > 1 else _("only here")
        text = _film(pick.rank, pick.film, f"{pick.film.year or ''} {dots} {note}")
        css_class = " nr-shared" if n > 1 else ""
        rows.append(f'<li class="nr-line{css_class}" style="--nr-share:{n / n_lists:.2f}">{text}</li>')
    return f'<ol class="nr-list">{"".join(rows)}</ol>'


def reordered_list(picks: Iterable[Recommendation], items_before: list[int]) -> str:
    """Return a changed list with the previous rank of each film. New films are highlighted. items_before: Old list."""
    rows = []
    for pick in picks:
        rank_before = items_before.index(pick.item) + 1 if pick.item in items_before else None
        text = _film(pick.rank, pick.film, f"{pick.film.year or ''} {rank_change_label(rank_before, pick.rank)}")
        css_class = "" if rank_before else " nr-shared"  # the highlight of `compared_list`, at 60% of its strength
        rows.append(f'<li class="nr-line{css_class}" style="--nr-share:0.6">{text}</li>')
    return f'<ol class="nr-list">{"".join(rows)}</ol>'


def join_rows(rows: Iterable[str]) -> str:
    """Return a list of rows. rows: HTML, for example from `row`."""
    items = "".join(f"<li>{html}</li>" for html in rows)
    return f'<ol class="nr-rows">{items}</ol>'


def film_columns(films: Iterable[tuple[int, Film]]) -> str:
    """Return films in as many columns as the width allows. films: (position, film)."""
    rows = (f'<li class="nr-line">{_film(position, film, escape(_details(film)))}</li>' for position, film in films)
    return f'<ol class="nr-list nr-past">{"".join(rows)}</ol>'


def film_bar_row(number: int, film: Film, share: float, bar_text: str, note: str = "") -> str:
    """Return a film with a bar.

    share: Filled part of the bar, clipped to 0…1. bar_text: Text beside the bar. note: Replaces year and genres.
    """
    text = _film(number, film, escape(note or _details(film)))
    return f'<div class="nr-line">{text}{_bar(min(max(share, 0), 1), bar_text)}</div>'


def group_row(number: int, film: Film, preferences: Iterable[tuple[str, float, str]], links: Mapping[str, str]) -> str:
    """Return a film with a bar for each person. preferences: (name, filled part of the bar, text beside it)."""
    bars = "".join(
        f'<span class="nr-wish"><span class="nr-quiet">{escape(name)}</span>{_bar(share, bar_text)}</span>'
        for name, share, bar_text in preferences
    )
    text = _film(number, film, escape(_details(film)) + _links(film, links))
    return f'<div class="nr-line nr-wanted">{text}<span class="nr-wishes">{bars}</span></div>'


def sequence_chips(chips: Iterable[tuple[int, str, bool]]) -> str:
    """Return the tokens of a sequence. chips: (position, label, is masked). "…" stands for omitted positions."""
    items, next_position = [], 1
    for position, label, is_masked in chips:
        if position != next_position:
            items.append('<li class="nr-token nr-left-out">…</li>')
        css_class = " nr-blank" if is_masked else ""
        items.append(f'<li class="nr-token{css_class}"><i>{position}</i>{escape(label)}</li>')
        next_position = position + 1
    return f'<ol class="nr-tokens">{"".join(items)}</ol>'


def link(site: str, address: str, film: Film) -> str:
    """Return a link to a film that opens a new tab. site: "IMDb" or "TMDB"."""
    label = escape(_(LINK_LABELS[site], film=film.label))
    return f'<a href="{escape(address)}" target="_blank" rel="noopener" aria-label="{label}">{site}</a>'


def _details(film: Film) -> str:
    """Return year and genres: "1995 · Animation, Comedy"."""
    return " · ".join(filter(None, [str(film.year or ""), display_genres(film.genres)]))


def _poster(film: Film, rank: int | None = None, photo: str | None = None) -> str:
    """Return a drawn poster. A photo, if any, covers it as soon as the browser has loaded it."""
    description = escape(". ".join(filter(None, [film.label, display_genres(film.genres)])))
    image = f'<img src="{poster_url(film.title, film.year, film.genres)}" alt="{description}">'
    cover = f'<img class="nr-photo" src="{escape(photo)}" alt="" referrerpolicy="no-referrer">' if photo else ""
    number = "" if rank is None else f'<span class="nr-rank">{rank}</span>'
    title = f'<span class="nr-words" aria-hidden="true"><b>{escape(film.title)}</b><i>{film.year or ""}</i></span>'
    return f'<div class="nr-poster">{image}{number}{title}{cover}</div>'


def _film(number: int, film: Film, details: str) -> str:
    """Return the first part of a row: number, small poster, title and details. details: HTML below the title."""
    return f'<span class="nr-number">{number}</span>{_thumbnail(film)}{_text(film.title, details)}'


def _text(title: str, details: str) -> str:
    return f'<span class="nr-text"><b>{escape(title)}</b><span class="nr-quiet">{details}</span></span>'


def _thumbnail(film: Film) -> str:
    return f'<img class="nr-thumb" src="{poster_url(film.title, film.year, film.genres)}" alt="">'


def _links(film: Film, links: Mapping[str, str] | None) -> str:
    anchors = "".join(link(site, address, film) for site, address in (links or {}).items())
    return f'<span class="nr-links">{anchors}</span>' if anchors else ""


def _note(text: str) -> str:
    return f'<span class="nr-note">{escape(text)}</span>' if text else ""


def _probability(probability: float | None, full_bar: float | None, probability_format: ProbabilityFormat) -> str:
    """Return a probability as a bar and a text, or "" without a probability."""
    if probability is None or not full_bar:
        return ""
    return _bar(min(probability / full_bar, 1.0), probability_format(probability))


def _bar(share: float, text: str) -> str:
    bar = f'<span class="nr-bar"><i style="width:{share:.1%}"></i></span>'
    return f'<div class="nr-probability">{bar}<span>{escape(text)}</span></div>'
