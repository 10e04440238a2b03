"""Random Java programs that print what they compute: arithmetic, arrays, objects, virtual calls, strings, exceptions.

Every program ends, and its output depends on nothing but its code, so that the Java virtual machine and a concrete run
in Partita must print the same.
"""

from __future__ import annotations

import random

_INT_OPS = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>")
_CASTS = ("byte", "short", "char", "int")
_EXCEPTIONS = ("ArithmeticException", "ArrayIndexOutOfBoundsException", "IllegalStateException", "RuntimeException")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 2

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def number(self) -> str:
        special = ("0", "1", "-1", "7", "31", "-128", "65535", "Integer.MAX_VALUE", "Integer.MIN_VALUE")
        return self.random.choice([*special, str(self.random.randrange(-1000, 1000))])

    def integer(self, depth: int = 0) -> str:
        pick = self.random.randrange(10)
        if depth > 3 or pick < 2:
            return self.random.choice(["a", "b", "c", "(int) l", "s.f(a)", "t.g", self.number()])
        if pick < 7:
            op = self.random.choice(_INT_OPS)
            return f"({self.integer(depth + 1)} {op} {self.integer(depth + 1)})"
        if pick == 7:
            return f"({self.random.choice(_CASTS)}) ({self.integer(depth + 1)})"
        if pick == 8:
            return f"x[({self.integer(depth + 1)}) & 7]"
        return f"({self.condition(depth + 1)} ? {self.integer(depth + 1)} : {self.integer(depth + 1)})"

    def long(self, depth: int = 0) -> str:
        if depth > 2 or self.random.randrange(3) == 0:
            return self.random.choice(["l", f"(long) {self.integer(2)}", "5000000000L", "Long.MIN_VALUE"])
        op = self.random.choice(_INT_OPS)
        right = self.integer(2) if op in ("<<", ">>", ">>>") else self.long(depth + 1)
        return f"({self.long(depth + 1)} {op} {right})"

    def double(self, depth: int = 0) -> str:
        if depth > 2 or self.random.randrange(3) == 0:
            return self.random.choice(["d", f"(double) {self.integer(2)}", "0.5", "1e300", "(float) l"])
        return f"({self.double(depth + 1)} {self.random.choice('+-*/')} {self.double(depth + 1)})"

    def condition(self, depth: int = 0) -> str:
        pick = self.random.randrange(6)
        if pick == 0 and depth < 3:
            return f"({self.condition(depth + 1)} {self.random.choice(['&&', '||'])} {self.condition(depth + 1)})"
        if pick == 1:
            return f"{self.double(2)} {self.random.choice(['<', '>=', '==', '!='])} {self.double(2)}"
        if pick == 2:
            return f"{self.long(2)} {self.random.choice(['<', '<=', '=='])} {self.long(2)}"
        return f"{self.integer(3)} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {self.integer(3)}"

    def statement(self, depth: int = 0) -> None:
        pick = self.random.randrange(13)
        if pick < 3:
            self.line(f"{self.random.choice('abc')} = {self.integer()};")
        elif pick == 3:
            self.line(f"l = {self.long()};")
        elif pick == 4:
            self.line(f"d = {self.double()};")
        elif pick == 5:
            self.line(f"x[{self.integer(3)}] = {self.integer(1)};")
        elif pick == 6:
            self.line(
                f"s = {self.random.choice(['new S()', 'new T()', 't', 'new S() { int f(int n) { return n * 3; } }'])};"
            )
        elif pick == 7:
            self.line(
                f't.g = ("" + {self.integer(2)} + {self.random.choice(["l", "(char) 65", "true", "null"])}).length();'
            )
        elif pick == 8:
            shown = self.random.choice(
                ["a", "l", "(int) d", "s.f(b)", "x[2]", '"v" + c', 'a + " " + l', "d > 1 ? 1 : 0"]
            )
            self.line(f"System.out.println({shown});")
        elif pick == 9:
            self.line(f"if ({self.integer(2)} == {self.number()}) throw new {self.random.choice(_EXCEPTIONS[2:])}();")
        elif depth < 3:
            self.compound(pick, depth)

    def block(self, depth: int) -> None:
        self.depth += 1
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth + 1)
        self.depth -= 1

    def compound(self, pick: int, depth: int) -> None:
        if pick == 10:
            self.line(f"if ({self.condition()}) {{")
            self.block(depth)
            self.line("} else {")
            self.block(depth)
            self.line("}")
        elif pick == 11:
            name = f"i{depth}"
            self.line(f"for (int {name} = 0; {name} < {self.random.randrange(1, 5)}; {name}++) {{")
            self.block(depth)
            self.line("}")
        else:
            self.line("try {")
            self.block(depth)
            self.line(f"}} catch ({self.random.choice(_EXCEPTIONS)} e{depth}) {{")
            self.line(f'    System.out.println("caught " + {self.random.randrange(100)});')
            self.block(depth)
            if self.random.randrange(2):
                self.line("} finally {")
                self.line("    c++;")
            self.line("}")


def program(seed: int, name: str) -> str:
    """Source of a class of this name whose `main` prints; an exception ends it after a last line."""
    w = _Writer(seed)
    for _ in range(w.random.randrange(8, 20)):
        w.statement()
    body = "\n".join(w.lines)
    return f"""public class {name} {{
    static class S {{
        int f(int n) {{
            return n + 1;
        }}
    }}

    static class T extends S {{
        int g = 3;

        @Override
        int f(int n) {{
            return super.f(n) ^ g;
        }}
    }}

    static void run() {{
        int a = {w.number()}, b = {w.number()}, c = 5;
        long l = {w.random.randrange(-(10**12), 10**12)}L;
        double d = {w.random.randrange(-1000, 1000)} / 16.0;
        int[] x = new int[8];
        S s = new S();
        T t = new T();
{body}
        System.out.println(a + " " + b + " " + c + " " + l + " " + x[3] + " " + s.f(t.g));
        System.out.println(Double.doubleToLongBits(d));
    }}

    public static void main(String[] arguments) {{
        try {{
            run();
        }} catch (RuntimeException e) {{
            System.out.println("ended by " + e.getClass().getName());
        }}
    }}
}}
"""
