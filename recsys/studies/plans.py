"""The plans of all studies: which recommenders are trained with which settings, and the text beside the table.

The texts of a plan are shown on the Evaluation page, and assets/locale/uk.po has their translations. Loads no torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from recsys.evaluation.report import format_metric

Changes = dict[str, Mapping[str, Any]]  # label of a row → settings that differ from the preset

BASELINE = "unchanged"  # label of the row without changes
LEFT_OUT: Changes = {  # "without" is a setting of `models.ablations`
    "position embeddings instead of a relative bias": {"without": "relative bias"},
    "no positions": {"without": "order"},
    "no feed-forward network": {"without": "feed-forward"},
    "no layer normalisation": {"without": "norms"},
    "no residual connections": {"without": "residual"},
    "no dropout": {"dropout": 0.0},
    "separate output embeddings": {"without": "tied output"},
    "random initialisation instead of PMI": {"pmi_init": False},
}
MASKING: Changes = {  # what replaces a masked item, and the share of samples in which only the last item is masked
    "[mask]; in 10% of samples, only the last film": {},
    "[mask]; never only the last film": {"last_item_mask_prob": 0.0},
    "[mask]; in 30% of samples, only the last film": {"last_item_mask_prob": 0.3},
    "[mask]; in 50% of samples, only the last film": {"last_item_mask_prob": 0.5},
    "always only the last film": {"last_item_mask_prob": 1.0},
    "80% [mask], 10% another film, 10% unchanged": {"masking": "80-10-10"},
}
CROPS: Changes = {  # parts of long histories that are training samples, see `CounterRNG.crop`
    "latest films only": {},
    "windows over older films": {"crop": "windows"},
    "prefixes of the history": {"crop": "prefixes"},
}
LOSSES: Changes = {
    "binary cross-entropy, one negative": {"loss": "gbce", "negatives": 1, "gbce_t": 0.0},  # as `sasrec-bce`
    "gBCE, 256 negatives": {"loss": "gbce", "negatives": 256, "gbce_t": 0.75},
    "softmax over all films": {"loss": "softmax"},
}
BLOCKS: Changes = {"no layers": {"layers": 0}, "1 layer": {"layers": 1}, "3 layers": {"layers": 3}}
HEADS: Changes = {"1 head": {"heads": 1}, "4 heads": {"heads": 4}}
# Settings of `ExtrasConfig`, which the "-memory" recommenders set to True. "memory": counts are added to the logits.
# "redraw": films with equal times get a new order in each epoch. "only_unseen": the softmax excludes seen films.
NO_EXTRAS = {"memory": False, "redraw": False, "only_unseen": False}
NO_EXTRAS_LABEL = "no memory, fixed order, softmax over all films"
STEPS: Changes = {  # each row turns off one more setting
    BASELINE: {},
    "no memory": {"memory": False},
    "no memory, fixed order of films rated in the same second": {"memory": False, "redraw": False},
    NO_EXTRAS_LABEL: NO_EXTRAS,
}
TWO_STEPS: Changes = {BASELINE: {}, "no memory": {"memory": False}, NO_EXTRAS_LABEL: NO_EXTRAS}
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)  # exponents of popularity
WIDTHS = (16, 32, 64, 128, 256)  # dimensions of an embedding
LENGTHS = (10, 20, 50, 100, 200)  # newest films of a history that are read

# Charts, in the format of `evaluation.studies`. They name columns of `studies.run.COLUMNS`.
LINE_CHART = {"kind": "line", "x": "setting", "y": "ndcg", "by": "recommender"}
VALUE_CHART = {"kind": "rows", "x": "setting", "y": "ndcg", "by": "recommender", "low": "low", "high": "high"}
CHANGE_CHART = VALUE_CHART | {"y": "change", "low": "change_low", "high": "change_high"}


@dataclass(frozen=True)
class Point:
    """A recommender with some settings changed: one row of the table of a study."""

    title: str  # of the recommender, in the table; a change is measured against the baseline with the same title
    setting: str | float  # label of the changes, or the value of the one setting that a sweep changes
    recommender: str
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the preset


ABLATION_SETTINGS = {"without", "masking"}  # settings of `models.ablations`, which other models do not have
# recommender → its variant that has the settings in ABLATION_SETTINGS
ABLATED = {"bert4rec": "bert4rec-ablated", "sasrec-softmax": "sasrec-ablated"}


def make_points(recommenders: Mapping[str, str], changes: Changes) -> tuple[Point, ...]:
    """Return a point for each recommender (title → name) and change. Ablations use the variants in ABLATED."""
    points = []
    for title, recommender in recommenders.items():
        for label, settings in changes.items():
            variant = ABLATED[recommender] if settings.keys() & ABLATION_SETTINGS else recommender
            points.append(Point(title, label, variant, settings))
    return tuple(points)


def sweep(title: str, recommender: str, setting: str, values: Sequence[float]) -> tuple[Point, ...]:
    """Return a point for each value of one setting of a recommender, with the value as its label."""
    return tuple(Point(title, value, recommender, {setting: value}) for value in values)


@dataclass(frozen=True)
class Plan:
    """A study before it is run: its points, and the text and the chart of the JSON that the Evaluation page shows."""

    title: str
    question: str
    papers: str  # published findings, in one or two sentences
    setting_title: str  # title of the column of settings
    points: tuple[Point, ...]
    chart: Mapping[str, Any]
    all_seeds: bool = False  # train every point with all seeds, see `studies.run.uses_all_seeds`

    def summarise(self, table: pd.DataFrame) -> str:
        """Return the answer to the question, in one sentence, from a table with `studies.run.COLUMNS`."""
        return gains_and_losses(table) if self.chart["y"] == "change" else best_and_worst(table)


def best_and_worst(table: pd.DataFrame) -> str:
    """Return sentences that name the settings with the lowest and the highest NDCG@10 of each recommender."""
    sentences = []
    for title, rows in table.groupby("recommender", sort=False):
        low, high = rows.loc[rows["ndcg"].idxmin()], rows.loc[rows["ndcg"].idxmax()]
        values = (
            f"lowest {_phrase(low['setting'])} ({format_metric(low['ndcg'])}) and highest {_phrase(high['setting'])} "
            f"({format_metric(high['ndcg'])})"
            if len(rows) > 1
            else f"{format_metric(low['ndcg'])} {_phrase(low['setting'])}"
        )
        sentences.append(f"The NDCG@10 of {title} is {values}.")
    return " ".join(sentences)


def gains_and_losses(table: pd.DataFrame) -> str:
    """Return sentences that count the changes whose interval excludes 0, and name the largest loss and gain."""
    changed = table[table["change"].notna()]
    losses = changed[changed["change_high"] < 0].sort_values("change")
    gains = changed[changed["change_low"] > 0].sort_values("change", ascending=False)
    if losses.empty and gains.empty:
        return "No change makes a difference whose 95% interval excludes 0."
    clauses: list[str] = []
    for rows, verb, sign in ((losses, "lower", "−"), (gains, "raise", "+")):
        if len(rows):
            largest = rows.iloc[0]
            verb += "s" * (len(rows) == 1)
            count = f"{len(rows)} {verb} it" if clauses else f"{len(rows)} of {len(changed)} changes {verb} NDCG@10"
            clauses.append(f"{count}, most of all “{largest.setting}” ({sign}{format_metric(abs(largest['change']))})")
    return f"{', and '.join(clauses)}. Only differences whose 95% interval excludes 0 are counted."


def _phrase(setting: str | float) -> str:
    """Return a setting as part of a sentence: `at 64` or `with “no dropout”`."""
    return f"with “{setting}”" if isinstance(setting, str) else f"at {setting:g}"


PLANS = {  # name on the command line → plan
    "ablation-bert4rec": Plan(
        title="BERT4Rec with one part changed",
        question="How much does each part of BERT4Rec contribute? Each row changes one thing in a network with two "
        "layers and two heads.",
        papers="In the paper's ablation of BERT4Rec on MovieLens 1M, quality falls most without position embeddings. "
        "It falls less without layer normalisation, residual connections, dropout or the feed-forward network. More "
        "layers help.",
        setting_title="What is changed",
        points=make_points(
            {"BERT4Rec": "bert4rec"},
            {BASELINE: {}} | LEFT_OUT | BLOCKS | {"4 layers": {"layers": 4}} | HEADS | {"8 heads": {"heads": 8}},
        ),
        chart=CHANGE_CHART,
    ),
    "ablation-sasrec": Plan(
        title="SASRec with one part changed",
        question="How much does each part of SASRec contribute? Each row changes one thing in a network with two "
        "layers and two heads.",
        papers="In the paper's ablation of SASRec on MovieLens 1M, quality falls most with separate output "
        "embeddings or without layers. It falls less without residual connections, and little without "
        "position embeddings or dropout. A single head costs nothing.",
        setting_title="What is changed",
        points=make_points({"SASRec": "sasrec-softmax"}, {BASELINE: {}} | LEFT_OUT | BLOCKS | HEADS),
        chart=CHANGE_CHART,
    ),
    "steps": Plan(
        title="What each step contributes",
        question="What makes our three networks better than plain SASRec, BERT4Rec and GRU4Rec? Each row leaves out "
        "what the row above leaves out, and more. Validation figures are for the networks without memory.",
        papers="Klenitskiy and Vasilev (arXiv:2309.07602) do not sample a person's own items as negatives. A memory "
        "of the training data improves language models (arXiv:1911.00172). We know of no paper that changes "
        "the order of films rated in the same second.",
        setting_title="What is changed",
        points=(
            *make_points({"SASRec": "sasrec-memory"}, STEPS),
            *make_points({"BERT4Rec": "bert4rec-memory", "GRU4Rec": "gru4rec-memory"}, TWO_STEPS),
        ),
        chart=CHANGE_CHART,
        all_seeds=True,
    ),
    "width": Plan(
        title="Width",
        question=(
            "How much does a wider embedding help? The recurrent layer of GRU4Rec is twice as wide as its embeddings."
        ),
        papers="SASRec (figure 2), Caser and BERT4Rec (figure 3) report that metrics rise with the width and then "
        "level off. Sparse data sets do not gain from wide embeddings.",
        setting_title="Dimensions of an embedding",
        points=(
            *sweep("SASRec", "sasrec-softmax", "dim", WIDTHS),
            *(Point("GRU4Rec", dim, "gru4rec-ce", {"dim": dim, "hidden": 2 * dim}) for dim in WIDTHS),
            *sweep("Caser", "caser", "dim", WIDTHS),
            *sweep("BERT4Rec", "bert4rec", "dim", WIDTHS),
        ),
        chart=LINE_CHART | {"log": ["x"]},
    ),
    "mask-share": Plan(
        title="Share of masked films",
        question="How many films of a history should be masked when BERT4Rec is trained?",
        papers="BERT4Rec (section 4.5) finds that too few and too many are both worse. It uses 0.2 for MovieLens, "
        "where histories are long, and 0.4 to 0.6 for data sets with short histories.",
        setting_title="Probability that a film is masked",
        points=sweep("BERT4Rec", "bert4rec", "mask_prob", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
        chart=LINE_CHART,
        all_seeds=True,
    ),
    "length": Plan(
        title="Length of the history",
        question="How many of the latest films does a network need?",
        papers="BERT4Rec (table 4) and SASRec report that long histories help on MovieLens, and that twenty items "
        "are enough for data sets with short histories.",
        setting_title="Maximum number of films read",
        points=(
            *sweep("SASRec", "sasrec-softmax", "length", LENGTHS),
            *sweep("BERT4Rec", "bert4rec", "length", LENGTHS),
        ),
        chart=LINE_CHART | {"log": ["x"]},
        all_seeds=True,
    ),
    "popularity": Plan(
        title="What sampling by popularity rewards",
        question="Suppose a film must be found among 100 popular ones. Is it then better to predict what a person "
        "wants, or what this person wants more than others do? Each probability is divided by a power of "
        "the popularity. Nothing is trained.",
        papers="Krichene and Rendle (KDD 2020) show that sampled films can change which recommender is best. If "
        "films are sampled by popularity, the best order is by probability divided by popularity. The papers "
        "that use this protocol do not say so.",
        setting_title="Power of popularity that probabilities are divided by",
        # The recommender "lift" divides the probabilities of sasrec-memory by popularity ** power.
        points=sweep("SASRec with memory", "lift", "power", POWERS),
        chart=LINE_CHART | {"low": "low", "high": "high"},
        all_seeds=True,
    ),
    "losses": Plan(
        title="Architecture or loss?",
        question="What matters more: whether a network reads from left to right or in both directions, or its loss "
        "function?",
        papers="Klenitskiy and Vasilev (arXiv:2309.07602) and Petrov and Macdonald (gSASRec, arXiv:2308.07192) find "
        "that SASRec is worse than BERT4Rec because of its loss. With the same loss or with many negatives, "
        "SASRec is better.",
        setting_title="Loss",
        points=(
            Point("SASRec", "binary cross-entropy, one negative", "sasrec-bce"),
            Point("SASRec", "gBCE, 256 negatives", "gsasrec"),
            Point("SASRec", "softmax over all films", "sasrec-softmax"),
            *make_points({"BERT4Rec": "bert4rec"}, LOSSES),
        ),
        chart=VALUE_CHART,
        all_seeds=True,
    ),
    "masking": Plan(
        title="What replaces a masked film",
        question="BERT replaces most of the chosen words with [mask], replaces some with other words, and leaves some "
        "unchanged. Does that help here? And how often should only the last film be masked, as when "
        "recommending?",
        papers="BERT4Rec (section 3.6) only uses [mask] and adds samples in which only the last film is masked. "
        "Their number is not given.",
        setting_title="Rule",
        points=make_points({"BERT4Rec": "bert4rec"}, MASKING),
        chart=CHANGE_CHART,
    ),
    "augmentation": Plan(
        title="Older films as targets",
        question="A network reads the latest films of a history. Does it help if half of the samples are older parts "
        "of a history (windows), or histories that end earlier (prefixes)?",
        papers="The code of BERT4Rec's authors slides windows over long histories. Tan et al. (arXiv:1606.08117) "
        "gain from training GRU4Rec on all prefixes.",
        setting_title="Samples",
        points=make_points({"SASRec": "sasrec-softmax", "BERT4Rec": "bert4rec"}, CROPS),
        chart=CHANGE_CHART,
    ),
}
