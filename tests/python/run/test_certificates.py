"""Certificates of complete runs: right ones pass, altered ones are rejected with the place.

`tests/soak/certificates.py` has all programs.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import re
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from partita import UsageError, explore
from partita.check import certificate, solver
from partita.check.decide import RejectedError
from partita.check.meaning import floats, machine
from partita.check.meaning.machine import interpreter
from partita.check.meaning.memory import trailing_zeros
from partita.check.terms import (
    NUMBERS,
    PREDICATES,
    Evaluator,
    NoSemanticsError,
    apply,
    byte_of,
    concat,
    extract,
    ite,
    read,
    sext,
    signed,
    zext,
)
from partita.cli import main
from partita.llvm import write as w
from support.certificates import ROOT, certified, checked, sealed

needs_solver = pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in solver.NAMES), reason="neither z3 nor bitwuzla is installed"
)
SAMPLE = [
    "tests/programs/switch_cases.c", "tests/programs/setjmp_longjmp.c", "tests/programs/string_tables.c",
    "tests/programs/recursion.c", "tests/programs/objects_by_pointer.c", "tests/programs/function_pointers.c",
    "tests/programs/bugs/endings.c", "tests/programs/bugs/pointers.c", "tests/programs/exhaustive/alloca.c",
    "tests/programs/exhaustive/complex_conditions.c", "tests/programs/exhaustive/divide_overflow.c",
    "tests/programs/exhaustive/goto_computed.c", "tests/programs/exhaustive/heap_large.c",
    "tests/programs/exhaustive/memory_copy.c", "tests/programs/exhaustive/flexible_array.c",
    "benchmarks/programs/triangle.c", "benchmarks/programs/foo.c", "tests/programs/floats.c",
    "tests/programs/long_double.c", "tests/programs/exhaustive/union_float.c",
]  # fmt: skip
PROGRAM = """
#include <klee/klee.h>
#include <stdio.h>
int main(void) {
  unsigned char x[3];
  static const int table[4] = {1, 2, 3, 4};
  klee_make_symbolic(x, sizeof x, "x");
  if (x[0] > 19) return 1;
  if (x[0] > 20) return 2;
  puts((char *)x);
  switch (x[1]) { case 1: case 7: return 3; case 9: return 4; }
  if (table[x[2] & 3] == 5) return 5;
  return 12 / (x[2] | 1);
}
"""


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "prog.c").write_text(PROGRAM)
    found = certified(folder / "prog.c", folder)
    assert found is not None
    return found


@needs_solver
@pytest.mark.parametrize("program", SAMPLE, ids=lambda name: Path(name).stem)
def test_a_complete_run_is_certified(program: str, tmp_path: Path) -> None:
    found = certified(ROOT / program, tmp_path)
    assert found is not None
    assert checked(found).leaves == len(found["leaves"])


@pytest.mark.parametrize("name", solver.NAMES)
def test_both_solvers_check(name: str, body: dict[str, Any]) -> None:
    pytest.importorskip(name)
    prover = solver.make(name)
    assert certificate.check(body, prover, interpreter).leaves == len(body["leaves"])
    assert prover.proofs > 0


def closed_rows(body: dict[str, Any]) -> list[list[Any]]:
    return [row for point in body["points"] for row in point[5] if row[1] == "closed" and row[2]]


def empty_core(body: dict[str, Any]) -> None:
    closed_rows(body)[0][2] = []


def foreign_core(body: dict[str, Any]) -> None:
    closed_rows(body)[0][2] = [max(leaf[0] for leaf in body["leaves"])]


def closed_without_reason(body: dict[str, Any]) -> None:
    row = next(row for point in body["points"] for row in point[5] if row[1] == "forked")
    row[1], row[2] = "closed", []


def branch_removed(body: dict[str, Any]) -> None:
    point = next(point for point in body["points"] if point[1] == "branch")
    point[5] = [row for row in point[5] if row[1] == "taken"]


def leaf_removed(body: dict[str, Any]) -> None:
    del body["leaves"][-1]


def arm_removed(body: dict[str, Any]) -> None:
    point = next(point for point in body["points"] if point[1] == "switch")
    point[5].pop()


def point_removed(body: dict[str, Any]) -> None:
    """The sides of the switch, and all that follows but the side of one path."""
    at = next(i for i, point in enumerate(body["points"]) if point[1] == "switch")
    point = body["points"].pop(at)
    taken = next(row for row in point[5] if row[1] == "taken")[2][0]
    for other in body["points"]:
        if other[0][0] == taken:
            other[0][0] = point[0][0]


def test_changed(body: dict[str, Any]) -> None:
    leaf = next(leaf for leaf in body["leaves"] if leaf[2] == "exit 1")
    leaf[3][0][2] = "00" + leaf[3][0][2][2:]


def ending_changed(body: dict[str, Any]) -> None:
    next(leaf for leaf in body["leaves"] if leaf[2] == "exit 3")[2] = "exit 0"


def sides_swapped(body: dict[str, Any]) -> None:
    rows = next(point for point in body["points"] if point[1] == "branch")[5]
    rows[0][0], rows[1][0] = rows[1][0], rows[0][0]


def decision_elsewhere(body: dict[str, Any]) -> None:
    next(point for point in body["points"] if point[1] == "branch")[0][2] += 1


def condition_of_puts(body: dict[str, Any]) -> None:
    next(point for point in body["points"] if point[4] and point[1] == "check")[4] = "false"


test_changed.__test__ = False  # type: ignore[attr-defined]
ALTERATIONS: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (empty_core, "does not close the side"), (foreign_core, "which are not on this path"),
    (closed_without_reason, "does not close the side"), (branch_removed, "has the sides"),
    (leaf_removed, "no path that goes on here"), (arm_removed, "has the sides"),
    (point_removed, "the certificate has no decision"), (test_changed, "a test below does not take the side"),
    (ending_changed, "in the certificate with `exit 0`"), (sides_swapped, "a test below does not take the side"),
    (decision_elsewhere, "the certificate decides in function"), (condition_of_puts, "a test below does not take"),
]  # fmt: skip


@needs_solver
@pytest.mark.parametrize(("alter", "message"), ALTERATIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_altered_certificate_is_rejected(
    alter: Callable[[dict[str, Any]], None], message: str, body: dict[str, Any]
) -> None:
    altered = copy.deepcopy(body)
    alter(altered)
    with pytest.raises(RejectedError, match=message):
        checked(sealed(altered))


@needs_solver
def test_a_rejection_names_the_place(body: dict[str, Any]) -> None:
    altered = copy.deepcopy(body)
    empty_core(altered)
    with pytest.raises(RejectedError, match=r"prog.c:9 in main, step \d+, decision \d+: the core \[\]"):
        checked(sealed(altered))


def test_an_altered_file_is_rejected_by_its_checksum(
    body: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "altered.json"
    file.write_text(json.dumps({**body, "version": "0"}))
    assert main(["check", str(file)]) == 1
    assert "rejected: the file was altered: its checksum is wrong" in capsys.readouterr().err


@needs_solver
def test_the_command_says_what_was_checked(
    body: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "good.json"
    file.write_text(json.dumps(body))
    assert main(["check", str(file)]) == 0
    assert f"explored completely: {len(body['leaves'])} paths" in capsys.readouterr().out


def test_without_a_second_solver_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="expected a second solver, Z3 or Bitwuzla, to be installed"):
        solver.make(None)


@pytest.mark.parametrize("text", [None, "", "unsat", "{}", '{"schema": "other", "sha256": "?"}', "{broken"])
def test_files_that_are_no_certificates(text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    if text is not None:
        file.write_text(text)
    assert main(["check", str(file)]) in (1, 2)
    assert capsys.readouterr().err.startswith("partita: error: ")


def test_an_incomplete_run_has_no_certificate(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    (tmp_path / "prog.c").write_text("int missing(void); int main(void) { return missing(); }")
    with pytest.warns(RuntimeWarning, match="no certificate in .*: the exploration is incomplete"):
        explore(tmp_path / "prog.c", certificate=file).finish()
    assert not file.exists()


@pytest.mark.parametrize(
    ("body", "warning", "is_written"),
    [
        ('return fopen("/none", "r") != 0;', r"cannot follow .* musl and the kernel model \(it uses `fopen`\)", True),
        ("pthread_t t; return pthread_create(&t, 0, started, 0);", "no certificate in .* not follow threads", False),
    ],
)
def test_what_the_checker_cannot_follow_is_said_at_once(
    body: str, warning: str, is_written: bool, tmp_path: Path
) -> None:
    file = tmp_path / "certificate.json"
    (tmp_path / "prog.c").write_text(
        "#include <pthread.h>\n#include <stdio.h>\nvoid *started(void *unused) { return unused; }\n"
        f"int main(void) {{ {body} }}\n"
    )
    run = explore(tmp_path / "prog.c", certificate=file)
    with pytest.warns(RuntimeWarning, match=warning):
        run.step(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.finish()
    assert file.exists() == is_written


FLOATS = """
#include <klee/klee.h>
int main(void) {
  float x;
  unsigned char c;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&c, sizeof c, "c");
  double d = x, y = c / 4.0;
  if (d * 2 > 10 && d < 1e6) return (int)x < 4 ? 2 : 1;
  if (x != x) return 3;
  if (y * y == 2.25) return 4;
  if (y + 1 < y) return 5;
  return __builtin_sqrt(y) > 8 ? 6 : (int)(x * 1e9f);
}
"""
CHECKED = """
#include <klee/klee.h>
int main(void) {
  int x, n;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&n, sizeof n, "n");
  unsigned y = 1u << n;
  if (x > 100) return 1;
  return x * 2 + 7 > (int)y;
}
"""


HALF = """
#include <klee/klee.h>
int main(void) {
  float x;
  klee_make_symbolic(&x, sizeof x, "x");
  return x + 1 > 3 ? x < 1 ? 2 : (int)x : 1;
}
"""


# Z3 is slow on products and roots.
@pytest.mark.parametrize(("name", "source", "check", "bugs"), [
    ("bitwuzla", FLOATS, (), {"float-cast"}), ("z3", HALF, (), {"float-cast"}),
    ("bitwuzla", CHECKED, ("overflow", "shift"), {"overflow", "shift"}),
    ("z3", CHECKED, ("overflow", "shift"), {"overflow", "shift"}),
], ids=["floats-bitwuzla", "floats-z3", "checks-bitwuzla", "checks-z3"])  # fmt: skip
def test_floats_and_optional_checks_are_followed(
    name: str, source: str, check: tuple[str, ...], bugs: set[str], tmp_path: Path
) -> None:
    pytest.importorskip(name)
    (tmp_path / "prog.c").write_text(source)
    found = certified(tmp_path / "prog.c", tmp_path, check=check)
    assert found is not None
    prover = solver.make(name)
    assert certificate.check(found, prover, interpreter).leaves == len(found["leaves"])
    assert prover.proofs > 0
    assert bugs <= {leaf[2] for leaf in found["leaves"]}
    found["options"]["checks"] = []
    found["options"]["float_cast"] = False
    with pytest.raises(RejectedError):
        certificate.check(sealed(found), solver.make(name), interpreter)


EXTREMES = """
#include <assert.h>
#include <klee/klee.h>
#include <string.h>
static unsigned bits(float x) { unsigned u; memcpy(&u, &x, sizeof u); return u; }
int main(void) {
  signed char c;
  klee_make_symbolic(&c, sizeof c, "c");
  float x = c, none = x / x;
  assert(bits(none) == (c ? 0x3f800000 : 0xffc00000));
  assert(bits(__builtin_fminf(none, 7)) == bits(c ? 1 : 7));
  assert(bits(__builtin_elementwise_max(-x, x)) == bits(c > 0 ? x : -x));
  return 0;
}
"""


@pytest.mark.parametrize("name", solver.NAMES)
def test_results_that_are_no_numbers_have_the_bits_of_x86(name: str, tmp_path: Path) -> None:
    pytest.importorskip(name)
    (tmp_path / "prog.c").write_text(EXTREMES)
    found = certified(tmp_path / "prog.c", tmp_path)
    assert found is not None
    prover = solver.make(name)
    assert {leaf[2] for leaf in found["leaves"]} == {"exit 0"}
    assert certificate.check(found, prover, interpreter).leaves == len(found["leaves"])
    assert prover.proofs >= 3


@pytest.mark.parametrize(
    ("operation", "ending"),
    [("1 / 0", "division-by-zero"), ("-2147483648 / -1", "overflow"), ("(int)1e30", "float-cast")],
)
def test_operations_on_constants_are_followed(operation: str, ending: str, tmp_path: Path) -> None:
    source = HALF.replace("return", f"if (x == 2) (void)({operation});\n  return")
    (tmp_path / "prog.c").write_text(source.replace("-2147483648", "(-2147483647 - 1)"))
    found = certified(tmp_path / "prog.c", tmp_path)
    assert found is not None
    assert ending in {leaf[2] for leaf in found["leaves"]}
    assert certificate.check(found, solver.make("z3"), interpreter).leaves == len(found["leaves"])


def test_other_checks_are_refused(body: dict[str, Any]) -> None:
    altered = {**body, "options": {**body["options"], "checks": ["leak"]}}
    with pytest.raises(UsageError, match="certificates of runs with --check leak cannot be checked"):
        checked(sealed(altered))


@needs_solver
def test_memory_that_was_never_written_decides_nothing(tmp_path: Path) -> None:
    """A program with an undefined value stored: the run would not be complete, the checker rejects it."""
    source = """
