import pandas as pd

from pages.train import curves


def test_a_curve_is_drawn_over_all_epochs_that_there_may_be():
    known = pd.DataFrame({"epoch": [2, 4], "ndcg@10": [0.1, 0.2]})
    figure = curves.plot_curve(known, "ndcg@10", 30)
    assert list(zip(figure.data[0].x, figure.data[0].y, strict=True)) == [(2, 0.1), (4, 0.2)]
    assert figure.layout.xaxis.range == (0.5, 30.5)


def test_the_ticks_of_a_short_training_are_whole_epochs():
    table = pd.DataFrame({"epoch": [1, 2], "loss": [2.0, 1.0]})
    assert curves.plot_curve(table, "loss", 3).layout.xaxis.dtick == 1
    assert curves.plot_curve(table, "loss", 300).layout.xaxis.dtick is None
