"""Runs a program of `tests/hostile` under limits, and measures time and memory from outside."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from partita import ktest
from support import PARTITA, REPOSITORY

PROGRAMS = REPOSITORY / "tests" / "hostile"
MAX_TIME_S, MAX_MEMORY_MB = 3, 500
WITHIN_S, WITHIN_MB = 4.0, 600
POLL_S = 0.01
GIVE_UP_S = 60


@dataclass
class Measured:
    name: str
    seconds: float = 0.0
    """From the start of the process to its end."""
    peak_mb: float = 0.0
    """Largest resident size of the process that explores, without the compilers that it starts."""
    status: int | None = None
    tests: int = 0
    stopped: str = ""
    faults: list[str] = field(default_factory=list)
    """Faults of the run, other than time and memory."""

    def row(self) -> str:
        faults = "; ".join([*self.faults, *self.overruns()])
        taken = f"{self.name:32} {self.seconds:6.2f} s {self.peak_mb:7.0f} MB"
        return f"{taken}  status {self.status!s:>4} {self.tests:7} tests  {self.stopped:16} {faults}"

    def overruns(self, slower: float = 1.0) -> list[str]:
        late = [f"took more than {WITHIN_S * slower} s"] if self.seconds > WITHIN_S * slower else []
        large = [f"took more than {WITHIN_MB} MB"] if self.peak_mb > WITHIN_MB else []
        return late + large


def programs() -> list[Path]:
    return sorted(PROGRAMS.glob("*.c"))


def header(program: Path, key: str) -> str:
    """The value of `// key: value` in the first lines of a program; empty if there is none."""
    for line in program.read_text().splitlines()[:2]:
        if line.startswith(f"// {key}: "):
            return line.removeprefix(f"// {key}: ")
    return ""


def resident_peak_mb(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), default=0.0)


def measure(program: Path, out: Path, *flags: str) -> Measured:
    """Runs a program with the limits, and checks what it leaves."""
    measured = Measured(program.stem)
    command = [str(PARTITA), "run", str(program), "--out", str(out), "--json", *shlex.split(header(program, "args"))]
    command += ["--max-time", f"{MAX_TIME_S}s", "--max-memory", f"{MAX_MEMORY_MB}MB", *flags]
    start = time.monotonic()
    with (
        (out.parent / f"{out.name}.stdout").open("w+") as stdout,
        (out.parent / f"{out.name}.stderr").open("w+") as stderr,
        subprocess.Popen(command, stdout=stdout, stderr=stderr) as process,
    ):
        while process.poll() is None:
            measured.peak_mb = max(measured.peak_mb, resident_peak_mb(process.pid))
            if time.monotonic() - start > GIVE_UP_S:
                process.kill()
            time.sleep(POLL_S)
        measured.seconds = time.monotonic() - start
        measured.status = process.returncode
        stdout.seek(0)
        stderr.seek(0)
        inspect(measured, program, out, stdout.read(), stderr.read())
    return measured


def inspect(measured: Measured, program: Path, out: Path, stdout: str, stderr: str) -> None:
    allowed = [int(word) for word in header(program, "status").split()]
    if measured.status not in allowed:
        measured.faults.append(f"expected status {allowed}, found {measured.status}: {stderr.strip()[-300:]}")
    try:
        data = json.loads((out / "run.json").read_text())
        last = json.loads(stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError) as error:
        measured.faults.append(f"run.json or the last line of the output is not whole: {error}")
        return
    measured.stopped = data["stopped"] or ("complete" if data["complete"] else "incomplete")
    measured.tests = sum(1 for _ in ktest.read_folder(out))
    if last != data:
        measured.faults.append("the last line of the output is not run.json")
    if measured.tests != data["tests"]:
        measured.faults.append(f"expected {data['tests']} tests, found {measured.tests}")
    ended = data["paths"]["completed"] + data["paths"]["unsupported"] + len(data["bugs"])
    if measured.tests < ended:
        measured.faults.append(f"{ended} paths have ended, with {measured.tests} tests")
    if list(out.glob("*.part")):
        measured.faults.append("a partly written file is left")
