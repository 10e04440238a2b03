"""Cases for LLVM's intrinsics in the register of models: functions in LLVM text that call one intrinsic each.

The argument is a word of two input bytes. Integers are the bytes, numbers of `float` are the word divided by 8.
Intrinsics that the compiler of native programs does not have are other instructions there, which say what they mean.
"""

from __future__ import annotations

from pathlib import Path

from partita.llvm.intrinsics import names
from support.register import Probe

# Suffix of the overloaded name, type of the result, types of the arguments (`name=value` is a constant).
_BYTE = "i8 i8 i8"
_SIMPLE: dict[str, str] = {
    "ctpop": ".i8 i8 i8",
    "ctlz": ".i8 i8 i8 i1=false",
    "cttz": ".i8 i8 i8 i1=false",
    "abs": ".i8 i8 i8 i1=false",
    "bswap": ".i16 i16 i16",
    "bitreverse": ".i16 i16 i16",
    **dict.fromkeys("smin smax umin umax".split(), f".i8 {_BYTE}"),
    **dict.fromkeys("uadd.sat sadd.sat usub.sat ssub.sat ushl.sat sshl.sat".split(), ".i8 i8 i8 i8=3"),
    **{f"{sign}{op}.with.overflow": ".i8 {i8,i1} i8 i8" for sign in "su" for op in ("add", "sub", "mul")},
    **dict.fromkeys(("fshl", "fshr"), ".i8 i8 i8 i8 i8=3"),
    **dict.fromkeys(("scmp", "ucmp"), ".i8.i8 i8 i8 i8"),
    "expect": ".i16 i16 i16 i16=3",
    "expect.with.probability": ".i16 i16 i16 i16=3 double=0.5",
    "is.constant": ".i8 i1 i8",
    **dict.fromkeys("fabs sqrt floor ceil trunc rint round roundeven nearbyint".split(), ".f32 float float"),
    **dict.fromkeys("canonicalize arithmetic.fence".split(), ".f32 float float"),
    **dict.fromkeys("copysign minnum maxnum minimum maximum".split(), ".f32 float float float=1.5"),
    **dict.fromkeys("minimumnum maximumnum".split(), ".f32 float float float=1.5"),
    **dict.fromkeys(("fma", "fmuladd"), ".f32 float float float=1.5 float=-2.0"),
    **dict.fromkeys("lrint llrint lround llround".split(), ".i64.f32 i64 float"),
    **dict.fromkeys(("fptosi.sat", "fptoui.sat"), ".i8.f32 i8 float"),
    "is.fpclass": ".f32 i1 float i32=264",
    "ssa.copy": ".i16 i16 i16",
    **dict.fromkeys("allow.runtime.check".split(), ' i1 metadata=!"check"'),
    "allow.ubsan.check": " i1 i8=3",
    **dict.fromkeys("get.rounding flt.rounds".split(), " i32"),
}

# Functions of mathematics, which musl's code computes: few arguments, because it forks.
_MATHEMATICS: dict[str, str] = {
    **dict.fromkeys(
        "sin cos tan asin acos atan sinh cosh tanh exp exp2 exp10 log log2 log10".split(), ".f32 float few"
    ),
    **dict.fromkeys(("pow", "atan2"), ".f32 float few float=1.5"),
    "powi": ".f32.i32 float few i32=3",
    "ldexp": ".f32.i32 float few i32=3",
}

_ROUNDING, _EXCEPTIONS = 'metadata=!"round.tonearest"', 'metadata=!"fpexcept.ignore"'
_BOTH = f"{_ROUNDING} {_EXCEPTIONS}"
# Whether a constrained intrinsic has the rounding mode as an argument.
_NO_MODE = (
    "fptosi fptoui fpext fcmp fcmps ceil floor trunc round roundeven lround llround minnum maxnum minimum maximum"
).split()
_CONSTRAINED: dict[str, str] = {
    **dict.fromkeys("fadd fsub fmul fdiv frem".split(), ".f32 float float float=1.5"),
    **dict.fromkeys("fptosi fptoui".split(), ".i32.f32 i32 positive"),
    "sitofp": ".f32.i16 float i16",
    "uitofp": ".f32.i16 float i16",
    "fpext": ".f64.f32 double float",
    "fptrunc": ".f32.f64 float double",
    "fcmp": '.f32 i1 float float=1.5 metadata=!"olt"',
    "fcmps": '.f32 i1 float float=1.5 metadata=!"olt"',
    **{
        name: {**_SIMPLE, **_MATHEMATICS}[name]
        for name in (
            "sqrt floor ceil trunc rint round roundeven nearbyint minnum maxnum minimum maximum fma fmuladd lrint"
            " llrint lround llround sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10 pow"
            " powi ldexp"
        ).split()
    },
}
for _name, _case in _CONSTRAINED.items():
    _last = _EXCEPTIONS if _name in _NO_MODE else _BOTH
    _target = _MATHEMATICS if _name in _MATHEMATICS else _SIMPLE
    _target[f"experimental.constrained.{_name}"] = f"{_case} {_last}"

