"""Names of variables in messages about bugs, from the debug information of the program.

The executor says which variable an access was to stay in: a global by its name, a local one by the number of its
`alloca` in its function. The program is compiled once more with `-g` when the first such bug is found: debug
information does not change the instructions.
"""

from __future__ import annotations

import re

from partita import members
from partita.entry import values
from partita.entry.debug_info import Array, DebugInfo, Declared, Pointer, Scalar, Type, size_of
from partita.results import shown

_DEFINE = re.compile(r'^define [^\n]*?@(?:"([^"]+)"|([\w.$-]+))\(')
_ALLOCA = re.compile(r"^  (%\S+) = alloca ")
_DECLARE = re.compile(r"#dbg_declare\(ptr (%\S+), !(\d+),")
_GLOBAL = re.compile(r'^@(?:"([^"]+)"|([\w.$-]+)) = .*?!dbg !(\d+)', re.MULTILINE)
_STRING = re.compile(r'^@([\w.$-]+) = (?:private|internal) .*?constant \[\d+ x i8\] c"([^"\\]*)\\00"')
_MADE = re.compile(
    r"call void @(?:klee|partita)_make_symbolic\(ptr[^%@,]*(%\S+|@[\w.$-]+), i64[^,]*, ptr[^@,]*@([\w.$-]+)\)"
)
_OFFSET = re.compile(r"at offset (-?\d+) of a (?:local|global) variable of (\d+) bytes?")
_ANY_OFFSET = re.compile(r"(?:the|a) (?:local|global) variable of (\d+) bytes?")
_HEAP_OFFSET = re.compile(r"at offset (-?\d+) of a heap object of (\d+) bytes?")
_ANY_HEAP_OFFSET = re.compile(r"(?:the|a) heap object of (\d+) bytes?")
_COUNT = re.compile(r"of (\d+) bytes? at")

Variable = tuple[str | None, str, int]
"""Function, name and number: of a local variable without the name, of a global one without the function, of the object
that an input was made of with an empty function."""


def misleads(data: bytes) -> bool:
    """May an input need its type to be shown? Zeros and longer text do not, and one byte only if it may be text."""
    body = data.rstrip(b"\0")
    is_text = all(32 <= byte < 127 or byte in b"\t\n\r" for byte in body)
    if len(data) == 1:
        return is_text and bool(body)
    return bool(body) if len(data) in (4, 8) else not is_text


def is_number(type_: Type, data: bytes) -> bool:
    """Is it an integer that is shown as one without its type, with its bytes?"""
    if not isinstance(type_, Scalar) or type_.encoding not in ("signed", "unsigned", "enum"):
        return False
    body = data.rstrip(b"\0")
    is_text = all(32 <= byte < 127 or byte in b"\t\n\r" for byte in body)
    return len(data) in (2, 4, 8) and not is_text and not data[-1] & 0x80


def is_text(type_: Type, data: bytes) -> bool:
    """Is it an array of characters whose bytes are text? Then it is shown as any text."""
    body = data.rstrip(b"\0")
    element = type_.element if isinstance(type_, Array) else None
    return isinstance(element, Scalar) and element.size == 1 and bool(body) and all(map(_is_plain, body))


def value_of(type_: Type | None, data: bytes) -> str:
    """A value as C writes it; an array of characters with all of them, not up to its first zero."""
    body = data.rstrip(b"\0")
    element = type_.element if isinstance(type_, Array) else None
    if isinstance(element, Scalar) and element.name == "char" and b"\0" in body:
        return '"' + "".join(chr(byte) if _is_plain(byte) else f"\\x{byte:02x}" for byte in body) + '"'
    return values.shown(type_, data)


def _is_plain(byte: int) -> bool:
    return 32 <= byte < 127 and chr(byte) not in '"\\'


