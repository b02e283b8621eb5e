"""Commands from functions and dataclasses: tyro makes flags, types, choices and help from their parameters."""

import contextlib
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Annotated, Any, Literal, TypeVar, Union, get_type_hints

from recsys.config import check
from recsys.errors import MissingLibraryError, recsys_command
from recsys.jobs.queue import ProtocolName

try:
    import tyro
    from tyro import conf
except ImportError as error:  # a minimal installation for training lacks tyro or a package that tyro needs
    raise MissingLibraryError("the command line", error.name or "tyro") from error

T = TypeVar("T")
Call = Callable[[], int | None]  # a parsed command; returns the exit code, None for 0
Command = Callable[[Sequence[str]], Call]  # parses the arguments of a command
Flag = Annotated[bool, conf.FlagCreatePairsOff]  # --json, without --no-json
FLAT = (conf.OmitArgPrefixes, conf.PositionalMetavarFromFieldName)  # --epochs, not --settings.schedule.epochs

# Copies of PROTOCOLS, PLANS and COMPARISON_NAMES, because --help must not import pandas. A test compares them.
ALL = "all"
ProtocolOrAll = Literal[ProtocolName, "all"]
StudyName = Literal[
    "ablation-bert4rec", "ablation-sasrec", "steps", "width", "mask-share", "length", "popularity", "losses", "masking",
    "augmentation", "protocols", "cost",
]  # fmt: skip


def command(name: str) -> Callable[[Callable[..., int | None]], Command]:
    """Return a decorator that makes a command of a function whose parameters are the flags."""
    return lambda function: partial(_parse, _bound(function), name)


def group(name: str, functions: Mapping[str, Callable[..., int | None]]) -> Command:
    """Return a command with a subcommand per function: `data list`, `data get`."""
    kinds = [Annotated[Any, conf.subcommand(word, constructor=_bound(run))] for word, run in functions.items()]
    return partial(_parse, Union[tuple(kinds)], name)  # noqa: UP007 - their number is known at run time only


def read(options: type[T], name: str, arguments: Sequence[str], default: Any = None, config: Any = FLAT) -> T:
    """Parse the arguments of a command into a dataclass with a field per flag.

    `default` has the values of flags that are not given, None for the defaults of the fields. `config` are markers of
    tyro. Raises ConfigError for a value that is not allowed, and SystemExit after --help (code 0) or for arguments that
    cannot be parsed (code 2, with the usage on stderr).
    """
    return _parse(options, name, arguments, config=config, **({"default": default} if default else {}))


def read_some(options: type[T], name: str, arguments: Sequence[str]) -> T:
    """Parse the arguments that a dataclass has. Others, --help included, are ignored."""
    return _parse(options, name, arguments, config=FLAT, return_unknown_args=True, add_help=False)[0]


def _bound(function: Callable[..., int | None]) -> Callable[..., Call]:
    """Return a function with the same parameters that checks their values and returns the call."""
    types = get_type_hints(function, include_extras=True)

    @wraps(function)
    def bind(**values: Any) -> Call:
        for name, value in values.items():
            check(types[name], **{name: value})
        return partial(function, **values)

    return bind


def _parse(
    target: Any, name: str, arguments: Sequence[str], config: Any = (*FLAT, conf.FlagCreatePairsOff), **settings: Any
) -> Any:
    """Return what tyro makes of the arguments. If tyro refuses them, print the usage too."""
    settings |= {"prog": recsys_command(*name.split()).strip(), "config": config}
    try:
        return tyro.cli(target, args=list(arguments), **settings)
    except SystemExit as end:
        if end.code:
            text = io.StringIO()
            with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
                tyro.cli(target, args=["--help"], **settings | {"add_help": True})
            print(text.getvalue().partition("\n")[0], file=sys.stderr)
        raise
