"""Runs whole programs natively: every test in a fresh folder with its files, arguments and standard input.

Inputs come from a solver and may be harmful, for instance as arguments of `rm`. Tests therefore run confined
(`runtime/confine.c`): they can write only to their folder and signal only their own processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from partita.cc.compile import native_command
from partita.cc.musl import link
from partita.errors import UsageError
from partita.ktest import Test
from partita.options import ENVIRONMENT
from partita.replay import ReplayResult, Verdict, judge, to_bytes
from partita.replay.environment import Environment, create, environment
from partita.toolchain import runtime_include

_TEST_VARIABLE = "PARTITA_REPLAY_TEST"
_STARTED_S = 1_700_000_000  # the clock of the kernel model, `runtime/posix/time.c`


def replay_program(
    binary: Path,
    tests: Sequence[Test],
    *,
    timeout: float = 10,
    variables: Mapping[str, str] = ENVIRONMENT,
    confined: bool = True,
    writable: Path | None = None,
    sanitized: bool = False,
) -> list[ReplayResult]:
    """Runs every test with exactly these environment variables, one per processor at a time.

    `writable` is a file outside their folder that tests may change.
    """
    # Only a program that makes inputs by intrinsics gets our variables.
    uses_intrinsics = _TEST_VARIABLE.encode() in binary.read_bytes()
    with (
        compiled_launcher() as launcher,
        tempfile.TemporaryDirectory(prefix="partita-replay-") as folder,
        ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool,
    ):
        changed = str(writable or "")
        native = _Runner(launcher, binary.resolve(), uses_intrinsics, timeout, variables, confined, changed, sanitized)
        jobs = [pool.submit(native.replay, test, Path(folder) / str(number)) for number, test in enumerate(tests)]
        try:
            return [job.result() for job in jobs]
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def compiled_launcher() -> Iterator[Path]:
    """The compiled launcher, which confines a program. It exists within the `with`."""
    with tempfile.TemporaryDirectory(prefix="partita-replay-") as folder:
        made = Path(folder) / "confine"
        source = runtime_include().parent / "confine.c"
        compiled = f"{made}.o"
        command = native_command(["-w", "-c", str(source), "-o", compiled])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            done = link([compiled, "-o", str(made)], mathematics=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile the launcher that confines tests:\n{done.stderr.rstrip()}")
        yield made


@dataclass(frozen=True)
class _Runner:
    launcher: Path
    binary: Path
    uses_intrinsics: bool
    timeout: float
    variables: Mapping[str, str]
    confined: bool
    writable: str
    sanitized: bool

    def replay(self, test: Test, folder: Path) -> ReplayResult:
        env = environment(test)
        if env.program_objects and not self.uses_intrinsics:
            return ReplayResult(test, f"diverged the program makes no `{env.program_objects[0][0]}`", Verdict.DIFFERENT)
        ending = self._run_in(env, folder)
        verdict = judge(test.ending, ending, sanitized=self.sanitized)
        if verdict is Verdict.AS_PREDICTED and not _output_fits(env.stdout, folder / "stdout"):
            verdict, ending = Verdict.DIFFERENT, f"{ending}, other output"
            # Numbers of files are those of the machine: while the first files exist, others have other numbers.
            first = folder.with_name(f"{folder.name}-first")
            folder.rename(first)
            self._run_in(env, folder)
            if (folder / "stdout").read_bytes() != (first / "stdout").read_bytes():
                verdict = Verdict.UNSTABLE
            _remove(first)
        _remove(folder)
        return ReplayResult(test, ending, verdict)

    def _run_in(self, env: Environment, folder: Path) -> str:
        """Runs the program once in a new folder. Returns how it ended."""
        work = folder / "around" / "work"
        work.mkdir(parents=True)
        create(env.files, work)
        _copy_named_files(env, work)
        for made in (work, work.parent):
            made.chmod(0o755)
            os.utime(made, (_STARTED_S, _STARTED_S))
        (folder / "stdin").write_bytes(env.stdin)
        return self._run(env, folder)

    def _run(self, env: Environment, folder: Path) -> str:
        variables = dict(self.variables)
        if env.has_utf8:
            variables["LC_ALL"] = "C.UTF-8"
        if self.uses_intrinsics:
            (folder / "own.ktest").write_bytes(to_bytes(env.program_objects))
            variables[_TEST_VARIABLE] = str(folder / "own.ktest")
            variables["PARTITA_REPLAY_DIVERGED"] = str(folder / "diverged")
        report = folder / "report"
        where = str(folder) if self.confined else ""
        has_faults = any(env.faults) or env.failures
        failures = " ".join(map(str, (*(env.failures or (0,) * 6), *env.faults))) if has_faults else ""
        entries = folder / "environment"
        entries.write_bytes(b"".join(entry + b"\0" for entry in _entries(variables, env)))
        with _given_input(env, folder) as given, open(folder / "stdout", "wb") as output:
            process = subprocess.Popen(
                [self.launcher, report, where, self.writable, failures, entries, self.binary, *env.arguments],
                cwd=folder / "around" / "work",
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
            raise UsageError(f"cannot confine tests ({why}): allow user namespaces, or use --unconfined")
        if (folder / "diverged").exists():
            return f"diverged {(folder / 'diverged').read_text('utf-8', 'replace')}"
        return f"exit {status}" if status >= 0 else f"signal {-status}"


def _given_input(env: Environment, folder: Path) -> IO[bytes]:
    return _filled_pipe(env.stdin) if env.stdin_is_pipe else open(folder / "stdin", "rb")


# Capacity of a new pipe, and the largest one that any user can ask for.
_PIPE_SIZE, _LARGEST_PIPE = 1 << 16, 1 << 20


def _filled_pipe(data: bytes) -> IO[bytes]:
    """The end for reading of a pipe that has all of the bytes, and whose other end is closed: reads are not short."""
    if len(data) > _LARGEST_PIPE:
        raise UsageError(f"expected at most {_LARGEST_PIPE} bytes in a pipe, found {len(data)}")
    reading, writing = os.pipe()
    with open(writing, "wb", buffering=0) as end:
        if len(data) > _PIPE_SIZE:
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _LARGEST_PIPE)
        end.write(data)
    return open(reading, "rb", buffering=0)


def _entries(variables: Mapping[str, str], env: Environment) -> list[bytes]:
    """The environment of the program: symbolic variables replace others of their names, in order."""
    symbolic = dict(env.variables)
    return [os.fsencode(f"{name}={value}") for name, value in variables.items() if name not in symbolic] + [
        entry for _, entry in env.variables
    ]


def _remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


def _copy_named_files(env: Environment, work: Path) -> None:
    """Copies files that arguments name: the run could read files of the folder in which it was started."""
    for argument in env.arguments[1:]:
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
