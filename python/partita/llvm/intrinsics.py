"""LLVM's intrinsics as explicit instructions: one row per name, without its type suffixes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from partita.llvm import intrinsics_float, x86, x86_float, x86_memory
from partita.llvm.function import Lowering, Value
from partita.llvm.memory import load
from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type
from partita.llvm.write import (
    ASSUME,
    BIN,
    BIN_OPS,
    CMP,
    FLAG,
    FUNNEL,
    INT_PREDS,
    MEMCOPY,
    MEMSET,
    OVERFLOW,
    OVERFLOW_OPS,
    SCOPE,
    STACKRESTORE,
    STACKSAVE,
    STRICT,
    TRAP,
    UN,
    UN_OPS,
    UNDEF,
    VASTART,
    Operand,
    constant_of,
    global_address,
    integer,
    reg,
)

# Arguments: the lowering, the name and the type of the result, the types and the leaves of the arguments.
Intrinsic = Callable[[Lowering, str, Type, list[Type], list[list[Operand]]], None]
_VA_LIST_SIZE = 24
_X86: dict[str, Intrinsic] = {**x86.ROWS, **x86_float.ROWS, **x86_memory.ROWS}


@cache
def find(name: str) -> Intrinsic | None:
    """The row of an intrinsic, whose name ends with type suffixes."""
    if name.startswith("x86.") and name not in _ROWS:
        return _X86.get(name[4:])
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        found = _ROWS.get(".".join(parts[:end]))
        if found is not None:
            return found
    return None


def names() -> list[str]:
    """Names of all intrinsics, without `llvm.` and type suffixes."""
    return sorted(_ROWS)


def _as_value(type_: Type, operands: list[Operand]) -> Value:
    return operands[0] if type_.width else operands


def _scalar_of(type_: Type) -> Type:
    return type_.element_type() if type_.kind == "vector" else type_


def _nothing(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    if name:
        low.define(name, UNDEF if type_.width else [UNDEF] * len(type_.leaves))


def _first(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    low.define(name, _as_value(type_, args[0]))


def _number(value: int) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        low.define(name, low.integer(value, type_.width))

    return lower


def _copy(overlap: int) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        length = low.resize(args[2][0], types[2].width, 64)
        low.emit((MEMCOPY | overlap, *args[0][0], *args[1][0], *length))

    return lower


def _scope(begins: int) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        # Older versions of LLVM have the size as the first argument.
        low.emit((SCOPE | begins, *args[-1][0]))

    return lower


def _memset(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    length = low.resize(args[2][0], types[2].width, 64)
    low.emit((MEMSET, *args[0][0], *args[1][0], *length))


def _unary(op: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        strict = STRICT if len(args) > 1 and constant_of(args[1][0]) else 0
        for dst, a in zip(low.results(name, type_), args[0], strict=True):
            low.emit((UN | UN_OPS[op] | strict, dst, *a))

    return lower


def _binary(op: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        for dst, a, b in zip(low.results(name, type_), args[0], args[1], strict=True):
            low.emit((BIN | BIN_OPS[op], dst, *a, *b))

    return lower


def _overflow(op: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        registers = low.results(name, type_)
        half = len(registers) // 2
        for dst, over, a, b in zip(registers[:half], registers[half:], args[0], args[1], strict=True):
            low.emit((OVERFLOW | OVERFLOW_OPS[op], dst, over, *a, *b))

    return lower


def _funnel(left: int) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        for dst, a, b, c in zip(low.results(name, type_), *args, strict=True):
            low.emit((FUNNEL | left, dst, *a, *b, *c))

    return lower


def _three_way(sign: str) -> Intrinsic:
    """-1, 0 or 1 if the first operand is less, equal or greater."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        width, to = _scalar_of(types[0]).width, _scalar_of(type_).width
        for dst, a, b in zip(low.results(name, type_), args[0], args[1], strict=True):
            sides = []
            for pred in ("gt", "lt"):
                side = low.new_register(1)
                low.emit((CMP | INT_PREDS[sign + pred], width, side, *a, *b))
                sides.append(low.cast("zext", reg(side), 1, to))
            low.emit((BIN | BIN_OPS["sub"], dst, *sides[0], *sides[1]))

    return lower


