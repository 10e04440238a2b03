"""Library functions in the checker. Those that print are trusted in what they decide (docs/certificates.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.check.decide import EndedError
from partita.check.meaning.memory import FUNCTIONS, NULL_PAGE
from partita.check.terms import (
    NoSemanticsError,
    apply,
    byte_of,
    concat,
    disjunction,
    extract,
    ite,
    make,
    negation,
    read,
    sext,
    zext,
)

if TYPE_CHECKING:
    from partita.check.meaning.machine import Machine

STREAMS = {"stdin": 0x2000, "stdout": 0x2010, "stderr": 0x2020}
JUMPED = object()
PRINTING = set(
    "printf vprintf fprintf vfprintf dprintf vdprintf puts fputs putchar fputc putc fwrite write perror fflush".split()
)
MAX_SYMBOLIC, MAX_MALLOC, FIRST_TOKEN = 1 << 10, 1 << 40, 0x6A756D7000000000
HANDLER = "__ubsan_handle_"
# Ends of paths in the compiler's checks, which docs/bugs.md describes.
FAILED_CHECKS = {
    **dict.fromkeys(("add_overflow", "sub_overflow", "mul_overflow", "negate_overflow"), "overflow"),
    "shift_out_of_bounds": "shift",
    "float_cast_overflow": "float-cast",
    "divrem_overflow": "overflow",
}
Args = list[tuple[int, Any]]
# Types of which an undeclared `__VERIFIER_nondet_TYPE` returns the values as `int`.
_NARROW = {"bool": (1, zext), "char": (8, sext), "schar": (8, sext), "uchar": (8, zext)}
_NARROW |= {"short": (16, sext), "ushort": (16, zext)}


def find(name: str) -> Any:
    if name.startswith("partita_"):
        name = "klee_" + name[8:]
    if name.startswith("__VERIFIER_nondet_") and name != "__VERIFIER_nondet_memory":
        return _nondet
    if name.startswith(HANDLER):
        return _failed_check
    return _MODELS.get(name) or (_printing if name in PRINTING else None)


def callee(m: Machine, target: Any) -> int:
    """Number of the function at an address."""
    count = len(m.program.functions)
    point = m.point("target", "call")
    if point or not isinstance(target, int):
        functions = [FUNCTIONS + 16 * i for i in range(count)]
        if point:
            taken = m.target(point, lambda address: apply("=", 64, target, address), functions)
            target = m.path.evaluator.of(target) if taken < 0 else taken
        else:
            target = m.value(target, 64, "a callee")
    if target < NULL_PAGE:
        raise EndedError("null")
    if not FUNCTIONS <= target < FUNCTIONS + 16 * count or target % 16:
        raise EndedError("model-error")
    return int(target - FUNCTIONS) // 16


def call(m: Machine, name: str, args: Args, width: int) -> Any:
    model = find(name)
    if model is None:
        raise NoSemanticsError(f"the function `{name}`")
    return model(m, name, args, width)


def _failed_check(m: Machine, name: str, args: Args, _width: int) -> None:
    ending = FAILED_CHECKS.get(name.removeprefix(HANDLER))
    if ending is None:
        raise NoSemanticsError(f"the function `{name}`")
    if ending == "float-cast" and not m.options.get("float_cast", True):
        return
    if name.endswith("divrem_overflow"):
        if not isinstance(args[2][1], int):
            raise NoSemanticsError("a division by an input that the compiler checks")
        ending = "overflow" if args[2][1] else "division-by-zero"
    raise EndedError(ending)


def argument(m: Machine, name: str, args: Args, i: int) -> int:
    return m.value(args[i][1], args[i][0], f"argument {i + 1} of `{name}`")


def text(m: Machine, address: int, purpose: str) -> bytes:
    found = bytearray()
    while byte := m.value(m.load(address + len(found), 8), 8, purpose):
        found.append(byte)
    return bytes(found)


def new_input(m: Machine, name: bytes, size: int) -> str:
    """Variable of the next input."""
    rows = m.tree.inputs(m.path.side)
    shown = name.decode(errors="replace") or "unnamed"
    if m.path.inputs >= len(rows) or (rows[m.path.inputs][0], len(rows[m.path.inputs][2])) != (shown, size):
        raise m.reject(f"the program makes an input `{shown}` of {size} bytes, the tests have another")
    m.path.inputs += 1
    return str(rows[m.path.inputs - 1][1])


def fresh(m: Machine, name: bytes, width: int) -> Any:
    variable = new_input(m, name, (width + 7) // 8)
    return extract(join([byte_of(variable, i) for i in range((width + 7) // 8)]), 0, width)


def join(parts: list[Any]) -> Any:
    value = parts[0]
    for i, part in enumerate(parts[1:], 1):
        value = concat(part, 8, value, 8 * i)
    return value


def _make_symbolic(m: Machine, name: str, args: Args, width: int) -> None:
    address, size = argument(m, name, args, 0), argument(m, name, args, 1)
    label = argument(m, name, args, 2)
    shown = text(m, label, "the name of an input") if label else b""
    found = m.path.memory.objects.get(m.path.memory.window(address) or 0)
    if found is None:
        raise m.path.memory.fault(address, "write")
    if (address, size) != (found.base, len(found.data)) or found.is_constant:
        raise EndedError("model-error")
    if size:
        variable, found = new_input(m, shown, size), m.path.memory.own(address)
        found.terms, found.blank = {i: byte_of(variable, i) for i in range(size)}, None


def _nondet(m: Machine, name: str, args: Args, width: int) -> Any:
    kind = name[18:]
    if width == 32 and kind in _NARROW:
        bits, extend = _NARROW[kind]
        return extend(fresh(m, kind.encode(), bits), bits, width)
    return fresh(m, kind.encode(), width) if width else None


def _int(m: Machine, name: str, args: Args, width: int) -> Any:
    label = argument(m, name, args, 0)
    return fresh(m, text(m, label, "the name of an input") if label else b"", 32)


def _range(m: Machine, name: str, args: Args, width: int) -> Any:
    begin, end = argument(m, name, args, 0), argument(m, name, args, 1)
    label = argument(m, name, args, 2)
    shown = text(m, label, "the name of an input") if label else b""
    if not apply("bvslt", 32, begin, end):
        raise EndedError("model-error")
    inputs = m.path.inputs
    value = fresh(m, shown, 32)
    inside = apply("bvand", 1, apply("bvsle", 32, begin, value), apply("bvslt", 32, value, end))
    m.assume(inside, "model-error")
    m.path.inputs = inputs + 1
    return value


def _truth(args: Args, i: int) -> Any:
    return negation(apply("=", args[i][0], args[i][1], 0))


def _assume(m: Machine, name: str, args: Args, width: int) -> None:
    m.assume(_truth(args, 0), "dropped" if name.startswith("__VERIFIER") else "model-error")


def _assert(m: Machine, name: str, args: Args, width: int) -> None:
    m.require(_truth(args, 0), "assert")


def _get_value(m: Machine, name: str, args: Args, width: int) -> Any:
    return m.value(args[0][1], args[0][0], "the value of an expression")


def _bug(ending: str) -> Any:
    def model(m: Machine, name: str, args: Args, width: int) -> None:
        raise EndedError(ending)

    return model


def _nothing(m: Machine, name: str, args: Args, width: int) -> Any:
    return 0 if width else None


def _allocate(m: Machine, name: str, size: Any) -> int:
    if not isinstance(size, int) and m.decide(apply("bvule", 64, MAX_MALLOC, size)):
        return _failed(m)
    count = m.value(size, 64, f"the size for `{name}`")
    return _failed(m) if count >= MAX_MALLOC else m.path.memory.allocate(count, "heap", is_blank=name != "calloc")


def _failed(m: Machine) -> int:
    m.store(errno(m), 12, 32)
    return 0


def errno(m: Machine) -> int:
    m.path.errno = m.path.errno or m.path.memory.allocate(4, "global")
    return m.path.errno


def _product(m: Machine, count: Any, size: Any) -> Any:
    wide = apply("bvmul", 128, zext(count, 64, 128), zext(size, 64, 128))
    fits = apply("=", 64, extract(wide, 64, 64), 0)
    return None if m.decide(negation(fits)) else apply("bvmul", 64, count, size)


def _malloc(m: Machine, name: str, args: Args, width: int) -> int:
    return _allocate(m, name, args[1 if name in ("memalign", "aligned_alloc") else 0][1])


def _calloc(m: Machine, name: str, args: Args, width: int) -> int:
    size = _product(m, args[0][1], args[1][1])
    return _failed(m) if size is None else _allocate(m, name, size)


def heap_object(m: Machine, address: int) -> int:
    found = m.path.memory.objects.get(m.path.memory.window(address) or 0)
    if found is None:
        base = m.path.memory.window(address)
        raise EndedError("double-free" if base in m.path.memory.freed else "invalid-free")
    if found.kind != "heap" or found.base != address:
        raise EndedError("invalid-free")
    return address


def _free(m: Machine, name: str, args: Args, width: int) -> None:
    address = argument(m, name, args, 0)
    if address:
        m.path.memory.remove(heap_object(m, address))


def _realloc(m: Machine, name: str, args: Args, width: int) -> int:
    address = argument(m, name, args, 0)
    size = args[1][1] if name == "realloc" else _product(m, args[1][1], args[2][1])
    if size is None:
        return _failed(m)
    if not address:
        return _allocate(m, name, size)
    old = heap_object(m, address)
    new = _allocate(m, name, size)
    if new:
        kept = min(len(m.path.memory.objects[base].data) for base in (old, new))
        copy_bytes(m, new, address, kept)
        m.path.memory.remove(old)
    return new


def _rooms(m: Machine, length: Any, rooms: list[tuple[Any, str]]) -> int | None:
    """Bounds a symbolic length by the rooms at concrete addresses; None where the executor takes its values apart."""
    most = []
    for address, verb in rooms:
        if not isinstance(address, int):
            return None
        found, offset = m.path.memory.at(address, 0, verb)
        m.require(apply("bvule", 64, length, len(found.data) - offset), f"out-of-bounds-{verb}")
        most.append(len(found.data) - offset)
    return min(most) if min(most) <= MAX_SYMBOLIC else None


def copy_bytes(m: Machine, to: Any, source: Any, count: Any, *, overlap: bool = False) -> None:
    memory = m.path.memory
    if not isinstance(count, int) and not m.point("value", "the length of a copy"):
        most = _rooms(m, count, [(source, "read"), (to, "write")])
        if most is not None and not m.point("value", "the length of a copy"):
            (a, at), (b, start) = memory.at(source, 0, "read"), memory.at(to, 0, "write")
            if not overlap and a.base == b.base:
                _stay_apart(m, start, at, count)
            new = [a.byte(at + i) for i in range(most)]
            _write_below(memory.own(b.base), start, new, count)
            return
    count = m.value(count, 64, "the length of a copy")
    if not count:
        return
    base, offset = m.locate(source, count, "read")
    place, start = m.locate(to, count, "write")
    if not overlap and base == place:
        _stay_apart(m, start, offset, count)
    if not isinstance(offset, int) or not isinstance(start, int):
        if count > MAX_SYMBOLIC:
            offset, start = m.value(offset, 64, "the source of a copy"), m.value(start, 64, "the destination of a copy")
        else:
            found = memory.objects[base]
            value = found.read(offset, count) if isinstance(offset, int) else found.read_among(offset, count)
            found = memory.own(place)
            (found.write if isinstance(start, int) else found.write_among)(start, value, count)
            return
    found = memory.objects[base]
    data = bytes(found.data[offset : offset + count])
    terms = {i - offset: term for i, term in found.terms.items() if offset <= i < offset + count}
    if found.is_blank(offset, count):
        terms.update({i: found.byte(offset + i) for i in range(count) if found.is_blank(offset + i, 1)})
    found = memory.own(place)
    if found.blank is not None:
        found.blank[start : start + count] = bytes(count)
    found.data[start : start + count] = data
    for i in [i for i in found.terms if start <= i < start + count]:
        del found.terms[i]
    found.terms.update({start + i: term for i, term in terms.items()})


def _stay_apart(m: Machine, to: Any, source: Any, count: Any) -> None:
    """Ends the paths on which two ranges of one object overlap and are not equal."""
    distances = (apply("bvsub", 64, to, source), apply("bvsub", 64, source, to))
    meet = disjunction(apply("bvult", 64, distance, count) for distance in distances)
    m.require(disjunction([negation(meet), apply("=", 64, to, source)]), "overlap")


def _write_below(found: Any, start: int, new: list[Any], length: Any) -> None:
    for i, byte in enumerate(new):
        found.write(start + i, ite(apply("bvult", 64, i, length), byte, found.byte(start + i), 8), 1)


def set_bytes(m: Machine, to: Any, byte: Any, count: Any) -> None:
    if not isinstance(count, int) and not m.point("value", "the length of a memset"):
        most = _rooms(m, count, [(to, "write")])
        if most is not None and not m.point("value", "the length of a memset"):
            found, start = m.path.memory.at(to, 0, "write")
            _write_below(m.path.memory.own(found.base), start, [byte] * most, count)
            return
    count = m.value(count, 64, "the length of a memset")
    if not count:
        return
    base, offset = m.locate(to, count, "write")
    if not isinstance(offset, int):
        if count <= MAX_SYMBOLIC:
            m.path.memory.own(base).write_among(offset, join([byte] * count), count)
            return
        offset = m.value(offset, 64, "the destination of a memset")
    found = m.path.memory.own(base)
    for i in range(count):
        found.write(offset + i, byte, 1)


def _copy(m: Machine, name: str, args: Args, width: int) -> Any:
    _fortified(m, name, args)
    copy_bytes(m, args[0][1], args[1][1], args[2][1], overlap="memmove" in name)
    if name != "mempcpy":
        return args[0][1]
    return argument(m, name, args, 0) + argument(m, name, args, 2)


def _fortified(m: Machine, name: str, args: Args) -> None:
    if name.endswith("_chk"):
        m.require(apply("bvule", 64, args[2][1], args[3][1]), "abort")


def _set(m: Machine, name: str, args: Args, width: int) -> Any:
    _fortified(m, name, args)
    byte = 0 if name == "bzero" else extract(args[1][1], 0, 8)
    set_bytes(m, args[0][1], byte, args[1 if name == "bzero" else 2][1])
    return args[0][1] if width else None


def string(m: Machine, name: str, args: Args, i: int, count: int) -> list[Any]:
    """Bytes from an argument to the end of their object."""
    base, offset = m.locate(args[i][1], count, "read")
    offset = m.value(offset, 64, f"argument {i + 1} of `{name}`")
    found = m.path.memory.objects[base]
    return [found.byte(at) for at in range(offset, len(found.data))]


def _length(m: Machine, name: str, args: Args, width: int) -> Any:
    most = argument(m, name, args, 1) if name == "strnlen" else 1 << 64
    if not most:
        return 0
    data, ends, result = string(m, name, args, 0, 1), [], None
    for i, byte in enumerate(data[:most]):
        if byte == 0:
            result = i
            break
        ends.append((i, apply("=", 8, byte, 0)))
    if result is None and len(data) >= most:
        result = most
    elif result is None:
        m.require(disjunction(end for _, end in ends), "out-of-bounds-read")
        result = len(data)
    for i, end in reversed(ends):
        result = ite(end, i, result, 64)
    return result


def _lower(byte: Any) -> Any:
    capital = apply("bvult", 8, apply("bvsub", 8, byte, ord("A")), 26)
    return ite(capital, apply("bvor", 8, byte, 0x20), byte, 8)


def _compare(m: Machine, name: str, args: Args, width: int) -> Any:
    bounded, memory = len(args) > 2, name in ("memcmp", "bcmp")
    most = argument(m, name, args, 2) if bounded else 1 << 64
    if not most:
        return 0
    a, b = (string(m, name, args, i, most if memory else 1) for i in (0, 1))
    if "case" in name:
        a, b = [_lower(byte) for byte in a], [_lower(byte) for byte in b]
    steps, goes_on, rest = [], 1, 0
    for i in range(min(most, 1 << 20)):
        if i == min(len(a), len(b)):
            if not memory:
                m.require(negation(goes_on), "out-of-bounds-read")
            break
        same = apply("=", 8, a[i], b[i])
        difference = apply("bvsub", 32, zext(a[i], 8, 32), zext(b[i], 8, 32))
        if same == 0:
            rest = difference
            break
        ends = 0 if memory else apply("=", 8, a[i], 0)
        steps.append((same, ends, difference))
        goes_on = apply("bvand", 1, goes_on, apply("bvand", 1, same, negation(ends)))
        if ends == 1 or (not memory and b[i] == 0):
            break
    result: Any = rest
    for same, ends, difference in reversed(steps):
        result = ite(same, ite(ends, 0, result, 32), difference, 32)
    return result


def _search(m: Machine, name: str, args: Args, width: int) -> Any:
    """Position of a byte among concrete bytes; -1 if absent, -2 if the caller must look itself."""
    bytewise, absent = (1 << 64) - 2, (1 << 64) - 1
    count = args[2][1] if len(args) > 2 else 1 << 64
    if not isinstance(count, int):
        return bytewise
    if count == 0:
        return absent
    data, sought = string(m, name, args, 0, 1), extract(args[1][1], 0, 8)
    is_string, last = "memchr" not in name, "strrchr" in name
    kept: list[int] = []
    while len(kept) < count:
        if len(kept) == len(data) or not isinstance(data[len(kept)], int):
            return bytewise
        kept.append(data[len(kept)])
        if (kept[-1] == sought and not last) or (is_string and kept[-1] == 0):
            break
    places = {byte: i for i, byte in (enumerate(kept) if last else reversed(list(enumerate(kept))))}
    result: Any = absent
    for byte, i in places.items():
        result = ite(apply("=", 8, sought, byte), i, result, 64)
    return result


def _exit(m: Machine, name: str, args: Args, width: int) -> Any:
    if name != "exit":
        raise EndedError(f"exit {m.path.evaluator.of(m.settle(args[0][1], 32)) & 0xFF}")
    m.path.stage = ("exit", (args[0][1], 0))
    m.next_stage()
    return JUMPED


def _atexit(m: Machine, name: str, args: Args, width: int) -> int:
    m.path.handlers.append((argument(m, name, args, 0) - FUNCTIONS) // 16)
    return 0


def _errno(m: Machine, name: str, args: Args, width: int) -> int:
    return errno(m)


def _setjmp(m: Machine, name: str, args: Args, width: int) -> int:
    frame = m.frame
    if frame.pc in frame.jumps:
        token = frame.jumps[frame.pc][0]
    else:
        token = FIRST_TOKEN + m.path.setjmp_calls
        m.path.setjmp_calls += 1
    m.store(args[0][1], token, 64)
    frame.jumps[frame.pc] = token, len(frame.dynamic)
    return 0


def _longjmp(m: Machine, name: str, args: Args, width: int) -> Any:
    token = m.value(m.load(args[0][1], 64), 64, "a jmp_buf")
    found = [(pc, dynamic) for frame in m.path.frames for pc, (t, dynamic) in frame.jumps.items() if t == token]
    if not found:
        raise EndedError("model-error")
    value = ite(apply("=", 32, args[1][1], 0), 1, args[1][1], 32)
    while all(t != token for t, _ in m.frame.jumps.values()):
        m.end_locals()
        m.path.frames.pop()
    pc, dynamic = found[0]
    m.restore_stack(dynamic)
    inst = m.program.functions[m.frame.function].insts[pc]
    if inst[3]:
        m.set(inst[4], value)
    m.frame.pc = pc + 1
    return JUMPED


def _printing(m: Machine, name: str, args: Args, width: int) -> Any:
    """Follows what the executor's model decided. Its result is not known here."""
    while (point := m.tree.points.get(m.path.side)) and point.step == m.path.step:
        if not point.condition:
            raise NoSemanticsError(f"a decision of `{name}` about a {point.kind}")
        condition = read(point.condition)
        taken = m.consume(point, {1: condition, 0: negation(condition)})
        if point.kind == "check" and not taken:
            bug = point.purpose
            raise EndedError(f"out-of-bounds-{bug}" if bug in ("read", "write") else bug)
    leaf = m.tree.leaves.get(m.path.side)
    if leaf and leaf.step == m.path.step and not leaf.ending.startswith("exit"):
        raise EndedError(leaf.ending)
    return make("opaque", (name, m.path.step, m.path.side), width) if width else None


