"""From the words of a command line to a frozen dataclass: flags, types, choices and help all come from its fields."""

import contextlib
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from recsys.config import ConfigError
from recsys.errors import MissingLibraryError, recsys_command

try:
    import tyro
    from tyro import conf
except ImportError as error:  # a bare training machine
    raise MissingLibraryError("the command line", error.name or "tyro") from error  # or one that tyro needs

Options = TypeVar("Options")
Flag = Annotated[bool, conf.FlagCreatePairsOff]  # --json, without --no-json
FLAT = (conf.OmitArgPrefixes, conf.PositionalMetavarFromFieldName)  # --epochs, not --settings.schedule.epochs


def read(
    options: type[Options], name: str, arguments: Sequence[str], default: Any = None, config: Sequence[Any] = FLAT
) -> Options:
    """The options that the arguments of a command spell; name: "data get".

    default: an object for what they leave out; None: the defaults of the fields. config: markers of tyro.
    Raises ConfigError, which names the flag, for a value that is not allowed.
    Leaves the program where the arguments make no sense (exit code 2, with the usage) and after --help.
    """
    return _parse(options, name, arguments, config=config, **({"default": default} if default else {}))


def read_some(options: type[Options], name: str, arguments: Sequence[str]) -> Options:
    """The same of the flags that `options` has; the others are skipped, --help too."""
    return _parse(options, name, arguments, config=FLAT, return_unknown_args=True, add_help=False)[0]


def _parse(options: type, name: str, arguments: Sequence[str], **how: Any) -> Any:
    """What tyro makes of the arguments; where it refuses them, the usage follows what it says."""
    prog = recsys_command(*name.split())
    try:
        return tyro.cli(options, args=list(arguments), prog=prog, **how)
    except SystemExit as end:
        if end.code:
            text = io.StringIO()
            with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
                tyro.cli(options, args=["--help"], prog=prog, **how | {"add_help": True})
            print(text.getvalue().partition("\n")[0], file=sys.stderr)
        raise
    except ConfigError as error:
        raise ConfigError(_of_flag(error), error.setting) from error


def _of_flag(error: ConfigError) -> str:
    """What an error says, with the flag in place of the setting."""
    flag = f"--{error.setting.replace('_', '-')}"
    return flag + error.message.removeprefix(error.setting) if error.setting else error.message
