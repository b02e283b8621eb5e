"""Results of a data set and protocol, cached until a result file changes, and menus that several sections use.

Here and in all sections, a *variant* is the name of a recommender, as in result files and tables.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.evaluation.charts import MAX_LINES
from pages.ui import cache, errors
from pages.ui.i18n import N_, _
from pages.ui.widgets import selectbox
from recsys.data import datasets, prepared
from recsys.data.dataset import Dataset, Split
from recsys.data.split import FORMER_OTHER_SCALE_RULE, OTHER_SCALE_RULE
from recsys.errors import RecsysError
from recsys.evaluation import groups, protocols, results, significance, tables
from recsys.evaluation.metric_texts import METRIC_TEXTS
from recsys.evaluation.protocols import Protocol

LoadErrors = list[RecsysError]  # an error for each skipped result, which cannot be read or compared

HARDWARE = {"cpu": N_("a CPU"), "cuda": N_("a GPU")}


@dataclass(frozen=True)
class EvaluationView:
    """The data set and protocol that the page shows, with their leaderboard."""

    dataset: str  # name
    protocol: str  # name
    board: pd.DataFrame  # `tables.leaderboard`: a row per recommender, with translated titles, best NDCG@10 first

    @property
    def definition(self) -> Protocol:
        """The definition of the protocol. A former protocol, which only old results have, is without texts."""
        return protocols.get_current_or_former(self.protocol)

    @property
    def key(self) -> str:
        """Data set and protocol, as a part of file names and widget keys."""
        return f"{self.dataset}-{self.protocol}"

    @property
    def version(self) -> str:
        """Text that changes when a result or the data set changes."""
        return results.version(self.dataset, self.protocol)

    @property
    def titles(self) -> dict[str, str]:
        """Variant → title."""
        return self.board.set_index("variant")["title"].to_dict()

    def title(self, variant: str) -> str:
        """Return the title of a variant, or its name if the board does not have it."""
        return self.titles.get(variant, variant)

    def family(self, variant: str) -> str:
        """Return the family of a variant. Raises KeyError if the board does not have it."""
        return str(self.board.set_index("variant").loc[variant, "family"])

    def join_titles(self, variants: list[str]) -> str:
        """Return titles with commas between them."""
        return ", ".join(map(self.title, variants))


# Decorator that caches a function until a result or the data set of the view changes. Arguments whose names start with
# an underscore are not in the cache key.
cached_for_view = partial(cache.cached_by, {EvaluationView: lambda view: (view.dataset, view.protocol, view.version)})


def leaderboard(dataset: str, protocol: str) -> tuple[pd.DataFrame, LoadErrors]:
    """Return `tables.leaderboard` with translated titles, and the errors of skipped results."""
    board, load_errors = _leaderboard(dataset, protocol, results.version(dataset, protocol))
    return board.assign(title=board["title"].map(_)), list(load_errors)


@cache.cached_by(keys={}, max_entries=16)
def _leaderboard(dataset: str, protocol: str, version: str) -> tuple[pd.DataFrame, LoadErrors]:
    """Read a leaderboard. `version` is only used in the cache key."""
    load_errors: LoadErrors = []
    return tables.leaderboard(dataset, protocol, load_errors.append), load_errors


@cached_for_view(max_entries=8)
def documents(view: EvaluationView) -> dict[str, dict[str, Any]]:
    """Return variant → result document. Unreadable results are skipped. `leaderboard` returns their errors."""
    readable_documents = results.documents(view.dataset, view.protocol, lambda error: None)
    return {document["variant"]: document for document in readable_documents}


def protocol_rules(view: EvaluationView) -> dict[str, Any]:
    """Return the rules of the best recommender's result, in the current words of the protocol.

    A result file has the words of the version that wrote it, and former words have no translation. Only texts are
    replaced, not numbers and dates. All rules of a protocol that no longer exists stay.
    """
    rules: dict[str, Any] = next(iter(documents(view).values()))["protocol"]
    if view.protocol not in protocols.PROTOCOLS:
        return rules
    is_public = view.dataset in datasets.PUBLISHED
    ties = datasets.PUBLISHED[view.dataset].ties if is_public else prepared.metadata(view.dataset).get("ties")
    order = {"order": protocols.TIE_RULES[ties]} if ties else {}
    current_rules = order | {protocols.REPEATS: protocols.REPEATS_RULE} | protocols.PROTOCOLS[view.protocol].rules
    # some data sets of visitors have these two rules in place of the rules of the protocol
    if rules.get("filter") == protocols.OWN_FILTER_RULE:
        current_rules.pop("filter", None)
    if rules.get("users") in (OTHER_SCALE_RULE, FORMER_OTHER_SCALE_RULE):
        current_rules["users"] = OTHER_SCALE_RULE
    current_texts = {name: rule for name, rule in current_rules.items() if name in rules and isinstance(rule, str)}
    return rules | current_texts


def pairwise_tests(view: EvaluationView, metric: str) -> pd.DataFrame:
    """Return `significance.pairwise_tests` of the board, and show the errors of skipped results. It takes seconds."""
    with st.spinner(_("Testing differences for significance…")):
        tests, load_errors = _pairwise_tests(view, metric)
    errors.show_file_errors(load_errors)
    return tests


@cached_for_view(max_entries=32)
def _pairwise_tests(view: EvaluationView, metric: str) -> tuple[pd.DataFrame, LoadErrors]:
    load_errors: LoadErrors = []
    return significance.pairwise_tests(view.dataset, view.protocol, metric, load_errors.append), load_errors


@cached_for_view(max_entries=4)
def ranks(view: EvaluationView) -> tuple[dict[str, np.ndarray], LoadErrors]:
    """Return variant → ranks (S seeds, B test users), and the errors of skipped results."""
    load_errors: LoadErrors = []
    variants = tuple(view.board["variant"])
    return tables.all_ranks(view.dataset, view.protocol, variants, load_errors.append), load_errors


def variants_with_matching_ranks(view: EvaluationView, dataset: Dataset) -> list[str]:
    """Return the variants with ranks that were evaluated on this version of the data set. Raises DataError."""
    return tables.matching_recommenders(view.board, ranks(view)[0], dataset, split(view, dataset).test)


def split(view: EvaluationView, dataset: Dataset) -> Split:
    """Return the split of the protocol. Raises ProtocolError and DataError."""
    return protocols.get(view.protocol).split(dataset)


@cached_for_view(max_entries=16)
def metrics_by_group(
    view: EvaluationView, _split: Split, variants: list[str], grouping: str, metric: str
) -> pd.DataFrame:
    """Return `groups.metric_by_bucket`. `_split` is not in the cache key, because the view determines it."""
    all_ranks = ranks(view)[0]
    return groups.metric_by_bucket(_split, {variant: all_ranks[variant] for variant in variants}, grouping, metric)


def protocol_title(name: str) -> str:
    """Return the title of a protocol."""
    return _(protocols.title(name))


def metric_title(metric: str) -> str:
    """Return the title of a metric: "NDCG@10" for "ndcg@10"."""
    return _(METRIC_TEXTS[metric].title) if metric in METRIC_TEXTS else metric.upper()


def select_metric() -> str:
    """Show the menu of metrics, and return the chosen metric. All sections share the choice."""
    titles = {metric: metric_title(metric) for metric in results.METRICS}
    return selectbox(_("Metric"), titles, "metric", default="ndcg@10", width=130)


def select_recommenders(
    view: EvaluationView, variants: list[str], default: list[str], key: str, max_selections: int = MAX_LINES
) -> list[str]:
    """Show the menu of recommenders, and return the chosen variants in the order of `variants`."""
    selected = st.multiselect(
        _("Recommenders"),
        variants,
        select_all=False,
        default=default,
        format_func=view.title,
        max_selections=max_selections,
        placeholder=_("Choose at least one recommender."),
        key=f"{key}-{view.key}",
        width=620,
        wrap=True,
        persist_state="session",
    )
    return [variant for variant in variants if variant in selected]
