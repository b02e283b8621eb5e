import numpy as np
import pytest

from recsys import paths, storage
from recsys.data import datasets, film_details, own_data, prepared, tables
from recsys.data.assemble import add_users_from
from recsys.data.dataset import DataError
from recsys.data.split import by_time, leave_one_out
from recsys.data.tie_breaking import shuffle_ties
from recsys.data.titles import MAX_TITLE_LENGTH
from tests import toys

DAY = 86_400


pytestmark = pytest.mark.usefixtures("home")


def table(text, name="shop.csv"):
    return tables.parse(name, text.encode())


def check(text, items=None, **wanted):
    return own_data.check(table(text), table(items, "items.csv") if items else None, wanted)


def add(text, items=None, min_ratings=0, **wanted):
    return own_data.add("shop", check(text, items, **wanted), "shop.csv", min_ratings)


def histories(dataset):
    """Person → what they had, oldest first, by its title."""
    people = dataset.user_ids if dataset.user_names is None else dataset.user_names
    titles = dataset.catalog.movies["title"].to_numpy()
    return {person: titles[items].tolist() for person, items in zip(people, dataset.histories, strict=True)}


BOUGHT = "customer,asin,unixReviewTime\nbob,soap,30\nann,tea,10\nann,soap,20\nbob,tea,40\nann,milk,5\n"
ORDERED = {"ann": ["milk", "tea", "soap"], "bob": ["soap", "tea"]}


def test_text_ids_become_titles_and_names_and_time_orders_the_events():
    dataset = add(BOUGHT)
    assert histories(dataset) == ORDERED
    assert dataset.catalog.movies["item_id"].tolist() == ["milk", "soap", "tea"]
    assert dataset.noun == "item"
    assert dataset.ties == "drawn"


@pytest.mark.parametrize("header", ["id,title,location", "code,title,ean", "product_id,video,title"])
def test_the_id_in_a_file_of_items_is_not_taken_from_a_description(header):
    cells = {"title": ("Tea", "Soap"), "ean": ("400", "401"), "location": ("Kyiv", "Lviv"), "video": ("a.mp4", "b.mp4")}
    rows = [[cells.get(name, ("1", "2"))[row] for name in header.split(",")] for row in (0, 1)]
    items = table("\n".join([header, *map(",".join, rows)]))
    checked = own_data.check(table("user,item\n7,1\n7,2\n"), items)
    assert checked.raw.films["title"].tolist() == ["Tea", "Soap"]


@pytest.mark.parametrize(("event_id", "item_id"), [("2.0", "2"), ("2", "2.0"), ("2.0", "2.0"), ("02.0", "02.0")])
def test_whole_numbers_with_a_zero_fraction_are_the_ids_of_the_item_file(event_id, item_id):
    checked = check(f"user,item\n7.0,{event_id}\n7,{event_id}\n", f"item,title\n{item_id},Tea\n3.0,Soap\n")
    assert checked.raw.films["title"].tolist() == ["Tea", "Soap"]
    assert checked.counts["people"] == 1
    assert "item_id" in checked.raw.films if event_id == "02.0" else checked.raw.movie.tolist() == [2, 2]


def test_whole_numbers_with_a_zero_fraction_are_ids_of_imdb_and_tmdb():
    checked = check("user,item\n7,2\n7,3\n", "item,title,imdbid,tmdbid\n2,Toy Story,114709.0,862.0\n3,Unknown,,\n")
    assert checked.raw.films["imdb_id"].tolist() == ["tt0114709", ""]
    assert checked.raw.films["tmdb_id"].fillna(0).tolist() == [862, 0]


def test_without_times_the_order_of_the_rows_counts():
    dataset = add("bob soap\nann milk\nann tea\nbob tea\nann soap\n")
    assert histories(dataset) == ORDERED
    assert dataset.ties == "rows"


def test_times_can_be_done_without():
    dataset = add(BOUGHT, time="none")
    assert histories(dataset) == {"ann": ["tea", "soap", "milk"], "bob": ["soap", "tea"]}


def test_columns_are_found_by_name_or_said_by_name_or_place():
    moved = "rating;time;product;who\n5;10;tea;ann\n3;20;soap;ann\n"
    for user in ("who", "4"):
        assert histories(add(moved, user=user)) == {"ann": ["tea", "soap"]}
        own_data.remove("shop")
    with pytest.raises(DataError, match=r"columns rating, time, product, who; .* --user-col"):
        check(moved)
    with pytest.raises(DataError, match="no column whom; choose one of: rating, time"):
        check(moved, user="whom")


