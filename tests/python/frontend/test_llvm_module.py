"""Symbols, initial values, source positions and linking of lowered modules."""

from __future__ import annotations

import pytest

from partita._core import dump_program
from partita.errors import UsageError
from partita.llvm import lower


def globals_of(text: str) -> list[str]:
    return [line for line in dump_program(lower(text)).splitlines() if "global " in line]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@a = global i32 -2", "global a size 4 align 4 data feffffff"),
        ("@a = internal constant [4 x i8] c\"a\\00\\FFz\", align 1", "internal global a size 4 align 1 readonly data 6100ff7a"),
        ("@a = global [200001 x i8] zeroinitializer, align 16", "global a size 200001 align 16"),
        ("@a = weak thread_local global i64 1", "weak global a size 8 align 8 thread_local data 01"),
        ("@a = common global i16 0, align 2", "weak global a size 2 align 2"),
        ("@a = global <{ i8, i32 }> <{ i8 1, i32 2 }>", "global a size 5 align 1 data 0102"),
        ("@a = global { i8, i32, i128 } { i8 1, i32 2, i128 3 }", "global a size 32 align 16 data 0100000002000000000000000000000003"),
        ("@a = global <4 x i1> <i1 true, i1 false, i1 true, i1 true>", "global a size 1 align 1 data 0d"),
        ("@a = global [2 x float] [float 1.0, float 0x7FF8000000000000]", "global a size 8 align 4 data 0000803f0000c07f"),
        ("@a = global x86_fp80 0xK3FFF8000000000000000", "global a size 16 align 16 data 0000000000000080ff3f"),
        ("@a = global [2 x i32] undef", "global a size 8 align 4"),
        ('@"odd name\\21" = global i8 7', "global odd name! size 1 align 1 data 07"),
    ],
)  # fmt: skip
def test_initial_value(text: str, expected: str) -> None:
    assert globals_of(text) == [expected]


def test_relocations() -> None:
    text = """
%n = type { i32, ptr }
@a = global [3 x ptr] [ptr @b, ptr getelementptr (i8, ptr @b, i64 12), ptr @f]
@b = global %n { i32 5, ptr @b }
@c = global i32 trunc (i64 sub (i64 ptrtoint (ptr @b to i64), i64 ptrtoint (ptr @a to i64)) to i32)
@d = global ptr inttoptr (i64 5 to ptr)
@e = global i64 add (i64 ptrtoint (ptr @b to i64), i64 3)
declare void @f()
"""
    assert globals_of(text) == [
        "global a size 24 align 8 [0:8]=@b [8:8]=@b+12 [16:8]=&f",
        "global b size 16 align 8 data 05 [8:8]=@b",
        "global c size 4 align 4 [0:4]=@b-@a",
        "global d size 8 align 8 data 05",
        "global e size 8 align 8 [0:8]=@b+3",
    ]


def test_long_chains_of_constants() -> None:
    count = 20_000
    text = "".join(f"@n{i} = global ptr @n{i + 1}\n" for i in range(count)) + f"@n{count} = global ptr null\n"
    found = globals_of(text)
    assert len(found) == count + 1
    assert "global n7 size 8 align 8 [0:8]=@n8" in found


def test_an_unsupported_initial_value_affects_only_its_global() -> None:
    text = "@a = global i64 mul (i64 ptrtoint (ptr @b to i64), i64 3)\n@b = global i8 1"
    assert globals_of(text) == [
        'global a size 8 align 8 unsupported "constant expression `mul` in the initial value of `a`"',
        "global b size 1 align 1 data 01",
    ]


def test_aliases_are_resolved() -> None:
    text = """
@x = global [4 x i32] zeroinitializer
@y = alias i32, getelementptr (i8, ptr @x, i64 4)
@g = weak alias void (), ptr @f
@h = alias void (), ptr @g
define void @f() {
  store i32 1, ptr @y, align 4
  call void @h()
  ret void
}
"""
    dump = dump_program(lower(text))
    assert "store 32 1 to @x+4 align 4" in dump
    assert "call f()" in dump
    assert "weak function g = &f" in dump
    assert "function h = &f" in dump
    assert "global y = @x+4" in dump


def test_constructors_are_sorted_by_priority() -> None:
    text = """
@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @a, ptr null }, { i32, ptr, ptr } { i32 101, ptr @b, ptr null }]
@llvm.global_dtors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 101, ptr @b, ptr null }, { i32, ptr, ptr } { i32 65535, ptr @a, ptr null }]
define void @a() {
  ret void
}
define internal void @b() {
  ret void
}
"""
    lines = dump_program(lower(text)).splitlines()
    assert lines[:4] == ["constructor 101 b", "constructor 65535 a", "destructor 65535 a", "destructor 101 b"]


def test_unused_declarations_are_dropped() -> None:
    text = "declare void @used()\ndeclare void @unused()\ndefine void @f() {\n  call void @used()\n  ret void\n}"
    dump = dump_program(lower(text))
    assert "function used() -> () undefined" in dump
    assert "unused" not in dump


