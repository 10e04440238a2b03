"""A program with three paths per byte of input, one bug among them: its number of paths is chosen by its size."""

from __future__ import annotations

from pathlib import Path

from support import BENCHMARKS

SOURCE = BENCHMARKS / "families" / "three_ways.c"


def program(folder: Path, size: int) -> Path:
    path = folder / "prog.c"
    path.write_text(f"#define N {size}\n{SOURCE.read_text()}")
    return path
