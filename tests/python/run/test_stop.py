"""A run ends soon after a signal, wherever it is, with the tests of its open paths. Measured in processor time."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from partita import Run, explore, ktest
from partita.frontends import cache
from support import PARTITA, PATIENCE_S
from support.hostile import PROGRAMS

explore_module = importlib.import_module("partita.explore")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
WITHIN_S = 1.5
"""Half a second to stop, and the time that writing the summary and ending Python takes on a slow machine."""

PLACES = {
    # Where the exploration is when the signal comes: the program of tests/hostile.
    "a batch of concrete instructions": "loop_empty",
    "an allocation": "malloc_endless",
    "a bulk copy": "memmove_loop",
    "a large expression is built": "string_huge_symbolic",
    "sets of values are computed": "string_concatenation",
    "a query": "expression_table_chain",
}
SAT = """#include "klee/klee.h"
int main(void) {
  unsigned char hole[14];
  klee_make_symbolic(hole, sizeof hole, "hole");
  int is_placed = 1;
  for (int i = 0; i < 14; i++) {
    is_placed &= hole[i] < 13;
    for (int j = 0; j < i; j++)
      is_placed &= hole[i] != hole[j];
  }
  if (is_placed)
    return 1;
  return 0;
}
"""
"""Fourteen pigeons in thirteen holes, one query: resolution needs exponentially long for it."""


WRITING = """#include "klee/klee.h"
int main(void) {
  static unsigned char in[1 << 16];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (int i = 0; i < 20; i++)
    if (in[i] & 1)
      n++;
  return n;
}
"""
"""A million paths that end at once, each with a test of 64 KB: nearly all time is spent in writing."""


def processor_s(process: int) -> float:
    """Processor time of a process so far, of all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def stop(program: Path, out: Path, after_s: float, *flags: str) -> float:
    """Sends SIGTERM once the run has used this much processor time. Returns the processor time that it takes to end."""
    command = [str(PARTITA), "run", str(program), "--out", str(out), "--json", "--store", "none", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        start, begun = processor_s(process.pid), time.monotonic()
        while processor_s(process.pid) < start + after_s and time.monotonic() < begun + PATIENCE_S:
            assert process.poll() is None, "the run ended by itself"
            time.sleep(0.01)
        sent = last = processor_s(process.pid)
        process.send_signal(signal.SIGTERM)
        while process.poll() is None and time.monotonic() < begun + PATIENCE_S:
            try:
                last = processor_s(process.pid)
            except (OSError, IndexError):
                break
            time.sleep(0.005)
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    return last - sent


def stops_in_time(program: Path, out: Path) -> None:
    # A loop that repeats its state would end as a bug.
    taken = stop(program, out, 0.6, "--check", "no-non-termination")
    data = json.loads((out / "run.json").read_text())
    assert data["stopped"] == "interrupted"
    assert sum(1 for _ in ktest.read_folder(out)) == data["tests"] > 0
    assert taken < WITHIN_S


@pytest.mark.parametrize("place", PLACES)
def test_a_signal_ends_the_run_soon(place: str, tmp_path: Path) -> None:
    stops_in_time(PROGRAMS / f"{PLACES[place]}.c", tmp_path / "out")


def test_a_signal_ends_a_sat_query_soon(tmp_path: Path) -> None:
    program = tmp_path / "pigeons.c"
    program.write_text(SAT)
    stops_in_time(program, tmp_path / "out")


def test_a_signal_ends_writing_soon(tmp_path: Path) -> None:
    program = tmp_path / "writing.c"
    program.write_text(WRITING)
    stops_in_time(program, tmp_path / "out")


def test_open_paths_get_their_tests_quickly(tmp_path: Path) -> None:
    out = tmp_path / "out"
    taken = stop(PROGRAMS / "forks_breadth_first.c", out, 1.5, "--search", "bfs")
    data = json.loads((out / "run.json").read_text())
    paths = data["paths"]["limits"] + data["paths"]["completed"]
    untested = sum(row["count"] for row in data["incomplete"] if "an open path has no test" in row["why"])
    assert paths > 10_000
    # A query that the end of the run interrupts leaves one side of its branch without a state, and so without a test.
    assert 0 <= paths - data["tests"] - untested <= 1
    assert sum(1 for _ in ktest.read_folder(out)) == data["tests"]
    # The aim is 20 microseconds per test. A slow machine, and work that does not depend on the paths, get the rest.
    assert (taken - 0.5) / paths < 60e-6


@pytest.mark.parametrize("is_filling", [False, True])
def test_the_time_limit_counts_compiling_but_not_filling_the_cache(
    is_filling: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries, count_time, slow_s = explore_module.libraries, Run.count_time, 1.2
    counted: list[float] = []

    def slow(*arguments: Any) -> Any:
        time.sleep(slow_s)
        monkeypatch.setattr(cache, "filling_s", cache.filling_s + slow_s * is_filling)
        return libraries(*arguments)

    def count(run: Run, seconds: float) -> None:
        counted.append(seconds)
        count_time(run, seconds)

    monkeypatch.setattr(explore_module, "libraries", slow)
    monkeypatch.setattr(Run, "count_time", count)
    run = explore(PROGRAMS / "forks_endless.c", max_time=1, tests="bugs").finish()
    assert counted[0] == pytest.approx(run.compile_s - slow_s * is_filling, abs=0.05)
    summary = run.summary()
    assert summary["stopped"] == "max-time"
    # Nothing is left of the second.
    assert is_filling or (summary["explore_s"] < 1 and summary["instructions"] < 10_000_000)
