"""The file of the layer `store`, which keeps answers between runs."""

from __future__ import annotations

import os
from pathlib import Path

from partita.errors import UsageError

Store = str | os.PathLike[str] | None
"""A file, "default" for the user's own file, None (or "none") for no store."""

DEFAULT, NONE = "default", "none"
# Words that other options use for "none". As names of files they are mistakes.
_OFF = ("off", "no", "false")


def default_path() -> Path:
    from partita.frontends.cache import cache_dir  # imports the front ends, which `partita smt` does not need

    return cache_dir() / "answers.sqlite"


def choose(store: Store, layers: str) -> Path | None:
    """The file to use. The default file is used only by chains that have the layer; a named file always."""
    if store is None or store == NONE:
        return None
    if store in _OFF:
        raise UsageError(f"expected a file, `default` or `none` as the store, found `{store}`; a file is `./{store}`")
    if store == DEFAULT:
        return default_path() if has_layer(layers) else None
    return Path(store)


def has_layer(layers: str) -> bool:
    """Does the chain, or the edited default chain, have the layer `store` without a file of its own?"""
    items = layers.split()
    return "-store" not in items if items[0][0] in "+-" else "store" in items
