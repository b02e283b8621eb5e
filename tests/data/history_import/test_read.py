import json
import tomllib
from datetime import datetime

import pytest

from recsys.data.history_import import csv_text, dates
from recsys.data.history_import.entries import MAX_FILE_BYTES, NO_ANSWERS, Answers, Columns, HistoryError, Reason
from recsys.data.history_import.read import read
from recsys.paths import REPOSITORY
from tests.data.history_import import files


@pytest.fixture(autouse=True)
def on_22_november(monkeypatch):
    monkeypatch.setattr(dates, "now", lambda: datetime(2026, 11, 22))


def read_single(text, answers=NO_ANSWERS, name="any.name"):
    """Return the only part of a file."""
    (imported,) = read(name, text if isinstance(text, bytes) else text.encode(), answers)
    return imported


def titles(imported):
    return [entry.title for entry in imported.entries]


def reasons(imported):
    return [(skipped.text, skipped.reason) for skipped in imported.skipped]


def test_a_diary_of_letterboxd_has_dates_of_watching_stars_and_rewatches():
    heat, toy_story = read_single(files.DIARY).entries
    assert (heat.title, heat.year, heat.watch_date, heat.rating, heat.n_viewings) == (
        "Heat",
        1995,
        datetime(2023, 12, 30),
        None,
        1,
    )
    assert (toy_story.watch_date, toy_story.log_date) == (datetime(2024, 1, 2), datetime(2024, 1, 5))
    assert (toy_story.rating, toy_story.n_viewings, toy_story.line) == (4.5, 2, 2)
    assert toy_story.page == ""  # of a diary it is the page of the entry, not of the film


def test_ratings_and_films_of_letterboxd_are_logged_not_watched_on_their_date():
    ratings, films = read_single(files.RATINGS), read_single(files.FILMS)
    assert [(entry.title, entry.watch_date, entry.rating) for entry in ratings.entries] == [
        ("Toy Story", None, 3.0),
        ("Heat", None, 0.5),
    ]
    assert [entry.log_date.year for entry in films.entries] == [2019, 2020]


def test_watched_films_and_a_watchlist_look_alike_so_it_is_asked():
    imported = read_single(files.FILMS)
    assert imported.may_be_watchlist
    assert titles(imported) == ["Alien", "Toy Story"]
    watchlist = read_single(files.FILMS, Answers(is_watchlist=True))
    assert watchlist.entries == ()
    assert reasons(watchlist) == [("Alien (1979)", Reason.UNWATCHED), ("Toy Story (1995)", Reason.UNWATCHED)]
    assert read_single(files.FILMS, name="watchlist.csv").entries == ()
    assert titles(read_single(files.FILMS, Answers(is_watchlist=False), "watchlist.csv")) == ["Alien", "Toy Story"]
    assert not read_single(files.DIARY).may_be_watchlist


def test_the_zip_of_letterboxd_gives_its_films_and_says_what_it_left_aside():
    parts = read("export.zip", files.letterboxd())
    assert {part.format_title for part in parts} == {
        "Letterboxd films",
        "Letterboxd diary",
        "Letterboxd ratings",
        "ZIP",
    }
    assert not any(part.may_be_watchlist for part in parts)
    assert {title for part in parts for title in titles(part)} == {"Alien", "Toy Story", "Heat"}
    skipped = dict(reasons(parts[-1]))
    assert skipped["watchlist.csv"] is Reason.UNWATCHED
    assert set(skipped) == {
        "profile.csv", "watchlist.csv", "likes/films.csv", "deleted/diary.csv", "lists/best.csv", "reviews/cover.jpg",
    }  # fmt: skip


def test_imdb_has_numbers_and_stars_out_of_ten_and_its_series_are_no_films():
    imported = read_single(files.IMDB)
    (heat,) = imported.entries
    assert (heat.imdb_id, heat.rating, heat.watch_date, heat.log_date) == ("tt0113277", 4.5, None, datetime(2021, 2, 3))
    assert reasons(imported) == [("Breaking Bad", Reason.SERIES), ("A Game", Reason.OTHER_MEDIA)]


def test_the_imdb_id_of_an_address_is_its_first_number():
    address = "https://www.imdb.com/title/tt0113277/?pf_rd_p=2398042102"
    (heat,) = read_single(f"title,imdb\nHeat,{address}\n").entries
    assert heat.imdb_id == "tt0113277"


