"""What the lesson says: each word of the field is explained where it first appears."""

from pages.ui.i18n import speak

# Going through it
STEP, BACK, NEXT, AGAIN = "Step", "Back", "Next", "Start again"
NETWORK = "Network"
NETWORK_HELP = "Ours, ours with better training and a memory of counts, or one built as in the paper."
STEP_N = "{n} of {all}: {title}"
STEP_HEADING = "{n}. {title}"
PAPER = "https://arxiv.org/abs/1904.06690"
ABOUT, IN_THE_PAPER, HERE = "What", "In the paper", "Here"
WHERE_WE_ARE = "The drawing of the network, in which this part stands out: {part}"
FEW_FILMS = "With three films or more, a covered film would have films before and after it. You have {n}."

# 1. The whole network
WHOLE = "The whole network"
WHOLE_TEXT = (
    "BERT4Rec reads the films that you watched, in their order, and gives every film of the set a **probability** of "
    "coming next: a share of 100%. This is the whole network, with your newest films at the bottom. Read it upwards; "
    "each of the next steps takes one part of it."
)
WHOLE_DRAWN = (
    "Drawn after figure 1b of the [paper]({paper}) (Sun and others, 2019). The lines are real: the thicker a line, the "
    "more attention the position above pays to the one below, on average over the heads of that layer."
)
WHOLE_COLOURS = "Dashed and orange: what the paper has and this network does not. Teal words: what it has instead."
WHOLE_ALT = (
    "A drawing of the network, from the bottom to the top: {films}. Each has an embedding. Layers: {layers}. In each, "
    "every position attends to every other and is then worked on by itself. The vector of [mask] is compared "
    "with {n:,} films, and a softmax makes probabilities of it. The first is {answer}."
)
DEPARTS = "Where this network departs from the paper"
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
DRAWN_EMBEDDING, DRAWN_POSITION, DRAWN_FORWARD = "embedding", "+ position", "feed-forward"
DRAWN_LAYER, DRAWN_BIAS = "Layer {n}: self-attention, heads: {heads}", "+ bias for distance"
DRAWN_PROJECTION, DRAWN_SOFTMAX = "linear map, GELU", "compare · softmax over {n:,} films"
MORE_LAYERS = "… and {n} more"

# 2. Hide a film
HIDE = "Hide a film"
HIDE_TEXT = (
    "A cloze test is a text with gaps. BERT4Rec learns from histories with gaps: some films are covered by `[mask]`, "
    "and it has to say which films they are, from those **before and after** them. That is why it is called "
    "bidirectional."
)
HIDE_NEXT = (
    "To predict what you watch next, one `[mask]` is put behind your films. Nothing comes after it, so the films "
    "before it have to do."
)
TO_LEARN, TO_PREDICT = "In training: a history like yours, with gaps", "To predict: your films, and a gap at the end"
COVERED = "Covered here: {films}."

# 3. Embedding
EMBED = "Embedding"
EMBED_TEXT = (
    "A network computes with numbers. An **embedding** is the row of numbers that stands for a film: here {n} of "
    "them, found in training. `[mask]` has one too. Each row of the chart is a film; teal is above zero, orange below."
)
EMBED_NEAR = (
    "No single number means anything by itself. Together they put films that are watched in the same company close to "
    "each other. These are nearest to {film}, by the angle between the rows: 1.00 is the same direction, 0.00 has "
    "nothing in common."
)
EMBED_START = (
    "The paper starts training from random numbers. These started from pointwise mutual information: films that people "
    "watched close together were alike from the beginning."
)
EMBED_FORMULA = r"h_i^0 = \mathrm{LN}(v_i)"
EMBED_FORMULA_SUM = r"h_i^0 = \mathrm{LN}(v_i + p_i)"
EMBED_FORMULA_TEXT = (
    "$v_i$ is the embedding of the film at position $i$, LN the layer normalisation, which gives each row mean 0 and "
    "the same spread."
)
EMBED_FORMULA_POST, EMBED_FORMULA_SUM_POST = r"h_i^0 = v_i", r"h_i^0 = v_i + p_i"
EMBED_FORMULA_TEXT_POST = "$v_i$ is the embedding of the film at position $i$."
EMBEDDING_ALT = "The numbers that stand for each of your newest films and for [mask], as colours"
NUMBER = "Number"

