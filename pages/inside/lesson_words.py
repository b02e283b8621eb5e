"""What the lesson says: each word of the field is explained where it first appears."""

from pages.ui.i18n import speak

# Going through it
NEXT = "Next"
NETWORK = "Network"
ABOUT = "What"

# 1. The whole network
WHOLE = "The whole network"
WHOLE_TEXT = (
    "BERT4Rec reads the films that you watched, in their order, and gives every film of the set a **probability** of "
    "coming next: a share of 100%. This is the whole network, with your newest films at the bottom. Read it upwards; "
    "each of the next steps takes one part of it."
)
DEPARTURES = {
    "relative_bias": (
        "Order",
        "An embedding for each position is added to that of the film.",
        "Nothing is added. Attention gets a bias that depends on how far apart two films are.",
    ),
    "pre_norm": (
        "Normalisation",
        "After each part of a layer.",
        "Before each part of a layer, and once more at the end.",
    ),
    "projection": (
        "Before the output",
        "One more linear map with a GELU.",
        "None: the vector is compared with the films as it is.",
    ),
    "pmi_init": (
        "First embeddings",
        "Drawn at random.",
        "From pointwise mutual information: films that people watched close together start out alike.",
    ),
    "last_only": (
        "What is hidden in training",
        "Random films, and in additional samples the last one alone; how many, the paper does not say.",
        "Random films, and in {share:.0%} of the samples the last one alone.",
    ),
    "average": (
        "Weights in use",
        "Those after the last step of training.",
        "A moving average over the steps of training.",
    ),
    "only_unseen": (
        "What a hidden film is compared with",
        "All films, those of the history too.",
        "Films that are not in the history, since watched films are never recommended.",
    ),
    "redraw": (
        "Films rated in the same second",
        "Keep one order throughout training.",
        "Change their order in each epoch, since nobody knows which came first.",
    ),
    "memory": (
        "Beside the network",
        "Nothing.",
        "Counts of which films follow one another and go together are added to the scores. This lesson is about the "
        "network alone, so the lists of the other pages differ a little.",
    ),
}

# 2. Hide a film
HIDE = "Hide a film"
HIDE_TEXT = (
    "A cloze test is a text with gaps. BERT4Rec learns from histories with gaps: some films are covered by `[mask]`, "
    "and it has to say which films they are, from those **before and after** them. That is why it is called "
    "bidirectional."
)

# 3. Embedding
EMBED = "Embedding"
NUMBER = "Number"

# 4. Order
ORDER = "Order"

# 5. Self-attention
ATTEND = "Self-attention"

# 6. Heads
HEADS = "Heads"

# 7. Layers
LAYERS = "Layers"
LAYERS_FORMULA = (r"x \leftarrow x + \mathrm{MH}(\mathrm{LN}(x))", r"x \leftarrow x + \mathrm{PFFN}(\mathrm{LN}(x))")
LAYERS_FORMULA_POST = (
    r"x \leftarrow \mathrm{LN}(x + \mathrm{MH}(x))",
    r"x \leftarrow \mathrm{LN}(x + \mathrm{PFFN}(x))",
)

# 8. Softmax
CHOOSE = "Softmax"

# 9. Learning
LEARN = "Learning"
LEARN_COLUMNS = {"title": "title", "rank": "rank", "probability": "probability", "loss": "loss"}


speak(__name__)
