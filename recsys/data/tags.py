"""Tags that users gave to films, with timestamps. Shapes: T assignments of a tag to a film, W distinct tags.

A tag has one or more words, in lower case.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

MAX_TAGS = 10  # of a film in the column "tags"
_empty_array = partial(np.zeros, 0, np.int64)


@dataclass(frozen=True, eq=False)
class Tags:
    """All tags that the users of a data set gave to films. `len` is the number of assignments."""

    movie: np.ndarray = field(default_factory=_empty_array)  # (T,) int64, movie ids
    tag_index: np.ndarray = field(default_factory=_empty_array)  # (T,) int32, indices of `texts`
    timestamp: np.ndarray = field(default_factory=_empty_array)  # (T,) int64, seconds since 1970
    texts: tuple[str, ...] = ()  # (W,) the distinct tags, sorted

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, str, int]]) -> "Tags":
        """Create tags from (movie id, text, time in seconds since 1970).

        Texts become lower case without repeated spaces. Empty texts are dropped.
        """
        rows = list(rows)
        tag_of = {text: " ".join(text.lower().split()) for text in {text for _, text, _ in rows}}
        rows = [(movie, tag_of[text], time) for movie, text, time in rows if tag_of[text]]
        tags = sorted({tag for _, tag, _ in rows})
        index_of = {tag: index for index, tag in enumerate(tags)}
        movies = np.array([movie for movie, _, _ in rows], np.int64)
        tag_indices = np.array([index_of[tag] for _, tag, _ in rows], np.int32)
        timestamps = np.array([time for _, _, time in rows], np.int64)
        return cls(movies, tag_indices, timestamps, tuple(tags))

    def __len__(self) -> int:
        return len(self.movie)

    def before(self, time: int) -> "Tags":
        """Select the tags given before a time, in seconds since 1970."""
        is_earlier = np.asarray(self.timestamp) < time
        return Tags(self.movie[is_earlier], self.tag_index[is_earlier], self.timestamp[is_earlier], self.texts)

    def most_frequent(self) -> dict[int, str]:
        """Return movie id → the MAX_TAGS most frequent tags of the film, separated by ", ".

        Equally frequent tags are in alphabetical order.
        """
        if not len(self):
            return {}
        table = pd.DataFrame({"movie": self.movie, "tag": self.tag_index})
        counts = table.groupby(["movie", "tag"]).size().reset_index(name="count")
        counts = counts.sort_values(["movie", "count", "tag"], ascending=[True, False, True])
        most_frequent = counts.groupby("movie").head(MAX_TAGS)[["movie", "tag"]]
        tags: dict[int, list[str]] = {}
        for movie, tag in most_frequent.itertuples(index=False):
            tags.setdefault(int(movie), []).append(self.texts[tag])
        return {movie: ", ".join(texts) for movie, texts in tags.items()}

    def assign_to(self, movies: pd.DataFrame) -> pd.DataFrame:
        """Return a film table with `most_frequent` in the column "tags"."""
        tags = self.most_frequent()
        return movies.assign(tags=pd.array([tags.get(movie, "") for movie in movies["movie_id"].tolist()], dtype="str"))
