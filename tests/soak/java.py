"""500 generated Java programs print the same in Partita and in the Java virtual machine.

python tests/soak/java.py [COUNT] [FIRST_SEED]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support.java_differential import differences

BATCH = 50


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wrong: list[str] = []
    for start in range(first, first + count, BATCH):
        with tempfile.TemporaryDirectory(prefix="partita-java-soak-") as folder:
            wrong += differences(range(start, min(start + BATCH, first + count)), Path(folder))
        print(f"{min(start + BATCH, first + count) - first} programs, {len(wrong)} different", flush=True)
    print("\n".join(wrong[:10]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
