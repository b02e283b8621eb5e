"""Detect columns by usual names, and parse numbers and timestamps in many formats.

An *event file* has a row for each event, an *item file* a row for each item. Shapes: R rows.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

_ITEM_IDS = (  # normalised names of columns that can be the item id in an event file and in an item file
    *("item", "itemid", "movie", "movieid", "film", "filmid", "parentasin", "asin", "product", "productid", "isbn"),
    *("book", "bookid", "song", "songid", "track", "trackid", "artist", "artistid", "article", "articleid", "sku"),
    *("game", "gameid", "business", "businessid", "recipe", "recipeid", "iid", "mid"),
    *("productsku", "itemsku", "variantsku", "lineitemsku", "stockcode", "productcode", "itemcode", "articlenumber"),
)
# Normalised names of columns that can be the item id in an event file. In an item file, most of them are attributes of
# an item, so only the names that end in "id" are used there.
_EVENT_ITEM_IDS = (
    *("barcode", "ean", "gtin", "upc", "trackuri", "spotifytrackuri", "album", "albumid", "podcast", "podcastid"),
    *("episode", "episodeid", "video", "videoid", "show", "showid", "series", "seriesid", "anime", "animeid"),
    *("app", "appid", "course", "courseid", "job", "jobid", "venue", "venueid", "poi", "restaurant", "restaurantid"),
    *("hotel", "hotelid", "place", "placeid", "location", "locationid", "post", "postid", "page", "pageid"),
    *("content", "contentid", "newsid", "productname", "producttitle", "itemname", "lineitemname", "trackname"),
    *("tracktitle", "songname", "songtitle", "mastermetadatatrackname", "movietitle", "filmtitle", "booktitle"),
    *("artistname", "url", "title"),
)
ROLES = {  # role of a column in an event file → normalised column names, in order of preference
    "user": (
        *("user", "userid", "users", "person", "personid", "customer", "customerid", "client", "clientid", "reviewer"),
        *("reviewerid", "visitor", "visitorid", "member", "memberid", "account", "accountid", "uid", "username"),
        *("buyer", "buyerid", "shopper", "shopperid", "purchaser", "subscriber", "subscriberid", "patron", "patronid"),
        *("listener", "listenerid", "viewer", "viewerid", "reader", "readerid", "player", "playerid", "steamid"),
        *("customernumber", "customerno", "customernr", "accountnumber", "cardnumber", "loyaltyid", "householdkey"),
        *("profile", "profileid", "customeremail", "useremail", "buyeremail", "billingemail", "email", "emailaddress"),
        *("customername", "login", "userpseudoid", "anonymousid", "distinctid", "cookieid", "deviceid"),
        *("session", "sessionid"),
    ),
    "item": (*_ITEM_IDS, *_EVENT_ITEM_IDS),
    "rating": (
        *("rating", "ratings", "stars", "star", "score", "overall", "value", "userrating", "myrating", "starrating"),
        *("reviewrating", "reviewscore", "bookrating", "grade"),
    ),
    "time": (
        *("timestamp", "time", "unixreviewtime", "datetime", "date", "ts", "unixtime", "eventtime", "createdat"),
        *("ratedat", "watchedat", "purchasedat", "reviewtime", "visitedat", "when"),
        *("orderedat", "orderdate", "ordertime", "orderdatetime", "orderpurchasetimestamp", "boughtat", "soldat"),
        *("purchasedate", "purchasetime", "purchasedon", "invoicedate", "transactiondate", "transactiontime", "tdat"),
        *("saledate", "paidat", "createdon", "createddate", "creationdate", "eventtimestamp", "eventdate"),
        *("timestampms", "timestamputc", "playedat", "listenedat", "scrobbledat", "streamedat", "uts", "startedat"),
        *("occurredat", "loggedat"),
        *("starttime", "endtime", "viewedat", "watcheddate", "datewatched", "readat", "dateread", "borrowedat"),
        *("reviewdate", "reviewedat", "datereviewed", "daterated", "addedat", "dateadded", "submissiondate"),
        *("clickedat", "clicktime", "accesstime", "logtime", "checkintime", "visitdate", "updatedat"),
    ),
}
ITEM_ROLES = {  # role of a column in an item file → normalised column names, in order of preference
    "item": (*_ITEM_IDS, "id", *(name for name in _EVENT_ITEM_IDS if name.endswith("id"))),
    "title": ("title", "name", "itemname", "movietitle", "producttitle", "productname", "booktitle", "label"),
    "year": ("year", "releaseyear", "yearofpublication", "originalpublicationyear", "releasedate", "published"),
    "genres": ("genres", "genre", "categories", "category", "class", "maincategory"),
    "tags": ("tags", "keywords"),
    "image": ("image", "imageurl", "imageurll", "imageurlm", "poster", "posterurl", "picture", "cover", "thumbnail"),
    "imdb_id": ("imdbid", "imdb"),
    "tmdb_id": ("tmdbid", "tmdb"),
}
MISSING = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None", "\\N")
UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}  # → units in a second
MIN_TIME = -62_135_596_800  # start of the year 1, in seconds since 1970
MAX_TIME = 253_402_300_800  # start of the year 10000
_ALL_NAMES = {name for names in (*ROLES.values(), *ITEM_ROLES.values()) for name in names}
_PUNCTUATION = re.compile(r"[\W_]+")


def normalise_name(name: str) -> str:
    """Return a lower-case name without punctuation and without RecBole's type suffix: "user_id:token" → "userid"."""
    return _PUNCTUATION.sub("", name.strip().casefold().partition(":")[0])


