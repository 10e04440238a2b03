"""The inputs of a function as a graph of objects: what each pointer of a test leads to.

Follows `partita-entry.h` step by step: pointers are filled breadth first, and the choice of each is one byte of the
test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from partita.entry import values
from partita.entry.debug_info import Function, Pointer, Record, Signature, Type
from partita.entry.driver import MAX_ALIASES, Bounds, extent, is_sized, joined, links

Inputs = Sequence[tuple[str, bytes]]


@dataclass
class Edge:
    """A pointer of an input, and the pointers in the object that was made for it."""

    name: str
    """As in C: `p->next`."""
    type: Type | None
    """Type of the object."""
    target: Edge | str = "NULL"
    """The pointer whose object it leads to (itself for an object of its own), or words."""
    inner: list[Edge] = field(default_factory=list)
    is_sized: bool = False
    first_array: int | None = None
    """The first choice that is an array without a terminator, that of no elements."""
    elements: int | None = None
    """Number of elements of the array without a terminator that it leads to."""


def edges(signature: Signature, bounds: Bounds, inputs: Inputs) -> list[Edge]:
    """The pointers among the parameters, with what they lead to in a test."""
    choices = dict(inputs)
    roots: list[Edge] = []
    for parameter in signature.parameters:
        if isinstance(parameter.type, Pointer):
            sized = is_sized(signature, parameter)
            roots.append(Edge(parameter.name, parameter.type.target, is_sized=sized))
        elif isinstance(parameter.type, Record):
            roots += [Edge(joined(parameter.name, ".", label), target) for _, label, target in links(parameter.type)]
    made: list[Edge] = []
    pending = deque(roots)
    while pending:
        edge = pending.popleft()
        choice = choices.get(edge.name, b"\0")[0]
        if isinstance(edge.type, Function) or len(made) >= bounds.objects:
            what = "a function" if isinstance(edge.type, Function) else "an object that was not made"
            edge.target = what if choice else "NULL"
            continue
        shared = [earlier for earlier in reversed(made) if earlier.type == edge.type][:MAX_ALIASES]
        made.append(edge)
        targets: list[Edge | str] = ["NULL", edge, *shared]
        if edge.is_sized:
            edge.first_array = len(targets)
        if edge.is_sized and choice >= len(targets):
            edge.elements = min(choice - len(targets), bounds.sized)
            edge.target = _array(edge, bounds, dict(inputs).get(f"{edge.name}[]", b""))
        else:
            edge.target = targets[min(choice, len(targets) - 1)]
        count = extent(edge.type, bounds)[1]
        for i in range(count if edge.type is not None else 0):
            assert edge.type is not None
            prefix, dot = (edge.name, "->") if count == 1 else (f"{edge.name}[{i}]", ".")
            edge.inner += [Edge(joined(prefix, dot, label), inner) for _, label, inner in links(edge.type)]
        pending.extend(edge.inner)
    return roots


def _array(edge: Edge, bounds: Bounds, contents: bytes) -> str:
    size = extent(edge.type, bounds)[0]
    assert edge.elements is not None
    part = contents[size * (bounds.sized - edge.elements) :]
    return f"{values.elements(edge.type, part)}, {edge.elements} without a terminator"


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
        if isinstance(edge.target, Edge) and edge.target.name not in shown:
            shown.add(edge.target.name)
            found += _object(edge.target, data, bounds)
            pending.extend(edge.target.inner)
    return found


def _object(edge: Edge, data: dict[str, bytes], bounds: Bounds) -> Iterator[str]:
    contents = data.get(f"*{edge.name}")
    if contents is not None and not isinstance(edge.type, Pointer):
        if extent(edge.type, bounds)[2]:
            contents = contents[: -extent(edge.type, bounds)[0]]  # the terminator
        yield f"*{edge.name} = {values.shown(edge.type, contents)}"