# 4. Order
ORDER = "Order"
ORDER_TEXT = (
    "So far a history is a heap of films: nothing says which one came first. The paper adds an embedding of the "
    "position, $p_i$. This network does it in another way: a **relative position bias** changes how much one film "
    "attends to another, by how many films lie between them."
)
ORDER_FORMULA = r"b_h(i, j) = -s_h \cdot \log(1 + |i - j|)"
ORDER_FORMULA_POWER = r"e^{\,b_h(i,j)} = (1 + |i - j|)^{-s_h}"
ORDER_FORMULA_TEXT = (
    "The slope $s_h$ is learnt, two for each **head** (one of several attentions side by side, see step 6): one "
    "towards earlier films, one towards later ones. The chart shows $e^b$, by which attention is multiplied. "
    "{steepest} is the steepest towards earlier films: {near} for the film just before, {far} for the tenth."
)
ORDER_POSITIONS = (
    "So far a history is a heap of films: nothing says which one came first. As in the paper, every position has an "
    "embedding of its own, $p_i$, which is added to that of the film. Each row of the chart is a position. The first "
    "number of `[mask]`: {film:+.2f} for itself and {position:+.2f} for its position make {sum:+.2f}."
)
ORDER_CHART = "By how much attention is multiplied, by distance in films: one line for each head"
ORDER_POSITIONS_CHART = "The numbers that stand for each of the newest positions, as colours"
BACK_IN_TIME, FACTOR = "Films later (right) or earlier (left)", "Factor on attention"
HEAD_OF_LAYER = "Layer {layer}, head {head}"

# 5. Self-attention
ATTEND = "Self-attention"
ATTEND_TEXT = (
    "Now the films learn of each other. Every position asks a question, its **query** $q$. Every position offers an "
    "answer to look for, its **key** $k$, and something to take along, its **value** $v$: three linear maps of its "
    "row. The better key and query match, the larger the share of its value that is taken. It is called "
    "**self-attention** because a sequence attends to itself."
)
ATTEND_FORMULA = r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d/h}} + B\right) V"
ATTEND_FORMULA_PAPER = r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d/h}}\right) V"
ATTEND_FORMULA_TEXT = "The paper has the same without $B$, the bias of step 4."
ATTEND_SHOWN = "What `[mask]` attends to in layer {layer}, head {head}"
ATTEND_NOTE, ATTEND_NOTE_PLAIN = "match {match:+.2f}, bias {bias:+.2f}, together {sum:+.2f}", "match {match:+.2f}"
ATTEND_EXAMPLE = (
    "For {film}: e to the power of {sum:+.2f} is {exponential:.2f}. All positions together make {total:.2f}, so "
    "the share is {share}."
)
ATTEND_REST = "The rest, {share}, goes to other films and to `[mask]` itself."
ATTEND_ITSELF = "The rest, {share}, stays with `[mask]` itself."
MATCH, BIAS, SHARE, TOKEN = "Match", "Bias", "Weight", "Position"
ATTEND_TABLE = "match, bias and share for every position"

# 6. Heads
HEADS = "Heads"
HEADS_TEXT = (
    "One attention can look for one thing at a time. So each layer has {heads} side by side, called **heads**, each "
    "with queries, keys and values of its own: {size} numbers each. What they bring back is put together and mixed by "
    "one more linear map."
)
HEADS_TEXT_ONE = "The paper has several attentions side by side, called **heads**. This network has one in each layer."
HEADS_FORMULA = r"\mathrm{MH}(H) = [\mathrm{head}_1; \ldots; \mathrm{head}_h]\, W^O"
HEADS_CHART = "What [mask] attends to: a row for each head, a column for each of the newest positions"
HEADS_SHOWN = "What `[mask]` attends to, head by head. Each row adds up to 100% over the whole history."
HEADS_MOST = "{head}: of the films, most to {film} ({share})."
HEADS_MORE = "The section **{attention}** shows the lines from every position to every other one."
HEADS_TABLE = "attention of [mask], head by head"

