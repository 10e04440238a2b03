"""Runs that reach the memory limit, are interrupted or killed: limits hold, files are complete."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from partita import explore, ktest
from support import PARTITA, PATIENCE_S

# 2^40 paths: never explored completely; no query is hard.
ENDLESS = """#include "klee/klee.h"
int main(void) {
  unsigned char in[40];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (int i = 0; i < 40; i++)
    if (in[i] > 100)
      n++;
  return n;
}
"""
LIMIT = 400 << 20


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    path = tmp_path / "endless.c"
    path.write_text(ENDLESS)
    return path


def test_states_are_parked_at_the_memory_limit(endless: Path, tmp_path: Path) -> None:
    # In its own process, so that memory of earlier tests does not count.
    command = [str(PARTITA), "run", str(endless), "--search", "bfs", "--max-memory", f"{LIMIT}B", "--json"]
    command += ["--max-instructions", "2500000", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 3, done.stderr
    data = json.loads(done.stdout.splitlines()[-1])
    assert data["stopped"] == "max-instructions"
    assert data["memory_peak_mb"] * 2**20 < 1.1 * LIMIT
    assert data["parked"] > 10_000
    assert {row["why"] for row in data["incomplete"]} == {"stopped by max-instructions"}
    assert data["paths"]["limits"] == sum(row["count"] for row in data["incomplete"]) > data["parked"]
    # Parked paths have tests too.
    assert data["tests"] == sum(data["paths"].values())


def test_a_run_without_memory_ends(endless: Path, tmp_path: Path) -> None:
    # Less than the process uses at its start: all states are discarded as soon as the watchdog looks.
    run = explore(endless, search="bfs", max_memory=1 << 20, out=tmp_path / "out").finish()
    data = run.summary()
    assert data["stopped"] == "max-memory"
    endings = [test.ending for test in ktest.read_folder(tmp_path / "out")]
    # A query that memory cuts off is a side without a test.
    assert endings == ["limit max-memory"] * data["tests"]
    assert 1 <= data["tests"] <= data["paths"]["limits"]


def start(program: Path, out: Path) -> subprocess.Popen[str]:
    """Starts a run and waits until it has written tests into the pack."""
    command = [str(PARTITA), "run", str(program), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE_S
    pack = out / "tests.pack"
    while time.monotonic() < deadline and not (pack.exists() and pack.stat().st_size > 1 << 16):
        time.sleep(0.02)
    assert process.poll() is None
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(number: signal.Signals, endless: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(endless, out)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3, stderr
    assert "explored      incompletely, interrupted" in stdout
    data = json.loads((out / "run.json").read_text())
    assert (data["stopped"], data["complete"]) == ("interrupted", False)
    assert (out / "coverage.lcov").read_text().endswith("end_of_record\n")
    tests = list(ktest.read_folder(out))
    # An interrupted query cuts off one side of its branch, which has no test.
    open_states = sum(row["count"] for row in data["incomplete"] if row["why"] == "interrupted")
    assert len(tests) == data["tests"] == data["paths"]["completed"] + open_states
    assert not list(out.glob("*.part"))


def test_a_killed_run_leaves_complete_tests(endless: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(endless, out)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert not (out / "run.json").exists()
    tests = list(ktest.read_folder(out))
    assert len(tests) > 10_000
    assert all(len(test.objects[0][1]) == 40 and test.ending is not None for test in tests)
