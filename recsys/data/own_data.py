"""Anybody's own data: a file of who had what, checked and counted first, then a set like any other.

Nothing is left out in silence: `check` counts what a file says, `Facts.sentences` says it. Ids of text are numbered and
kept as titles and names. Without times the order of the rows counts. Shapes: R rows of a file, E events, I items.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from recsys import paths
from recsys.data import columns, datasets, movielens_files, prepared, text_encoding, titles
from recsys.data.assemble import TIES_SEED, RawRatings, assemble
from recsys.data.dataset import MORE_COLUMNS, MOVIE_COLUMNS, DataError, Dataset, Noun, Ties
from recsys.data.download import exclusive_folder
from recsys.data.tables import Table
from recsys.data.tie_breaking import equals_previous, is_duplicate, random_sort_keys
from recsys.errors import recsys_command

Role = str  # "user", "item", "rating" or "time"
NONE = "none"  # in place of a column's name: do without it
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
RESERVED_NAMES = {"ties", "studies"}  # folders beside those of the data sets
INTEGER_ID = re.compile(r"(0|[1-9][0-9]{0,14})")  # ids that are kept as numbers: exact even where a number is a float
FEW = 3  # events from which a person's last can be held out
MOST = 1e6  # a rating beyond it, up or down, is a slip or a code for none
LONGEST = 1_000  # characters by which a person or an item is called


@dataclass(frozen=True)
class ImportSummary:
    """What was counted in a file of interactions, and what became of it."""

    rows: int
    events: int  # rows that are used
    people: int
    items: int
    columns: dict[Role, str]  # where each was found
    has_header: bool
    times: str = ""  # how they are written, as `columns.parse_timestamps` tells; "": there are none
    span: tuple[str, str] = ("", "")  # the days of the first and the last
    scale: tuple[float, float] | None = None  # the lowest and the highest rating; None: there are none
    guessed: bool = False  # whether the encoding of the file was
    incomplete: int = 0  # rows without a person or an item: left out
    untimed: int = 0  # rows whose time is missing or cannot be read: left out
    repeated: int = 0  # rows that say again what another said: left out
    again: int = 0  # events of an item that the same person had before, at another time
    unrated: int = 0  # rows without a rating, in a file that has ratings: they count as the mean
    unsorted: int = 0  # rows that are earlier than the row before of the same person
    single: int = 0  # people with one event
    brief: int = 0  # people with two
    undescribed: int = 0  # items that the file of items does not have
    unused: int = 0  # items of that file that nobody had
    unsafe: int = 0  # addresses of pictures that are none of the web

    def sentences(self, say: Callable[[str], str] = str) -> list[str]:
        """Everything that a person should know, a sentence each, without full stops; say: puts it in their language."""
        written = {"written": say(_WRITTEN.get(self.times, "")), "first": self.span[0], "last": self.span[1]}
        return [
            say("{rows:,} rows: {people:,} people, {items:,} items, {events:,} events").format(**vars(self)),
            say(_READ_AS if self.has_header else _READ_WITHOUT_NAMES).format(found=self._found(say)),
            say(_TIMES if self.times else _NO_TIMES).format(**written),
            *([say(_SCALE).format(low=self.scale[0], high=self.scale[1])] if self.scale else []),
            *([say(text_encoding.GUESSED)] if self.guessed else []),
            *(f"{say(words)}: {n:,}" for name, words in _COUNTED.items() if (n := getattr(self, name))),
        ]

    def _found(self, say: Callable[[str], str]) -> str:
        """Which column is what."""
        place = "{name}" if self.has_header else say("column {n}")
        columns = ((say(_ROLE_NAMES[role]), place.format(name=name, n=name)) for role, name in self.columns.items())
        return ", ".join(f"{role} = {column}" for role, column in columns)


_TIMES, _SCALE = "times are {written}, {first} to {last}", "ratings go from {low:g} to {high:g}"
_NO_TIMES = "there are no times: the order of the rows counts"
_READ_AS, _READ_WITHOUT_NAMES = "read as {found}", "no names of columns in the first row; read as {found}"
_ROLE_NAMES: dict[Role, str] = {"user": "person", "item": "item", "rating": "rating", "time": "time"}
_WRITTEN = {unit: f"in {unit} since 1970" for unit in columns.UNITS} | {"dates": "dates"}
_COUNTED = {
    "incomplete": "rows left out because a person or an item is missing",
    "untimed": "rows left out because their time cannot be read",
    "repeated": "rows that repeat another (same person, item and time) and count once",
    "again": "events of an item that the same person had before, which stay",
    "unrated": "rows without a rating, which count as the mean of the others",
    "unsorted": "rows earlier than one before them; everybody's events are sorted by time",
    "single": "people with one event: recommenders learn from them, but are not tested on them",
    "brief": "people with two events: recommenders learn from them, but are not tested on them",
    "undescribed": "items that the file of items lacks, which show their ids",
    "unused": "items of the file of items that nobody had: they can be found, but nothing is learnt of them",
    "unsafe": "pictures without a web address (https://…), which are not shown",
}


@dataclass(frozen=True)
class Checked:
    """A file that can become a set, and what was found in it."""

    facts: ImportSummary
    raw: RawRatings  # events in the order that counts, oldest first for each person
    ties: Ties
    user_names: pd.Series = field(repr=False)  # by id; empty where the ids are numbers
    noun: Noun


def assign_columns(table: Table, wanted: dict[Role, str] | None = None) -> dict[Role, str]:
    """Which column is what, by names and by content; `wanted` wins, "none" in it does without a column.

    Columns may be named or, from 1, counted. Raises DataError where person and item cannot be told.
    """
    wanted = wanted or {}
    names = list(table.rows.columns)
    found = {role: column_of(table, text) for role, text in wanted.items() if text and text != NONE}
    left = {role: known for role, known in columns.ROLES.items() if not wanted.get(role)}
    free = [name for name in names if name not in found.values()]
    if table.has_header:
        guessed = {role: columns.named(free, known) for role, known in left.items()}
    else:
        guessed = _by_content(table, free, list(left))
    found |= {role: name for role, name in guessed.items() if name}
    if missing := [_ROLE_NAMES[role] for role in ("user", "item") if role not in found]:
        raise DataError(
            f"{table.name} has the columns {', '.join(names)}, and which is the {' and which the '.join(missing)} does "
            "not show; say so: --user-col NAME --item-col NAME"
        )
    return {role: found[role] for role in _ROLE_NAMES if role in found}


def column_of(table: Table, text: str) -> str:
    """The column that a person means, by its name or, from 1, its place. Raises DataError that lists what there is."""
    names = list(table.rows.columns)
    if text in names:
        return text
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    raise DataError(f"{table.name} has no column {text}; there are: {', '.join(names)}")


def _by_content(table: Table, free: list[str], left: list[Role]) -> dict[Role, str | None]:
    """Person, item, rating and time in a file that does not name them: in this order, but for what looks like times."""
    rest: list[str] = list(free)
    guessed: dict[Role, str | None] = {}
    for role in ("user", "item"):
        if role in left:
            guessed[role] = rest.pop(0) if rest else None
    timed = next((name for name in rest if _looks_like_time(table.rows[name])), None)
    if "time" in left and timed:
        guessed["time"] = timed
        rest.remove(timed)
    if "rating" in left and rest:
        guessed["rating"] = rest[0] if _numbers(table.rows[rest[0]])[1].mean() > 0.5 else None
    return guessed


def _looks_like_time(cells: pd.Series) -> bool:
    """Numbers above a hundred million, which no rating reaches, or dates."""
    found, known, unit = columns.parse_timestamps(cells)
    if not known.any() or 2 * known.sum() < len(cells):
        return False
    return unit != "seconds" or float(np.median(found[known])) > 1e8


def _numbers(cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(R,) float64, and (R,) bool where they are numbers."""
    found = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return found, np.isfinite(found)


