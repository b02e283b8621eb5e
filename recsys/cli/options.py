"""Commands from functions and dataclasses: tyro makes flags, types, choices and help from their parameters."""

import contextlib
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Annotated, Any, Literal, Union, get_type_hints

from recsys.config import check
from recsys.errors import MissingLibraryError, recsys_command
from recsys.jobs.queue import ProtocolName

try:
    import tyro
    from tyro import conf
except ImportError as error:  # a minimal installation for training lacks tyro or a package that tyro needs
    raise MissingLibraryError("the command line", error.name or "tyro") from error

Call = Callable[[], int | None]  # a parsed command; returns the exit code, None for 0
Command = Callable[[Sequence[str]], Call]  # parses the arguments of a command
Flag = Annotated[bool, conf.FlagCreatePairsOff]  # a field with a flag, but without the opposite flag --no-…
FLAT_NAMES = (conf.OmitArgPrefixes, conf.PositionalMetavarFromFieldName)  # --epochs, not --settings.schedule.epochs
WITHOUT_OPPOSITES = (*FLAT_NAMES, conf.FlagCreatePairsOff)  # --json, but no --no-json

# `studies.plans` and `evaluation.protocols` define the studies and protocols, but they import pandas, which is too slow
# for --help. So the names are repeated here and in `jobs.queue`. A test compares them.
ProtocolOrAll = Literal[ProtocolName, "all"]
StudyName = Literal[
    "ablation-bert4rec", "ablation-sasrec", "steps", "width", "mask-share", "length", "popularity", "losses", "masking",
    "augmentation", "protocols", "cost",
]  # fmt: skip
ALL = "all"  # a value of flags, for all protocols or all recommenders


def command(name: str) -> Callable[[Callable[..., int | None]], Command]:
    """Return a decorator that turns a function into a command. The parameters of the function become flags."""
    return lambda function: partial(read, _defer(function), name, config=WITHOUT_OPPOSITES)


def group(name: str, functions: Mapping[str, Callable[..., int | None]]) -> Command:
    """Return a command with a subcommand for each function: `data list`, `data get`."""
    subcommands = tuple(
        Annotated[Any, conf.subcommand(word, constructor=_defer(function))] for word, function in functions.items()
    )
    target: Any = Union[subcommands]  # noqa: UP007 - `|` needs a fixed number of types

    def parse(arguments: Sequence[str]) -> Call:
        subcommand = [word for word in arguments[:1] if word in functions]
        return read(target, name, arguments, WITHOUT_OPPOSITES, subcommand)

    return parse


def read(
    target: Any,
    name: str,
    arguments: Sequence[str],
    config: Any = FLAT_NAMES,
    subcommand: Sequence[str] = (),
    **settings: Any,
) -> Any:
    """Parse the arguments of a command into a dataclass or the parameters of a function.

    `config` and `settings` are passed to `tyro.cli`. Raises ConfigError for a value that is not allowed. Raises
    SystemExit after --help (code 0), and for arguments that cannot be parsed (code 2). With code 2, the usage of the
    command, or of `subcommand`, is printed to stderr.
    """
    settings |= {"config": config, "prog": recsys_command(*name.split()).strip()}
    try:
        return tyro.cli(target, args=list(arguments), **settings)
    except SystemExit as exit_error:
        if exit_error.code:
            help_text = io.StringIO()
            with contextlib.redirect_stdout(help_text), contextlib.suppress(SystemExit):
                tyro.cli(target, args=[*subcommand, "--help"], **settings | {"add_help": True})
            print(help_text.getvalue().partition("\n")[0], file=sys.stderr)  # the line "usage: …"
        raise


def _defer(function: Callable[..., int | None]) -> Callable[..., Call]:
    """Return a function with the same parameters, which checks their values and returns a call to run later."""
    types = get_type_hints(function, include_extras=True)

    @wraps(function)
    def bind(**values: Any) -> Call:
        for name, value in values.items():
            check(types[name], **{name: value})
        return partial(function, **values)

    return bind
