"""Whole programs, natively: every test in a fresh folder with its files, arguments and standard input."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from partita.ktest import Test
from partita.replay import Replayed, Verdict, judge, to_bytes
from partita.replay.environment import Environment, create, environment
from partita.whole import ENVIRONMENT

_OWN_TEST = "PARTITA_REPLAY_TEST"
# A program that writes without end meets this limit before the disk is full.
_LARGEST_FILE = 64 << 20


def replay_program(
    binary: Path,
    tests: Sequence[Test],
    *,
    timeout: float = 10,
    variables: Mapping[str, str] = ENVIRONMENT,
) -> list[Replayed]:
    """Runs every test with exactly these environment variables, as many at a time as there are processors."""
    with (
        tempfile.TemporaryDirectory(prefix="partita-replay-") as folder,
        ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool,
    ):
        root = Path(folder)
        # Does it ask for inputs through intrinsics? Only then does it see variables of ours.
        asks = _OWN_TEST.encode() in binary.read_bytes()
        jobs = [
            pool.submit(_replay, binary.resolve(), asks, test, root / str(number), timeout, variables)
            for number, test in enumerate(tests)
        ]
        return [job.result() for job in jobs]


def _replay(
    binary: Path, asks: bool, test: Test, folder: Path, timeout: float, variables: Mapping[str, str]
) -> Replayed:
    around = environment(test)
    work = folder / "work"
    work.mkdir(parents=True)
    create(around.files, work)
    _copy_named_files(around, work)
    (folder / "stdin").write_bytes(around.stdin)
    (folder / "own.ktest").write_bytes(to_bytes(around.rest))
    if around.rest and not asks:
        return Replayed(test, f"diverged the program asks for no `{around.rest[0][0]}`", Verdict.DIFFERENT)
    own = {
        _OWN_TEST: str(folder / "own.ktest"),
        "PARTITA_REPLAY_DIVERGED": str(folder / "diverged"),
    }
    ending = _run(binary, around, folder, timeout, {**variables, **own} if asks else variables)
    verdict = judge(test.ending, ending)
    if verdict is Verdict.AS_PREDICTED and not _output_fits(around.stdout, folder / "stdout"):
        verdict, ending = Verdict.DIFFERENT, f"{ending}, other output"
    for path in work.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)
    return Replayed(test, ending, verdict)


def _run(binary: Path, around: Environment, folder: Path, timeout: float, variables: Mapping[str, str]) -> str:
    with open(folder / "stdin", "rb") as given, open(folder / "stdout", "wb") as output:
        process = subprocess.Popen(
            list(around.arguments),
            executable=binary,
            cwd=folder / "work",
            env=variables,
            stdin=given,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "timeout"
    diverged = folder / "diverged"
    if diverged.exists():
        return f"diverged {diverged.read_text('utf-8', 'replace')}"
    return f"exit {status}" if status >= 0 else f"signal {-status}"


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