def check(
    table: Table,
    items: Table | None = None,
    wanted: dict[Role, str] | None = None,
    noun: Noun = "item",
) -> Checked:
    """Read a file of interactions and, if there is one, of items; count what is wrong with them.

    Raises DataError where nothing would be left.
    """
    found = assign_columns(table, wanted)

    def cells(role: Role) -> pd.Series:  # made anew each time: a file of 10 MB may have two million rows
        return table.rows[found[role]].str.strip()

    complete = ~(columns.is_missing(cells("user")) | columns.is_missing(cells("item")))
    timed, time, unit = complete, np.arange(len(complete), dtype=np.int32), ""
    if "time" in found and not columns.is_missing(cells("time")).all():
        time, known, unit = columns.parse_timestamps(cells("time"))
        timed = complete & known
        if 2 * known.sum() < len(known):
            raise _no_times(table, found["time"], cells("time")[complete & ~known])
    if not timed.any():
        raise DataError(f"{table.name} has no row with a person and an item; choose another file or other columns")
    rating, rated = _ratings(cells("rating") if "rating" in found else None, len(timed))
    kept = slice(None) if timed.all() else timed
    user, user_ids, user_names = _ids(cells("user")[kept])
    item, item_ids, item_names = _ids(cells("item")[kept])
    time, rating, rated = time[kept], rating[kept], rated[kept]
    lot = random_sort_keys(user_ids[user], item_ids[item], TIES_SEED) if unit else None
    order, repeated, again, unsorted = _in_order(user, item, time, lot)
    films, described = _described(item_ids, item_names, items)
    user, item, rating, rated = user[order], item[order], rating[order], rated[order]
    sizes = np.bincount(user)
    raw = RawRatings(user_ids[user], item_ids[item], rating, np.floor(time[order]).astype(np.int64), films)
    stars = rating[rated] if "rating" in found else rating[:0]
    facts = ImportSummary(
        len(table.rows),
        len(order),
        len(sizes),
        len(item_ids),
        found,
        table.has_header,
        unit,
        (_day(raw.timestamp.min()), _day(raw.timestamp.max())),
        (float(stars.min()), float(stars.max())) if len(stars) else None,
        table.guessed,
        incomplete=int((~complete).sum()),
        untimed=int((complete & ~timed).sum()),
        repeated=repeated,
        again=again,
        unrated=int((~rated).sum()),
        unsorted=unsorted,
        single=int((sizes == 1).sum()),
        brief=int((sizes == 2).sum()),
        **described,
    )
    return Checked(facts, raw, "drawn" if unit else "rows", user_names, noun)


