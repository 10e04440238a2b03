"""Loads, stores, allocas, addresses and atomics.

Threads switch at calls only, so an atomic access is a plain one between two calls that tell the executor: the first is
where threads switch, both order what happens before and after (docs/threads.md).
"""

from __future__ import annotations

from partita.llvm.constants import member_offset
from partita.llvm.function import Handler, Lowering
from partita.llvm.tokens import Cursor, UnsupportedError
from partita.llvm.types import Type, float_kind
from partita.llvm.vectors import pack, unpack
from partita.llvm.write import (
    ALLOCA,
    CAST,
    CAST_OPS,
    CMP,
    FBIN,
    FBIN_OPS,
    FLAG,
    GEP,
    INT_PREDS,
    LOAD,
    SELECT,
    STORE,
    Operand,
    constant_of,
    integer,
    long,
    reg,
)

_MEMORY_WORDS = frozenset(("atomic", "volatile"))
_ORDERINGS = frozenset(("unordered", "monotonic", "acquire", "release", "acq_rel"))  # weaker than seq_cst
_GEP_FLAGS = frozenset(("inbounds", "nusw", "nuw"))


def _alignment(cursor: Cursor, default: int) -> int:
    """The `align N` after an access."""
    tokens = cursor.tokens
    for at in range(cursor.at, len(tokens) - 1):
        if tokens[at] == "align":
            return int(tokens[at + 1])
    return default


def _has_subbyte_elements(type_: Type) -> bool:
    """Whether the type is a vector whose elements share bytes in memory."""
    return type_.kind == "vector" and type_.element_type().width % 8 != 0


def _load_scalar(low: Lowering, dst: int, type_: Type, addr: Operand, align: int) -> None:
    if type_.stored_width == type_.width:
        low.emit((LOAD, align, dst, *addr))
        return
    half = low.new_register(type_.stored_width)
    low.emit((LOAD, align, half, *addr))
    low.emit((CAST | CAST_OPS["zext"], type_.stored_width, dst, *reg(half)))


def _store_scalar(low: Lowering, type_: Type, value: Operand, addr: Operand, align: int) -> None:
    stored = low.cast("trunc", value, type_.width, type_.stored_width)
    low.emit((STORE, type_.stored_width, align, *stored, *addr))


def load(low: Lowering, name: str, type_: Type, addr: Operand, align: int) -> None:
    if type_.width:
        _load_scalar(low, low.result(name, type_.width), type_, addr, align)
    elif _has_subbyte_elements(type_):
        whole = low.new_register(type_.count * type_.element_type().width)
        low.emit((LOAD, align, whole, *addr))
        low.define(name, unpack(low, reg(whole), type_.element_type().width, type_.count))
    else:
        for dst, (offset, leaf) in zip(low.results(name, type_), type_.leaves, strict=True):
            _load_scalar(low, dst, leaf, low.offset(addr, offset), _alignment_at(align, offset))


def store(low: Lowering, type_: Type, value: list[Operand], addr: Operand, align: int) -> None:
    if type_.width:
        _store_scalar(low, type_, value[0], addr, align)
    elif _has_subbyte_elements(type_):
        width = type_.element_type().width
        low.emit((STORE, width * type_.count, align, *pack(low, value, width), *addr))
    else:
        for operand, (offset, leaf) in zip(value, type_.leaves, strict=True):
            _store_scalar(low, leaf, operand, low.offset(addr, offset), _alignment_at(align, offset))


def _alignment_at(align: int, offset: int) -> int:
    """The alignment of the address `offset` bytes after an address with this alignment."""
    return min(align, offset & -offset) if offset else align


def _is_weak(cursor: Cursor) -> bool:
    return not _ORDERINGS.isdisjoint(cursor.tokens[cursor.at :])


