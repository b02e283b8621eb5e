"""What Evaluation says."""

from typing import Any

from pages.ui.i18n import say, speak
from recsys.evaluation import protocols
from recsys.evaluation.significance import FEW_USERS

# Evaluation
PROTOCOL = "Protocol"
PEOPLE_ASKED = "{n:,} people take part in this test."
FEW_PEOPLE = "With fewer than {few} people, differences between recommenders are noise unless they are very large."
RULES = "All rules of this protocol"
FILMS_DROPPED = "Films with fewer than {n} ratings were dropped first."
ONLY_TRAIN = "People left with fewer than three films take no part in the test; their films only train."
DRAWN_ORDER = (
    "Films that somebody rated within the same second have no known order, so one was drawn at random, the same for "
    "every recommender."
)
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
NO_RESULTS = "No recommender has been measured yet. Measure one first."
SECTION = "What to show"
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
LEADERBOARD = "Leaderboard"
LEADERBOARD_ALT = "{metric} of every recommender, the best first, measured here and published"
LEADERBOARD_HELP = (
    "The bar is the 95% interval over people: where the figure would fall for other people like these. Figures are "
    "means over the trained seeds. Click a title to see where its figures come from."
)
LETTERS = "The letters of published figures"
ANOTHER_METHOD, ANOTHER_METHOD_NOTE = (
    "{rules}; another method",
    "another method than ours; a click on the title tells which",
)
KNOWS_THE_TIME = "Not comparable: published for models that are told when the hidden film was watched"
NO_DIFFERENCE = (
    "≈ marks those with no significant difference from the best: paired randomisation test on the same people, p of "
    "{sure} or more after Holm's correction for all pairs of this leaderboard."
)
TESTING = "Testing which differences are significant"
FAMILIES, ALL_FAMILIES = "Families", "All families"
PEOPLE_FACT, SEEDS_FACT, CODE_FACT, DATE_FACT = "People", "Seeds", "Code, by commit", "Measured on"
MACHINE_FACT, VERSIONS_FACT, DATA_FACT, PAPER_FACT = "Machine", "Versions", "Data", "Paper"
RULES_FACT, SOURCE_FACT = "Rules", "Source"
TRAINED_FACT, TRAINED = "Trained for", "{times} on {hardware}"
DETAILS_FACT, DETAILS = "Reads also", "who made the films, as Wikidata knows it, fingerprint {print}"
ALSO_FACT, ALSO = "Learnt also from", "the people of {data}, but for those who are in both sets"
LEARNT_ALSO = "{models} learnt from the people of {data} too, but for those who are in both sets; the others did not."
SEEDS_OF, FINGERPRINT, THREADS = "{n} ({seeds})", "{data}, fingerprint {print}", "threads: {n}"
ALL_THREADS = "all"
ABOUT, CLOSE = "Where the figures of {title} come from", "Close"
AGAIN = "To make them again, in a terminal:"
CHOOSE_A_ROW = "Tick a row to see its command, commit, seeds and people."
MISSING = "Not measured here: {n} recommenders"
MISSING_TRAINED = "To be trained first: {models}."
MISSING_UNTRAINED = "To be measured, without any training: {models}."
MISSING_COMMANDS = "For {model}, in a terminal:"
MISSING_OTHERS = "For the others put in {names}."
VIEW_BOARD, VIEW_FIGURES = "Intervals", "All figures"
RANK, INTERVAL, AGAINST_BEST = "Rank", "95% interval", "Against the best"
THE_BEST, LIKE_THE_BEST, BEHIND = "the best", "not significant, p = {p:.4f}", "{by:.4f} behind"
LIKE_IN_WORDS = "no significant difference from the best"
FROM_TO = "95% interval from {low:.4f} to {high:.4f}"
NO_INTERVAL = "no interval"
NONE_OF_FAMILY = "No recommender of these families has been measured here. Choose others, or none to see all."
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
PUBLISHED = "Published"
PUBLISHED_TITLE = "Published figures"
PUBLISHED_HELP = "From papers and public repositories, not measured by us. The table says how the rules of each differ."
NOT_EVALUATED = "No recommender has been measured on {data} yet."
EVALUATE, EVALUATE_MORE = "Evaluate", "Evaluate {n} more"
EVALUATE_HELP = (
    "The last film of each person is hidden, and each recommender that is ready within seconds has to find it. The "
    "evaluation goes on when you leave the page."
)
EVALUATING, CANCEL_EVALUATING = "Evaluating {model}", "Cancel *evaluating*"
BESIDE_POPULAR = (
    "Share of people whose hidden film is among the first ten. “Most popular” gives everybody the same list: a "
    "recommender helps where its share is clearly higher."
)
NOTHING_OF_OURS = "Nothing that can be read has been measured under this protocol yet."

