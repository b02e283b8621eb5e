from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recsys.errors import RecsysError
from recsys.serving import users
from recsys.serving.filters import Filters
from recsys.serving.recommend import ServingError, recommend
from tests import toys
from tests.serving.given import Given, predictor

WORLD = replace(toys.dataset([[0, 1], [2, 3, 2], [4]], n_items=5), user_ids=np.array([3, 7, 20]))
SCORES = np.array([[0.1, 0.5, 0.3, 0.2, 0.4]])


def ready(**model):
    found = predictor(WORLD, Given(SCORES[0]))
    for name, value in model.items():
        setattr(found.model, name, value)
    return found


@pytest.mark.parametrize(("user_id", "row"), [(3, 0), (7, 1), (20, 2)])
def test_people_are_known_by_the_ids_of_their_ratings_file(user_id, row):
    assert users.user_row(WORLD, user_id) == row


@pytest.mark.parametrize("user_id", [0, 5, 21, -3])
def test_an_id_that_nobody_has_is_refused_with_those_there_are(user_id):
    with pytest.raises(ServingError, match=f"has no person {user_id}; its 3 IDs range from 3 to 20"):
        users.user_row(WORLD, user_id)


def test_a_persons_request_holds_all_that_they_watched_and_their_ratings_for_a_model_that_reads_them():
    assert users.user_request(ready(), 1, 3, Filters()).history == (2, 3, 2)
    assert users.user_request(ready(), 1, 3, Filters()).ratings == ()  # it would leave out what was not liked
    assert users.user_request(ready(uses_query_ratings=True), 1, 3, Filters()).ratings == ((2, 4.0), (3, 4.0))


def test_everybody_gets_the_list_that_they_would_get_alone(monkeypatch):
    monkeypatch.setattr(users, "BATCH_USERS", 2)  # more than one block
    seen = []
    table = users.recommend_for_users(ready(), 2, Filters(), seen.append)
    assert list(table.columns) == list(users.COLUMNS)
    for row, user_id in enumerate(WORLD.user_ids):
        own = table[table["user_id"] == user_id]
        alone = recommend(ready(), users.user_request(ready(), row, 2, Filters()))
        assert own["movie_id"].tolist() == [one.film.movie_id for one in alone]
        assert own["rank"].tolist() == [1, 2]
    assert [event["done"] for event in seen] == [2, 3]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_was_written_is_read_again(tmp_path, ending):
    table = users.recommend_for_users(ready(), 2, Filters())
    users.write_table(table, tmp_path / f"lists{ending}")
    again = pd.read_csv(tmp_path / "lists.csv") if ending == ".csv" else pd.read_parquet(tmp_path / "lists.parquet")
    assert (
        again[["user_id", "rank", "movie_id"]].to_numpy().tolist()
        == table[["user_id", "rank", "movie_id"]].to_numpy().tolist()
    )


def test_a_title_that_looks_like_a_formula_stays_text(tmp_path):
    table = users.recommend_for_users(ready(), 1, Filters()).assign(title="=1+1")
    users.write_table(table, tmp_path / "lists.csv")
    assert "'=1+1" in (tmp_path / "lists.csv").read_text()


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(RecsysError, match=r"lists.xlsx: the file name must end in .csv or .parquet"):
        users.write_table(pd.DataFrame(), tmp_path / "lists.xlsx")
