"""Tests run natively, whatever the program is: sources that are compiled for it, or an executable of `partita cc`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from partita.frontends.executable import is_executable
from partita.ktest import Test
from partita.replay import Replayed, Verdict, compile_native, replay
from partita.replay.environment import uses_environment
from partita.replay.program import replay_program
from partita.whole import ENVIRONMENT


def is_built(name: str) -> bool:
    """Is this file an executable?"""
    try:
        with open(name, "rb") as file:
            return is_executable(file.read(64))
    except OSError:
        return False


def replay_natively(
    programs: Sequence[str],
    tests: Sequence[Test],
    *,
    cflags: Sequence[str] = (),
    timeout: int = 10,
    variables: Mapping[str, str] = ENVIRONMENT,
    confined: bool = True,
) -> list[Replayed]:
    """How every test ends. Whole programs have these environment variables, and change no files if `confined`."""
    executable = Path(programs[0]) if len(programs) == 1 and is_built(programs[0]) else None
    with contextlib.ExitStack() as stack:
        binary = executable or stack.enter_context(compile_native(programs, cflags=cflags))
        if executable is not None or any(map(uses_environment, tests)):
            return replay_program(binary, tests, timeout=timeout, variables=variables, confined=confined)
        return replay(binary, tests, timeout=timeout)


def regression(found: Replayed) -> tuple[bool | None, str]:
    """Would a test suite be content, and what is there to say? None: the native run shows neither.

    A path that ended must end the same. The input of a bug must let the program end by itself: it fails while the bug
    is there and passes once it is fixed, whatever the exit status is then.
    """
    predicted = found.test.ending or ""
    if predicted.startswith("exit"):
        return found.verdict is Verdict.AS_PREDICTED, f"expected {predicted}, found {found.ending}"
    if not found.ending.startswith("exit"):
        return False, f"expected no {predicted}, found {found.ending}"
    if found.verdict is Verdict.UNDEFINED:
        return None, f"a native run does not show {predicted}: partita run tells whether it is gone"
    return True, f"{predicted} is gone: {found.ending}"
