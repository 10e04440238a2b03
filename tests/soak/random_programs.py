"""Random small programs: every input under gcc's sanitizers and in the reported paths.

    python tests/soak/random_programs.py [COUNT [SEED]]

A program that differs is kept: its name is printed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from support import exhaustive, sanitizers
from support.programgen import Program


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if why := sanitizers.missing():
        print(why)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="partita-random-"))
    failures = 0
    for number in range(seed, seed + count):
        source = folder / f"random{number}.c"
        source.write_text(Program(number).text())
        problems = exhaustive.problems(source, folder, sanitized=True)
        failures += bool(problems)
        for problem in problems:
            print(f"{source}: {problem}", flush=True)
        for made in folder.glob(f"random{number}*"):
            if made != source or not problems:
                made.unlink()
    print(f"{count} programs, {256 * count:,} inputs, {failures} programs differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