@pytest.mark.parametrize(
    ("wanted", "column", "roles"),
    [
        ({"user": "product", "item": "3"}, "product", "person and as item"),
        ({"rating": "time", "time": "2"}, "time", "rating and as time"),
    ],
)
def test_a_column_cannot_have_two_roles(wanted, column, roles):
    with pytest.raises(DataError, match=f"the column {column} of shop.csv is chosen as {roles}; choose two columns"):
        check("rating;time;product;user\n5;10;tea;ann\n3;20;soap;ann\n", **wanted)


@pytest.mark.parametrize("header", ["user,item,title\n", ""])
def test_rows_joined_by_a_missing_quotation_mark_are_counted(header):
    checked = check(header + 'ann,tea,Tea\nbob,tea,"Tea\nbob,soap,Soap\nann,soap,"Soap"\nann,milk,Milk\n')
    assert checked.counts["rows"] == 3
    assert checked.counts["multiline"] == 1
    assert any("missing quotation mark joins several rows into one): 1" in str(text) for text in checked.messages)
    quoted = check(header + 'ann,tea,"Tea, green"\nbob,tea,Tea\n')
    assert not any("quotation mark" in str(text) for text in quoted.messages)


def test_a_file_without_names_is_told_by_what_stands_in_it():
    rows = [(1, 10, 5, 1_700_000_002), (1, 20, 3, 1_700_000_001), (2, 10, 4, 1_700_000_000)]
    for order in ((0, 1, 2, 3), (0, 1, 3, 2), (0, 1, 3)):
        text = "".join(",".join(str(row[place]) for place in order) + "\n" for row in rows)
        checked = check(text)
        assert set(checked.columns) == {"user", "item", *(("rating",) if 2 in order else ()), "time"}
        assert checked.raw.movie.tolist() == [20, 10, 10]
        assert checked.raw.rating.tolist() == ([3, 5, 4] if 2 in order else [1, 1, 1])
        assert checked.counts["rows"] == 3


def test_numbers_stay_the_ids_that_they_are_however_large():
    dataset = add(f"user,item\n{2**40},7\n3,{2**45}\n3,7\n")
    assert dataset.user_ids.tolist() == [3, 2**40]
    assert dataset.catalog.movie_ids.tolist() == [7, 2**45]
    assert dataset.catalog.movies["title"].tolist() == ["7", str(2**45)]
    assert dataset.user_names is None


@pytest.mark.parametrize("ids", [("007", "7"), ("1", "1.5"), ("-1", "1"), ("1", "9" * 20)])
def test_ids_that_numbers_would_confuse_stay_text(ids):
    dataset = add("user,item\n" + "".join(f"1,{item}\n" for item in ids))
    assert sorted(dataset.catalog.movies["title"]) == sorted(ids)


def test_everything_that_is_wrong_is_counted_and_said():
    text = (
        "user,item,rating,timestamp\n"
        "1,10,5,100\n1,10,5,100\n"  # repeated
        "1,20,,50\n"  # unrated, and earlier than the row before
        ",20,4,70\n1,,4,70\nNA,20,4,70\n"  # incomplete
        "1,30,4,soon\n"  # untimed
        "1,10,4,200\n"  # again
        "2,10,3,10\n"  # single
        "3,10,3,10\n3,20,3,11\n"  # brief
    )
    checked = check(text)
    counts = checked.counts
    assert [counts[name] for name in ("rows", "events", "people", "items")] == [11, 6, 3, 2]
    assert [counts[name] for name in ("incomplete", "untimed", "duplicates", "repeated_items")] == [3, 1, 1, 1]
    assert [counts[name] for name in ("unrated", "unsorted", "one_event", "two_events")] == [1, 1, 1, 1]
    assert counts["rows"] == counts["events"] + 5
    assert checked.raw.rating.tolist() == pytest.approx([3.9, 5, 4, 3, 3, 3])  # first the mean of the file
    said = [*map(str, checked.messages)]
    assert said[0] == "11 rows: 3 people, 2 items, 6 events"
    assert said[1] == "read as person = user, item = item, rating = rating, time = timestamp"
    for words, n in (("person or an item is missing", 3), ("time cannot be read", 1), ("people with one event", 1)):
        assert any(words in sentence and sentence.endswith(f": {n}") for sentence in said), words