def test_source_positions_follow_scopes() -> None:
    text = """
define void @f() !dbg !2 {
  ret void, !dbg !5
}
!0 = !DIFile(filename: "/abs/a.c", directory: "/src")
!1 = !DIFile(filename: "inc/b.h", directory: "/src")
!2 = distinct !DISubprogram(name: "f", file: !0, line: 1)
!3 = distinct !DILexicalBlock(scope: !2, file: !0, line: 2)
!4 = !DILexicalBlockFile(scope: !3, file: !1, discriminator: 0)
!5 = !DILocation(line: 9, column: 2, scope: !4)
"""
    assert "ret ; /src/inc/b.h:9:2" in dump_program(lower(text))


def test_another_target_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        lower('target triple = "aarch64-linux-gnu"')
    assert str(caught.value) == (
        "expected code for x86-64 or 32-bit x86, found target `aarch64-linux-gnu`: compile with"
        " `-target x86_64-linux-musl`, or with `-m32` in addition"
    )


def test_an_unsupported_instruction_affects_only_its_function() -> None:
    text = """
declare void @g(<vscale x 4 x i32>)
define i32 @f(ptr addrspace(257) %p, i32) {
  %2 = load i32, ptr addrspace(257) %p
  ret i32 %2
}
define i32 @main(ptr %p) {
  %1 = load i32, ptr addrspace(256) null
  call void @g(<vscale x 4 x i32> zeroinitializer)
  %2 = call i32 @f(ptr addrspace(257) null, i32 1)
  ret i32 %2
}
"""
    segment = "a pointer relative to a segment register in function"
    assert dump_program(lower(text)).splitlines() == [
        "function f() -> ()",
        "b0:",
        f'  unsupported "{segment} `f`"',
        "  unreachable",
        "function main(64) -> (32)",
        "b0:",
        f'  unsupported "{segment} `main`"',
        '  unsupported "scalable vectors in function `main`"',
        f'  unsupported "{segment} `main`"',
        "  ret undef",
        "function g() -> () undefined",
    ]


# Linking


def function(name: str, body: str, linkage: str = "") -> str:
    return f"define {linkage} i32 @{name}() {{\n{body}\n}}\n"


def calling(name: str, *callees: str, linkage: str = "") -> str:
    calls = "".join(f"  %c{i} = call i32 @{callee}()\n" for i, callee in enumerate(callees))
    return function(name, calls + "  ret i32 0", linkage)


def linked(user: str, *libraries: str, roots: list[str] | None = None) -> list[str]:
    dump = dump_program(lower(user), libraries=[lower(text) for text in libraries], roots=roots or [])
    return [line for line in dump.splitlines() if "function " in line or "call " in line or "ret " in line]


def declare(*names: str) -> str:
    return "".join(f"declare i32 @{name}()\n" for name in names)


def test_a_library_only_adds_undefined_symbols() -> None:
    user = declare("read", "missing") + calling("main", "read", "missing")
    library = calling("read", "helper", linkage="") + calling("helper", linkage="internal") + calling("unused")
    assert linked(user, library) == [
        "function main() -> (32)",
        "  r0:32 = call read()",
        "  r1:32 = call missing()",
        "  ret 0",
        "function read() -> (32)",
        "  r0:32 = call helper()",
        "  ret 0",
        "function missing() -> (32) undefined",
        "internal function helper() -> (32)",
        "  ret 0",
    ]


def test_user_definitions_override_library_internals() -> None:
    user = declare("strdup") + calling("main", "strdup") + function("malloc", "  ret i32 1", "weak")
    library = declare("malloc") + calling("strdup", "malloc") + function("malloc", "  ret i32 2")
    library = library.replace("declare i32 @malloc()\n", "")
    found = linked(user, library)
    assert found.count("  ret 2") == 0
    assert "  r0:32 = call malloc()" in found
    assert "  ret 1" in found


def test_strong_definitions_override_weak_ones_among_libraries() -> None:
    user = declare("hook") + calling("main", "hook")
    found = linked(user, function("hook", "  ret i32 1", "weak"), function("hook", "  ret i32 2"))
    assert "  ret 2" in found
    assert "  ret 1" not in found


def test_internal_symbols_do_not_clash() -> None:
    user = declare("api") + calling("main", "api", "helper") + function("helper", "  ret i32 1", "internal")
    library = calling("api", "helper") + function("helper", "  ret i32 2", "internal")
    found = linked(user, library)
    assert found.count("internal function helper() -> (32)") == 2
    assert "  ret 1" in found
    assert "  ret 2" in found


def test_roots_keep_library_functions() -> None:
    assert "function exit() -> (32)" in linked(calling("main"), calling("exit"), roots=["exit"])
    assert "function exit() -> (32)" not in linked(calling("main"), calling("exit"))
