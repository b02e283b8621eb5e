"""Check an event file and an optional item file, and add them as an own data set (a data set that is not published).

An event file has a row for each event, an item file a row for each item. `check` counts all dropped and changed rows,
and `CheckedFile.messages` reports the counts. Ids that are texts are replaced by numbers, and the texts become titles
and user names. Shapes: R rows, E events, I items.
"""

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pandas as pd

from recsys import paths, storage
from recsys.data import columns, datasets, movielens_files, prepared, text_encoding, titles
from recsys.data.assemble import TIES_SEED, RawRatings, assemble
from recsys.data.dataset import DataError, Dataset, Noun, film_table
from recsys.data.download import exclusive_folder
from recsys.data.tables import Table
from recsys.data.tie_breaking import equals_previous, is_duplicate, random_sort_keys
from recsys.errors import N_, Message, recsys_command

Role = str  # "user", "item", "rating" or "time"
NO_COLUMN = "none"  # the choice for a role that no column has
DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
RESERVED_NAMES = {"ties", "studies"}  # names of folders beside the folders of the data sets
INTEGER_ID = re.compile(r"(0|[1-9][0-9]{0,14})")  # at most 15 digits, so that float64 represents it exactly
MAX_RATING = 1e6  # absolute value. Larger numbers are typing errors or codes for "no rating"
SAMPLE_ROWS = 1_000  # first rows, by which columns of dates and of fractions are detected
MAX_ID_LENGTH = 1_000  # characters of the id of a user or an item
_ASIN = r"B[0-9A-Z]{9}|[0-9]{9}[0-9X]"  # item id of Amazon
_AMAZON_USER = r"A[0-9A-Z]{9,20}"
_FRACTION = r"-?\d+\.\d*[1-9]\d*"  # a number that is not whole
_ROLE_NAMES = {"user": N_("person"), "item": N_("item"), "rating": N_("rating"), "time": N_("time")}
_TIME_FORMATS = {
    "seconds": N_("in seconds since 1970"),
    "milliseconds": N_("in milliseconds since 1970"),
    "microseconds": N_("in microseconds since 1970"),
    "nanoseconds": N_("in nanoseconds since 1970"),
    "dates": N_("dates"),
}
_COUNT_TEXTS = {  # key of `CheckedFile.counts` → text
    "multiline": N_("rows with a line break in a cell (a missing quotation mark joins several rows into one)"),
    "incomplete": N_("rows left out because a person or an item is missing"),
    "untimed": N_("rows left out because their time cannot be read"),
    "duplicates": N_("repeated rows (same person, item and time), which count once"),
    "repeated_rows": N_("repeated rows of the same person and item, which are kept as further events"),
    "repeated_items": N_("further events of the same person and item at other times, which are kept"),
    "unrated": N_("rows without a rating, which get the mean of the other ratings"),
    "unsorted": N_("rows that are earlier than a previous row (the events of each person are sorted by time)"),
    "one_event": N_("people with one event (recommenders learn from them, but are not tested on them)"),
    "two_events": N_("people with two events (recommenders learn from them, but are not tested on them)"),
    "undescribed": N_("items that are not in the item file (their IDs are shown as titles)"),
    "unused": N_(
        "items in the item file that have no events (they can be found, but recommenders do not learn about them)"
    ),
    "unsafe_images": N_("pictures without a web address (https://…), which are not shown"),
}


@dataclass(frozen=True)
class CheckedFile:
    """An event file that `check` has accepted, so that `add` can add it as a data set."""

    raw: RawRatings  # sorted by user and time; row numbers in place of times if there are none
    user_names: pd.Series = field(repr=False)  # user id → name; empty if the ids in the file are numbers
    noun: Noun
    columns: dict[Role, str]  # the result of `assign_columns`
    time_format: str  # see `columns.parse_timestamps`; "": no times
    # "rows", "events" (used rows), "people", "items", and the keys of _COUNT_TEXTS
    counts: dict[str, int]
    messages: list[Message]  # sentences without full stops that summarise the file


