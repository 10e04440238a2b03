"""The inputs of a function as a graph of objects: what each pointer of a test leads to.

Follows `partita-entry.h` step by step: pointers are filled breadth first, and the choice of each is one byte of the
test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from partita.entry import values
from partita.entry.debug_info import Function, Pointer, Record, Signature, Type, size_of
from partita.entry.driver import MAX_ALIASES, Bounds, extent, is_character, is_sized, joined, links

Inputs = Sequence[tuple[str, bytes]]


@dataclass
class Edge:
    """A pointer of an input, and the pointers in the object that was made for it."""

    name: str
    """As in C: `p->next`."""
    type: Type | None
    """Type of the object."""
    key: str = ""
    """Name of its input: that of C, unless it is inside an array of which a pointer sees only the end."""
    target: Edge | str = "NULL"
    """The pointer whose object it leads to (itself for an object of its own), or words."""
    inner: list[Edge] = field(default_factory=list)
    is_sized: bool = False
    choices: int = 2
    """Number of addresses that it may be."""
    first_array: int | None = None
    """The first choice that is an array of a number of elements, that of none."""
    elements: int | None = None
    """Number of elements of that array, if it leads there."""
    seen: list[Edge] = field(default_factory=list)
    """The pointers in these elements."""
    unseen: list[Edge] = field(default_factory=list)
    """Other pointers that are filled for it."""

    def __post_init__(self) -> None:
        self.key = self.key or self.name

    @property
    def is_text(self) -> bool:
        return is_character(self.type)


def edges(signature: Signature, bounds: Bounds, inputs: Inputs) -> list[Edge]:
    """The pointers among the parameters, with what they lead to in a test."""
    choices = dict(inputs)
    roots: list[Edge] = []
    for parameter in signature.parameters:
        if isinstance(parameter.type, Pointer):
            sized = is_sized(signature, parameter)
            roots.append(Edge(parameter.name, parameter.type.target, is_sized=sized))
        elif isinstance(parameter.type, Record):
            roots += _inside(parameter.type, parameter.name, ".")
    made: list[Edge] = []
    arrays: deque[Edge] = deque()
    for pending in (deque(roots), arrays):
        start, limit = len(made), len(made) + bounds.objects
        while pending:
            edge = pending.popleft()
            choice = choices.get(edge.key, b"\0")[0]
            if isinstance(edge.type, Function) or len(made) >= limit:
                what = "a function" if isinstance(edge.type, Function) else "an object that was not made"
                edge.target = what if choice else "NULL"
                continue
            shared = [earlier for earlier in reversed(made[start:]) if earlier.type == edge.type][:MAX_ALIASES]
            made.append(edge)
            targets: list[Edge | str] = ["NULL", edge, *shared]
            edge.choices = len(targets)
            count = extent(edge.type, bounds)[1]
            for i in range(count if edge.type is not None else 0):
                prefix, dot = ("", "->") if count == 1 else (f"[{i}]", ".")
                edge.inner += _inside(edge.type, edge.name + prefix, dot, edge.key + prefix)
            pending.extend(edge.inner)
            edge.target = targets[min(choice, len(targets) - 1)]
            if edge.is_sized:
                most = bounds.sized(edge.type)
                edge.first_array, edge.choices = len(targets), len(targets) + most + 1
                if choice >= len(targets):
                    edge.elements = min(choice - len(targets), most)
                    edge.target = _array(edge, most, choices.get(f"{edge.key}[]", b""))
                before = most - (edge.elements or 0)
                for i in range(most):
                    seen = _inside(edge.type, f"{edge.name}[{i - before}]", ".", f"{edge.key}[][{i}]")
                    (edge.unseen if i < before else edge.seen).extend(seen)
                    arrays.extend(seen)
    return roots


def object_of(
    signature: Signature, bounds: Bounds, inputs: Inputs, name: str
) -> tuple[str, Type | None, int, int] | None:
    """The object that is called `name` in a test: the pointer that it was made for, type and number of its elements,
    and how many of them the pointer does not see."""
    pending = edges(signature, bounds, inputs)
    while pending:
        edge = pending.pop()
        if name == f"*{edge.key}" and edge.target is edge:
            return edge.name, edge.type, extent(edge.type, bounds)[1], 0
        if name == f"{edge.key}[]" and edge.elements is not None:
            most = bounds.sized(edge.type)
            return edge.name, edge.type, most, most - edge.elements
        pending += edge.inner + edge.seen
    return None


def _inside(type_: Type | None, name: str, dot: str, key: str = "") -> list[Edge]:
    """The pointers inside an object that is called `name`, and `key` in its test."""
    return [
        Edge(joined(name, dot, label), target, joined(key or name, dot, label))
        for _, label, target in ([] if type_ is None else links(type_))
    ]


def _array(edge: Edge, most: int, contents: bytes) -> str:
    assert edge.elements is not None
    part = contents[(size_of(edge.type) or 1) * (most - edge.elements) :]
    what = "without a terminator" if edge.is_text else f"element{'' if edge.elements == 1 else 's'}"
    return f"{values.elements(edge.type, part)}, {edge.elements} {what}"


def lines(signature: Signature, bounds: Bounds, inputs: Inputs) -> list[str]:
    """The inputs that the function can get at, one per line, by their types: objects behind null are left out."""
    data = dict(inputs)
    found = [
        f"{each.name} = {values.shown(each.type, data[each.name])}"
        for each in signature.parameters
        if not isinstance(each.type, Pointer) and each.name in data
    ]
    shown: set[str] = set()
    pending = deque(edges(signature, bounds, inputs))
    while pending:
        edge = pending.popleft()
        if edge.target is not edge:
            found.append(f"{edge.name} = {edge.target if isinstance(edge.target, str) else edge.target.name}")
        pending.extend(edge.seen)
        if isinstance(edge.target, Edge) and edge.target.key not in shown:
            shown.add(edge.target.key)
            found += _object(edge.target, data, bounds)
            pending.extend(edge.target.inner)
    return found


def _object(edge: Edge, data: dict[str, bytes], bounds: Bounds) -> Iterator[str]:
    contents = data.get(f"*{edge.key}")
    if contents is not None and not isinstance(edge.type, Pointer):
        if extent(edge.type, bounds)[2]:
            contents = contents[: -extent(edge.type, bounds)[0]]  # the terminator
        yield f"*{edge.name} = {values.shown(edge.type, contents)}"
