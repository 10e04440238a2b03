"""Variables of type `_Bool` that a program makes symbolic: their byte is 0 or 1.

KLEE's functions fill bytes and know no types. A `_Bool` with any other byte has no value in C, so one that is made
symbolic as a whole gets an assumption after the call. LLVM has no such type: a variable is one if it is a byte, and
every load of it is only looked at as one bit. Members of structures are not seen.
"""

from __future__ import annotations

import itertools
import re

_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_NAME = r'[%@](?:"[^"]*"|[-\w.$]+)'
_MADE = re.compile(
    rf"^  (?:tail )?call void @(?:klee|partita)_make_symbolic\(ptr [^%@,\n]*({_NAME}), i(32|64) [^,\n]*\b1, [^\n]*\n",
    re.M,
)
_MAKERS = frozenset(("klee_make_symbolic", "partita_make_symbolic"))
_ASSUME = "klee_assume"


def makes_symbolic(names: frozenset[str]) -> bool:
    """May a module with these functions have such variables?"""
    return not _MAKERS.isdisjoint(names)


def with_bool_assumptions(text: str) -> str:
    """The module, with an assumption for each `_Bool` that it makes symbolic."""
    bodies = [found[0] for found in _FUNCTION.finditer(text)]
    numbers = itertools.count()
    word = ""

    def assumed(body: str) -> str:
        def with_assumption(call: re.Match[str]) -> str:
            nonlocal word
            name = call[1]
            if not _is_bool(name, [body] if name.startswith("%") else bodies):
                return call[0]
            byte, word = f"%partita.bool.{next(numbers)}", f"i{call[2]}"
            return (
                f"{call[0]}  {byte} = load i8, ptr {name}\n  {byte}.fits = icmp ult i8 {byte}, 2\n"
                f"  {byte}.condition = zext i1 {byte}.fits to {word}\n"
                f"  call void @{_ASSUME}({word} {byte}.condition)\n"
            )

        return _MADE.sub(with_assumption, body)

    text = _FUNCTION.sub(lambda found: assumed(found[0]), text)
    is_known = re.search(rf"^(?:declare|define) [^\n]*@{_ASSUME}\(", text, re.M)
    return text if not word or is_known else f"{text}\ndeclare void @{_ASSUME}({word})\n"


def _is_bool(name: str, bodies: list[str]) -> bool:
    """Is the variable loaded, and each load a byte of which only the lowest bit is used?"""
    load = re.compile(rf"^  (\S+) = load (?:volatile )?(\S+), ptr {re.escape(name)}(?=[,\n])", re.M)
    loads = [(body, *found) for body in bodies for found in load.findall(body)]
    return bool(loads) and all(type_ == "i8" and _is_bit(register, body) for body, register, type_ in loads)


def _is_bit(register: str, body: str) -> bool:
    uses = re.findall(rf"^[^\n]*{re.escape(register)}(?![-\w.$])[^\n]*", body, re.M)
    bit = re.compile(rf"  \S+ = trunc (?:nuw |nsw )*i8 {re.escape(register)} to i1\b")
    return all(bit.match(use) or use.startswith(f"  {register} = load ") for use in uses)
