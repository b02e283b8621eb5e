"""Define classes of settings that validate their fields, and convert settings to JSON documents.

A class of settings is declared with `@config_class`. The type of a field states its range: `epochs: Count = 90`.
`__post_init__` checks rules about several fields, after each field was validated. This module does not import torch.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, field, fields, replace
from functools import cache, wraps
from typing import Annotated, Any, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from recsys.errors import N_, Message, RecsysError

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)
OMIT_DEFAULT = "omit default"  # metadata key of a field made by `added_later`
MAX_LENGTH = 32_766  # of a history; positions are stored in 16 bits

Count = Annotated[int, Field(ge=1)]
NonNegativeInt = Annotated[int, Field(ge=0)]
Size = Annotated[int, Field(ge=1, le=65_536)]  # limited, because memory or time is proportional to it
OptionalSize = Annotated[int, Field(ge=0, le=65_536)]  # a Size, or 0 if there is none
Length = Annotated[int, Field(ge=1, le=MAX_LENGTH)]  # number of items of a history
Layers = Annotated[int, Field(ge=0, le=256)]  # number of layers
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]  # the range that NumPy, torch and implicit accept
Finite = Annotated[float, Field()]  # STRICT forbids infinity and NaN in every float
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Rate = Annotated[float, Field(gt=0, le=1)]  # such as a learning rate
Fraction = Annotated[float, Field(ge=0, le=1)]
DropoutRate = Annotated[float, Field(ge=0, le=0.99)]  # 1 would remove all values
Decay = Annotated[float, Field(ge=0, le=0.999_999)]  # of a moving average; 1 would keep its first value

# error type of pydantic → the requirement, which follows "must be" in the message
REQUIREMENTS = {
    "greater_than_equal": N_("at least {ge:,}"),
    "greater_than": N_("greater than {gt:,}"),
    "less_than_equal": N_("at most {le:,}"),
    "int_type": N_("a whole number"),
    "int_from_float": N_("a whole number"),
    "float_type": N_("a number"),
    "finite_number": N_("a finite number"),
    "literal_error": "{expected}",
}

T = TypeVar("T")


class ConfigError(RecsysError):
    """A setting has an invalid value. The message names the setting and the allowed values."""

    @property
    def setting(self) -> str:
        """The name of the setting with the invalid value, "" if the message names no such setting."""
        return str(self.message.fields.get("setting", ""))


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def config_class(cls: type[T]) -> type[T]:
    """Make a frozen dataclass with keyword arguments, whose fields are validated against their types.

    Construction raises ConfigError for an unknown field and for a value that its type does not allow.
    """
    dataclass_type: Any = pydantic_dataclass(cls, frozen=True, kw_only=True, config=STRICT)
    validating_init = dataclass_type.__init__

    @wraps(validating_init)
    def init(self: Any, **values: Any) -> None:
        try:
            validating_init(self, **values)
        except ValidationError as error:
            raise _config_error(error, owner=cls.__name__) from None

    dataclass_type.__init__ = init
    return dataclass_type  # type: ignore[no-any-return]


def added_later(default: Any) -> Any:
    """Return a field that documents of older versions lack. `default` must be the behaviour of these versions.

    `to_document` omits such a field if it has its default. So old and new versions write the same document for equal
    settings.
    """
    return field(default=default, metadata={OMIT_DEFAULT: True})


def check(value_type: Any, **values: Any) -> None:
    """Raise ConfigError if a value does not fit a type, for example `check(Seed, seed=seed)`."""
    for name, value in values.items():
        try:
            _adapter(value_type).validate_python(value)
        except ValidationError as error:
            raise _config_error(error, owner=name, name=name) from None


def replace_settings(settings: T, changes: Mapping[str, Any]) -> T:
    """Return a config with changed fields. `changes` can also contain fields of its `schedule`, a `TrainConfig`.

    Raises ConfigError if a field is unknown or a value is not allowed.
    """
    config: Any = settings
    names = {setting.name for setting in fields(config)}
    schedule_names = {setting.name for setting in fields(config.schedule)} if "schedule" in names else set()
    if unknown := changes.keys() - names - schedule_names:
        raise ConfigError("{owner} has no setting {unknown}", owner=type(settings).__name__, unknown=min(unknown))
    config_changes = {name: value for name, value in changes.items() if name in names}
    schedule_changes = {name: value for name, value in changes.items() if name not in names}
    if schedule_changes:
        config_changes["schedule"] = replace(config.schedule, **schedule_changes)
    return replace(config, **config_changes)


def to_document(settings: Any) -> dict[str, Any]:
    """Return the fields of a config as a JSON document, nested configs included."""
    document = asdict(settings)
    for setting in fields(settings):
        if OMIT_DEFAULT in setting.metadata and document[setting.name] == setting.default:
            del document[setting.name]
    return document


def from_document(cls: type[T], document: Mapping[str, Any]) -> T:
    """Return the config of a document made by `to_document`. Missing fields get their defaults.

    Raises ValueError if a field is unknown or a value is not allowed.
    """
    try:
        return _adapter(cls).validate_json(json.dumps(document))  # type: ignore[arg-type]  # a class is hashable
    except (ValidationError, ConfigError, TypeError) as error:
        raise ValueError(f"not a document of {cls.__name__}: {error}") from error


@cache
def _adapter(value_type: Any) -> TypeAdapter[Any]:
    """Return a validator of a type with the configuration STRICT. Classes of `config_class` already have it."""
    is_config = isinstance(value_type, type) and hasattr(value_type, "__pydantic_config__")
    return TypeAdapter(value_type) if is_config else TypeAdapter(value_type, config=STRICT)


def _config_error(error: ValidationError, owner: str, name: str = "") -> ConfigError:
    """Return the first of pydantic's errors as one line for the user.

    Args:
        error: The errors. In a config, the "loc" of an error starts with the name of the setting. It is empty for an
            error of the whole config.
        owner: Name of the config class or, in `check`, of the setting.
        name: Name of the setting in `check`, whose "loc" lacks it.
    """
    details = error.errors(include_url=False)[0]
    setting = name or (str(details["loc"][0]) if details["loc"] else owner)
    if details["type"] == "unexpected_keyword_argument":
        return ConfigError("{owner} has no setting {unknown}", owner=owner, unknown=setting)
    if details["type"] in ("missing", "missing_argument"):
        return ConfigError("{owner} has no value for {missing}", owner=owner, missing=setting)
    requirement = REQUIREMENTS.get(details["type"])
    if requirement is None:
        return ConfigError(
            "{setting} is {value}: {reason}", setting=setting, value=details["input"], reason=details["msg"]
        )
    limits: dict[str, Any] = {  # without the ".0" of whole numbers
        key: int(limit) if isinstance(limit, float) and limit.is_integer() else limit
        for key, limit in details.get("ctx", {}).items()
    }
    text = "{setting} is {value}, but must be {requirement}"
    return ConfigError(text, setting=setting, value=details["input"], requirement=Message(requirement, **limits))
