"""Cases for LLVM's intrinsics in the register of models: functions in LLVM text that call one intrinsic each.

The argument is a word of two input bytes. Integers are the bytes, numbers of `float` are the word divided by 8.
"""

from __future__ import annotations

from support.register import Probe

# Suffix of the overloaded name, type of the result, types of the arguments (`name=value` is a constant).
_BYTE = "i8 i8 i8"
CASES: dict[str, str] = {
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
    "is.constant": ".i8 i1 i8",
    **dict.fromkeys("fabs sqrt floor ceil trunc rint round roundeven nearbyint".split(), ".f32 float float"),
    **dict.fromkeys("copysign minnum maxnum minimum maximum".split(), ".f32 float float float=1.5"),
    **dict.fromkeys(("fma", "fmuladd"), ".f32 float float float=1.5 float=-2.0"),
    **dict.fromkeys("lrint llrint lround llround".split(), ".i64.f32 i64 float"),
    **dict.fromkeys(("fptosi.sat", "fptoui.sat"), ".i8.f32 i8 float"),
    "is.fpclass": ".f32 i1 float i32=264",
}


def symbol(name: str) -> str:
    return "ll_" + name.replace(".", "_")


def _function(name: str, case: str) -> str:
    suffix, result, *types = case.split()
    lines, arguments, declared, bytes_used = [], [], [], 0
    for i, text in enumerate(types):
        type_, _, constant = text.partition("=")
        declared.append(type_)
        if constant:
            arguments.append(f"{type_} {constant}")
            continue
        if type_ == "i8":
            source = "%n"
            if bytes_used:
                lines.append("  %high = lshr i16 %n, 8")
                source = "%high"
            bytes_used += 1
            lines.append(f"  %a{i} = trunc i16 {source} to i8")
        elif type_ == "i16":
            lines.append(f"  %a{i} = add i16 %n, 0")
        else:
            lines += [f"  %f{i} = sitofp i16 %n to float", f"  %a{i} = fdiv float %f{i}, 8.0"]
        arguments.append(f"{type_} %a{i}")
    lines.append(f"  %r = call {result} @llvm.{name}{suffix}({', '.join(arguments)})")
    if result.startswith("{"):
        lines += ["  %v = extractvalue {i8,i1} %r, 0", "  %o = extractvalue {i8,i1} %r, 1", "  %x = zext i8 %v to i64"]
        lines += ["  %y = zext i1 %o to i64", "  %z = shl i64 %y, 8", "  %w = or i64 %x, %z"]
    elif result == "float":
        lines += ["  %v = bitcast float %r to i32", "  %w = zext i32 %v to i64"]
    elif result == "i64":
        lines.append("  %w = add i64 %r, 0")
    else:
        lines.append(f"  %w = zext {result} %r to i64")
    body = "\n".join(lines)
    head = f"declare {result} @llvm.{name}{suffix}({', '.join(declared)})"
    return f"{head}\ndefine i64 @{symbol(name)}(i16 %n) {{\n{body}\n  ret i64 %w\n}}\n"


def text(names: list[str]) -> str:
    """The functions as LLVM text."""
    return "\n".join(_function(name, CASES[name]) for name in names)


def declarations(names: list[str]) -> str:
    return "".join(f"long {symbol(name)}(short);\n" for name in names)


def probes(names: list[str]) -> list[Probe]:
    return [Probe(symbol(name), 0, f"put(&(long){{{symbol(name)}((short)N)}}, 8);") for name in names]
