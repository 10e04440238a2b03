"""A symbolic execution engine for C, and a fast bit-vector solver built for it."""

import sys
from types import ModuleType

# Names are imported on first use: `partita cc` starts once per source file and needs none of them.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from partita._core import Expr, Model, __version__, apply, array, boolean, bv, const_array, table
    from partita.errors import InternalError, UsageError
    from partita.explore import Run, explore
    from partita.floats import Float, FloatFormat, Rounding, fp
    from partita.ktest import TestCase
    from partita.layers import Layer
    from partita.results import Bug, Path
    from partita.solver import Solver, all_of, any_of, concat, ite

_NAMES = {
    "_core": "Expr Model __version__ apply array boolean bv const_array table",
    "errors": "InternalError UsageError",
    "explore": "Run explore",
    "floats": "Float FloatFormat Rounding fp",
    "ktest": "TestCase",
    "layers": "Layer",
    "results": "Bug Path",
    "solver": "Solver all_of any_of concat ite",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Bug",
    "Expr",
    "Float",
    "FloatFormat",
    "InternalError",
    "Layer",
    "Model",
    "Path",
    "Rounding",
    "Run",
    "Solver",
    "TestCase",
    "UsageError",
    "__version__",
    "all_of",
    "any_of",
    "apply",
    "array",
    "boolean",
    "bv",
    "concat",
    "const_array",
    "explore",
    "fp",
    "ite",
    "table",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(f"partita.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """Keeps the import system from replacing the function `partita.explore` by the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