def test_a_list_of_imdb_may_be_a_watchlist_of_which_rated_films_were_watched():
    assert titles(read_single(files.IMDB_LIST)) == ["Alien", "Heat"]
    watchlist = read_single(files.IMDB_LIST, Answers(is_watchlist=True))
    assert titles(watchlist) == ["Heat"]
    assert reasons(watchlist) == [("Alien (1979)", Reason.UNWATCHED)]


@pytest.mark.parametrize(
    ("dates", "last"),
    [
        (("6/17/25", "6/18/25", "6/19/25"), datetime(2025, 6, 18)),
        (("22.01.23", "23.01.23", "24.01.23"), datetime(2023, 1, 23)),
        (("2021-12-13", "2021-12-14", "2021-12-15"), datetime(2021, 12, 14)),
        (("13/12/2021", "14/12/2021", "15/12/2021"), datetime(2021, 12, 14)),
        (("2021/12/13", "2021/12/14", "2021/12/15"), datetime(2021, 12, 14)),
        (("24. 1. 3.", "24. 1. 4.", "24. 1. 5."), datetime(2024, 1, 4)),
        (("23.12.23.", "24.12.23.", "25.12.23."), datetime(2023, 12, 24)),  # as in Croatia
    ],
)
def test_netflix_writes_dates_as_the_account_does(dates, last):
    imported = read_single(files.NETFLIX.format(*dates))
    assert [(entry.title, entry.watch_date) for entry in imported.entries][-1] == ("Heat", last)
    assert titles(imported) == ["Alien", "Heat"]
    assert reasons(imported) == [("Dark: Season 1: Secrets", Reason.SERIES)]
    assert imported.date_question is None


@pytest.mark.parametrize(
    ("cell", "hour"),
    [
        ("1/31/2024 9:15 PM", 21),
        ("1/31/2024, 12:15:00\u202fAM", 0),
        ("1/31/2024 12:15pm", 12),
        ("Jan 31, 2024 9:15 PM", 21),
        ("1/31/2024 21:15 PM", 21),
    ],
)
def test_times_of_a_12_hour_clock_are_read(cell, hour):
    date = dates.read(cell, "mdy")
    assert (date.year, date.month, date.day, date.hour, date.minute) == (2024, 1, 31, hour, 15)


def test_seconds_have_9_or_10_digits_and_milliseconds_13():
    assert dates.read("999999999", "ymd") == datetime(2001, 9, 9, 1, 46, 39)
    assert dates.read("1706715000", "ymd") == dates.read("1706715000123", "ymd") == datetime(2024, 1, 31, 15, 30)
    assert dates.read("202401311530", "ymd") is None  # year, month, day, hour and minute


def test_dates_that_can_be_read_in_two_ways_are_asked_about():
    text = files.NETFLIX.format("3/2/25", "4/2/25", "5/2/25")
    question = read_single(text).date_question
    assert (question.cell, question.day_first_date, question.month_first_date) == (
        "5/2/25", datetime(2025, 2, 5), datetime(2025, 5, 2),
    )  # fmt: skip
    assert question.is_day_first_likely
    assert not read_single(text, Answers(prefers_month_first=True)).date_question.is_day_first_likely
    assert read_single(text, Answers(is_day_first=True, prefers_month_first=True)).entries[-1].watch_date == datetime(
        2025, 2, 4
    )
    assert read_single(text, Answers(is_day_first=False)).entries[-1].watch_date == datetime(2025, 4, 2)


def test_the_order_of_the_lines_says_which_of_two_readings_is_likely():
    month_first = files.NETFLIX.format("1/9/25", "1/12/25", "3/7/25")  # newest first only if the month comes first
    assert read_single(month_first).date_question.is_day_first_likely is False
    day_first = files.NETFLIX.format("9/1/25", "12/1/25", "7/3/25")
    assert read_single(day_first, Answers(prefers_month_first=True)).date_question.is_day_first_likely is True
    assert read_single(month_first).entries[-1].watch_date == datetime(2025, 1, 12)
    assert read_single(day_first).date_question.is_day_first_likely is True
    assert read_single(files.NETFLIX.format("5/5/25", "5/5/25", "5/5/25")).date_question is None


def test_a_date_that_lies_ahead_tells_the_order_too():
    imported = read_single(
        files.NETFLIX.format("1/9/26", "2/9/26", "12/10/26")
    )  # the 12th of October has passed, the 10th of December not
    assert imported.date_question is None
    assert imported.entries[-1].watch_date == datetime(2026, 9, 2)


