"""Settings beyond the papers that raise NDCG@10 of SASRec, BERT4Rec and GRU4Rec. Loads no torch."""

from recsys.config import added, config_class


@config_class(kw_only=True)
class Extras:
    """The settings of the recommenders with memory, see `sequence_model.py`."""

    only_unseen: bool = added(False)  # the softmax excludes items of the history, because they are never recommended
    redraw: bool = added(False)  # in each epoch, films of one second have a new random order, if their order was random
    memory: bool = added(False)  # counts of transitions and co-occurrences are added to the trained logits
