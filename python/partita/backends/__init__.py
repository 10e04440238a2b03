"""External solvers as layers: Z3, Bitwuzla and cvc5 as Python packages, any SMT-LIB 2 binary as a process, and Z3's
integers for queries that do not wrap."""

from __future__ import annotations

import importlib
import importlib.util
from typing import cast

from partita.errors import UsageError
from partita.layers import Layer

PACKAGES = ("bitwuzla", "z3", "cvc5")
"""In order of preference, which is the order of their times on the query logs of the corpus."""


GROUP = "partita.layers"
"""Group of entry points for layers of other packages. An entry point is called with the layer's options."""


def installed() -> list[str]:
    """The installed solvers, best first."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is not None]


def make(name: str, variant: str | None, options: dict[str, str]) -> Layer | None:
    """The back end with this name and these options, or None if there is no such back end."""
    from partita.backends import process  # imported only if a chain names a layer that the core does not have

    if name == "process" or name in process.ALIASES:
        if variant is not None:
            raise UsageError(f"expected `{name}` without a variant, found `{name}:{variant}`")
        return process.make(name, options)
    package = "z3" if name == "integers" else name
    if package not in PACKAGES:
        return _plugin(name, variant, options)
    harvests = name == "z3" and variant is None and options in ({"partial": "on"}, {"partial": "off"})
    if name == "z3" and not harvests and (variant is not None or options):
        raise UsageError("expected `z3` or `z3(partial=on)`, for partial solutions, with no other options")
    if name not in ("integers", "z3") and (variant is not None or options):
        raise UsageError(f"expected `{name}` without variant or options")
    if importlib.util.find_spec(package) is None:
        raise UsageError(f"the layer `{name}` needs a package that is not installed: pip install 'partita[{package}]'")
    if harvests and options["partial"] == "on":
        name = "z3_conflicts"
    module = importlib.import_module(f"partita.backends.{name}")
    return cast(Layer, module.make(variant, options) if name == "integers" else module.make())


def _plugin(name: str, variant: str | None, options: dict[str, str]) -> Layer | None:
    """A layer of another package: the entry point `name` of the group `partita.layers`."""
    from partita import plugins

    found = plugins.find(GROUP, name)
    if found is None:
        return None
    if variant is not None:
        raise UsageError(f"expected `{name}` without a variant, found `{name}:{variant}`")
    try:
        return cast(Layer, found(**options))
    except TypeError as error:
        raise UsageError(f"the layer `{name}` does not take these options: {error}") from None
