"""Where the answers of earlier runs are: the file of the layer `store`."""

from __future__ import annotations

import os
from pathlib import Path

from partita.frontends.cache import cache_dir

Store = str | os.PathLike[str] | None
"""A file, "default" for the user's own, None (or "none") for no store."""

DEFAULT, NONE = "default", "none"


def default_path() -> Path:
    return cache_dir() / "answers.sqlite"


def choose(store: Store, layers: str) -> Path | None:
    """The file to use. The default one is for chains that have the layer; one that was named must be used."""
    if store is None or store == NONE:
        return None
    if store == DEFAULT:
        return default_path() if has_layer(layers) else None
    return Path(store)


def has_layer(layers: str) -> bool:
    """Does the chain, or the default chain edited so, have the layer `store` without a file of its own?"""
    words = layers.split()
    return "-store" not in words if words[0][0] in "+-" else "store" in words
