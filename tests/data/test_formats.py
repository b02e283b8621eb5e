"""Files in the layouts of published data sets, as `data add` reads them."""

import gzip
import io
import json
from datetime import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recsys.data import own_data, tables
from recsys.data.dataset import DataError


def check(data, **wanted):
    table = tables.parse("some.file", data if isinstance(data, bytes) else data.encode())
    return own_data.check(table, column_choices=wanted)


def histories(data, **wanted):
    """User → items, oldest first, as in the file."""
    checked = check(data, **wanted)
    titles = dict(zip(checked.raw.films["movie_id"], checked.raw.films["title"], strict=True))
    found = {}
    for user, item in zip(checked.raw.user.tolist(), checked.raw.movie.tolist(), strict=True):
        found.setdefault(checked.user_names.get(user, str(user)), []).append(titles[item])
    return found


def lines(*records):
    return "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records)


# One user and that user's items in each line


@pytest.mark.parametrize("gaps", [(" ", " "), ("\t", "\t"), (",", ","), (", ", ", "), ("\t", " ")])
def test_a_line_for_each_user(gaps):
    rows = [["7", "30", "10", "20", "40", "5"], ["3", "10", "20"], ["9", "20", "30", "10"]]
    text = "".join(gaps[0].join([row[0], gaps[1].join(row[1:])]) + "\n" for row in rows)
    assert histories(text) == {"3": ["10", "20"], "7": ["30", "10", "20", "40", "5"], "9": ["20", "30", "10"]}
    assert check(text).time_format == ""


def test_a_user_without_items_has_no_events():
    assert histories("u1 5 6 7 8 9\nu2\nu3 5 6\n") == {"u1": ["5", "6", "7", "8", "9"], "u3": ["5", "6"]}


@pytest.mark.parametrize(
    "text",
    [
        "1 10 5 978300760\n1 20 3 978302109\n2 10 4 978301968\n",
        "1,10,5\n1,20,3\n",
        "1,10,4.5\n1,20\n2,10,3\n2,30,5\n",  # a cell that is no id
        "1 10 978300760\n2 10\n2 20 978300760\n2 30 978300760\n",  # times
        "1,10,5,,,1\n1,20,3\n2,10,4\n2,30,4\n",  # an empty cell
        "user item\n1 10\n",
        "1 10\n1 20\n",
    ],
)
def test_tables_are_not_taken_for_lists_of_items(text):
    table = tables.parse("some.file", text.encode())
    assert not table.is_ambiguous
    assert own_data.assign_columns(table)["item"] == ("item" if table.has_header else "2")
    assert len(table.rows) == len(text.splitlines()) - table.has_header


@pytest.mark.parametrize(
    "text",
    ["1 10 20 30\n2 10 20 40\n3 10 20\n", "1 10 20 30 40\n2 10 20 30 50\n", "1,2,3,4,5,6\n2,2,3,4,5,6\n3,4,5\n"],
    ids=["short lines", "lines of one length", "most lines are full"],
)
def test_what_may_be_either_is_refused_unless_the_columns_are_named(text):
    with pytest.raises(
        DataError, match=r"^each line of some.file may be .* name the columns: --user-col 1 --item-col 2"
    ):
        check(text)
    assert check(text, user="1", item="2").counts["rows"] == len(text.splitlines())


# Amazon

REVIEW = {"reviewerID": "A2SUAM1J3GNN3B", "asin": "0000013714", "helpful": [0, 0], "reviewTime": "09 13, 2009"}


def test_amazon_reviews_of_2014_and_2018():
    early = {"asin": "B00002", "overall": 3.0, "unixReviewTime": 1_252_800_000}
    text = lines(REVIEW | {"overall": 5.0, "unixReviewTime": 1_252_800_001}, REVIEW | early)
    assert histories(gzip.compress(text.encode())) == {"A2SUAM1J3GNN3B": ["B00002", "0000013714"]}
    assert check(text).columns["time"] == "unixReviewTime"
    assert check(text).raw.rating.tolist() == [3, 5]


def test_amazon_reviews_of_2023_have_parent_asins_and_milliseconds():
    review = {"rating": 4.0, "title": "Nice", "images": [{"small_image_url": "https://x"}, {"small_image_url": "y"}]}
    base = {"asin": "B1", "user_id": "AG3D6O4STAQKAY2UVGEUV46KN35Q"}
    text = lines(
        review | base | {"parent_asin": "B2", "timestamp": 1_588_687_728_923},
        review | base | {"parent_asin": "B3", "timestamp": 1_588_687_728_922},
    )
    checked = check(text)
    assert histories(text) == {"AG3D6O4STAQKAY2UVGEUV46KN35Q": ["B3", "B2"]}
    assert (checked.counts["rows"], checked.time_format) == (2, "milliseconds")
    five_core = "user_id,parent_asin,rating,timestamp\nAG3D,B2,5.0,1588687728923\nAG3D,B3,4.0,1588687728922\n"
    assert histories(five_core) == {"AG3D": ["B3", "B2"]}


