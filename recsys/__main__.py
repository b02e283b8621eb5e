"""The command line: python -m recsys data | train | evaluate | report | recommend | experiment | bench | app.

Every command imports what it needs when it runs, so that a training machine needs no web packages.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from recsys import paths
from recsys.bench._commands import add_bench, bench_command
from recsys.data.schema import DataError
from recsys.evaluation.protocols import PROTOCOLS


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code. Whatever a person can mend ends in one line on stderr."""
    options = parser().parse_args(argv)
    try:
        return options.run(options)
    except (DataError, LookupError, RuntimeError, ImportError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or 'disk'}: {error.strerror}; make room, or set RECSYS_HOME", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """All commands and their options; those of a model's Config are added by `train`."""
    top = argparse.ArgumentParser(prog="python -m recsys", description="Movie recommenders.")
    commands = top.add_subparsers(required=True, metavar="command")

    data = commands.add_parser("data", help="list or fetch data sets").add_subparsers(required=True, metavar="action")
    data.add_parser("list", help="what there is, and what is here").set_defaults(run=data_list)
    get = data.add_parser("get", help="fetch and prepare a data set")
    get.add_argument("name")
    get.add_argument("--from", dest="source", type=Path, metavar="FILE.zip", help="take this archive instead")
    get.set_defaults(run=data_get)

    fit = commands.add_parser("train", help="train a model")
    fit.add_argument("model")
    fit.add_argument("settings", nargs=argparse.REMAINDER, help="--help after the model lists them")
    fit.set_defaults(run=train)

    judge = commands.add_parser("evaluate", help="measure a model and write the result file")
    judge.add_argument("model", help="a name, or all")
    judge.add_argument("--dataset", default="ml-100k")
    judge.add_argument("--protocol", choices=[*PROTOCOLS, "all"], default="full")
    judge.add_argument("--seeds", type=int, nargs="+", help="default: every seed that was trained")
    judge.add_argument("--part", choices=("test", "valid"), default="test")
    judge.add_argument("--ship", action="store_true", help="copy the result into assets/")
    judge.set_defaults(run=evaluate)

    tell = commands.add_parser("report", help="print every result as Markdown, ours beside what others published")
    tell.add_argument("--dataset", nargs="+", default=[], help="default: every one that was measured")
    tell.add_argument("--protocol", nargs="+", default=[], choices=list(PROTOCOLS), help="default: all")
    tell.add_argument("--brief", action="store_true", help="the leaderboards only")
    tell.set_defaults(run=report)

    ask = commands.add_parser("recommend", help="the next films for a history")
    ask.add_argument("titles", nargs="*", metavar="TITLE", help='oldest first, such as "Toy Story (1995)"')
    ask.add_argument("--dataset", default="ml-100k")
    ask.add_argument("--model", default="bert4rec")
    ask.add_argument("-k", type=int, default=10, help="how many films")
    ask.add_argument("--json", action="store_true", help="print a JSON list")
    ask.add_argument("--keep-seen", action="store_true", help="may recommend films of the history again")
    ask.set_defaults(run=recommend)

    bench = commands.add_parser("bench", help="how fast this machine trains, serves, evaluates or loads")
    add_bench(bench)
    bench.set_defaults(run=bench_command)

    table = commands.add_parser("experiment", help="rebuild a published table from nothing")
    table.add_argument("name", choices=("thesis",), help="BERT4Rec on ML-1M and ML-20M, 100 films drawn by popularity")
    table.add_argument("--dataset", nargs="+", default=["ml-1m"], help="ml-1m (default), ml-20m: fetched when missing")
    table.add_argument("--set", nargs=argparse.REMAINDER, default=[], metavar="FLAG", help="further flags of train")
    table.set_defaults(run=experiment)

    commands.add_parser("app", help="open the app in a browser").set_defaults(run=app)
    return top


def data_list(options: argparse.Namespace) -> int:
    """Print the known data sets."""
    from recsys.data import _commands

    return _commands.list_command()


def data_get(options: argparse.Namespace) -> int:
    """Fetch and prepare one."""
    from recsys.data import _commands

    return _commands.get_command(options.name, options.source)


def train(options: argparse.Namespace) -> int:
    """Train a model with the settings left on the command line."""
    from recsys.training import _commands

    return _commands.train_command(options.model, options.settings)


def evaluate(options: argparse.Namespace) -> int:
    """Measure a model."""
    from recsys.evaluation import _commands

    return _commands.evaluate_command(
        options.model, options.dataset, options.protocol, options.seeds, options.ship, options.part
    )


def report(options: argparse.Namespace) -> int:
    """Print the tables of results."""
    from recsys.evaluation.report import report_command

    return report_command(options.dataset, options.protocol, options.brief)


def experiment(options: argparse.Namespace) -> int:
    """Rebuild a table."""
    from recsys.experiment import thesis_command

    return thesis_command(options.dataset, options.set)


def recommend(options: argparse.Namespace) -> int:
    """Print the films that come next."""
    from recsys.serving import _commands

    return _commands.recommend_command(
        options.dataset, options.model, options.titles, options.k, options.json, not options.keep_seen
    )


def app(options: argparse.Namespace) -> int:
    """Serve the pages."""
    return subprocess.call([sys.executable, "-m", "streamlit", "run", str(paths.REPOSITORY / "app.py")])


if __name__ == "__main__":
    sys.exit(main())
