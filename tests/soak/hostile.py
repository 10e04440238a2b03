"""Runs every program of `tests/hostile` under limits of time and memory, and prints a table of what each took.

Time and memory are measured from outside. Usage: python tests/soak/hostile.py [NAME...]. Fails if a run takes too long
or too much memory, ends with another status, or leaves files that are not whole.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from partita.frontends.musl import musl
from partita.whole import library
from support import hostile


def main() -> int:
    library()
    musl()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in hostile.programs():
            if len(sys.argv) > 1 and not any(program.stem.startswith(name) for name in sys.argv[1:]):
                continue
            measured = hostile.measure(program, Path(folder) / program.stem)
            wrong += bool(measured.faults or measured.overruns())
            print(measured.row(), flush=True)
    print(f"{wrong} programs broke a limit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
