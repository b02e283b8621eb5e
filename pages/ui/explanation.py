"""Dialog that explains a recommendation: the influence of each film of the list, film facts and links.

Plot and cast are requested from TMDB if the visitor or the server has a key.

Session state:
    poster_key: TMDB key of the visitor (`tmdb.Key`), or None.
    stories: Plots and casts (`tmdb.Story`) by `tmdb.FilmRef`.
"""

import functools
from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui import cache, errors, film_cards
from pages.ui.format import escape_markdown, ordinal, precise_percent, running_time
from pages.ui.i18n import N_, _, count, ngettext
from recsys.data import film_tables
from recsys.data.dataset import Catalog
from recsys.data.film_details import FilmDetails
from recsys.serving import tmdb
from recsys.serving.export import film_links
from recsys.serving.insight.explain import MIN_EFFECT, Explanation, Influence, explain
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Request

MAX_BARS = 8  # films of the list that have a bar
MAX_EXTRA_DIGITS = 2  # see `extra_digits`
MAX_STORIES = 50  # plots and casts that a session caches
FACT_LABELS = {  # field of `FilmDetails` → label
    "directors": N_("Directed by"),
    "cast": N_("With"),
    "subjects": N_("About"),
    "countries": N_("Made in"),
    "languages": N_("Languages"),
}


def open_dialog(predictor: Predictor, request: Request, item: int) -> None:
    """Open the dialog about a recommended item. Callbacks must not call this: dialogs only open during a run."""
    title = escape_markdown(_("Why {film}?", film=predictor.dataset.catalog.films[item].label))
    st.dialog(title, width="medium")(dialog_body)(predictor, request, item)


@errors.show_errors()
def dialog_body(predictor: Predictor, request: Request, item: int) -> None:
    """Show the content of the dialog about a recommended item."""
    catalog, model_title = predictor.dataset.catalog, cache.recommender_title(predictor)
    explanation = _explain(predictor, request, item)
    titles = [film.label for film in catalog.films]
    st.markdown(escape_markdown(rank_text(explanation.rank_position, model_title, extra_digits(explanation))))
    st.markdown(f"**{escape_markdown(reason(explanation, titles, model_title))}**")
    if explanation.positive_influences or explanation.negative_influences:
        st.html(influence_bars(explanation, titles))
    for note in notes(explanation, model_title):
        st.caption(escape_markdown(note))
    if facts := film_facts(catalog.details.get(catalog.films[item].movie_id)):
        st.markdown("  \n".join(f":gray[{label}] {escape_markdown(value)}" for label, value in facts))
        if len(catalog.details):
            st.caption(_("From Wikidata."))
    if themes := film_tables.themes(predictor.dataset.name).get(catalog.films[item].movie_id):
        st.markdown(f":gray[{_('Themes')}] {escape_markdown(', '.join(map(_, themes)))}")
    show_story(catalog, item)
    if links := film_site_links(catalog, item):
        st.html(f'<p class="nr-links">{escape(_("Read about it on"))} {" · ".join(links)}</p>')


@cache.cached_for_predictor(max_entries=256)
def _explain(predictor: Predictor, request: Request, item: int) -> Explanation:
    """Return the explanation of a recommended item. It takes a prediction for each film of the list."""
    return explain(predictor, request, [item])[0]


def film_facts(details: FilmDetails) -> list[tuple[str, str]]:
    """Return the available facts about a film as (label, text): [("Directed by", "Quentin Tarantino"), …]."""
    facts = [(_(label), ", ".join(getattr(details, field))) for field, label in FACT_LABELS.items()]
    facts.append((_("Length"), running_time(details.minutes)))
    return [(label, text) for label, text in facts if text]


def extra_digits(explanation: Explanation) -> int:
    """Return the number of extra digits that show how the percentage changes without the most influential film.

    It is 0 if there are no probabilities, or if even MAX_EXTRA_DIGITS do not show a difference.
    """
    if not explanation.influences:
        return 0
    probability = explanation.rank_position.probability
    probability_without = explanation.influences[0].rank_position_without.probability
    if probability is None or probability_without is None:
        return 0
    digits = range(MAX_EXTRA_DIGITS + 1)
    return next((n for n in digits if precise_percent(probability, n) != precise_percent(probability_without, n)), 0)


def rank_text(position: RankPosition, model_title: str, n_extra_digits: int = 0) -> str:
    """Return a sentence with the rank and, if the model has one, the probability of a film."""
    if position.rank is None:
        return _("{model} rules it out.", model=model_title)
    fields = {"model": model_title, "rank": ordinal(position.rank)}
    if position.probability is not None:
        fields["probability"] = precise_percent(position.probability, n_extra_digits)
        if position.rank == 1:
            return _("Top prediction of {model}, at {probability}.", **fields)
        return _("{model} ranks it {rank}, at {probability}.", **fields)
    return _("Top prediction of {model}.", **fields) if position.rank == 1 else _("{model} ranks it {rank}.", **fields)


def reason(explanation: Explanation, titles: Sequence[str], model_title: str) -> str:
    """Return sentences about the films that raise or lower the recommended film. titles: By film number."""
    raising_titles = [titles[influence.item] for influence in explanation.positive_influences]
    lowering_titles = [titles[influence.item] for influence in explanation.negative_influences]
    if not explanation.influences:
        return _("Your list is empty. {model} recommends this film to everyone with an empty list.", model=model_title)
    if not raising_titles and not lowering_titles:
        return _("No single film of yours makes a difference.")
    if not raising_titles and len(lowering_titles) > 1:
        return _("Your films count against it, {one} most of all.", one=lowering_titles[0])
    sentences = []
    if len(raising_titles) == 1:
        sentences.append(_("Mostly because you watched {one}.", one=raising_titles[0]))
    elif raising_titles:
        strongest, second = raising_titles[:2]
        text = _("Mostly because you watched {one}, and partly because you watched {two}.", one=strongest, two=second)
        sentences.append(text)
    if lowering_titles:
        sentences.append(_("{one} counts against it.", one=lowering_titles[0]))
    return " ".join(sentences)


