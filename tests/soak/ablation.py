"""Explores every program with the default chain and without each layer: paths and bugs must be the same.

Usage: python tests/soak/ablation.py [SECONDS]: programs that take longer (default: 60) are skipped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from partita import explore
from partita.solver import DEFAULT_LAYERS

REPOSITORY = Path(__file__).resolve().parents[2]
CHECKS = ("overflow", "shift", "leak")

Found = tuple[dict[str, int], frozenset[tuple[str, str, int]]]


def removable() -> list[str]:
    """Layers without which the chain still answers everything."""
    return [name for name in DEFAULT_LAYERS.split() if name != "sat"]


def programs() -> Iterator[Path]:
    own = REPOSITORY / "tests" / "programs"
    yield from sorted(own.glob("*.c"))
    yield from sorted((own / "bugs").glob("*.c"))
    yield from sorted((REPOSITORY / "benchmarks" / "programs").glob("*.c"))


def found(program: Path, layers: str | None, seconds: float) -> Found | None:
    """Paths by how they ended, and bugs; None if it took too long."""
    run = explore(program, check=CHECKS, layers=layers, tests="bugs", max_time=seconds).finish()
    data = run.summary()
    if data["stopped"] is not None:
        return None
    return data["paths"], frozenset((bug.class_, bug.file, bug.line) for bug in run.bugs)


def differences(program: Path, seconds: float) -> Iterator[str]:
    expected = found(program, None, seconds)
    if expected is None:
        print(f"{program.stem}: skipped, not explored in {seconds} s")
        return
    for layer in removable():
        without = found(program, f"-{layer}", seconds)
        if without is None:
            print(f"{program.stem} without {layer}: skipped, not explored in {seconds} s")
        elif without != expected:
            yield f"{program.stem} without {layer}: expected {expected}, found {without}"


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    wrong = [line for program in programs() for line in differences(program, seconds)]
    print("\n".join(wrong) or "the same paths and bugs without each layer")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