class Variables:
    """The variables of a module with debug information."""

    def __init__(self, text: str) -> None:
        self._info = DebugInfo(text)
        self._locals: dict[tuple[str, int], int] = {}
        function = ""
        numbers: dict[str, int] = {}
        strings: dict[str, str] = {}
        made: list[tuple[str, str, int | None, str]] = []
        for line in text.splitlines():
            if start := _DEFINE.match(line):
                function, numbers = start[1] or start[2], {}
            elif string := _STRING.match(line):
                strings[string[1]] = string[2]
            elif call := _MADE.search(line):
                made.append((strings.get(call[2], ""), function, numbers.get(call[1]), call[1]))
            elif place := _ALLOCA.match(line):
                numbers[place[1]] = len(numbers)
            elif (found := _DECLARE.search(line)) and found[1] in numbers:
                self._locals.setdefault((function, numbers[found[1]]), int(found[2]))
        self._globals = {quoted or plain: int(node) for quoted, plain, node in _GLOBAL.findall(text)}
        # Nodes of the variables that are inputs, by the names that the program gives them.
        self._inputs: dict[str, list[int]] = {}
        for name, user, number, pointer in made:
            node = self._globals.get(pointer[1:]) if number is None else self._locals.get((user, number))
            if node is not None:
                self._inputs.setdefault(name, []).append(node)

    def type_of(self, name: str, size: int) -> Type | None:
        """The type of the variables that are made inputs of this name, otherwise of those with this name, if all have
        the same and this size. Pointers are no inputs."""
        found = []
        for node in self._inputs.get(name) or self._info.variables_named(name):
            type_ = self._info.typed(node)
            if type_ is not None and not isinstance(type_, Pointer) and size_of(type_) == size and type_ not in found:
                found.append(type_)
        return found[0] if len(found) == 1 else None

    def find(self, variable: Variable) -> Declared | None:
        """The declaration of a variable; None if debug information does not have it."""
        function, name, number = variable
        node = self._globals.get(name) if function is None else self._locals.get((function, number))
        return None if node is None else self._info.variable(node)


def named(message: str, declared: Declared | None, source: str = "") -> str:
    """The message with the name of the variable, if it is about one of that size. `source` is the line of the bug."""
    if declared is None:
        return message
    place = f"`{declared.declaration}` declared at {shown(declared.file)}:{declared.line}"
    if (found := _OFFSET.search(message)) and int(found[2]) == declared.size:
        offset = int(found[1])
        at = member_at(message, declared, offset, source)
        if at is None and declared.element and offset % declared.element == 0:
            at = f"{declared.name}[{offset // declared.element}]"
        where = f"at offset {offset} of {place}" if at is None else f"at `{at}`, {place}"
    elif (found := _ANY_OFFSET.search(message)) and int(found[1]) == declared.size:
        where = place
    else:
        return message
    return message[: found.start()] + where + message[found.end() :]


def member_at(message: str, declared: Declared, offset: int, source: str) -> str | None:
    """The member of a variable that an access is about, if it has members."""
    count = _COUNT.search(message)
    if count is None or not members.has_members(declared.type):
        return None
    return members.place(declared.name, declared.type, offset, int(count[1]), source)


def named_input(message: str, name: str, type_: Type | None, elements: int, before: int, source: str) -> str:
    """The message with the name of the object that the driver of `--entry` made for the pointer `name`: `elements` of
    this type, of which the pointer does not see the first ones (`before`)."""
    size = size_of(type_) or 1
    total, object_ = elements * size, f"`*{name}`" if elements == 1 else f"the array `{name}`"
    if (found := _HEAP_OFFSET.search(message)) and int(found[2]) == total:
        offset, count = int(found[1]) - before * size, _COUNT.search(message)
        whole = type_ if elements == 1 or type_ is None else Array(type_, elements - before)
        at = members.place(name, whole, offset, int(count[1]), source) if count else None
        if elements == 1 and at is not None:
            at = f"{name}->{at[len(name) + 1 :]}" if at.startswith(f"{name}.") else None
        where = f"at offset {offset} of {object_}" if at is None else f"at `{at}` of {object_}"
    elif (found := _ANY_HEAP_OFFSET.search(message)) and int(found[1]) == total:
        where = object_
    else:
        return message
    counted = total - before * size
    return f"{message[: found.start()]}{where}, {counted} {'byte' if counted == 1 else 'bytes'}{message[found.end() :]}"
