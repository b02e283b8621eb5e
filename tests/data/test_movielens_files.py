import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest

from recsys.data import datasets, movielens_files
from recsys.data.dataset import DataError
from tests import toys
from tests.data import archives

LAYOUTS = {
    "double_colon": (movielens_files.parse_dat, archives.double_colon()),
    "double_colon, UTF-8, with tags": (movielens_files.parse_dat, archives.double_colon("utf-8", tags=True)),
    "hundred_k": (movielens_files.parse_100k, archives.hundred_k()),
    "comma": (movielens_files.parse_csv, archives.comma()),
    "recbole": (movielens_files.parse_recbole, archives.recbole()),
}


def read(path, parse=movielens_files.parse_csv):
    with movielens_files.open_archive(path, "a test") as archive:
        return datasets.assemble("toy", parse(archive))


@pytest.mark.parametrize(("parse", "files"), LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_gives_the_same_data(tmp_path, parse, files):
    dataset = read(archives.write(tmp_path, files), parse)
    assert dataset.user_ids.tolist() == list(archives.HISTORIES)
    histories = [dataset.catalog.movie_ids[items].tolist() for items in dataset.histories]
    assert histories == list(archives.HISTORIES.values())
    assert dataset.catalog.movies["title"].tolist() == archives.TITLES
    assert dataset.catalog.movies["year"].tolist() == [1995, 1999, 1995, 1995, 1995]
    assert dataset.catalog.movies["genres"].tolist()[:2] == ["Animation|Children's|Comedy", "Action|Sci-Fi"]
    assert dataset.catalog.infrequent["movie_id"].tolist() == [60, 70]
    assert dataset.catalog.infrequent["genres"].tolist() == ["War", ""]


@pytest.mark.parametrize(("parse", "files"), LAYOUTS.values(), ids=LAYOUTS)
def test_ratings_and_times_stay_with_their_films(tmp_path, parse, files):
    dataset = read(archives.write(tmp_path, files), parse)
    events = dataset.interactions
    films = dataset.catalog.movie_ids[events.item]
    rows = zip(dataset.user_ids[events.user], films, events.rating, events.timestamp, strict=True)
    assert {tuple(map(int, row)) for row in rows} == {row for row in archives.RATINGS if row[1] != 60}
    assert [events.user.dtype, events.item.dtype] == [np.int32, np.int32]
    assert [events.rating.dtype, events.timestamp.dtype] == [np.float32, np.int64]


def test_links_become_imdb_and_tmdb_ids(tmp_path):
    movies = read(archives.write(tmp_path, archives.comma())).catalog.movies
    assert movies["imdb_id"].tolist()[:3] == ["tt0114709", "tt0133093", "tt0113828"]
    assert movies["tmdb_id"].tolist()[:2] == [862, 603]
    assert movies["tmdb_id"].isna().tolist() == [False, False, True, False, False]


def test_tags_are_lower_case_and_the_most_frequent_comes_first(tmp_path):
    comma = read(archives.write(tmp_path, archives.comma())).catalog.movies
    assert comma["tags"].tolist() == ["na", "hackers, cyber, punk", "", "", ""]
    tagged = archives.write(tmp_path, archives.double_colon("utf-8", tags=True))
    assert read(tagged, movielens_files.parse_dat).catalog.movies["tags"].tolist()[1] == "hackers, cyber:: punk"


def test_each_tag_keeps_its_time(tmp_path):
    tags = read(archives.write(tmp_path, archives.comma())).catalog.tags
    given = zip(tags.movie.tolist(), (tags.texts[tag] for tag in tags.tag_index), tags.timestamp.tolist(), strict=True)
    assert list(given) == [(20, "hackers", 1), (20, "hackers", 2), (20, "cyber, punk", 3), (10, "na", 4)]
    tags = read(
        archives.write(tmp_path, archives.double_colon("utf-8", tags=True)), movielens_files.parse_dat
    ).catalog.tags
    given = zip(tags.movie.tolist(), (tags.texts[tag] for tag in tags.tag_index), tags.timestamp.tolist(), strict=True)
    assert list(given) == [(20, "cyber:: punk", 5), (20, "hackers", 6), (20, "hackers", 7)]
    assert len(read(archives.write(tmp_path, archives.hundred_k()), movielens_files.parse_100k).catalog.tags) == 0


@pytest.mark.parametrize("layout", ["double_colon", "hundred_k", "recbole"])
def test_people_are_described_in_the_order_of_the_users_and_without_zip_codes(tmp_path, layout):
    parse, files = LAYOUTS[layout]
    people = read(archives.write(tmp_path, files), parse).user_profiles
    assert list(people) == ["gender", "age", "occupation"]
    assert people["gender"].tolist() == ["M", "F", "F", "F", "M"]
    assert people["age"].tolist() == archives.AGES
    words = {"double_colon": ["lawyer", "unemployed"], "hundred_k": ["lawyer", "none"], "recbole": ["lawyer", "none"]}
    assert people["occupation"].tolist() == [*words[layout], "other", "scientist", "writer"]


def test_somebody_whom_the_table_of_people_lacks_has_said_nothing(tmp_path):
    files = archives.hundred_k()
    files["ml-100k/u.user"] = b"2|50|F|doctor|90210\n"
    people = read(archives.write(tmp_path, files), movielens_files.parse_100k).user_profiles
    assert people.values.tolist() == [["", "", ""], ["F", "50-55", "doctor"], *[["", "", ""]] * 3]


def test_a_set_without_such_a_file_describes_nobody(tmp_path):
    files = archives.double_colon("utf-8", tags=True)
    assert read(archives.write(tmp_path, files), movielens_files.parse_dat).user_profiles is None
    assert read(archives.write(tmp_path, archives.comma())).user_profiles is None


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"1::M::25::21::1", "there is no occupation 21"),
        (b"2::M::25::1::1", "person 2 is described twice"),
        (b"7::M::25::1", "line 7 of its users.dat cannot be read; download it again"),
        (b"7::M::old::1::1", "line 7 of its users.dat cannot be read"),
    ],
)
def test_a_malformed_person_is_refused_with_one_line(tmp_path, row, words):
    files = archives.double_colon()
    files["ml-1m/users.dat"] += row + b"\n"
    with pytest.raises(DataError, match=f"^some\\.zip is not a valid archive[^\n]*{words}"):
        read(archives.write(tmp_path, files), movielens_files.parse_dat)