def assign_columns(table: Table, column_choices: dict[Role, str] | None = None) -> dict[Role, str]:
    """Return role → column name. Roles without a choice are detected by names or, without a header, by content.

    `column_choices` is role → name or number (from 1) of a column, NO_COLUMN, or "" for no choice. Raises DataError if
    a chosen column does not exist, if a column has two roles, or if the user or item column cannot be detected.
    """
    column_choices = {role: text for role, text in (column_choices or {}).items() if text}
    if table.is_ambiguous and not {"user", "item"} <= column_choices.keys():
        raise DataError(
            "each line of {name} may be one event (columns for person, item and rating), or one person followed by "
            "all their items; for events, name the columns: --user-col 1 --item-col 2; otherwise write one line per "
            "event",
            name=table.name,
        )
    names = list(table.rows.columns)
    assigned = {role: column_of(table, text) for role, text in column_choices.items() if text != NO_COLUMN}
    free_columns = [name for name in names if name not in assigned.values()]
    free_roles = [role for role in columns.ROLES if role not in column_choices]
    detect = _assign_by_name if table.has_header else _assign_by_content
    assigned |= detect(table, free_columns, free_roles)
    if not {"user", "item"} <= assigned.keys():
        if not {"user", "item"} & assigned.keys():
            text = (
                "{name} has the columns {names}; name the columns with people and items: --user-col NAME --item-col "
                "NAME"
            )
        elif "item" in assigned:
            text = "{name} has the columns {names}; name the column with the people: --user-col NAME"
        else:
            text = "{name} has the columns {names}; name the column with the items: --item-col NAME"
        raise DataError(text, name=table.name, names=", ".join(names))
    for role, other_role in combinations(assigned, 2):
        if assigned[role] == assigned[other_role]:
            text = "the column {column} of {name} is chosen as {role} and as {other_role}; choose two columns"
            messages = {"role": Message(_ROLE_NAMES[role]), "other_role": Message(_ROLE_NAMES[other_role])}
            raise DataError(text, column=assigned[role], name=table.name, **messages)
    return {role: assigned[role] for role in _ROLE_NAMES if role in assigned}  # in the order for `_messages`


def column_of(table: Table, text: str) -> str:
    """Return the column with this name or number. Raises DataError if there is none."""
    names = list(table.rows.columns)
    if text in names:
        return text
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    raise DataError(
        "{name} has no column {text}; choose one of: {names}", name=table.name, text=text, names=", ".join(names)
    )


def _assign_by_name(table: Table, free_columns: list[str], roles: list[Role]) -> dict[Role, str]:
    """Return role → column with a usual name. Columns with values in most rows are preferred."""
    assigned = {}
    for role in roles:
        if names := columns.matching_names(free_columns, columns.ROLES[role]):
            filled_names = [name for name in names if 2 * columns.is_missing(table.rows[name]).sum() < len(table.rows)]
            assigned[role] = (filled_names or names)[0]
    return assigned


def _assign_by_content(table: Table, free_columns: list[str], roles: list[Role]) -> dict[Role, str]:
    """Return role → column, for columns without names. User, item and rating are expected in this order.

    Dates can be in any column. Times that are numbers are only recognised in columns after user and item. A column of
    fractions, such as coordinates, is only the item if no other column is left.
    """
    assigned = {}
    dates = [name for name in free_columns if _is_date(table.rows[name])]
    if "time" in roles and dates:
        assigned["time"] = dates[0]
    remaining = [name for name in free_columns if name not in dates]
    if "user" in roles and remaining:
        assigned["user"] = remaining.pop(0)
    if "item" in roles and remaining:
        candidates = [name for name in remaining if not _has_fractions(table.rows[name])] or remaining
        assigned["item"] = candidates[0]
        remaining = remaining[remaining.index(assigned["item"]) + 1 :]
    if {"user", "item"} <= assigned.keys():  # in the rating files of Amazon (2018), the item is before the user
        users, items = table.rows[assigned["user"]], table.rows[assigned["item"]]
        if (users.str.fullmatch(_ASIN) & items.str.fullmatch(_AMAZON_USER)).mean() > 0.5:
            assigned |= {"user": assigned["item"], "item": assigned["user"]}
    times = [name for name in remaining if _looks_like_time(table.rows[name])]
    if "time" in roles and "time" not in assigned and times:
        assigned["time"] = times[0]
    remaining = [name for name in remaining if name != assigned.get("time")]
    if "rating" in roles and remaining and columns.parse_numbers(_number_cells(table, remaining[0]))[1].mean() > 0.5:
        assigned["rating"] = remaining[0]
    return assigned


