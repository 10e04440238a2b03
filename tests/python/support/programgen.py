"""Random small C programs over one symbolic byte, in the form of tests/programs/exhaustive.

Programs may be wrong for some inputs: indices leave arrays, sums overflow, freed memory is used. What gcc's sanitizers
report of each input, and the exit status of all others, is what an exploration has to predict. Expressions have no side
effects, so that the order of evaluation, which C leaves open, cannot be seen. All memory is written before a read."""

from __future__ import annotations

import random
from collections.abc import Callable

# Width and sign of the integer types.
TYPES = {
    "signed char": (8, True), "unsigned char": (8, False), "short": (16, True), "unsigned short": (16, False),
    "int": (32, True), "unsigned": (32, False), "long": (64, True), "unsigned long": (64, False),
}  # fmt: skip
_CONSTANTS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 63, 64, 100, 127, 128, 200, 255, 256, 1000, 32767, 65535, 2147483647)

HEAD = """#include "exhaustive.h"
#include <stdio.h>

struct fields { unsigned low : 3; int middle : 5; unsigned long high : 40; signed char tail; };
struct record { int number; unsigned char text[4]; short pair[2]; };
union view { unsigned long word; unsigned char bytes[8]; unsigned short halves[4]; int parts[2]; };

static unsigned long checksum = 1;
static void mix(unsigned long value) { checksum = (checksum ^ value) * 1099511628211UL; checksum ^= checksum >> 29; }
static int add_all(int count, ...) {
  va_list list;
  unsigned sum = 0;
  va_start(list, count);
  for (int i = 0; i < count; i++) sum += va_arg(list, unsigned);
  va_end(list);
  return (int)(sum & 0xffff);
}
static struct record changed(struct record value, int by) {
  value.number ^= by;
  value.text[by & 3] = (unsigned char)by;
  return value;
}
static int order_up(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }
"""