def is_usual_name(name: str) -> bool:
    """Return whether a column name is a usual name of a role."""
    return normalise_name(name) in _ALL_NAMES


def matching_names(names: Sequence[str], usual_names: Sequence[str]) -> list[str]:
    """Return the names whose normalised form is in `usual_names`, in the order of `usual_names`."""
    column_of = {normalise_name(name): name for name in reversed(names)}  # the first of several equal names is used
    return [column_of[name] for name in usual_names if name in column_of]


def is_header(lines: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line is a header: it has usual column names, or a word above a column of numbers."""
    header, rows = lines[0], lines[1:]
    usual_names = [normalise_name(cell) for cell in header if is_usual_name(cell)]
    # one usual name makes a header only if it is clear, because a name such as "book" can also be a value
    has_clear_name = any(name.endswith("id") or name in ("user", "item", "title") for name in usual_names)
    if (has_clear_name or len(usual_names) > 1) and not any(_is_number(cell) for cell in header):
        return True
    cells_below = [[row[position] for row in rows if position < len(row)] for position in range(len(header))]
    return any(
        bool(cells) and not _is_number(cell) and cell.strip() not in MISSING and all(map(_is_number, cells))
        for cell, cells in zip(header, cells_below, strict=True)
    )


def is_missing(cells: pd.Series) -> np.ndarray:
    """Return whether each cell has no value, (R,) bool."""
    return cells.isin(MISSING).to_numpy(bool)


def parse_numbers(cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return cells as numbers, (R,) float64, NaN for other text, and whether each is a finite number, (R,) bool."""
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return numbers, np.isfinite(numbers)


def with_decimal_points(cells: pd.Series) -> pd.Series:
    """Replace decimal commas by decimal points: "4,5" → "4.5". Other cells stay."""
    return cells.str.replace(r"^([+-]?\d+),(\d+)$", r"\1.\2", regex=True)


def parse_timestamps(cells: pd.Series) -> tuple[np.ndarray, np.ndarray, str]:
    """Parse times in the format of most cells.

    Returns:
        Seconds since 1970, (R,) float64, 0 for invalid cells. Whether each cell is valid, (R,) bool. The format:
        "dates" for ISO 8601 and 20240131, or a key of UNITS. The unit is inferred from the size of the numbers.
    """
    numbers, is_number = parse_numbers(cells)
    are_mostly_numbers = 2 * is_number.sum() > (~is_missing(cells)).sum()
    if are_mostly_numbers:
        if _are_dates(numbers[is_number]):
            return _parse_dates(cells.str.slice(0, 8), "%Y%m%d")  # 8 digits, because a cell can be 20240131.0
        unit = _unit(numbers[is_number])
        seconds = numbers / UNITS[unit]
        is_valid = is_number & (seconds > MIN_TIME) & (seconds < MAX_TIME)
        return np.where(is_valid, seconds, 0), is_valid, unit
    dates = cells.str.replace("/", "-", regex=False).str.replace(r" ?(UTC|GMT)$", "Z", regex=True)
    return _parse_dates(dates, "ISO8601")


def _parse_dates(cells: pd.Series, date_format: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Parse cells in a format of `pd.to_datetime`. Return the same three values as `parse_timestamps`."""
    times = pd.to_datetime(cells, format=date_format, utc=True, errors="coerce")
    is_valid, seconds = times.notna().to_numpy(bool), np.zeros(len(cells))
    seconds[is_valid] = times[is_valid].dt.as_unit("us").astype("int64").to_numpy() / UNITS["microseconds"]
    return seconds, is_valid, "dates"


def _unit(numbers: np.ndarray) -> str:
    """Infer the unit of times: the finest unit for which the median is in 1973 (10⁸ seconds after 1970) or later."""
    median = float(np.median(np.abs(numbers)))
    return next((unit for unit, scale in reversed(UNITS.items()) if median >= 1e8 * scale), "seconds")


def _are_dates(numbers: np.ndarray) -> bool:
    """Return whether all numbers are dates such as 20240131."""
    days, months, years = numbers % 100, numbers // 100 % 100, numbers // 10_000
    is_date = (days >= 1) & (days <= 31) & (months >= 1) & (months <= 12) & (years >= 1900) & (years < 2100)
    return bool(len(numbers)) and bool(is_date.all()) and bool((numbers == np.floor(numbers)).all())


def _is_number(cell: str) -> bool:
    """Return whether a cell is a finite number."""
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
