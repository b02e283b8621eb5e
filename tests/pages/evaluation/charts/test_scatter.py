import pandas as pd

from pages.evaluation.charts import scatter

TABLE = pd.DataFrame(
    {"title": ["One", "Two"], "family": ["Transformers"] * 2, "x": [10.0, 1000.0], "log": [1.0, 3.0], "y": [0.1, 0.2]}
)


def test_names_that_fit_a_phone_stand_in_a_trace_that_is_not_the_last():
    *_, phone, wide = scatter.scatter(TABLE, "x", "y", "X", "Y", log="log").data
    assert [*phone.text] == ["Two", "One"]
    assert [*wide.text] == ["", ""]  # it is there all the same: the style sheet hides the last trace on a phone
    assert len(wide.x) == 2


def test_a_logarithmic_axis_of_times_is_read_in_seconds_minutes_and_hours():
    axis = scatter.scatter(TABLE, "x", "y", "X", "Y", log="log").layout.xaxis
    ticks = dict(zip(axis.ticktext, axis.tickvals, strict=True))
    assert (ticks["10 s"], ticks["10 min"], ticks["2 h"]) == (10, 600, 7200)
    assert scatter.scatter(TABLE, "x", "y", "X", "Y").layout.xaxis.tickvals is None
