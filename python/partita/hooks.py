"""Python functions as models of C functions: `explore("prog.c", hooks={"read_sensor": read_sensor})`.

A hook is called as `hook(state, *arguments)` instead of the C function. Concrete arguments are `int`, symbolic ones
`Expr`; numbers are signed, like the operators of `Expr`. It returns an `int` or an `Expr` of the width of the
function's result (a boolean becomes 1 or 0), or None if the function returns nothing.

If a hook makes the path fork, it is called again from its start on the other side. So it must depend on nothing but its
arguments and `state`. It runs in a thread of the run. docs/own-models.md has examples.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from partita import _core
from partita._core import Expr, PathEnd, State
from partita.errors import UsageError

__all__ = ["Hook", "Hooks", "PathEnd", "State"]

Hook = Callable[..., "Expr | int | None"]
"""Called with a `State` and the arguments of the call."""
Hooks = Mapping[str, Hook]


def check(hooks: Hooks) -> None:
    """Checks hooks before the program is known."""
    for name, hook in hooks.items():
        if not callable(hook):
            raise UsageError(f"hooks: expected a function for `{name}`, found {type(hook).__name__}")
        if name == "main":
            raise UsageError("hooks: expected functions that the program calls, found `main`, its entry point")


def install(engine: _core.Engine, hooks: Hooks, optimized: bool) -> None:
    """Sets the hooks of a run that has not started."""
    defined = engine.functions()
    for name in hooks:
        if name not in defined:
            near = difflib.get_close_matches(name, defined, n=1)
            hint = f": did you mean `{near[0]}`?" if near else ""
            if optimized:
                hint += " (optimize=True may have inlined it)"
            raise UsageError(f"hooks: the program neither defines nor calls `{name}`{hint}")
        if optimized and defined[name]:
            raise UsageError(f"hooks: optimize=True may inline calls of `{name}`: leave optimize out")
    engine.set_hooks(dict(hooks))