def test_a_bug_in_a_parser_is_not_reported_as_a_damaged_archive(tmp_path):
    def parse(archive):
        return archive.paths.index("nothing")

    with pytest.raises(ValueError, match="is not in list"):
        read(archives.write(tmp_path, archives.comma()), parse)


def test_only_ten_tags_of_a_film_are_shown(tmp_path):
    files = archives.comma()
    rows = "".join(f"{user},10,tag {user:02},1\r\n" for user in range(1, 30))
    files["ml-latest-small/tags.csv"] = f"userId,movieId,tag,timestamp\r\n{rows}".encode()
    movies = read(archives.write(tmp_path, files)).catalog.movies
    assert movies["tags"][0] == ", ".join(f"tag {number:02}" for number in range(1, 11))


def test_the_wheels_unknown_film_is_that_of_the_official_archive(tmp_path):
    files = archives.recbole()
    name = next(name for name in files if name.endswith(".item"))
    files[name] += b"267\tunkonwn\tunkonwn\tunknown\n"
    left_out = read(archives.write(tmp_path, files), movielens_files.parse_recbole).catalog.infrequent
    assert left_out["title"].tolist()[-1] == "unknown"
    assert left_out["year"].isna().tolist()[-1]


def test_films_may_share_a_title(tmp_path):
    files = archives.comma()
    name = "ml-latest-small/movies.csv"
    files[name] = files[name].replace("Misérables, Les (1995)".encode(), b"Toy Story (1995)")
    movies = read(archives.write(tmp_path, files)).catalog.movies
    assert movies["title"].tolist().count("Toy Story") == 2


@pytest.mark.parametrize("proportion", [0.0, 0.5, 0.999])
def test_a_truncated_archive_is_refused_with_one_line(tmp_path, proportion):
    path = archives.write(tmp_path, archives.comma())
    whole = path.read_bytes()
    path.write_bytes(whole[: int(proportion * len(whole))])
    with pytest.raises(DataError, match=r"some\.zip is not a valid archive of a test: [^\n]+; download it again$"):
        read(path)


