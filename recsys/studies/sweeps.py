"""Studies in which one setting takes several values. Loads no torch."""

from recsys.studies.plans import (
    DIFFERENCES,
    FIGURES,
    LINES,
    Changes,
    Plan,
    Point,
    best_and_worst,
    gains_and_losses,
    points,
    sweep,
)

POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
WIDTHS = (16, 32, 64, 128, 256)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LENGTHS = (10, 20, 50, 100, 200)
LOSSES: Changes = {
    "binary cross-entropy, one negative": {"loss": "gbce", "negatives": 1, "gbce_t": 0.0},  # gBCE with t = 0
    "gBCE, 256 negatives": {"loss": "gbce", "negatives": 256, "gbce_t": 0.75},
    "softmax over all items": {"loss": "softmax"},
}
MASKING: Changes = {
    "[mask], last item alone in a tenth": {},
    "[mask], never the last item alone": {"last_item_mask_prob": 0.0},
    "[mask], last item alone in three tenths": {"last_item_mask_prob": 0.3},
    "[mask], last item alone in half": {"last_item_mask_prob": 0.5},
    "the last item alone, always": {"last_item_mask_prob": 1.0},
    "80 % [mask], 10 % another, 10 % itself": {"masking": "80-10-10"},
}
CUTS: Changes = {
    "newest items only": {},
    "windows over older items": {"crop": "windows"},
    "prefixes of the history": {"crop": "prefixes"},
}

SWEEPS = {
    "width": Plan(
        "Width",
        "How much does a wider embedding bring? GRU4Rec's recurrent layer is twice as wide as its embeddings.",
        "SASRec (figure 2), Caser and BERT4Rec (figure 3) report that figures rise with the width and then level off, "
        "and that sparse data sets do not gain from wide embeddings.",
        "Dimensions of an embedding",
        (
            *sweep("SASRec", "sasrec-softmax", "dim", WIDTHS),
            *(Point("GRU4Rec", dim, "gru4rec-ce", {"dim": dim, "hidden": 2 * dim}) for dim in WIDTHS),
            *sweep("Caser", "caser", "dim", WIDTHS),
            *sweep("BERT4Rec", "bert4rec", "dim", WIDTHS),
        ),
        best_and_worst,
        LINES | {"log": ["x"]},
    ),
    "mask-share": Plan(
        "Share of hidden films",
        "How many films of a history should be hidden while BERT4Rec learns?",
        "BERT4Rec (section 4.5) finds that too few and too many are both worse, and takes .2 for MovieLens, where "
        "histories are long, and .4 to .6 for sets with short ones.",
        "Probability that a film is hidden",
        sweep("BERT4Rec", "bert4rec", "mask_prob", SHARES),
        best_and_worst,
        LINES,
        each_often=True,
    ),
    "length": Plan(
        "Length of the history",
        "How many of the newest films need to be read?",
        "BERT4Rec (table 4) and SASRec report that long histories pay on MovieLens, and that twenty items are enough "
        "for sets with short ones.",
        "Films that are read, at most",
        (
            *sweep("SASRec", "sasrec-softmax", "length", LENGTHS),
            *sweep("BERT4Rec", "bert4rec", "length", LENGTHS),
        ),
        best_and_worst,
        LINES | {"log": ["x"]},
        each_often=True,
    ),
    "popularity": Plan(
        "What drawing by popularity rewards",
        "Does a protocol that hides a film among 100 popular ones ask for the films that a person wants, or for those "
        "that this person wants more than others do? Each probability is divided by a power of popularity; nothing is "
        "trained.",
        "Krichene and Rendle (KDD 2020) show that drawn films can change which recommender is best. Where they are "
        "drawn by popularity, no order beats that by probability divided by popularity; the papers that use this "
        "protocol do not say so.",
        "Power of popularity that probabilities are divided by",
        sweep("SASRec with memory", "lift", "power", POWERS),
        best_and_worst,
        LINES | {"low": "low", "high": "high"},
        each_often=True,
    ),
    "losses": Plan(
        "Architecture or loss?",
        "What matters more: whether a network reads from left to right or from both sides, or what it is trained for?",
        "Klenitskiy and Vasilev (arXiv:2309.07602) and Petrov and Macdonald (gSASRec, arXiv:2308.07192) find that "
        "SASRec falls behind BERT4Rec because of its loss, and passes it when trained with the same or with many "
        "negatives.",
        "Loss",
        (
            Point("SASRec", "binary cross-entropy, one negative", "sasrec-bce"),
            Point("SASRec", "gBCE, 256 negatives", "gsasrec"),
            Point("SASRec", "softmax over all items", "sasrec-softmax"),
            *points({"BERT4Rec": "bert4rec"}, LOSSES),
        ),
        best_and_worst,
        FIGURES,
        each_often=True,
    ),
    "masking": Plan(
        "What takes the place of a hidden film",
        "BERT hides some words with [mask], replaces some by others and leaves some as they are. Does that help here, "
        "and how often should the last film alone be hidden, as it is when a recommendation is made?",
        "BERT4Rec (section 3.6) hides with [mask] alone and adds samples whose last item alone is hidden, without "
        "saying how many.",
        "Rule",
        points({"BERT4Rec": "bert4rec"}, MASKING),
        gains_and_losses,
        DIFFERENCES,
    ),
    "augmentation": Plan(
        "Older films as targets",
        "A network reads the newest films of a history. Does it help to show it older stretches as well (windows), or "
        "histories that end earlier (prefixes), in half of the samples?",
        "The authors' code of BERT4Rec slides windows over long histories; Tan et al. (arXiv:1606.08117) gain from "
        "training GRU4Rec on all prefixes.",
        "Samples",
        points({"SASRec": "sasrec-softmax", "BERT4Rec": "bert4rec"}, CUTS),
        gains_and_losses,
        DIFFERENCES,
    ),
}