def _number_cells(table: Table, column: str) -> pd.Series:
    """Return the cells of a column of numbers. Decimal commas are replaced by points, if the table can have them."""
    cells = table.rows[column].str.strip()
    return columns.with_decimal_points(cells) if table.can_have_decimal_commas else cells


def _has_fractions(cells: pd.Series) -> bool:
    """Return whether at least half of the cells are fractions."""
    return bool(cells.head(SAMPLE_ROWS).str.fullmatch(_FRACTION).mean() >= 0.5)


def _is_date(cells: pd.Series) -> bool:
    """Return whether most cells are dates, and none is a number."""
    sample = cells.head(SAMPLE_ROWS)
    _, is_valid, time_format = columns.parse_timestamps(sample)
    return time_format == "dates" and 2 * is_valid.sum() > len(sample) and not columns.parse_numbers(sample)[1].any()


def _looks_like_time(cells: pd.Series) -> bool:
    """Return whether at least half of the cells are dates, or numbers above 100 million, which cannot be ratings."""
    seconds, is_valid, time_format = columns.parse_timestamps(cells)
    is_mostly_valid = is_valid.any() and 2 * is_valid.sum() >= len(cells)
    return bool(is_mostly_valid and (time_format != "seconds" or np.median(seconds[is_valid]) > 1e8))


def check(
    table: Table, items: Table | None = None, column_choices: dict[Role, str] | None = None, noun: Noun = "item"
) -> CheckedFile:
    """Check an event file and an optional item file, and count their problems.

    For `column_choices`, see `assign_columns`. Raises DataError if no row can be used, or if a column has the wrong
    content.
    """
    column_names = assign_columns(table, column_choices)

    def cells(role: Role) -> pd.Series:  # computed again each time, because a file may have two million rows
        return table.rows[column_names[role]].str.strip()

    is_complete = ~(columns.is_missing(cells("user")) | columns.is_missing(cells("item")))
    has_times = "time" in column_names and not columns.is_missing(cells("time")).all()
    if has_times:
        time, is_valid, time_format = columns.parse_timestamps(cells("time"))
        is_used = is_complete & is_valid
        if 2 * is_valid.sum() < len(is_valid):
            raise DataError(
                "{name}: {example!r} in its column {column} cannot be read as a time; write seconds "
                "since 1970 or dates such as 2024-01-31, or use the order of the rows as the order of events: "
                "--time-col none",
                app_text="{name}: {example!r} in its column {column} cannot be read as a time; write seconds since "
                "1970 or dates such as 2024-01-31, or choose “none” for “Time” to use the order of the rows",
                name=table.name,
                example=next(iter(cells("time")[is_complete & ~is_valid]), ""),
                column=column_names["time"],
            )
    else:
        time, time_format = np.arange(len(is_complete), dtype=np.int32), ""
        is_used = is_complete
    if not is_used.any():
        text = "{name} has no row with a person and an item; choose another file or other columns"
        raise DataError(text, name=table.name)
    rating_cells = _number_cells(table, column_names["rating"]) if "rating" in column_names else None
    rating, is_rated = _ratings(rating_cells, len(is_used))
    used_rows = slice(None) if is_used.all() else is_used  # a slice does not copy the columns
    user_index, user_ids, user_names = _ids(cells("user")[used_rows])
    item_index, item_ids, item_names = _ids(cells("item")[used_rows])
    time, rating, is_rated = time[used_rows], rating[used_rows], is_rated[used_rows]
    tie_keys = random_sort_keys(user_ids[user_index], item_ids[item_index], TIES_SEED) if has_times else None
    order, sort_counts = _event_rows(user_index, item_index, time, tie_keys)
    films, item_counts = _item_films(item_ids, item_names, items)
    user_index, item_index, rating, is_rated = user_index[order], item_index[order], rating[order], is_rated[order]
    history_lengths = np.bincount(user_index)
    timestamp = np.floor(time[order]).astype(np.int64)
    raw = RawRatings(user_ids[user_index], item_ids[item_index], rating, timestamp, films)
    counts = {
        "rows": len(table.rows),
        "multiline": table.n_multiline_rows,
        "events": len(order),
        "people": len(history_lengths),
        "items": len(item_ids),
        "incomplete": int((~is_complete).sum()),
        "untimed": int((is_complete & ~is_used).sum()),
        "unrated": int((~is_rated).sum()),
        "one_event": int((history_lengths == 1).sum()),
        "two_events": int((history_lengths == 2).sum()),
        **sort_counts,
        **item_counts,
    }
    given_ratings = rating[is_rated] if "rating" in column_names else rating[:0]
    messages = _messages(table, column_names, raw.timestamp, time_format, given_ratings, counts)
    return CheckedFile(raw, user_names, noun, column_names, time_format, counts, messages)