def test_damage_inside_an_archive_is_noticed(tmp_path):
    path = archives.write(tmp_path, archives.comma())
    with zipfile.ZipFile(path) as archive:
        ratings = archive.infolist()[0]
    whole = path.read_bytes()
    begin = ratings.header_offset + 30 + len(ratings.filename)  # of the compressed bytes
    for offset in range(begin, begin + ratings.compress_size - 1):  # the last byte may hold unused bits
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 4]) + whole[offset + 1 :])
        with pytest.raises(DataError):
            read(path)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("ratings", b"1,10,", b"one,10,"),
        ("ratings", b"1,10,", b"1,,"),
        ("ratings", b"1,10,", b"1,999,"),
        ("ratings", b"1000000003", b""),
        ("ratings", b"1,10,3", b"1,10,"),
        ("movies", b"20,", b"10,"),
        ("movies", b"20,", b"twenty,"),
        ("movies", b'"Toy Story', b'Toy, "Story'),
        ("links", b"20,0133093", b"20"),
        ("links", b"603", b"?"),
        ("tags", b"1,20", b"1,x"),
        ("tags", b"hackers,1", b"hackers,then"),
    ],
)
def test_a_malformed_row_is_refused_with_one_line(tmp_path, file, old, new):
    files = archives.comma()
    name = f"ml-latest-small/{file}.csv"
    assert old in files[name]
    files[name] = files[name].replace(old, new, 1)
    with pytest.raises(DataError, match=r"^some\.zip is not a valid archive[^\n]+$"):
        read(archives.write(tmp_path, files))


@pytest.mark.parametrize("name", list(archives.comma())[:2])
def test_a_missing_member_is_named(tmp_path, name):
    files = archives.comma()
    del files[name]
    with pytest.raises(DataError, match=f"it holds no {name.split('/')[1]}"):
        read(archives.write(tmp_path, files))


def changed(file, change):
    """ml-latest-small's files, one of them changed."""
    files, name = archives.comma(), f"ml-latest-small/{file}.csv"
    return files | {name: change(files[name].decode()).encode()}


def columns_moved(text):
    """Every row with its columns from last to first, and one more in front."""
    return "".join(f"x,{','.join(reversed(line.split(',')))}\r\n" for line in text.splitlines())


def times_as(write):
    """A change that writes the times of ratings.csv in another way."""

    def change(text):
        head, *rows = text.splitlines()
        cells = [row.rpartition(",") for row in rows]
        return "\r\n".join([head, *(f"{rest},{write(int(time))}" for rest, _, time in cells)])

    return change