# Evaluation: protocols
PROTOCOLS = "Under which protocols"
PROTOCOLS_HELP = (
    "A recommender's rank under each protocol, among those measured under all that are chosen. Where lines cross, two "
    "recommenders change ranks."
)
SAMPLED_MISLEADS = (
    "Where only 100 other films compete, a rank of 1,000 among all films can still be a top ten, so the figures are "
    "far higher and say little about the first ranks, which people see. Krichene and Rendle (KDD 2020) prove that such "
    "sampled metrics can order recommenders differently from the metrics over all films, even on average, which is why "
    "the leaderboard ranks every film."
)
PROTOCOL_PEOPLE = "“{protocol}”: {n:,} people."
OPPOSITE_ORDER = "It flips the ranking of {share} of recommender pairs, compared with “{first}”."
NO_ORDER = "The ranking is not compared: with fewer than {few} people it is noise."
CHOOSE_TWO_PROTOCOLS = "Choose at least two protocols."
ONE_PROTOCOL = "Results on {data} exist under one protocol only, so there is nothing to set beside it."
NONE_IN_COMMON = "No recommender has been measured under all of these protocols. Choose fewer."
RANKS_ALT = "Ranks of {n} recommenders by {metric} under {protocols}"
RANK_HOVER = "%{customdata[0]}: rank %{y}, %{customdata[1]:.4f}"

# Evaluation: trade-offs
ACROSS, UPWARDS = "Horizontal axis", "Vertical axis"
MEASURES = {
    "coverage@10": "Coverage of the catalogue",
    "novelty@10": "Novelty, bits",
    "diversity@10": "Diversity of genres in a list",
    "popularity@10": "Mean popularity of what is shown",
    "gini@10": "Concentration (Gini)",
    "calibration error": "Calibration error",
}
MEASURES_HELP = (
    "Being right is one thing, showing more than the same few films another. Names are shown where there is room; "
    "hover over a mark for the rest."
)
MEASURES_ALT = "{y} against {x} for {n} recommenders, a colour and a shape for each family"
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
STARS_HELP = (
    "Some recommenders also predict what somebody gives a film. This is how far off they are for the hidden film, in "
    "stars, with the 95% interval over people: MAE is the mean error, and RMSE weighs large errors more. Two plain "
    "means stand beside them. What somebody likes and what they watch next are two questions, and the settings of all "
    "recommenders were tuned for the second."
)
STARS_BASELINES = {"mean": "Mean of all ratings", "film and person": "Film's mean + person's offset"}
STARS_BY = "Predicted by"

# Evaluation: learning
RECOMMENDERS, CHOOSE_SOME = "Recommenders", "Choose at least one recommender."
BY, BY_EPOCH, BY_TIME = "Against", "Epochs", "Seconds"
CURVE_HELP = (
    "The loss in training, and NDCG@10 on the last film but one, which decides when to stop. Losses of different "
    "recommenders are different quantities: compare their shapes, not their heights."
)
LOSS, VALIDATION, EPOCH, SECONDS = "Training loss", "Validation NDCG@10", "Epoch", "Seconds of training"
CURVES_ALT = "{title} of {names}"
NO_CURVE = "No recommender has kept a training log on {data} yet. Train one first."
CURVES_ELSEWHERE = "For this protocol no training log was kept. On {data} there are some under {protocols}."
COST = "What quality costs"
COST_HELP = (
    "How long one seed trained, by the training's own clock: without loading and without measuring, all on {hardware}. "
    "The axis is logarithmic. The machine may have had other work to do meanwhile, so take this as a rough guide."
)
HARDWARE = {"cpu": "a CPU", "cuda": "a GPU"}
NO_COST = "No training time is known for what was measured here."
NOT_TIMED = "Left out, as they are fitted by a method of their own, whose time is not on record: {models}."
MIXED = "Left out, as they combine other recommenders, which are trained by themselves: {models}."
UNKNOWN_TIME = "Left out, as how long their training took is not on record: {models}."
OTHER_HARDWARE = "Left out, as they were trained on other hardware: {models}."
COST_ALT = "{metric} of {n} recommenders against the time of training on a logarithmic axis"
COST_TIME = "Time of training, one seed"
TIME_UNITS = {"s": "{n} s", "min": "{n} min", "h": "{n} h"}
TIME_HOVER = "%{x:,.0f} s"

