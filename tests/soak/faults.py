"""Writes that fail at every size, disks that are full, and SIGKILL at random moments.

Usage: python tests/soak/faults.py [ROUNDS] [SEED]. Fails if a run ends without a message, or
leaves a file that is not whole.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support import faults

LIMIT = ["--max-time", "20s", "--store", "none"]


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    wrong = 0
    statuses: Counter[str] = Counter()
    kinds = ["size", "kill"] + ["disk"] * faults.has_namespaces()
    for number in range(rounds):
        kind = kinds[number % len(kinds)]
        with tempfile.TemporaryDirectory(prefix="partita-faults-") as name:
            folder = Path(name)
            out = folder / "out"
            bugs = folder / "bugs.c"
            bugs.write_text(faults.BUGS)
            program = str(chance.choice([faults.FORKS, bugs]))
            files = ["--certificate", str(folder / "certificate"), "--sarif", str(folder / "log.sarif")]
            words = [program, *(files if program == str(bugs) else []), *LIMIT]
            ended = None
            if kind == "kill":
                at = f"{chance.uniform(0, 4):.2f} s"
                faults.kill(float(at.split()[0]), *words, "--out", str(out))
            else:
                size = int(2 ** chance.uniform(0, 21))
                at = f"{size} bytes"
                if kind == "size":
                    ended = faults.limited(size, *words, "--out", str(out))
                else:
                    ended = faults.on_full_disk(max(size, 1 << 14), folder, *words)
            statuses[f"{kind}: status {ended.status}" if ended else kind] += 1
            for problem in faults.problems(ended, out):
                wrong += 1
                print(f"round {number}: {kind} at {at}, {Path(program).name}: {problem}", flush=True)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(statuses.items()))
    print(f"{rounds} faults ({counts}), {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