@pytest.mark.parametrize(
    "files",
    [
        changed("ratings", columns_moved),
        changed("ratings", lambda text: text.partition("\r\n")[2]),  # no header: nothing is lost
        changed("ratings", str.upper),
        changed("ratings", times_as(lambda time: time * 1000)),
        changed("ratings", times_as(lambda time: f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}")),
        changed("ratings", times_as(lambda time: f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}")),
    ],
    ids=["another order", "no header", "another case", "milliseconds", "ISO", "dates with a blank"],
)
def test_ratings_are_read_however_they_are_written(tmp_path, files):
    usual = read(archives.write(tmp_path, archives.comma()))
    toys.same(read(archives.write(tmp_path, files)), usual)


def test_the_order_within_a_second_is_that_of_milliseconds(tmp_path):
    files = archives.comma()
    rows = [(user, film, 3, 1_000_000_000_000 + 900 - film) for user in range(5) for film in (10, 20, 30, 40, 50)]
    files["ml-latest-small/ratings.csv"] = (
        b"userId,movieId,rating,timestamp\n" + "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
    )
    dataset = read(archives.write(tmp_path, files))
    assert dataset.catalog.movie_ids[dataset.history(0)].tolist() == [50, 40, 30, 20, 10]


def test_ids_may_be_large(tmp_path):
    large = str(10 + 2**40)
    files = archives.comma()
    for name in ("ratings", "movies", "links"):
        path = f"ml-latest-small/{name}.csv"
        lines = [line.split(",") for line in files[path].decode().splitlines()]
        place = 1 if name == "ratings" else 0
        for line in lines:
            line[place] = large if line[place] == "10" else line[place]
        files[path] = "\n".join(map(",".join, lines)).encode()
    dataset = read(archives.write(tmp_path, files))
    assert dataset.catalog.movie_ids.tolist() == [20, 30, 40, 50, 10 + 2**40]
    assert dataset.catalog.movie_ids[dataset.history(0)].tolist() == [50, 40, 30, 20, 10 + 2**40]


def test_links_and_genres_may_be_missing(tmp_path):
    files = archives.comma()
    del files["ml-latest-small/links.csv"]
    name = "ml-latest-small/movies.csv"
    files[name] = b"title,movieId\n" + "".join(f'"{title}",{film}\n' for film, title, _ in archives.FILMS).encode()
    movies = read(archives.write(tmp_path, files)).catalog.movies
    assert movies["title"].tolist() == archives.TITLES
    assert movies["genres"].tolist() == movies["imdb_id"].tolist() == [""] * 5
    assert movies["tmdb_id"].isna().all()


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("ratings", lambda text: text.replace("1,10,", "1,tt01,", 1), "'tt01' in its ratings.csv is not a number"),
        ("ratings", lambda text: text.replace("1,10,", "1e999,10,", 1), "'1e999' in its ratings.csv is not a number"),
        ("ratings", lambda text: text.replace("timestamp", "weight"), "lacks the columns time"),
        ("ratings", times_as(lambda _: "24.01.23"), "'24.01.23' in its ratings.csv is not a valid time"),
        (
            "ratings",
            lambda text: text.replace(",10,3", ",10,-99", 1),
            "-99.0 in its ratings.csv is not a rating from 0 to 5",
        ),
        ("ratings", lambda text: text.replace(",10,3", ",10,1e30", 1), "is not a rating from 0 to 5"),
        ("ratings", lambda text: text.replace("1,10,", "-1,10,", 1), "-1 in its ratings.csv is not a person's number"),
        ("ratings", times_as(lambda time: -time), "is not a time since 1970"),
        (
            "movies",
            lambda text: text.replace("City", "".join(map(str, range(40_000)))),
            "field larger than field limit",
        ),
        ("movies", lambda text: text.replace("City", "\0"), "its movies.csv is not a text file"),
        ("movies", lambda text: text.replace("20,", "9" * 30 + ",", 1), "9' in its movies.csv is not a number"),
        ("movies", lambda text: text.replace("title", "called"), "its movies.csv lacks the columns title"),
        ("movies", lambda text: text.replace("20,", "tt20,", 1), "'tt20' in its movies.csv is not a number"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_that_shows_the_way(tmp_path, file, change, words):
    with pytest.raises(
        DataError, match=f"{words}.*; (to add your own data, run: .*python.* -m recsys data add NAME|download it again)"
    ):
        read(archives.write(tmp_path, changed(file, change)))


@pytest.mark.parametrize("nothing", [b"", b"\n", b" \r\n"])
@pytest.mark.parametrize(("parse", "files"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_set_without_ratings_is_refused(tmp_path, parse, files, nothing):
    with pytest.raises(DataError):
        read(archives.write(tmp_path, files | {next(iter(files)): nothing}), parse)


@pytest.mark.filterwarnings("error")
def test_a_rating_beyond_32_bit_numbers_is_refused_without_a_warning(tmp_path):
    def change(text):
        return times_as(lambda time: f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}")(
            text.replace("3,20,1,", "3,20,1e40,")
        )

    assert "1e40" in changed("ratings", change)["ml-latest-small/ratings.csv"].decode()
    with pytest.raises(DataError, match="is not a rating"):
        read(archives.write(tmp_path, changed("ratings", change)))


def test_titles_in_an_encoding_that_nobody_can_tell_are_refused(tmp_path):
    files, name = archives.comma(), "ml-latest-small/movies.csv"
    files[name] = files[name].decode().replace("Toy Story", "となりのトトロ").encode("shift_jis", "replace")
    with pytest.raises(DataError, match=r"its movies\.csv has an unknown encoding; save it as UTF-8"):
        read(archives.write(tmp_path, files))
