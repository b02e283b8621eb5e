import pytest

from recsys import paths, storage
from recsys.evaluation.studies import StudyError, read, studies

WHOLE = {
    "title": "Does order matter?",
    "question": "What is lost?",
    "columns": [{"name": "model", "title": "Recommender"}, {"name": "ndcg", "title": "NDCG@10", "digits": 4}],
    "rows": [["BERT4Rec", 0.157], ["Popular", None]],
    "chart": {"kind": "bar", "x": "model", "y": "ndcg"},
}


def write(document, name="order", root=None):
    path = paths.studies(root or paths.ASSETS) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document.encode() if isinstance(document, str) else storage.sign_document(document))
    return path


def test_a_study_is_read_with_its_table_its_titles_and_its_chart():
    study = read(write(WHOLE))
    assert (study.name, study.title, study.answer) == ("order", "Does order matter?", "")
    assert study.table["ndcg"].isna().tolist() == [False, True]
    assert study.titles["ndcg"] == "NDCG@10"
    assert study.digits == {"ndcg": 4}
    assert (study.chart.kind, study.chart.x, study.chart.y, study.chart.by) == ("bar", "model", "ndcg", None)


def test_a_recommender_has_the_title_of_today():
    study = read(write(WHOLE | {"rows": [["Pool", 0.157], ["Popular", None]]}))
    assert study.table["model"].tolist() == ["Best guess", "Popular"]
    columns = [*WHOLE["columns"], {"name": "family", "title": "Family"}]
    rows = [["Hybrid", 0.157, "Hybrid"], ["Popular", None, "No learning"]]  # "Hybrid" is a recommender, too
    study = read(write(WHOLE | {"columns": columns, "rows": rows}))
    assert study.table["model"].tolist() == ["Hybrid", "Popular"]
    assert study.table["family"].tolist() == ["Mixtures", "Counting"]


def test_without_studies_there_is_nothing_to_show():
    assert studies() == []


def test_a_study_of_this_machine_wins_and_a_damaged_one_is_a_sentence():
    write(WHOLE)
    write(WHOLE | {"title": "Anew"}, root=paths.home())
    broken = write(WHOLE, name="broken")
    broken.write_bytes(broken.read_bytes().replace(b"0.157", b"0.257"))
    said = []
    assert [study.title for study in studies(lambda error: said.append(str(error)))] == ["Anew"]
    assert len(said) == 1
    assert "broken.json is damaged; run: git -C" in said[0]


@pytest.mark.parametrize(
    "change",
    [
        {"columns": "model"},
        {"rows": [["a", float("nan")]]},
        {"rows": [["a", {"b": 1}]]},
        {"title": None},
        {"chart": {"kind": "pie", "x": "model", "y": "ndcg"}},
        {"chart": {"kind": "bar", "x": "model"}},
        {"chart": ["bar"]},
    ],
)
def test_a_study_of_another_form_is_an_error_that_names_the_file(change):
    with pytest.raises(StudyError, match=r"order\.json is damaged"):
        read(write(WHOLE | change))


def test_a_file_without_the_form_of_a_study_is_refused():
    for text in ("[]", "null", "7", "{}", '"text"', "[" * 100_000):
        with pytest.raises(StudyError, match=r"order\.json"):
            read(write(text))
