"""The command line, `python -m recsys COMMAND`. Only the module of the command is imported."""

import contextlib
import errno
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from recsys.cli.terminal import escape_controls, safe_output
from recsys.config import ConfigError
from recsys.errors import RecsysError
from recsys.progress import Cancelled

COMMANDS = {  # name: (module, help); the module has a function of that name, see `options.Command`
    "data": ("data", "list, fetch, verify or enrich data sets"),
    "train": ("train", "train a recommender and keep it"),
    "evaluate": ("evaluate", "measure a recommender and write the result file"),
    "report": ("evaluate", "print every result as Markdown, ours beside what others published"),
    "recommend": ("recommend", "the next films for a history"),
    "experiment": ("experiment", "rebuild a published table from nothing"),
    "jobs": ("jobs", "list, stop, resume or remove what is trained in the app"),
    "bench": ("bench", "how fast this machine trains, serves, evaluates or loads"),
    "app": ("app", "open the app in a window, or in the browser"),
    "prepare": ("data", "make beforehand what visitors of a public server need"),
}
DISK_ERRORS = {  # the disk is full or limited, a file belongs to somebody else, a path is no folder
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Expected errors print one line to stderr; a bug has a traceback.

    Raises SystemExit after --help (code 0) and for arguments that cannot be parsed (code 2).
    """
    name, *arguments = (sys.argv[1:] if argv is None else argv) or [""]
    try:
        with _plain_warnings():
            if name not in COMMANDS:
                _print_help([name] if name else [])
            call = getattr(import_module(f"recsys.cli.{COMMANDS[name][0]}"), name)(arguments)  # --help has colours
            with safe_output():
                return call() or 0
    except ConfigError as error:
        flag = f"--{error.setting.replace('_', '-')}" if error.setting else ""
        return _fail(flag + error.message.removeprefix(error.setting))
    except RecsysError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader has closed the pipe: `report | head`
        sys.stderr.close()
        return 1
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        return _fail(f"{error.filename or 'disk'}: {error.strerror}; make room, or set RECSYS_HOME")
    except KeyboardInterrupt:
        return _fail("stopped", 130)
    except Cancelled:
        return _fail("stopped", 143)  # 128 + SIGTERM, as a shell reports it


def _print_help(arguments: Sequence[str]) -> None:
    """Print all commands, after --help, or the error that no command has this name. Raises SystemExit."""
    from recsys.cli.options import group

    def placeholder(help_text: str) -> Any:
        def run() -> None: ...

        run.__doc__ = help_text
        return run

    group("", {name: placeholder(help_text) for name, (_, help_text) in COMMANDS.items()})(arguments)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print the message of a UserWarning alone, without its file and line."""
    with warnings.catch_warnings():
        show: Any = warnings.showwarning
        warnings.showwarning = lambda message, category, *place: (  # type: ignore[assignment]
            print(message, file=sys.stderr) if category is UserWarning else show(message, category, *place)
        )
        yield


def _fail(message: str, code: int = 1) -> int:
    """Print an error and return the exit code."""
    print(escape_controls(message), file=sys.stderr)
    return code
