"""The layer `process`: any solver that reads SMT-LIB 2 from a file or its standard input.

`process(cmd=yices-smt2)`, or by name if the program is on PATH: `stp`, `yices-smt2`, `boolector`, `mathsat`.
Each query is a separate script with one definition per node, so that its size is linear and terms are not nested. The
same script requests the values of variables, and of arrays at the indices read or written. The child is killed at the
deadline or when the query is cancelled. The caller checks the model by evaluation.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

from partita._core import QueryView, RestView, Sat, Unknown, Unsat
from partita.backends import floats
from partita.backends.translate import ARRAY, BOOL, FUNCTIONS, Terms
from partita.errors import UsageError
from partita.layers import Answer

ALIASES = {
    "stp": ["stp", "--SMTLIB2"],
    "yices-smt2": ["yices-smt2", "--incremental"],
    "boolector": ["boolector", "--smt2", "-m"],
    "mathsat": ["mathsat", "-input=smt2"],
    "z3-binary": ["z3", "-in", "-smt2"],
    "cvc5-binary": ["cvc5", "--lang=smt2", "--produce-models"],
    "bitwuzla-binary": ["bitwuzla", "--lang", "smt2"],
}
FLOAT = 3
"""Kind of a number, beside those of nodes; its widths are the bits of exponent and significand."""
INDEXED = ("extract", "zero_extend", "sign_extend")
POLL_SECONDS = 0.02
"""Interval between checks of a running child."""


class ScriptBuilder:
    """Builds names. The definition of each name is a line of a script, which depends on other lines."""

    # The formats in which none of the solvers errs that are tested.
    min_exponent = 4
    integral_formats: frozenset[tuple[int, int]] | None = floats.IN_USE
    min_significand = 3

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self.needs: dict[str, tuple[str, ...]] = {}
        self.sorts: dict[str, str] = {}
        self.widths: dict[str, tuple[int, int, int]] = {}
        # Array and index of each select and store, for the values of arrays in a model.
        self.accesses: dict[str, tuple[str, str]] = {}
        self.functions: dict[str, Callable[..., str]] = {}
        for name in FUNCTIONS:
            self.functions[name] = self._indexed(name) if name in INDEXED else self._plain(name)
        for name in floats.FUNCTIONS:
            self.functions[name] = self._float(name)
        for name in floats.CONVERSIONS:
            self.functions[name] = self._conversion(name)

    def _define(self, shape: tuple[int, int, int], body: str, needs: tuple[str, ...]) -> str:
        name = f"n{len(self.lines)}"
        self.lines[name] = f"(define-fun {name} () {sort_text(*shape)} {body})"
        self.needs[name] = needs
        self.widths[name] = shape
        return name

    def _plain(self, function: str) -> Callable[..., str]:
        def make(*args: str) -> str:
            name = self._define(self._result(function, args), f"({function} {' '.join(args)})", args)
            if function in ("select", "store"):
                self.accesses[name] = (args[0], args[1])
            return name

        return make

    def _indexed(self, function: str) -> Callable[..., str]:
        def make(*args: int | str) -> str:
            indices, arg = [int(index) for index in args[:-1]], str(args[-1])
            width = self.widths[arg][1]
            shape = (1, indices[0] - indices[1] + 1 if function == "extract" else width + indices[0], 0)
            return self._define(shape, f"((_ {function} {' '.join(map(str, indices))}) {arg})", (arg,))

        return make

    def _float(self, function: str) -> Callable[..., str]:
        def make(*args: str) -> str:
            shape = (BOOL, 1, 0) if function in ("fp.lt", "fp.leq", "fp.eq", "fp.isNaN") else self.widths[args[-1]]
            return self._define(shape, f"({function} {' '.join(args)})", names(args))

        return make

    def _conversion(self, function: str) -> Callable[..., str]:
        to_integer = function in ("fp.to_ubv", "fp.to_sbv")
        # `to_fp` has one name for three of its forms.
        name = function if to_integer or function == "to_fp_unsigned" else "to_fp"

        def make(*args: int | str) -> str:
            count = 1 if to_integer else 2
            indices, operands = [int(index) for index in args[:count]], [str(arg) for arg in args[count:]]
            shape = (1, indices[0], 0) if to_integer else (FLOAT, indices[0], indices[1])
            body = f"((_ {name} {' '.join(map(str, indices))}) {' '.join(operands)})"
            return self._define(shape, body, names(tuple(operands)))

        return make

    def rounding(self, mode: str) -> str:
        return mode

    def fresh_word(self, width: int, name: str, exponent: int, significand: int, number: str) -> str:
        word = self._define((1, width, 0), "", (number,))
        definition = f"(assert (= ((_ to_fp {exponent} {significand}) {word}) {number}))"
        self.lines[word] = f"(declare-fun {word} () (_ BitVec {width}))\n{definition}"
        return word

    def _result(self, function: str, args: tuple[str, ...]) -> tuple[int, int, int]:
        first = self.widths[args[0]]
        if function in ("=", "bvult", "bvule", "bvslt", "bvsle", "not", "and", "or", "xor"):
            return BOOL, 1, 0
        if function == "ite":
            return self.widths[args[1]]
        if function == "concat":
            return 1, first[1] + self.widths[args[1]][1], 0
        if function == "select":
            return 1, first[1], 0
        return first

    def boolean(self, value: bool) -> str:
        return self._define((BOOL, 1, 0), "true" if value else "false", ())

    def constant(self, value: int, width: int) -> str:
        return self._define((1, width, 0), f"#b{value:0{width}b}", ())

    def variable(self, name: str, kind: int, width: int, index_width: int) -> str:
        shape = (kind, width, index_width)
        number = self._define(shape, "", ())
        self.lines[number] = f"(declare-fun {number} () {sort_text(*shape)})"
        return number

    def const_array(self, element: str, index_width: int, width: int) -> str:
        shape = (ARRAY, width, index_width)
        return self._define(shape, f"((as const {sort_text(*shape)}) {element})", (element,))

    def dependencies(self, roots: list[str]) -> list[str]:
        """All names that the roots depend on, in the order of their definition."""
        seen: set[str] = set()
        stack = list(roots)
        while stack:
            name = stack.pop()
            if name not in seen:
                seen.add(name)
                stack.extend(self.needs[name])
        return sorted(seen, key=lambda name: int(name[1:]))


def sort_text(kind: int, width: int, index_width: int) -> str:
    if kind == BOOL:
        return "Bool"
    if kind == ARRAY:
        return f"(Array (_ BitVec {index_width}) (_ BitVec {width}))"
    if kind == FLOAT:
        return f"(_ FloatingPoint {width} {index_width})"
    return f"(_ BitVec {width})"


def names(args: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments without rounding modes."""
    return tuple(arg for arg in args if arg not in floats.ROUNDING_MODES)


