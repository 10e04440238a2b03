"""The place of the layer `store`, which keeps answers between runs: a file, or a server."""

from __future__ import annotations

import os
import re
from pathlib import Path

from partita import _core
from partita.errors import UsageError

Store = str | os.PathLike[str] | None
"""A file, the URL of a server, "default" for the user's own file, None (or "none") for no store."""

DEFAULT, NONE = "default", "none"
# Words that other options use for "none". As names of files they are mistakes.
_OFF = ("off", "no", "false")


def default_path() -> Path:
    from partita.frontends.cache import cache_dir  # imports the front ends, which `partita smt` does not need

    return cache_dir() / "answers.sqlite"


def is_url(store: object) -> bool:
    """Is it the URL of a server? (A file with `://` in its name is `./NAME`.)"""
    return isinstance(store, str) and "://" in store and not store.startswith((".", "/"))


def without_password(text: str) -> str:
    """A word of a command line, with the user, password and parameters of a server left out."""
    return re.sub(r"((?:rediss?|unix)://)(?:.*@)?([^?]*).*", r"\1\2", text)


def choose(store: Store, layers: str) -> Path | _core.StoreExchange | None:
    """The file or server to use. The default file is used only by chains that have the layer; a named store always."""
    if store is None or store == NONE:
        return None
    if store in _OFF:
        raise UsageError(f"expected a file, `default` or `none` as the store, found `{store}`; a file is `./{store}`")
    if store == DEFAULT:
        return default_path() if has_layer(layers) else None
    if is_url(store):
        from partita.redis_store import connect  # its package is an extra

        return connect(str(store))
    return Path(store)


def has_layer(layers: str) -> bool:
    """Does the chain, or the edited default chain, have the layer `store` without a file of its own?"""
    items = layers.split()
    return "-store" not in items if items[0][0] in "+-" else "store" in items
