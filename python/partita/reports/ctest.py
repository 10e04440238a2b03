"""Tests as a CMake project for ctest that does not need Partita: the program, the replay runtime, one test per input.

A path that exited must exit with the same status. With the input of a bug the program must exit by itself under the
address and undefined-behaviour sanitizers, so that the test fails until the bug is fixed. Inputs of leaks and of
`model-error` are left out, as the sanitizers do not report them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from partita import __version__, ktest
from partita.errors import UsageError
from partita.explore import DRIVER
from partita.frontends.c import C_SOURCES
from partita.replay import to_bytes
from partita.replay.environment import uses_environment
from partita.replay.native import with_driver
from partita.reports.folder import new_place, read_run, sources_of
from partita.reports.suites import regression_tests
from partita.toolchain import runtime_include

# Characters that CMake interprets between add_test and the program.
_INTERPRETED = re.compile(r"[;$\n]")
NOT_REPORTED = ("leak", "model-error")
RUNTIME: tuple[str, ...] = ("replay.c", "lib/ambient.h", "lib/classify.c", "include/partita.h", "include/klee/klee.h")

_PROJECT = """# Tests of {program}, written by partita {version}:
#   cmake -S . -B build && cmake --build build && ctest --test-dir build
cmake_minimum_required(VERSION 3.13)
project(partita_tests C)
option(SANITIZE "compile with sanitizers, without which few bugs are detected" ON)
enable_testing()
add_executable(program {sources} runtime/replay.c)
target_include_directories(program PRIVATE runtime/include)
target_compile_options(program PRIVATE -g {cflags})
if(SANITIZE)
  set(checks -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(program PRIVATE ${{checks}})
  target_link_options(program PRIVATE ${{checks}})
endif()
function(replay test expected)
  add_test(NAME ${{test}} COMMAND ${{CMAKE_COMMAND}} "-DTEST=${{CMAKE_CURRENT_SOURCE_DIR}}/tests/${{test}}.ktest"
    "-DEXPECTED=${{expected}}" "-DDIVERGED=${{CMAKE_CURRENT_BINARY_DIR}}/${{test}}.diverged"
    -P "${{CMAKE_CURRENT_SOURCE_DIR}}/replay.cmake" -- $<TARGET_FILE:program> ${{ARGN}})
  set_tests_properties(${{test}} PROPERTIES TIMEOUT 10)
endfunction()
{tests}"""

_REPLAY = """# Runs one test. EXPECTED is an exit status, or the class of a bug that must not occur.
set(command "")
set(words FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(at RANGE ${last})
  if(words)
    list(APPEND command "${CMAKE_ARGV${at}}")
  elseif("${CMAKE_ARGV${at}}" STREQUAL "--")
    set(words TRUE)
  endif()
endforeach()
file(REMOVE "${DIVERGED}")
set(ENV{PARTITA_REPLAY_TEST} "${TEST}")
set(ENV{PARTITA_REPLAY_DIVERGED} "${DIVERGED}")
set(ENV{ASAN_OPTIONS} "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:handle_abort=0")
set(ENV{UBSAN_OPTIONS} "abort_on_error=1:print_stacktrace=1")
execute_process(COMMAND ${command} RESULT_VARIABLE status)
if(EXISTS "${DIVERGED}")
  file(READ "${DIVERGED}" why)
  message(FATAL_ERROR "the program reads other inputs than the test has: ${why}")
elseif(EXPECTED MATCHES "^[0-9]+$")
  if(NOT status STREQUAL EXPECTED)
    message(FATAL_ERROR "expected exit ${EXPECTED}, found ${status}")
  endif()
elseif(NOT status MATCHES "^[0-9]+$")
  message(FATAL_ERROR "expected no ${EXPECTED}, found ${status}")
endif()
"""


def quoted(text: str) -> str:
    """A CMake argument that is not interpreted."""
    marks = "="
    while f"]{marks}]" in f"{text}]":
        marks += "="
    return f"[{marks}[{text}]{marks}]"


def _call(test: ktest.Test) -> str:
    words = [test.name, (test.ending or "").removeprefix("exit "), *map(quoted, test.arguments[1:])]
    return f"replay({' '.join(words)})\n"


def export(folder: Path, out: Path, cflags: Sequence[str]) -> int:
    """Writes the project into a new folder. Returns the number of tests."""
    new_place(out)
    run = read_run(folder)
    paths = sources_of(run, "which the tests run")
    for path in paths:
        if path.suffix not in C_SOURCES:
            raise UsageError(f"expected C sources for ctest, found `{path}`: use --format pytest")
    tests = regression_tests(folder, NOT_REPORTED)
    if any(map(uses_environment, tests)):
        raise UsageError(
            "expected inputs that the program reads by intrinsics, found symbolic arguments, files or standard input: "
            "use --format pytest"
        )
    if any(_INTERPRETED.search(word) for test in tests for word in test.arguments[1:]):
        raise UsageError(
            "expected arguments that CMake does not change, found `;`, `$` or an end of line: use --format pytest"
        )
    driver = folder / DRIVER
    names, flags = [os.path.relpath(path.resolve(), out.resolve()) for path in paths], list(cflags)
    runtime_files = RUNTIME
    if driver.is_file():
        # The driver includes the source of its function.
        with_it, defined = with_driver([str(path) for path in paths], driver, cflags)
        others = [os.path.relpath(os.path.realpath(name), out.resolve()) for name in with_it[1:]]
        names, flags = [DRIVER, *others], defined
        runtime_files = (*RUNTIME, "include/partita-entry.h")
    sources = list(map(quoted, names))
    text = _PROJECT.format(
        program=" ".join(run["program"]).replace("\n", " "),
        version=__version__,
        sources=" ".join(sources),
        cflags=" ".join(map(quoted, flags)),
        tests="".join(map(_call, tests)),
    )
    runtime = runtime_include().parent
    try:
        (out / "tests").mkdir(parents=True)
        (out / "CMakeLists.txt").write_text(text)
        (out / "replay.cmake").write_text(_REPLAY)
        if driver.is_file():
            shutil.copyfile(driver, out / DRIVER)
        for name in runtime_files:
            target = out / "runtime" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(runtime / name, target)
        for test in tests:
            (out / "tests" / f"{test.name}.ktest").write_bytes(to_bytes(test.objects))
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None
    return len(tests)