def test_of_rows_with_equal_times_the_first_counts():
    rows = [f"1,10,{stars},100\n" for stars in (5, 2, 3)]
    raw = check(f"user,item,rating,time\n2,10,1,50\n{''.join(rows)}").raw
    assert dict(zip(raw.user.tolist(), raw.rating.tolist(), strict=True)) == {1: 5, 2: 1}


@pytest.mark.parametrize("text", ["ann tea\nann soap\nann tea\nbob tea\n", "ann,tea\nann,soap\nann,tea\nbob,tea\n"])
def test_without_times_repeated_rows_are_further_events(text):
    checked = check(text)
    assert (checked.counts["events"], checked.counts["repeated_rows"]) == (4, 1)
    assert "repeated rows of the same person and item, which are kept as further events: 1" in map(
        str, checked.messages
    )
    assert histories(add(text)) == {"ann": ["tea", "soap", "tea"], "bob": ["tea"]}


def test_numbers_have_the_right_plural():
    assert str(check("user,item\n1,2\n").messages[0]) == "1 row: 1 person, 1 item, 1 event"


def test_a_name_must_have_latin_letters():
    with pytest.raises(DataError, match="use at most 40 Latin letters"):
        own_data.check_name("Велика")


@pytest.mark.parametrize(("noun", "message"), [("item", "no item has at least 3 events"), ("film", "no film has at")])
def test_too_high_a_minimum_names_the_noun_of_the_data(noun, message):
    with pytest.raises(DataError, match=message):
        own_data.add("shop", own_data.check(table("user,item\n1,2\n"), noun=noun), "shop.csv", 3)


def test_the_list_counts_items_and_events_of_the_training_data():
    add("1 7\n1 8\n2 7\n2 9\n", min_ratings=2)
    row = next(row for row in datasets.summaries() if row.name == "shop")
    assert (row.users, row.items, row.ratings) == (2, 1, 2)


def test_what_is_not_wrong_is_not_mentioned():
    checked = check("user,item\n" + "".join(f"1,{item}\n" for item in range(5)))
    assert [str(message) for message in checked.messages] == [
        "5 rows: 1 person, 5 items, 5 events",
        "read as person = user, item = item",
        "there are no times, so the order of the rows is used",
    ]


def test_the_range_of_ratings_and_times_is_said_and_what_no_rating_can_be_counts_as_none():
    checked = check("user,item,rating,timestamp\n1,1,-99,1000000000\n1,2,5,1100000000\n1,3,1e30,1200000000\n")
    assert "ratings go from -99 to 5" in [*map(str, checked.messages)]
    assert "times are in seconds since 1970, 2001-09-09 to 2008-01-10" in [*map(str, checked.messages)]
    assert checked.counts["unrated"] == 1
    assert checked.raw.rating.tolist() == [-99, 5, -47]


@pytest.mark.parametrize(
    "text",
    ["user;item;rating\nann;tea;4,5\nbob;tea;3\nbob;soap;-1,25\n", "ann\ttea\t4,5\nbob\ttea\t3\nbob\tsoap\t-1,25\n"],
)
def test_ratings_may_have_a_decimal_comma(text):
    checked = check(text)
    assert checked.raw.rating.tolist() == [4.5, 3, -1.25]
    assert checked.counts["unrated"] == 0


def test_a_comma_in_a_file_with_commas_is_no_decimal_comma():
    checked = check('user,item,rating\nann,tea,"1,000"\nbob,tea,3\n')
    assert checked.counts["unrated"] == 1


def test_a_name_that_cannot_be_one_is_refused():
    with pytest.raises(DataError, match="the column item has an ID of more than 1,000 characters"):
        check(f"user,item\n1,{'x' * 1_001}\n")


def test_that_the_encoding_was_guessed_is_said():
    table = tables.parse("shop.csv", "user,item\n1,Amélie\n".encode("cp1252"))
    assert any("read as Windows-1252" in str(message) for message in own_data.check(table).messages)