# Evaluation: slices
SLICING = "Split people by"
SLICINGS = {
    "history length": "Films watched before",
    "popularity of the film": "Popularity of the hidden film",
    "genre": "Genre of the hidden film",
    "decade": "Decade of the hidden film",
    "gender": "Gender",
    "age": "Age in years",
}
SLICES_HELP = "The same figure for groups of people; n is how many are in a group, the bar the 95% interval over them."
GROUPS_DIFFER = (
    "As people described themselves. The groups differ in size, and in how many films their people had watched before "
    "(median: {lengths}). Both move the figures, so compare recommenders within a group, not groups with each other."
)
MEDIAN_LENGTH = "{n:,} for {group}"
SLICES_ALT = "{metric} of {names}, by: {slicing}"
SLICING_NOW = "Drawing people anew, group by group, for the intervals"
PEOPLE = "n = {n:,}"

# Evaluation: calibration
SURE = "How sure, and how often right"
SURE_HELP = (
    "Each mark is a tenth of all recommended films, by the probability given to them. On the line, 20% means right in "
    "one case of five; below it the recommender is overconfident. Both axes are logarithmic."
)
BY_RANK = "Overconfidence by rank"
BY_RANK_HELP = (
    "Predicted probability over the share that came true, at each rank of the list; 1 is calibrated. Training with few "
    "negatives makes recommenders overconfident, as Petrov and Macdonald show (gSASRec, arXiv:2308.07192)."
)
OVER_ALL = (
    "{names}: measured over all films, including those already watched, which never come next in this test; what a "
    "recommender gives to them is missing from the others. {first} gives its top ten {predicted:.0%} in all, and "
    "{observed:.0%} come true. The page Watch next shows probabilities among films not watched yet."
)
ALL_CHOSEN = "All of these"
PREDICTED, OBSERVED, TIMES = "Predicted probability", "Share that came true", "Predicted over observed"
CALIBRATED = "calibrated"
SURE_ALT = "Share of recommended films that came true against their predicted probability, for {names}"
BY_RANK_ALT = "Predicted probability over the share that came true, by rank, for {names}"
SURE_OF_LIST = "How sure of one person's list"
SURE_OF_LIST_HELP = (
    "The first hundred films of one person's list, with the probability that each recommender gives them; all axes "
    "are logarithmic. It is figure 1 of the gSASRec paper (arXiv:2308.07192) for the recommenders of this app. In the "
    "paper SASRec, trained with one negative (BCE), is all but certain of every film, and gSASRec is not."
)
OF_THE_APP = "On {data} this app has the recommenders of “{protocol}”, so lists and shares here are of that protocol."
NOT_THERE = "None of these recommenders is on this machine for {data}, so there is no list to look at."
GIVEN_TO_PERSON, STOOD_AT_RANK = "What the recommenders say", "What happened"
RINGED, RING = "A ring marks it: {film}.", "Hidden film"
IN_ALL = "{model} {sum:,.0%}"
ADD_UP = (
    "One film comes next, so more than 100% cannot be right. The first hundred films are given in all: {sums}. A "
    "softmax shares 100% out over all films; with BCE and in gSASRec each film has a probability of its own."
)
GIVEN_ALT = (
    "Probability of each of the first hundred films of user {id} by rank, both axes logarithmic; given in all: {sums}"
)
STOOD_HELP = (
    "At which rank the hidden film really stood: share of all test people for each rank, with neighbouring ranks taken "
    "together. A recommender that knows how sure it may be has the same heights in both charts, on average over people."
)
STOOD_ALT = "Share of people whose hidden film stood at a rank, by rank, both axes logarithmic, for {names}"
NO_CALIBRATION = (
    "No result here holds probabilities. They are measured where all films are ranked, for recommenders whose scores "
    "are a probability."
)