class ProcessBackend:
    complete = True

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self.command = command
        self.counters: dict[str, float] = {"translate_s": 0.0, "solve_s": 0.0, "nodes": 0, "restarts": 0}
        self._terms: Terms | None = None

    def forget(self) -> None:
        self._terms = None
        self.counters["restarts"] += 1

    def check(self, query: QueryView, rest: RestView) -> Answer:
        start = time.monotonic()
        deadline = None if query.seconds is None else start + query.seconds
        if self._terms is None:
            self._terms = Terms(ScriptBuilder())
        terms = self._terms
        terms.update(query)
        self.counters["nodes"] += len(query.nodes) // 32
        requested, script = write_script(query, terms)
        written = time.monotonic()
        self.counters["translate_s"] += written - start
        output = self._run(query, script, deadline)
        self.counters["solve_s"] += time.monotonic() - written
        return output if isinstance(output, Unknown) else read_answer(query, terms, requested, output)

    def _run(self, query: QueryView, script: str, deadline: float | None) -> str | Unknown:
        try:
            child = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
        except OSError as error:
            return Unknown(f"cannot start {self.command[0]}: {error.strerror}")
        result: list[tuple[str, str]] = []
        # A thread writes and reads the pipes, so that this one can check deadline and cancellation.
        worker = threading.Thread(target=lambda: result.append(communicate(child, script)), daemon=True)
        worker.start()
        why = None
        while worker.is_alive() and why is None:
            worker.join(POLL_SECONDS)
            if query.cancelled():
                why = "canceled"
            elif deadline is not None and time.monotonic() >= deadline:
                why = "timeout"
        if worker.is_alive():
            child.kill()
            worker.join()
            return Unknown(why or "canceled")
        output, errors = result[0]
        if output.strip():
            return output
        words = " ".join(errors.split())[-200:] or "nothing on standard error"
        return Unknown(f"{self.command[0]} ended with status {child.returncode} and no answer: {words}")


def communicate(child: subprocess.Popen[str], script: str) -> tuple[str, str]:
    # A child that ends early closes its input; its output is still used.
    try:
        return child.communicate(script)
    except BrokenPipeError:
        return child.communicate()


