"""Measures one case with another executor: `python -m experiments.other_tools < job.json`, like `sample`.

KLEE gets bitcode of a clang that it can read. angr gets a native executable in which the intrinsics are empty
functions, which it replaces (`angr_script.py`, run by the Python that has angr).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from partita.toolchain import runtime_include, zig_dir

# Other tools know the C library's function for a failed assertion, not our intrinsic.
_FLAGS = ("-O0", "-g", "-w", f"-I{runtime_include()}", "-Dklee_assert_fail=__assert_fail")
_INTRINSICS = """
void klee_make_symbolic(void *object, unsigned long size, const char *name) {}
void klee_assume(unsigned long condition) {}
"""
_COUNTS = {"paths": r"completed paths = (\d+)", "instructions": r"total instructions = (\d+)"}


def angr_python() -> str:
    return os.environ.get("PARTITA_ANGR") or sys.executable


def with_klee(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    clang = os.environ.get("PARTITA_KLEE_CLANG") or "clang"
    bitcode, out = folder / "program.bc", folder / "out"
    plain = ("-Xclang", "-disable-O0-optnone", "-emit-llvm", "-c")
    _run([clang, *_FLAGS, *plain, *job["flags"], *job["files"], "-o", str(bitcode)])
    start = time.perf_counter()
    _run(["klee", f"--search={job['search']}", f"--max-time={job['seconds']:g}s", "--write-no-tests",
          f"--output-dir={out}", str(bitcode)])  # fmt: skip
    wall_s = time.perf_counter() - start
    info = (out / "info").read_text()
    counts = {name: int(re.search(pattern, info)[1]) for name, pattern in _COUNTS.items()}  # type: ignore[index]
    stopped = "max-time" if "HaltTimer invoked" in (out / "messages.txt").read_text() else None
    return {"wall_s": wall_s, "stopped": stopped, **counts}


def with_angr(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    stubs, program = folder / "intrinsics.c", folder / "program"
    stubs.write_text(_INTRINSICS)
    target = ("-target", "x86_64-linux-musl", "-static", "-fno-sanitize=all")
    sources = [*job["flags"], *job["files"], str(stubs)]
    _run([str(zig_dir() / "zig"), "cc", *target, *_FLAGS, *sources, "-o", str(program)])
    script = Path(__file__).with_name("angr_script.py")
    start = time.perf_counter()
    said = _run([angr_python(), str(script), str(program), str(job["seconds"])])
    wall_s = time.perf_counter() - start
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return {"wall_s": wall_s, **found}


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
        raise SystemExit(f"{Path(command[0]).name} ended with status {done.returncode}: {last[0]}")
    return done.stdout


def main() -> int:
    job = json.load(sys.stdin)
    measure = {"klee": with_klee, "angr": with_angr}[job["tool"]]
    for _ in range(job["repeats"]):
        with tempfile.TemporaryDirectory(prefix="partita-bench-") as folder:
            run = measure(job, Path(folder))
        # Other tools count instructions and bugs differently: only the number of paths is compared.
        print(json.dumps({**run, "time_s": run["wall_s"], "cpu_s": run["wall_s"], "found": None}), flush=True)
        if run["stopped"]:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
