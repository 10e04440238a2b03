"""Float operators in other solvers: every bit is Partita's, of NaN and of results that SMT-LIB leaves open too."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import partita
from partita import Expr, Float, Rounding, Solver, bv, fp
from support import Run

TINY, SMALL = (2, 3), (5, 11)
SOLVERS = ["z3", "bitwuzla", "cvc5"]
ALL_MODES = os.environ.get("PARTITA_FLOAT_BACKENDS") == "all"
"""Every operator in every mode, with more operands; otherwise each operator in one mode."""
SAMPLES = 200 if ALL_MODES else 8
TIMEOUT = 60
Z3_PROGRAM = Path(sys.executable).with_name("z3")
PROCESS = f"process(cmd={Z3_PROGRAM} -in)"

Make = Callable[[Float, Float, Rounding], Expr]
OPERATIONS: dict[str, Make] = {
    "add": lambda x, y, mode: x.add(y, mode).bits,
    "sub": lambda x, y, mode: x.sub(y, mode).bits,
    "mul": lambda x, y, mode: x.mul(y, mode).bits,
    "div": lambda x, y, mode: x.div(y, mode).bits,
    "rem": lambda x, y, mode: x.rem(y).bits,
    "fma": lambda x, y, mode: x.fma(y, y, mode).bits,
    "fma_last": lambda x, y, mode: y.fma(1.0, x, mode).bits,
    "sqrt": lambda x, y, mode: x.sqrt(mode).bits,
    "integral": lambda x, y, mode: x.round_to_integral(mode).bits,
    "less": lambda x, y, mode: partita.ite(x < y, bv(1, 1), bv(0, 1)),
    "at_most": lambda x, y, mode: partita.ite(x <= y, bv(1, 1), bv(0, 1)),
    "equal": lambda x, y, mode: partita.ite(x == y, bv(1, 1), bv(0, 1)),
    "min": lambda x, y, mode: x.min(y).bits,
    "narrow": lambda x, y, mode: x.to_float((4, 4), mode).bits,
    "widen": lambda x, y, mode: y.to_float(32, mode).bits,
    "chain": lambda x, y, mode: (x.add(y, mode).mul(x, mode) - y).bits,
    "negated": lambda x, y, mode: abs(-(x.mul(y, mode))).add(x).bits,
    "signed_1": lambda x, y, mode: x.to_sint(1, mode),
    "signed_3": lambda x, y, mode: x.to_sint(3, mode),
    "signed_8": lambda x, y, mode: x.to_sint(8, mode),
    "unsigned_1": lambda x, y, mode: x.to_uint(1, mode),
    "unsigned_2": lambda x, y, mode: x.to_uint(2, mode),
    "unsigned_6": lambda x, y, mode: x.to_uint(6, mode),
    "from_signed": lambda x, y, mode: Float.from_sint(x.bits, SMALL, mode).bits,
    "from_unsigned": lambda x, y, mode: Float.from_uint(x.bits, SMALL, mode).bits,
}


@pytest.mark.parametrize("solver", [*SOLVERS, pytest.param(PROCESS, id="process")])
@pytest.mark.parametrize("number", range(len(OPERATIONS)), ids=list(OPERATIONS))
def test_operands_of_a_small_format(number: int, solver: str) -> None:
    if solver != PROCESS:
        pytest.importorskip(solver)
    elif not Z3_PROGRAM.exists():
        pytest.skip(f"no program `{Z3_PROGRAM}`")
    make = list(OPERATIONS.values())[number]
    width = sum(SMALL)
    x, y = fp("x", SMALL), fp("y", SMALL)
    reference = Solver()
    assert reference.check() == "sat"
    model = reference.model()
    chosen = random.Random(number)
    words = [(chosen.getrandbits(width), chosen.getrandbits(width)) for _ in range(SAMPLES)]
    if solver == PROCESS:
        words = words[: SAMPLES // 4]  # each starts a program
    for mode in Rounding if ALL_MODES else [Rounding(number % len(Rounding))]:
        for a, b in words:
            right = model[make(Float(bv(a, width), SMALL), Float(bv(b, width), SMALL), mode)]
            # One pair per check: with symbolic operands some operators take minutes.
            check = Solver(layers=solver, timeout=TIMEOUT)
            check.add(x.bits == a, y.bits == b, make(x, y, mode) != right)
            assert check.check() == "unsat", (mode, a, b, check.reason_unknown)


X87 = [
    0, 1 << 79,
    1, 1 << 63, 0x3FFF << 64 | 1 << 63, 0xC000 << 64 | 3 << 62,  # subnormal, pseudo-denormal, 1, -3
    0x7FFE << 64 | (1 << 64) - 1, 0x7FFF << 64 | 1 << 63, 0xFFFF << 64 | 1 << 63,  # the greatest number, infinities
    0x7FFF << 64 | 3 << 62, 0xFFFF << 64 | 3 << 62 | 5, 0x7FFF << 64 | 1 << 63 | 7,  # NaNs, the last one signals
    0xFFFF << 64 | 1 << 63 | 7,
    0x3FFF << 64 | 5, 0x7FFF << 64,  # not supported
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["add", "equal", "narrow", "signed_8", "double"])
def test_special_operands_of_x87(name: str, solver: str) -> None:
    pytest.importorskip(solver)
    make = OPERATIONS.get(name) or (lambda x, y, mode: x.to_float(64, mode).to_float(80).add(y).bits)
    mode, reference = Rounding.NEAREST_EVEN, Solver()
    assert reference.check() == "sat"
    model = reference.model()
    x, y = fp("x", 80), fp("y", 80)
    pairs = [(a, b) for a in X87 for b in X87]
    for a, b in pairs if ALL_MODES else pairs[::9]:
        right = model[make(Float(bv(a, 80), 80), Float(bv(b, 80), 80), mode)]
        check = Solver(layers=solver, timeout=TIMEOUT)
        check.add(x.bits == a, y.bits == b, make(x, y, mode) != right)
        assert check.check() == "unsat", (hex(a), hex(b), check.reason_unknown)


@pytest.mark.parametrize("solver", SOLVERS)
def test_verify_checks_numbers(solver: str, partita: Run) -> None:
    pytest.importorskip(solver)
    text = """(declare-const x Float32)(declare-const y Float32)(assert (fp.lt (fp.add RNE x y) (fp.mul RTP x x)))
              (assert (fp.isSubnormal x))(check-sat)(assert (fp.isNaN y))(check-sat)"""
    done = partita("smt", "--stats", "--verify", solver, text=text)
    assert done.stdout.split() == ["sat", "unsat"]
    assert '"mismatches": 0' in done.stderr


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5"])
def test_two_bits_of_exponent_are_refused(solver: str) -> None:
    pytest.importorskip(solver)
    check = Solver(layers=solver)
    check.add(fp("x", TINY) + 1.0 == 2.0)
    assert check.check() == "unknown"
    expected = "this solver is not asked about numbers with 2 bits of exponent and 3 of significand"
    assert expected in str(check.reason_unknown)


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5"])
def test_rounding_to_integers_in_other_formats_is_refused(solver: str) -> None:
    pytest.importorskip(solver)
    check = Solver(layers=solver)
    check.add(fp("x", (4, 5)).round_to_integral() == 2.0)
    assert check.check() == "unknown"
    assert "not asked to round numbers of this format" in str(check.reason_unknown)