class Program:
    """One program: `text()` is its source."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0
        self.loops = 0
        self.globals: list[tuple[str, str, int]] = []  # name, element type, length
        self.functions: list[tuple[str, str, list[str]]] = []  # name, result, parameters

    def text(self) -> str:
        parts = [HEAD]
        for _ in range(self.random.randint(2, 4)):
            type_, length = self.type(), self.random.choice((3, 4, 5, 8))
            name = self.name("g")
            values = ", ".join(str(self.random.choice(_CONSTANTS) % 120) for _ in range(length))
            parts.append(f"static {type_} {name}[{length}] = {{{values}}};")
            self.globals.append((name, type_, length))
        parts.append("static struct record record = {5, {1, 2, 3, 4}, {6, 7}};")
        parts.append("static struct fields fields = {1, -2, 3, 4};")
        parts.append("static union view view = {0x0123456789abcdefUL};")
        for _ in range(self.random.randint(1, 3)):
            parts.append(self.function())
        body = Scope(self, [("in[0]", "unsigned char")], None)
        lines = body.block(self.random.randint(4, 9), 2)
        parts.append("static long test(const unsigned char *in) {")
        parts += [f"  {line}" for line in lines]
        for name, _type, length in self.globals:
            parts.append(f"  for (int i = 0; i < {length}; i++) mix((unsigned long){name}[i]);")
        parts.append("  mix(record.number); mix(record.text[1]); mix(record.pair[1]); mix(view.word);")
        parts.append("  mix(fields.low); mix(fields.middle); mix(fields.high); mix(fields.tail);")
        parts.append("  return (long)(checksum % 61);\n}\n")
        return "\n".join(parts)

    def name(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def type(self) -> str:
        return self.random.choice(list(TYPES))

    def function(self) -> str:
        name, result = self.name("f"), self.type()
        parameters = [self.type() for _ in range(self.random.randint(1, 3))]
        names = [(f"p{i}", type_) for i, type_ in enumerate(parameters)]
        scope = Scope(self, list(names), result)
        lines = scope.block(self.random.randint(2, 4), 1)
        returned = scope.expression(2)
        self.functions.append((name, result, parameters))
        head = f"static {result} {name}({', '.join(f'{type_} {p}' for p, type_ in names)}) {{"
        return "\n".join([head, *(f"  {line}" for line in lines), f"  return ({result})({returned});", "}"])


class Scope:
    """Statements of one function: what can be read and written there."""

    def __init__(self, program: Program, readable: list[tuple[str, str]], result: str | None) -> None:
        self.program = program
        self.random = program.random
        self.readable = readable
        self.writable: list[tuple[str, str]] = []
        self.result = result

    # Expressions: text without side effects.

    def leaf(self) -> str:
        choice = self.random.random()
        if choice < 0.7:
            return self.random.choice(self.readable)[0]
        if choice < 0.9:
            name, _type, length = self.random.choice(self.program.globals)
            return f"{name}[{self.random.randrange(length)}]"
        return self.random.choice(
            ("record.number", "record.text[2]", "record.pair[1]", "fields.low", "fields.middle",
             "(unsigned long)fields.high",  # of 40 bits to gcc, of 64 to clang
             "fields.tail", "view.bytes[3]", "view.halves[1]", "view.parts[0]", "view.word")
        )  # fmt: skip

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf()
        make: Callable[[int], str] = self.random.choices(
            (self.arithmetic, self.division, self.shift, self.comparison, self.choice, self.cast, self.element,
             self.unary, self.floating, self.wide, self.builtin),
            weights=(8, 2, 3, 3, 2, 3, 3, 2, 1, 1, 1),
        )[0]  # fmt: skip
        return make(depth - 1)

    def operand(self, depth: int, constant: float = 0.35) -> str:
        """An expression, or with this probability a constant."""
        if self.random.random() >= constant:
            return self.expression(depth)
        value = self.random.choice(_CONSTANTS)
        return str(-value if self.random.random() < 0.2 else value)

    def left(self, depth: int) -> str:
        """A left operand. Few operations have constants only: compilers fold those."""
        return self.operand(depth, 0.05)

    def arithmetic(self, depth: int) -> str:
        op = self.random.choice("+ - * & | ^ + -".split())
        return f"({self.left(depth)} {op} {self.operand(depth)})"

    def division(self, depth: int) -> str:
        divisor = self.operand(depth)
        if self.random.random() < 0.92:
            divisor = f"({divisor} | 1)"
        return f"({self.left(depth)} {self.random.choice('/%')} {divisor})"

    def shift(self, depth: int) -> str:
        amount = self.operand(depth)
        if self.random.random() < 0.95:
            amount = f"({amount} & {self.random.choice((7, 15, 31))})"
        value = self.left(depth)
        if self.random.random() < 0.9:
            value = f"(unsigned)({value})"
        return f"({value} {self.random.choice(('<<', '>>'))} {amount})"

    def comparison(self, depth: int) -> str:
        op = self.random.choice("< <= > >= == != && ||".split())
        return f"({self.expression(depth)} {op} {self.operand(depth)})"

    def choice(self, depth: int) -> str:
        return f"({self.expression(depth)} ? {self.operand(depth)} : {self.operand(depth)})"

    def cast(self, depth: int) -> str:
        return f"(({self.program.type()})({self.expression(depth)}))"

    def unary(self, depth: int) -> str:
        return f"({self.random.choice('-~!')}({self.expression(depth)}))"

    def index(self, length: int, depth: int) -> str:
        """An index, usually inside."""
        inner = self.expression(depth)
        choice = self.random.random()
        if choice < 0.5:
            return f"(unsigned)({inner}) % {length}"
        if choice < 0.95:
            power = 1 << (length.bit_length() - 1)
            return f"({inner}) & {power - 1}"
        return f"({inner}) & {2 * (1 << (length.bit_length() - 1)) - 1}"

    def element(self, depth: int) -> str:
        name, _type, length = self.random.choice(self.program.globals)
        return f"{name}[{self.index(length, depth)}]"

    def floating(self, depth: int) -> str:
        a, b = self.expression(depth), self.expression(depth)
        kind = self.random.choice(("double", "float"))
        op = self.random.choice("+ - *".split())
        if self.random.random() < 0.5:
            return f"(({kind})({a}) {op} ({kind})({b}) {self.random.choice(('<', '>='))} 100.5)"
        return f"((int)((({kind})(short)({a}) {op} ({kind})(signed char)({b})) / 3))"

    def wide(self, depth: int) -> str:
        op = self.random.choice("+ - * ^".split())
        a, b = self.expression(depth), self.expression(depth)
        amount = self.random.choice((0, 7, 60, 64))
        return f"((unsigned long)(((unsigned __int128)({a}) {op} (unsigned __int128)({b})) >> {amount}))"

    def builtin(self, depth: int) -> str:
        form = self.random.choice(
            ("__builtin_popcountl({})", "__builtin_bswap32({})", "__builtin_clzl(({}) | 1)", "__builtin_ctz(({}) | 64)",
             "__builtin_parityl({})", "isdigit((unsigned char)({}))", "toupper((unsigned char)({}))",
             "abs((short)({}))", "labs((int)({}))")
        )  # fmt: skip
        text = form.format(self.expression(depth))
        return f"({text} != 0)" if text.startswith("isdigit") else text

    # Statements.

    def block(self, count: int, depth: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        kinds: list[tuple[int, Callable[[], list[str]]]] = [
            (5, self.declare), (5, self.assign), (3, self.assign_element), (2, self.assign_member),
            (1, self.assign_view), (2, self.call), (1, self.copy), (1, self.text), (2, self.heap),
            (1, self.variable_array), (2, self.pointer), (1, self.variadic), (1, self.structure),
            (1, self.function_pointer), (1, self.sort), (1, self.stop), (1, self.printed), (1, self.overflowing),
            (1, self.number_from_text), (1, self.atomic),
        ]  # fmt: skip
        if depth > 0:
            kinds += [(4, lambda: self.branch(depth)), (2, lambda: self.loop(depth)), (2, lambda: self.switch(depth)),
                      (1, lambda: self.jump(depth))]  # fmt: skip
        weights, makers = zip(*kinds, strict=True)
        return self.random.choices(makers, weights=weights)[0]()

    def declare(self) -> list[str]:
        name, type_ = self.program.name("v"), self.program.type()
        line = f"{type_} {name} = ({type_})({self.expression(3)});"
        self.readable.append((name, type_))
        self.writable.append((name, type_))
        return [line]

    def assign(self) -> list[str]:
        if not self.writable:
            return self.declare()
        name, type_ = self.random.choice(self.writable)
        op = self.random.choice(("=", "=", "+=", "-=", "^=", "|=", "*="))
        return [f"{name} {op} ({type_})({self.expression(3)});"]

    def assign_element(self) -> list[str]:
        name, type_, length = self.random.choice(self.program.globals)
        return [f"{name}[{self.index(length, 2)}] = ({type_})({self.expression(2)});"]

    def assign_member(self) -> list[str]:
        place = self.random.choice(
            ("record.number", f"record.text[{self.index(4, 1)}]", f"record.pair[{self.index(2, 1)}]", "fields.low",
             "fields.middle", "fields.high", "fields.tail")
        )  # fmt: skip
        return [f"{place} = {self.expression(2)};"]

    def assign_view(self) -> list[str]:
        place = self.random.choice(
            ("view.word", f"view.bytes[{self.index(8, 1)}]", f"view.halves[{self.index(4, 1)}]", "view.parts[1]")
        )
        return [f"{place} = {self.expression(2)};"]

    def call(self) -> list[str]:
        if not self.program.functions or (self.program.loops and self.random.random() < 0.7):
            return self.assign()
        name, result, parameters = self.random.choice(self.program.functions)
        arguments = ", ".join(f"({type_})({self.expression(2)})" for type_ in parameters)
        into = self.program.name("v")
        self.readable.append((into, result))
        return [f"{result} {into} = {name}({arguments});"]

    def bytes_of(self) -> tuple[str, int]:
        name, type_, length = self.random.choice(self.program.globals)
        return name, length * TYPES[type_][0] // 8

    def size(self, most: int) -> str:
        inner = self.expression(2)
        if self.random.random() < 0.9:
            return f"(unsigned)({inner}) % {most + 1}"
        return f"({inner}) & {2 * (1 << most.bit_length()) - 1}"

    def copy(self) -> list[str]:
        (a, m), (b, n) = self.bytes_of(), self.bytes_of()
        kind = self.random.choice(("memmove", "memset", "memcmp", "memchr"))
        if kind == "memset":
            return [f"memset({a}, {self.expression(1)}, {self.size(m)});"]
        if kind == "memmove":
            return [f"memmove({a}, {b}, {self.size(min(m, n))});"]
        if kind == "memchr":
            return [f"mix(memchr({a}, {self.expression(1)}, {m}) != 0);"]
        return [f"mix(memcmp({a}, {b}, {self.size(min(m, n))}) < 0);"]

    def text(self) -> list[str]:
        name = self.program.name("s")
        bytes_ = ", ".join(f"(char)({self.expression(1)})" for _ in range(3))
        other = self.random.choice(('"a"', '"ab"', '""', '"\\x01z"'))
        use = self.random.choice(
            (f"mix(strlen({name}));", f"mix(strcmp({name}, {other}) < 0);",
             f"mix(strchr({name}, {self.expression(1)}) == 0);", f"mix(strspn({name}, \"abc\\x01\\x02\"));",
             f"strncat({name}, {other}, {self.size(2)}); mix({name}[3]);",
             f"strcpy({name}, {other}); mix({name}[1]);", f"mix(strstr({name}, {other}) != 0);")
        )  # fmt: skip
        return [f"char {name}[8] = {{{bytes_}}};", use]

    def number_from_text(self) -> list[str]:
        name = self.program.name("s")
        return [
            f"char {name}[4] = {{(char)({self.expression(1)}), (char)(48 + (({self.expression(1)}) & 7))}};",
            f"mix((unsigned long)strtol({name}, 0, {self.random.choice((0, 8, 10, 16))}));",
        ]

    def printed(self) -> list[str]:
        name, format_ = self.program.name("s"), self.random.choice(("%d", "%u|%c", "%x", "%5d", "%-3d|%o", "%03d"))
        arguments = ", ".join(f"(int)({self.expression(1)}) & 255" for _ in range(format_.count("%")))
        size = self.random.choice((6, 8, 12))
        kind = f"snprintf({name}, {self.size(size)}," if self.random.random() < 0.6 else f"sprintf({name},"
        return [f"char {name}[{size}] = {{0}};", f'mix({kind} "{format_}", {arguments})); mix({name}[1]);']

    def heap(self) -> list[str]:
        name, type_ = self.program.name("h"), self.program.type()
        length = self.random.choice((2, 3, 4))
        lines = [f"{type_} *{name} = calloc({length}, sizeof *{name});"]
        lines.append(f"{name}[{self.index(length, 2)}] = ({type_})({self.expression(2)});")
        last = f"mix((unsigned long){name}[{self.index(length, 1)}]);"
        choice = self.random.random()
        rarely = f"if (({self.expression(2)}) % 9 == 2)"
        if choice < 0.15:
            return [*lines, f"{rarely} free({name});", last]
        if choice < 0.3:
            return [*lines, f"{rarely} free({name});", f"free({name});"]
        if choice < 0.5:
            lines.append(f"{name} = realloc({name}, {length - self.random.randrange(2)} * sizeof *{name});")
        return [*lines, last, f"free({name});"]

    def variable_array(self) -> list[str]:
        name, size = self.program.name("a"), self.program.name("n")
        # In a block of its own: no jump enters the scope of a variable array.
        return [
            "{",
            f"  unsigned {size} = (unsigned)({self.expression(2)}) % 6 + 1;",
            f"  unsigned char {name}[{size}];",
            f"  memset({name}, {self.expression(1)}, {size});",
            f"  mix({name}[({self.expression(1)}) & {self.random.choice((1, 3, 7))}]);",
            "}",
        ]

    def pointer(self) -> list[str]:
        name = self.program.name("q")
        array, type_, length = self.random.choice(self.program.globals)
        same = [entry for entry in self.program.globals if entry[1] == type_]
        other = self.random.choice(same)
        step = self.random.randrange(length)
        lines = [f"{type_} *{name} = {self.expression(2)} ? &{array}[{step}] : {other[0]};"]
        use = self.random.choice(
            (f"*{name} = ({type_})({self.expression(2)});", f"{name}[({self.expression(1)}) & 1] ^= 5;",
             f"mix((unsigned long)*({name} + (({self.expression(1)}) & 1)));", f"mix({name} == {other[0]});",
             f"mix((unsigned long)((unsigned char *){name})[({self.expression(1)}) & 1]);")
        )  # fmt: skip
        return [*lines, use]

    def variadic(self) -> list[str]:
        count = self.random.randint(1, 9)
        arguments = ", ".join(f"(unsigned)({self.expression(1)})" for _ in range(count))
        return [f"mix((unsigned long)add_all((unsigned)({self.expression(1)}) % {count + 1}, {arguments}));"]

    def structure(self) -> list[str]:
        return [f"record = changed(record, (int)({self.expression(2)}));"]

    def function_pointer(self) -> list[str]:
        if len(self.program.functions) < 2 or self.program.loops:
            return self.assign()
        name, result, parameters = self.random.choice(self.program.functions)
        same = [entry[0] for entry in self.program.functions if entry[1:] == (result, parameters)]
        pointer = self.program.name("c")
        types = ", ".join(parameters)
        arguments = ", ".join(f"({type_})({self.expression(1)})" for type_ in parameters)
        return [
            f"{result} (*{pointer})({types}) = {self.expression(2)} ? {name} : {self.random.choice(same)};",
            f"mix((unsigned long){pointer}({arguments}));",
        ]

    def sort(self) -> list[str]:
        name = self.program.name("s")
        values = ", ".join(f"(unsigned char)({self.expression(1)})" for _ in range(3))
        return [f"unsigned char {name}[3] = {{{values}}};", f"qsort({name}, 3, 1, order_up); mix({name}[1]);"]

    def stop(self) -> list[str]:
        call = self.random.choice(("abort();", "exit(77);", "assert(!record.number);"))
        return [f"if (({self.expression(2)}) % {self.random.choice((7, 11, 50))} == 3) {call}"]

    def overflowing(self) -> list[str]:
        name, type_ = self.program.name("v"), self.random.choice(("int", "unsigned", "long"))
        op = self.random.choice(("add", "sub", "mul"))
        operands = f"{self.expression(2)}, {self.expression(1)}"
        self.readable.append((name, type_))
        return [f"{type_} {name};", f"mix(__builtin_{op}_overflow({operands}, &{name}));"]

    def atomic(self) -> list[str]:
        name, type_, length = self.random.choice(self.program.globals)
        op = self.random.choice(("add", "sub", "xor", "or", "and", "nand"))
        place = f"&{name}[{self.index(length, 1)}]"
        return [f"mix((unsigned long)__atomic_fetch_{op}({place}, ({type_})({self.expression(1)}), __ATOMIC_SEQ_CST));"]

    def nested(self, lines: list[str]) -> list[str]:
        return [f"  {line}" for line in lines]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if ({self.expression(3)}) {{", *self.nested(self.inner(depth))]
        if self.random.random() < 0.5:
            lines += ["} else {", *self.nested(self.inner(depth))]
        return [*lines, "}"]

    def inner(self, depth: int) -> list[str]:
        """Statements of a nested block: what they declare ends with it."""
        readable, writable = list(self.readable), list(self.writable)
        lines = self.block(self.random.randint(1, 3), depth - 1)
        self.readable, self.writable = readable, writable
        return lines

    def loop(self, depth: int) -> list[str]:
        name = self.program.name("i")
        self.program.loops += 1
        self.readable.append((name, "unsigned"))
        head = (
            f"for (unsigned {name} = 0; {name} < (({self.expression(2)}) & {self.random.choice((1, 3))}); {name}++) {{"
        )
        lines = [head, *self.nested(self.inner(depth))]
        if self.random.random() < 0.4:
            lines.append(f"  if ({self.expression(2)}) {self.random.choice(('break', 'continue'))};")
        self.readable.remove((name, "unsigned"))
        self.program.loops -= 1
        # A bound that is read anew each round may grow with it: the rounds are few all the same.
        return [*lines, f"  if ({name} > 3) break;", "}"]

    def switch(self, depth: int) -> list[str]:
        lines = [f"switch (({self.expression(2)}) & 7) {{"]
        for value in self.random.sample(range(8), self.random.randint(1, 4)):
            lines += [f"case {value}: {{", *self.nested(self.inner(depth)), "}"]
            if self.random.random() < 0.7:
                lines.append("  break;")
        if self.random.random() < 0.6:
            lines += ["default: {", *self.nested(self.inner(depth)), "}"]
        return [*lines, "}"]

    def jump(self, depth: int) -> list[str]:
        a, b, end, table = (self.program.name("l") for _ in range(4))
        return [
            "{",
            f"  static void *{table}[] = {{&&{a}, &&{b}, &&{end}}};",
            f"  goto *{table}[{self.index(3, 1)}];",
            f"  {a}: {{", *self.nested(self.inner(depth)), "  }",
            f"  {b}: {{", *self.nested(self.inner(depth)), "  }",
            f"  {end}:;",
            "}",
        ]  # fmt: skip
