"""`PrintStream`: standard output is the output of the path; standard error is dropped."""

from __future__ import annotations

from partita.jvm.natives import TABLE, Body, Native
from partita.llvm.write import Operand, integer, reg


def _print(kind: str, newline: bool) -> Native:
    def function(b: Body) -> None:
        fb = b.fb
        out = b.lowering.static_object(fb.part, b.lowering.world.load("java/lang/System"), "out")
        assert out is not None
        end, go = fb.new_block(), fb.new_block()
        value = b.args[1] if kind else None
        text = None
        if value is not None and kind in ("Ljava/lang/String;", "Ljava/lang/Object;", "[C"):
            text = (
                b.java("java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;", value)
                if kind != "[C"
                else b.java("java/lang/String", "valueOf", "([C)Ljava/lang/String;", value)
            )
        fb.branch(fb.compare("eq", 64, b.args[0], out), go, end)
        fb.start(go)
        if kind and text is None:
            assert value is not None
            if kind == "I":
                fb.call("jvm_print_int", [(value, 32)], [])
            elif kind == "J":
                fb.call("jvm_print_long", [(value, 64)], [])
            else:
                symbolic, concrete = fb.new_block(), fb.new_block()
                after = fb.new_block()
                wide = value if kind == "D" else fb.cast("zext", 32, 64, value)
                is_symbolic = fb.call("klee_is_symbolic", [(wide, 64)], [64])
                if kind in "FD":
                    fb.branch(fb.compare("ne", 64, reg(is_symbolic), integer(0)), symbolic, concrete)
                    fb.start(symbolic)
                    fb.call("jvm_print_double", [(value if kind == "D" else fb.float_cast("F", "D", value), 64)], [])
                    fb.jump(after)
                else:
                    fb.jump(concrete)
                fb.start(concrete)
                made = b.java("java/lang/String", "valueOf", f"({kind})Ljava/lang/String;", value)
                _print_text(b, made)
                fb.jump(after)
                fb.start(after)
        elif text is not None:
            _print_text(b, text)
        if newline:
            fb.call("putchar", [(integer(10), 32)], [32])
        fb.jump(end)
        fb.start(end)
        b.ret()

    return function


def _print_text(b: Body, text: Operand) -> None:
    value, coder = b.string_parts(text)
    b.fb.call("jvm_print", [(value, 64), (coder, 8), (integer(0), 32)], [])


for _kind in ("I", "J", "F", "D", "C", "Z", "Ljava/lang/String;", "Ljava/lang/Object;", "[C"):
    TABLE[f"java/io/PrintStream.print({_kind})V"] = _print(_kind, False)
    TABLE[f"java/io/PrintStream.println({_kind})V"] = _print(_kind, True)
TABLE["java/io/PrintStream.println()V"] = _print("", True)
TABLE["java/io/PrintStream.flush()V"] = lambda b: b.ret()


def _formatted(has_locale: bool) -> Native:
    def function(b: Body) -> None:
        locale = "Ljava/util/Locale;" if has_locale else ""
        descriptor = f"({locale}Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/String;"
        text = b.java("java/lang/String", "format", descriptor, *b.args[1:])
        b.java("java/io/PrintStream", "print", "(Ljava/lang/String;)V", b.args[0], text)
        b.ret(b.args[0])

    return function


for _name in ("printf", "format"):
    for _locale in ("", "Ljava/util/Locale;"):
        _types = f"({_locale}Ljava/lang/String;[Ljava/lang/Object;)Ljava/io/PrintStream;"
        TABLE[f"java/io/PrintStream.{_name}{_types}"] = _formatted(bool(_locale))


def _append(kind: str) -> Native:
    def function(b: Body) -> None:
        letter = "C" if kind == "C" else "Ljava/lang/Object;"
        b.java("java/io/PrintStream", "print", f"({letter})V", b.args[0], b.args[1])
        b.ret(b.args[0])

    return function


for _kind in ("C", "Ljava/lang/CharSequence;"):
    TABLE[f"java/io/PrintStream.append({_kind})Ljava/io/PrintStream;"] = _append(_kind)
