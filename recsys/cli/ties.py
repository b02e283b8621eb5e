"""`python -m recsys experiment ties`: what the order of a ratings file within a second gives away."""

from collections.abc import Sequence
from typing import Any

from recsys.cli import options
from recsys.config import Finite, config_class


@config_class
class Ties:
    """Find the order in which a data set has the films of one second, and what recommenders learn of it."""

    dataset: str = "ml-1m"  # data set, on this machine
    without_rating: Finite | None = None  # pairs of neighbours with a film of this rating are not counted
    ship: options.Flag = False  # copy the result into assets/

    def run(self) -> int:
        """Measure, keep and print; what recommenders lose is taken from results under `full` and `untied`."""
        from recsys.data import datasets
        from recsys.evaluation import ties
        from recsys.progress import Terminal

        with Terminal("ties") as report:
            found = ties.measure(datasets.ensure(self.dataset, report), self.without_rating, report)
        path = ties.write(found, self.ship)
        print("\n".join([*said(found), f"kept in {path}"]))
        return 0


def read(arguments: Sequence[str]) -> Ties:
    """The options of `experiment ties`."""
    return options.read(Ties, "experiment ties", arguments)


def said(found: dict[str, Any]) -> list[str]:
    """The result in lines: the order, the ties, the rule, and a table of the recommenders."""
    from recsys.errors import recsys_command
    from recsys.evaluation.report import markdown, short

    order = found["order"] or "neither that of film ids nor that of a hash table"
    (same, alone), (n_same, n_alone) = found["lower"].values(), found["pairs"].values()
    lines = [
        f"order within a second: {order}",
        f"in the second of the film before: {found['share']:.1%} of all films, {found['targets']:.1%} of the hidden",
        f"pairs whose second film stands lower: {same:.2%} of {n_same:,} of one second",
        f"                                      {alone:.2%} of {n_alone:,} of films alone in theirs",
    ]
    if found["tables"]:
        sizes = ", ".join(f"{size} from person {person}" for size, person in found["tables"].items())
        lines.append(f"buckets of the hash table: {sizes}")
    lines += [
        f"{row['title']}, {row['protocol']}: NDCG@10 {short(row['alone'])}, with it {short(row['with the order'])}"
        for row in found["rules"]
    ]
    if not found["recommenders"]:
        command = recsys_command("evaluate", "all", "--dataset", found["dataset"], "--protocol", "untied")
        return [*lines, f"what each recommender loses can be told once it was measured: {command}"]
    head = ["recommender", "full", "untied", "full, tied", "full, other", "untied, tied", "untied, other"]
    columns = ["full", "untied", "full tied", "full other", "untied tied", "untied other"]
    rows = [
        [row["variant"], *(short(row[name]) if name in row else "" for name in columns)]
        for row in found["recommenders"]
    ]
    return [*lines, "", markdown(head, rows), ""]