def _messages(
    table: Table,
    column_names: dict[Role, str],
    timestamps: np.ndarray,
    time_format: str,
    ratings: np.ndarray,
    counts: dict[str, int],
) -> list[Message]:
    """Return `CheckedFile.messages`."""
    size = Message(
        "{rows}: {people}, {items}, {events}",
        rows=Message("{n:,} row", plural="{n:,} rows", n=counts["rows"]),
        people=Message("{n:,} person", plural="{n:,} people", n=counts["people"]),
        items=Message("{n:,} item", plural="{n:,} items", n=counts["items"]),
        events=Message("{n:,} event", plural="{n:,} events", n=counts["events"]),
    )
    role_messages = []
    for role, name in column_names.items():
        column = name if table.has_header else Message("column {n}", n=name)
        role_messages.append(Message("{role} = {column}", role=Message(_ROLE_NAMES[role]), column=column))
    roles = role_messages[0]
    for role_message in role_messages[1:]:
        roles = Message("{roles}, {role}", roles=roles, role=role_message)
    text = "read as {columns}" if table.has_header else "the first row has no column names; read as {columns}"
    read_as = Message(text, columns=roles)
    times = Message("there are no times, so the order of the rows is used")
    if time_format:
        start, end = np.array([timestamps.min(), timestamps.max()]).astype("datetime64[s]").astype("datetime64[D]")
        text = "times are {written}, {start} to {end}"
        times = Message(text, written=Message(_TIME_FORMATS[time_format]), start=start, end=end)
    messages = [size, read_as, times]
    if len(ratings):
        messages.append(Message("ratings go from {low:g} to {high:g}", low=ratings.min(), high=ratings.max()))
    if table.is_encoding_guessed:
        messages.append(Message(text_encoding.GUESSED_WARNING))
    problems = ((text, counts.get(name, 0)) for name, text in _COUNT_TEXTS.items())
    return messages + [Message("{what}: {n:,}", what=Message(text), n=n) for text, n in problems if n]


