"""Lowers textual LLVM IR to a serialised Program.

`lower(text)` is the whole interface. Inside, one file per concern: `tokens` (tokens of a line), `types` (layout),
`constants` and `initializer` (constant expressions, initial values), `positions` (files and lines), `module` (symbols),
`function` (values, blocks, edges), `arith`, `memory`, `control`, `vectors`, `calls`, `intrinsics` (the instructions by
family), `calling_convention` (where arguments go), `write` (the format).
"""

from partita.llvm.module import lower

__all__ = ["lower"]
