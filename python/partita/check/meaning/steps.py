"""Instructions in the checker: each returns None, the edge to take, or -1 if the top frame was set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.check.decide import EndedError
from partita.check.meaning import floats, models
from partita.check.meaning.memory import LABELS
from partita.check.meaning.program import Function
from partita.check.terms import (  # fmt: skip
    NoSemanticsError,
    apply,
    concat,
    disjunction,
    extract,
    ite,
    negation,
    sext,
    signed,
    zext,
)
from partita.llvm import write as w

if TYPE_CHECKING:
    from partita.check.meaning.machine import Machine

_NAMES = {table: sorted(names, key=names.__getitem__) for table, names in (
    ("bin", w.BIN_OPS), ("un", w.UN_OPS), ("overflow", w.OVERFLOW_OPS), ("int", w.INT_PREDS))}  # fmt: skip
_SIMPLE = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"}
_ORDER = {"ult": ("bvult", 0), "ule": ("bvule", 0), "ugt": ("bvult", 1), "uge": ("bvule", 1),
          "slt": ("bvslt", 0), "sle": ("bvsle", 0), "sgt": ("bvslt", 1), "sge": ("bvsle", 1)}  # fmt: skip
MAX_STACK = 8 << 20


def _binary(m: Machine, f: Function, op: int, flags: int, dst: int, a: Any, b: Any) -> None:
    name, width, x, y = _NAMES["bin"][op], f.widths[dst], m.get(a, f.widths[dst]), m.get(b, f.widths[dst])
    if name in ("udiv", "urem", "sdiv", "srem"):
        m.require(negation(apply("=", width, y, 0)), "division-by-zero")
        if name[0] == "s":
            most = apply("bvand", 1, apply("=", width, x, 1 << (width - 1)), apply("=", width, y, (1 << width) - 1))
            m.require(negation(most), "overflow")
    if f.part == 0:  # libraries are not checked
        if name in ("shl", "lshr", "ashr") and "shift" in m.options["checks"]:
            m.require(apply("bvult", width, y, width) if width > 1 else apply("=", 1, y, 0), "shift")
        elif name in ("add", "sub", "mul") and flags & w.FLAGS["nsw"] >> 16 and "overflow" in m.options["checks"]:
            m.require(_fits(f"s{name}", width, x, y)[1], "overflow")
    if name in _SIMPLE:
        result = apply(f"bv{name}", width, x, y)
        if name in ("shl", "lshr", "ashr") and flags & w.STRICT >> 16:
            inside = apply("bvult", width, y, width) if width > 1 else apply("=", 1, y, 0)
            result = m.poisoned(result, width, negation(inside))
        m.set(dst, result)
    elif name[1:] in ("min", "max"):
        less = apply("bvult" if name[0] == "u" else "bvslt", width, x, y)
        m.set(dst, ite(less, x, y, width) if name.endswith("min") else ite(less, y, x, width))
    elif isinstance(x, int) and isinstance(y, int) and name.endswith("sat"):
        p, q = (x, y) if name[0] == "u" else (signed(x, width), signed(y, width))
        exact = {"add": lambda: p + q, "sub": lambda: p - q, "shl": lambda: p << y}[name[1:-3]]()
        low, high = (0, (1 << width) - 1) if name[0] == "u" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        m.set(dst, min(max(exact, low), high) & ((1 << width) - 1))
    else:
        raise NoSemanticsError(f"the operator {name} on inputs")


def _unary(m: Machine, f: Function, op: int, flags: int, dst: int, a: Any) -> None:
    name, width, x = _NAMES["un"][op], f.widths[dst], m.get(a, f.widths[dst])
    bits = [extract(x, i, 1) for i in range(width)]
    result: Any = width
    if name == "ctpop":
        result = 0
        for bit in bits:
            result = apply("bvadd", width, result, zext(bit, 1, width))
    elif name in ("ctlz", "cttz"):
        order = list(range(width)) if name == "ctlz" else list(reversed(range(width)))
        for i in order:
            result = ite(bits[i], width - 1 - i if name == "ctlz" else i, result, width)
        if flags & w.STRICT >> 16:
            result = m.poisoned(result, width, apply("=", width, x, 0))
    elif name == "abs":
        if flags & w.STRICT >> 16 and "overflow" in m.options["checks"] and f.part == 0:
            m.require(negation(apply("=", width, x, 1 << (width - 1))), "overflow")
        result = ite(apply("bvslt", width, x, 0), apply("bvneg", width, x), x, width)
    else:
        size = 8 if name == "bswap" else 1
        result = extract(x, 0, size)
        for i in range(1, width // size):
            result = concat(result, size * i, extract(x, size * i, size), size)
    m.set(dst, result)


def _fits(name: str, width: int, x: Any, y: Any) -> tuple[Any, Any]:
    """The result of addition, subtraction or multiplication, and whether it is the exact one."""
    wide, extend = 2 * width + 1, sext if name[0] == "s" else zext
    exact = apply(f"bv{name[1:]}", wide, extend(x, width, wide), extend(y, width, wide))
    low = extract(exact, 0, width)
    return low, apply("=", wide, extend(low, width, wide), exact)


def _overflow(m: Machine, f: Function, op: int, flags: int, dst: int, over: int, a: Any, b: Any) -> None:
    name, width, x, y = _NAMES["overflow"][op], f.widths[dst], m.get(a, f.widths[dst]), m.get(b, f.widths[dst])
    low, fits = _fits(name, width, x, y)
    m.set(dst, low)
    m.set(over, negation(fits))


def _funnel(m: Machine, f: Function, op: int, left: int, dst: int, a: Any, b: Any, c: Any) -> None:
    width, both = f.widths[dst], concat(m.get(a, f.widths[dst]), f.widths[dst], m.get(b, f.widths[dst]), f.widths[dst])
    amount = zext(apply("bvurem", 2 * width, zext(m.get(c, width), width, 2 * width), width), 2 * width, 2 * width)
    shifted = apply("bvshl" if left else "bvlshr", 2 * width, both, amount)
    m.set(dst, extract(shifted, width if left else 0, width))


def _compare(m: Machine, f: Function, op: int, flags: int, width: int, dst: int, a: Any, b: Any) -> None:
    name, x, y = _NAMES["int"][op], m.get(a, width), m.get(b, width)
    if name in ("eq", "ne"):
        equal = apply("=", width, x, y)
        return m.set(dst, equal if name == "eq" else negation(equal))
    operator, swapped = _ORDER[name]
    return m.set(dst, apply(operator, width, y, x) if swapped else apply(operator, width, x, y))


def _cast(m: Machine, f: Function, op: int, flags: int, width: int, dst: int, a: Any) -> None:
    if op == w.CAST_OPS["bool"] >> 8 and f.part == 0:
        m.require(apply("bvult", 8, m.get(a, 8), 2), "sanitizer")
    m.set(dst, (sext if op == 1 else zext)(m.get(a, width), width, f.widths[dst]))


def _select(m: Machine, f: Function, op: int, flags: int, dst: int, c: Any, a: Any, b: Any) -> None:
    m.set(dst, ite(m.get(c, 1), m.get(a, f.widths[dst]), m.get(b, f.widths[dst]), f.widths[dst]))


def _copy(m: Machine, f: Function, op: int, flags: int, dst: int, a: Any) -> None:
    m.set(dst, m.get(a, f.widths[dst]))


def _load(m: Machine, f: Function, op: int, flags: int, align: int, dst: int, address: Any) -> None:
    m.set(dst, m.load(m.get(address), f.widths[dst]))


def _store(m: Machine, f: Function, op: int, flags: int, width: int, align: int, value: Any, address: Any) -> None:
    m.store(m.get(address), m.get(value, width), width)


def _alloca(m: Machine, f: Function, op: int, fixed: int, align: int, dst: int, size: Any) -> None:
    count = m.value(m.get(size), 64, "the size of a local array")
    m.frame.stack += count
    if m.frame.stack > MAX_STACK:
        raise EndedError("stack-overflow")
    base = m.path.memory.allocate(count, "stack", is_blank=True)
    (m.frame.locals if fixed else m.frame.dynamic).append(base)
    m.set(dst, base)


def _gep(m: Machine, f: Function, op: int, flags: int, dst: int, base: Any, offset: int, terms: Any) -> None:
    total = apply("bvadd", 64, m.get(base), offset & ((1 << 64) - 1))
    for width, scale, index in terms:
        wide = sext(m.get(index, width), width, 64) if width < 64 else extract(m.get(index, width), 0, 64)
        total = apply("bvadd", 64, total, apply("bvmul", 64, wide, scale & ((1 << 64) - 1)))
    m.set(dst, total)


def _call(m: Machine, f: Function, op: int, flags: int, count: int, first: int, callee: Any, args: Any) -> int | None:
    number = models.callee(m, m.get(callee))
    target = m.program.functions[number]
    values = [(width, at, size, m.get(value, 64 if size else width & ~w.TOP)) for width, at, size, value in args]
    if target.insts:
        m.enter_function(number, values)
        return -1
    width = f.widths[first] if count else 0
    result = models.call(m, target.name, [(size & ~w.TOP, value) for size, _, _, value in values], width)
    if result is models.JUMPED:
        return -1
    if count and result is not None:
        m.set(first, result)
    return None


def _memcopy(m: Machine, f: Function, op: int, flags: int, dst: Any, src: Any, size: Any) -> None:
    models.copy_bytes(m, m.get(dst), m.get(src), m.get(size), overlap=bool(flags))


def _memset(m: Machine, f: Function, op: int, flags: int, dst: Any, value: Any, size: Any) -> None:
    models.set_bytes(m, m.get(dst), m.get(value, 8), m.get(size))


def _va_start(m: Machine, f: Function, op: int, flags: int, general: int, vector: int, stack: int, place: Any) -> None:
    area = m.frame.variadic
    for offset, width, word in ((0, 32, general), (4, 32, vector), (8, 64, area + stack), (16, 64, area)):
        m.store(apply("bvadd", 64, m.get(place), offset), word, width)


def _stack_save(m: Machine, f: Function, op: int, flags: int, dst: int) -> None:
    m.set(dst, len(m.frame.dynamic))


def _stack_restore(m: Machine, f: Function, op: int, flags: int, mark: Any) -> None:
    m.restore_stack(m.value(m.get(mark), 64, "a stack mark"))


def _scope(m: Machine, f: Function, op: int, begins: int, place: Any) -> None:
    m.path.memory.set_scope(m.get(place), bool(begins))


def _branch(m: Machine, f: Function, op: int, flags: int, then: int, other: int, condition: Any) -> int:
    return then if then == other or m.decide(m.get(condition, 1), "branch") else other


def _switch(m: Machine, f: Function, op: int, flags: int, width: int, default: int, value: Any, cases: Any) -> int:
    x = m.settle(m.get(value, width), width)
    if isinstance(x, int) and not m.point("switch", ""):
        return int(cases.get(x, default))
    conditions: dict[int, Any] = {}
    for case, edge in cases.items():
        if edge != default:
            conditions[edge] = disjunction([conditions.get(edge, 0), apply("=", width, x, case)])
    conditions[default] = negation(disjunction(conditions.values()))
    return _choose_edge(m, conditions)


def _choose_edge(m: Machine, conditions: dict[int, Any]) -> int:
    point = m.point("switch", "")
    if point:
        return m.consume(point, conditions)
    edge = next((e for e, c in conditions.items() if m.path.evaluator.of(c)), None)
    if edge is None:
        raise m.reject("no edge fits the test")
    m.prove(conditions[edge], "a switch")
    return edge


def _indirect(m: Machine, f: Function, op: int, flags: int, address: Any, edges: list[int]) -> int:
    x = m.settle(m.get(address), 64)
    labels: dict[int, int] = {}
    for edge in edges:
        labels.setdefault(LABELS + (m.frame.function << 16) + f.edges[edge][0], edge)
    conditions = {edge: apply("=", 64, x, label) for label, edge in labels.items()}
    m.require(disjunction(conditions.values()), "unreachable")
    return _choose_edge(m, conditions)


def _return(m: Machine, f: Function, op: int, flags: int, values: list[Any]) -> int:
    results = [m.get(value, width) for value, width in zip(values, f.results, strict=True)]
    m.end_locals()
    m.path.frames.pop()
    if not m.path.frames:
        return m.next_stage(results[0] if results else 0)
    caller = m.program.functions[m.frame.function]
    _, _, _, count, first, _, _ = caller.insts[m.frame.pc]
    for i, value in enumerate(results[:count]):
        m.set(first + i, m.resize(value, f.results[i], caller.widths[first + i], f, f.bits & 32))
    for register in range(first + len(results), first + count):
        m.set(register, m.unknown(caller.widths[register]))
    m.frame.pc += 1
    return -1


def _ending(ending: str) -> Any:
    def step(*_: Any) -> None:
        raise EndedError(ending)

    return step


def _assume(m: Machine, f: Function, op: int, flags: int, condition: Any) -> None:
    if f.part == 0:
        m.require(m.get(condition, 1), "unreachable")


STEPS = {
    w.BIN: _binary, w.UN: _unary, w.OVERFLOW: _overflow, w.FUNNEL: _funnel, w.CMP: _compare, w.CAST: _cast,
    w.SELECT: _select, w.COPY: _copy, w.FREEZE: _copy, w.LOAD: _load, w.STORE: _store, w.ALLOCA: _alloca, w.GEP: _gep,
    w.CALL: _call, w.MEMCOPY: _memcopy, w.MEMSET: _memset, w.VASTART: _va_start, w.STACKSAVE: _stack_save,
    w.STACKRESTORE: _stack_restore, w.ASSUME: _assume, w.TRAP: _ending("abort"), w.JUMP: lambda m, f, o, n, edge: edge,
    w.SCOPE: _scope, w.BRANCH: _branch, w.SWITCH: _switch, w.INDIRECTBR: _indirect, w.RET: _return,
    w.LANDING: lambda m, f, o, n, normal, *_: normal, w.UNREACHABLE: _ending("unreachable"),
    w.UNSUPPORTED: _ending("unsupported"),
    **floats.STEPS,
}  # fmt: skip
