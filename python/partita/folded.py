"""Undefined operations on constants, which the compiler folds.

`INT_MIN / -1`, `1 / 0` and `(int)1e30` become a value without a meaning, `INT_MAX + 1` becomes a number: if the result
is not used, nothing is left to check. The compiler's sanitizers see them before they are folded. So each source is also
compiled with sanitizers, as text. Only if that text has a check of constants, it is the program, without all checks
that depend on values: the executor has its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Checks that are always on in the executor.
_DIVISION, _CAST = "integer-divide-by-zero", "float-cast-overflow"
# Also the check of `INT_MIN / -1`; the additions that it checks are additions again at the end.
_OVERFLOW = "signed-integer-overflow"
# Sanitizers that call the handlers.
_GROUPS = frozenset(("undefined", "integer", "all"))
_SANITIZERS = {
    "divrem_overflow": _GROUPS | {_DIVISION, _OVERFLOW},
    "float_cast_overflow": frozenset((_CAST, "undefined", "all")),
    **dict.fromkeys(("add_overflow", "sub_overflow", "mul_overflow", "negate_overflow"), _GROUPS | {_OVERFLOW}),
}
# Checks of the user that are not handlers with a name for each operation.
_OTHER_CHECKS = ("-fsanitize-trap", "-fsanitize-minimal", "-fsanitize-undefined-trap", "-ftrapv")
# Overflow has a meaning.
_WRAPPING = frozenset(("-fwrapv", "-fno-strict-overflow"))

_FOLDED = frozenset(("divrem_overflow", "float_cast_overflow"))

_MARK = "!nosanitize"
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_HANDLER = re.compile(r"@__ubsan_handle_(\w+?)(?:_abort)?\(")
_BRANCH = re.compile(r"^(\s*br )i1 (\S+), (label %(?:\"[^\"]*\"|[-\w.$]+)), label %(\"[^\"]*\"|[-\w.$]+)(.*)$")
_OPERATION = re.compile(
    r"^(\s*%\S+ = )call \{ (i\d+), i1 \} @llvm\.s(add|sub|mul)\.with\.overflow\.i\d+"
    r"\(i\d+ (\S+), i\d+ ([^\s)]+)\)(?: #\d+)?(.*)$"
)
_PART = re.compile(r"^(\s*%\S+ = )extractvalue \{ (i\d+), i1 \} (\S+), ([01])(.*)$")


def flags(given: Sequence[str]) -> list[str]:
    """Flags that let the compiler check constants, in addition to those of the user."""
    checks = [_DIVISION, _CAST]
    if "add_overflow" in _dropped(given) and not any(word.startswith(_OTHER_CHECKS) for word in given):
        checks.append(_OVERFLOW)
    return [f"-fsanitize={','.join(checks)}", f"-fsanitize-recover={','.join(checks)}"]


def _dropped(given: Sequence[str]) -> frozenset[str]:
    """Handlers that the user's flags do not ask for."""
    named = {name for word in given if word.startswith("-fsanitize=") for name in word.partition("=")[2].split(",")}
    return frozenset(handler for handler, sanitizers in _SANITIZERS.items() if sanitizers.isdisjoint(named))


def has_checks(text: str) -> bool:
    """Has a module that was compiled with these flags a check of constants that fails?"""
    if "br i1 false" not in text and ".with.overflow." not in text:
        return False
    for line in text.splitlines():
        if _MARK not in line:
            continue
        if line.lstrip().startswith("br i1 false"):
            return True
        if (operation := _OPERATION.match(line)) and not operation[4].startswith("%") and operation[5][0] != "%":
            return True
    return False


def without_other_checks(text: str, given: Sequence[str]) -> str:
    """The module with those checks that fail for constants, and those of the user's flags. Each line stays a line, so
    that the numbers of values stay in order."""
    dropped = _dropped(given)
    signed = "" if not _WRAPPING.isdisjoint(given) else "nsw "
    lines: list[str] = []
    for function in _functions(text.splitlines()):
        handlers = _handlers(function)
        lines += [_without_check(line, handlers, dropped, signed) if _MARK in line else line for line in function]
    return "\n".join(lines) + "\n"


def _functions(lines: list[str]) -> Iterator[list[str]]:
    """The lines in groups, of which none has more than one function: labels are names of one function."""
    group: list[str] = []
    for line in lines:
        group.append(line)
        if line == "}":
            yield group
            group = []
    yield group


def _handlers(lines: list[str]) -> dict[str, str]:
    """The handler that each block calls, by the block's label."""
    found, label = {}, ""
    for line in lines:
        if named := _LABEL.match(line):
            label = named[1]
        elif _MARK in line and (handler := _HANDLER.search(line)):
            found[label] = handler[1]
    return found


def _without_check(line: str, handlers: dict[str, str], dropped: frozenset[str], signed: str) -> str:
    if branch := _BRANCH.match(line):
        head, condition, success, failure, rest = branch.groups()
        handler = handlers.get(failure)
        if handler in dropped and (condition != "false" or handler not in _FOLDED):
            return f"{head}{success}{_without_weights(rest)}"
    if "add_overflow" in dropped:
        if operation := _OPERATION.match(line):
            head, type_, name, left, right, rest = operation.groups()
            return f"{head}{name} {signed}{type_} {left}, {right}{rest}"
        if part := _PART.match(line):
            head, type_, whole, index, rest = part.groups()
            copied = f"bitcast {type_} {whole} to {type_}" if index == "0" else "or i1 false, false"
            return f"{head}{copied}{rest}"
    return line


def _without_weights(metadata: str) -> str:
    """The metadata of an instruction without the probabilities of a branch."""
    return re.sub(r", !prof !\d+", "", metadata)
