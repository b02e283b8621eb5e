"""A map of films by t-SNE (van der Maaten and Hinton, 2008), kept where it was computed or shipped with the project.

A map belongs to the embeddings that it was computed from: their hash stands beside it, and another training makes it
void. To ship one: python -m recsys.serving.insight.tsne DATASET RECOMMENDER --ship
Shapes: I films, D dimensions.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from recsys import arrays, paths, storage
from recsys.data import datasets
from recsys.errors import Message
from recsys.progress import ProgressCallback, Terminal, no_progress
from recsys.serving import predictor as predictors
from recsys.serving.insight import tsne_worker
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError

POINTS = "points"  # what the array is called in its file; it is made of embeddings with a `fingerprint`
_ITERATION = re.compile(r"Iteration (\d+)")


def fingerprint(vectors: np.ndarray) -> str:
    """SHA-256 of embeddings (I, D)."""
    return storage.sha256(np.ascontiguousarray(vectors, "<f4").tobytes())


def kept(predictor: Predictor) -> np.ndarray | None:
    """(I, 2) float32 points of this recommender's films: computed on this machine, or shipped; None: neither."""
    names = predictor.dataset.name, predictor.variant.name
    known_as = fingerprint(predictor.model.item_embeddings())
    found = (_read(paths.film_map(root, *names), known_as) for root in (paths.home(), paths.ASSETS))
    return next((points for points in found if points is not None), None)


def compute(predictor: Predictor, report: ProgressCallback = no_progress, ship: bool = False) -> np.ndarray:
    """`kept`, computed now and kept on this machine or, with `ship`, in the project.

    Reports {"stage": "map", "done", "total"} in iterations. Raises ServingError for a recommender without embeddings.

    `ship` raises OSError where the project's folder takes no files.
    """
    if not predictor.model.has_item_embeddings:
        raise ServingError(
            "{title} has no embeddings of films; choose another recommender", title=Message(predictor.title)
        )
    vectors = predictor.model.item_embeddings()
    halves = points(vectors, report).astype(np.float16)
    names = predictor.dataset.name, predictor.variant.name
    if ship:
        arrays.write(paths.film_map(paths.ASSETS, *names), POINTS, halves, fingerprint(vectors))
    else:
        arrays.keep(paths.film_map(paths.home(), *names), POINTS, halves, fingerprint(vectors))
    return halves.astype(np.float32)


def points(vectors: np.ndarray, report: ProgressCallback = no_progress) -> np.ndarray:
    """(I, 2) float32 points that keep neighbours by cosine together, the same for the same vectors on one machine.

    Another process computes, so that whoever asks can look at the progress, and give up by raising from `report`.
    """
    if len(vectors) < 3:
        return np.zeros((len(vectors), 2), np.float32)
    with tempfile.TemporaryDirectory(prefix="nextreel-map-") as folder:
        source, target = Path(folder, "vectors.npy"), Path(folder, "points.npy")
        np.save(source, directions(vectors))
        command = [sys.executable, "-u", "-m", tsne_worker.__name__, str(source), str(target)]
        with subprocess.Popen(
            command, cwd=paths.REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as worker:
            try:
                said = [_told(line, report) for line in worker.stdout or ()]
            except BaseException:
                worker.kill()
                raise
        if worker.returncode:
            raise ServingError(
                "the map could not be computed: {reason}", reason=said[-1] if said else Message("the process ended")
            )
        return np.load(target).astype(np.float32)


def directions(vectors: np.ndarray) -> np.ndarray:
    """(I, D) float32; a film without any embedding gets a direction of its own, so that cosines exist."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > 0, vectors, np.float32(1e-3)).astype(np.float32)


def _told(line: str, report: ProgressCallback) -> str:
    """Report what a line of the worker says of its progress."""
    if iteration := _ITERATION.search(line):
        report({"stage": "map", "done": int(iteration[1]), "total": tsne_worker.ITERATIONS})
    return line.strip()


def _read(path: Path, known_as: str) -> np.ndarray | None:
    """Points (I, 2) float32; None when the file is not there, damaged, or of other embeddings."""
    halves = arrays.read(path, POINTS, known_as)
    return None if halves is None else halves.astype(np.float32)


def main() -> None:
    """Compute the map of one recommender on one data set."""
    parser = argparse.ArgumentParser(description="A map of films by t-SNE, from a recommender's embeddings.")
    parser.add_argument("dataset", help="such as ml-latest-sample")
    parser.add_argument("recommender", help="such as bert4rec")
    parser.add_argument("--ship", action="store_true", help="write it into assets/, not to this machine's home")
    options = parser.parse_args()
    with Terminal() as report:
        compute(predictors.load(options.recommender, datasets.load(options.dataset)), report, options.ship)


if __name__ == "__main__":
    main()
