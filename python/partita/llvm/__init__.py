"""Lowers textual LLVM IR to a serialised Program.

`lower(text)` is the whole interface. Inside, one file per concern: `tokens` (tokens of a line), `types` (layout),
`constants` and `initializer` (constant expressions, initial values), `positions` (files and lines), `module` (symbols),
`function` (values, blocks, edges), `arith`, `memory`, `control`, `vectors`, `calls`, `intrinsics` (the instructions by
family), `calling_convention` (where arguments go), `write` (the format).
"""

from __future__ import annotations


def lower(text: str, *, library: tuple[str, ...] = ()) -> bytes:
    """The serialised Program of a module in textual LLVM IR. Functions of files in the folders `library` are not the
    user's: templates that a program instantiates, for example."""
    # Late: a program that is cached needs other modules of this package only.
    from partita.llvm.module import Module

    return Module(text, library).lower()


__all__ = ["lower"]
