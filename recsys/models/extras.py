"""Three settings beyond the papers, which raise NDCG@10 of SASRec, BERT4Rec and GRU4Rec alike. Loads no torch."""

from recsys.config import added, config_class


@config_class(kw_only=True)
class Extras:
    """What `SequenceModel` trains otherwise, or adds to what was trained."""

    only_unseen: bool = added(False)  # the softmax leaves out what the history holds, which is never recommended
    redraw: bool = added(False)  # films of one second, whose order was drawn, stand in another order in each epoch
    memory: bool = added(False)  # counts of what follows and what goes together are added to the trained logits
