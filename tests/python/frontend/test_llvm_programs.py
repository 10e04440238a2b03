"""The programs of tests/programs, lowered and interpreted for every value of their one symbolic byte.

This counts their paths and finds their bugs independently of the executor and checks the expectations in their heads.
The natively compiled program must exit with the same status for each byte.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from partita.check.meaning.program import Part
from partita.frontends import load_program
from partita.toolchain import runtime_include, zig_dir
from support import PROGRAM_FOLDER
from support.interpret import Machine, Native, UnsupportedError

# Programs that need the executor's models of library functions, which the interpreter lacks (see run/test_programs.py).
LIBRARY = {"conversions", "objects_by_pointer", "setjmp_longjmp"}

PROGRAMS = sorted(path for path in PROGRAM_FOLDER.glob("*.c") if path.stem not in LIBRARY)
EXPECT = re.compile(r"// EXPECT: paths=(\d+) bug=(none|[-a-z]+:\d+)(?: unsupported=(\d+))?$", re.M)
STUB = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void klee_make_symbolic(void *p, size_t n, const char *name) { memset(p, atoi(getenv("BYTE")), n); }
void klee_assume(unsigned long c) { if (!c) _Exit(201); }
void klee_assert_fail(const char *e, const char *f, unsigned l, const char *g) { _Exit(202); }
void __assert_fail(const char *e, const char *f, int l, const char *g) { _Exit(202); }
"""


class InfeasibleError(Exception):
    """An assumption does not hold."""


class FailedError(Exception):
    """An assertion does not hold, at this line."""


def assume(machine: Machine, args: list[int]) -> int:
    if not args[0]:
        raise InfeasibleError
    return 0


def fail(machine: Machine, args: list[int]) -> int:
    raise FailedError(args[2])


def run(program: Part, byte: int) -> tuple[Machine, str, int, bool]:
    """Returns the machine after the run, the ending, the exit status, and whether the program read the byte."""
    has_input = False

    def make_symbolic(machine: Machine, args: list[int]) -> int:
        nonlocal has_input
        has_input = True
        machine.memory[args[0] : args[0] + args[1]] = bytes((byte,)) * args[1]
        return 0

    natives: dict[str, Native] = {
        "klee_make_symbolic": make_symbolic,
        "klee_assume": assume,
        "klee_assert_fail": fail,
        "__assert_fail": fail,
        # There is one thread.
        "__partita_atomic_begin": lambda *_: 0,
        "__partita_atomic_end": lambda *_: 0,
    }
    machine = Machine(program, natives)
    try:
        status = machine.run([])
        return machine, "completed", status, has_input
    except FailedError as failure:
        return machine, f"assert:{failure.args[0]}", 202, has_input
    except InfeasibleError:
        return machine, "infeasible", 201, has_input
    except UnsupportedError:
        return machine, "unsupported", -1, has_input


@cache
def explore(path: Path, optimize: bool = False) -> tuple[dict[str, set[tuple[int, ...]]], dict[int, int]]:
    """Returns the traces by ending, and the exit status for each byte."""
    program = Part(load_program([path], cache=False, optimize=optimize), 0)
    traces: dict[str, set[tuple[int, ...]]] = {}
    statuses = {}
    for byte in range(256):
        machine, ending, statuses[byte], has_input = run(program, byte)
        traces.setdefault(ending, set()).add(tuple(machine.trace))
        if not has_input:
            return traces, dict.fromkeys(range(256), statuses[byte])
    return traces, statuses


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_expectation_in_head(path: Path) -> None:
    found = EXPECT.search(path.read_text())
    assert found is not None, "expected `// EXPECT: paths=N bug=class:line|none` in the head"
    traces, _ = explore(path)
    bugs = [ending for ending in traces if ":" in ending]
    assert len(traces.get("completed", ())) == int(found[1])
    assert (bugs or ["none"]) == [found[2]]
    assert len(traces.get("unsupported", ())) == int(found[3] or 0)


@pytest.mark.parametrize("optimize", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_same_status_as_native(path: Path, optimize: bool, tmp_path: Path) -> None:
    stub, binary = tmp_path / "stub.c", tmp_path / "program"
    stub.write_text(STUB)
    zig = str(zig_dir() / "zig")
    flags = ["-target", "x86_64-linux-musl", "-O0", "-fno-sanitize=all", "-w", "-I", str(runtime_include())]
    subprocess.run([zig, "cc", *flags, str(path), str(stub), "-o", str(binary)], check=True, capture_output=True)
    _, statuses = explore(path, optimize)
    for byte in [*range(0, 256, 37), 7, 77, 84, 100, 200, 213]:
        native = subprocess.run([str(binary)], env={"BYTE": str(byte)}, check=False, capture_output=True).returncode
        if statuses[byte] != -1:
            assert statuses[byte] & 255 == native, f"byte {byte}"