def notes(explanation: Explanation, model_title: str) -> list[str]:
    """Return sentences about how the influences were computed, and about films of the list that have no bar."""
    n_tested = len(explanation.influences)
    if not n_tested:
        return []
    texts = [
        _("Computed by removing your only film and asking {model} again.", model=model_title)
        if explanation.n_watched == 1
        else _(
            "Computed by removing each film in turn and asking {model} again. A longer bar means a larger change.",
            model=model_title,
        )
    ]
    if explanation.n_watched > n_tested:
        texts.append(ngettext("Only your latest film was tested.", "Only your latest {n} films were tested.", n_tested))
    if n_tested > MAX_BARS and (explanation.positive_influences or explanation.negative_influences):
        text = ngettext(
            "{n} more of your films made a smaller difference.",
            "{n} more of your films made a smaller difference.",
            n_tested - MAX_BARS,
        )
        texts.append(text)
    return texts


def influence_bars(explanation: Explanation, titles: Sequence[str]) -> str:
    """Return HTML of the films with the strongest influence. A bar to the right raises the recommended film."""
    influences, n_extra_digits = explanation.influences[:MAX_BARS], extra_digits(explanation)
    # the longest bars to the left and to the right of the zero line together fill the width
    largest_decrease = max(0.0, *(-influence.effect for influence in influences))
    largest_increase = max(0.0, *(influence.effect for influence in influences))
    full_effect = largest_decrease + largest_increase
    rows = "".join(
        _bar(influence, titles[influence.item], full_effect, explanation.rank_position, n_extra_digits)
        for influence in influences
    )
    return f'<ol class="nr-why" style="--nr-zero:{largest_decrease / full_effect:.1%}">{rows}</ol>'


def _bar(
    influence: Influence, title: str, full_effect: float, position_with_all: RankPosition, n_extra_digits: int
) -> str:
    """Return HTML of a film with its bar and a text. full_effect: Effect of a bar as wide as the chart."""
    effect = influence.effect
    css_class, width = "nr-up" if effect > 0 else "nr-down", f"{abs(effect) / full_effect:.1%}"
    bar = f'<span class="nr-pull" aria-hidden="true"><i class="{css_class}" style="width:{width}"></i></span>'
    without_text = _without_text(influence.rank_position_without, n_extra_digits)
    if abs(effect) <= MIN_EFFECT:
        effect_text = _("makes no difference")
    elif without_text == _without_text(position_with_all, n_extra_digits):  # equal after rounding
        effect_text = _("makes no visible difference")
    else:
        effect_text = _("counts in its favour") if effect > 0 else _("counts against it")
    details = escape(f"{effect_text}: {without_text}")
    text = f'<span class="nr-text"><b>{escape(title)}</b><span class="nr-quiet">{details}</span></span>'
    return f'<li class="nr-line">{text}{bar}</li>'


def _without_text(position: RankPosition, n_extra_digits: int) -> str:
    """Return the probability or rank of the recommended film after one film is removed: "4.2% without it"."""
    if position.rank is None:
        return _("ruled out without it")
    if position.probability is None:
        return _("rank {rank} without it", rank=count(position.rank))
    return _("{probability} without it", probability=precise_percent(position.probability, n_extra_digits))


def film_site_links(catalog: Catalog, item: int) -> list[str]:
    """Return HTML links to an item on IMDb and TMDB. A site is omitted if the data set lacks its id."""
    return [film_cards.link(site, address, catalog.films[item]) for site, address in film_links(catalog, item).items()]


@functools.cache
def tmdb_service() -> tmdb.TmdbService:
    """Return the TMDB client, which all visitors share. It caches poster URLs, but no plots and casts."""
    return tmdb.TmdbService()


def tmdb_key() -> tmdb.Key | None:
    """Return the visitor's own key, else the key of the server."""
    return st.session_state.get("poster_key") or tmdb.host_key()


def tmdb_attribution() -> None:
    """Show the notice that TMDB requires."""
    st.caption(_("This product uses the TMDB API but is not endorsed or certified by TMDB."))


def show_story(catalog: Catalog, item: int) -> None:
    """Show plot and cast of a film from TMDB, if there is a key."""
    if not (key := tmdb_key()):
        return
    st.markdown("**" + _("What it is about") + "**")
    story = _story(key, tmdb.film_refs(catalog, [item])[item])
    if story and (story.plot or story.cast):
        people = [_("{name} as {role}", name=name, role=role) if role else name for name, role in story.cast]
        for line in filter(None, (story.plot, ", ".join(people))):
            st.markdown(escape_markdown(line))
    else:
        st.caption(_("TMDB has no information about this film at the moment."))
    tmdb_attribution()


def _story(key: tmdb.Key, film: tmdb.FilmRef) -> tmdb.Story | None:
    """Return plot and cast of a film, and cache them in the session. Return None without a valid reply in time."""
    stories = st.session_state.setdefault("stories", {})
    if film not in stories and (story := tmdb_service().story(key, film)):
        stories[film] = story
        if len(stories) > MAX_STORIES:
            del stories[next(iter(stories))]  # the oldest
    return stories.get(film)
