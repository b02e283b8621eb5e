"""Compute a map of films by t-SNE (van der Maaten and Hinton, 2008) and store it.

A map is stored with the hash of the embeddings. A new training changes the embeddings, and the old map is then ignored.
The command `python -m recsys.serving.insight.tsne DATASET RECOMMENDER --ship` writes a map to the folder `assets`.

Shapes: I films, D dimensions.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tyro

from recsys import arrays, paths, storage
from recsys.data import datasets
from recsys.errors import Message
from recsys.progress import ProgressCallback, TerminalProgress, no_progress
from recsys.serving import predictor as predictors
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError

POINTS_NAME = "points"  # name of the array in its file
MAX_ITERATIONS = 1000
PERPLEXITY = 30  # approximate number of neighbours per film, the default of scikit-learn
_ITERATION = re.compile(r"Iteration (\d+)")  # in the output of scikit-learn


def fingerprint(vectors: np.ndarray) -> str:
    """Return the SHA-256 of embeddings (I, D)."""
    return storage.sha256(np.ascontiguousarray(vectors, "<f4").tobytes())


def load_points(predictor: Predictor) -> np.ndarray | None:
    """Return the stored map of a recommender, (I, 2) float32, or None if there is no valid map.

    A map in the home folder is preferred to a shipped map.
    """
    names = predictor.dataset.name, predictor.recommender.name
    expected = fingerprint(predictor.model.item_embeddings())
    for root in (paths.home(), paths.ASSETS):
        points = arrays.read(paths.film_map(root, *names), POINTS_NAME, expected)  # None also if damaged
        if points is not None:
            return points.astype(np.float32)
    return None


def item_embeddings(predictor: Predictor) -> np.ndarray:
    """Return the film embeddings of a model, (I, D). Raises ServingError if the model has no film embeddings."""
    if not predictor.model.has_item_embeddings:
        raise ServingError(
            "{title} has no embeddings of films; choose another recommender", title=Message(predictor.title)
        )
    return predictor.model.item_embeddings()


def compute_map(predictor: Predictor, report: ProgressCallback = no_progress, ship: bool = False) -> np.ndarray:
    """Compute a map, store it in the home folder or, with `ship`, in `assets`, and return it like `load_points`.

    A progress event is {"stage": "map", "done": finished iterations, "total": MAX_ITERATIONS}.
    """
    vectors = item_embeddings(predictor)
    points = compute_points(vectors, report).astype(np.float16)  # half precision keeps the file small
    root, write = (paths.ASSETS, arrays.write) if ship else (paths.home(), arrays.write_or_warn)
    path = paths.film_map(root, predictor.dataset.name, predictor.recommender.name)
    write(path, POINTS_NAME, points, fingerprint(vectors))
    return points.astype(np.float32)


def compute_points(vectors: np.ndarray, report: ProgressCallback = no_progress) -> np.ndarray:
    """Return points (I, 2), float32, of vectors (I, D). Vectors with a large cosine have close points.

    On one machine, the same vectors give the same points. With fewer than three vectors, all points are 0. A subprocess
    computes the points, so that an exception of `report` can stop the computation.
    """
    if len(vectors) < 3:
        return np.zeros((len(vectors), 2), np.float32)
    with tempfile.TemporaryDirectory(prefix="nextreel-map-") as folder:
        source, target = Path(folder, "vectors.npy"), Path(folder, "points.npy")
        # a vector of 0 has no cosine, so a vector of equal numbers replaces it
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.save(source, np.where(lengths > 0, vectors, np.float32(1e-3)).astype(np.float32))
        code = "import sys; from recsys.serving.insight.tsne import run_worker; run_worker(*sys.argv[1:])"
        command = [sys.executable, "-u", "-c", code, str(source), str(target)]
        with subprocess.Popen(
            command, cwd=paths.REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as worker:
            line = ""
            try:
                for line in worker.stdout or ():
                    if match := _ITERATION.search(line):
                        report({"stage": "map", "done": int(match[1]), "total": MAX_ITERATIONS})
            except BaseException:
                worker.kill()
                raise
        if worker.returncode:
            reason = line.strip() or Message("the process ended")  # the last line of a traceback has the error
            raise ServingError("the map could not be computed: {reason}", reason=reason)
        return np.load(target).astype(np.float32)


def run_worker(source: str, target: str) -> None:
    """Read vectors (I, D) from one .npy file and write points (I, 2) to another. scikit-learn prints the progress."""
    from sklearn.manifold import TSNE

    vectors = np.load(source)
    perplexity = min(PERPLEXITY, max(1, (len(vectors) - 1) / 3))  # must be less than the number of vectors
    init = "pca" if vectors.shape[1] > 1 else "random"  # PCA needs two dimensions
    tsne = TSNE(metric="cosine", perplexity=perplexity, max_iter=MAX_ITERATIONS, init=init, random_state=0, verbose=2)
    np.save(target, tsne.fit_transform(vectors))


def main(dataset: tyro.conf.Positional[str], recommender: tyro.conf.Positional[str], ship: bool = False) -> None:
    """Compute a map of films by t-SNE from the embeddings of a recommender.

    Args:
        dataset: Such as ml-latest-sample.
        recommender: Such as bert4rec.
        ship: Write the map to assets/, not to the home folder.
    """
    with TerminalProgress() as report:
        compute_map(predictors.load(recommender, datasets.load(dataset)), report, ship)


if __name__ == "__main__":
    tyro.cli(main)
