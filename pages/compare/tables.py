"""The tables of Compare as HTML, with words for screen readers. Style: assets/style/nextreel.css."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import pandas as pd

from pages.compare import words
from pages.ui import format
from pages.ui.i18n import _, count, number
from recsys.serving.insight import hidden
from recsys.serving.insight.order import OrderEffect
from recsys.serving.recommend import Recommendation, Standing


def overlaps(shared: pd.DataFrame, k: int) -> str:
    """How many of k films each two lists share; the diagonal, a list beside itself, stays empty."""
    rows = "".join(
        _row(str(name), [_shared(n, k, other == name) for other, n in row.items()]) for name, row in shared.iterrows()
    )
    return _table(_("How many films any two lists share"), [_("Recommender"), *shared], rows, "nr-heat")


def alone(films: Mapping[str, Sequence[str]]) -> str:
    """The films that one recommender alone shows."""
    parts = [f"<dt>{escape(name)}</dt><dd>{escape(' · '.join(titles) or '–')}</dd>" for name, titles in films.items()]
    return '<p class="nr-head">' + _("In one list only") + f'</p><dl class="nr-alone">{"".join(parts)}</dl>'


def standings(rows: Mapping[str, Standing], about: str, mark_found: bool = False) -> str:
    """One film in several lists, the nearest to the top first: a bar, its rank, its probability."""
    ordered = sorted(rows.items(), key=lambda row: -row[1].nearness)
    body = "".join(_row(name, _standing(standing, mark_found)) for name, standing in ordered)
    return _table(about, [_("Recommender"), "", _("Rank"), _("Probability")], body, "nr-ranks")


def order_effects(effects: Mapping[str, OrderEffect]) -> str:
    """How far each recommender's list moves when the order of the films changes, the most moved first."""
    ordered = sorted(effects.items(), key=lambda row: row[1].overlap)
    body = "".join(_row(name, _order_effect(effect)) for name, effect in ordered)
    shuffled, backwards, mean = words.ORDER_LEGEND
    legend = f'<p class="nr-quiet nr-legend"><i></i>{shuffled}<u></u>{backwards}<b></b>{mean}</p>'
    return (
        _table(
            _("How much each recommender's lists agree when the same films come in another order"),
            [_("Recommender"), _("Overlap, from 0 to 1"), "", _("Films kept")],
            body,
            "nr-ranks",
        )
        + legend
    )


def two_orders(answers: Mapping[str, list[list[Recommendation]]], names: Sequence[str]) -> str:
    """Two short lists a recommender, for two orders of the same films; films of one list only are in full ink."""
    body = "".join(_row(name, _mood(*lists)) for name, lists in answers.items())
    return _table(
        _("What each recommender predicts after the same films in two orders"),
        [_("Recommender"), *names, ""],
        body,
        "nr-moods",
    )


def hits(rows: Mapping[str, Sequence[Standing]], titles: Sequence[str]) -> str:
    """Film by recommender: the rank of each film that was hidden; what it comes to, below."""
    body = "".join(_row(title, [_hit(row[place]) for row in rows.values()]) for place, title in enumerate(titles))
    scores = [hidden.score(row) for row in rows.values()]
    found = [f"<td>{score.found}</td>" for score in scores]
    mrr = [f"<td>{format.metric(score.mrr)}</td>" for score in scores]
    foot = _row(_("In the top {k}", k=hidden.FOUND), found, "nr-sum") + _row(_("Mean of 1 / rank"), mrr, "nr-sum")
    return _table(
        _("The rank of each of your films, hidden in turn, in each recommender's list"),
        [_("Film"), *rows],
        body + foot,
        "nr-heat nr-films",
    )


def _table(about: str, heads: Iterable[str], body: str, kind: str) -> str:
    """A table that scrolls sideways by itself where the screen is too narrow for it."""
    head = "".join(f'<th scope="col">{escape(str(text))}</th>' if text else "<td></td>" for text in heads)
    caption = f'<caption class="nr-aside">{escape(about)}</caption>'
    table = f'<table class="nr-table {kind}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="nr-scroll" tabindex="0" role="region" aria-label="{escape(about)}">{table}</div>'


def _row(name: str, cells: Iterable[str], kind: str = "") -> str:
    return f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'


def _shared(n: int, k: int, itself: bool) -> str:
    return '<td class="nr-self"></td>' if itself else f'<td style="--nr-share:{n / k:.2f}">{n}</td>'


def _standing(standing: Standing, mark_found: bool) -> list[str]:
    """Bar, rank and probability of one film in one list."""
    tag = '<span class="nr-tag">' + _("found") + "</span>" if mark_found and hidden.was_found(standing) else ""
    rank = f"<b>{count(standing.rank)}</b> " + _quiet(_("of {n:,}", n=standing.of)) if standing.rank else ""
    probability = "–" if standing.probability is None else escape(format.percent(standing.probability))
    bar = f'<span class="nr-bar"><i style="width:{standing.nearness:.1%}"></i></span>'
    return [
        f'<td aria-hidden="true">{bar}</td>',
        "<td>" + (rank or _quiet(_("not in its list"))) + f"{tag}</td>",
        f"<td>{probability}</td>",
    ]


def _order_effect(effect: OrderEffect) -> list[str]:
    """Strip, mean overlap and films kept of one recommender; the first of the other orders is latest first."""
    backwards, *shuffled = effect.overlaps
    dots = "".join(f'<i style="left:{overlap:.1%}"></i>' for overlap in shuffled)
    marks = f'{dots}<u style="left:{backwards:.1%}"></u><b style="left:{effect.overlap:.1%}"></b>'
    kept = _("{kept} of {k}", kept=words.mean(effect.mean_kept), k=len(effect.first))
    return [
        f'<td aria-hidden="true"><span class="nr-dotted">{marks}</span></td>',
        f"<td><b>{number(effect.overlap, '.2f')}</b></td>",
        f"<td>{kept}</td>",
    ]


def _mood(one: list[Recommendation], other: list[Recommendation]) -> list[str]:
    both = {pick.item for pick in one} & {pick.item for pick in other}
    shared = _("{n} of {k} the same", n=len(both), k=len(one))
    return [f"<td>{_titles(one, both)}</td>", f"<td>{_titles(other, both)}</td>", f"<td>{_quiet(shared)}</td>"]


def _titles(picks: list[Recommendation], both: set[int]) -> str:
    """Titles in a numbered list, quiet where the other list has them too."""
    rows = (_quiet(pick.film.label) if pick.item in both else escape(pick.film.label) for pick in picks)
    return f"<ol>{''.join(f'<li>{row}</li>' for row in rows)}</ol>"


def _hit(standing: Standing) -> str:
    rank = count(standing.rank) if standing.rank else "–"
    shown = f"<b>{rank}</b>" if hidden.was_found(standing) else rank
    return f'<td style="--nr-share:{standing.nearness:.2f}">{shown}</td>'


def _quiet(text: str) -> str:
    return f'<span class="nr-quiet">{escape(text)}</span>'
