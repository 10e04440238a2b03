"""Functions of the Java library that we provide: natives, and methods whose own code needs the whole virtual machine.

One table, by class, name and descriptor. All other methods of the library are executed as their own bytecode, except
those of the packages in `NOT_EXECUTED`, which end the path by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from partita.jvm.builder import UNDEF, FunctionBuilder
from partita.jvm.classfile import Method
from partita.jvm.descriptor import FLAG_IDENTITY
from partita.jvm.descriptors import class_of, kind_of, parse_method, readable
from partita.jvm.world import ARRAY_DATA, ARRAY_LENGTH, BOXES, JClass
from partita.llvm.write import Operand, integer, reg

if TYPE_CHECKING:
    from partita.jvm.program import Lowering

STATIC_OBJECTS = {
    ("java/lang/System", "out"): "java/io/PrintStream",
    ("java/lang/System", "err"): "java/io/PrintStream",
}
"""Objects that static fields of the library have, without running its initialisers."""
ALIASES: dict[tuple[str, str], tuple[str, str]] = {}
"""Static fields that have the object of another field in `STATIC_OBJECTS`."""
COUNTED_FIELDS = {
    (
        "java/util/ImmutableCollections",
        "SALT32L",
    ): "one of several values: the order of elements of `Set.of` and `Map.of`",
    (
        "java/util/ImmutableCollections",
        "REVERSE",
    ): "one of several values: the order of elements of `Set.of` and `Map.of`",
}
"""Static fields whose values depend on the time: reading one is counted."""

INITIALISED = frozenset(
    """java/lang/System java/lang/Throwable java/lang/Class java/util/Locale java/io/PrintStream java/lang/Runtime
    java/lang/Thread jdk/internal/misc/VM jdk/internal/misc/CDS java/lang/Object
    java/lang/StackTraceElement java/util/Arrays$LegacyMergeSort java/util/Random jdk/internal/access/SharedSecrets
    java/nio/charset/Charset java/nio/Buffer java/nio/CharBuffer java/nio/ByteOrder sun/nio/cs/UTF_8
    sun/nio/cs/ISO_8859_1 sun/nio/cs/US_ASCII java/nio/charset/StandardCharsets""".split()
)
"""Classes whose static initialisers are not run: what they would set up is provided here."""

ZERO_FIELDS = frozenset(["java/util/Arrays$LegacyMergeSort", "java/lang/Throwable"])
"""Classes of these whose static fields may be read: zero is what they have in a program without special settings."""

NOT_EXECUTED = (
    "java/util/Locale.", "java/lang/invoke/", "java/lang/reflect/", "java/lang/ref/", "sun/",
    "java/security/", "java/nio/", "java/time/", "java/text/", "java/net/", "java/io/File", "java/io/PrintStream",
    "java/io/BufferedWriter", "java/io/BufferedOutput", "java/io/InputStreamReader",
    "java/io/Output", "java/io/Object", "java/io/Console", "java/io/PrintWriter",
    "java/lang/Thread.", "java/lang/ThreadGroup", "java/lang/ClassLoader", "java/lang/Module",
    "java/lang/Class.", "java/lang/Runtime.",
    "java/lang/System.", "java/lang/Process", "java/lang/StackTrace", "java/lang/StackWalker", "java/lang/Throwable.",
    "java/util/concurrent/ForkJoin", "java/util/ResourceBundle", "java/util/Properties",
    "java/util/ServiceLoader", "java/util/logging/", "jdk/internal/misc/", "jdk/internal/loader/",
    "jdk/internal/access/",
    "jdk/internal/reflect/", "jdk/internal/module/", "jdk/internal/org/", "java/util/zip/", "java/util/jar/", "javax/",
    "java/util/Timer", "java/util/TimeZone", "java/util/Calendar", "java/util/Date",
)  # fmt: skip
"""Packages and classes whose code is not executed: it needs threads, files, reflection or the virtual machine."""


class Body:
    """The body of a function that we provide."""

    def __init__(self, lowering: Lowering, fb: FunctionBuilder, method: Method | None, count: int) -> None:
        self.lowering = lowering
        self.fb = fb
        self.method = method
        self.args: list[Operand] = [reg(i) for i in range(count)]

    def ret(self, value: Operand | None = None) -> None:
        """Returns without an exception."""
        width = len(self.fb.results) - 1
        self.fb.ret(integer(0), *([integer(0) if value is None else value] if width else []))

    def throw(self, exception: Operand) -> None:
        self.fb.ret(exception, *([UNDEF] * (len(self.fb.results) - 1)))

    def throw_if(self, condition: Operand, name: str) -> None:
        bad, after = self.fb.new_block(), self.fb.new_block()
        self.fb.branch(condition, bad, after)
        self.fb.start(bad)
        self.throw(reg(self.fb.call(self.lowering.exception_maker(name, 0), [], [64])))
        self.fb.start(after)

    def java(self, owner: str, name: str, descriptor: str, *values: Operand) -> Operand:
        """Calls a method of the library, virtually if it has a receiver and can be overridden; its result."""
        method = self.lowering.world.find_method(owner, name, descriptor)
        assert method is not None, (owner, name, descriptor)
        widths = [] if method.is_static else [64]
        parameters, result = parse_method(descriptor)
        from partita.jvm.descriptors import WIDTHS

        widths += [WIDTHS[kind_of(each)] for each in parameters]
        results = [64] if result == "V" else [64, WIDTHS[kind_of(result)]]
        arguments = list(zip(values, widths, strict=True))
        if method.is_static or name == "<init>":
            self.lowering.need(method)
            first = self.fb.call(self.lowering.function_name(method), arguments, results)
        else:
            self.lowering.call_virtual(owner, method)
            first = self.fb.temp(*results)
            self.lowering.emit_virtual(self.fb, self.fb.part, owner, method, arguments, first, results)
        bad, after = self.fb.new_block(), self.fb.new_block()
        self.fb.branch(self.fb.compare("ne", 64, reg(first), integer(0)), bad, after)
        self.fb.start(bad)
        self.throw(reg(first))
        self.fb.start(after)
        return reg(first + 1) if len(results) > 1 else integer(0)

    def field(self, owner: str, name: str, descriptor: str) -> int:
        """Offset of a field."""
        return self.lowering.world.load(owner).offsets[name, descriptor]

    def string_parts(self, string: Operand) -> tuple[Operand, Operand]:
        """Bytes and coder of a String."""
        fb = self.fb
        value = fb.load(64, fb.offset(string, self.field("java/lang/String", "value", "[B")))
        coder = fb.load(8, fb.offset(string, self.field("java/lang/String", "coder", "B")))
        return value, coder


Native = Callable[[Body], None]
TABLE: dict[str, Native] = {}


def native(*keys: str) -> Callable[[Native], Native]:
    def register(function: Native) -> Native:
        for key in keys:
            TABLE[key] = function
        return function

    return register


def load_rows() -> None:
    """Imports the other files with rows of the table, which import this one."""
    from partita.jvm import native_class, native_input, native_math, native_print, native_text  # noqa: F401


def find(key: str, is_user: bool) -> Native | None:
    """The function that we provide for a method, if there is one."""
    from partita.jvm import symbolic

    load_rows()
    if key in EXECUTED or key.startswith(EXECUTED_CLASSES):
        return None
    found = TABLE.get(key)
    if found is not None:
        return found
    found = symbolic.find(key)
    if found is not None:
        return found
    if not is_user and key.startswith(NOT_EXECUTED) and not _is_exception(key):
        return _not_executed
    return None


def _is_exception(key: str) -> bool:
    owner = key.partition(".")[0]
    return owner.endswith(("Exception", "Error")) and owner != "java/lang/Throwable"


def _not_executed(b: Body) -> None:
    assert b.method is not None
    b.fb.unsupported(f"the method {readable(b.method.owner.name)}.{b.method.name}{b.method.descriptor}")


def build(lowering: Lowering, method: Method, function: Native) -> None:
    from partita.jvm.method import signature

    parameters, results = signature(method)
    fb = FunctionBuilder(lowering.library, lowering.function_name(method), parameters, results)
    function(Body(lowering, fb, method, len(parameters)))
    lowering.builders.append(fb)


def mirror_size(lowering: Lowering) -> int:
    """Bytes of a `java.lang.Class` object: its fields, and at the end the address of the descriptor."""
    return -(-lowering.world.load("java/lang/Class").size // 8) * 8 + 8


def build_initialiser(lowering: Lowering, owner: JClass, name: str) -> None:
    """Runs the static initialisers of a class and its superclasses once (JLS 12.4.2)."""
    fb = FunctionBuilder(lowering.library, name, [], [64])
    state = lowering.statics(lowering.library, owner)
    b = Body(lowering, fb, None, 0)
    failed, run, broken = fb.new_block(), fb.new_block(), fb.new_block()
    done = fb.new_block()
    fb.switch(32, fb.load(32, state), [(0, run), (2, broken)], done)
    fb.start(broken)
    fb.ret(reg(fb.call(lowering.exception_maker("java/lang/NoClassDefFoundError", 0), [], [64])))
    fb.start(run)
    fb.store(32, integer(1), state)
    thrown = fb.new_reg(64)
    steps = []
    if owner.parent is not None and not owner.is_interface and lowering.needs_initialisation(owner.parent):
        steps.append(lowering.initialiser(owner.parent))
    method = owner.methods.get(("<clinit>", "()V"))
    if method is not None and owner.name not in INITIALISED:
        lowering.need(method)
        steps.append(lowering.function_name(method))
    for step in steps:
        first = fb.call(step, [], [64])
        after = fb.new_block()
        fb.branch(fb.compare("ne", 64, reg(first), integer(0)), failed, after, [(thrown, reg(first))])
        fb.start(after)
    fb.jump(done)
    fb.start(done)
    fb.ret(integer(0))
    if steps:
        fb.start(failed)
        fb.store(32, integer(2), state)
        plain, wrap = fb.new_block(), fb.new_block()
        slot = lowering.test_slot("java/lang/Error")
        flag = fb.load(64, fb.offset(fb.load(64, reg(thrown)), slot))
        fb.branch(fb.compare("ne", 64, flag, integer(0)), plain, wrap)
        fb.start(plain)
        fb.ret(reg(thrown))
        fb.start(wrap)
        made = reg(fb.call(lowering.exception_maker("java/lang/ExceptionInInitializerError", 0), [], [64]))
        fb.store(64, reg(thrown), fb.offset(made, b.field("java/lang/Throwable", "cause", "Ljava/lang/Throwable;")))
        fb.ret(made)
    lowering.builders.append(fb)


_MESSAGES = {"java/lang/ArithmeticException": "/ by zero"}
UNKNOWN_MESSAGE = "the message of an exception that depends on the virtual machine, or on an input"


def build_exception(lowering: Lowering, name: str, count: int, label: str) -> None:
    """Makes an implicit exception. Its constructor is not run: it would only set the same fields."""
    fb = FunctionBuilder(lowering.library, label, [32] * count, [64])
    b = Body(lowering, fb, None, count)
    made = make_throwable(b, name)
    library = lowering.library
    string, data = lowering.descriptor(library, "java/lang/String"), lowering.descriptor(library, "[B")
    lowering.string(library, "")
    layout = [(string, 64), (data, 64), (integer(b.field("java/lang/String", "value", "[B")), 32)]
    unknown = lowering.string(library, UNKNOWN_MESSAGE)
    if name in _MESSAGES:
        message = lowering.string(library, _MESSAGES[name])
    elif count == 0:
        message = unknown
    else:
        helper = "jvm_index_message" if count == 2 else "jvm_number_message"
        message = reg(fb.call(helper, [*((each, 32) for each in b.args), *layout], [64]))
        message = fb.select(64, fb.compare("eq", 64, message, integer(0)), unknown, message)
    fb.store(64, message, fb.offset(made, b.field("java/lang/Throwable", "detailMessage", "Ljava/lang/String;")))
    fb.ret(made)
    lowering.builders.append(fb)


def make_throwable(b: Body, name: str) -> Operand:
    """An object of an exception class, as its constructor without arguments leaves it."""
    lowering, fb = b.lowering, b.fb
    owner = lowering.world.load(name)
    lowering.instantiate(owner)
    made = reg(fb.call("calloc", [(integer(1), 64), (integer(owner.size), 64)], [64]))
    fb.store(64, lowering.descriptor(fb.part, name), made)
    fb.store(64, made, fb.offset(made, b.field("java/lang/Throwable", "cause", "Ljava/lang/Throwable;")))
    return made


def build_array(lowering: Lowering, name: str, count: int, label: str) -> None:
    """Makes an array whose elements are arrays, with a loop."""
    fb = FunctionBuilder(lowering.library, label, [32] * count, [64])
    lowering.instantiate(lowering.world.load(name))
    made = fb.new_reg(64)
    first = fb.call("jvm_new_array", [(lowering.descriptor(lowering.library, name), 64), (reg(0), 32)], [64])
    fb.copy(made, reg(first))
    if count > 1:
        index = fb.new_reg(32)
        head, body, end = fb.new_block(), fb.new_block(), fb.new_block()
        fb.copy(index, integer(0))
        fb.jump(head)
        fb.start(head)
        fb.branch(fb.compare("slt", 32, reg(index), reg(0)), body, end)
        fb.start(body)
        inner = lowering.array_maker(class_of(name[1:]), count - 1)
        element = fb.call(inner, [(reg(i), 32) for i in range(1, count)], [64])
        fb.store(64, reg(element), fb.offset(reg(made), ARRAY_DATA, (reg(index), 32, 8)))
        fb.copy(index, fb.binary("add", 32, reg(index), integer(1)))
        fb.jump(head)
        fb.start(end)
    fb.ret(reg(made))
    lowering.builders.append(fb)


# Throwable


@native("java/lang/Throwable.<init>()V")
def _throwable(b: Body) -> None:
    b.fb.store(64, b.args[0], b.fb.offset(b.args[0], b.field("java/lang/Throwable", "cause", "Ljava/lang/Throwable;")))
    b.ret()


@native("java/lang/Throwable.<init>(Ljava/lang/String;)V")
def _throwable_message(b: Body) -> None:
    _set_message(b, b.args[1])
    _throwable(b)


@native(
    "java/lang/Throwable.<init>(Ljava/lang/String;Ljava/lang/Throwable;)V",
    "java/lang/Throwable.<init>(Ljava/lang/String;Ljava/lang/Throwable;ZZ)V",
)
def _throwable_cause(b: Body) -> None:
    _set_message(b, b.args[1])
    cause = b.fb.offset(b.args[0], b.field("java/lang/Throwable", "cause", "Ljava/lang/Throwable;"))
    b.fb.store(64, b.args[2], cause)
    b.ret()


@native("java/lang/Throwable.<init>(Ljava/lang/Throwable;)V")
def _throwable_of_cause(b: Body) -> None:
    fb = b.fb
    fb.store(64, b.args[1], fb.offset(b.args[0], b.field("java/lang/Throwable", "cause", "Ljava/lang/Throwable;")))
    some, end = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("eq", 64, b.args[1], integer(0)), end, some)
    fb.start(some)
    _set_message(b, b.java("java/lang/Throwable", "toString", "()Ljava/lang/String;", b.args[1]))
    fb.jump(end)
    fb.start(end)
    b.ret()


def _set_message(b: Body, message: Operand) -> None:
    at = b.field("java/lang/Throwable", "detailMessage", "Ljava/lang/String;")
    b.fb.store(64, message, b.fb.offset(b.args[0], at))


@native("java/lang/Throwable.getMessage()Ljava/lang/String;")
def _get_message(b: Body) -> None:
    fb = b.fb
    message = fb.load(64, fb.offset(b.args[0], b.field("java/lang/Throwable", "detailMessage", "Ljava/lang/String;")))
    unknown, known = fb.new_block(), fb.new_block()
    same = fb.compare("eq", 64, message, b.lowering.string(b.lowering.library, UNKNOWN_MESSAGE))
    fb.branch(same, unknown, known)
    fb.start(unknown)
    fb.unsupported(UNKNOWN_MESSAGE)
    fb.start(known)
    b.ret(message)


@native(
    "java/lang/Throwable.fillInStackTrace()Ljava/lang/Throwable;",
    "java/lang/Throwable.fillInStackTrace(I)Ljava/lang/Throwable;",
)
def _this(b: Body) -> None:
    b.ret(b.args[0])


@native(
    "java/lang/Throwable.getSuppressed()[Ljava/lang/Throwable;",
    "java/lang/Throwable.getStackTrace()[Ljava/lang/StackTraceElement;",
)
def _empty_array(b: Body) -> None:
    assert b.method is not None
    count(b, f"not kept: the result of `{b.method.name}`")
    name = b.method.descriptor.partition(")")[2]
    b.lowering.instantiate(b.lowering.world.load(name))
    descriptor = b.lowering.descriptor(b.lowering.library, name)
    b.ret(reg(b.fb.call("jvm_new_array", [(descriptor, 64), (integer(0), 32)], [64])))


TABLE |= {
    f"java/lang/Throwable.{name}": lambda b: b.ret()
    for name in (
        "printStackTrace()V",
        "addSuppressed(Ljava/lang/Throwable;)V",
        "setStackTrace([Ljava/lang/StackTraceElement;)V",
    )
}
EXECUTED = frozenset(
    """java/lang/Throwable.toString()Ljava/lang/String;
    java/lang/Throwable.getLocalizedMessage()Ljava/lang/String;
    java/lang/Throwable.getCause()Ljava/lang/Throwable;
    java/lang/Throwable.initCause(Ljava/lang/Throwable;)Ljava/lang/Throwable;
    jdk/internal/misc/Unsafe.<clinit>()V jdk/internal/misc/Unsafe.<init>()V
    jdk/internal/misc/UnsafeConstants.<clinit>()V""".split()
)
"""Methods that are executed as their own code, although their classes are in `NOT_EXECUTED`."""
EXECUTED_CLASSES = ("java/nio/Buffer.", "java/nio/CharBuffer.", "java/nio/HeapCharBuffer.", "java/nio/BufferOverflow")
"""Whole classes of that kind."""


# Object and Class


@native("java/lang/Object.hashCode()I", "java/lang/System.identityHashCode(Ljava/lang/Object;)I")
def _identity_hash(b: Body) -> None:
    b.ret(reg(b.fb.call("jvm_identity_hash", [(b.args[0], 64)], [32])))


@native("java/lang/Object.clone()Ljava/lang/Object;")
def _clone(b: Body) -> None:
    fb = b.fb
    slot = b.lowering.test_slot("java/lang/Cloneable")
    flag = fb.load(64, fb.offset(fb.load(64, b.args[0]), slot))
    b.throw_if(fb.compare("eq", 64, flag, integer(0)), "java/lang/CloneNotSupportedException")
    b.ret(reg(fb.call("jvm_clone", [(b.args[0], 64)], [64])))


@native("java/lang/Object.getClass()Ljava/lang/Class;")
def _get_class(b: Body) -> None:
    b.lowering.mirror_all = True
    b.ret(b.fb.load(64, b.fb.offset(b.fb.load(64, b.args[0]), 16)))


TABLE |= {f"java/lang/Object.{name}()V": lambda b: b.ret() for name in ("notify", "notifyAll")}


# System


@native("java/lang/System.arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V")
def _arraycopy(b: Body) -> None:
    fb = b.fb
    code = reg(fb.call("jvm_arraycopy", list(zip(b.args, (64, 32, 64, 32, 32), strict=True)), [32]))
    names = ("NullPointerException", "ArrayIndexOutOfBoundsException", "ArrayStoreException")
    done = fb.new_block()
    blocks = [fb.new_block() for _ in names]
    fb.switch(32, code, [(i + 1, block) for i, block in enumerate(blocks)], done)
    for name, block in zip(names, blocks, strict=True):
        fb.start(block)
        maker = b.lowering.exception_maker(f"java/lang/{name}", 0) if name[0] != "A" or name[5] == "S" else ""
        if not maker:
            # Its message differs from that of an access: other code makes it.
            maker = b.lowering.exception_maker("java/lang/ArrayIndexOutOfBoundsException", 0)
        b.throw(reg(fb.call(maker, [], [64])))
    fb.start(done)
    b.ret()


@native("java/lang/System.exit(I)V", "java/lang/Runtime.exit(I)V", "java/lang/Runtime.halt(I)V")
def _exit(b: Body) -> None:
    b.fb.call("jvm_exit", [(b.args[-1], 32)], [])
    b.ret()


@native("java/lang/Runtime.getRuntime()Ljava/lang/Runtime;")
def _runtime(b: Body) -> None:
    owner = b.lowering.world.load("java/lang/Runtime")
    b.lowering.instantiate(owner)
    made = reg(b.fb.call("calloc", [(integer(1), 64), (integer(owner.size), 64)], [64]))
    b.fb.store(64, b.lowering.descriptor(b.fb.part, owner.name), made)
    b.ret(made)


@native("java/lang/System.currentTimeMillis()J", "java/lang/System.nanoTime()J")
def _time(b: Body) -> None:
    count(b, "one of several values: the time of the machine")
    b.ret(integer(1_000_000_000))


@native("java/lang/System.getProperty(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;")
def _property_default(b: Body) -> None:
    count(b, PROPERTY)
    b.ret(b.args[1])


@native("java/lang/System.getProperty(Ljava/lang/String;)Ljava/lang/String;")
def _property(b: Body) -> None:
    count(b, PROPERTY)
    b.ret(integer(0))


PROPERTY = "one of several values: a property of the virtual machine"


IDENTITY_ORDERED = frozenset(
    f"java/util/HashMap{name}"
    for name in (
        "$HashIterator.<init>(Ljava/util/HashMap;)V", ".forEach(Ljava/util/function/BiConsumer;)V",
        "$KeySet.forEach(Ljava/util/function/Consumer;)V", "$Values.forEach(Ljava/util/function/Consumer;)V",
        "$EntrySet.forEach(Ljava/util/function/Consumer;)V", ".replaceAll(Ljava/util/function/BiFunction;)V",
        ".keysToArray([Ljava/lang/Object;)[Ljava/lang/Object;",
        ".valuesToArray([Ljava/lang/Object;)[Ljava/lang/Object;",
        "$HashMapSpliterator.getFence()I",
    )
)  # fmt: skip
"""Methods that visit the elements of a hash table in the order of their hash codes."""


@native("java/util/HashMap.hash(Ljava/lang/Object;)I")
def _hash(b: Body) -> None:
    """Identity hash codes decide the order of the elements of a table, not which it contains."""
    fb = b.fb
    some, own, other, end = (fb.new_block() for _ in range(4))
    code = fb.new_reg(32)
    fb.branch(fb.compare("eq", 64, b.args[0], integer(0)), end, some, [(code, integer(0))])
    fb.start(some)
    flags = fb.load(32, fb.offset(fb.load(64, b.args[0]), 60))
    identity = fb.binary("and", 32, flags, integer(FLAG_IDENTITY))
    fb.branch(fb.compare("ne", 32, identity, integer(0)), own, other)
    fb.start(own)
    fb.jump(end, [(code, reg(fb.call("jvm_table_hash", [(b.args[0], 64)], [32])))])
    fb.start(other)
    fb.jump(end, [(code, b.java("java/lang/Object", "hashCode", "()I", b.args[0]))])
    fb.start(end)
    b.ret(fb.binary("xor", 32, reg(code), fb.binary("lshr", 32, reg(code), integer(16))))


def count(b: Body, why: str) -> None:
    """Counts a result that another virtual machine need not have."""
    b.fb.call("__partita_incomplete", [(b.fb.part.text(why), 64)], [])


@native("java/lang/System.lineSeparator()Ljava/lang/String;")
def _line_separator(b: Body) -> None:
    b.ret(b.lowering.string(b.fb.part, "\n"))


for _key in (
    "java/lang/System.getSecurityManager()Ljava/lang/SecurityManager;",
    "java/lang/System.gc()V",
    "jdk/internal/misc/VM.getSavedProperty(Ljava/lang/String;)Ljava/lang/String;",
    "jdk/internal/misc/VM.initialize()V",
    "jdk/internal/misc/VM.isBooted()Z",
    "jdk/internal/misc/CDS.initializeFromArchive(Ljava/lang/Class;)V",
    "jdk/internal/misc/CDS.getRandomSeedForDumping()J",
    "jdk/internal/misc/CDS.isDumpingClassList0()Z",
    "jdk/internal/misc/CDS.isDumpingArchive0()Z",
    "jdk/internal/misc/CDS.isSharingEnabled0()Z",
    "java/lang/StringUTF16.isBigEndian()Z",
    "java/io/ObjectStreamField.<init>(Ljava/lang/String;Ljava/lang/Class;)V",
    "java/io/ObjectStreamField.<init>(Ljava/lang/String;Ljava/lang/Class;Z)V",
    "java/lang/StringCoding.err(Ljava/lang/String;)V",
    "jdk/internal/misc/Unsafe.registerNatives()V",
    "jdk/internal/misc/Unsafe.isBigEndian()Z",
    "jdk/internal/misc/Unsafe.unalignedAccess()Z",
    "jdk/internal/misc/Unsafe.ensureClassInitialized(Ljava/lang/Class;)V",
    "java/lang/Class.registerNatives()V",
    "java/lang/Runtime.gc()V",
    "jdk/internal/misc/Unsafe.fullFence()V",
    "jdk/internal/misc/Unsafe.storeFence()V",
    "jdk/internal/misc/Unsafe.loadFence()V",
    "java/lang/ref/Reference.reachabilityFence(Ljava/lang/Object;)V",
):
    TABLE[_key] = lambda b: b.ret()


@native(
    "java/lang/Float.floatToRawIntBits(F)I", "java/lang/Float.intBitsToFloat(I)F",
    "java/lang/Double.doubleToRawLongBits(D)J", "java/lang/Double.longBitsToDouble(J)D",
)  # fmt: skip
def _bits(b: Body) -> None:
    b.ret(b.args[0])


def _float_function(op: str) -> Native:
    return lambda b: b.ret(b.fb.float_unary(op, "D", b.args[0]))


for _name, _op in {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "rint": "roundeven"}.items():
    TABLE[f"java/lang/StrictMath.{_name}(D)D"] = _float_function(_op)
    TABLE[f"java/lang/Math.{_name}(D)D"] = _float_function(_op)
TABLE["java/lang/Math.abs(D)D"] = _float_function("fabs")
TABLE["java/lang/Math.abs(F)F"] = lambda b: b.ret(b.fb.float_unary("fabs", "F", b.args[0]))

# Boxed numbers. The caches are not used: a symbolic number would be one of 256 objects. Instead a box knows whether the
# cache would have it, and `jvm_same` compares two such boxes by value.


def _box(name: str, letter: str) -> Native:
    def function(b: Body) -> None:
        from partita.jvm.descriptors import WIDTHS

        fb, owner = b.fb, b.lowering.world.load(f"java/lang/{name}")
        b.lowering.boxes = True
        b.lowering.instantiate(owner)
        made = reg(fb.call("malloc", [(integer(owner.size), 64)], [64]))
        fb.store(64, b.lowering.descriptor(fb.part, owner.name), made)
        width = WIDTHS[kind_of(letter)]
        value = b.args[0]
        shifted = value if letter == "C" else fb.binary("add", width, value, integer(128))
        small = fb.compare("ult", width, shifted, integer(128 if letter == "C" else 256))
        fb.store(32, fb.cast("zext", 1, 32, small), fb.offset(made, owner.offsets["partita$cached", "I"]))
        bits = {"B": 8, "S": 16, "C": 16}.get(letter, width)
        if bits < width:
            value = fb.cast("trunc", width, bits, value)
        fb.store(bits, value, fb.offset(made, owner.offsets["value", letter]))
        b.ret(made)

    return function


for _name, _letter in BOXES.items():
    TABLE[f"java/lang/{_name}.valueOf({_letter})Ljava/lang/{_name};"] = _box(_name, _letter)


# Checks of indices, whose messages the library formats with `String.format`


def _out_of_bounds(numbers: int) -> Native:
    def function(b: Body) -> None:
        fb = b.fb
        own, other = fb.new_block(), fb.new_block()
        fb.branch(fb.compare("eq", 64, b.args[0], integer(0)), own, other)
        fb.start(other)
        fb.unsupported("an exception of another class for an index out of bounds")
        fb.start(own)
        count = 2 if numbers == 2 else 0
        maker = b.lowering.exception_maker("java/lang/IndexOutOfBoundsException", count)
        b.ret(reg(fb.call(maker, [(each, 32) for each in b.args[1 : 1 + count]], [64])))

    return function


for _name, _count in {"CheckIndex": 2, "CheckFromToIndex": 3, "CheckFromIndexSize": 3}.items():
    _types = f"(Ljava/util/function/BiFunction;{'I' * _count})Ljava/lang/RuntimeException;"
    TABLE[f"jdk/internal/util/Preconditions.outOfBounds{_name}{_types}"] = _out_of_bounds(_count)


# ThreadLocal: one thread, so that the object itself has the value (fields of `world.EXTRA_FIELDS`)


@native("java/lang/ThreadLocal.get()Ljava/lang/Object;")
def _thread_local_get(b: Body) -> None:
    fb = b.fb
    owner = "java/lang/ThreadLocal"
    place = fb.offset(b.args[0], b.field(owner, "partita$value", "Ljava/lang/Object;"))
    flag = fb.offset(b.args[0], b.field(owner, "partita$isSet", "I"))
    fresh, known = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("eq", 32, fb.load(32, flag), integer(0)), fresh, known)
    fb.start(fresh)
    fb.store(64, b.java(owner, "initialValue", "()Ljava/lang/Object;", b.args[0]), place)
    fb.store(32, integer(1), flag)
    fb.jump(known)
    fb.start(known)
    b.ret(fb.load(64, place))


@native("java/lang/ThreadLocal.set(Ljava/lang/Object;)V")
def _thread_local_set(b: Body) -> None:
    owner = "java/lang/ThreadLocal"
    b.fb.store(64, b.args[1], b.fb.offset(b.args[0], b.field(owner, "partita$value", "Ljava/lang/Object;")))
    b.fb.store(32, integer(1), b.fb.offset(b.args[0], b.field(owner, "partita$isSet", "I")))
    b.ret()


@native("java/lang/ThreadLocal.remove()V")
def _thread_local_remove(b: Body) -> None:
    b.fb.store(32, integer(0), b.fb.offset(b.args[0], b.field("java/lang/ThreadLocal", "partita$isSet", "I")))
    b.ret()


TABLE["java/util/concurrent/atomic/AtomicLong.VMSupportsCS8()Z"] = lambda b: b.ret(integer(1))


# Unsafe: fields by their offsets. One thread, so that no access is special.


def _unsafe_get(width: int) -> Native:
    return lambda b: b.ret(b.fb.load(width, b.fb.offset(b.args[1], 0, (b.args[2], 64, 1))))


def _unsafe_put(width: int) -> Native:
    def function(b: Body) -> None:
        b.fb.store(width, b.args[3], b.fb.offset(b.args[1], 0, (b.args[2], 64, 1)))
        b.ret()

    return function


def _unsafe_swap(helper: str, width: int) -> Native:
    return lambda b: b.ret(
        reg(b.fb.call(helper, [(b.args[1], 64), (b.args[2], 64), (b.args[3], width), (b.args[4], width)], [32]))
    )


for _type, _letter, _width in (("Int", "I", 32), ("Long", "J", 64), ("Reference", "Ljava/lang/Object;", 64)):
    _helper = "jvm_compare_set_int" if _width == 32 else "jvm_compare_set_long"
    for _mode in ("", "Volatile", "Acquire", "Opaque"):
        TABLE[f"jdk/internal/misc/Unsafe.get{_type}{_mode}(Ljava/lang/Object;J){_letter}"] = _unsafe_get(_width)
    for _mode in ("", "Volatile", "Release", "Opaque"):
        TABLE[f"jdk/internal/misc/Unsafe.put{_type}{_mode}(Ljava/lang/Object;J{_letter})V"] = _unsafe_put(_width)
    for _mode in ("", "Plain", "Acquire", "Release"):
        for _weak in ("compareAndSet", "weakCompareAndSet"):
            TABLE[f"jdk/internal/misc/Unsafe.{_weak}{_type}{_mode}(Ljava/lang/Object;J{_letter}{_letter})Z"] = (
                _unsafe_swap(_helper, _width)
            )
TABLE["jdk/internal/misc/Unsafe.arrayBaseOffset(Ljava/lang/Class;)I"] = lambda b: b.ret(integer(ARRAY_DATA))
TABLE["jdk/internal/misc/Unsafe.getUnsafe()Ljdk/internal/misc/Unsafe;"] = lambda b: b.ret(
    b.lowering.static_object(b.fb.part, b.lowering.world.load("jdk/internal/misc/Unsafe"), "theUnsafe")
)
STATIC_OBJECTS["jdk/internal/misc/Unsafe", "theUnsafe"] = "jdk/internal/misc/Unsafe"


@native("jdk/internal/misc/Unsafe.allocateUninitializedArray(Ljava/lang/Class;I)Ljava/lang/Object;")
def _uninitialized_array(b: Body) -> None:
    """Arrays of bytes and of characters, which strings need."""
    fb = b.fb
    for primitive, name in (("byte", "[B"), ("char", "[C")):
        found, other = fb.new_block(), fb.new_block()
        fb.branch(fb.compare("eq", 64, b.args[1], b.lowering.mirror(fb.part, primitive)), found, other)
        fb.start(found)
        b.lowering.instantiate(b.lowering.world.load(name))
        descriptor = b.lowering.descriptor(fb.part, name)
        b.ret(reg(fb.call("jvm_new_array", [(descriptor, 64), (b.args[2], 32)], [64])))
        fb.start(other)
    fb.unsupported("jdk.internal.misc.Unsafe.allocateUninitializedArray of another type")


# No elements were compared; all of them remain.
TABLE["jdk/internal/util/ArraysSupport.vectorizedMismatch(Ljava/lang/Object;JLjava/lang/Object;JII)I"] = lambda b: (
    b.ret(b.fb.binary("xor", 32, b.args[4], integer(0xFFFFFFFF)))
)


@native("jdk/internal/misc/Unsafe.arrayIndexScale(Ljava/lang/Class;)I")
def _index_scale(b: Body) -> None:
    descriptor = b.fb.load(64, b.fb.offset(b.args[1], mirror_size(b.lowering) - 8))
    b.ret(b.fb.load(32, b.fb.offset(descriptor, 4)))


for _name in ("getAndAddInt", "getAndAddLong", "getAndSetInt", "getAndSetLong", "getAndSetReference"):
    _letter = {"t": "I", "g": "J", "e": "Ljava/lang/Object;"}[_name[-1]]

    def _get_and(b: Body, _add: bool = "Add" in _name, _width: int = 32 if _letter == "I" else 64) -> None:
        place = b.fb.offset(b.args[1], 0, (b.args[2], 64, 1))
        old = b.fb.load(_width, place)
        b.fb.store(_width, b.fb.binary("add", _width, old, b.args[3]) if _add else b.args[3], place)
        b.ret(old)

    TABLE[f"jdk/internal/misc/Unsafe.{_name}(Ljava/lang/Object;J{_letter}){_letter}"] = _get_and


__all__ = ["ARRAY_LENGTH", "INITIALISED", "STATIC_OBJECTS", "TABLE", "Body", "build", "find"]
