"""Damaged class files: each is lowered, or refused with a message. Anything else is a fault of ours.

python tests/soak/fuzz_classes.py [SECONDS] [SEED]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from partita.errors import UsageError
from partita.jvm.frontend import lower_java
from support import PROGRAM_FOLDER
from support.java import compile_all


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    choose = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="partita-fuzz-classes-") as name:
        classes = compile_all(sorted((PROGRAM_FOLDER / "java").glob("*.java")), Path(name) / "classes")
        files = {each: each.read_bytes() for each in sorted(classes.glob("*.class")) if "$" not in each.name}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            file, data = choose.choice(list(files.items()))
            damaged = bytearray(data[: choose.randrange(len(data))] if choose.randrange(10) == 0 else data)
            for _ in range(choose.randrange(1, 5)):
                if damaged:
                    damaged[choose.randrange(len(damaged))] = choose.choice([0, 1, 127, 255, choose.randrange(256)])
            file.write_bytes(damaged)
            try:
                lower_java([str(file)])
                counts["lowered"] += 1
            except UsageError:
                counts["refused"] += 1
            except Exception:
                counts["failed"] += 1
                kept = Path(tempfile.gettempdir()) / f"partita-{file.name}"
                kept.write_bytes(damaged)
                traceback.print_exc()
                print(f"the file is kept as {kept}", flush=True)
            finally:
                file.write_bytes(data)
    print(dict(counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
