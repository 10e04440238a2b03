"""Proof by example: every input of a small program runs natively, lies in exactly one reported path and ends as that
path predicts. Path conditions are evaluated here, for all inputs at once, from their SMT-LIB text: no part of the
solver is involved."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita import explore
from partita.ktest import read_folder
from partita.options import ENVIRONMENT
from partita.replay import _SIGNALS, Verdict
from partita.replay.native import replay_natively
from partita.toolchain import runtime_include
from support import PROGRAM_FOLDER, sanitizers

FOLDER = PROGRAM_FOLDER / "exhaustive"
PROGRAMS = sorted(FOLDER.glob("*.c"))
PROGRAMS.remove(FOLDER / "native.c")
_TOKEN = re.compile(r"\(|\)|\|[^|]*\||[^\s()]+")
Term = Any  # a token, or a list of terms


@dataclass
class Vector:
    """The values of a bit-vector (a boolean has width 0) under every input: words, or Python integers above 64 bits."""

    width: int
    values: Any


@dataclass
class Number:
    """The values of a floating-point number under every input, in the processor's arithmetic."""

    values: Any


_REALS = {(5, 11): np.float16, (8, 24): np.float32, (11, 53): np.float64}
_WORDS = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}
_MODES = frozenset("RNE RNA RTP RTN RTZ".split())


@dataclass
class Array:
    """The elements of an array under every input: `elements[index]`, and the value of all others."""

    width: int
    elements: dict[int, Any]
    default: Any


def inputs_of(program: Path) -> int:
    """The number of bytes that the program reads."""
    found = re.search(r"^#define BYTES (\d)", program.read_text(), re.M)
    return int(found[1]) if found else 1


def bugs_of(program: Path) -> set[str]:
    """Classes of the bugs that the program has and that no signal shows, from lines `// BUG class`."""
    return set(re.findall(r"^// BUG ([\w-]+)$", program.read_text(), re.M))