def test_titles_like_episodes_are_marked_and_those_of_films_are_kept():
    text = 'Title,Date\n"Star Wars: Episode IV: A New Hope",2021-12-15\n"Dune: Part Two",2021-12-15\n'
    text += '"Lost: Season 2",2021-12-15\n"Money Heist: Part 1: Do as Planned",2021-12-15\n'
    text += '"Stranger Things: Stranger Things 2: Madmax",2021-12-15\n'
    text += '"Dark: Staffel 1: Geheimnisse",2021-12-15\n'
    imported = read_single(text)
    assert {entry.title: entry.may_be_series for entry in imported.entries} == {
        "Star Wars: Episode IV: A New Hope": True,
        "Dune: Part Two": False,
        "Stranger Things: Stranger Things 2: Madmax": True,
    }
    assert len(imported.skipped) == 3


def test_the_site_of_movielens_moves_articles_and_writes_numbers_in_any_form():
    toy_story, lost, heat = read_single(files.SITE).entries
    assert (toy_story.movie_id, toy_story.imdb_id, toy_story.tmdb_id, toy_story.rating) == (1, "tt0114709", 862, 4.5)
    assert (lost.title, lost.year) == ("The City of Lost Children (Cité des enfants perdus, La)", 1995)
    assert (heat.imdb_id, heat.rating) == ("tt0113277", None)
    assert read_single(files.SITE).notes == ()  # -1 is how the site writes that there is none


def test_a_ratings_file_of_a_data_set_is_one_persons_or_refused():
    assert [entry.movie_id for entry in read_single(files.DATASET).entries] == [1, 6]
    with pytest.raises(HistoryError, match="2 people"):
        read_single(files.DATASET + "8,6,4.0,1112486027\n")


def test_our_own_files_are_read_and_predictions_are_not():
    assert titles(read_single(files.OURS)) == ["Toy Story", "=Heat"]
    assert titles(read_single(files.OURS.replace("'=Heat", "'night"))) == ["Toy Story", "'night"]  # which is no formula
    heat, toy_story = read_single(files.OURS_JSON).entries
    assert (heat.movie_id, heat.imdb_id, heat.watch_date) == (6, "tt0113277", None)
    assert (toy_story.rating, toy_story.n_viewings, toy_story.watch_date) == (4.5, 3, datetime(2024, 1, 2))
    with pytest.raises(HistoryError, match="recommended films, not watched films"):
        read_single(files.NEXT)
    assert read_single(json.dumps(json.loads(files.OURS_JSON) | {"dataset": "ml-100k"})).entries[0].movie_id is None
    (entry,) = read_single(files.TO_LETTERBOXD).entries
    assert (entry.imdb_id, entry.tmdb_id, entry.rating, entry.n_viewings) == ("tt0114709", 862, 4.5, 2)


def test_trakt_tells_films_from_episodes_and_lists():
    parts = read("trakt.zip", files.trakt())
    entries = [entry for part in parts for entry in part.entries]
    assert [(entry.title, entry.imdb_id, entry.tmdb_id) for entry in entries] == [
        ("Heat", "tt0113277", 949), ("Alien", "tt0078748", 348), ("Heat", "tt0113277", None),
    ]  # fmt: skip
    assert (entries[0].watch_date, entries[2].rating) == (datetime(2024, 5, 2, 20, 15), 3.5)
    skipped = [pair for part in parts for pair in reasons(part)]
    assert ("Dark", Reason.SERIES) in skipped
    assert ("Tenet", Reason.UNWATCHED) in skipped
    assert ("user-profile.json", Reason.NO_HISTORY) in skipped


def test_the_mean_rating_of_all_users_of_trakt_is_not_that_of_the_user():
    heat, alien = ({"title": title, "year": 1995, "rating": 8.2, "ids": {}} for title in ("Heat", "Alien"))
    imported = read_single(json.dumps([{"rating": 4, "movie": heat}, {"plays": 2, "movie": alien}]))
    assert [(entry.title, entry.rating, entry.n_viewings) for entry in imported.entries] == [
        ("Heat", 2, 1),
        ("Alien", None, 2),
    ]


def test_an_unknown_csv_is_read_by_the_columns_that_its_header_names():
    imported = read_single("Film;Jahr;Datum;Bewertung\nHeat;1995;24.01.23;8,5\n")
    (entry,) = imported.entries
    assert (entry.title, entry.year, entry.watch_date, entry.rating) == ("Heat", 1995, datetime(2023, 1, 24), 4.5)
    assert imported.column_question.guess.scale == 10
    assert imported.column_question.header == ("Film", "Jahr", "Datum", "Bewertung")