_VECTOR = "\n".join(
    [
        "  %v0 = insertelement <3 x i8> <i8 5, i8 -7, i8 100>, i8 %lo, i32 0",
        "  %v = insertelement <3 x i8> %v0, i8 %hi, i32 1",
    ]
)
_FLOATS = "\n".join(
    [
        "  %v0 = insertelement <3 x float> <float 5.0, float -7.0, float 100.0>, float %f, i32 0",
        "  %v = insertelement <3 x float> %v0, float 0.5, i32 1",
    ]
)


def _reduced(name: str) -> str:
    op = name.rpartition(".")[2]
    if op.startswith("f"):
        start = "float 0.25, " if op in ("fadd", "fmul") else ""
        call = f"  %r = call float @llvm.{name}.v3f32({start}<3 x float> %v)"
        return f"{_FLOATS}\n{call}\n  %b = bitcast float %r to i32\n  %w = zext i32 %b to i64"
    return f"{_VECTOR}\n  %r = call i8 @llvm.{name}.v3i8(<3 x i8> %v)\n  %w = zext i8 %r to i64"


def _sections() -> dict[str, str]:
    """The parts of `intrinsics.ll` by name."""
    parts = (Path(__file__).parent / "intrinsics.ll").read_text().split("\n## ")[1:]
    return {name: body.strip("\n") for name, _, body in (part.partition("\n") for part in parts)}


_TEXTS = _sections()
_GLOBALS = _TEXTS.pop("globals") + "\n"
# Meaning of intrinsics that the native compiler does not have.
_NATIVE: dict[str, str] = {name[7:]: body for name, body in _TEXTS.items() if name.startswith("native ")}
_BODIES: dict[str, str] = {
    **{name: _reduced(name) for name in names() if name.startswith("vector.reduce.")},
    **{name: body for name, body in _TEXTS.items() if not name.startswith("native ")},
}
# Declarations that a call does not show.
_DECLARED: dict[str, str] = {
    "dbg": "declare void @llvm.dbg.value(metadata, metadata, metadata)",
    "experimental.noalias.scope.decl": "declare void @llvm.experimental.noalias.scope.decl(metadata)",
    "fake.use": "declare void @llvm.fake.use(...)",
}
_PARAMETERS = """  %lo = trunc i16 %n to i8
  %h = lshr i16 %n, 8
  %hi = trunc i16 %h to i8
  %number = sitofp i16 %n to float
  %f = fdiv float %number, 8.0
"""
_SOURCES = {
    "i16": ("i16", "%n", ""),
    "float": ("float", "%f", ""),
    "double": ("double", "%d", "  %d = fpext float %f to double\n"),
    "positive": ("float", "%d", "  %d = call float @llvm.fabs.f32(float %f)\n"),
    "few": ("float", "%d", "  %m = and i16 %n, 3\n  %g = sitofp i16 %m to float\n  %d = fmul float %g, 0.25\n"),
}


def _call(name: str, case: str) -> str:
    """The body of a function that calls the intrinsic with a signature."""
    suffix, result, *types = case.split(" ")
    lines, arguments, bytes_used = [], [], 0
    for text in types:
        type_, _, constant = text.partition("=")
        if constant:
            arguments.append(f"{type_} {constant}")
        elif type_ == "i8":
            arguments.append("i8 %hi" if bytes_used else "i8 %lo")
            bytes_used += 1
        else:
            type_, value, before = _SOURCES[type_]
            lines += [before.rstrip("\n")] if before else []
            arguments.append(f"{type_} {value}")
    lines.append(f"  %r = call {result} @llvm.{name}{suffix}({', '.join(arguments)})")
    if result.startswith("{"):
        lines += ["  %v = extractvalue {i8,i1} %r, 0", "  %o = extractvalue {i8,i1} %r, 1", "  %x = zext i8 %v to i64"]
        lines += ["  %y = zext i1 %o to i64", "  %z = shl i64 %y, 8", "  %w = or i64 %x, %z"]
    elif result == "float":
        lines += ["  %v = bitcast float %r to i32", "  %w = zext i32 %v to i64"]
    elif result == "double":
        lines.append("  %w = bitcast double %r to i64")
    elif result == "i64":
        lines.append("  %w = add i64 %r, 0")
    else:
        lines.append(f"  %w = zext {result} %r to i64")
    return "\n".join(lines)


_NATIVE["atan2"] = _NATIVE["experimental.constrained.atan2"] = _call("atan2", _MATHEMATICS["atan2"]).replace(
    "@llvm.atan2.f32", "@atan2f"
)
for _name in ("minimum", "maximum"):
    _NATIVE[f"experimental.constrained.{_name}"] = _call(_name, _SIMPLE[_name])
