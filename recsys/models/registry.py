"""Names of recommenders → classes, imported on demand.

A model file ends in a literal such as `VARIANTS = {"sasrec-bce": SasRecBce}`. The names are read from the source text,
so that listing them loads neither torch nor implicit. A new recommender is one new file.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

from recsys.models.base import Recommender


@cache
def _modules() -> dict[str, str]:
    """Variant → module name, in alphabetical order of variants."""
    found: dict[str, str] = {}
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "VARIANTS":
                assert isinstance(node.value, ast.Dict), f"{path.name}: VARIANTS must be a dict literal"
                found |= {ast.literal_eval(key): path.stem for key in node.value.keys if key is not None}
    return dict(sorted(found.items()))


def names() -> list[str]:
    """Every variant there is, without importing one."""
    return list(_modules())


def get(variant: str) -> type[Recommender]:
    """The class behind a name; raises LookupError that lists what there is."""
    if variant not in _modules():
        raise LookupError(f"no model is called {variant}; there are: {', '.join(names())}")
    return import_module(f"recsys.models.{_modules()[variant]}").VARIANTS[variant]
