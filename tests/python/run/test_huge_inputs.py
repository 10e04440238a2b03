"""Inputs of gigabytes cost what the program looks at: time, memory and disk, measured from outside."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from support import PARTITA, PATIENCE_S
from support.hostile import resident_peak_mb

PROGRAM = """#include "klee/klee.h"
#include <stdlib.h>
int main(void) {
  unsigned char *p = malloc(1u << 30);
  klee_make_symbolic(p, 1u << 30, "p");
  if (p[5] == 3)
    return 1;
  if (p[1000000] == 9)
    return 2;
  if (p[(1u << 30) - 1] == 77)
    p[1u << 30] = 1;
  return 0;
}
"""
SIZE = 1 << 30


def test_a_gigabyte_costs_what_is_looked_at(tmp_path: Path) -> None:
    program, out = tmp_path / "huge.c", tmp_path / "out"
    program.write_text(PROGRAM)
    peak, printed = 0.0, tmp_path / "printed"
    # Into a file: a full pipe would stop the command.
    with (
        printed.open("w") as file,
        subprocess.Popen([str(PARTITA), "run", str(program), "--out", str(out), "--json"], stdout=file) as process,
    ):
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < deadline:
            peak = max(peak, resident_peak_mb(process.pid))
            time.sleep(0.01)
    assert process.returncode == 1, printed.read_text()[:2000]
    assert 0 < peak < 400
    data = json.loads((out / "run.json").read_text())
    assert (data["paths"]["completed"], data["paths"]["bugs"], data["tests"]) == (3, 1, 4)
    tests = sorted(out.glob("*.ktest"))
    assert len(tests) == 4
    assert all(test.stat().st_size > SIZE for test in tests)
    # Files with holes, on file systems that have them.
    assert sum(test.stat().st_blocks * 512 for test in tests) < SIZE / 8
    values = set()
    for test in tests:
        with test.open("rb") as file:
            start = test.stat().st_size - SIZE
            bytes_at = []
            for at in (5, 1_000_000, SIZE - 1):
                file.seek(start + at)
                bytes_at.append(file.read(1)[0])
        values.add((bytes_at[0] == 3, bytes_at[1] == 9, bytes_at[2] == 77))
    assert len(values) == 4, values
    (report,) = out.glob("*.err")
    text = report.read_text()
    assert "(the first 4096 of 1073741824 bytes)" in text
    assert len(text) < 20_000
    bug = next(json.loads(line) for line in printed.read_text().splitlines() if '"event": "bug"' in line)
    assert len(bug["inputs"][0][1]) == 2 << 20