def test_an_unknown_csv_whose_header_says_nothing_waits_for_an_answer():
    text = "what,when,how\nHeat,2023-01-24,★★★½\nAlien,2023-01-25,★★★★★\n"
    unanswered = read_single(text)
    assert unanswered.entries == ()
    assert unanswered.column_question.sample[0] == ("Heat", "2023-01-24", "★★★½")
    imported = read_single(text, Answers(columns=Columns(title="what", watch_date="when", rating="how")))
    assert [(entry.title, entry.rating) for entry in imported.entries] == [("Heat", 3.5), ("Alien", 5.0)]
    newest_first = read_single(text, Answers(columns=Columns(title="what", is_newest_first=True)))
    assert titles(newest_first) == ["Alien", "Heat"]


@pytest.mark.parametrize("lines", [["Alien", "Heat (1995)", "Fargo"], ["Heat (1995)", "Alien"], ["Title", "Alien"]])
def test_a_list_of_titles_may_have_no_header(lines):
    imported = read_single("\n".join(lines))
    names = [line.removesuffix(" (1995)") for line in lines if line != "Title"]
    assert titles(imported) == names
    assert [entry.line for entry in imported.entries] == list(range(1 + len(lines) - len(names), len(lines) + 1))


@pytest.mark.parametrize(
    "first", ["Alien,1979", "Alien,2023-01-25", "Alien (1979),seen", "tt0078748,Alien", "Alien,★★★½"]
)
def test_a_table_without_a_header_waits_for_an_answer_with_all_lines(first):
    text = f"{first}\nHeat,1995\n"
    assert read_single(text).column_question.sample == (tuple(first.split(",")), ("Heat", "1995"))
    imported = read_single(text, Answers(columns=Columns(title="column 1")))
    assert len(imported.entries) == 2


