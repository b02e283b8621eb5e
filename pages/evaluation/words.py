"""What Evaluation says."""

from typing import Any

from pages.ui.i18n import _, ngettext, say, speak
from recsys.evaluation import protocols
from recsys.evaluation.significance import FEW_USERS

# Evaluation
RULES = "All rules of this protocol"
RULE_NAMES = {  # in the order in which they are read
    "split": "Split",
    "cuts": "Dates",
    "dates": "They fall on",
    "users": "People",
    "filter": "Films",
    "order": "Order",
    "history": "History",
    "hidden": "Hidden",
    "ranked": "Ranked",
    "sampled": "Films drawn",
    "lists": "Lists of drawn films",
    "seed": "Seed of the draw",
    "score_ties": "Equal scores",
    "tags": "Tags",
    "settings": "Settings",
}
SECTIONS = {
    "leaderboard": "Leaderboard",
    "protocols": "Protocols",
    "measures": "Trade-offs",
    "curves": "Learning",
    "slices": "By user group",
    "calibration": "Confidence",
    "pair": "Head-to-head",
    "person": "One person",
    "ties": "What it measures",
    "studies": "Studies",
}
METRIC = "Metric"
METRIC_MEANING = {
    "hr": "HR@k is the share of people whose hidden film is among the first k.",
    "ndcg": "HR@k is the share of people whose hidden film is among the first k. NDCG@k is the same with lower ranks "
    "counting less: 1 for the first, 0.5 for the third, 0.29 for the tenth.",
    "mrr": "MRR is one over the rank of the hidden film, averaged over people.",
}

# Evaluation: the leaderboard
THREADS = "threads: {n}"
ABOUT = "Where the figures of {title} come from"
RANK = "Rank"
COLUMNS = {
    "title": "Recommender",
    "family": "Family",
    "seeds": "Seeds",
    "users": "People",
    "date": "Measured",
    "code": "Letter",
    "rules": "Rules",
    "source": "Source",
}

# Evaluation: protocols
PROTOCOLS = "Under which protocols"

# Evaluation: trade-offs
MEASURES = {
    "coverage@10": "Coverage of the catalogue",
    "novelty@10": "Novelty, bits",
    "diversity@10": "Diversity of genres in a list",
    "popularity@10": "Mean popularity of what is shown",
    "gini@10": "Concentration (Gini)",
    "calibration error": "Calibration error",
}
MEASURE_MEANING = {
    "coverage@10": "Coverage: the share of all films that are in anybody's top ten.",
    "novelty@10": "Novelty: how rarely the films of a top ten were watched, in bits; one more is half as often.",
    "diversity@10": "Diversity: how little the films of a top ten share genres, from 0 to 1.",
    "popularity@10": "Mean popularity: how often the films of a top ten were watched in training.",
    "gini@10": "Concentration: 0 if all films are shown equally often, 1 if a single film takes all recommendations.",
    "calibration error": "Calibration error: how far probabilities lie from how often they come true; lower is better.",
}

# Evaluation: stars
STARS = "How many stars somebody would give"
STARS_BASELINES = {"mean": "Mean of all ratings", "film and person": "Film's mean + person's offset"}

# Evaluation: learning
RECOMMENDERS = "Recommenders"
BY_EPOCH = "Epochs"
BY_TIME = "Seconds"
LOSS = "Training loss"
VALIDATION = "Validation NDCG@10"
HARDWARE = {"cpu": "a CPU", "cuda": "a GPU"}
TIME_UNITS = {"s": "{n} s", "min": "{n} min", "h": "{n} h"}

# Evaluation: slices
SLICINGS = {
    "history length": "Films watched before",
    "popularity of the film": "Popularity of the hidden film",
    "genre": "Genre of the hidden film",
    "decade": "Decade of the hidden film",
    "gender": "Gender",
    "age": "Age in years",
}
PEOPLE = "n = {n:,}"

# Evaluation: calibration
TIMES = "Predicted over observed"

# Evaluation: two recommenders
OTHER = "The other"
MARGINS = {-4: "≥ 8×", -3: "4–8×", -2: "2–4×", -1: "< 2×", 0: "even", 1: "< 2×", 2: "2–4×", 3: "4–8×", 4: "≥ 8×"}

# Evaluation: what the benchmark measures
TIES = (
    "People of MovieLens rate a page of films at once: in {data}, {share} of all films were rated in the same second "
    "as the film before, and so were {targets} of the hidden films. In which order somebody watched them, nobody "
    "knows. An experiment that sorts by time leaves them in the order of the ratings file."
)
FILE_ORDERS = {
    "hash": "In {data} that is the order of a hash table: each film's number is turned into another number, which has "
    "nothing to do with the film or with taste, and the film with the lower one comes first.",
    "ascending": "In {data} that is the order of the films' numbers.",
    None: "In {data} that order is neither the one of the films' numbers nor the one of a hash table.",
}
DISTANCE_ENDS = ("before the first", "", "after it")
RULE_COLUMNS = {
    "title": "Recommender",
    "full": "Order of the file",
    "full added": "with the rule",
    "untied": "Drawn order",
    "untied added": "with the rule ",
}

# Evaluation: studies

CURVES = {"loss": LOSS, "ndcg@10": VALIDATION}
AXES = {"epoch": BY_EPOCH, "seconds": BY_TIME}


def people(n: int) -> str:
    """How many people a protocol has, and what so few are worth."""
    few = (
        " "
        + _(
            "With fewer than {few} people, differences between recommenders are noise unless they are very large.",
            few=FEW_USERS,
        )
        if n < FEW_USERS
        else ""
    )
    return ngettext("{n:,} person takes part in this test.", "{n:,} people take part in this test.", n) + few


def protocol(name: str) -> str:
    """What a protocol is called."""
    return str(say(protocols.title(name)))


def meaning(name: str) -> str:
    """A protocol in a few sentences."""
    return str(say(protocols.get_or_former(name).meaning))


def rule(value: Any) -> str:
    """One rule of a protocol: a sentence, a number, or dates as "validation: 1998-03-05, test: 1998-03-31"."""
    if isinstance(value, dict):
        return ", ".join(f"{say(name)}: {date}" for name, date in value.items())
    return str(say(str(value)))


def rules(text: str) -> str:
    """The rules of a published figure, with how its method differs from ours."""
    first, another, rest = text.partition("; another ")
    return f"{say(first)}; {say(f'another {rest}')}" if another else str(say(first))


def cell(value: Any) -> Any:
    """A cell of a study: text that belongs to the app in the visitor's language, "A – B" part by part."""
    return " – ".join(str(say(part)) for part in value.split(" – ")) if isinstance(value, str) else value


def metric_name(metric: str) -> str:
    """ "ndcg@10" for reading: "NDCG@10"."""
    return say(MEASURES).get(metric, metric.upper())


speak(__name__)
