"""Python functions as models of C functions: `explore("prog.c", hooks={"read_sensor": read_sensor})`.

A hook is called as `hook(state, *arguments)` instead of the C function. Arguments are `int` where they are numbers and
`Expr` where they are symbolic; numbers are signed, as the operators of `Expr` are. It returns an `int` or an `Expr` as
wide as the function's result (a truth is 1 or 0), or None where the function returns nothing.

Where a hook makes the path fork, it is called again from its start for the path on the other side. So it must depend on
nothing but its arguments and what `state` says; it runs in a thread of the run. docs/own-models.md has examples.
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
    """What can be said of hooks before there is a program."""
    for name, hook in hooks.items():
        if not callable(hook):
            raise UsageError(f"hooks: expected a function for `{name}`, found {type(hook).__name__}")
        if name == "main":
            raise UsageError("hooks: expected functions that the program calls, found `main`, where it starts")


def install(engine: _core.Engine, hooks: Hooks, optimized: bool) -> None:
    """Gives hooks to a run that has not started."""
    defined = engine.functions()
    for name in hooks:
        if name not in defined:
            near = difflib.get_close_matches(name, defined, n=1)
            hint = f": did you mean `{near[0]}`?" if near else ""
            if optimized:
                hint += " (optimize=True may have inlined it)"
            raise UsageError(f"hooks: the program neither defines nor calls `{name}`{hint}")
        if optimized and defined[name]:
            raise UsageError(f"hooks: calls of `{name}` may be inlined by optimize=True, leave that out")
    engine.set_hooks(dict(hooks))
