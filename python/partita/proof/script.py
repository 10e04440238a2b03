"""Reads SMT-LIB scripts: commands, and the assertions at each check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TOKEN = re.compile(r'[()]|;[^\n]*|"(?:[^"]|"")*"|\|[^|]*\||[^\s()|";]+')
SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_\-+=<>.?/][A-Za-z0-9~!@$%^&*_\-+=<>.?/]*")
IGNORED = ("set-logic", "set-info", "get-", "echo", "exit")

Term = Any
"""A symbol or literal as text, or a tuple of terms."""


class NoProofError(Exception):
    """Something that the plain translation does not support."""


@dataclass
class Problem:
    """The assertions of a check, and the names in them.

    Symbols are ("declare", sorts of the arguments, sort), ("define", parameters, body) or ("sort", parameters, sort).
    """

    number: int
    symbols: dict[str, tuple[str, Any, Any]]
    assertions: list[Term]


def commands(text: str) -> Iterator[tuple[int, Term]]:
    """Commands and the places of their ends."""
    stack: list[list[Term]] = []
    for match in TOKEN.finditer(text):
        token = match.group()
        if token == "(":
            stack.append([])
        elif token == ")":
            if not stack:
                raise NoProofError("a parenthesis is not opened")
            term = tuple(stack.pop())
            if stack:
                stack[-1].append(term)
            else:
                yield match.end(), term
        elif token[0] != ";":
            if not stack:
                raise NoProofError(f"expected a command, found {token}")
            quoted = token[0] == "|" and SIMPLE.fullmatch(token[1:-1])
            stack[-1].append(token[1:-1] if quoted else token)


class Script:
    """The state of a script after some commands."""

    def __init__(self) -> None:
        self.checks = 0
        self._symbols: dict[str, tuple[str, Any, Any]] = {}
        self._assertions: list[Term] = []
        self._levels: list[tuple[int, dict[str, tuple[str, Any, Any]]]] = []
        self._are_declarations_global = False

    def execute(self, command: Term) -> Problem | None:
        """Executes a command. Returns the problem of a check."""
        match command:
            case ("assert", term):
                self._label(term)
                self._assertions.append(term)
            case ("declare-const", name, sort):
                self._add(name, ("declare", (), sort))
            case ("declare-fun", name, arguments, sort):
                self._add(name, ("declare", arguments, sort))
            case ("define-fun", name, parameters, sort, body):
                self._define(name, parameters, sort, body)
            case ("define-fun-rec", name, parameters, sort, body):
                self._define(name, parameters, sort, body)
            case ("define-const", name, sort, body):
                self._define(name, (), sort, body)
            case ("declare-sort", name) | ("declare-sort", name, "0"):
                self._add(name, ("sort", (), ("declared", name)))
            case ("define-sort", name, parameters, sort):
                self._add(name, ("sort", parameters, sort))
            case ("push", *count):
                levels = range(int(count[0]) if count else 1)
                self._levels.extend((len(self._assertions), dict(self._symbols)) for _ in levels)
            case ("pop", *count):
                for _ in range(int(count[0]) if count else 1):
                    size, symbols = self._levels.pop()
                    del self._assertions[size:]
                    self._symbols = self._symbols if self._are_declarations_global else symbols
            case ("reset",):
                checks = self.checks
                self.__init__()  # type: ignore[misc]
                self.checks = checks
            case ("reset-assertions",):
                if not self._are_declarations_global:
                    self._symbols = {}
                self._assertions, self._levels = [], []
            case ("set-option", ":global-declarations", value):
                self._are_declarations_global = value == "true"
            case ("set-option", *_):
                pass
            case ("check-sat",):
                return self._problem(())
            case ("check-sat-assuming", assumptions):
                return self._problem(assumptions)
            case (str() as name, *_) if name.startswith(IGNORED):
                pass
            case _:
                raise NoProofError(f"command {command[0] if command else '()'}")
        return None

    def _problem(self, assumptions: tuple[Term, ...]) -> Problem:
        self.checks += 1
        return Problem(self.checks, dict(self._symbols), [*self._assertions, *assumptions])

    def _add(self, name: str, meaning: tuple[str, Any, Any]) -> None:
        if name in self._symbols:
            raise NoProofError(f"{name} is declared twice")
        self._symbols[name] = meaning

    def _define(self, name: str, parameters: Term, sort: Term, body: Term) -> None:
        self._label(body)
        self._add(name, ("define", tuple(parameter for parameter, _ in parameters), body))

    def _label(self, term: Term) -> None:
        """Defines the labels in a term. Their bodies are closed terms, as SMT-LIB requires."""
        todo = [term]
        while todo:
            term = todo.pop()
            if not isinstance(term, tuple):
                continue
            if term[:1] == ("!",):
                for key, value in zip(term[2::2], term[3::2], strict=False):
                    if key == ":named":
                        self._add(value, ("define", (), term[1]))
                todo.append(term[1])
            else:
                todo.extend(term)