# Evaluation: two recommenders
ONE, OTHER = "One recommender", "The other"
DIFFERENCE, P_VALUE, P_CORRECTED = "Difference in {metric}", "p", "p, corrected"
DIFFERENCE_RANGE = "95% interval from {low:+.4f} to {high:+.4f}"
P_HELP = "How often a difference as large would come about if the two recommenders were equally good."
P_CORRECTED_HELP = (
    "p corrected for all pairs of the leaderboard (Holm), as there: a pair has the same verdict on both. Below {sure} "
    "the difference is significant."
)
VERDICT = "On the same {n:,} people, {one} {verdict} {other}."
BETTER, WORSE, EVEN = "is better than", "is worse than", "shows no significant difference from"
MARGINS_TITLE = "Who ranks the hidden film higher"
WINS = "Number of people for whom it is {one}: {a:,}; {other}: {b:,}; even: {even:,}."
MARGINS = {-4: "≥ 8×", -3: "4–8×", -2: "2–4×", -1: "< 2×", 0: "even", 1: "< 2×", 2: "2–4×", 3: "4–8×", 4: "≥ 8×"}
MARGINS_HELP = "A rank of 5 against 10 is 2× higher, as is 50 against 100. Of several seeds it is the (geometric) mean."
MARGINS_ALT = "For how many people {one} or {other} ranks the hidden film higher, and by how much"
N_PEOPLE = "People"
TWO_DIFFERENT = "Choose two different recommenders."
ONE_MODEL = "Only one recommender has been measured here. Two are needed."

# Evaluation: one person
PERSON, SOMEBODY = "Test person", "Somebody else"
PERSON_OF = "User {id} in the ratings file, with {n} films in the history."
HIDDEN_FILM = "The film that was hidden"
PAST = "Watched before"
PAST_LATEST = "Watched before, the latest {n}"
WHO_FOUND = "{n} of {all} recommenders have it in their top ten: {names}."
NOBODY_FOUND = "None of {all} recommenders has it in its top ten."
PERSON_RANKS = "Its rank with each recommender"
PERSON_HELP = (
    "Rank among the films that competed: the median over seeds, with a bar from the best seed to the worst. The top "
    "ten are left of the dotted line. The axis is logarithmic."
)
PERSON_ALT = "Rank of {film} with each of {n} recommenders"

# Evaluation: what the benchmark measures
SAME_SECOND = "Films rated in the same second"
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
LOWER = (
    "Of {pairs:,} pairs rated in the same second, the second film stands before the first one in {same:.0%}; of pairs "
    "with a second each, in {alone:.0%}."
)
DISTANCE = "Where the second film stands"
DISTANCE_ENDS = ("before the first", "", "after it")
SHARE_OF_PAIRS = "Share of the pairs"
SAME, ALONE = "rated in the same second", "each in a second of its own"
DISTANCES_ALT = (
    "Share of neighbouring films by how far apart they stand in the order of the file: those of one second only ever "
    "go forwards, the others as often back"
)
RULE_ALONE = "What the order alone is worth"
RULE_HELP = (
    "A rule that knows how far on in that order the next film usually stands, but nothing of any film, is added to two "
    "simple recommenders (NDCG@10; how much it weighs is chosen on validation). It helps where the file's order is "
    "kept, and hardly where films of one second stand in a drawn order."
)
RULE_COLUMNS = {
    "title": "Recommender",
    "full": "Order of the file",
    "full added": "with the rule",
    "untied": "Drawn order",
    "untied added": "with the rule ",
}
RULE_TABLE = "NDCG@10 of two recommenders with and without the rule, in the order of the file and in a drawn order"
WITHOUT_THE_ORDER = "What is left without it"
LOSES_MOST = (
    "The same recommenders, trained and tested once in the order of the file and once in a drawn one (the protocol "
    "“{protocol}”). {title} loses most: {full:.4f} falls to {untied:.4f}. Published figures are those of "
    "the file's order."
)
ORDER_OF_FILE, ORDER_DRAWN = "in the order of the file", "in a drawn order"
WITHOUT_ALT = "NDCG@10 of {n} recommenders with films of one second in the order of the file, and in a drawn order"
LEFT_OUT = "Pairs with a film rated {rating:.0f} are not counted, because not all of their times are known exactly. "
TIES_HOW = "{left_out}Measured at commit {commit} on {date}."

# Evaluation: studies
STUDY = "Study"
STUDY_ALT = "{title}: {y} by {x}"
STUDY_TABLE = "All figures of the study"

CURVES = {"loss": LOSS, "ndcg@10": VALIDATION}
AXES = {"epoch": BY_EPOCH, "seconds": BY_TIME}


def people(n: int) -> str:
    """How many people a protocol has, and what so few are worth."""
    few = f" {say(FEW_PEOPLE).format(few=FEW_USERS)}" if n < FEW_USERS else ""
    return say(PEOPLE_ASKED).format(n=n) + few


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
