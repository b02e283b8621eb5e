"""The command line: python -m recsys data | train | evaluate | report | recommend | experiment | jobs | bench | app |
prepare.

A command is a file of this package with `read(arguments)`, which gives a dataclass of its options with `run()`. It is
imported when it is asked for, so that a training machine needs no web packages, and imports what it needs when it runs.
"""

import argparse
import contextlib
import errno
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from recsys.cli.terminal import escape_controls, shown
from recsys.errors import RecsysError, recsys_command
from recsys.progress import Cancelled

COMMANDS = {
    "data": "list, fetch, verify or enrich data sets",
    "train": "train a recommender and keep it",
    "evaluate": "measure a recommender and write the result file",
    "report": "print every result as Markdown, ours beside what others published",
    "recommend": "the next films for a history",
    "experiment": "rebuild a published table from nothing",
    "jobs": "list, stop, resume or remove what is trained in the app",
    "bench": "how fast this machine trains, serves, evaluates or loads",
    "app": "open the app in a window, or in the browser",
    "prepare": "make beforehand what visitors of a public server need",
}
DISK = {  # full, limited, not ours, or not a folder
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. What a person can mend ends in one line on stderr, a bug in a traceback.

    Leaves the program (SystemExit 2) where the command line makes no sense.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    name = parser().parse_args(arguments[:1]).command
    try:
        with _plain_warnings():
            command = import_module(f"recsys.cli.{name}").read(arguments[1:])  # help in colours
            with shown():
                return command.run()
    except RecsysError as error:
        return _end(str(error))
    except BrokenPipeError:  # whoever read our output has seen enough: `report | head`
        sys.stderr.close()
        return 1
    except OSError as error:
        if error.errno not in DISK:
            raise
        return _end(f"{error.filename or 'disk'}: {error.strerror}; make room, or set RECSYS_HOME")
    except KeyboardInterrupt:
        return _end("stopped", 130)
    except Cancelled:
        return _end("stopped", 143)  # as a shell counts SIGTERM


def parser() -> argparse.ArgumentParser:
    """The names of the commands; what a command takes it reads itself."""
    top = argparse.ArgumentParser(prog=recsys_command().strip(), description="Movie recommenders.")
    commands = top.add_subparsers(dest="command", required=True, metavar="command", help="--help after it: its flags")
    for name, help_text in COMMANDS.items():
        commands.add_parser(name, help=help_text, add_help=False)
    return top


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show a warning of ours as the sentence it is, without file, line and source text; others as they are."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
            if category is UserWarning:
                print(message, file=sys.stderr)
            else:
                usual(message, category, *where)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _end(message: str, code: int = 1) -> int:
    """Say why the program ends."""
    print(escape_controls(message), file=sys.stderr)
    return code
