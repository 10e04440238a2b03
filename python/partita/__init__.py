"""A symbolic execution engine for C, and a fast bit-vector solver built for it."""

from partita._core import Expr, Model, __version__, apply, array, boolean, bv, const_array, table
from partita.errors import InternalError, UsageError
from partita.explore import Run, explore
from partita.results import Bug, PathResult
from partita.solver import Solver, all_of, any_of, concat, ite

__all__ = [
    "Bug",
    "Expr",
    "InternalError",
    "Model",
    "PathResult",
    "Run",
    "Solver",
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
    "ite",
    "table",
]
