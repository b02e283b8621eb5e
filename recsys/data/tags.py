"""Tags that users gave to films, with timestamps. Shapes: T assignments of a tag to a film, W distinct tags."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

MAX_TAGS = 10  # of a film in the film table
_no_values = partial(np.zeros, 0, np.int64)


@dataclass(frozen=True, eq=False)
class Tags:
    """All tags that the users of a data set gave to films."""

    movie: np.ndarray = field(default_factory=_no_values)  # (T,) int64, original film ids
    word: np.ndarray = field(default_factory=_no_values)  # (T,) int32, indices of `words`
    timestamp: np.ndarray = field(default_factory=_no_values)  # (T,) int64, seconds since 1970
    words: tuple[str, ...] = ()  # (W,) the distinct tags, each of one or more words, in lower case, sorted

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, str, int]]) -> "Tags":
        """Create tags from (film id, text, time).

        Texts become lower case without repeated blanks. Empty texts are dropped.
        """
        rows = list(rows)
        word_of = {text: " ".join(text.lower().split()) for text in {text for _, text, _ in rows}}
        rows = [(movie, word_of[text], time) for movie, text, time in rows if word_of[text]]
        words = sorted({word for _, word, _ in rows})
        index_of = {word: index for index, word in enumerate(words)}
        movies = np.array([movie for movie, _, _ in rows], np.int64)
        word_indices = np.array([index_of[word] for _, word, _ in rows], np.int32)
        timestamps = np.array([time for _, _, time in rows], np.int64)
        return cls(movies, word_indices, timestamps, tuple(words))

    def __len__(self) -> int:
        return len(self.movie)

    def before(self, time: int) -> "Tags":
        """Select the tags given before a time, in seconds since 1970."""
        keep = np.asarray(self.timestamp) < time
        return Tags(self.movie[keep], self.word[keep], self.timestamp[keep], self.words)

    def most_frequent(self) -> dict[int, str]:
        """Return film id → its MAX_TAGS most frequent tags, separated by ", ".

        Equally frequent tags are in alphabetical order.
        """
        if not len(self):
            return {}
        table = pd.DataFrame({"movie": self.movie, "word": self.word})
        counts = table.groupby(["movie", "word"]).size().reset_index(name="count")
        counts = counts.sort_values(["movie", "count", "word"], ascending=[True, False, True])
        most_frequent = counts.groupby("movie").head(MAX_TAGS)[["movie", "word"]]
        tags: dict[int, list[str]] = {}
        for movie, word in most_frequent.itertuples(index=False):
            tags.setdefault(int(movie), []).append(self.words[word])
        return {movie: ", ".join(words) for movie, words in tags.items()}

    def assign_to(self, movies: pd.DataFrame) -> pd.DataFrame:
        """Return a film table with these tags in the column "tags"."""
        tags = self.most_frequent()
        return movies.assign(tags=pd.array([tags.get(movie, "") for movie in movies["movie_id"].tolist()], dtype="str"))
