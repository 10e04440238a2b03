"""Runs tests natively, for programs given as sources or as an executable of `partita cc`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.entry import FUZZ_TARGET
from partita.errors import UsageError
from partita.frontends.c import SOURCES
from partita.frontends.compile_commands import Source, flags_of
from partita.frontends.executable import is_executable
from partita.frontends.rust import RUST_SOURCES, is_rust
from partita.frontends.rust import compile_native as compile_rust
from partita.ktest import Test
from partita.options import ENVIRONMENT
from partita.replay import SANITIZERS, ReplayResult, Verdict, compile_native, flags_for, replay
from partita.replay.environment import uses_environment
from partita.replay.program import replay_program


def is_executable_file(name: str) -> bool:
    """Whether the file is an executable."""
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
) -> list[ReplayResult]:
    """Runs every test. The program has these environment variables; if `confined`, whole programs can change no files.

    If all of the program is C, the tests of bugs that only a sanitizer shows run in a second executable.
    """
    if len(programs) == 1 and is_executable_file(programs[0]):
        return replay_program(Path(programs[0]), tests, timeout=timeout, variables=variables, confined=confined)
    if any(name.endswith(RUST_SOURCES) for name in programs):
        return _replay_rust(programs, tests, cflags, timeout=timeout, variables=variables, confined=confined)
    _check_not_rust(programs)
    from_source = all(name.endswith(SOURCES) for name in programs)
    by_flags: dict[tuple[str, ...], list[int]] = {}
    for number, test in enumerate(tests):
        flags = SANITIZERS.get(test.ending or "", ()) if from_source else ()
        by_flags.setdefault(flags, []).append(number)
    results: dict[int, ReplayResult] = {}
    for flags, numbers in by_flags.items():
        chosen = [tests[number] for number in numbers]
        with compile_native(programs, cflags=[*cflags, *flags, *flags_for(chosen)]) as binary:
            if any(map(uses_environment, chosen)):
                found = replay_program(
                    binary, chosen, timeout=timeout, variables=variables, confined=confined, sanitized=bool(flags)
                )
            else:
                found = replay(binary, chosen, timeout=timeout, sanitized=bool(flags), variables=variables)
        results.update(zip(numbers, found, strict=True))
    return [results[number] for number in range(len(tests))]


def _replay_rust(
    programs: Sequence[str], tests: Sequence[Test], flags: Sequence[str], **options: Any
) -> list[ReplayResult]:
    if len(programs) > 1:
        raise UsageError(f"expected one Rust source, found {len(programs)} files")
    with tempfile.TemporaryDirectory(prefix="partita-replay-") as folder:
        binary = Path(folder) / "program"
        compile_rust(programs[0], binary, flags)
        return replay_program(binary, tests, **options)


def _check_not_rust(programs: Sequence[str]) -> None:
    for name in programs:
        if name.endswith(".bc") and is_rust(Path(name).read_bytes()):
            raise UsageError(
                f"expected the source or the executable of a Rust program, found bitcode (`{name}`): build it without"
                " `--cfg partita`, and replay its executable"
            )


def with_driver(programs: Sequence[str], driver: Path, cflags: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files and flags to compile for tests of a run with `--entry`: the driver includes the function's source."""
    entry = json.loads((driver.parent / "run.json").read_text())["entry"]
    sources = [name for name in programs if name.endswith(SOURCES)]
    file = next((name for name in sources if os.path.abspath(name) == os.path.abspath(entry["file"])), None)
    if file is None and len(sources) == 1:
        # A function of a header that the source includes.
        file = sources[0]
    if file is None:
        if entry["function"] == FUZZ_TARGET:
            return [str(driver), *programs], list(cflags)
        raise UsageError(f"expected the source of `{entry['function']}`, {entry['file']}, to replay its tests")
    others = [name for name in programs if name != file]
    # The driver includes the file, and is compiled with its flags.
    return [Source.of(str(driver), flags_of(file)), *others], [*cflags, f'-DPARTITA_SOURCE="{os.path.abspath(file)}"']


def regression(found: ReplayResult) -> tuple[bool | None, str]:
    """Whether a test passes in a regression suite (None if a native run cannot show it), and a message.

    A path that ended normally must end with the same status. The input of a bug must end normally with any status: the
    test fails until the bug is fixed.
    """
    predicted = found.test.ending or ""
    if predicted.startswith("exit"):
        return found.verdict is Verdict.AS_PREDICTED, f"expected {predicted}, found {found.ending}"
    if not found.ending.startswith("exit"):
        return False, f"expected no {predicted}, found {found.ending}"
    if found.verdict is Verdict.UNDEFINED:
        return None, f"a native run does not show {predicted}: use partita run to check whether it is fixed"
    return True, f"{predicted} is fixed: {found.ending}"
