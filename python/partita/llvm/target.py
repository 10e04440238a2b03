"""Targets of code that can be explored: x86-64 and 32-bit x86."""

from __future__ import annotations

import re

from partita.errors import UsageError

_TARGETS = re.compile(r"(x86_64|amd64|i[3-6]86|x86)(-|$)")


def check_target(triple: str) -> None:
    """Errors: `UsageError` if code for this target cannot be explored."""
    if triple and (not _TARGETS.match(triple) or triple.endswith("x32")):
        raise UsageError(
            f"expected code for x86-64 or 32-bit x86, found target `{triple}`: compile with"
            " `-target x86_64-linux-musl`, or with `-m32` in addition"
        )


def is_narrow_target(triple: str) -> bool:
    """Are pointers of this target 32 bits wide?"""
    return bool(triple) and not triple.startswith(("x86_64", "amd64"))
