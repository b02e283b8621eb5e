"""The list metrics and the calibration error with their titles and meanings. This module does not load torch.

`list_metrics.beyond_accuracy` computes the list metrics. The title of any other metric is its name in capitals.
"""

from dataclasses import dataclass

from recsys.errors import N_


@dataclass(frozen=True)
class MetricTexts:
    """The texts of a metric."""

    column: str  # heading in the tables of `report`
    title: str  # in the app
    meaning: str  # a sentence for the app


LIST_METRICS = {
    "coverage@10": MetricTexts(
        "coverage",
        N_("Catalogue coverage"),
        N_("Coverage: the share of all films that are in at least one top ten."),
    ),
    "novelty@10": MetricTexts(
        "novelty, bits",
        N_("Novelty (bits)"),
        N_("Novelty: how rarely the films of a top ten are watched, in bits. One more bit means half as often."),
    ),
    "diversity@10": MetricTexts(
        "diversity",
        N_("Genre diversity of a list"),
        N_("Diversity: how few genres the films of a top ten share, from 0 to 1."),
    ),
    "popularity@10": MetricTexts(
        "mean popularity",
        N_("Mean popularity of recommended films"),
        N_("Mean popularity: how often the films of a top ten were watched in the training data."),
    ),
    "gini@10": MetricTexts(
        "Gini",
        N_("Concentration (Gini)"),
        N_("Concentration: 0 if all films are recommended equally often, 1 if only one film is recommended."),
    ),
}
CALIBRATION_ERROR = "calibration error"
METRIC_TEXTS = LIST_METRICS | {
    CALIBRATION_ERROR: MetricTexts(
        "calibration error",
        N_("Calibration error"),
        N_("Calibration error: difference between predicted and observed probability, lower is better."),
    )
}
