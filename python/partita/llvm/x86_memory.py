"""Accesses of vectors to memory element by element: gathers and masked loads and stores of x86 and of LLVM.

An element that its mask leaves out is not accessed: the access goes to an object of the frame instead, which has the
value that the element gets. So a mask or an index that is symbolic is an address that is.
"""

from __future__ import annotations

from partita.llvm.function import Lowering
from partita.llvm.memory import load, store
from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type
from partita.llvm.write import Operand, constant_of, reg
from partita.llvm.x86 import Elements, Row, choose, compare, element_width

_ADDRESS = 64


def _address(low: Lowering, is_chosen: Operand, address: Operand, slot: Operand) -> Operand:
    known = constant_of(is_chosen)
    if known is not None:
        return address if known else slot
    return choose(low, _ADDRESS, is_chosen, address, slot)


def _loaded(
    low: Lowering, name: str, type_: Type, addresses: list[Operand], chosen: list[Operand], otherwise: Elements
) -> Elements:
    """An element from each address, or the other value where it is not chosen."""
    slot = low.stack_slot(type_.size, type_.align)
    found: Elements = []
    for i, (address, is_chosen, other) in enumerate(zip(addresses, chosen, otherwise, strict=True)):
        store(low, type_, [other], slot, 1)
        load(low, key := f"{name} element {i}", type_, _address(low, is_chosen, address, slot), 1)
        found.append(reg(low.result(key, type_.width)))
    return found


def _store(low: Lowering, type_: Type, addresses: list[Operand], chosen: list[Operand], values: Elements) -> None:
    slot = low.stack_slot(type_.size, type_.align)
    for address, is_chosen, value in zip(addresses, chosen, values, strict=True):
        store(low, type_, [value], _address(low, is_chosen, address, slot), 1)


def _places(low: Lowering, base: Operand, type_: Type, count: int) -> list[Operand]:
    """Addresses of elements one after the other."""
    return [low.offset(base, i * type_.size) if i else base for i in range(count)]


def _signs(low: Lowering, type_: Type, masks: Elements) -> list[Operand]:
    width = element_width(type_)
    return [compare(low, "slt", width, mask, low.integer(0, width)) for mask in masks]


def _gather(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`vgatherdps` and relatives: from a base and scaled indices; elements without an index are 0."""
    otherwise, (base,), indices, masks, (scale,) = args
    element, width = type_.element_type(), element_width(types[2])
    factor = constant_of(scale)
    if factor is None:
        raise UnsupportedError("a scale that is not constant")
    count = min(len(indices), type_.count)
    distances = [
        low.binary("mul", _ADDRESS, low.cast("sext", index, width, _ADDRESS), low.integer(factor, _ADDRESS))
        for index in indices[:count]
    ]
    addresses = [low.binary("add", _ADDRESS, base, distance) for distance in distances]
    chosen = _signs(low, types[3], masks[:count])
    found = _loaded(low, name, element, addresses, chosen, otherwise[:count])
    low.define(name, found + [low.integer(0, element.width)] * (type_.count - count))


def _mask_load(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`vmaskmovps`, `vpmaskmovd` from memory."""
    element = type_.element_type()
    zeros: Elements = [low.integer(0, element.width)] * type_.count
    places = _places(low, args[0][0], element, type_.count)
    low.define(name, _loaded(low, name, element, places, _signs(low, types[1], args[1]), zeros))


def _mask_store(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`vmaskmovps`, `vpmaskmovd` to memory."""
    (base,), masks, values = args
    element = types[2].element_type()
    _store(low, element, _places(low, base, element, len(values)), _signs(low, types[1], masks), values)


def _mask_move(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`maskmovdqu`: bytes of the first operand whose mask has its top bit set."""
    values, masks, (base,) = args
    element = types[0].element_type()
    _store(low, element, _places(low, base, element, len(values)), _signs(low, types[1], masks), values)


def _load_unaligned(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`lddqu`."""
    load(low, name, type_, args[0][0], 1)


def _masked_load(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    places = _places(low, args[0][0], type_.element_type(), type_.count)
    low.define(name, _loaded(low, name, type_.element_type(), places, args[-2], args[-1]))


def _masked_gather(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    low.define(name, _loaded(low, name, type_.element_type(), args[0], args[-2], args[-1]))


def _masked_store(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    element = types[0].element_type()
    _store(low, element, _places(low, args[1][0], element, len(args[0])), args[-1], args[0])


def _masked_scatter(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    _store(low, types[0].element_type(), args[1], args[-1], args[0])


ROWS: dict[str, Row] = {
    **{
        f"avx2.gather.{index}.{kind}{size}": _gather
        for index in "dq"
        for kind in ("d", "q", "ps", "pd")
        for size in ("", ".256")
    },
    **{
        f"{kind}{size}": row
        for word, row in (("maskload", _mask_load), ("maskstore", _mask_store))
        for kind in (f"avx.{word}.ps", f"avx.{word}.pd", f"avx2.{word}.d", f"avx2.{word}.q")
        for size in ("", ".256")
    },
    "sse2.maskmov.dqu": _mask_move,
    **dict.fromkeys(("sse3.ldu.dq", "avx.ldu.dq.256"), _load_unaligned),
}
"""Rows of x86, without `llvm.x86.`."""

MASKED: dict[str, Row] = {
    "masked.load": _masked_load,
    "masked.gather": _masked_gather,
    "masked.store": _masked_store,
    "masked.scatter": _masked_scatter,
}
"""LLVM's own: masks are bits. Before LLVM 22 the alignment is an argument."""
