from datetime import datetime

from recsys.data.history_import.entries import Entry
from recsys.data.history_import.read import read
from recsys.serving import history_review
from recsys.serving.film_matching import Match, Matcher, MatchMethod
from recsys.serving.history_review import Review, combine_entries, group_entries, sort_entries
from tests import toys
from tests.data.history_import import files


def line(title="Heat", day=None, **more):
    date = datetime(2024, 1, day) if day else None
    return Entry("f", 1, title, year=1995, watch_date=date, **more)


def test_lines_of_one_film_are_one_film():
    seen = group_entries([line(), line("HEAT"), line("Alien"), line(imdb_id="tt1")])
    assert [len(one.entries) for one in seen] == [2, 1, 1]
    assert [one.name for one in seen] == ["Heat (1995)", "Alien (1995)", "Heat (1995)"]


def test_two_films_of_one_title_and_year_have_two_pages():
    seen = group_entries([line("Emma", page="a"), line("Emma", page="b"), line("Emma", day=3)])
    assert [[entry.page for entry in one.entries] for one in seen] == [["a", ""], ["b"]]


def test_each_film_has_a_key_of_its_own_even_in_files_of_one_name():
    seen = group_entries([line(), line("Alien"), line(imdb_id="tt1"), line("Emma", page="a"), line("Emma", page="b")])
    assert len({one.key for one in seen}) == len(seen) == 5


def test_a_choice_that_is_not_offered_any_more_is_ignored():
    heat = history_review.ImportedFilm((line(),))
    review = Review((heat,), (Match(MatchMethod.UNSURE, (1, 2), is_likely=True),), ())
    assert review.film_numbers({}) == {0: 1}
    assert review.film_numbers({heat.key: 2}) == {0: 2}
    assert review.film_numbers({heat.key: 3}) == {0: 1}
    assert review.film_numbers({heat.key: None}) == {}


def test_films_come_in_the_order_of_watching_and_those_without_a_date_first():
    heat, alien, old, logged = (history_review.ImportedFilm((one,)) for one in (
        line(day=5), line("Alien", day=3), line("Old"), line("Logged", log_date=datetime(2024, 1, 4)),
    ))  # fmt: skip
    films = combine_entries([(heat, 1), (alien, 2), (old, 3), (logged, 4)])
    assert [one.number for one in films] == [3, 2, 4, 1]
    assert [one.has_viewing_date for one in films] == [False, True, False, True]


def test_a_film_watched_again_stands_where_it_was_watched_last_and_is_counted():
    lines = (line(day=2), line(day=20), line(day=10, n_viewings=2), line(log_date=datetime(2020, 1, 1)))
    (film,) = combine_entries([(history_review.ImportedFilm(lines), 7)])
    assert (film.last_date, film.n_viewings) == (datetime(2024, 1, 20), 3)


def test_one_evening_dated_by_two_services_counts_once():
    (film,) = combine_entries([(history_review.ImportedFilm((line(day=2), line(day=3))), 7)])
    assert film.n_viewings == 1
    (film,) = combine_entries([(history_review.ImportedFilm((line(day=2), line(day=4))), 7)])
    assert film.n_viewings == 2
    (film,) = combine_entries(
        [(history_review.ImportedFilm((line(n_viewings=2, day=2),)), 7)]
    )  # a rewatch, the first time is not in the file
    assert film.n_viewings == 2


def test_the_newest_rating_counts():
    lines = (line(rating=2.0, log_date=datetime(2024, 3, 1)), line(rating=4.5, log_date=datetime(2024, 2, 1)), line())
    assert combine_entries([(history_review.ImportedFilm(lines), 7)])[0].stars == 2.0
    assert combine_entries([(history_review.ImportedFilm((line(),)), 7)])[0].stars is None


def test_the_files_of_letterboxd_overlap_and_the_diary_has_the_dates():
    parts = read("export.zip", files.letterboxd())
    seen = group_entries(sort_entries(entry for part in parts for entry in part.entries))
    assert sorted(one.name for one in seen) == ["Alien (1979)", "Heat (1995)", "Toy Story (1995)"]
    films = combine_entries((one, number) for number, one in enumerate(seen))
    told = {
        seen[film.number].name: (film.last_date, film.has_viewing_date, film.n_viewings, film.stars) for film in films
    }
    assert told == {
        "Alien (1979)": (datetime(2019, 5, 5), False, 1, None),
        "Heat (1995)": (datetime(2023, 12, 30), True, 1, 0.5),
        "Toy Story (1995)": (datetime(2024, 1, 2), True, 2, 4.5),
    }
    assert [seen[film.number].name for film in films] == ["Alien (1979)", "Heat (1995)", "Toy Story (1995)"]


def test_the_same_file_twice_changes_nothing():
    once = [entry for part in read("d", files.DIARY.encode()) for entry in part.entries]
    told = [
        combine_entries((one, n) for n, one in enumerate(group_entries(sort_entries(lines))))
        for lines in (once, once + once)
    ]
    assert told[0] == told[1]


def test_a_history_that_was_kept_is_read_again_as_it_was():
    data = toys.cycle(5)
    parts = read("d", b"Film,Year,Date,Rating\nFilm 1,1991,2024-01-05,3.5\nFilm 9,2011,2024-01-04,5\nFilm 0,1990,,\n")
    seen = group_entries(parts[0].entries)
    found = Matcher(data).match([one.lookup_entry for one in seen])
    chosen = {position: match.films[0] for position, match in enumerate(found) if match.is_confident}
    text = history_review.films_json(data.name, data.catalog, seen, chosen)
    (again,) = read("kept", text.encode())
    told = [(one.name, one.movie_id, one.watch_date and one.watch_date.day, one.rating) for one in again.entries]
    assert told == [
        ("Film 0 (1990)", 100, None, None), ("Film 9 (2011)", None, 4, 5.0), ("Film 1 (1991)", 101, 5, 3.5),
    ]  # fmt: skip
