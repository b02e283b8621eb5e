"""t-SNE in a process of its own, which says how far it is: python -m recsys.serving.insight.tsne_worker IN.npy OUT.npy

It takes (I, D) vectors and leaves (I, 2) points. What it prints is read by `tsne.points`.
"""

import sys

import numpy as np

ITERATIONS = 1000
PERPLEXITY = 30  # about so many neighbours does a film try to keep, scikit-learn's own choice


def main(source: str, target: str) -> None:
    """Read, compute, write."""
    from sklearn.manifold import TSNE

    vectors = np.load(source)
    perplexity = min(PERPLEXITY, max(1, (len(vectors) - 1) / 3))
    start = "pca" if vectors.shape[1] > 1 else "random"
    tsne = TSNE(metric="cosine", perplexity=perplexity, max_iter=ITERATIONS, init=start, random_state=0, verbose=2)
    np.save(target, tsne.fit_transform(vectors))


if __name__ == "__main__":
    main(*sys.argv[1:])