def _begin_atomic(low: Lowering, addr: Operand, is_weak: bool) -> None:
    from partita.llvm.calls import call_library  # calls needs the table of intrinsics, which needs this module

    arguments = [(low.types.ptr, addr), (low.types.integer(32), integer(int(is_weak)))]
    call_library(low, "", low.types.void, "__partita_atomic_begin", arguments)


def _end_atomic(low: Lowering, addr: Operand) -> None:
    from partita.llvm.calls import call_library

    call_library(low, "", low.types.void, "__partita_atomic_end", [(low.types.ptr, addr)])


def _load(low: Lowering, cursor: Cursor, name: str) -> None:
    is_atomic = "atomic" in cursor.skip_words(_MEMORY_WORDS)
    type_ = low.types.parse(cursor)
    cursor.expect(",")
    addr = low.pointer(cursor)
    if is_atomic:
        _begin_atomic(low, addr, _is_weak(cursor))
    load(low, name, type_, addr, _alignment(cursor, type_.align))
    if is_atomic:
        _end_atomic(low, addr)


def _store(low: Lowering, cursor: Cursor, name: str) -> None:
    is_atomic = "atomic" in cursor.skip_words(_MEMORY_WORDS)
    type_, value = low.typed(cursor)
    cursor.expect(",")
    addr = low.pointer(cursor)
    if is_atomic:
        _begin_atomic(low, addr, _is_weak(cursor))
    store(low, type_, value, addr, _alignment(cursor, type_.align))
    if is_atomic:
        _end_atomic(low, addr)


def _alloca(low: Lowering, cursor: Cursor, name: str) -> None:
    cursor.accept("inalloca")
    type_ = low.types.parse(cursor)
    if not type_.sized:
        raise UnsupportedError(f"alloca of `{type_.name}`")
    count: Operand = integer(1)
    if cursor.peek() == "," and low.types.is_start(cursor.tokens[cursor.at + 1]):
        cursor.at += 1
        count_type = low.types.parse(cursor)
        count = low.resize(low.scalar(cursor, count_type), count_type.width, 64)
    align = _alignment(cursor, type_.align)
    dst = low.result(name, 64)
    known = constant_of(count)
    head = ALLOCA | type_.element_bytes << 8
    if known is None:
        size = count if type_.size == 1 else low.binary("mul", 64, count, integer(type_.size))
        low.emit((head, align, dst, *size))
    else:
        fixed = FLAG if low.block == 0 else 0
        low.emit((head | fixed, align, dst, *low.integer(known * type_.size, 64)))


def _getelementptr(low: Lowering, cursor: Cursor, name: str) -> None:
    flags = cursor.skip_words(_GEP_FLAGS)
    type_ = low.types.parse(cursor)
    cursor.expect(",")
    base_type, bases = low.typed(cursor)
    offset = 0
    terms: list[tuple[list[Operand], int, int]] = []  # indices by lane, width, scale
    lanes = base_type.count if base_type.kind == "vector" else 0
    first = True
    while cursor.accept(","):
        index_type, indices = low.typed(cursor)
        if index_type.kind == "vector":
            lanes = index_type.count
            width = index_type.element_type().width
        else:
            width = index_type.width
        if width > 8 * low.types.pointer_bytes:
            narrow = 8 * low.types.pointer_bytes
            indices = [low.cast("trunc", index, width, narrow) for index in indices]
            width = narrow
        known = [constant_of(index) for index in indices]
        if width <= 64 and known[0] is not None and all(value == known[0] for value in known):
            value = known[0] - (1 << width) if known[0] >> (width - 1) else known[0]
            step, type_ = member_offset(type_, value, first=first)
            offset += step
        else:
            step, type_ = member_offset(type_, 1 if type_.kind != "struct" or first else -1, first=first)
            if step:
                terms.append((indices, width, step))
        first = False
    inbounds = FLAG if "inbounds" in flags else 0
    if not lanes:
        low.define(name, _address(low, inbounds, bases[0], offset, [(i[0], w, s) for i, w, s in terms]))
        return
    found = []
    for lane in range(lanes):
        chosen = [(i[lane] if len(i) > 1 else i[0], w, s) for i, w, s in terms]
        base = bases[lane] if len(bases) > 1 else bases[0]
        found.append(_address(low, inbounds, base, offset, chosen))
    low.define(name, found)


