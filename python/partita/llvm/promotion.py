"""Local variables that promotion to registers must not touch, because it would remove an error.

LLVM's promotion (SROA) takes an access outside of a variable for one that never happens: it removes the store, and the
load may have any value. So it runs twice. Before the first run every variable is pinned, except scalars that are only
loaded and stored as such: pointers that are kept in variables become known. Then the variables whose every use is at a
known place inside of them lose their pin, and the second run promotes them. Others could rarely be promoted.

A pin is a frozen copy of the address, which promotion does not look through. Pins are removed before lowering.

What a variable loses with its pin is the record of bytes that were never written, which only memory has. So a frozen
undefined value is stored into scalars where they are allocated, and into the members of other variables that are
accessed. Without it promotion takes `x` for 1 in `int x; if (c) x = 1; if (x) ...`: LLVM may choose any value for the
path that wrote none. A frozen value is not replaced. What is left of it costs nothing: the lowering gives the frozen
value no instruction, and such stores to variables that stay in memory are removed after promotion.

Functions that call `setjmp` keep all variables in memory: after `longjmp` a register would have the value from before
`setjmp` again, where compiled code without optimisation has the one from before `longjmp`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from partita.llvm.target import is_narrow_target
from partita.llvm.tokens import Cursor, UnsupportedError, tokens_of
from partita.llvm.types import Type, Types

_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_TRIPLE = re.compile(r'^target triple = "([^"]*)"', re.M)
_NAMED_TYPE = re.compile(r"^(%\S+|%\"[^\"\n]*\") = type (.+)$", re.M)
_NAME = re.compile(r'%(?:"[^"]*"|[-\w.$]+)')
_VARIABLE = re.compile(r'^  (%(?:"[^"]*"|[-\w.$]+)) = alloca ([^\n]*?)(, align \d+)?(?:, ![^\n]*)?$', re.M)
_PIN = re.compile(r"^  %partita\.pin\.\d+ = freeze ptr ([^\n]*)\n", re.M)
_LOAD_OR_STORE = re.compile(r"^  (?:\S+ = load (\S+)|store (\S+) [^,]*), ptr ([^,\n]+)(?=[,\n]|$)")
_HARMLESS = re.compile(r"^ +(?:#dbg_|call void @llvm\.(?:lifetime\.|dbg\.)|%partita\.pin\.)")
_SCOPE = re.compile(r"^ +call void @llvm\.lifetime\.(start|end)[^\n]*ptr ([^)\n]+)\)", re.M)
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_TARGET = re.compile(r'label %("[^"]*"|[-\w.$]+)')
_RETURNING_TWICE = re.compile(r"^attributes (#\d+) = \{[^\n]*\breturns_twice\b", re.M)
_SETJMP = "@llvm.eh.sjlj.setjmp"
_DECLARATION = re.compile(r'^(?:declare|define) [^\n]*?@("[^"]*"|[-\w.$]+)\([^\n]*? (#\d+)', re.M)
_CALLEE = re.compile(r'@("[^"]*"|[-\w.$]+)\(')
_CALL = re.compile(r"^  (?:%\S+ = )?(?:tail |musttail |notail )?(?:call|invoke|callbr) [^\n]*", re.M)
_ATTRIBUTES = re.compile(r"#\d+")
_ACCESS = re.compile(r"^(  (?:\S+ = load|store) )(?!volatile |atomic )", re.M)
_BULK = re.compile(r"call void @llvm\.mem(?:cpy|move|set)\.")
_SCALAR = re.compile(r"i\d+|ptr|half|bfloat|float|double|x86_fp80|fp128")
# Numbers of 128 bits are not among them: structures are passed as such, and promotion would leave instructions that
# split the value.
_MARKED = re.compile(r"i\d\d?|ptr|half|bfloat|float|double|x86_fp80|fp128")
_MARKS = re.compile(
    r"^  (?:store [^\n]*, !partita\.unwritten ![^\n]*|%partita\.member\.\d+ = getelementptr [^\n]*)\n", re.M
)


def pin(text: str) -> str:
    """Pins the variables of all functions, except scalars that are only loaded and stored as such."""
    numbers = itertools.count()
    twice = _ReturningTwice(text)

    def pinned_function(found: re.Match[str]) -> str:
        body = found[0]
        types = dict(_variables(body))
        if not types:
            return body
        stays = twice.is_called_in(body)
        simple = set() if stays else {name for name, type_ in types.items() if _SCALAR.fullmatch(type_)}
        for line in body.splitlines():
            names = simple.intersection(_NAME.findall(line))
            if not names or _HARMLESS.match(line) or _VARIABLE.match(line):
                continue
            access = _LOAD_OR_STORE.match(line)
            if access is not None and types.get(access[3]) == (access[1] or access[2]):
                names -= {access[3]} if line.count(access[3]) == 1 else set()
            simple -= names

        def with_pin(variable: re.Match[str]) -> str:
            if variable[1] not in types or variable[1] in simple:
                return variable[0]
            return f"{variable[0]}\n  %partita.pin.{next(numbers)} = freeze ptr {variable[1]}"

        return _VARIABLE.sub(with_pin, body)

    return _FUNCTION.sub(pinned_function, text)


def unpin(text: str) -> str:
    """Frees the variables whose every use is inside of them."""
    triple = _TRIPLE.search(text)
    types = Types(pointer_bytes=4 if triple is not None and is_narrow_target(triple[1]) else 8)
    for name, definition in _NAMED_TYPE.findall(text):
        types.declare(name, definition)

    numbers = itertools.count()
    twice = _ReturningTwice(text)

    def freed(found: re.Match[str]) -> str:
        body = found[0]
        if not _PIN.search(body) or twice.is_called_in(body):
            return body
        uses = _Uses(types, body)

        def marks(pin: re.Match[str]) -> str:
            if pin[1] in uses.outside:
                return pin[0]
            return "".join(
                f"  %partita.member.{number} = getelementptr i8, ptr {pin[1]}, i64 {offset}\n"
                + _mark(f"%partita.unwritten.member.{number}", type_, f"%partita.member.{number}")
                for (offset, type_), number in zip(uses.members(pin[1]), numbers, strict=False)
            )

        return _PIN.sub(marks, body)

    return _FUNCTION.sub(freed, text)


def mark_unwritten(text: str) -> str:
    """Stores a frozen undefined value into each local variable of a scalar type where it is allocated."""
    numbers = itertools.count()

    def marked(found: re.Match[str]) -> str:
        if not _MARKED.fullmatch(found[2]):
            return found[0]
        return f"{found[0]}\n{_mark(f'%partita.unwritten.{next(numbers)}', found[2], found[1])}".removesuffix("\n")

    return _VARIABLE.sub(marked, text)


def _mark(value: str, type_: str, address: str) -> str:
    store = f"store {type_} {value}, ptr {address}, !partita.unwritten !{{}}"
    return f"  {value} = freeze {type_} undef\n  {store}\n"


def with_volatile_accesses(text: str) -> str:
    """The module with volatile accesses in functions that call `setjmp`, so that no optimisation keeps a variable in a
    register."""
    twice = _ReturningTwice(text)

    def marked(found: re.Match[str]) -> str:
        return _ACCESS.sub(r"\1volatile ", found[0]) if twice.is_called_in(found[0]) else found[0]

    return _FUNCTION.sub(marked, text)


def calls_setjmp(text: str) -> bool:
    """May a function of the module call `setjmp` or another function that returns twice?"""
    return "returns_twice" in text or _SETJMP in text


class _ReturningTwice:
    """The functions of a module that return twice, as `setjmp` does."""

    def __init__(self, text: str) -> None:
        self._is_known = calls_setjmp(text)
        self._groups = frozenset(_RETURNING_TWICE.findall(text))
        self._names = frozenset(name for name, group in _DECLARATION.findall(text) if group in self._groups)

    def is_called_in(self, body: str) -> bool:
        return self._is_known and any(self._is_call(call) for call in _CALL.findall(body))

    def _is_call(self, call: str) -> bool:
        return (
            _SETJMP in call
            or "returns_twice" in call
            or not self._groups.isdisjoint(_ATTRIBUTES.findall(call))
            or any(name in self._names for name in _CALLEE.findall(call))
        )


def without_marks(text: str) -> str:
    """Removes pins, and the stores that mark bytes as unwritten."""
    return _MARKS.sub("", _PIN.sub("", text))


def _variables(body: str) -> Iterator[tuple[str, str]]:
    """Names and types of the variables whose size is known."""
    for name, type_, _ in _VARIABLE.findall(body):
        if not re.search(r", i\d+ |^inalloca |addrspace\(", type_):
            yield name, type_


class _Uses:
    """The pinned variables of a function, and those of them with a use that is not known to be inside."""

    def __init__(self, types: Types, body: str) -> None:
        self.types = types
        pinned = set(_PIN.findall(body))
        sizes = {name: self._size(type_) for name, type_ in _variables(body) if name in pinned}
        self.sizes = {name: size for name, size in sizes.items() if size is not None}
        self.outside = pinned - self.sizes.keys()
        """Variables that stay pinned."""
        lines = [line for line in body.splitlines() if "%" in line]
        self.places: dict[str, tuple[str, int]] = {name: (name, 0) for name in self.sizes}
        """Pointers to a known place: variable and offset."""
        self.accessed: dict[str, set[tuple[int, int, str]]] = {name: set() for name in self.sizes}
        """Members of each variable that are loaded or stored: size, offset and type."""
        self.scalars = {name for name, type_ in _variables(body) if _MARKED.fullmatch(type_)}
        # A block may come before the block that computes its pointers.
        while True:
            known = len(self.places)
            for line in lines:
                if " = getelementptr " in line:
                    self._derive(line)
            if len(self.places) == known:
                break
        for line in lines:
            self._check(line)
        self.outside |= _used_after_scope(body, {name: self.places[name][0] for name in self.places})

    def _size(self, type_: str) -> int | None:
        try:
            return self.types.parse(Cursor(tokens_of(type_))).size
        except UnsupportedError:
            return None

    def _derive(self, line: str) -> None:
        name, _, rest = line.strip().partition(" = ")
        pointer = self._pointer(rest)
        if name not in self.places and pointer is not None:
            self.places[name] = pointer

    def _pointer(self, instruction: str) -> tuple[str, int] | None:
        """The place that a `getelementptr` computes, if it is known."""
        cursor = Cursor(tokens_of(instruction))
        try:
            cursor.expect("getelementptr")
            cursor.skip_words(frozenset("inbounds nuw nusw".split()))
            type_ = self.types.parse(cursor)
            cursor.expect(",")
            cursor.expect("ptr")
            base = self.places.get(cursor.next())
            if base is None:
                return None
            variable, offset = base
            first = True
            while cursor.accept(","):
                if not self.types.is_start(cursor.peek()):
                    break  # metadata
                self.types.parse(cursor)
                index = cursor.number()
                if first:
                    offset += index * type_.size
                elif type_.kind == "struct":
                    offset, type_ = offset + type_.offsets[index], type_.fields[index]
                else:
                    type_ = type_.element_type()
                    offset += index * type_.size
                first = False
        except (UnsupportedError, IndexError):
            return None
        return variable, offset

    def _check(self, line: str) -> None:
        used = {name for name in _NAME.findall(line) if name in self.places}
        if not used or _HARMLESS.match(line) or _VARIABLE.match(line):
            return
        if " = getelementptr " in line:
            name = line.strip().partition(" = ")[0]
            if name in self.places:
                variable, offset = self.places[name]
                if not 0 <= offset <= self.sizes[variable]:
                    self.outside.add(variable)
                return
        else:
            for name, count, type_ in self._accesses(line):
                variable, offset = self.places[name]
                if offset + count <= self.sizes[variable]:
                    used.discard(name)
                if variable not in self.scalars and _MARKED.fullmatch(type_):
                    self.accessed[variable].add((count, offset, type_))
        self.outside |= {self.places[name][0] for name in used}

    def members(self, variable: str) -> Iterator[tuple[int, str]]:
        """Offsets and types of members that are accessed and do not overlap, small ones first."""
        taken: set[int] = set()
        for count, offset, type_ in sorted(self.accessed[variable]):
            if taken.isdisjoint(range(offset, offset + count)):
                taken.update(range(offset, offset + count))
                yield offset, type_

    def _accesses(self, line: str) -> Iterator[tuple[str, int, str]]:
        """Known pointers through which the instruction does nothing but access memory: number of bytes and type."""
        cursor = Cursor(tokens_of(line))
        try:
            if _BULK.search(line):
                tokens = cursor.tokens
                length = int(tokens[tokens.index("i64") + 1])
                yield from ((name, length, "") for name in _NAME.findall(line) if name in self.places)
                return
            if " = load " in line:
                cursor.at = 2
            if cursor.next() not in ("load", "store"):
                return
            cursor.skip_words(frozenset({"volatile", "atomic"}))
            type_ = self.types.parse(cursor)
            tokens = cursor.tokens
            address = max(at for at, token in enumerate(tokens) if token == "ptr" and tokens[at - 1] == ",") + 1
            name = tokens[address]
            # Not if the pointer itself is stored.
            if name in self.places and tokens.count(name) == 1:
                yield name, _stored_bytes(type_), type_.name
        except (UnsupportedError, ValueError, IndexError):
            return


def _used_after_scope(body: str, pointers: dict[str, str]) -> set[str]:
    """Variables with a use that a path reaches after the end of their block. `pointers` has variables by pointer."""
    if not any(found[2] in pointers for found in _SCOPE.finditer(body)):
        return set()
    blocks: dict[str, list[str]] = {"": []}
    lines = blocks[""]
    for line in body.splitlines()[1:]:
        if label := _LABEL.match(line):
            lines = blocks[label[1]] = []
        else:
            lines.append(line)
    ended_at: dict[str, set[str]] = {name: set() for name in blocks}
    found: set[str] = set()
    pending = list(blocks)
    while pending:
        name = pending.pop()
        ended = set(ended_at[name])
        following: set[str] = set()
        for line in blocks[name]:
            if scope := _SCOPE.match(line):
                (ended.add if scope[1] == "end" else ended.discard)(scope[2])
            elif ended and not _HARMLESS.match(line) and " = getelementptr " not in line:
                found |= {pointers[each] for each in _NAME.findall(line) if pointers.get(each) in ended}
            following.update(_TARGET.findall(line))
        for block in following:
            if not ended <= ended_at[block]:
                ended_at[block] |= ended
                pending.append(block)
    return found


def _stored_bytes(type_: Type) -> int:
    return (type_.stored_width + 7) // 8 if type_.width else type_.size