def _day(seconds: int) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))


def _no_times(table: Table, name: str, bad: pd.Series) -> DataError:
    example = bad.iloc[0] if len(bad) else ""
    return DataError(
        f"{table.name}: {example!r} in its column {name} is no time that can be read; write seconds since 1970 or "
        "dates such as 2024-01-31, or do without times: --time-col none"
    )


def _ratings(cells: pd.Series | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """(R,) float32, the mean where there is none, and (R,) bool whether it was there; 1 for all without a column."""
    if cells is None:
        return np.broadcast_to(np.float32(1), rows), np.broadcast_to(True, rows)
    found, known = _numbers(cells)
    known &= np.abs(found) <= MOST
    if not known.any():
        raise DataError(f"the column {cells.name} holds no ratings, which are numbers; do without: --rating-col none")
    return np.where(known, found, found[known].mean()).astype(np.float32), known


def _ids(cells: pd.Series) -> tuple[np.ndarray, np.ndarray, pd.Series]:
    """(R,) int32 places in the (n,) int64 ascending ids, and id → text.

    The ids are the texts where those are whole numbers, and nothing is said of them then; else the texts are numbered
    in their order from 1.
    """
    codes, texts = pd.factorize(cells, sort=True)
    if max(map(len, texts)) > LONGEST:
        raise DataError(
            f"the column {cells.name} holds a name of more than {LONGEST:,} characters; is it the right one?"
        )
    if all(INTEGER_ID.fullmatch(text) for text in texts):
        ids, places = np.unique(np.array([int(text) for text in texts], np.int64), return_inverse=True)
        return places.astype(np.int32)[codes], ids, pd.Series(dtype="str")
    ids = np.arange(1, len(texts) + 1)
    return codes.astype(np.int32), ids, pd.Series(texts, index=ids, dtype="str")


def _in_order(
    user: np.ndarray, item: np.ndarray, time: np.ndarray, lot: np.ndarray | None
) -> tuple[np.ndarray, int, int, int]:
    """(E,) rows by person and exact time, repeated ones once; how many were repeated, came again, were unsorted.

    Rows of the same time are put in the order of the (R,) `lot` drawn for them: that of a file says nothing of taste.
    Without one the order of the rows counts, and what repeats a person and an item repeats all that is known.
    """
    order = np.argsort(user, kind="stable")
    if lot is None:
        repeated = is_duplicate(user[order], item[order])
        return order[~repeated], int(repeated.sum()), 0, 0
    unsorted = int((equals_previous(user[order]) & (np.diff(time[order]) < 0)).sum())
    order = np.lexsort((lot, time, user))
    again, repeated = is_duplicate(user[order], item[order]), is_duplicate(user[order], item[order], time[order])
    return order[~repeated], int(repeated.sum()), int(again.sum() - repeated.sum()), unsorted


def _described(ids: np.ndarray, names: pd.Series, items: Table | None) -> tuple[pd.DataFrame, dict[str, int]]:
    """The film table of all items, from the file of items where there is one, and what has to be said of that."""
    texts = names.reindex(ids) if len(names) else pd.Series(ids.astype(str), index=ids, dtype="str")
    if items is None:
        return _films(ids, texts.to_numpy(), pd.DataFrame(index=texts.to_numpy()), len(names) > 0), {}
    table, unsafe = _item_table(items)
    more = table.index.difference(pd.Index(texts.to_numpy()))
    if len(names):
        extra_ids = np.arange(len(more)) + int(ids.max()) + 1
    else:
        more = more[[bool(INTEGER_ID.fullmatch(text)) for text in more]]
        extra_ids = more.astype("int64").to_numpy()
    everything = np.concatenate([texts.to_numpy(object), more.to_numpy(object)])
    counted = {"undescribed": int((~texts.isin(table.index)).sum()), "unused": len(more), "unsafe": unsafe}
    films = _films(np.concatenate([ids, extra_ids]), everything, table, len(names) > 0)
    return films, counted


def _item_table(items: Table) -> tuple[pd.DataFrame, int]:
    """A file of items by the text of their ids, the first where one is described twice; how many addresses are none."""
    names = list(items.rows.columns)
    found = {role: columns.named(names, known) for role, known in columns.DESCRIBED.items()}
    found = {role: name for role, name in found.items() if name}
    if "item" not in found:
        found["item"] = names[0]
    if not items.has_header and len(names) > 1:
        found["title"] = names[1]
    cells = {role: items.rows[name].str.strip() for role, name in found.items() if name}
    rest = [items.rows[name].str.strip() for name in names if name not in found.values() and _is_text(items, name)]
    if rest and items.has_header:
        cells["text"] = pd.Series([". ".join(filter(None, row)) for row in zip(*rest, strict=True)], dtype="str")
    unsafe = 0
    if "image" in cells:
        safe = cells["image"].str.match(r"https://\S+$")
        unsafe = int((~safe & (cells["image"] != "")).sum())
        cells["image"] = cells["image"].where(safe, "")
    table = pd.DataFrame(cells).set_index("item")
    return table[~table.index.duplicated()], unsafe


def _is_text(items: Table, name: str) -> bool:
    """Whether a column says something of items in words: most of what stands in it are no numbers, nor addresses."""
    cells = items.rows[name].str.strip()
    said = cells[cells != ""]
    if not len(said):
        return False
    return bool((~_numbers(said)[1]).mean() > 0.5) and not bool(said.str.match(r"https?://").mean() > 0.5)


def _films(ids: np.ndarray, texts: np.ndarray, table: pd.DataFrame, named: bool) -> pd.DataFrame:
    """(I, 7 or more) the film table of items by their ids and what the file calls them; named: ids are mere numbers."""
    known = table.reindex(texts).reset_index(drop=True)
    blank = pd.Series([""] * len(ids), dtype="str")
    given = {role: known[role].fillna("").astype("str") if role in known else blank for role in columns.DESCRIBED}
    named_so = [
        _title(title or str(text), year) for title, text, year in zip(given["title"], texts, given["year"], strict=True)
    ]
    films = pd.DataFrame({"movie_id": ids.astype("int64"), "title": pd.array([name for name, _ in named_so], "str")})
    films["year"] = pd.array([year for _, year in named_so], dtype="Int64")
    films["genres"] = _genres(given["genres"])
    films["tags"] = given["tags"].str.replace("|", ", ", regex=False)
    films["imdb_id"] = [movielens_files.imdb_id(text) for text in given["imdb_id"]]
    films["tmdb_id"] = pd.array([int(t) if INTEGER_ID.fullmatch(t) else None for t in given["tmdb_id"]], dtype="Int64")
    films = films[list(MOVIE_COLUMNS)].astype({"genres": "str", "tags": "str"})
    more = {"item_id": pd.Series(texts, dtype="str") if named else None}
    more |= {name: known[name].fillna("").astype("str") if name in known else None for name in ("image", "text")}
    return films.assign(**{name: more[name] for name in MORE_COLUMNS if more[name] is not None})


def _title(title: str, year: str) -> tuple[str, int | None]:
    """A title and its year, from a column of years or else, as MovieLens writes it, from its end."""
    title = title[: titles.LONGEST]
    if found := re.search(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)", year):
        plain, own = titles.title_and_year(title)
        return (plain if own == int(found[0]) else title), int(found[0])
    plain, own = titles.title_and_year(title)
    return (title, None) if own is None else (plain, own)


def _genres(cells: pd.Series) -> pd.Series:
    """ "Action|Sci-Fi", whichever of | ; , stands between them in the file."""
    for separator in ("|", ";", ","):
        if cells.str.contains(separator, regex=False).any():
            break
    parts = [[part.strip() for part in text.strip("[]").split(separator)] for text in cells]
    return pd.Series(["|".join(part.strip("'\"") for part in row if part) for row in parts], dtype="str")


def check_name(name: str) -> None:
    """Raises DataError for a name that no folder, or another set, should have."""
    if not NAME.fullmatch(name) or name.endswith("."):
        raise DataError(f"{name!r} is no name for a data set; take up to 40 letters, digits, dots and dashes")
    if name.casefold() in datasets.SETS or name.casefold() in RESERVED_NAMES:
        raise DataError(f"{name} is the name of something else; take another")


def is_own(name: str) -> bool:
    """Whether somebody added this set here, be it damaged or not."""
    published = name.casefold() in datasets.SETS
    return bool(NAME.fullmatch(name)) and not published and paths.prepared(name).is_dir()


def add(name: str, checked: Checked, source: str, min_ratings: int = 0, again: bool = False) -> Dataset:
    """Keep a checked file as a set. Items with fewer than `min_ratings` events are left out of what is learnt from.

    source: the name of the file; again: in place of the one of that name. Raises DataError.
    """
    check_name(name)
    fewest = max(1, min_ratings)
    with exclusive_folder(paths.downloads() / "own"):
        if paths.prepared(name).exists() and not (again and is_own(name)):
            raise DataError(f"there is a set called {name} already; take another name, or add --replace")
        made = assemble(name, checked.raw, fewest)
        names = checked.user_names.reindex(made.user_ids).to_numpy(object) if len(checked.user_names) else None
        made = replace(made, ties=checked.ties, user_names=names, noun=checked.noun)
        prepared.save(made, {"file": source, "own": True, "fewest": fewest})
        paths.details(name).unlink(missing_ok=True)  # of other items by the same numbers
    return prepared.load(name)


def left_out(checked: Checked, dataset: Dataset) -> str:
    """What --min-ratings took away, as a sentence; "" for nothing."""
    people, items = checked.facts.people - dataset.n_users, checked.facts.items - dataset.n_items
    events = checked.facts.events - len(dataset.interactions)
    if not events:
        return ""
    return f"left out: {items:,} items with too few events, {events:,} events, and {people:,} people who had no others"


def remove(name: str) -> None:
    """Delete a set of one's own and all that was made of it: models, results, vectors. Raises DataError for others."""
    if not is_own(name):
        raise DataError(f"{name} is no set that was added here; see: {recsys_command('data', 'list')}")
    for folder in paths.dataset_folders(name):
        shutil.rmtree(folder, ignore_errors=True)
    if left := [str(folder) for folder in paths.dataset_folders(name) if folder.exists()]:
        raise DataError(f"cannot delete {', '.join(left)}; see who may write there")