def _address(
    low: Lowering, inbounds: int, base: Operand, offset: int, terms: list[tuple[Operand, int, int]]
) -> Operand:
    if not terms:
        if not offset:
            return base
        if base[0] & 7 == 3:
            return low.offset(base, offset)
    dst = low.new_register(64)
    words: list[int] = []
    for index, width, scale in terms:
        words += (width, *long(scale), *index)
    low.emit((GEP | inbounds, *long(offset), dst, *base, len(terms), *words))
    return reg(dst)


def _fence(low: Lowering, cursor: Cursor, name: str) -> None:
    """An atomic access of nothing. All are counted as weak: they order atomic accesses that are not `seq_cst`."""
    if "singlethread" not in "".join(cursor.tokens):
        _begin_atomic(low, integer(0), is_weak=True)
        _end_atomic(low, integer(0))


def _cmpxchg(low: Lowering, cursor: Cursor, name: str) -> None:
    cursor.skip_words(frozenset(("weak", "volatile")))
    addr = low.pointer(cursor)
    cursor.expect(",")
    type_, (expected,) = low.typed(cursor)
    cursor.expect(",")
    _, (new,) = low.typed(cursor)
    align = _alignment(cursor, type_.align)
    _begin_atomic(low, addr, _is_weak(cursor))
    old, equal = low.results(name, low.types.structure(type_, low.types.i1))
    _load_scalar(low, old, type_, addr, align)
    low.emit((CMP | INT_PREDS["eq"], type_.width, equal, *reg(old), *expected))
    chosen = low.new_register(type_.width)
    low.emit((SELECT, chosen, *reg(equal), *new, *reg(old)))
    _store_scalar(low, type_, reg(chosen), addr, align)
    _end_atomic(low, addr)


def _atomicrmw(low: Lowering, cursor: Cursor, name: str) -> None:
    cursor.accept("volatile")
    op = cursor.next()
    addr = low.pointer(cursor)
    cursor.expect(",")
    type_, (operand,) = low.typed(cursor)
    align = _alignment(cursor, type_.align)
    width = type_.width
    _begin_atomic(low, addr, _is_weak(cursor))
    old = reg(low.result(name, width))
    _load_scalar(low, old[0] >> 3, type_, addr, align)
    _store_scalar(low, type_, _modified(low, op, type_, old, operand), addr, align)
    _end_atomic(low, addr)


_RMW_OPS = {
    "add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "max": "smax", "min": "smin", "umax": "umax",
    "umin": "umin", "usub_sat": "usubsat",
}  # fmt: skip
_RMW_FLOAT_OPS = {"fadd": "fadd", "fsub": "fsub", "fmax": "maxnum", "fmin": "minnum"}


def _modified(low: Lowering, op: str, type_: Type, old: Operand, operand: Operand) -> Operand:
    width = type_.width
    if op == "xchg":
        return operand
    if op == "nand":
        return low.binary("xor", width, low.binary("and", width, old, operand), low.integer(-1, width))
    if op in _RMW_OPS:
        return low.binary(_RMW_OPS[op], width, old, operand)
    if op in _RMW_FLOAT_OPS:
        dst = low.new_register(width)
        low.emit((FBIN | FBIN_OPS[_RMW_FLOAT_OPS[op]] | float_kind(type_) << 16, dst, *old, *operand))
        return reg(dst)
    raise UnsupportedError(f"atomicrmw `{op}`")


HANDLERS: dict[str, Handler] = {
    "load": _load,
    "store": _store,
    "alloca": _alloca,
    "getelementptr": _getelementptr,
    "fence": _fence,
    "cmpxchg": _cmpxchg,
    "atomicrmw": _atomicrmw,
}