def parse(text: str) -> list[Term]:
    stack: list[list[Term]] = [[]]
    for token in _TOKEN.findall(re.sub(r";[^\n]*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


def _fit(values: Any, width: int) -> Any:
    """The values modulo 2^width, as words if they fit."""
    if width > 64:
        return np.array(values, dtype=object) & ((1 << width) - 1)
    if values.dtype == object:
        return (values & ((1 << width) - 1)).astype(np.uint64)
    return values & np.uint64((1 << width) - 1)


def _exact(vector: Vector) -> Any:
    return vector.values.astype(object)


def _signed(vector: Vector) -> Any:
    values = _exact(vector)
    return np.where(_exact(vector) >> (vector.width - 1) == 1, values - (1 << vector.width), values)


def _divide(a: Vector, b: Vector, signed: bool, remainder: bool) -> Any:
    """SMT-LIB's division: by zero, all ones or the dividend; signed truncates."""
    x, y = (_signed(a), _signed(b)) if signed else (_exact(a), _exact(b))
    results = []
    for p, q in zip(x, y, strict=True):
        if q == 0:
            results.append(p if remainder else (1 if signed and p < 0 else -1))
            continue
        quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        results.append(p - quotient * q if remainder else quotient)
    return np.array(results, dtype=object)


def _shift(a: Vector, b: Vector, op: str) -> Any:
    amounts = np.minimum(_exact(b), a.width)
    if op == "bvshl":
        return _exact(a) << amounts
    return (_signed(a) if op == "bvashr" else _exact(a)) >> amounts


class Evaluator:
    """The truth of a script's assertions under every input of `count` bytes in the array `in`."""

    def __init__(self, count: int) -> None:
        self.size = 256**count
        index = np.arange(self.size, dtype=np.uint64)
        elements = {i: index >> np.uint64(8 * i) & np.uint64(255) for i in range(count)}
        self.names: dict[str, Any] = {"in": Array(8, elements, np.zeros(self.size, dtype=np.uint64))}

    def script(self, text: str) -> Any:
        names = dict(self.names)
        holds = np.ones(self.size, dtype=bool)
        for command in parse(text):
            if command[0] == "assert":
                holds = holds & self.term(command[1], names).values
            elif command[0] == "define-fun":
                names[command[1]] = self.term(command[4], names)
            elif command[0] in ("declare-fun", "declare-const") and command[1].strip("|") != "in":
                raise AssertionError(f"an input that the program does not have: {command}")
        return holds

    def constant(self, value: int, width: int) -> Vector:
        return Vector(width, np.full(self.size, value, dtype=np.uint64 if width <= 64 else object))

    def term(self, term: Term, names: dict[str, Any]) -> Any:
        if isinstance(term, str):
            if term.startswith("#x"):
                return self.constant(int(term[2:], 16), 4 * len(term[2:]))
            if term.startswith("#b"):
                return self.constant(int(term[2:], 2), len(term[2:]))
            if term in ("true", "false"):
                return Vector(0, np.full(self.size, term == "true"))
            return term if term in _MODES else names[term.strip("|")]
        head = term[0]
        if head == "let":
            inner = dict(names)
            for name, value in term[1]:
                inner[name] = self.term(value, names)
            return self.term(term[2], inner)
        if head == "_":  # (_ bv5 8)
            return self.constant(int(term[1][2:]), int(term[2]))
        if isinstance(head, list) and head[0] == "as":  # ((as const SORT) value)
            value = self.term(term[1], names)
            return Array(value.width, {}, value.values)
        operands = [self.term(operand, names) for operand in term[1:]]
        if isinstance(head, list):
            numbers = [int(number) for number in head[2:]]
            if head[1].startswith(("to_fp", "fp.")):
                return self.converted(head[1], numbers, operands)
            return self.indexed(head[1], numbers, operands[0])
        return self.floating(head, operands) if head.startswith("fp.") else self.apply(head, operands)

    def converted(self, op: str, numbers: list[int], operands: list[Any]) -> Any:
        """A conversion to a number, or from one to an integer."""
        *mode, a = operands
        if op in ("fp.to_sbv", "fp.to_ubv"):
            assert mode == ["RTZ"]
            inside = np.where(np.isfinite(a.values), a.values, 0)
            return Vector(numbers[0], _fit(np.array([int(x) for x in inside], dtype=object), numbers[0]))
        assert mode in ([], ["RNE"])
        real: Any = _REALS[numbers[0], numbers[1]]
        if isinstance(a, Number):
            return Number(a.values.astype(real))
        if not mode:
            return Number(a.values.astype(_WORDS[real]).view(real))
        # In one step, which rounds once.
        exact, word = (_exact(a), np.uint64) if op == "to_fp_unsigned" else (_signed(a), np.int64)
        return Number((exact if real is np.float64 else exact.astype(word)).astype(real))

    def floating(self, op: str, operands: list[Any]) -> Any:
        mode, a = [operand for operand in operands if isinstance(operand, str)], operands[-1]
        values = [operand.values for operand in operands if not isinstance(operand, str)]
        if op == "fp.to_ieee_bv":
            return Vector(8 * values[0].itemsize, values[0].view(_WORDS[values[0].dtype.type]).astype(np.uint64))
        with np.errstate(all="ignore"):
            if op in _RELATIONS:
                return Vector(0, _RELATIONS[op](*values))
            if op == "fp.roundToIntegral":
                round_to = {"RNE": np.rint, "RTZ": np.trunc, "RTN": np.floor, "RTP": np.ceil}
                return Number(round_to[mode[0]](a.values))
            assert mode in ([], ["RNE"])
            return Number(_ARITHMETIC[op](*values))

    def indexed(self, op: str, numbers: list[int], a: Vector) -> Vector:
        if op == "extract":
            high, low = numbers
            return Vector(
                high - low + 1, _fit(_exact(a) >> low if a.width > 64 else a.values >> np.uint64(low), high - low + 1)
            )
        width = a.width + numbers[0]
        if op == "zero_extend":
            return Vector(width, _exact(a) if width > 64 else a.values)
        if op == "sign_extend":
            return Vector(width, _fit(_signed(a), width))
        raise AssertionError(f"operator {op}")

    def apply(self, op: str, operands: list[Any]) -> Any:
        a = operands[0]
        b = operands[1] if len(operands) > 1 else None
        if op in _FOLDED:
            result = a
            for operand in operands[1:]:
                result = Vector(a.width, _FOLDED[op](result, operand))
            if a.width:
                result.values = _fit(result.values, a.width)
            return result
        if op == "not":
            return Vector(0, ~a.values)
        if op == "=>":
            return Vector(0, ~a.values | b.values)
        if op == "bvnot":
            return Vector(a.width, _fit(~a.values if a.width <= 64 else ((1 << a.width) - 1) - a.values, a.width))
        if op == "bvneg":
            return Vector(a.width, _fit(-_exact(a), a.width))
        if op == "bvsub":
            return Vector(a.width, _fit(a.values - b.values, a.width))
        if op == "=":
            return Vector(0, a.values == b.values)
        if op == "distinct":
            return Vector(0, a.values != b.values)
        if op == "ite":
            if isinstance(b, Array):
                other = operands[2]
                keys = {*b.elements, *other.elements}
                choose = lambda x, y: np.where(a.values, x, y)  # noqa: E731
                elements = {k: choose(b.elements.get(k, b.default), other.elements.get(k, other.default)) for k in keys}
                return Array(b.width, elements, choose(b.default, other.default))
            return Vector(b.width, np.where(a.values, b.values, operands[2].values))
        if op == "concat":
            width, values = a.width, _exact(a)
            for operand in operands[1:]:
                values = values << operand.width | _exact(operand)
                width += operand.width
            return Vector(width, _fit(values, width))
        if op in ("bvudiv", "bvurem", "bvsdiv", "bvsrem"):
            return Vector(a.width, _fit(_divide(a, b, op[2] == "s", op.endswith("rem")), a.width))
        if op in ("bvshl", "bvlshr", "bvashr"):
            return Vector(a.width, _fit(_shift(a, b, op), a.width))
        if op in _COMPARISONS:
            x, y = (_signed(a), _signed(b)) if op[2] == "s" else (a.values, b.values)
            return Vector(0, _COMPARISONS[op][0](x, y).astype(bool))
        if op == "select":
            result = a.default
            for index, element in a.elements.items():
                result = np.where(b.values == index, element, result)
            return Vector(a.width, result)
        if op == "store":
            return self.store(a, b, operands[2])
        raise AssertionError(f"operator {op}")

    def store(self, array: Array, index: Vector, value: Vector) -> Array:
        elements = dict(array.elements)
        for place in {int(place) for place in np.unique(index.values)}:
            old = elements.get(place, array.default)
            elements[place] = np.where(index.values == place, value.values, old)
        return Array(array.width, elements, array.default)


_FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "and": lambda a, b: a.values & b.values,
    "or": lambda a, b: a.values | b.values,
    "xor": lambda a, b: a.values ^ b.values,
    "bvand": lambda a, b: a.values & b.values,
    "bvor": lambda a, b: a.values | b.values,
    "bvxor": lambda a, b: a.values ^ b.values,
    "bvadd": lambda a, b: a.values + b.values,
    "bvmul": lambda a, b: a.values * b.values,
}
_ARITHMETIC: dict[str, Any] = {
    "fp.add": np.add, "fp.sub": np.subtract, "fp.mul": np.multiply, "fp.div": np.divide, "fp.sqrt": np.sqrt,
    "fp.neg": np.negative, "fp.abs": np.abs,
}  # fmt: skip
_RELATIONS: dict[str, Any] = {
    "fp.eq": np.equal, "fp.lt": np.less, "fp.leq": np.less_equal, "fp.gt": np.greater, "fp.geq": np.greater_equal,
    "fp.isNaN": np.isnan, "fp.isInfinite": np.isinf,
}  # fmt: skip
_COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any]]] = {
    f"bv{sign}{name}": (function,)
    for sign in "us"
    for name, function in (("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal))
}


def native_endings(program: Path, folder: Path, count: int, flags: Sequence[str] = ()) -> list[int]:
    """The exit status of every input, or the negated number of a signal."""
    from partita.cc.musl import link_command
    from partita.toolchain import compiler

    binary, object_ = folder / program.stem, folder / f"{program.stem}.o"
    include = ["-w", "-I", str(runtime_include())]
    compiled = [*compiler(None), "-O0", "-w", "-I", str(FOLDER), *flags, "-Dmain=program_main", "-c", str(program)]
    _command([*compiled, "-o", str(object_)])
    _command(link_command([*include, str(object_), str(FOLDER / "native.c"), "-o", str(binary)]))
    return _endings(binary, count)


# The exit status of a report of gcc's sanitizers. No program of the generator exits with it.
REPORTED = 101
# gcc folds expressions before it inserts checks: it narrows `(signed char)(x * y)`, adds the constants of `x - a - b`
# and drops `x + y` in `(x + y) & 0`, and reports no overflow in any of them. clang checks every operation that is
# written, and stops at an instruction that no program has; it has no other part in this comparison.
_HIDDEN = "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero"
_TRAPS = (-signal.SIGILL, -signal.SIGTRAP)


def sanitized_endings(program: Path, folder: Path, count: int) -> list[int]:
    """The exit status of every input, or the negated number of a signal: `REPORTED` if gcc's sanitizers report it, or
    clang's where those of gcc cannot."""
    binary, object_ = folder / f"{program.stem}-sanitized", folder / f"{program.stem}-sanitized.o"
    gcc = ["gcc", *sanitizers.FLAGS, "-I", str(runtime_include()), "-I", str(FOLDER)]
    _command([*gcc, "-Dmain=program_main", "-c", str(program), "-o", str(object_)])
    _command([*gcc, str(object_), str(FOLDER / "native.c"), "-o", str(binary)])
    options = f"detect_leaks=0:symbolize=0:exitcode={REPORTED}"
    endings = _endings(binary, count, ASAN_OPTIONS=options, UBSAN_OPTIONS=options)
    trapped = native_endings(program, folder, count, (_HIDDEN, _HIDDEN.replace("=", "-trap=")))
    return [REPORTED if trap in _TRAPS else ending for ending, trap in zip(endings, trapped, strict=True)]


def _command(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def _endings(binary: Path, count: int, **variables: str) -> list[int]:
    environment = {**ENVIRONMENT, **variables}
    done = subprocess.run([str(binary), str(count)], check=True, capture_output=True, text=True, env=environment)
    return [int(line) for line in done.stdout.split()]


def replayed(program: Path, tests: Path) -> list[str]:
    """Tests that do not end natively as predicted, by `partita replay`: of one input per path, with its own runtime."""
    results = replay_natively([str(program)], list(read_folder(tests)), cflags=["-I", str(FOLDER)])
    wrong = (Verdict.DIFFERENT, Verdict.UNSTABLE)
    return [f"replay: {result}" for result in results if result.verdict in wrong]


def problems(program: Path, folder: Path, *, sanitized: bool = False, replays: bool = False) -> list[str]:
    """Differences between the reported paths and the native program: none if the exploration is right. With the
    sanitizers a bug is an ending like others: what they report is a bug here, and nothing else is. Without them, a bug
    that no signal shows must be one that the program names, and each of those must be found. `replays`: the tests of
    the run are replayed too."""
    count, hidden, unseen = inputs_of(program), bugs_of(program), bugs_of(program)
    evaluator = Evaluator(count)
    endings = sanitized_endings if sanitized else native_endings
    native = np.array(endings(program, folder, evaluator.size))
    checks = ["overflow", "shift", "member", "alignment"] if sanitized else []
    out = folder / "tests" if replays else None
    run = explore(program, max_time=600, all_bugs=True, check=checks, cflags=["-I", str(FOLDER)], out=out)
    run.keep_conditions()
    found = []
    owners = np.zeros(evaluator.size, dtype=int)
    for number, path in enumerate(run):
        assert path.condition is not None
        if path.class_ == "uninitialized-read":
            # Its condition is also about bytes that nothing defines.
            found.append(f"path {number} ends as {path.ending}: {path.message}")
            continue
        inside = evaluator.script(path.condition)
        owners += inside
        if path.kind == "exit":
            # A signal that ends the program is predicted as the status that a shell shows.
            wrong = inside & (np.where(native < 0, 128 - native, native) != path.status)
        elif path.kind == "bug":
            signals = [-int(signal) for signal in _SIGNALS.get(path.class_ or "", ())]
            if sanitized and path.class_ not in ("assert", "abort"):
                signals = [REPORTED]
            wrong = inside & ~np.isin(native, signals) if signals else inside & False
            unseen.discard(path.class_ or "")
            if not signals and path.class_ not in hidden:
                found.append(f"path {number} ends as {path.ending}, which no line `// BUG` names: {path.message}")
        else:
            found.append(f"path {number} ends as {path.ending}: {path.message}")
            continue
        for value in np.flatnonzero(wrong)[:3]:
            found.append(f"input {value:#x} is on path {number} ({path.ending}) and natively ends with {native[value]}")
    found += [f"no path ends in {class_}" for class_ in sorted(unseen)]
    if not run.complete:
        found.append(f"incomplete: {run.summary()['incomplete']}")
    elif out is not None:
        found += replayed(program, out)
    for value in np.flatnonzero(owners != 1)[:5]:
        found.append(f"input {value:#x} is on {owners[value]} paths")
    return found
