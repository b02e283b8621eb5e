"""Settings beyond the papers that raise NDCG@10 of SASRec, BERT4Rec and GRU4Rec. Loads no torch."""

from recsys.config import added_later, config_class


@config_class(kw_only=True)
class Extras:
    """The settings of bert4rec-memory, sasrec-memory and gru4rec-memory."""

    only_unseen: bool = added_later(False)  # the softmax excludes items of the history: they are never recommended
    redraw: bool = added_later(False)  # films with equal times, whose order is random, get a new order in each epoch
    memory: bool = added_later(False)  # counts of transitions and co-occurrences are added to the trained logits
