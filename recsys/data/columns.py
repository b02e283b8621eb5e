"""What the columns of a ratings file are, by their names and by their cells, and times however they are written.

Shapes: R rows.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

_ITEM_IDS = (
    *("item", "itemid", "movie", "movieid", "film", "filmid", "asin", "parentasin", "product", "productid", "isbn"),
    *("book", "bookid", "song", "songid", "track", "trackid", "artist", "artistid", "article", "articleid", "sku"),
    *("game", "gameid", "business", "businessid", "recipe", "recipeid", "iid", "mid"),
    *("productsku", "itemsku", "variantsku", "lineitemsku", "stockcode", "productcode", "itemcode", "articlenumber"),
)
_OTHER_ITEMS = (  # in a file of items these may describe an item that has another id
    *("barcode", "ean", "gtin", "upc", "trackuri", "spotifytrackuri", "album", "albumid", "podcast", "podcastid"),
    *("episode", "episodeid", "video", "videoid", "show", "showid", "series", "seriesid", "anime", "animeid"),
    *("app", "appid", "course", "courseid", "job", "jobid", "venue", "venueid", "poi", "restaurant", "restaurantid"),
    *("hotel", "hotelid", "place", "placeid", "location", "locationid", "post", "postid", "page", "pageid"),
    *("content", "contentid", "newsid", "productname", "producttitle", "itemname", "lineitemname", "trackname"),
    *("tracktitle", "songname", "songtitle", "mastermetadatatrackname", "movietitle", "filmtitle", "booktitle"),
    *("artistname", "url", "title"),
)
ROLES = {  # the names that a column goes by, whatever its case and signs; the first that a file has is taken
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
    "item": (*_ITEM_IDS, *_OTHER_ITEMS),
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
DESCRIBED = {  # the columns of a file of items
    "item": (*_ITEM_IDS, "id", *(name for name in _OTHER_ITEMS if name.endswith("id"))),
    "title": ("title", "name", "itemname", "movietitle", "producttitle", "productname", "booktitle", "label"),
    "year": ("year", "releaseyear", "yearofpublication", "originalpublicationyear", "releasedate", "published"),
    "genres": ("genres", "genre", "categories", "category", "class", "maincategory"),
    "tags": ("tags", "keywords"),
    "image": ("image", "imageurl", "imageurll", "imageurlm", "poster", "posterurl", "picture", "cover", "thumbnail"),
    "imdb_id": ("imdbid", "imdb"),
    "tmdb_id": ("tmdbid", "tmdb"),
}
MISSING = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None", "\\N")
UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
MIN_TIME, MAX_TIME = -62_135_596_800, 253_402_300_800  # the years 1 to 9999, in seconds since 1970
_KNOWN = {name for names in (*ROLES.values(), *DESCRIBED.values()) for name in names}
_SIGNS = re.compile(r"[\W_]+")


def normalise_name(name: str) -> str:
    """A column's name without case, signs, and the type that RecBole writes after a colon: "user_id:token" → userid."""
    return _SIGNS.sub("", name.strip().casefold().partition(":")[0])


def named(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Which of a file's columns has the first of the `known` names; None: none has any."""
    plain_names = {normalise_name(name): name for name in reversed(names)}
    return next((plain_names[name] for name in known if name in plain_names), None)


def is_header(lines: Sequence[Sequence[str]]) -> bool:
    """Whether the first line names the columns: names that are known, or words above a column of numbers."""
    first, rest = lines[0], lines[1:]
    known = [name for cell in first if (name := normalise_name(cell)) in _KNOWN]
    sure = len(known) > 1 or any(name.endswith("id") or name in ("user", "item", "title") for name in known)
    if sure and not any(_is_number(cell) for cell in first):
        return True
    below = [[line[place] for line in rest if place < len(line)] for place in range(len(first))]
    return any(
        bool(cells) and not _is_number(cell) and cell.strip() not in MISSING and all(map(_is_number, cells))
        for cell, cells in zip(first, below, strict=True)
    )


def is_missing(cells: pd.Series) -> np.ndarray:
    """(R,) bool: cells in which nothing is said."""
    return cells.isin(MISSING).to_numpy(bool)


def parse_timestamps(cells: pd.Series) -> tuple[np.ndarray, np.ndarray, str]:
    """Times as (R,) float64 seconds since 1970, (R,) bool whether each was understood, and how they are written.

    Written as: one of UNITS, told by their size, or "dates": ISO 8601, or 20240131.
    """
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    said = np.isfinite(numbers)
    if 2 * said.sum() > (~is_missing(cells)).sum():
        if _are_days(numbers[said]):
            return _dates(cells.str.slice(0, 8), "%Y%m%d")
        unit = _unit(numbers[said])
        found = numbers / UNITS[unit]
        known = said & (found > MIN_TIME) & (found < MAX_TIME)
        return np.where(known, found, 0), known, unit
    return _dates(cells.str.replace("/", "-", regex=False), "ISO8601")


def _dates(cells: pd.Series, layout: str) -> tuple[np.ndarray, np.ndarray, str]:
    times = pd.to_datetime(cells, format=layout, utc=True, errors="coerce")
    known = times.notna().to_numpy(bool)
    found = np.zeros(len(cells))
    found[known] = times[known].dt.as_unit("us").astype("int64").to_numpy() / UNITS["microseconds"]
    return found, known, "dates"


def _unit(numbers: np.ndarray) -> str:
    """Seconds since 1970 have ten digits nowadays, and each finer unit three more."""
    typical = float(np.median(np.abs(numbers)))
    return next((unit for unit, scale in reversed(UNITS.items()) if typical >= 1e8 * scale), "seconds")


def _are_days(numbers: np.ndarray) -> bool:
    """Whether all are dates such as 20240131."""
    days, months, years = numbers % 100, numbers // 100 % 100, numbers // 10_000
    inside = (days >= 1) & (days <= 31) & (months >= 1) & (months <= 12) & (years >= 1900) & (years < 2100)
    return bool(len(numbers)) and bool(inside.all()) and bool((numbers == np.floor(numbers)).all())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.strip().casefold() not in ("nan", "inf", "infinity")