def test_milliseconds_order_what_seconds_would_not():
    base = 1_700_000_000_000
    rows = [(1, item, base + 100 - item) for item in range(50)]
    checked = check("user,item,ts\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    assert checked.time_format == "milliseconds"
    assert checked.raw.movie.tolist() == list(range(49, -1, -1))


def test_events_of_one_moment_are_drawn_so_that_no_file_order_is_learnt():
    rows = [f"{user},{item},100\n" for user in range(20) for item in range(10)]
    one, other = (check("user,item,time\n" + "".join(part)).raw.movie.tolist() for part in (rows, rows[::-1]))
    assert one == other
    assert one[:10] != sorted(one[:10])


ITEMS = (
    "asin|title|year|category|imageUrl|description|price\n"
    "tea|Green Tea|1999|food;drink|https://shop.example/tea.jpg|Leaves of Assam|5\n"
    "milk|Milk (2001)||food||White|\n"
    "salt|Salt||||From the sea|\n"
    "soap|Soap||bath|javascript:alert(1)||2\n"
)


def test_titles_years_genres_pictures_and_texts_are_used():
    checked = check(BOUGHT, ITEMS)
    dataset = own_data.add("shop", checked, "shop.csv")
    movies = dataset.catalog.movies.set_index("item_id")
    assert movies["title"].to_dict() == {"milk": "Milk", "soap": "Soap", "tea": "Green Tea"}
    assert movies["year"].fillna(0).to_dict() == {"milk": 2001, "soap": 0, "tea": 1999}
    assert movies["genres"].to_dict() == {"milk": "food", "soap": "bath", "tea": "food|drink"}
    assert movies["text"].to_dict() == {"milk": "White", "soap": "", "tea": "Leaves of Assam"}
    tea = int(movies.loc["tea", "movie_id"])
    assert dataset.catalog.images == {tea: "https://shop.example/tea.jpg"}  # an address that is none of the web is not
    assert checked.counts["unsafe_images"] == checked.counts["unused"] == 1
    assert dataset.catalog.infrequent["title"].tolist() == ["Salt"]  # nobody had it


def test_items_that_are_not_described_show_their_ids():
    checked = check("user,item\n1,7\n1,8\n", "item,name\n7,Seven\n")
    assert checked.raw.films["title"].tolist() == ["Seven", "8"]
    assert checked.counts["undescribed"] == 1


def test_a_line_of_the_item_file_without_an_id_is_no_item():
    checked = check(BOUGHT, "asin,title\nsoap,Soap\n,Nothing\nNULL,Nowhere\n,\n")
    assert checked.raw.films["item_id"].tolist() == ["milk", "soap", "tea"]
    assert checked.counts["unused"] == 0


@pytest.mark.filterwarnings("error")
def test_a_file_with_nothing_but_column_names_is_refused_without_a_warning():
    with pytest.raises(DataError, match="has no row with a person and an item"):
        check("user,item\n")


def test_a_long_title_keeps_the_year_at_its_end_and_is_cut_last():
    name = "x" * MAX_TITLE_LENGTH
    checked = check("user,item\n1,7\n1,8\n", f"item,title,year\n7,{name} (1995),\n8,{name} (1995),2001\n")
    assert checked.raw.films["title"].tolist() == [name, name]
    assert checked.raw.films["year"].tolist() == [1995, 2001]


def test_a_set_that_was_added_is_like_any_other_and_comes_back_as_it_was():
    made = add(BOUGHT, ITEMS)
    again = datasets.load("shop")
    toys.same(again, made)
    assert again.user_names.tolist() == ["ann", "bob"]
    assert datasets.prepared_names() == ["shop"]
    assert leave_one_out(again).test.queries.users.tolist() == [0]
    row = next(row for row in datasets.summaries() if row.name == "shop")
    assert (row.users, row.items, row.ratings, row.licence, row.is_present) == (
        2,
        3,
        5,
        "yours",
        True,
    )  # without an item that has no events


def test_nothing_is_dropped_unless_that_is_asked():
    text = "user,item\n" + "".join(f"{user},common\n" for user in range(6)) + "9,rare\n0,rarer\n"
    checked = check(text)
    dataset = own_data.add("all", checked, "shop.csv")
    assert (dataset.n_users, dataset.n_items) == (7, 3)
    assert own_data.describe_dropped(checked, dataset) == ""
    fewer = own_data.add("some", checked, "shop.csv", min_ratings=5)
    assert (fewer.n_users, fewer.n_items) == (6, 1)
    assert own_data.describe_dropped(checked, fewer).startswith(
        "left out: 2 items with too few events, 2 events, and 1 person"
    )
    assert (datasets.min_ratings("all"), datasets.min_ratings("some")) == (1, 5)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "ml-1m", "ML-1M", "ties", "x" * 41, "a b", "end."])