# 7. Layers
LAYERS = "Layers"
LAYERS_TEXT = (
    "Attention mixes the positions. A small **feed-forward** network then works on each position by itself. Both "
    "together are one **layer**, and this network has {n}, one on top of the other: what a layer has found, the "
    "next one can ask about."
)
LAYERS_FORMULA = (r"x \leftarrow x + \mathrm{MH}(\mathrm{LN}(x))", r"x \leftarrow x + \mathrm{PFFN}(\mathrm{LN}(x))")
LAYERS_FORMULA_POST = (
    r"x \leftarrow \mathrm{LN}(x + \mathrm{MH}(x))",
    r"x \leftarrow \mathrm{LN}(x + \mathrm{PFFN}(x))",
)
LAYERS_FORMULA_PFFN = r"\mathrm{PFFN}(x) = \mathrm{GELU}(x W_1 + b_1)\, W_2 + b_2"
LAYERS_FORMULA_TEXT = (
    "Each part adds to what is there instead of replacing it: a residual connection. The paper normalises after the "
    "addition, LN(x + …); this network before it."
)
LAYERS_FORMULA_TEXT_POST = (
    "Each part adds to what is there instead of replacing it, a residual connection, and the sum is normalised, as in "
    "the paper."
)
LAYERS_SHOWN = (
    "What the network would predict if it stopped there. Before the first layer, `[mask]` knows nothing of your films."
)
LAYERS_SAME = "So that list is the same for everybody."
BEFORE_LAYERS, AFTER_LAYER = "Before the first layer", "After layer {n}"

# 8. Softmax
CHOOSE = "Softmax"
CHOOSE_TEXT = (
    "What `[mask]` has become is compared with the embeddings of all {n:,} films: number by number multiplied, then "
    "added up. That is the **score** of a film. The **softmax** takes e to the power of every score and divides by the "
    "sum of all, so that the scores become probabilities. The position of a film in that list is its **rank**: rank 1 "
    "is the most probable."
)
CHOOSE_FORMULA = r"P(v) = \mathrm{softmax}\!\left(h_t E^\top + b\right)_v = \frac{e^{s_v}}{\sum_u e^{s_u}}"
CHOOSE_FORMULA_PROJECTED = (
    r"P(v) = \mathrm{softmax}\!\left(\mathrm{GELU}(h_t W^P + b^P) E^\top + b\right)_v = \frac{e^{s_v}}{\sum_u e^{s_u}}"
)
CHOOSE_FORMULA_TEXT = (
    "$E$ holds the embeddings of step 3 once more. The paper puts a linear map and a GELU between $h_t$ and $E$ "
    "(its equation 7); this network does not."
)
CHOOSE_WATCHED = (
    "Films that you have already watched compete here too. The other pages leave them out before they divide, so the "
    "same film has a higher probability there."
)
CHOOSE_UNSEEN = (
    "Films that you have already watched take no part: this network has been trained without comparing them."
)
SCORE_NOTE = "score {score:.2f}, e^score {weight:.0%} of the first"
SCORE_NOTE_WATCHED = "score {score:.2f}, e^score {weight:.0%} of the first, already watched"

# 9. Learning
LEARN = "Learning"
LEARN_TEXT = (
    "Where do all these numbers come from? In training the network fills such gaps in the histories of real people. "
    "Its **loss** is large where it gave the film that was really there a low probability. After each batch "
    "of histories every number is moved a little, in the direction that makes the loss smaller."
)
LEARN_FORMULA = (
    r"\mathcal{L} = \frac{1}{|\mathcal{S}^m|} \sum_{v_m \in \mathcal{S}^m} -\log P(v_m = v_m^* \mid \mathcal{S}')"
)
LEARN_FORMULA_TEXT = (
    "$\\mathcal{S}'$ is the history with its gaps, $\\mathcal{S}^m$ the gaps, and $v_m^*$ the film that was there."
)
LEARN_SHOWN = "The gaps of step 2, and what the network, as it is now, gives to the films that you really watched there"
LEARN_NOTE = "rank {rank:,}, loss {loss:.2f}"
LEARN_MEAN = (
    "The mean loss here is {mean:.2f}. Whoever guesses blindly among {n:,} films has {blind:.2f}, the logarithm of "
    "{n:,}."
)
LEARN_COLUMNS = {"title": "title", "rank": "rank", "probability": "probability", "loss": "loss"}
LEARN_TABLE = "rank, probability and loss of each covered film"


speak(__name__)
