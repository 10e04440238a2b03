"""Text: locales, character sets, interned strings. The default locale is en_US and the default character set UTF-8."""

from __future__ import annotations

from partita.jvm.natives import ALIASES, STATIC_OBJECTS, TABLE, Body, Native, native
from partita.llvm.write import Operand, integer, reg

_LOCALE = "java/util/Locale"
_CHARSET = "java/nio/charset/Charset"
_STRING = "java/lang/String"

for _name in ("ROOT", "US", "ENGLISH"):
    STATIC_OBJECTS[_LOCALE, _name] = _LOCALE


def _object(b: Body, owner: str, name: str) -> Operand:
    found = b.lowering.static_object(b.fb.part, b.lowering.world.load(owner), name)
    assert found is not None
    return found


@native(f"{_LOCALE}.getDefault()L{_LOCALE};", f"{_LOCALE}.getDefault(L{_LOCALE}$Category;)L{_LOCALE};")
def _default_locale(b: Body) -> None:
    b.ret(_object(b, _LOCALE, "US"))


@native(f"{_LOCALE}.equals(Ljava/lang/Object;)Z")
def _same_locale(b: Body) -> None:
    b.ret(b.fb.cast("zext", 1, 32, b.fb.compare("eq", 64, b.args[0], b.args[1])))


def _locale_text(texts: dict[str, str]) -> Native:
    def function(b: Body) -> None:
        value = b.lowering.string(b.fb.part, texts["ROOT"])
        for name in ("US", "ENGLISH"):
            same = b.fb.compare("eq", 64, b.args[0], _object(b, _LOCALE, name))
            value = b.fb.select(64, same, b.lowering.string(b.fb.part, texts[name]), value)
        b.ret(value)

    return function


for _method, _texts in {
    "getLanguage": {"ROOT": "", "US": "en", "ENGLISH": "en"},
    "getCountry": {"ROOT": "", "US": "US", "ENGLISH": ""},
    "toString": {"ROOT": "", "US": "en_US", "ENGLISH": "en"},
}.items():
    TABLE[f"{_LOCALE}.{_method}()L{_STRING};"] = _locale_text(_texts)


# Character sets that String itself encodes and decodes

_SETS = {
    "UTF_8": ("UTF-8", ("UTF8", "unicode-1-1-utf-8")),
    "ISO_8859_1": ("ISO-8859-1", ("ISO8859_1", "ISO8859-1", "latin1", "l1", "ISO_8859-1")),
    "US_ASCII": ("US-ASCII", ("ASCII", "ISO646-US", "646", "ANSI_X3.4-1968")),
}
for _name in _SETS:
    STATIC_OBJECTS[f"sun/nio/cs/{_name}", "INSTANCE"] = f"sun/nio/cs/{_name}"
    ALIASES["java/nio/charset/StandardCharsets", _name] = f"sun/nio/cs/{_name}", "INSTANCE"


@native(f"{_CHARSET}.defaultCharset()L{_CHARSET};")
def _default_charset(b: Body) -> None:
    b.ret(_object(b, "sun/nio/cs/UTF_8", "INSTANCE"))


@native(f"{_CHARSET}.forName(L{_STRING};)L{_CHARSET};")
def _charset_by_name(b: Body) -> None:
    fb = b.fb
    b.throw_if(fb.compare("eq", 64, b.args[0], integer(0)), "java/lang/IllegalArgumentException")
    for each, (canonical, others) in _SETS.items():
        for name in (canonical, *others):
            found, next_ = fb.new_block(), fb.new_block()
            literal = b.lowering.string(fb.part, name)
            same = b.java(_STRING, "equalsIgnoreCase", f"(L{_STRING};)Z", b.args[0], literal)
            fb.branch(fb.compare("ne", 32, same, integer(0)), found, next_)
            fb.start(found)
            b.ret(_object(b, f"sun/nio/cs/{each}", "INSTANCE"))
            fb.start(next_)
    fb.unsupported("a character set other than UTF-8, ISO-8859-1 and US-ASCII")


@native(f"{_CHARSET}.name()L{_STRING};", f"{_CHARSET}.toString()L{_STRING};", f"{_CHARSET}.displayName()L{_STRING};")
def _charset_name(b: Body) -> None:
    value = b.lowering.string(b.fb.part, _SETS["UTF_8"][0])
    for each in ("ISO_8859_1", "US_ASCII"):
        same = b.fb.compare("eq", 64, b.args[0], _object(b, f"sun/nio/cs/{each}", "INSTANCE"))
        value = b.fb.select(64, same, b.lowering.string(b.fb.part, _SETS[each][0]), value)
    b.ret(value)


@native(f"{_STRING}.intern()L{_STRING};")
def _intern(b: Body) -> None:
    value, coder = b.field(_STRING, "value", "[B"), b.field(_STRING, "coder", "B")
    table = b.lowering.literals(b.fb.part)
    b.ret(
        reg(b.fb.call("jvm_intern", [(b.args[0], 64), (table, 64), (integer(value), 32), (integer(coder), 32)], [64]))
    )


# Objects that the virtual machine gives to other packages; their classes are found by their interface.


def _access(kind: str, interface: str, candidates: tuple[str, ...]) -> None:
    def function(b: Body) -> None:
        for name in candidates:
            if b.lowering.exists(name) and interface in b.lowering.world.load(name).supertypes:
                STATIC_OBJECTS["jdk/internal/access/SharedSecrets", kind] = name
                b.ret(_object(b, "jdk/internal/access/SharedSecrets", kind))
                return
        b.fb.unsupported(f"the class of this JDK that has {interface.replace('/', '.')}")

    TABLE[f"jdk/internal/access/SharedSecrets.get{kind}()L{interface};"] = function


_access("JavaLangAccess", "jdk/internal/access/JavaLangAccess", tuple(f"java/lang/System${n}" for n in range(1, 6)))
_access(
    "JavaUtilCollectionAccess",
    "jdk/internal/access/JavaUtilCollectionAccess",
    ("java/util/ImmutableCollections$Access", *(f"java/util/ImmutableCollections$Access${n}" for n in range(1, 4))),
)
