"""Studies that leave parts of a network out, or give it more of them. Loads no torch."""

from recsys.studies.plans import DIFFERENCES, Changes, Plan, Point, gains_and_losses, points

USUAL = "as it is"
LEFT_OUT: Changes = {
    "position embeddings instead of a relative bias": {"without": "relative bias"},
    "no order at all": {"without": "order"},
    "no feed-forward network": {"without": "feed-forward"},
    "no layer normalisation": {"without": "norms"},
    "no residual connections": {"without": "residual"},
    "no dropout": {"dropout": 0.0},
    "an output with embeddings of its own": {"without": "tied output"},
    "random start instead of PMI": {"pmi_init": False},
}
PLAIN = {"memory": False, "redraw": False, "only_unseen": False}
STEPS: Changes = {
    USUAL: {},
    "no memory": {"memory": False},
    "and a fixed order of films of one second": {"memory": False, "redraw": False},
    "and a softmax over all films": PLAIN,
}
TWO_STEPS: Changes = {USUAL: {}, "no memory": STEPS["no memory"], "and none of the rest": PLAIN}


def depths_and_heads(depths: tuple[int, ...], heads: tuple[int, ...]) -> Changes:
    """Numbers of blocks and of attention heads."""
    named = {0: "no blocks", 1: "1 block"}
    blocks: Changes = {named.get(depth, f"{depth} blocks"): {"layers": depth} for depth in depths}
    return blocks | {f"{n} head{'s' if n > 1 else ''}": {"heads": n} for n in heads}


def ablation(title: str, variant: str, more: Changes) -> tuple[Point, ...]:
    """A recommender as it is, without each of its parts, and with `more` settings."""
    return points({title: variant}, {USUAL: {}, **LEFT_OUT, **more})


ABLATIONS = {
    "ablation-bert4rec": Plan(
        "BERT4Rec without its parts",
        "What does each part of BERT4Rec bring? Each row changes one thing of a network with two blocks and two heads.",
        "BERT4Rec's ablation on MovieLens 1M loses most without position embeddings, less without layer "
        "normalisation, residual connections, dropout or the feed-forward network, and gains with depth.",
        "What is changed",
        ablation("BERT4Rec", "bert4rec", depths_and_heads((0, 1, 3, 4), (1, 4, 8))),
        gains_and_losses,
        DIFFERENCES,
    ),
    "ablation-sasrec": Plan(
        "SASRec without its parts",
        "What does each part of SASRec bring? Each row changes one thing of a network with two blocks and two heads.",
        "SASRec's ablation on MovieLens 1M loses most with an output of its own and without blocks, less without "
        "residual connections, little without position embeddings or dropout, and nothing with a single head.",
        "What is changed",
        ablation("SASRec", "sasrec-softmax", depths_and_heads((0, 1, 3), (1, 4))),
        gains_and_losses,
        DIFFERENCES,
    ),
    "steps": Plan(
        "What each step brought",
        "What makes three networks better than plain SASRec, BERT4Rec and GRU4Rec? Each row leaves out one thing more "
        "than the row above, or both at once. Figures on validation are those of the network without its memory.",
        "Klenitskiy and Vasilev (arXiv:2309.07602) draw no negatives from a person's own items; language models gain "
        "from counts (arXiv:1911.00172). We know of no paper that changes the order of films of one second.",
        "What is left out",
        (
            *points({"SASRec": "sasrec-memory"}, STEPS),
            *points({"BERT4Rec": "bert4rec-memory", "GRU4Rec": "gru4rec-memory"}, TWO_STEPS),
        ),
        gains_and_losses,
        DIFFERENCES,
        each_often=True,
    ),
}