RequestedValues = list[tuple[int, str | None, str]]
"""Values of a model: variable, name of the index (for an element of an array), name whose value is requested."""


def write_script(query: QueryView, terms: Terms) -> tuple[RequestedValues, str]:
    builder = terms.builder
    assert isinstance(builder, ScriptBuilder)
    roots = [terms.term(number) for number in (*query.constraints, query.condition)]
    dependencies = builder.dependencies(roots)
    logic = "QF_ABVFP" if any(builder.widths[name][0] == FLOAT for name in dependencies) else "QF_ABV"
    requested: RequestedValues = []
    arrays: list[tuple[int, str]] = []
    for number in query.variables:
        name, kind, _, _ = terms.variables[number]
        if kind == ARRAY:
            arrays.append((number, name))
        else:
            requested.append((number, None, name))
    extra: list[str] = []
    for number, name in arrays:
        shape = builder.widths[name]
        indices = {
            builder.accesses[at][1] for at in dependencies if at in builder.accesses and may_access(builder, at, shape)
        }
        for index in sorted(indices, key=lambda at: int(at[1:])):
            element = f"v{number}_{index}"
            extra.append(f"(define-fun {element} () (_ BitVec {shape[1]}) (select {name} {index}))")
            requested.append((number, index, element))
    lines = ["(set-option :produce-models true)", f"(set-logic {logic})"]
    lines += [builder.lines[name] for name in dependencies]
    lines += extra
    lines += [f"(assert {root})" for root in roots]
    lines.append("(check-sat)")
    names = {name for _, index, element in requested for name in (index, element) if name}
    # One at a time: the format of long lists differs between solvers.
    lines += [f"(get-value ({name}))" for name in sorted(names)]
    lines.append("(exit)")
    return requested, "\n".join(lines) + "\n"


def may_access(builder: ScriptBuilder, access: str, shape: tuple[int, int, int]) -> bool:
    """Whether this access may be to an array of that shape. Stores and `ite` are not followed."""
    array = builder.accesses[access][0]
    return builder.widths[array] == shape


VALUE = re.compile(r"\(\s*\(\s*(\S+)\s+(#b[01]+|#x[0-9a-fA-F]+|\(_ bv(?P<decimal>\d+) \d+\)|true|false)\s*\)\s*\)")


def read_answer(query: QueryView, terms: Terms, requested: RequestedValues, output: str) -> Answer:
    verdict, _, rest = output.strip().partition("\n")
    verdict = verdict.strip()
    if verdict == "unsat":
        return Unsat(query.constraints, True)
    if verdict == "unknown":
        return Unknown("the solver answered unknown")
    if verdict != "sat":
        return Unknown(f"expected sat, unsat or unknown, found {verdict[:200]!r}")
    values = dict(read_values(rest))
    missing = [name for _, index, element in requested for name in (index, element) if name and name not in values]
    if missing:
        return Unknown(f"expected a value of {missing[0]} after sat, found {rest[:200]!r}")
    model: dict[int, bool | int | tuple[int, dict[int, int]]] = {}
    for number, index, name in requested:
        if index is None:
            is_bool = terms.variables[number][1] == BOOL
            model[number] = bool(values[name]) if is_bool else values[name]
        else:
            array = model.setdefault(number, (0, {}))
            assert isinstance(array, tuple)
            array[1][values[index]] = values[name]
    return Sat(model)


def read_values(text: str) -> Iterator[tuple[str, int]]:
    for match in VALUE.finditer(text):
        name, value = match.group(1), match.group(2)
        if value in ("true", "false"):
            yield name, int(value == "true")
        elif value.startswith("#"):
            yield name, int(value[2:], 2 if value[1] == "b" else 16)
        else:
            yield name, int(match.group("decimal"))


def make(name: str, options: dict[str, str]) -> ProcessBackend:
    if name in ALIASES:
        if options:
            raise UsageError(f"expected `{name}` without options: write process(cmd=...) to give a command")
        command = ALIASES[name]
    else:
        unknown = sorted(set(options) - {"cmd"})
        if unknown or "cmd" not in options:
            found = unknown[0] if unknown else "none"
            raise UsageError(f"expected the option cmd=COMMAND for `process`, found {found}")
        command = shlex.split(options["cmd"])
        if len(command) == 1 and command[0] in ALIASES:
            command = ALIASES[command[0]]
    if not command or shutil.which(command[0]) is None:
        raise UsageError(
            f"the layer `{name}` needs a program that is not on PATH: {command[0] if command else '(none)'}"
        )
    return ProcessBackend(name, command)