@pytest.mark.parametrize("item_first", [False, True], ids=["2014", "2018"])
def test_amazon_ratings_without_names_of_columns(item_first):
    rows = [("A2SUAM1J3GNN3B", "0000013714", "5.0", "20"), ("A2SUAM1J3GNN3B", "B000GKXY4S", "3.0", "10")]
    rows = [(*(row[1::-1] if item_first else row[:2]), row[2], f"12528000{row[3]}") for row in rows]
    text = "".join(",".join(row) + "\n" for row in rows)
    assert histories(text) == {"A2SUAM1J3GNN3B": ["B000GKXY4S", "0000013714"]}
    assert check(text).raw.rating.tolist() == [3, 5]


# Steam

STEAM = (
    "{u'username': u'Chaos Syren', u'hours': 0.1, u'products': 41, u'product_id': u'725280', u'page_order': 0, "
    "u'date': u'2017-12-17', u'text': u'It\\'s fine', u'early_access': False, u'page': 1}\n"
    "{'username': 'Ariman1', 'hours': 13.2, 'products': 1386, 'product_id': '328100', 'page_order': 2, "
    "'date': '2017-08-02', 'text': 'x', 'early_access': False, 'page': 1, 'user_id': '76561198007483075'}\n"
    "{'username': 'Chaos Syren', 'product_id': '328100', 'date': '2016-08-02', 'text': '', 'compensation': None}\n"
)


def test_steam_reviews_are_python_literals_and_most_have_no_user_id():
    assert histories(gzip.compress(STEAM.encode())) == {"Ariman1": ["328100"], "Chaos Syren": ["328100", "725280"]}
    assert check(STEAM).time_format == "dates"


def test_steam_libraries_have_a_list_of_items_for_each_user():
    text = (
        "{'user_id': 'ann', 'items_count': 2, 'steam_id': '7', 'items': [{'item_id': '10', 'item_name': 'CS', "
        "'playtime_forever': 6}, {'item_id': '30', 'item_name': 'DoD', 'playtime_forever': 0}]}\n"
        "{'user_id': 'bob', 'items_count': 0, 'steam_id': '8', 'items': []}\n"
    )
    assert histories(text) == {"ann": ["10", "30"]}
    assert check(text).counts["incomplete"] == 1


@pytest.mark.parametrize("line", ["{'user': __import__('os')}", "{'user': " + "-" * 100_000 + "1}", "{1"])
def test_what_is_no_literal_is_refused(line):
    with pytest.raises(DataError, match=r"^some.file: line 2 is not JSON"):
        check('{"user": 1, "item": 2}\n' + line + "\n")


def test_a_long_line_is_not_parsed_as_a_literal(monkeypatch):
    monkeypatch.setattr(tables, "MAX_LITERAL_LENGTH", 20)
    with pytest.raises(DataError, match="line 2 is not JSON"):
        check("{'user':1,'item':2}\n{'user': 1, 'item': 22}\n")


# Gowalla


def test_gowalla_check_ins_have_the_place_behind_its_coordinates():
    text = (
        "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
        "0\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315\n"
        "1\t2010-10-17T23:42:03Z\t30.2557309927\t-97.7633857727\t22847\n"
    )
    assert histories(gzip.compress(text.encode())) == {"0": ["420315", "22847"], "1": ["22847"]}
    assert check(text).columns == {"user": "1", "item": "5", "time": "2"}


# Parquet with structs


def parquet(rows):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def test_fields_of_a_struct_are_columns():
    events = [{"event": {"user": user, "item": item}} for user, item in (("ann", "tea"), ("bob", "soap"))]
    assert histories(parquet(events)) == {"ann": ["tea"], "bob": ["soap"]}
    times = [datetime(2024, 1, day) for day in (2, 1)]
    nested = [{"user": {"id": 7, "tags": [1]}, "item": {"id": n}, "at": {"time": time}} for n, time in enumerate(times)]
    assert histories(parquet(nested)) == {"7": ["1", "0"]}


def test_structs_with_dates_and_lists_are_text():
    rows = [{"user": 1, "item": 2, "more": {"days": [datetime(2024, 1, 31)], "day": datetime(2024, 1, 31).date()}}]
    table = tables.parse("some.parquet", parquet(rows))
    assert table.rows["more"].tolist() == ['{"days": "2024-01-31 00:00:00", "day": "2024-01-31"}']
    assert check(pd.DataFrame(rows).to_parquet()).counts["events"] == 1
