"""Why a film is recommended, in a dialog: which of the visitor's films moved it, and where to read about it."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui import at_tmdb, errors, film_cards, loaders, words
from pages.ui.i18n import _, count, ngettext
from recsys.data.dataset import Catalog
from recsys.serving.films.links import film_links
from recsys.serving.insight.explain import NOTICEABLE, Explanation, Influence, explain
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, Standing

SHOWN = 8  # films in the list, the strongest
MOST_MORE = 2  # digits beyond the usual ones that a percentage may be given to show a difference


def dialog(predictor: Predictor, request: Request, item: int) -> None:
    """Open the dialog about one recommended item; call it in the run that the click started, not in a callback."""
    title = words.plain(_("Why {film}?", film=predictor.dataset.catalog.films[item].label))
    st.dialog(title, width="medium")(body)(predictor, request, item)


@errors.explained()
def body(predictor: Predictor, request: Request, item: int) -> None:
    """What the dialog holds."""
    catalog, model = predictor.dataset.catalog, loaders.title(predictor)
    found = explained(predictor, request, item)
    titles = [film.label for film in catalog.films]
    st.markdown(words.plain(stands(found.standing, model, more_digits(found))))
    st.markdown(f"**{words.plain(because(found, titles, model))}**")
    if found.lifted_by or found.lowered_by:
        st.html(bars(found, titles))
    for note in notes(found, model):
        st.caption(words.plain(note))
    about(catalog, item)
    at_tmdb.story(catalog, item)
    if sites := links(catalog, item):
        st.html(f'<p class="nr-links">{escape(_("Read about it on"))} {" · ".join(sites)}</p>')


def about(catalog: Catalog, item: int) -> None:
    """Who made the film and what it is about, where the set was enriched."""
    lines = words.about_it(catalog.details.get(catalog.films[item].movie_id))
    if lines:
        st.markdown("  \n".join(f":gray[{said}] {words.plain(what)}" for said, what in lines))
        st.caption(_("From Wikidata."))


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=loaders.BY_KEY)
def explained(predictor: Predictor, request: Request, item: int) -> Explanation:
    """The influence of each film, kept."""
    return explain(predictor, request, [item])[0]


def more_digits(found: Explanation) -> int:
    """How many further digits percentages need to differ where the strongest film made a difference; at most MOST_MORE.

    0 where two digits are enough, or where no number of digits is.
    """
    with_all = found.standing.probability
    without = found.influences[0].without.probability if found.influences else None
    if with_all is None or without is None:
        return 0
    differ = (n for n in range(MOST_MORE + 1) if words.fine_percent(with_all, n) != words.fine_percent(without, n))
    return next(differ, 0)


def stands(standing: Standing, model: str, more: int = 0) -> str:
    """The rank of the film, and its probability where there is one; more: further digits of that."""
    if standing.rank is None:
        return _("{model} rules it out.", model=model)
    first, rank = standing.rank == 1, words.ordinal(standing.rank)
    if standing.probability is None:
        return (_("{model}'s top prediction.") if first else _("{model} ranks it {rank}.")).format(
            model=model, rank=rank
        )
    sentence = (
        _("{model}'s top prediction, at {probability}.") if first else _("{model} ranks it {rank}, at {probability}.")
    )
    return sentence.format(model=model, rank=rank, probability=words.fine_percent(standing.probability, more))


def because(found: Explanation, titles: Sequence[str], model: str) -> str:
    """The reason in a sentence or two. `titles`: those of all items."""
    lifted, lowered = ([titles[one.item] for one in ones] for ones in (found.lifted_by, found.lowered_by))
    if not found.influences:
        return _("You have watched nothing yet, so this is what {model} predicts for anybody.", model=model)
    if not lifted:
        return (
            _("Your films count against it. It would rank higher without {one}.", one=lowered[0])
            if lowered
            else _("None of your films makes a difference: {model} predicts it for anybody.", model=model)
        )
    reason = words.WHY_LIFTED[min(len(lifted), 2)].format(one=lifted[0], two=lifted[min(1, len(lifted) - 1)])
    return (f"{reason} " + _("Without {one} it would rank higher.", one=lowered[0])) if lowered else reason


def notes(found: Explanation, model: str) -> list[str]:
    """How it was found out, and which of the visitor's films were left aside."""
    if not found.influences:
        return []
    said = [
        (
            _("Your only film was left out, and {model} predicted as for somebody new.")
            if found.watched == 1
            else _(
                "Each of your films was left out in turn, and {model} predicted again. The longer the bar, "
                "the larger the change."
            )
        ).format(model=model)
    ]
    if found.watched > len(found.influences):
        said.append(
            ngettext(
                "Only your newest film was left out.",
                "Only your newest {n} films were left out in turn.",
                len(found.influences),
            )
        )
    if len(found.influences) > SHOWN and (found.lifted_by or found.lowered_by):
        said.append(
            ngettext(
                "{n} more of your films made a smaller difference.",
                "{n} more of your films made a smaller difference.",
                len(found.influences) - SHOWN,
            )
        )
    return said


def bars(found: Explanation, titles: Sequence[str]) -> str:
    """The strongest films, each with a bar from a line at no effect: to the right it lifts, to the left holds back."""
    shown = found.influences[:SHOWN]
    left, right = (max(0.0, *(sign * one.effect for one in shown)) for sign in (-1, 1))  # the longest bars
    rows = "".join(_bar(one, titles[one.item], left + right, found.standing, more_digits(found)) for one in shown)
    return f'<ol class="nr-why" style="--nr-zero:{left / (left + right):.1%}">{rows}</ol>'


def _bar(one: Influence, title: str, span: float, standing: Standing, more: int) -> str:
    """One film; the bar is for the eye, the words below the title say the same.

    span: what the whole width means; standing: where the recommended film stands after all films; more: further
    digits of percentages.
    """
    up = one.effect > 0
    side, width = "nr-up" if up else "nr-down", f"{abs(one.effect) / span:.1%}"
    bar = f'<span class="nr-pull" aria-hidden="true"><i class="{side}" style="width:{width}"></i></span>'
    without = _without(one.without, more)
    if abs(one.effect) <= NOTICEABLE:
        said = _("makes no difference")
    elif without == _without(standing, more):
        said = _("makes no visible difference")
    else:
        said = _("lifts it") if up else _("holds it back")
    quiet = escape(f"{said}: {without}")
    text = f'<span class="nr-text"><b>{escape(title)}</b><span class="nr-quiet">{quiet}</span></span>'
    return f'<li class="nr-line">{text}{bar}</li>'


def _without(standing: Standing, more: int) -> str:
    if standing.rank is None:
        return _("ruled out without it")
    if standing.probability is None:
        return _("rank {rank} without it", rank=count(standing.rank))
    return _("{probability} without it", probability=words.fine_percent(standing.probability, more))


def links(catalog: Catalog, item: int) -> list[str]:
    """Links (HTML) to the film's pages on IMDb and TMDB, as far as its ids are known."""
    return [film_cards.link(site, address, catalog.films[item]) for site, address in film_links(catalog, item).items()]
