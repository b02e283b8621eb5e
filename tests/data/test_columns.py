from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from recsys.data import columns, own_data, tables

TIME = 1_700_000_000  # 2023-11-14 22:13:20


@pytest.mark.parametrize("name", ["user_id", "User ID", "userId", "USERID", "user_id:token", " user-id "])
def test_a_column_is_known_whatever_its_case_and_signs(name):
    assert columns.matching_names(["x", name, "y"], columns.ROLES["user"]) == [name]


@pytest.mark.parametrize(
    ("header", "columns_of"),
    [
        ("customer_email,sku,ordered_at", ("customer_email", "sku", "ordered_at")),
        ("Name,Email,Created at,Lineitem sku,Lineitem quantity", ("Email", "Lineitem sku", "Created at")),  # Shopify
        ("InvoiceNo,StockCode,Quantity,InvoiceDate,CustomerID", ("CustomerID", "StockCode", "InvoiceDate")),  # UCI
        ("t_dat,customer_id,article_id,price", ("customer_id", "article_id", "t_dat")),  # H&M
        ("timestamp,visitorid,event,itemid", ("visitorid", "itemid", "timestamp")),  # RetailRocket
        ("ts,username,spotify_track_uri,ms_played", ("username", "spotify_track_uri", "ts")),  # Spotify
        ("user_pseudo_id,event_timestamp,item_id", ("user_pseudo_id", "item_id", "event_timestamp")),  # GA4
        ("listener,played_at,track_name", ("listener", "track_name", "played_at")),
        ("user,title,date", ("user", "title", "date")),
    ],
)
def test_columns_of_common_exports_are_recognised(header, columns_of):
    row = ",".join("x" for _ in header.split(","))
    table = tables.parse("export.csv", f"{header}\n{row}\n".encode())
    assert table.has_header
    found = own_data.assign_columns(table)
    assert tuple(found.get(role) for role in ("user", "item", "time")) == columns_of


def test_infinity_is_not_a_number_below_a_column_name():
    assert columns.is_header([["word"], ["1"]])
    assert not columns.is_header([["word"], ["-inf"]])


def test_the_usual_name_goes_before_the_rarer_one():
    assert columns.matching_names(["reviewTime", "unixReviewTime"], columns.ROLES["time"])[0] == "unixReviewTime"


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        ([TIME, TIME + 1], "seconds"),
        ([1000 * TIME, 1000 * (TIME + 1)], "milliseconds"),
        ([10**6 * TIME, 10**6 * (TIME + 1)], "microseconds"),
        ([10**9 * TIME, 10**9 * (TIME + 1)], "nanoseconds"),
        (["2023-11-14T22:13:20Z", "2023-11-14T23:13:21+01:00"], "dates"),
        (["2023-11-14 22:13:20", "2023/11/14 22:13:21"], "dates"),
        (["2023-11-14 22:13:20 UTC", "2023-11-14 22:13:21 GMT"], "dates"),
    ],
)
def test_times_become_seconds_however_they_are_written(cells, written):
    found, known, unit = columns.parse_timestamps(pd.Series(cells).astype("str"))
    assert found.tolist() == [TIME, TIME + 1]
    assert known.all()
    assert unit == written


def test_days_are_midnights():
    midnight = datetime(2024, 1, 31, tzinfo=UTC).timestamp()
    for cells in (["2024-01-31"], ["20240131"]):
        assert columns.parse_timestamps(pd.Series(cells))[0].tolist() == [midnight]


def test_what_is_no_time_is_known_row_by_row():
    _, known, _ = columns.parse_timestamps(pd.Series([str(TIME), "", "soon", "1e300", str(TIME)]))
    assert known.tolist() == [True, False, False, False, True]
    _, known, _ = columns.parse_timestamps(pd.Series(["2024-01-31", "31.01.24", "2024-02-31"]))
    assert known.tolist() == [True, False, False]


def test_parts_of_a_second_are_kept():
    assert np.isclose(columns.parse_timestamps(pd.Series([str(1000 * TIME + 7)]))[0][0], TIME + 0.007)
