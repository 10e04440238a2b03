"""Executables of Debian source packages for experiments: built once, in the cache folder, when a case first needs them."""

from __future__ import annotations

import functools
from pathlib import Path

from partita.bench import sources
from partita.errors import UsageError
from partita.frontends.cache import cache_dir


class NotBuiltError(Exception):
    """The package cannot be had on this machine, for the reason given."""


def recipe(name: str) -> str:
    """All that decides how a package is built: another recipe is another program."""
    return repr(sources.PACKAGES[name])


def executable(package: str, name: str) -> Path:
    found = [path for path in _built(package) if path.name == name]
    if not found:
        raise NotBuiltError(f"{package} was built without `{name}`")
    return found[0]


@functools.cache
def _build(package: str) -> list[Path] | str:
    """The executables, or why there are none; not tried twice."""
    try:
        return sources.build(package, folder())
    except (UsageError, OSError) as error:
        return str(error).partition("\n")[0]


def _built(package: str) -> list[Path]:
    found = _build(package)
    if isinstance(found, str):
        raise NotBuiltError(found)
    return found


def folder() -> Path:
    return cache_dir() / "packages"