#include <klee/klee.h>
static void set(unsigned char *a) { a[0] = 1, a[1] = 0; }
int main(void) {
  unsigned char x, a[4], b[4];
  klee_make_symbolic(&x, 1, "x");
  set(a);
  __builtin_memcpy(b, a, 4);
  return b[1] ? 3 : x > 7 ? a[0] : 2;
}
"""
    (tmp_path / "prog.c").write_text(source)
    found = certified(tmp_path / "prog.c", tmp_path)
    assert found is not None
    assert checked(found).leaves == 2
    part = certificate.unpack(found["parts"][0])
    zero, undefined = struct.pack("<4I", w.STORE, 8, 1, 1), struct.pack("<4I", w.STORE, 8, 1, w.UNDEF[0])
    assert part.count(zero) == 1
    found["parts"][0] = certificate.pack(part.replace(zero, undefined))
    with pytest.raises(RejectedError, match="memory that was never written"):
        checked(sealed(found))


WORDS = {0: ("float32", "uint32"), 1: ("float64", "uint64"), 3: ("float16", "uint16")}


@pytest.mark.parametrize("kind", WORDS)
def test_floating_point_has_the_values_of_the_processor(kind: int) -> None:
    numpy = pytest.importorskip("numpy")
    form, rng = floats.format_of(kind), random.Random(kind)
    real, integer = (getattr(numpy, name) for name in WORDS[kind])
    special = [0, form.sign, form.infinity, form.infinity - 1, 1, form.sign | 1, 1 << form.stored]

    def word() -> int:
        near = rng.randrange(max(form.bias - 20, 1), form.bias + 14) << form.stored | rng.getrandbits(form.stored)
        return rng.choice([rng.choice(special), near | form.sign * rng.getrandbits(1), rng.getrandbits(form.width)])

    with numpy.errstate(all="ignore"):
        for _ in range(1500):
            a, b = word(), word()
            if form.is_nan(a) or form.is_nan(b):
                continue
            x, y = numpy.array([a, b], dtype=integer).view(real)
            binary = {"fadd": x + y, "fsub": x - y, "fmul": x * y, "fdiv": x / y, "frem": numpy.fmod(x, y)}
            unary = {name: getattr(numpy, name)(x) for name in ("sqrt", "floor", "ceil", "trunc", "rint")}
            for name, wanted in {**binary, **unary}.items():
                operands = (a, b) if name in binary else (a,)
                expected = int(numpy.array([wanted], dtype=real).view(integer)[0])
                found = floats.OPERATORS[name](form, *operands)
                assert found == expected or (form.is_nan(found) and form.is_nan(expected)), (name, hex(a), hex(b))
            assert form.less(a, b) == int(x < y)
            for other, (target, bits) in WORDS.items():
                moved = numpy.array([x], dtype=real).astype(getattr(numpy, target)).view(getattr(numpy, bits))
                assert NUMBERS["fp.cast"]((form.sizes, floats.FORMATS[other]), a) == int(moved[0])


@needs_solver
def test_what_cannot_be_followed_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    (tmp_path / "prog.c").write_text("""
#include <klee/klee.h>
int main(void) {
  int n;
  klee_make_symbolic(&n, sizeof n, "n");
  long double x = n * 1.5L;
  if (x > 7 && x < 3) return 1;
  return 0;
}
""")
    found = certified(tmp_path / "prog.c", tmp_path)
    assert found is not None
    with pytest.raises(NoSemanticsError, match="floating point that no other solver has: x87"):
        checked(found)


@pytest.mark.parametrize(("name", "why"), [("_ZN4halfEi", "it is C"), ("helper", "it was linked with them")])
def test_programs_on_the_kernel_model_are_named(name: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = [SimpleNamespace(name=name, part=0), SimpleNamespace(name="__partita_setting", part=1)]
    monkeypatch.setattr(machine, "Linked", lambda *_: SimpleNamespace(functions=symbols))
    body = {"options": {"checks": []}, "points": [], "leaves": [], "parts": [], "functions": [], "globals": []}
    with pytest.raises(NoSemanticsError, match=rf"a program on musl and the kernel model \({why}"):
        certificate.check(body, None, interpreter)


def test_what_accepts_or_rejects_is_small_and_knows_no_instruction() -> None:
    """The reader, the decisions, the terms and the second solver; the meaning of programs is another folder."""
    folder = Path(certificate.__file__).parent
    files = sorted(folder.glob("*.py"))
    assert [file.stem for file in files] == ["__init__", "certificate", "decide", "solver", "terms"]
    assert sum(len(file.read_text().splitlines()) for file in files) < 1000
    for file in files:
        names = re.findall(r"^\s*(?:from|import) (partita[.\w]*)", file.read_text(), re.MULTILINE)
        assert set(names) <= {"partita.errors", *(f"partita.check.{other.stem}" for other in files)}, file.name


def test_the_checker_is_a_program_apart() -> None:
    """Neither the engine and its solver, nor what writes certificates, is loaded."""
    code = (
        "import sys; import partita.cli.check, partita.check.solver, partita.check.meaning.machine; print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "partita.check.certificate" in loaded
    assert not {"partita._core", "partita.explore", "partita.certificate"} & set(loaded)


def test_conditions_are_read_as_the_executor_prints_them() -> None:
    x = byte_of("x", 2)
    assert read("(not (bvult (select x #x00000002) #x05))") is apply("bvxor", 1, apply("bvult", 8, x, 5), 1)
    assert read("(let ((a (select x #x00000002))) (= (concat #x00 a) #x0003))") is read(
        "(= ((_ zero_extend 8) (select x #x00000002)) #x0003)"
    )
    constant = "((as const (Array (_ BitVec 32) (_ BitVec 8))) #x00)"
    assert read(f"(= (select (store {constant} #x00000001 #x07) #x00000001) #x07)") == 1


def test_simplified_terms_have_the_value_of_their_operators() -> None:
    """Random terms, built by the constructors and computed beside them on numbers."""
    source = random.Random(7)
    binary = [op for op in NUMBERS if op not in ("bvnot", "bvneg") and not op.startswith("fp.")]
    for _ in range(300):
        data = bytes(source.randrange(256) for _ in range(4))
        evaluator = Evaluator({"x": data})
        pool = [(byte_of("x", i), data[i], 8) for i in range(4)] + [(n, n, 8) for n in (0, 1, 2, 255)]
        for _ in range(30):
            (a, x, width), (b, y, other) = source.choice(pool), source.choice(pool)
            kind = source.randrange(5)
            if kind == 0:
                b, y = zext(b, other, width), y & ((1 << width) - 1)
                op = source.choice(binary)
                size = 1 if op in PREDICATES else width
                pool.append((apply(op, width, a, b), NUMBERS[op](width, x, y) & ((1 << size) - 1), size))
            elif kind == 1 and width + other <= 64:
                pool.append((concat(a, width, b, other), x << other | y, width + other))
            elif kind == 2:
                low = source.randrange(width)
                size = source.randrange(1, width - low + 1)
                pool.append((extract(a, low, size), x >> low & ((1 << size) - 1), size))
            elif kind == 3:
                pool.append((sext(a, width, width + 4), signed(x, width) & ((1 << (width + 4)) - 1), width + 4))
            else:
                bit, truth = extract(a, 0, 1), x & 1
                pool.append((ite(bit, b, zext(a, width, other), other), y if truth else x & ((1 << other) - 1), other))
            term, value, _ = pool[-1]
            assert evaluator.of(term) == value
            zeros = trailing_zeros(term)
            assert value & ((1 << zeros) - 1) == 0
