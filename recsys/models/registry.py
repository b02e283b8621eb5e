"""Names of recommenders → variants, imported on demand.

A model file ends in a literal such as `VARIANTS = {"sasrec-bce": Variant(SasRec, …)}`. The names are read from the
source text, so that listing them loads neither torch nor implicit. A new recommender is one new file.
"""

import ast
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from recsys.errors import RecsysError
from recsys.models.base import Variant


class UnknownModelError(RecsysError):
    """A name that no recommender has."""


@cache
def _modules() -> dict[str, str]:
    """Variant → module name, in alphabetical order of variants."""
    found: dict[str, str] = {}
    for path in Path(__file__).parent.glob("*.py"):
        _, *literal = path.read_text("utf-8").partition("\nVARIANTS = ")  # the rest need not be parsed, which is slow
        for node in ast.parse("".join(literal)).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "VARIANTS":
                assert isinstance(node.value, ast.Dict), f"{path.name}: VARIANTS must be a dict literal"
                found |= {ast.literal_eval(key): path.stem for key in node.value.keys if key is not None}
    return dict(sorted(found.items()))


def names() -> list[str]:
    """Every variant there is, without importing one."""
    return list(_modules())


def siblings(name: str) -> list[str]:
    """The variants of the same file, itself first."""
    return sorted((other for other in names() if _modules()[other] == _modules()[name]), key=lambda own: own != name)


@cache
def get(name: str) -> Variant:
    """The variant of that name; raises UnknownModelError that lists what there is."""
    if name not in _modules():
        raise UnknownModelError(f"no model is called {name}; there are: {', '.join(names())}")
    return replace(import_module(f"recsys.models.{_modules()[name]}").VARIANTS[name], name=name)
