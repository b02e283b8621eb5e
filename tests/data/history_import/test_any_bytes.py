"""Whatever a JSON file or a rating holds, it is read or refused; tests/readers has files of all formats."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.data.history_import import rows
from tests.readers.readers import READERS, accepts

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


@settings(max_examples=200, deadline=None)
@given(JSON.map(json.dumps).map(str.encode))
def test_any_json(data):
    accepts(READERS["history"], data)


@given(st.text(max_size=12) | st.sampled_from(["nan", "inf", "-inf", "1e999", "½", "★" * 9, "٣"]))
def test_any_rating(text):
    stars = rows.stars(text, 5)
    assert stars is None or 0.5 <= stars <= 5
