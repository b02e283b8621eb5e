"""D1–D5: the same input gives the same output, and a result says what it came from."""

from benchmarks.reliability import fits
from benchmarks.reliability.promise import Outcome, Promise, judged

WITHIN = 1e-3  # of any metric, with another number of threads
MANY = 3_000  # people of D3: one of them more moves a metric by a third of that
VERSIONS = {"python", "torch", "numpy"}


def d1() -> Outcome:
    """Three processes that hash differently."""
    one, *others = [fits.all_of_them(hash_seed=seed) for seed in ("0", "1", "random")]
    same = {
        f"{name} is the same": all(
            other[name][part] == one[name][part] for other in others for part in ("result", "ranks")
        )
        for name in one
    }
    return judged(
        f"{sum(same.values())} of {len(same)} recommenders: equal result files, PYTHONHASHSEED 0, 1, random", same
    )


def d2() -> Outcome:
    """The rows of a file in three other orders, for recommenders that only count."""
    from recsys.data.assemble import assemble
    from tests.evaluation.test_shuffled import COUNTING, metrics, ratings, shuffled

    raw = ratings()
    same = {}
    for name in COUNTING:
        expected = metrics(name, assemble("toy", raw))
        same[f"{name} is the same"] = all(
            metrics(name, assemble("toy", shuffled(raw, seed))) == expected for seed in (1, 2, 3)
        )
    return judged(
        f"{sum(same.values())} of {len(same)} recommenders: equal metrics in three other orders of the rows", same
    )


def d3() -> Outcome:
    """One thread and two."""
    one, two = (fits.all_of_them(threads, people=MANY) for threads in ("1", "2"))
    apart = {
        name: max(abs(one[name]["mean"][key] - two[name]["mean"][key]) for key in one[name]["mean"]) for name in one
    }
    name, most = max(apart.items(), key=lambda pair: pair[1])
    figure = f"{len(one)} recommenders, fitted and measured with 1 and 2 threads: {most:.1e} apart at the most ({name})"
    return judged(figure, {f"{name} ({far:.4f})": far <= WITHIN for name, far in apart.items()})


def d4() -> Outcome:
    """Kept and loaded again."""
    found = fits.all_of_them()
    same = {name: one["same lists"] for name, one in found.items()}
    return judged(f"{alike(same)}: equal top {fits.K} of {fits.PEOPLE} people after save and load", same)


def d5() -> Outcome:
    """What a result file tells."""
    found = fits.all_of_them().values()
    said = {
        "the seed": all(one["seed"] == 0 for one in found),
        "the threads": all(one["threads"] == "1" for one in found),
        "the versions": all(set(one["versions"]) >= VERSIONS for one in found),
        "the SHA-256 of the data": all(len(one["data"] or "") == 64 for one in found),
    }
    return judged(f"{len(found)} result files tell {', '.join(said)}", said)


def alike(same: dict[str, bool]) -> str:
    """ "38 of 39 recommenders"."""
    return f"{sum(same.values())} of {len(same)} recommenders"


BARS = (
    Promise("D1", "one seed, three processes with other hash seeds: equal result files for every recommender", 4, d1),
    Promise("D2", "the rows of a file in another order: equal metrics of what only counts", 0.5, d2),
    Promise("D3", "1 and 2 threads: metrics within 0.001", 8, d3),
    Promise("D4", "save, load: the same lists from every recommender", 1.5, d4),
    Promise("D5", "a result tells seed, threads, versions and the SHA-256 of its data", 1.5, d5),
)
