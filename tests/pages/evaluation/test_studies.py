import pandas as pd

from pages.evaluation.charts import LOOKS
from pages.evaluation.studies import plot_study
from recsys.evaluation.studies import Chart, Study

TABLE = pd.DataFrame(
    {
        "name": ["unchanged", "without a part whose name is rather long", "wider"],
        "value": [None, -0.02, 0.01],
        "from": [None, -0.03, 0.0],
        "to": [None, -0.01, 0.02],
    }
)
ROWS = Chart(kind="rows", x="name", y="value", low="from", high="to")


def study(table, chart):
    columns = [{"name": name, "title": name.title()} for name in table]
    rows = table.astype(object).where(table.notna(), None).to_numpy().tolist()
    return Study(name="s", title="S", question="?", columns=columns, rows=rows, chart=chart)


def test_differences_are_rows_from_the_top_with_whiskers_and_a_line_at_nothing():
    figure = plot_study(study(TABLE, ROWS), ROWS)
    (trace,) = figure.data
    assert trace.x.tolist() == [-0.02, 0.01]
    assert list(figure.layout.yaxis.categoryarray) == ["without a part whose<br>name is rather long", "wider"]
    assert [round(end, 6) for end in trace.error_x.array] == [0.01, 0.01]
    assert [round(end, 6) for end in trace.error_x.arrayminus] == [0.01, 0.01]
    assert [shape.x0 for shape in figure.layout.shapes] == [0]
    assert figure.layout.xaxis.title.text == "Value"


def test_figures_above_nothing_need_no_line():
    figure = plot_study(study(TABLE[2:], ROWS), ROWS)
    assert len(figure.layout.shapes) == 0


def test_marks_of_a_family_have_its_colour_and_their_names_beside_them():
    table = pd.DataFrame({"s": [10, 99], "ndcg": [0.1, 0.2], "who": ["GRU4Rec", "SASRec"], "f": ["Recurrent", "Later"]})
    chart = Chart(kind="scatter", x="s", y="ndcg", by="f", label="who", log=["x"])
    first, second, phone, wide = plot_study(study(table, chart), chart).data
    assert (first.hovertext[0], first.marker.color, second.hovertext[0]) == (
        "GRU4Rec",
        LOOKS["Recurrent"].colour,
        "SASRec",
    )
    assert (phone.text, phone.x.tolist(), phone.y.tolist()) == (("SASRec", "GRU4Rec"), [99, 10], [0.2, 0.1])
    assert wide.text == ("", "")


def test_names_that_would_cover_each_other_are_left_out_the_higher_mark_has_its_own():
    table = pd.DataFrame(
        {"s": [10, 10, 10, 90], "ndcg": [0.2, 0.2001, 0.2002, 0.1], "who": ["A" * 30, "B" * 30, "C" * 30, "D"]}
    )
    chart = Chart(kind="scatter", x="s", y="ndcg", label="who")
    *_, phone, wide = plot_study(study(table, chart), chart).data
    named = [one or other for one, other in zip(phone.text, wide.text, strict=True)]
    assert (named[0], named[-1]) == ("C" * 30, "D")
    assert "" in named


def test_a_logarithmic_axis_names_the_values_that_were_set():
    table = pd.DataFrame({"dim": [16, 64, 16, 64], "ndcg": [0.1, 0.2, 0.3, 0.2], "model": ["A", "A", "B", "B"]})
    chart = Chart(kind="line", x="dim", y="ndcg", by="model", log=["x"])
    figure = plot_study(study(table, chart), chart)
    assert [trace.name for trace in figure.data] == ["A", "B"]
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.xaxis.ticktext) == ["16", "64"]
    assert figure.layout.showlegend