def test_a_name_that_a_folder_or_another_set_has_is_refused(name):
    with pytest.raises(DataError, match="name"):
        own_data.add(name, check(BOUGHT), "shop.csv")


def test_a_set_is_replaced_only_when_that_is_asked():
    add(BOUGHT)
    with pytest.raises(DataError, match="a data set called shop exists already"):
        add(BOUGHT)
    film_details.write("shop", {1: {"directors": ["of another item"]}})
    own_data.add("shop", check("user,item\n1,2\n"), "shop.csv", overwrite=True)
    assert len(prepared.load("shop").catalog.details) == 0
    assert datasets.load("shop").n_users == 1


def test_removing_a_set_takes_everything_that_was_made_of_it_and_no_published_set():
    add(BOUGHT)
    trained = paths.checkpoint("shop", "leave-one-out", "popular", 0)
    trained.mkdir(parents=True)
    own_data.remove("shop")
    assert datasets.prepared_names() == []
    assert not trained.exists()
    with pytest.raises(DataError, match="is not a data set that was added on this computer"):
        own_data.remove("ml-latest-sample")


def test_other_items_of_the_same_number_are_another_catalogue():
    one = add("user,item\na,x\na,y\n").catalog.fingerprint
    own_data.remove("shop")
    assert add("user,item\na,x\na,z\n").catalog.fingerprint != one


@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    [
        ("user,item\n,\n", {}, "no row with a person and an item"),
        ("user,item,time\n1,2,24.01.23\n1,3,25.01.23\n", {}, "'24.01.23' in its column time .* --time-col none"),
        ("user,item,rating\n1,2,good\n", {}, "has no numbers, .* --rating-col none"),
    ],
)
def test_what_would_leave_nothing_is_refused_with_a_way_out(text, wanted, words):
    with pytest.raises(DataError, match=words):
        check(text, **wanted)


def test_a_set_without_times_is_not_cut_by_time_nor_untied():
    dataset = add("ann a\nann b\nann c\n")
    with pytest.raises(DataError, match="has no times"):
        by_time(dataset)
    with pytest.raises(DataError, match="has no times"):
        shuffle_ties(dataset, 0)


def test_a_set_whose_items_have_numbers_of_its_own_lends_nobody_its_people():
    world = toys.cycle()
    with pytest.raises(DataError, match="leave out --also"):
        add_users_from(add(BOUGHT), leave_one_out(world).train, world)


@pytest.mark.parametrize("file", ["item-*.npy", "about.json"])
def test_damage_is_mended_by_adding_it_again_or_by_removing_it(file):
    for mend in (
        lambda: own_data.add("shop", check(BOUGHT), "shop.csv", overwrite=True),
        lambda: own_data.remove("shop"),
    ):
        add(BOUGHT)
        next(paths.prepared("shop").glob(file)).write_bytes(b"")
        with pytest.raises(prepared.MissingData, match="data add shop --replace --interactions FILE"):
            datasets.load("shop")
        mend()
        if paths.prepared("shop").exists():
            assert datasets.load("shop").n_users > 1
            own_data.remove("shop")


def test_nothing_but_a_set_is_removed(tmp_path):
    (paths.home() / "data").mkdir(parents=True)
    for name in ("", ".", "..", "../data", str(tmp_path), "ML-1M"):
        with pytest.raises(DataError, match="is not a data set that was added on this computer"):
            own_data.remove(name)
    assert (paths.home() / "data").is_dir()


def test_large_ids_of_people_do_not_disturb_the_order():
    times = np.arange(4) * 10**9
    text = "user,item,time\n" + "".join(
        f"{10**14 + user},{item},{times[item]}\n" for user in (1, 0) for item in range(4)
    )
    assert [items.tolist() for items in add(text).histories] == [[0, 1, 2, 3]] * 2


def test_removing_a_set_deletes_its_results_in_shared_folders_and_those_of_no_other_set():
    add(BOUGHT)
    studies = paths.studies(paths.home())
    for name, dataset in (("length-shop", "shop"), ("length-my-shop", "my-shop")):
        storage.write_document(studies / f"{name}.json", {"dataset": dataset})
    for dataset in ("shop", "my-shop"):
        storage.write_document(paths.ties(paths.home(), dataset), {"dataset": dataset})
    own_data.remove("shop")
    assert [path.name for path in studies.iterdir()] == ["length-my-shop.json"]
    assert [path.name for path in paths.ties(paths.home(), "").parent.iterdir()] == ["my-shop.json"]
