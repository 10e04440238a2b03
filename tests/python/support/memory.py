"""Programs whose memory grows in different ways until `--max-memory`, and their peak measured from outside."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from support import PARTITA, PATIENCE_S
from support.hostile import resident_peak_mb

HEAD = '#include "klee/klee.h"\n#include <stdlib.h>\n#include <string.h>\n'
GROWTH = {
    "states": """int main(void) {
  unsigned char in[64];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (int i = 0; i < 64; i++)
    if (in[i] & 1)
      n++;
  return n;
}
""",
    "expressions": """int main(void) {
  unsigned x;
  klee_make_symbolic(&x, sizeof x, "x");
  unsigned *all = malloc(1 << 30);
  for (unsigned i = 0; i < 1 << 28; i++) {
    x = x * 2654435761u + i;
    all[i] = x;
  }
  return 0;
}
""",
    "objects": """int main(void) {
  for (;;) {
    char *p = malloc(1 << 16);
    memset(p, 1, 1 << 16);
  }
}
""",
    "answers": """int main(void) {
  unsigned x[64], n = 0;
  klee_make_symbolic(x, sizeof x, "x");
  for (int i = 0; i < 63; i++)
    if ((x[i] * x[i + 1] ^ x[i + 1] >> 3) % 1009 == i)
      n++;
  return n;
}
""",
}
"""Kind of growth, and a program that grows in this way."""


@dataclass
class Grown:
    peak_mb: float
    stopped: str
    status: int | None
    message: str


def grow(kind: str, folder: Path, max_mb: int, max_time_s: int) -> Grown:
    program, out = folder / f"{kind}.c", folder / f"{kind}-out"
    program.write_text(HEAD + GROWTH[kind])
    command = [str(PARTITA), "run", str(program), "--out", str(out), "--search", "bfs", "--store", "none"]
    command += ["--max-memory", f"{max_mb}MB", "--max-time", f"{max_time_s}s", "--tests", "bugs", "--quiet"]
    peak, deadline = 0.0, time.monotonic() + PATIENCE_S
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and time.monotonic() < deadline:
            peak = max(peak, resident_peak_mb(process.pid))
            time.sleep(0.005)
        _, message = process.communicate(timeout=PATIENCE_S)
    data = json.loads((out / "run.json").read_text())
    return Grown(peak, str(data["stopped"]), process.returncode, message)
