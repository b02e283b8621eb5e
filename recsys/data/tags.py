"""The tags that people gave films, and when. Shapes: T tags given, W different ones."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

MOST = 10  # tags shown of a film, the most frequent ones


def _none() -> np.ndarray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Tags:
    """Each time that somebody gave a film a tag; empty where a set has no tags."""

    movie: np.ndarray = field(default_factory=_none)  # (T,) int64, original film ids
    word: np.ndarray = field(default_factory=_none)  # (T,) int32, indices of `words`
    timestamp: np.ndarray = field(default_factory=_none)  # (T,) int64, seconds since 1970
    words: tuple[str, ...] = ()  # (W,) in alphabetical order, lower case

    @classmethod
    def of(cls, given: Iterable[tuple[int, str, int]]) -> "Tags":
        """From (film, tag, time); upper case and repeated blanks do not make another tag, and empty ones are none."""
        given = list(given)
        plain = {tag: " ".join(tag.lower().split()) for tag in {tag for _, tag, _ in given}}  # most are given often
        rows = [(movie, plain[tag], time) for movie, tag, time in given if plain[tag]]
        words = sorted({text for _, text, _ in rows})
        index = {text: number for number, text in enumerate(words)}
        movie = np.array([movie for movie, _, _ in rows], np.int64)
        word = np.array([index[text] for _, text, _ in rows], np.int32)
        return cls(movie, word, np.array([time for _, _, time in rows], np.int64), tuple(words))

    def __len__(self) -> int:
        return len(self.movie)

    def before(self, time: int) -> "Tags":
        """Those given before a time."""
        keep = np.asarray(self.timestamp) < time
        return Tags(self.movie[keep], self.word[keep], self.timestamp[keep], self.words)

    def most_frequent(self) -> dict[int, str]:
        """Film → its MOST most frequent tags, joined by ", "; ties in alphabetical order."""
        if not len(self):
            return {}
        table = pd.DataFrame({"movie": self.movie, "word": self.word})
        counts = table.groupby(["movie", "word"]).size().reset_index(name="count")
        counts = counts.sort_values(["movie", "count", "word"], ascending=[True, False, True])
        found: dict[int, list[str]] = {}
        for movie, word in counts.groupby("movie").head(MOST)[["movie", "word"]].itertuples(index=False):
            found.setdefault(int(movie), []).append(self.words[word])
        return {movie: ", ".join(words) for movie, words in found.items()}

    def onto(self, movies: pd.DataFrame) -> pd.DataFrame:
        """A film table with the column "tags" from here."""
        shown = self.most_frequent()
        tags = [shown.get(movie, "") for movie in movies["movie_id"].tolist()]
        return movies.assign(tags=pd.array(tags, dtype="str"))
