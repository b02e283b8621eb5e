"""Whatever the bytes are, a file is read or refused with a sentence of its own; see test_read.py for what is read."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.data.history_import import dates, rows
from recsys.data.history_import.entries import Answers, HistoryError
from recsys.data.history_import.read import read
from tests.data.history_import import files

SOUND = [
    *(files.DIARY.encode(), files.RATINGS.encode(), files.FILMS.encode(), files.IMDB.encode(), files.SITE.encode()),
    *(files.DATASET.encode(), files.OURS.encode(), files.OURS_JSON.encode(), files.NETFLIX.encode()),
    *(json.dumps(files.HISTORY).encode(), files.letterboxd(), files.trakt()),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["watched", "movie", "show", "ids", "title", "year", "watched_at", "rating", "x"]), inner
        )
    ),
    max_leaves=12,
)


def is_read_or_refused(data):
    try:
        made = read("file", data)
    except HistoryError:
        return
    for entry in (entry for part in made for entry in part.entries):
        assert entry.title or entry.imdb_id or entry.tmdb_id or entry.movie_id
        assert entry.rating is None or 0.5 <= entry.rating <= 5
        assert entry.year is None or 1880 <= entry.year <= 2099


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode) | JSON.map(json.dumps).map(str.encode))
def test_any_bytes(data):
    is_read_or_refused(data)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(SOUND), st.data())
def test_sound_files_with_a_piece_cut_out_or_replaced(sound, draw):
    start = draw.draw(st.integers(0, len(sound)))
    end = draw.draw(st.integers(start, min(len(sound), start + 40)))
    is_read_or_refused(sound[:start] + draw.draw(st.binary(max_size=8)) + sound[end:])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(alphabet="0123456789/-. :T月年,JanFeb", max_size=24), max_size=6))
def test_any_dates(cells):
    read_date, _ = dates.date_reader(cells, Answers())
    for cell in cells:
        read_date(cell)


@given(st.text(max_size=12) | st.sampled_from(["nan", "inf", "-inf", "1e999", "½", "★" * 9, "٣"]))
def test_any_rating(text):
    stars = rows.stars(text, 5)
    assert stars is None or 0.5 <= stars <= 5
