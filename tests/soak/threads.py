"""Runs random programs with threads whose order the program fixes: every schedule ends as the native run.

Usage: python tests/soak/threads.py [PROGRAMS] [FIRST SEED].
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support.threadgen import compare


def main() -> int:
    count, first = (*(int(word) for word in sys.argv[1:3]), *(100, 1)[len(sys.argv) - 1 :])
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
