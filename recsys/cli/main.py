"""The command line, `python -m recsys COMMAND`. Only the module of the command is imported."""

import errno
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from recsys.cli.terminal import escape_controls, safe_output
from recsys.config import ConfigError
from recsys.errors import ACCESS_ERRORS, Message, RecsysError, disk_advice
from recsys.progress import Cancelled

COMMANDS = {  # name → (module of recsys.cli with an `options.Command` of this name, help)
    "data": ("data", "list, download, add, verify or delete data sets"),
    "train": ("train", "train a recommender and save its checkpoint"),
    "evaluate": ("evaluate", "measure a recommender and store the result"),
    "report": ("evaluate", "print all results as Markdown, with published results for comparison"),
    "recommend": ("recommend", "print recommendations for favourites or a history"),
    "experiment": ("experiment", "run a study or reproduce a published table"),
    "jobs": ("jobs", "list, stop, resume or remove training jobs that were started in the app"),
    "bench": ("bench", "measure the speed of training, serving, evaluation or loading"),
    "app": ("app", "open the app in a window or in the browser"),
    "prepare": ("data", "download the sentence encoder and fit recommenders for a public server"),
}
DISK_ERRORS = ACCESS_ERRORS | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # the last three: full disk, quota, file size


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. An expected error prints one line to stderr, a bug a traceback.

    Raises SystemExit after --help (code 0) and for arguments that cannot be parsed (code 2).
    """
    words = sys.argv[1:] if argv is None else argv
    name, *arguments = words or [""]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            if name not in COMMANDS:
                _print_help([name] if name else [])  # raises SystemExit
            parse = getattr(import_module(f"recsys.cli.{COMMANDS[name][0]}"), name)
            call = parse(arguments)  # outside of safe_output, which would escape the colours of --help
            with safe_output():
                return call() or 0
    except ConfigError as error:  # "batch_size is 0" → "--batch-size is 0"
        flag = f"--{error.setting.replace('_', '-')}"
        return _fail(str(Message(error.message.text, **error.message.fields | {"setting": flag})))
    except RecsysError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader has closed the pipe: `report | head`
        sys.stderr.close()  # at exit Python flushes stdout and would print a second BrokenPipeError
        return 1
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        return _fail(f"{error.filename or 'disk'}: {error.strerror}; {disk_advice(error)}")
    except KeyboardInterrupt:
        return _fail("stopped", 130)  # 128 + SIGINT, as a shell reports it
    except Cancelled:
        return _fail("stopped", 143)  # 128 + SIGTERM


def _print_help(arguments: Sequence[str]) -> NoReturn:
    """Print the list of commands for --help, or an error for an unknown or missing command, and raise SystemExit."""
    from recsys.cli.options import group

    functions: dict[str, Any] = {}
    for name, (_, help_text) in COMMANDS.items():
        functions[name] = lambda: None  # never called, only listed
        functions[name].__doc__ = help_text
    group("", functions)(arguments)
    raise SystemExit(2)  # for mypy: tyro has raised SystemExit


def _show_warning(message: Any, category: type[Warning], filename: str, line: int, *_: object) -> None:
    """Print a warning to stderr. A UserWarning is printed without its file and line."""
    text = f"{message}\n" if category is UserWarning else warnings.formatwarning(message, category, filename, line)
    sys.stderr.write(text)


def _fail(message: str, code: int = 1) -> int:
    """Print an error and return the exit code."""
    print(escape_controls(message), file=sys.stderr)
    return code
