"""Assumptions about the caller of a function: conditions on its inputs under which a bug happens.

From the path conditions D of the paths into a bug: first the conditions over single inputs and pairs of them that D
implies (`list == NULL`, `n >= 9`, `length < capacity`). If they imply D in turn, the bug happens whenever they hold,
and those that are not needed for that are removed one by one: what is left is a smallest set. A bug with an empty set
happens in every call: it is *certain*.

Every answer is the solver's own: an `unknown`, or no time left, counts as "not implied".
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from partita import _core
from partita.entry.debug_info import Array, Pointer, Record, Scalar, Signature, Type, size_of
from partita.entry.driver import Bounds, extent
from partita.entry.graph import Edge, edges
from partita.solver import DEFAULT_LAYERS, resolve

MAX_PATHS = 32
"""Paths into one bug whose conditions are looked at."""
MAX_NUMBERS = 24
MAX_RELATED = 10
"""Numbers that are compared with each other."""
MAX_SHOWN = 8
"""Conditions in a message; `run.json` has all."""
TIMEOUT_S = 1.0
NO_TERMINATOR = " has no terminator"
_LOCAL = re.compile(r"\?(\d+)")


@dataclass(frozen=True)
class Assumptions:
    """Conditions on what a caller passes for a bug to happen."""

    conditions: tuple[str, ...]
    """Conditions in C."""
    suffices: bool
    """Does the bug happen whenever they hold? Otherwise they hold on every path that was found."""
    others: bool = False
    """Were there more paths into the bug than were looked at?"""

    @property
    def certain(self) -> bool:
        return self.suffices and not self.conditions

    def __str__(self) -> str:
        if self.certain:
            return "certain: every call ends there"
        if not self.conditions:
            return "depends on the input in a way that no single condition describes"
        if self.suffices:
            kind, more = "whenever", ", and on other inputs" if self.others else ""
        else:
            kind, more = f"on the first {MAX_PATHS} paths found:" if self.others else "on every path found:", ""
        left = len(self.conditions) - MAX_SHOWN
        shown = " && ".join(self.conditions[:MAX_SHOWN]) + (f" && {left} more" if left > 0 else "")
        return f"{kind} {shown}{more}"


class Atom(NamedTuple):
    """A condition in C and in SMT-LIB."""

    text: str
    formula: str
    is_vague: bool = False
    """A bound that leaves out less than one value in 256."""


class Number(NamedTuple):
    """An integer of the input."""

    name: str
    term: str
    size: int
    signed: bool
    value: int
    is_text: bool

    def compared(self, operator: str) -> Atom:
        """A comparison (`==`, `>=`, `<=`) with its value."""
        letter = "s" if self.signed else "u"
        function = {"==": "=", ">=": f"bv{letter}ge", "<=": f"bv{letter}le"}[operator]
        bits = 8 * self.size
        constant = f"(_ bv{self.value % (1 << bits)} {bits})"
        return Atom(f"{self.name} {operator} {_c(self)}", f"({function} {self.term} {constant})")


def quoted(name: str) -> str:
    """A name as a symbol of SMT-LIB."""
    plain = re.fullmatch(r"[A-Za-z~!@$%^&*_+=<>.?/-][0-9A-Za-z~!@$%^&*_+=<>.?/-]*", name)
    return name if plain else f"|{name}|"


def find(
    signature: Signature,
    bounds: Bounds,
    inputs: Sequence[tuple[str, bytes]],
    conditions: Sequence[str],
    deadline: float | None = None,
) -> Assumptions | None:
    """The assumptions of a bug from its first inputs and the conditions of paths into it; None without conditions.

    `deadline` is a value of `time.monotonic()`; what is not proved by then is left out.
    """
    if not conditions:
        return None
    prelude, formula = _joined(conditions, [name for name, _ in inputs])
    data = dict(inputs)
    roots = edges(signature, bounds, inputs)
    # A bug that needs no array of a number of elements is described without them.
    sized = [each for each in roots if each.first_array is not None]
    usual = f"(and true {' '.join(map(_terminated, sized))})"
    if not _Asker(prelude, formula, deadline).implies(f"(not {usual})"):
        formula = f"(and {formula} {usual})"
    else:
        usual = "true"
    pointers = list(_visible(roots))
    numbers = list(_numbers(signature, pointers, data, bounds))[:MAX_NUMBERS]
    solver = _Asker(prelude, formula, deadline)
    found = [atom for atom in (_about_pointer(each, data) for each in pointers) if solver.implies(atom.formula)]
    for number in numbers:
        found += solver.bounds(number)
    lengths = [atom for atom in _lengths(roots, numbers) if solver.implies(atom.formula)]
    counted = {atom.text.partition(" has ")[0] for atom in lengths}
    found = [atom for atom in found if atom.text.removesuffix(NO_TERMINATOR) not in counted] + lengths
    fixed = {atom.text for atom in found}
    free = [number for number in numbers if f"{number.name} == {_c(number)}" not in fixed][:MAX_RELATED]
    found += [atom for atom in _relations(free) if solver.implies(atom.formula)]
    whole = [usual, *_well_formed(roots, signature, data)]
    suffices = solver.implied_by([*whole, *(atom.formula for atom in found)])
    if suffices:
        for atom in list(found):
            rest = [each for each in found if each is not atom]
            if solver.implied_by([*whole, *(each.formula for each in rest)]):
                found = rest
    if not suffices and all(atom.is_vague for atom in found):
        some = _sufficient(solver, whole, [_about_pointer(each, data) for each in pointers], numbers)
        if some:
            return Assumptions(tuple(atom.text for atom in some), suffices=True, others=True)
    return Assumptions(tuple(atom.text for atom in found), suffices)


def _sufficient(
    solver: _Asker, whole: Sequence[str], pointers: Sequence[Atom], numbers: Sequence[Number]
) -> list[Atom]:
    """Conditions of the first input that lead to the bug, which also happens on others; none if they do not suffice.

    Each integer has its value, or is at least or at most that if it may be, and what is not needed is left out.
    """
    found = {atom.text: atom for atom in (*pointers, *(number.compared("==") for number in numbers))}
    weaker = {number.compared("==").text: number for number in numbers}
    if not solver.implied_by([*whole, *(atom.formula for atom in found.values())]):
        return []
    for text in list(found):
        others = [atom.formula for name, atom in found.items() if name != text]
        number = weaker.get(text)
        options = [None, *([] if number is None else [number.compared(">="), number.compared("<=")])]
        for option in options:
            if solver.implied_by([*whole, *others, *([] if option is None else [option.formula])]):
                del found[text]
                if option is not None:
                    found[option.text] = option
                break
    return list(found.values())


def _joined(conditions: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """Declarations and definitions of all scripts, and the disjunction of their assertions."""
    declared = {f"(declare-fun {quoted(name)} () (Array (_ BitVec 32) (_ BitVec 8)))": None for name in names}
    definitions: list[str] = []
    paths: list[str] = []
    for i, script in enumerate(conditions):
        asserted = []
        for line in script.splitlines():
            renamed = _LOCAL.sub(rf"?{i}_\1", line)
            if line.startswith("(declare-fun"):
                declared[line] = None
            elif line.startswith("(define-fun"):
                definitions.append(renamed)
            elif line.startswith("(assert "):
                asserted.append(renamed.removeprefix("(assert ").removesuffix(")"))
        paths.append(f"(and true {' '.join(asserted)})")
    return "\n".join([*declared, *definitions]), f"(or false {' '.join(paths)})"


def _visible(roots: Sequence[Edge]) -> Iterator[Edge]:
    """Pointers that the function can get at, each once."""
    seen: set[str] = set()
    pending = list(roots)
    while pending:
        edge = pending.pop(0)
        yield edge
        if isinstance(edge.target, Edge) and edge.target.name not in seen:
            seen.add(edge.target.name)
            pending += edge.target.inner


def _byte(name: str, at: int) -> str:
    return f"(select {quoted(name)} #x{at:08x})"


def _terminated(edge: Edge) -> str:
    """The pointer leads to no array of a number of elements."""
    return f"(bvult {_byte(edge.key, 0)} #x{edge.first_array:02x})"


def _lengths(roots: Sequence[Edge], numbers: Sequence[Number]) -> Iterator[Atom]:
    """Comparisons of integers with the numbers of elements of arrays."""
    for edge in roots:
        if edge.first_array is None or edge.target == "NULL" or (edge.is_text and edge.elements is None):
            continue
        choice, elements = _byte(edge.key, 0), 1 if edge.elements is None else edge.elements
        for number in numbers:
            # That an array has more elements than some number says nothing about a read behind its end.
            if number.size < 4 or number.value < elements:
                continue
            count = f"(bvsub {choice} #x{edge.first_array:02x})"
            if edge.is_text:
                there, what = f"(not {_terminated(edge)})", " and no terminator"
            else:
                # An object of its own, or of another pointer, is an array of one element.
                there, what = f"(not (= {choice} #x00))", ""
                count = f"(ite {_terminated(edge)} #x01 {count})"
            operator, words = "=", ""
            if number.value > elements:
                operator, words = "bvsgt" if number.signed else "bvugt", "fewer than "
            yield Atom(
                f"{edge.name} has {words}{number.name} elements{what}",
                f"(and {there} ({operator} {number.term} ((_ zero_extend {8 * (number.size - 1)}) {count})))",
            )


def _about_pointer(edge: Edge, data: dict[str, bytes]) -> Atom:
    choice = _byte(edge.key, 0)
    if edge.elements is not None and edge.is_text:
        return Atom(edge.name + NO_TERMINATOR, f"(bvuge {choice} #x{edge.first_array:02x})")
    if edge.target == "NULL":
        return Atom(f"{edge.name} == NULL", f"(= {choice} #x00)")
    if isinstance(edge.target, Edge) and edge.target is not edge:
        return Atom(f"{edge.name} == {edge.target.name}", f"(= {choice} #x{data[edge.key][0]:02x})")
    return Atom(f"{edge.name} != NULL", f"(not (= {choice} #x00))")


def _numbers(
    signature: Signature, pointers: Sequence[Edge], data: dict[str, bytes], bounds: Bounds
) -> Iterator[Number]:
    for parameter in signature.parameters:
        if parameter.name in data and not isinstance(parameter.type, Pointer):
            yield from _parts(parameter.type, parameter.name, parameter.name, 0, data[parameter.name])
    for edge in pointers:
        contents = data.get(f"*{edge.name}")
        if edge.target is not edge or contents is None or edge.type is None or isinstance(edge.type, Pointer):
            continue
        size, count, _ = extent(edge.type, bounds)
        for i in range(count):
            name = f"{edge.name}[{i}]" if count > 1 else f"(*{edge.name})"
            yield from _parts(edge.type, name, f"*{edge.name}", i * size, contents)


def _parts(type_: Type, name: str, array: str, at: int, data: bytes) -> Iterator[Number]:
    """Integers inside a value."""
    match type_:
        case Scalar(size=size, encoding=encoding) if encoding in ("signed", "unsigned", "enum") and size <= 8:
            part = data[at : at + size]
            term = (
                _byte(array, at)
                if size == 1
                else f"(concat {' '.join(_byte(array, at + i) for i in reversed(range(size)))})"
            )
            signed = encoding != "unsigned"
            value = int.from_bytes(part, "little", signed=signed)
            yield Number(name, term, size, signed, value, type_.name == "char")
        case Array(element=element, count=count):
            for i in range(min(count, 8)):
                yield from _parts(element, f"{name}[{i}]", array, at + i * size_of(element), data)
        case Record(is_union=False, members=members):
            base = name[2:-1] + "->" if name.startswith("(*") else name + "."
            for member in members:
                yield from _parts(member.type, base + member.name, array, at + member.offset, data)


def _relations(numbers: Sequence[Number]) -> Iterator[Atom]:
    """Comparisons of two integers of one type, as they are in the input."""
    for i, a in enumerate(numbers):
        for b in numbers[i + 1 :]:
            if (a.size, a.signed) != (b.size, b.signed):
                continue
            small, large = (a, b) if a.value <= b.value else (b, a)
            letter = "s" if a.signed else "u"
            if a.value == b.value:
                yield Atom(f"{a.name} == {b.name}", f"(= {a.term} {b.term})")
            else:
                yield Atom(f"{small.name} < {large.name}", f"(bv{letter}lt {small.term} {large.term})")


def _well_formed(roots: Sequence[Edge], signature: Signature, data: dict[str, bytes]) -> Iterator[str]:
    """Guarantees of the driver: a pointer is one of its choices, and a `bool` 0 or 1."""
    pending = list(roots)
    while pending:
        edge = pending.pop(0)
        if edge.key not in data:
            continue
        yield f"(bvult {_byte(edge.key, 0)} #x{edge.choices:02x})"
        pending += edge.inner + edge.seen + edge.unseen
    for parameter in signature.parameters:
        if isinstance(parameter.type, Scalar) and parameter.type.encoding == "boolean":
            yield f"(bvule {_byte(parameter.name, 0)} #x01)"


def _c(number: Number, value: int | None = None) -> str:
    shown = number.value if value is None else value
    return f"'{chr(shown)}'" if number.is_text and 32 < shown < 127 and chr(shown) not in "'\\" else str(shown)


class _Asker:
    """Queries about one disjunction of path conditions, in one session."""

    def __init__(self, prelude: str, formula: str, deadline: float | None) -> None:
        self._deadline = deadline
        spec, make = resolve(None)
        self._script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, TIMEOUT_S, None)
        self._replies: list[str] = []
        self._send(f"(set-logic QF_ABV)\n{prelude}\n(define-fun found () Bool {formula})\n")

    def _send(self, text: str) -> list[str]:
        before = len(self._replies)
        self._script.run(text.encode(), False, self._replies.append)
        return "".join(self._replies[before:]).split()

    def _unsat(self, *formulas: str) -> bool:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return False
        asserted = "\n".join(f"(assert {each})" for each in formulas)
        return self._send(f"(push 1)\n{asserted}\n(check-sat)\n(pop 1)\n")[-1:] == ["unsat"]

    def implies(self, formula: str) -> bool:
        """Does the formula hold on every path?"""
        return self._unsat("found", f"(not {formula})")

    def implied_by(self, formulas: Sequence[str]) -> bool:
        """Do these formulas lead to the bug?"""
        return self._unsat("(not found)", *formulas)

    def bounds(self, number: Number) -> list[Atom]:
        """The value of an integer, or its least and greatest one where they are not those of its type."""
        bits = 8 * number.size
        letter = "s" if number.signed else "u"

        def constant(value: int) -> str:
            return f"(_ bv{value % (1 << bits)} {bits})"

        if self.implies(f"(= {number.term} {constant(number.value)})"):
            return [Atom(f"{number.name} == {_c(number)}", f"(= {number.term} {constant(number.value)})")]
        least = -(1 << (bits - 1)) if number.signed else 0
        greatest = least + (1 << bits) - 1
        found = []
        low, high = least, number.value
        if low < high and not self.implies(f"(not (= {number.term} {constant(least)}))"):
            high = low  # most inputs have no bound
        # The greatest bound that holds on every path: it holds for `least`, and not beyond the value of a path.
        while low < high:
            middle = (low + high + 1) // 2
            if self.implies(f"(bv{letter}ge {number.term} {constant(middle)})"):
                low = middle
            else:
                high = middle - 1
        if low > least:
            vague = 256 * (low - least) < greatest - least
            formula = f"(bv{letter}ge {number.term} {constant(low)})"
            found.append(Atom(f"{number.name} >= {_c(number, low)}", formula, vague))
        low, high = number.value, greatest
        if low < high and not self.implies(f"(not (= {number.term} {constant(greatest)}))"):
            low = high
        while low < high:
            middle = (low + high) // 2
            if self.implies(f"(bv{letter}le {number.term} {constant(middle)})"):
                high = middle
            else:
                low = middle + 1
        if high < greatest:
            vague = 256 * (greatest - high) < greatest - least
            formula = f"(bv{letter}le {number.term} {constant(high)})"
            found.append(Atom(f"{number.name} <= {_c(number, high)}", formula, vague))
        return found
