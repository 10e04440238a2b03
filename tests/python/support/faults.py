"""Runs whose writes fail or that are killed, and what they may leave behind."""

from __future__ import annotations

import json
import resource
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from partita import ktest
from support import PARTITA, PATIENCE_S
from support.hostile import PROGRAMS

REASONS = ("File too large", "File size limit exceeded", "No space left on device", "No usable temporary directory")
FORKS = PROGRAMS / "forks_endless.c"
BUGS = """#include "klee/klee.h"
int main(void) {
  unsigned char in[2];
  int table[100] = {0};
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 0; i < 16; i++)
    if (in[i / 8] >> (i % 8) & 1)
      table[i] = i;
  return table[in[0] - in[1]];
}
"""
"""A program with bugs and tens of thousands of paths, of which a run writes tests, a SARIF log and a certificate."""


@dataclass
class Ended:
    status: int
    messages: str
    """The error output."""


def whole_tests(out: Path) -> int:
    """The number of tests in the folder of a run, each of which is complete and has its ending."""
    tests = list(ktest.read_folder(out)) if out.is_dir() else []
    sizes = {len(data) for test in tests for _, data in test.objects[:1]}
    assert len(sizes) <= 1, sizes
    assert all(test.ending for test in tests)
    return len(tests)


def limited(size: int, *words: str) -> Ended:
    """Runs the command with a limit of the size of a file, so that writing fails."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [str(PARTITA), "run", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, preexec_fn=limit)
    return Ended(done.returncode, done.stderr)


def has_namespaces() -> bool:
    """May this user mount a file system of its own?"""
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "--map-root-user", "--mount", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def on_full_disk(size: int, folder: Path, *words: str) -> Ended:
    """Runs the command with `--out` on a file system of that many bytes; `folder/out` has what is there at the end."""
    disk, kept, errors = folder / "disk", folder / "out", folder / "errors"
    disk.mkdir()
    run = shlex.join([str(PARTITA), "run", *words, "--out", str(disk / "out")])
    script = (
        f"mount -t tmpfs -o size={size} none {shlex.quote(str(disk))} || exit 99\n"
        f"{run} > /dev/null 2> {shlex.quote(str(errors))}\nstatus=$?\n"
        f"cp -r {shlex.quote(str(disk / 'out'))} {shlex.quote(str(kept))}\nexit $status\n"
    )
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode != 99, done.stderr
    return Ended(done.returncode, errors.read_text())


def kill(after_s: float, *words: str) -> None:
    """Starts the command and kills it after this time, wherever it is."""
    with subprocess.Popen(
        [str(PARTITA), "run", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)


def problems(ended: Ended | None, out: Path) -> list[str]:
    """Faults of a run whose writes failed must not do or leave; `None` if it was killed."""
    found = []
    whole_tests(out)
    if (out / "run.json").exists():
        try:
            data = json.loads((out / "run.json").read_text())
            if ended is not None and whole_tests(out) != data["tests"]:
                found.append(f"run.json has {data['tests']} tests, the folder {whole_tests(out)}")
        except ValueError as error:
            found.append(f"run.json is not whole: {error}")
    if ended is None:
        return found
    if ended.status not in (0, 1, 2, 3):
        found.append(f"exit status {ended.status}")
    if "Traceback" in ended.messages or "panicked" in ended.messages:
        found.append(f"not a message: {ended.messages[-500:]}")
    if ended.status == 2 and not any(reason in ended.messages for reason in REASONS):
        found.append(f"no reason: {ended.messages[-500:]}")
    if list(out.glob("*.part")):
        found.append("a partly written file is left")
    return found