def _ratings(cells: pd.Series | None, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings, (R,) float32, and whether each is valid, (R,) bool.

    Invalid ratings become the mean of the valid ratings. If `cells` is None, all ratings are 1 and valid. Raises
    DataError if no rating is valid.
    """
    if cells is None:
        return np.broadcast_to(np.float32(1), n_rows), np.broadcast_to(True, n_rows)
    numbers, is_valid = columns.parse_numbers(cells)
    is_valid &= np.abs(numbers) <= MAX_RATING
    if not is_valid.any():
        raise DataError(
            "the column {name} has no numbers, so it cannot be the rating; to import no ratings: --rating-col none",
            app_text="the column {name} has no numbers, so it cannot be the rating; to import no ratings, choose "
            "“none” for “Rating”",
            name=cells.name,
        )
    return np.where(is_valid, numbers, numbers[is_valid].mean()).astype(np.float32), is_valid


def _ids(cells: pd.Series) -> tuple[np.ndarray, np.ndarray, pd.Series]:
    """Return ids of texts: the numbers themselves if all texts are numbers, else numbers from 1 in alphabetical order.

    The number 7 can be written as 7.0, because pandas writes it if the column has missing cells. Raises DataError for a
    text that is longer than MAX_ID_LENGTH.

    Returns:
        Index of each row's id in the distinct ids, (R,) int32. The distinct ids, ascending. Id → text, empty if all
        texts are numbers.
    """
    text_index, texts = pd.factorize(cells, sort=True)
    if max(map(len, texts)) > MAX_ID_LENGTH:
        raise DataError(
            "the column {name} has an ID of more than {longest:,} characters; is it the right column?",
            name=cells.name,
            longest=MAX_ID_LENGTH,
        )
    numbers = [text.removesuffix(".0") for text in texts]
    if all(map(INTEGER_ID.fullmatch, numbers)):
        ids, id_index = np.unique(np.array(numbers, np.int64), return_inverse=True)
        return id_index.astype(np.int32)[text_index], ids, pd.Series(dtype="str")
    ids = np.arange(1, len(texts) + 1)
    return text_index.astype(np.int32), ids, pd.Series(texts, index=ids, dtype="str")


def _event_rows(
    user: np.ndarray, item: np.ndarray, time: np.ndarray, tie_keys: np.ndarray | None
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the row numbers (E,) of the events, sorted by user and time, and entries of `CheckedFile.counts`.

    Repeated rows are left out. Rows with equal user and time are sorted by `tie_keys` (R,). If `tie_keys` is None,
    there are no times: the rows of a user keep their order, and each row is an event. `user` and `item` can be ids or
    indices.
    """
    order = np.argsort(user, kind="stable")
    if tie_keys is None:
        return order, {"repeated_rows": int(is_duplicate(user, item).sum())}
    n_unsorted = int((equals_previous(user[order]) & (np.diff(time[order]) < 0)).sum())
    order = np.lexsort((tie_keys, time, user))
    is_repeated = is_duplicate(user[order], item[order], time[order])
    n_duplicates = int(is_repeated.sum())
    n_repeated_items = int(is_duplicate(user[order], item[order]).sum()) - n_duplicates  # at other times
    return order[~is_repeated], {"duplicates": n_duplicates, "repeated_items": n_repeated_items, "unsorted": n_unsorted}


def _item_films(ids: np.ndarray, names: pd.Series, items: Table | None) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the film table of all items, and entries of `CheckedFile.counts` about the item file.

    `ids` and `names` are the distinct ids, and id → text, of the items in the event file, see `_ids`.
    """
    has_text_ids = len(names) > 0
    file_ids = names.reindex(ids) if has_text_ids else pd.Series(ids.astype(str), index=ids, dtype="str")
    if items is None:
        return _films(ids, file_ids.to_numpy(), pd.DataFrame(index=file_ids.to_numpy()), has_text_ids), {}
    table, n_unsafe_images = _item_table(items, has_text_ids)
    unused = table.index.difference(pd.Index(file_ids.to_numpy()))
    if has_text_ids:
        unused_ids = np.arange(len(unused)) + int(ids.max()) + 1
    else:
        # all ids in the event file are numbers and become the movie ids, so items with other ids are left out
        unused = unused[unused.str.fullmatch(INTEGER_ID.pattern)]
        unused_ids = unused.astype("int64").to_numpy()
    all_file_ids = np.concatenate([file_ids.to_numpy(object), unused.to_numpy(object)])
    n_undescribed = int((~file_ids.isin(table.index)).sum())
    counts = {"undescribed": n_undescribed, "unused": len(unused), "unsafe_images": n_unsafe_images}
    return _films(np.concatenate([ids, unused_ids]), all_file_ids, table, has_text_ids), counts


def _item_table(items: Table, has_text_ids: bool) -> tuple[pd.DataFrame, int]:
    """Return an item file as a table, and the number of image addresses without https.

    The index of the table is the item id in the file. The columns are the other keys of `columns.ITEM_ROLES` that the
    file has, and "text" for further columns of prose. If the ids in the event file are numbers, 7.0 in the item file is
    the id 7.
    """
    names = list(items.rows.columns)
    matches = {role: columns.matching_names(names, usual) for role, usual in columns.ITEM_ROLES.items()}
    column_names = {role: matching[0] for role, matching in matches.items() if matching}
    column_names.setdefault("item", names[0])
    if not items.has_header and len(names) > 1:
        column_names["title"] = names[1]
    cells = {role: items.rows[name].str.strip() for role, name in column_names.items()}
    other_columns = [items.rows[name].str.strip() for name in names if name not in column_names.values()]
    prose = [column for column in other_columns if _is_prose(column)]
    if prose and items.has_header:
        cells["text"] = pd.Series([". ".join(filter(None, row)) for row in zip(*prose, strict=True)], dtype="str")
    if not has_text_ids:
        cells["item"] = cells["item"].str.removesuffix(".0")
    n_unsafe_images = 0
    if "image" in cells:
        is_safe = cells["image"].str.match(r"https://\S+$")
        n_unsafe_images = int((~is_safe & (cells["image"] != "")).sum())
        cells["image"] = cells["image"].where(is_safe, "")
    table = pd.DataFrame(cells)
    return table[~columns.is_missing(table["item"])].drop_duplicates("item").set_index("item"), n_unsafe_images


def _is_prose(cells: pd.Series) -> bool:
    """Return whether cells are text: fewer than half are numbers, and at most half are web addresses."""
    cells = cells[cells != ""]
    if not len(cells):
        return False
    is_number, is_address = columns.parse_numbers(cells)[1], cells.str.match(r"https?://")
    return bool(is_number.mean() < 0.5 and is_address.mean() <= 0.5)


def _films(ids: np.ndarray, file_ids: np.ndarray, table: pd.DataFrame, has_text_ids: bool) -> pd.DataFrame:
    """Return the film table (I, 7 to 10) of items with these numeric ids and these ids in the file.

    `table` is the result of `_item_table`. If the ids in the file are texts, they become the column "item_id".
    """
    rows = table.reindex(file_ids).fillna("").astype("str").reset_index(drop=True)
    cells = rows.reindex(columns=[*columns.ITEM_ROLES], fill_value="")
    genre_lists, films = _genres(cells["genres"].tolist()), []
    for movie, file_id, genres, row in zip(ids.tolist(), file_ids, genre_lists, cells.itertuples(), strict=True):
        title, year = _title(row.title or str(file_id), row.year)
        # pandas writes 862.0 if other cells of the column are missing
        imdb, tmdb_text = movielens_files.imdb_id(row.imdb_id.removesuffix(".0")), row.tmdb_id.removesuffix(".0")
        tmdb = int(tmdb_text) if INTEGER_ID.fullmatch(tmdb_text) else None
        films.append((movie, title, year, genres, row.tags.replace("|", ", "), imdb, tmdb))
    frame = film_table(films)
    if has_text_ids:
        frame["item_id"] = pd.array(file_ids, dtype="str")
    return frame.assign(**{name: rows[name] for name in ("image", "text") if name in rows})


def _title(title: str, year: str) -> tuple[str, int | None]:
    """Return title and year of an item. The year is in the text `year` or, as in MovieLens, at the end of the title.

    A year at the end of the title is removed, unless `year` has another year.
    """
    plain_title, title_year = titles.title_and_year(title)
    match = re.search(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)", year)
    film_year = int(match[0]) if match else title_year
    has_same_year = title_year is not None and title_year == film_year
    return (plain_title if has_same_year else title[: titles.MAX_TITLE_LENGTH]), film_year


def _genres(cells: list[str]) -> list[str]:
    """Return each cell as "Action|Sci-Fi". The separator of the file is the bar, else the semicolon, else the comma."""
    separator = next((sign for sign in "|;" if any(sign in text for text in cells)), ",")
    parts = [[part.strip() for part in text.strip("[]").split(separator)] for text in cells]
    return ["|".join(part.strip("'\"") for part in row if part) for row in parts]


def check_name(name: str) -> None:
    """Raise DataError for a name that is invalid or taken."""
    if not DATASET_NAME.fullmatch(name) or name.endswith("."):
        text = "{name!r} is not a valid name for a data set; use at most 40 Latin letters, digits, dots and dashes"
        raise DataError(text, name=name)
    if name.casefold() in datasets.PUBLISHED or name.casefold() in RESERVED_NAMES:
        raise DataError("the name {name} is reserved; choose another one", name=name)


def is_own(name: str) -> bool:
    """Return whether this is the name of an own data set on this computer. The data set can be damaged."""
    is_published = name.casefold() in datasets.PUBLISHED
    return bool(DATASET_NAME.fullmatch(name)) and not is_published and paths.prepared(name).is_dir()


def add(name: str, checked: CheckedFile, source: str, min_ratings: int = 0, overwrite: bool = False) -> Dataset:
    """Add a checked file as a data set. Raises DataError if the name is invalid or taken.

    Args:
        name: Name of the data set.
        checked: Result of `check`.
        source: Name of the file.
        min_ratings: Minimum number of events of an item that is used for training.
        overwrite: Whether an own data set of this name is replaced.
    """
    check_name(name)
    min_ratings = max(1, min_ratings)
    with exclusive_folder(paths.downloads() / "own"):
        if paths.prepared(name).exists() and not (overwrite and is_own(name)):
            raise DataError(
                "a data set called {name} exists already; choose another name, or add --replace",
                app_text="a data set called {name} exists already; choose another name",
                name=name,
            )
        dataset = assemble(name, checked.raw, min_ratings, noun=checked.noun)
        names = checked.user_names.reindex(dataset.user_ids).to_numpy(object) if len(checked.user_names) else None
        dataset = replace(dataset, ties="drawn" if checked.time_format else "rows", user_names=names)
        prepared.save(dataset, {"file": source, "own": True, "fewest": min_ratings})
        paths.details(name).unlink(missing_ok=True)  # of the replaced data set
    return prepared.load(name)


def describe_dropped(checked: CheckedFile, dataset: Dataset) -> str:
    """Return a sentence about the items, events and people that --min-ratings has removed, "" if there are none."""
    people, items = checked.counts["people"] - dataset.n_users, checked.counts["items"] - dataset.n_items
    events = checked.counts["events"] - len(dataset.interactions)
    if not events:
        return ""
    item_text, event_text = ("item" if items == 1 else "items"), ("event" if events == 1 else "events")
    people_text = "person" if people == 1 else "people"
    left_out = f"{items:,} {item_text} with too few events, {events:,} {event_text}, and {people:,} {people_text}"
    return f"left out: {left_out} who had no others"


def remove(name: str) -> None:
    """Delete an own data set with its models, results and vectors. Raises DataError for other data sets."""
    if not is_own(name):
        text = "{name} is not a data set that was added on this computer; see: {command}"
        raise DataError(text, name=name, command=recsys_command("data", "list"))
    files = [paths.ties(paths.home(), name)]  # these result files are in folders that several data sets share
    for path in paths.studies(paths.home()).glob(f"*-{name}.json"):
        with suppress(OSError, storage.DamagedFileError):
            if storage.read_document(path).get("dataset") == name:
                files.append(path)
    folders = paths.dataset_folders(name)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for path in files:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    if undeleted := [str(path) for path in (*folders, *files) if path.exists()]:
        raise DataError("cannot delete {files}; check the permissions", files=", ".join(undeleted))
