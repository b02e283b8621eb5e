"""Settings beyond the papers that raise NDCG@10 of SASRec, BERT4Rec and GRU4Rec. Loads no torch."""

from recsys.config import added, config_class


@config_class(kw_only=True)
class Extras:
    """The settings of bert4rec-memory, sasrec-memory and gru4rec-memory."""

    only_unseen: bool = added(False)  # the softmax excludes items of the history, because they are never recommended
    redraw: bool = added(False)  # films with equal times get a new random order in each epoch, if their order is random
    memory: bool = added(False)  # counts of transitions and co-occurrences are added to the trained logits
