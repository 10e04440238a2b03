"""Input from the surroundings of a program: standard input, random seeds, the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.jvm.builder import FunctionBuilder
from partita.jvm.natives import ALIASES, STATIC_OBJECTS, TABLE, Body, Native, count, native
from partita.jvm.symbolic import make_value
from partita.jvm.world import ARRAY_DATA, ARRAY_LENGTH
from partita.llvm.write import Operand, integer, reg

if TYPE_CHECKING:
    from partita.jvm.program import Lowering

SEED = "seed of java.util.Random"
"""Name of the input that is the seed of a `Random` made without one. The virtual machine takes the time."""

STDIN = "stdin"
"""Name of the input that standard input is with `--sym-stdin` (`jvm_standard_input`)."""

_READER = "java/io/InputStreamReader"
_STREAM = "java/io/InputStream"
_SCANNER = "java/util/Scanner"

# Buffers of characters, which `Scanner` has
STATIC_OBJECTS["java/nio/Buffer", "SCOPED_MEMORY_ACCESS"] = "jdk/internal/misc/ScopedMemoryAccess"
ALIASES["java/nio/Buffer", "UNSAFE"] = "jdk/internal/misc/Unsafe", "theUnsafe"

# Standard input is an array of bytes: it does not change while the program runs.
STATIC_OBJECTS["java/lang/System", "in"] = "java/io/ByteArrayInputStream"


def standard_input(lowering: Lowering) -> str:
    """Function that fills `System.in`, once."""
    return lowering.maker("standard input", lambda: _build_input(lowering))


def _build_input(lowering: Lowering) -> None:
    fb = FunctionBuilder(lowering.library, "standard input", [], [])
    b = Body(lowering, fb, None, 0)
    owner = "java/io/ByteArrayInputStream"
    target = lowering.static_object(fb.part, lowering.world.load("java/lang/System"), "in")
    assert target is not None
    place = fb.offset(target, b.field(owner, "buf", "[B"))
    fresh, done = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("eq", 64, fb.load(64, place), integer(0)), fresh, done)
    fb.start(fresh)
    lowering.instantiate(lowering.world.load("[B"))
    data = reg(fb.call("jvm_standard_input", [(lowering.descriptor(fb.part, "[B"), 64)], [64]))
    fb.store(64, data, place)
    fb.store(32, fb.load(32, fb.offset(data, ARRAY_LENGTH)), fb.offset(target, b.field(owner, "count", "I")))
    fb.jump(done)
    fb.start(done)
    fb.ret()
    lowering.builders.append(fb)


def _reader(b: Body) -> None:
    """Characters are the bytes of a stream: those of other languages are not decoded."""
    fb = b.fb
    b.throw_if(fb.compare("eq", 64, b.args[1], integer(0)), "java/lang/NullPointerException")
    fb.store(64, b.args[1], fb.offset(b.args[0], b.field(_READER, "partita$stream", f"L{_STREAM};")))
    fb.store(64, b.args[0], fb.offset(b.args[0], b.field("java/io/Reader", "lock", "Ljava/lang/Object;")))
    b.ret()


for _extra in ("", "Ljava/lang/String;", "Ljava/nio/charset/Charset;"):
    TABLE[f"{_READER}.<init>(L{_STREAM};{_extra})V"] = _reader


def _byte(b: Body) -> Operand:
    fb = b.fb
    stream = fb.load(64, fb.offset(b.args[0], b.field(_READER, "partita$stream", f"L{_STREAM};")))
    b.throw_if(fb.compare("eq", 64, stream, integer(0)), "java/io/IOException")
    return b.java(_STREAM, "read", "()I", stream)


def _check_ascii(b: Body, byte: Operand) -> None:
    fb = b.fb
    other, plain = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("sgt", 32, byte, integer(127)), other, plain)
    fb.start(other)
    fb.unsupported("a character of a stream that is not ASCII")
    fb.start(plain)


@native(f"{_READER}.read()I")
def _read(b: Body) -> None:
    byte = _byte(b)
    _check_ascii(b, byte)
    b.ret(byte)


@native(f"{_READER}.read([CII)I")
def _read_array(b: Body) -> None:
    """Reads to the end of the array or of the stream. The first character may be missing: the end was reached."""
    fb = b.fb
    _self, target, start, length = b.args
    b.throw_if(fb.compare("eq", 64, target, integer(0)), "java/lang/NullPointerException")
    size = fb.load(32, fb.offset(target, 8))
    outside = fb.compare("slt", 32, fb.binary("or", 32, start, length), integer(0))
    beyond = fb.compare("ugt", 32, fb.binary("add", 32, start, length), size)
    b.throw_if(fb.binary("or", 1, outside, beyond), "java/lang/IndexOutOfBoundsException")
    done = fb.new_reg(32)
    head, body, store, end, none, some = (fb.new_block() for _ in range(6))
    fb.jump(head, [(done, integer(0))])
    fb.start(head)
    fb.branch(fb.compare("slt", 32, reg(done), length), body, some)
    fb.start(body)
    byte = _byte(b)
    fb.branch(fb.compare("slt", 32, byte, integer(0)), end, store)
    fb.start(store)
    _check_ascii(b, byte)
    place = fb.offset(target, ARRAY_DATA, (fb.binary("add", 32, start, reg(done)), 32, 2))
    fb.store(16, fb.cast("trunc", 32, 16, byte), place)
    fb.jump(head, [(done, fb.binary("add", 32, reg(done), integer(1)))])
    fb.start(end)
    fb.branch(fb.compare("eq", 32, reg(done), integer(0)), none, some)
    fb.start(none)
    b.ret(integer(0xFFFFFFFF))
    fb.start(some)
    b.ret(reg(done))


@native(f"{_READER}.ready()Z")
def _ready(b: Body) -> None:
    fb = b.fb
    stream = fb.load(64, fb.offset(b.args[0], b.field(_READER, "partita$stream", f"L{_STREAM};")))
    left = b.java(_STREAM, "available", "()I", stream)
    b.ret(fb.cast("zext", 1, 32, fb.compare("sgt", 32, left, integer(0))))


@native(f"{_READER}.close()V")
def _close(b: Body) -> None:
    fb = b.fb
    fb.store(64, integer(0), fb.offset(b.args[0], b.field(_READER, "partita$stream", f"L{_STREAM};")))
    b.ret()


@native(f"{_SCANNER}.useLocale(Ljava/util/Locale;)L{_SCANNER};")
def _use_locale(b: Body) -> None:
    """Patterns for numbers as the locale en_US has them, which is the only one."""
    fb = b.fb
    texts = {"groupSeparator": "\\x{2c}", "decimalSeparator": "\\x{2e}", "nanString": "\\QNaN\\E"}
    texts |= {"infinityString": "\\Q\u221e\\E", "positivePrefix": "", "positiveSuffix": "", "negativeSuffix": ""}
    texts["negativePrefix"] = "\\Q-\\E"
    for field, text in texts.items():
        literal = b.lowering.string(fb.part, text)
        fb.store(64, literal, fb.offset(b.args[0], b.field(_SCANNER, field, "Ljava/lang/String;")))
    fb.store(64, b.args[1], fb.offset(b.args[0], b.field(_SCANNER, "locale", "Ljava/util/Locale;")))
    b.ret(b.args[0])


@native("java/util/Random.<init>()V")
def _random(b: Body) -> None:
    name, _ = b.string_parts(b.lowering.string(b.fb.part, SEED))
    b.java("java/util/Random", "<init>", "(J)V", b.args[0], make_value(b, "J", name))
    b.ret()


def _unset(why: str) -> Native:
    def function(b: Body) -> None:
        count(b, why)
        b.ret(integer(0))

    return function


TABLE["java/lang/System.getenv(Ljava/lang/String;)Ljava/lang/String;"] = _unset(
    "one of several values: a variable of the environment"
)


# The one thread. Sleeping takes no time.

_THREAD = "java/lang/Thread"
STATIC_OBJECTS[_THREAD, "partita$current"] = _THREAD


@native(f"{_THREAD}.currentThread()L{_THREAD};")
def _current_thread(b: Body) -> None:
    current = b.lowering.static_object(b.fb.part, b.lowering.world.load(_THREAD), "partita$current")
    assert current is not None
    b.ret(current)


@native(f"{_THREAD}.getName()Ljava/lang/String;")
def _thread_name(b: Body) -> None:
    """Other threads cannot be made."""
    b.ret(b.lowering.string(b.fb.part, "main"))


@native(f"{_THREAD}.sleep(J)V")
def _sleep(b: Body) -> None:
    b.throw_if(b.fb.compare("slt", 64, b.args[0], integer(0)), "java/lang/IllegalArgumentException")
    b.ret()


TABLE |= {f"{_THREAD}.{name}": lambda b: b.ret() for name in ("yield()V", "isInterrupted()Z", "onSpinWait()V")}
