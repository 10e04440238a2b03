"""Lowering of a module: symbols, globals, aliases, constructors, source positions. Functions are in `function`.

A symbol gets its number at its first use, so that unused declarations do not appear in the program.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from partita.errors import UsageError
from partita.llvm import arith, calls, control, exceptions, memory, vectors
from partita.llvm.constants import Linear, parse_constant
from partita.llvm.function import Handler, Lowering
from partita.llvm.initializer import Initializer
from partita.llvm.positions import Positions
from partita.llvm.target import check_target, is_narrow_target
from partita.llvm.tokens import Cursor, UnsupportedError, tokens_of, unquote
from partita.llvm.types import Type, Types
from partita.llvm.write import INTERNAL, STRONG, WEAK, Address, FunctionRecord, GlobalRecord, Operand, Writer

_HANDLERS: dict[str, Handler] = {
    **arith.HANDLERS,
    **memory.HANDLERS,
    **control.HANDLERS,
    **vectors.HANDLERS,
    **calls.HANDLERS,
    **exceptions.HANDLERS,
}
_LINKAGES = {
    "private": INTERNAL,
    "internal": INTERNAL,
    "weak": WEAK,
    "weak_odr": WEAK,
    "linkonce": WEAK,
    "linkonce_odr": WEAK,
    "common": WEAK,
    "extern_weak": WEAK,
}
_GLOBAL_KINDS = frozenset(("global", "constant", "alias", "ifunc"))
_FUNCTION_NAME = re.compile(r'@("[^"]*"|[-\w.$]+)\(')
# The error of SV-COMP's tasks is that these are called, whatever a definition does.
_ERROR_FUNCTIONS = frozenset(("reach_error", "__VERIFIER_error"))
_RUST = "_R"  # what mangled names of Rust begin with
_DEBUG = re.compile(r"!dbg !(\d+)")


class Parameter(NamedTuple):
    name: str
    type: Type
    by_value: Type | None
    align: int


class Module:
    """One module being lowered."""

    def __init__(self, text: str, library: tuple[str, ...] = ()) -> None:
        self._library = library
        self.types = Types()
        self.writer = Writer()
        self._lines = text.split("\n")
        self._global_lines: dict[str, str] = {}
        self._function_lines: dict[str, str] = {}
        self._bodies: dict[str, tuple[int, int]] = {}
        self._positions = Positions(library)
        self._symbols: dict[str, Address] = {}
        self._pending_values: list[tuple[GlobalRecord, Cursor, Type]] = []  # initial values not yet written
        self._absolute: dict[int, int] = {}  # tables of distances, and those of addresses that replace them
        self._labels: dict[str, dict[str, int]] = {}
        self._locs: dict[int, int] = {-1: 0}
        self._places: dict[int, str] = {}
        self._type_numbers: dict[Operand, int] = {}
        self._scan()

    def lower(self) -> bytes:
        names = [
            name for name, line in self._global_lines.items() if not line.startswith((" external ", " extern_weak "))
        ]
        for name in [*self._bodies, *names]:
            if not name.startswith("llvm."):
                self.symbol_address(name)
        self._structors("llvm.global_ctors", self.writer.constructors)
        self._structors("llvm.global_dtors", self.writer.destructors)
        for name, (start, end) in self._bodies.items():
            self._lower_function(name, start, end)
        self._fill_globals()
        return self.writer.bytes()

    def _scan(self) -> None:
        """Sorts the lines of the module into globals, functions, types and metadata."""
        lines = self._lines
        at, end = 0, len(lines)
        while at < end:
            line = lines[at]
            at += 1
            first = line[:1]
            if first == "!":
                self._positions.add(line)
            elif first == "@":
                name, _, rest = line.partition(" = ")
                self._global_lines[unquote(name)] = " " + rest
            elif first == "%":
                name, _, rest = line.partition(" = type ")
                self.types.declare(name, rest)
            elif first == "d":
                name = self._function_of(line)
                self._function_lines[name] = line
                if line.startswith("define "):
                    start = at
                    at = lines.index("}", start)
                    if " available_externally " not in line and name not in _ERROR_FUNCTIONS:
                        self._bodies[name] = (start, at)
            elif line.startswith("target triple"):
                self._check_target(line)

    def _function_of(self, line: str) -> str:
        found = _FUNCTION_NAME.search(line)
        if found is None:
            raise UsageError(f"expected a function in the LLVM IR, found `{line[:80]}`")
        return unquote("@" + found[1])

    def _check_target(self, line: str) -> None:
        triple = line.split('"')[1]
        check_target(triple)
        if is_narrow_target(triple):
            self.types = Types(pointer_bytes=4)
            self.writer.pointer_bytes = 4

    def type_number(self, typeinfo: Operand) -> int:
        """The number of a type of exceptions, from 1 on."""
        return self._type_numbers.setdefault(typeinfo, len(self._type_numbers) + 1)

    # Source positions

    def loc(self, debug: int) -> int:
        """The number of the source position that `!dbg !N` refers to."""
        found = self._locs.get(debug)
        if found is None:
            file, line, column = self._positions.position(debug)
            found = self._locs[debug] = self.writer.loc(file, line, column)
            if found:
                self._places.setdefault(found, f"{os.path.basename(file)}:{line}")
        return found

    def place(self, loc: int) -> str:
        """A position for messages, with the base name of the file, so that it does not depend on the machine."""
        return self._places.get(loc, "")

    # Symbols

    def symbol_address(self, name: str) -> Address:
        """The function or global with this name, which is added to the program at its first use."""
        found = self._symbols.get(name)
        if found is None:
            line = self._global_lines.get(name)
            found = self._enter_function(name) if line is None else self._enter_global(name, line)
        return found

    def label_address(self, function: str, label: str) -> Address:
        number = self.labels(function).get(label)
        if number is None:
            raise UnsupportedError(f"label `{label}` of function `{function}`")
        return Address(2, self.symbol_address(function).number, number)

    def labels(self, function: str) -> dict[str, int]:
        """The blocks of a function by label. An unlabelled entry block has the number after the unnamed parameters."""
        found = self._labels.get(function)
        if found is None:
            found = self._labels[function] = {}
            start, end = self._bodies.get(function, (0, 0))
            entry = True
            for at in range(start, end):
                line = self._lines[at]
                if not line:
                    continue
                if line[0] != " " and line[0] != ";":
                    label = line[: line.index('":') + 1] if line[0] == '"' else line[: line.index(":")]
                    found[unquote(label)] = len(found)
                elif entry:
                    found[str(self._unnamed_parameters(function))] = 0
                entry = False
        return found

    def _unnamed_parameters(self, function: str) -> int:
        cursor = self._signature_cursor(function)
        try:
            _, parameters, _ = self._signature(cursor)
        except UnsupportedError:
            return 0  # the whole function is unsupported
        return sum(1 for parameter in parameters if parameter.name[1:].isdigit())

    def library_function(self, name: str, result: Type, parameters: list[Type]) -> int:
        """The C function that implements an intrinsic."""
        found = self._symbols.get(name)
        if found is None and name in self._function_lines:
            found = self.symbol_address(name)
        if found is None:
            record = FunctionRecord(name, params=len(parameters), widths=[type_.width for type_ in parameters])
            record.results = [leaf.width for _, leaf in result.leaves]
            found = self._add_function(record)
        if found.kind != 1:
            raise UnsupportedError(f"`{name}`, which is not a function in this program")
        return found.number

    def _add_function(self, record: FunctionRecord) -> Address:
        self.writer.functions.append(record)
        address = self._symbols[record.name] = Address(1, len(self.writer.functions) - 1, 0)
        return address

    def _enter_function(self, name: str) -> Address:
        line = self._function_lines.get(name)
        if line is None:
            raise UnsupportedError(f"symbol `{name}`")
        record = FunctionRecord(name)
        address = self._add_function(record)
        words = line[: line.index("@")].split()
        record.linkage = next((_LINKAGES[word] for word in words if word in _LINKAGES), STRONG)
        if name not in self._bodies:
            try:
                result, parameters, record.variadic = self._signature(self._signature_cursor(name))
                record.results = [leaf.width for _, leaf in result.leaves]
                record.widths = [leaf.width for parameter in parameters for _, leaf in parameter.type.leaves]
            except UnsupportedError:
                record.results, record.widths = [], []  # calls of it are unsupported too
            record.params = len(record.widths)
        return address

    def _signature_cursor(self, name: str) -> Cursor:
        return Cursor(tokens_of(self._function_lines[name]))

    def _signature(self, cursor: Cursor) -> tuple[Type, list[Parameter], bool]:
        """The result type, the parameters (with their names, if any) and whether the function is variadic."""
        cursor.next()
        while not self.types.is_start(cursor.peek()):
            cursor.next()
            cursor.skip_group()
        result = self.types.parse(cursor)
        cursor.next()
        cursor.expect("(")
        parameters: list[Parameter] = []
        variadic = False
        while not cursor.accept(")"):
            if parameters:
                cursor.accept(",")
            if cursor.accept("..."):
                variadic = True
                continue
            parameters.append(self._parameter(cursor))
        return result, parameters, variadic

    def _parameter(self, cursor: Cursor) -> Parameter:
        type_ = self.types.parse(cursor)
        name, by_value, align = "", None, type_.align
        while cursor.peek() not in (",", ")"):
            token = cursor.next()
            if token[0] == "%":
                name = token
            elif token == "byval":
                cursor.expect("(")
                by_value = self.types.parse(cursor)
                cursor.expect(")")
                align = by_value.align
            elif token == "align" and cursor.peek().isdigit():
                align = cursor.number()
            else:
                cursor.skip_group()
        return Parameter(name, type_, by_value, align)

    def _lower_function(self, name: str, start: int, end: int) -> None:
        number = self.symbol_address(name).number
        record = self.writer.functions[number]
        line = self._function_lines[name]
        debug = _DEBUG.search(line)
        record.loc = self.loc(int(debug[1])) if debug else 0
        if debug is not None:
            record.library = self._positions.position(int(debug[1]))[0].startswith(self._library)
        else:
            record.library = name.startswith(_RUST)  # parts of its library have no positions
        lowering = Lowering(self, record, self.labels(name))
        lowering.is_plain = debug is not None and not self._positions.is_optimized(int(debug[1]))
        try:
            result, parameters, record.variadic = self._signature(self._signature_cursor(name))
            record.results = [leaf.width for _, leaf in result.leaves]
            passed = [parameter.type for parameter in parameters if parameter.by_value is None]
            record.integers = len(passed) == len(parameters) and all(map(self.types.is_word, passed))
            record.integers &= self.types.is_word(result) or not result.leaves
            record.signed_result = " signext " in line[: line.index("@")]
            for parameter in parameters:
                lowering.parameter(*parameter)
        except UnsupportedError as error:
            lowering.unsupported_signature(str(error))
            return
        lowering.body(self._lines[start:end], _HANDLERS)

    # Globals

    def _enter_global(self, name: str, line: str) -> Address:
        cursor = Cursor(tokens_of(line))
        words: list[str] = []
        while cursor.peek() not in _GLOBAL_KINDS:
            words.append(cursor.next())
            cursor.skip_group()
        kind = cursor.next()
        linkage = next((_LINKAGES[word] for word in words if word in _LINKAGES), STRONG)
        if kind == "ifunc":  # resolved at run time: only the name is known
            return self._add_function(FunctionRecord(name, linkage))
        type_ = self.types.parse(cursor)
        if kind == "alias":
            return self._enter_alias(name, linkage, cursor)
        record = GlobalRecord(name, linkage, readonly=kind == "constant", thread_local="thread_local" in words)
        address = self._symbols[name] = Address(0, len(self.writer.globals), 0)
        self.writer.globals.append(record)
        record.size, record.align = type_.size, type_.align
        record.element_bytes = type_.element_bytes if type_.sized else 0
        if not any(word in words for word in ("external", "extern_weak", "available_externally")):
            record.defined = True
            self._pending_values.append((record, cursor, type_))
        tokens = cursor.tokens
        for at in range(len(tokens) - 3, 0, -1):
            if tokens[at] == "align" and tokens[at - 1] == "," and tokens[at + 1].isdigit():
                record.align = int(tokens[at + 1])
                break
        return address

    def _fill_globals(self) -> None:
        """Writes initial values. Not done recursively: globals refer to each other in chains of any length."""
        while self._pending_values:
            record, cursor, type_ = self._pending_values.pop()
            initial = Initializer(self)
            try:
                initial.fill(cursor, type_, 0)
            except (UnsupportedError, ValueError) as error:
                record.unsupported = f"{error} in the initial value of `{record.name}`"
            else:
                record.data = bytes(initial.data)
                record.relocs = initial.relocs

    def absolute_table(self, number: int) -> int | None:
        """Table of the addresses that a constant table of distances to itself means; None if it has anything else."""
        if number not in self._absolute:
            self._fill_globals()
            table = self.writer.globals[number]
            distances = [
                (at, plus) for at, size, plus, minus in table.relocs if (size, minus) == (4, Address(0, number, 0))
            ]
            if not table.readonly or not table.defined or 4 * len(distances) != table.size:
                return None
            relocs: list[tuple[int, int, Address, Address | None]] = [(2 * at, 8, plus, None) for at, plus in distances]
            record = GlobalRecord(
                f"{table.name}.addresses", INTERNAL, True, True, size=2 * table.size, align=8, relocs=relocs
            )
            record.data = bytes(record.size)
            self._absolute[number] = len(self.writer.globals)
            self.writer.globals.append(record)
        return self._absolute[number]

    def _enter_alias(self, name: str, linkage: int, cursor: Cursor) -> Address:
        cursor.expect(",")
        if self.types.is_start(cursor.peek()):  # a constant expression has no type in front
            self.types.parse(cursor)
        (leaf,) = parse_constant(self, cursor, self.types.ptr)
        if not isinstance(leaf, Linear) or leaf.plus is None or leaf.minus is not None:
            raise UsageError(f"expected an address as the target of alias `{name}`, found something else")
        target = leaf.plus
        if target.kind == 1:
            function = self.writer.functions[target.number]
            number = target.number if function.alias is None else function.alias
            return self._add_function(FunctionRecord(name, linkage, alias=number))
        record = self.writer.globals[target.number]
        place = (
            (target.number, leaf.addend) if record.alias is None else (record.alias[0], record.alias[1] + leaf.addend)
        )
        address = self._symbols[name] = Address(0, len(self.writer.globals), 0)
        self.writer.globals.append(GlobalRecord(name, linkage, alias=place))
        return address

    def _structors(self, name: str, out: list[tuple[int, int]]) -> None:
        line = self._global_lines.get(name)
        if line is None:
            return
        cursor = Cursor(tokens_of(line))
        while cursor.next() != "global":
            pass
        type_ = self.types.parse(cursor)
        leaves = parse_constant(self, cursor, type_)
        for priority, function in zip(leaves[0::3], leaves[1::3], strict=True):
            if not isinstance(priority, Linear) or not isinstance(function, Linear) or function.plus is None:
                raise UsageError(f"expected functions in `{name}`, found something else")
            out.append((priority.addend, function.plus.number))
        out.sort(key=lambda entry: entry[0], reverse=name == "llvm.global_dtors")
