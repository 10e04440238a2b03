"""Whole programs, natively: every test in a fresh folder with its files, arguments and standard input.

Tests are what a solver came up with: arguments of `rm` among them. So they run confined (`runtime/confine.c`): nothing
but their folder can be written to, no process but their own can be signalled.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from partita.cc.musl import LINKER, prepare_musl
from partita.errors import UsageError
from partita.ktest import Test
from partita.replay import Replayed, Verdict, judge, to_bytes
from partita.replay.environment import Environment, create, environment
from partita.toolchain import runtime_include, zig_dir
from partita.whole import ENVIRONMENT

_OWN_TEST = "PARTITA_REPLAY_TEST"


def replay_program(
    binary: Path,
    tests: Sequence[Test],
    *,
    timeout: float = 10,
    variables: Mapping[str, str] = ENVIRONMENT,
    confined: bool = True,
    writable: Path | None = None,
) -> list[Replayed]:
    """Runs every test with exactly these environment variables, as many at a time as there are processors.

    `writable` is a file that tests may change beside those of their folder.
    """
    # Does it ask for inputs through intrinsics? Only then does it see variables of ours.
    asks = _OWN_TEST.encode() in binary.read_bytes()
    with (
        _launcher() as launcher,
        tempfile.TemporaryDirectory(prefix="partita-replay-") as folder,
        ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool,
    ):
        native = _Native(launcher, binary.resolve(), asks, timeout, variables, confined, str(writable or ""))
        jobs = [pool.submit(native.replay, test, Path(folder) / str(number)) for number, test in enumerate(tests)]
        try:
            return [job.result() for job in jobs]
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _launcher() -> Iterator[Path]:
    """The program that confines another, compiled; it is gone after the `with`."""
    with tempfile.TemporaryDirectory(prefix="partita-replay-") as folder:
        made = Path(folder) / "confine"
        prepare_musl()
        source = runtime_include().parent / "confine.c"
        command = [str(zig_dir() / "zig"), *LINKER, "-w", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile what confines tests:\n{done.stderr.rstrip()}")
        yield made


@dataclass(frozen=True)
class _Native:
    launcher: Path
    binary: Path
    asks: bool
    timeout: float
    variables: Mapping[str, str]
    confined: bool
    writable: str

    def replay(self, test: Test, folder: Path) -> Replayed:
        around = environment(test)
        if around.rest and not self.asks:
            return Replayed(test, f"diverged the program asks for no `{around.rest[0][0]}`", Verdict.DIFFERENT)
        work = folder / "work"
        work.mkdir(parents=True)
        create(around.files, work)
        _copy_named_files(around, work)
        (folder / "stdin").write_bytes(around.stdin)
        ending = self._run(around, folder)
        verdict = judge(test.ending, ending)
        if verdict is Verdict.AS_PREDICTED and not _output_fits(around.stdout, folder / "stdout"):
            verdict, ending = Verdict.DIFFERENT, f"{ending}, other output"
        _remove(folder)
        return Replayed(test, ending, verdict)

    def _run(self, around: Environment, folder: Path) -> str:
        variables = dict(self.variables)
        if self.asks:
            (folder / "own.ktest").write_bytes(to_bytes(around.rest))
            variables[_OWN_TEST] = str(folder / "own.ktest")
            variables["PARTITA_REPLAY_DIVERGED"] = str(folder / "diverged")
        report = folder / "report"
        where = str(folder) if self.confined else ""
        failures = " ".join(map(str, around.failures))
        with open(folder / "stdin", "rb") as given, open(folder / "stdout", "wb") as output:
            process = subprocess.Popen(
                [self.launcher, report, where, self.writable, failures, self.binary, *around.arguments],
                cwd=folder / "work",
                env=variables,
                stdin=given,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                status = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return "timeout"
        if report.stat().st_size:
            why = report.read_text("utf-8", "replace")
            raise UsageError(f"cannot confine tests ({why}): replay where namespaces may be made, or with --unconfined")
        if (folder / "diverged").exists():
            return f"diverged {(folder / 'diverged').read_text('utf-8', 'replace')}"
        return f"exit {status}" if status >= 0 else f"signal {-status}"


def _remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


def _copy_named_files(around: Environment, work: Path) -> None:
    """The run read files of the folder it was started in; those that arguments name are there in the replay too."""
    for argument in around.arguments[1:]:
        name = os.fsdecode(argument)
        source = Path(name)
        if name and not source.is_absolute() and ".." not in source.parts and source.is_file():
            target = work / source
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def _output_fits(expected: bytes | None, path: Path) -> bool:
    if expected is None:
        return True
    with path.open("rb") as file:
        return file.read(len(expected)).ljust(len(expected), b"\0") == expected