_GROUPS: list[tuple[str, Any]] = [
    ("klee_make_symbolic", _make_symbolic), ("klee_int", _int), ("klee_range", _range),
    ("klee_assume __VERIFIER_assume", _assume), ("__VERIFIER_assert", _assert),
    ("klee_get_valuef klee_get_valued klee_get_valuel klee_get_valuell klee_get_value_i32 klee_get_value_i64",
     _get_value),
    ("klee_abort abort", _bug("abort")),
    ("klee_assert_fail klee_report_error __assert_fail __assert_rtn __VERIFIER_error reach_error", _bug("assert")),
    ("klee_prefer_cex klee_posix_prefer_cex klee_mark_global klee_open_merge klee_close_merge klee_warning"
     " klee_warning_once klee_stack_trace klee_print_expr klee_print_range klee_is_replay __cxa_finalize"
     " __VERIFIER_atomic_begin __VERIFIER_atomic_end __partita_target __partita_atomic_begin"
     " __partita_atomic_end", _nothing),
    ("malloc valloc memalign aligned_alloc", _malloc), ("calloc", _calloc), ("free", _free),
    ("realloc reallocarray", _realloc), ("memcpy memmove mempcpy __memcpy_chk __memmove_chk", _copy),
    ("memset bzero __memset_chk", _set), ("strlen strnlen", _length),
    ("memcmp bcmp strcmp strcoll strncmp __partita_strcasecmp __partita_strncasecmp", _compare),
    ("__partita_thread_local", lambda _m, _name, args, _width: args[0][1]),
    ("__partita_memchr __partita_strchr __partita_strrchr", _search),
    ("exit _exit _Exit quick_exit klee_silent_exit", _exit), ("atexit", _atexit), ("__errno_location", _errno),
    ("setjmp _setjmp sigsetjmp __sigsetjmp", _setjmp), ("longjmp _longjmp siglongjmp", _longjmp),
]  # fmt: skip
_MODELS = {name: model for names, model in _GROUPS for name in names.split()}