# musl has no `roundeven`, which is `rint` in the default rounding mode.
_NATIVE["roundeven"] = _NATIVE["experimental.constrained.roundeven"] = _call("rint", _SIMPLE["rint"])
# Cases that end the path, each with its ending.
ENDINGS = {
    "trap": ("call void @llvm.trap()", "abort"),
    "debugtrap": ("call void @llvm.debugtrap()", "abort"),
    "ubsantrap": ("call void @llvm.ubsantrap(i8 0)", "overflow"),
}
# Addresses that a path does not have: counted where they decide something.
UNKNOWN = {
    "frameaddress": "call ptr @llvm.frameaddress.p0(i32 0)",
    "returnaddress": "call ptr @llvm.returnaddress(i32 0)",
    "addressofreturnaddress": "call ptr @llvm.addressofreturnaddress.p0()",
    "sponentry": "call ptr @llvm.sponentry.p0()",
}
# Calls in C: only a compiler surrounds them with the right instructions.
# Only code with exceptions has them: `whole/test_cpp.py`.
IN_CPP = ("eh.typeid.for",)
IN_C = {
    **dict.fromkeys(("va_start", "va_copy", "va_end"), "put(&(int){sum(1, N)}, 4);"),
    **dict.fromkeys(("eh.sjlj.setjmp", "eh.sjlj.longjmp"), "builtin_jump(in[0]);"),
}
C_FUNCTIONS = """
static int sum(int count, ...) {
  va_list list, other;
  va_start(list, count);
  va_copy(other, list);
  int found = va_arg(list, int) + 3 * va_arg(other, int);
  va_end(other);
  va_end(list);
  return found;
}
static void *jump_buffer[5];
static void __attribute__((noinline)) jump_back(void) { __builtin_longjmp(jump_buffer, 1); }
static void __attribute__((noinline)) builtin_jump(int value) {
  volatile int kept = value;
  if (!__builtin_setjmp(jump_buffer)) {
    kept += 3;
    jump_back();
  }
  put((const void *)&kept, 4);
}
"""
CASES = sorted({*_SIMPLE, *_MATHEMATICS, *_BODIES})
WITH_MUSL = frozenset(_MATHEMATICS)


def symbol(name: str) -> str:
    return "ll_" + name.replace(".", "_")


def _body(name: str) -> str:
    return _BODIES.get(name) or _call(name, {**_SIMPLE, **_MATHEMATICS}[name])


def text(selected: list[str], *, native: bool = False) -> str:
    """The functions as LLVM text."""
    functions, declared = [], dict[str, str]()
    for name in selected:
        body = _NATIVE.get(name, _body(name)) if native else _body(name)
        for line in body.splitlines():
            found = _declaration(line)
            declared.update((found and {found[0]: found[1]}) or {})
        if name in _DECLARED and not (native and name in _NATIVE):
            declared[_DECLARED[name].split("@")[1].split("(")[0]] = _DECLARED[name]
        functions.append(f"define i64 @{symbol(name)}(i16 %n) {{\n{_PARAMETERS}{body}\n  ret i64 %w\n}}\n")
    return "\n".join([_GLOBALS, *declared.values(), *functions])


def _declaration(line: str) -> tuple[str, str] | None:
    """The declaration of the intrinsic that a line calls."""
    if "call " not in line or "metadata !0" in line or "metadata i64" in line:
        return None
    head, _, rest = line.partition("@")
    called, _, arguments = rest.partition("(")
    result = head.split("call ")[1].strip()
    if result.endswith("(...)"):
        return None
    depth, types, current = 0, [], ""
    for c in arguments.rstrip()[:-1] + ",":
        depth += (c in "<{") - (c in ">}")
        if c == "," and not depth:
            types.append(current.strip().rsplit(" ", 1)[0])
            current = ""
        else:
            current += c
    return called, f"declare {result} @{called}({', '.join(type_ for type_ in types if type_)})"


def declarations(selected: list[str]) -> str:
    return "".join(f"long {symbol(name)}(short);\n" for name in selected)


def ending_text(name: str) -> str:
    """A program that ends with the intrinsic."""
    call = ENDINGS[name][0]
    declared = call.replace("i8 0", "i8 immarg")
    return f"declare {declared.removeprefix('call ')}\ndefine i32 @main() {{\n  {call}\n  unreachable\n}}\n"


def unknown_text(name: str) -> str:
    """A program that decides by such an address."""
    call = UNKNOWN[name]
    declared = call.replace("i32 0", "i32").removeprefix("call ")
    lines = [f"declare {declared}", "define i32 @main() {", f"  %p = {call}", "  %c = icmp eq ptr %p, null"]
    return "\n".join([*lines, "  br i1 %c, label %a, label %b", "a:", "  ret i32 0", "b:", "  ret i32 1", "}", ""])


def probes(selected: list[str]) -> list[Probe]:
    calls = [(name, f"put(&(long){{{symbol(name)}((short)N)}}, 8);") for name in selected]
    return [Probe(symbol(name), 0, call, needs_musl=name in WITH_MUSL) for name, call in calls]