@pytest.mark.parametrize("heading", ["Type", "media_type", "Title Type"])
def test_series_of_an_unknown_csv_are_skipped(heading):
    kinds = ("movie", "tv", "anime", "music", "TV Series", "game", "book")
    imported = read_single(f"title,{heading}\n" + "".join(f"The {kind},{kind}\n" for kind in kinds))
    assert titles(imported) == ["The movie", "The anime", "The music"]  # "Music" can be a genre
    series, other = Reason.SERIES, Reason.OTHER_MEDIA
    skipped = [("The tv", series), ("The TV Series", series)]
    assert reasons(imported) == [*skipped, ("The game", other), ("The book", other)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_every_encoding_gives_the_same_titles(encoding):
    imported = read_single(files.DIARY.replace("Heat", "Amélie").encode(encoding))
    assert titles(imported) == ["Amélie", "Toy Story"]
    assert bool(imported.notes) == (encoding in ("cp1252", "latin-1"))
    assert imported.format_title == "Letterboxd diary"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_every_separator_and_end_of_line(separator):
    text = files.IMDB.replace("Crime, Drama", "Crime").replace(",", separator)
    assert titles(read_single(text)) == titles(read_single(text.replace("\n", "\r\n"))) == ["Heat"]
    assert titles(read_single(f"sep={separator}\r\n{text}")) == ["Heat"]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_the_separator_of_the_first_line_counts_more_than_the_header(line_break):
    text = line_break.join(["sep=;", "Title;Year, month, day or time", "Heat;1995"])
    table = csv_text.parse_table("list.csv", text)
    assert table.header == ("Title", "Year, month, day or time")
    assert (table.header_line, table.rows) == (2, [(3, ("Heat", "1995"))])


def test_headers_are_known_in_any_case_and_order():
    text = "YEAR,letterboxd uri,NAME,date\n1979,https://boxd.it/f3,Alien,2019-05-05\n"
    assert read_single(text).format_title == "Letterboxd films"


def test_lines_that_do_not_fit_are_listed_not_dropped():
    text = (
        files.FILMS + "2019-05-05,The Good, the Bad and the Ugly,1966,https://boxd.it/f9\n2019-05-05,,,\n2019-05-05\n"
    )
    imported = read_single(text)
    assert [reason for _, reason in reasons(imported)] == [Reason.EXTRA_CELLS, Reason.NAMELESS, Reason.NAMELESS]
    assert len(imported.entries) == 2


def test_a_rating_with_a_maximum_of_its_own_is_of_that_scale():
    imported = read_single("title,rating\nHeat,9/10\nAlien,4/10\nUp,4/5\nCube,4/0\n")
    assert [entry.rating for entry in imported.entries] == [4.5, 2, 4, None]


def test_dates_and_ratings_that_cannot_be_read_are_counted_and_the_films_stay():
    imported = read_single(files.DIARY.replace("2023-12-30", "last year").replace("4.5", "11"))
    assert len(imported.entries) == 2
    assert [str(note) for note in imported.notes] == [
        "1 date could not be read; its film is imported without a date",
        "1 rating is not between 0 and 5; its film is imported without a rating",
    ]


def test_lines_of_one_day_stay_in_their_order_reversed_where_the_newest_is_first():
    text = "Title,Date\nC,2021-12-16\nB,2021-12-15\nA,2021-12-15\n"
    assert titles(read_single(text)) == ["A", "B", "C"]
    assert titles(read_single("Title,Date\nA,2021-12-15\nB,2021-12-15\nC,2021-12-16\n")) == ["A", "B", "C"]


def test_duplicates_stay_for_whoever_counts_how_often_a_film_was_watched():
    assert titles(read_single(files.DIARY + files.DIARY.partition("\n")[2])).count("Heat") == 2


REFUSED = {
    "empty": (b"", "is empty"),
    "bom alone": (b"\xef\xbb\xbf", "is empty"),
    "blank lines": (b"\n\r\n  \n", "is empty"),
    "nul early": (b"\0" + files.DIARY.encode(), "not a text file"),
    "nul late": (files.DIARY.encode() + b"\0", "not a text file"),
    "picture": (b"\x89PNG\r\n\x1a\n123", "a picture"),
    "pdf": (b"%PDF-1.7 123", "a PDF"),
    "web page": (b"<!doctype html><title>Films</title>", "a web page"),
    "json of something": (b'{"a": 1}', "not a watch history"),
    "json list of something": (b'[{"a": 1}]', "not a watch history"),
    "half a json": (files.OURS_JSON[:-9].encode(), "not a valid JSON"),
    "deep json": (b"[" * 200_000, "not a valid JSON"),
    "numbers beyond reason": (b"[" + b"9" * 10_000 + b"]", "not a valid JSON"),
    "too large": (b"a" * (MAX_FILE_BYTES + 1), "larger than 10 MB"),
    "too many lines": (b"Title,Date\n" + b"A,2021-12-15\n" * 100_002, "more than 100,000 lines"),
    "a million columns": (b"," * 1_000_000, "columns|empty"),
    "one line of 10 MB": (b"Title,Date\n" + b"a" * 9_000_000, "not a CSV file"),
    "open quotation mark": (b'Title,Date\n"Heat,2021-12-15\nAlien,2021-12-15\n', "never closed"),
    "a list of letterboxd": (b"Letterboxd list export v7\nDate,Name\n", "a list, not a diary"),
    "half a zip": (files.letterboxd()[:-40], "not a valid ZIP"),
    "zip without a history": (files.packed({"a.txt": "x", "b.csv": "what,ever\n1,2\n"}), "has no history"),
    "spreadsheet": (files.packed({"[Content_Types].xml": "<x/>", "xl/a.xml": "<x/>"}), "save the table as CSV"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_history_is_refused_with_a_sentence(data, message):
    with pytest.raises(HistoryError, match=message):
        read("file", data)


def test_a_header_alone_holds_no_films_and_is_no_mistake():
    assert read_single(files.DIARY.partition("\n")[0]).entries == ()


def test_an_archive_that_is_not_to_be_trusted_is_refused_with_the_reason():
    reason = r"diary\.csv would be too large when unpacked \(5,000,000 bytes\); choose the CSV or JSON files"
    with pytest.raises(HistoryError, match=reason):
        read("bomb.zip", files.packed({"diary.csv": b"0" * 5_000_000}))
    with pytest.raises(HistoryError, match="leads outside its folder"):
        read("e.zip", files.packed({"../../diary.csv": files.DIARY}))


def test_what_is_not_read_of_an_archive_may_be_large():
    parts = read("all.zip", files.packed({"diary.csv": files.DIARY, "film.txt": b"0" * 5_000_000}))
    assert parts[0].entries
    assert [skipped.text for skipped in parts[-1].skipped] == ["film.txt"]


def test_the_server_accepts_the_largest_file_that_is_read():
    settings = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["maxUploadSize"] << 20 >= MAX_FILE_BYTES
