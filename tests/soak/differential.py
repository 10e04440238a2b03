"""Runs random programs natively and here, and compares what they print and how they end.

Usage: python tests/soak/differential.py KIND [PROGRAMS] [FIRST SEED]. KIND is `cpp`, or `threads`: programs whose
threads have one order, so that every schedule ends as the native run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support import cpp_differential, threadgen

KINDS = {"cpp": cpp_differential.compare, "threads": threadgen.compare}


def main() -> int:
    compare = KINDS[sys.argv[1]]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            message = compare(seed, Path(folder))
            if message:
                different += 1
                print(message, flush=True)
    print(f"{count} programs, {different} differ from the native run")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
