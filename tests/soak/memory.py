"""Explores programs whose memory grows in different ways, and prints the peak of each beside `--max-memory`.

Usage: python tests/soak/memory.py [KIND...]. Fails if a peak is more than 10 % above the limit.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support import memory

MAX_MB, MAX_TIME_S = 300, 60


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in sys.argv[1:] or memory.GROWTH:
            grown = memory.grow(kind, Path(folder), MAX_MB, MAX_TIME_S)
            is_over = grown.peak_mb > 1.1 * MAX_MB
            wrong += is_over
            row = f"{kind:12} {grown.peak_mb:6.0f} MB of {MAX_MB} MB  {grown.stopped:10} status {grown.status}"
            print(row + ("  more than 10 % above" if is_over else ""), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