def _objectsize(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    """Unknown, as in LLVM without optimisation: 0 if a minimum is requested, else -1."""
    low.define(name, low.integer(0 if constant_of(args[1][0]) else -1, type_.width))


def _is_constant(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    low.define(name, integer(int(all(operand[0] & 7 in (1, 2, 7) for operand in args[0]))))


def _assume(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    if constant_of(args[0][0]) != 1:
        low.emit((ASSUME, *args[0][0]))


def _va_start(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    named = low.convention
    low.emit((VASTART, named.general, named.vector, named.stack, *args[0][0]))


def _va_copy(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    size = 4 if low.types.is_narrow else _VA_LIST_SIZE
    low.emit((MEMCOPY, *args[0][0], *args[1][0], *integer(size)))


def _stacksave(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    low.emit((STACKSAVE, low.result(name, 64)))


def _stackrestore(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    low.emit((STACKRESTORE, *args[0][0]))


def _trap(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    low.emit((TRAP,))


# Clang's checks in the order of their numbers: what `-fsanitize-trap` traps with.
_CHECKS = (
    "add_overflow builtin_unreachable cfi_check_fail divrem_overflow dynamic_type_cache_miss float_cast_overflow"
    " function_type_mismatch implicit_conversion invalid_builtin invalid_objc_cast load_invalid_value missing_return"
    " mul_overflow negate_overflow nullability_arg nullability_return nonnull_arg nonnull_return out_of_bounds"
    " pointer_overflow shift_out_of_bounds sub_overflow type_mismatch alignment_assumption vla_bound_not_positive"
).split()


def _call_library(low: Lowering, name: str, type_: Type, function: str, operands: list[tuple[Type, Operand]]) -> None:
    from partita.llvm.calls import call_library  # calls needs the table of intrinsics

    call_library(low, name, type_, function, operands)


def _sanitizer_trap(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    number = constant_of(args[0][0])
    if number is None or number >= len(_CHECKS):
        low.emit((TRAP,))
    else:
        _call_library(low, "", type_, f"__ubsan_handle_{_CHECKS[number]}_minimal_abort", [])


def _setjmp(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    """`__builtin_setjmp`: the first word of the buffer identifies the call, as in a `jmp_buf`."""
    _call_library(low, name, type_, "setjmp", [(types[0], args[0][0])])


def _longjmp(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    _call_library(low, name, type_, "longjmp", [(types[0], args[0][0]), (low.types.integer(32), integer(1))])


def _rounding(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    _call_library(low, name, type_, "__flt_rounds", [])


def _ptrmask(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    if types[1].width != 8 * low.types.pointer_bytes:
        raise UnsupportedError("ptrmask with a mask that has another width than pointers")
    mask = low.cast("zext", args[1][0], types[1].width, 64)
    low.emit((BIN | BIN_OPS["and"], low.result(name, 64), *args[0][0], *mask))


def _load_relative(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    """Loads from a table of 32-bit distances, which are relative to the start of the table.

    A constant table is replaced by one of addresses: a distance that depends on inputs would seem to leave the table.
    """
    table, offset = args[0][0], low.cast("sext", args[1][0], types[1].width, 64)
    addresses = low.module.absolute_table(table[0] >> 3) if table[0] & 7 == 3 and table[1:] == (0, 0) else None
    if addresses is not None:
        entry = low.binary("add", 64, global_address(addresses), low.binary("shl", 64, offset, integer(1)))
        load(low, name, type_, entry, 8)
        return
    entry = low.binary("add", 64, table, offset)
    load(low, key := f"{name} distance", low.types.integer(32), entry, 4)
    distance = low.cast("sext", reg(low.result(key, 32)), 32, 64)
    low.emit((BIN | BIN_OPS["add"], low.result(name, 64), *table, *distance))


def _reduce(op: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        total = args[0][0]
        for operand in args[0][1:]:
            total = low.binary(op, type_.width, total, operand)
        low.define(name, total)

    return lower


def _thread_local(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    """The current thread's variable; that of the first thread is the global itself."""
    _call_library(low, name, low.types.ptr, "__partita_thread_local", [(low.types.ptr, args[0][0])])


def _type_number(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    """The selector of exceptions of this type in landing pads (`exceptions`)."""
    low.define(name, integer(low.module.type_number(args[0][0])))


_ROWS: dict[str, Intrinsic] = {
    **dict.fromkeys(
        (
            "dbg donothing va_end prefetch invariant.start invariant.end sideeffect"
            " experimental.noalias.scope.decl pseudoprobe var.annotation fake.use clear_cache x86.sse2.pause"
        ).split(),
        _nothing,
    ),
    **dict.fromkeys(
        (
            "expect expect.with.probability launder.invariant.group strip.invariant.group annotation ptr.annotation"
            " ssa.copy"
        ).split(),
        _first,
    ),
    "threadlocal.address": _thread_local,
    "lifetime.start": _scope(FLAG),
    "lifetime.end": _scope(0),
    "memcpy": _copy(0),
    "memmove": _copy(FLAG),
    "memset": _memset,
    **{op: _unary(op) for op in UN_OPS},
    **{op: _binary(op) for op in "smin smax umin umax".split()},
    **{f"{op}.sat": _binary(f"{op}sat") for op in "uadd sadd usub ssub ushl sshl".split()},
    **{f"{op}.with.overflow": _overflow(op) for op in OVERFLOW_OPS},
    "fshl": _funnel(FLAG),
    "fshr": _funnel(0),
    "scmp": _three_way("s"),
    "ucmp": _three_way("u"),
    "objectsize": _objectsize,
    "is.constant": _is_constant,
    "assume": _assume,
    "va_start": _va_start,
    "va_copy": _va_copy,
    "stacksave": _stacksave,
    "stackrestore": _stackrestore,
    **dict.fromkeys("trap debugtrap".split(), _trap),
    "ubsantrap": _sanitizer_trap,
    "eh.typeid.for": _type_number,
    "eh.sjlj.setjmp": _setjmp,
    "eh.sjlj.longjmp": _longjmp,
    # There is no machine stack: where such an address decides something, that is counted.
    **dict.fromkeys("frameaddress returnaddress addressofreturnaddress sponentry".split(), _nothing),
    **dict.fromkeys("allow.runtime.check allow.ubsan.check".split(), _number(1)),
    **dict.fromkeys("get.rounding flt.rounds".split(), _rounding),
    "ptrmask": _ptrmask,
    "load.relative": _load_relative,
    **{f"vector.reduce.{op}": _reduce(op) for op in "add mul and or xor smin smax umin umax".split()},
    **intrinsics_float.ROWS,
    **x86_memory.MASKED,
}
