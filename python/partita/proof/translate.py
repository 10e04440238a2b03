"""Translates the terms of a problem to clauses, one term after another."""

from __future__ import annotations

import re
from typing import Any

from partita.proof.arrays import Arrays, Sort, Value, bits, flat
from partita.proof.circuit import FALSE, TRUE, Circuit, constant
from partita.proof.operators import INDEXED, operators
from partita.proof.script import NoProofError, Problem, Term

Scope = tuple[dict[str, Value], Any] | None
"""Bound names, and the scope around."""


def translate(problem: Problem) -> Arrays:
    """The clauses of the assertions, without lemmas about arrays."""
    translator = Translator(problem)
    for term in problem.assertions:
        value = translator.value(term)
        if not isinstance(value, int):
            raise NoProofError("an assertion that is not a boolean")
        translator.circuit.clause(value)
    return translator.arrays


class Translator:
    def __init__(self, problem: Problem) -> None:
        self.circuit = Circuit()
        self.arrays = Arrays(self.circuit)
        self._symbols = problem.symbols
        self._operators = operators(self.circuit, self.arrays)
        self._constants: dict[str, Value] = {}
        self._todo: list[tuple[str, Any, Any]] = []

    def value(self, term: Term) -> Value:
        """Evaluates with a stack of its own, since terms may be deep: terms in their scopes, and what is done with
        the last values."""
        done: list[Value] = []
        self._todo = [("term", term, None)]
        while self._todo:
            step, what, scope = self._todo.pop()
            if step == "term":
                value = self._start(what, scope)
            else:
                names, count = (what[0], len(what) - 1) if step == "apply" else (what[1], len(what[1]))
                values = done[len(done) - count :]
                del done[len(done) - count :]
                if step == "apply":
                    value = self._apply(names, values)
                else:
                    value = None
                    bound = dict(zip((name for name, _ in names), values, strict=True))
                    self._todo.append(("term", what[2], (bound, scope)))
            if value is not None:
                done.append(value)
        (result,) = done
        return result

    def _start(self, term: Term, scope: Scope) -> Value | None:
        """The value of an atom; the other terms become steps."""
        if isinstance(term, str):
            return self._atom(term, scope)
        match term:
            case ("let", bindings, _):
                self._todo.append(("let", term, scope))
                self._todo.extend(("term", bound, scope) for _, bound in reversed(bindings))
            case ("!", annotated, *_):
                self._todo.append(("term", annotated, scope))
            case ("_", str() as name, width) if re.fullmatch(r"bv[0-9]+", name):
                return constant(int(name[2:]), int(width))
            case (_, _, *_):
                self._todo.append(("apply", term, scope))
                self._todo.extend(("term", argument, scope) for argument in reversed(term[1:]))
            case _:
                raise NoProofError(f"term {term}")
        return None

    def _atom(self, name: str, scope: Scope) -> Value | None:
        while scope is not None:
            names, scope = scope
            if name in names:
                return names[name]
        if name.startswith("#b"):
            return constant(int(name[2:], 2), len(name) - 2)
        if name.startswith("#x"):
            return constant(int(name[2:], 16), 4 * (len(name) - 2))
        if name in ("true", "false"):
            return TRUE if name == "true" else FALSE
        return self._apply(name, [])

    def _apply(self, head: Term, arguments: list[Value]) -> Value | None:
        """The value of an application; nothing if the body of a definition became a step."""
        match head:
            case ("as", "const", sort):
                return self.arrays.term(self.sort(sort), "const", *arguments)
            case ("_", str() as name, *indices) if name in INDEXED:
                value: Value = INDEXED[name](*map(int, indices), *arguments)
                return value
            case str() if head in self._operators and arguments:
                value = self._operators[head](*arguments)
                return value
        kind, first, second = self._symbols.get(head, ("", (), None)) if isinstance(head, str) else ("", (), None)
        if kind == "define" and len(first) == len(arguments):
            self._todo.append(("term", second, (dict(zip(first, arguments, strict=True)), None)))
            return None
        if kind == "declare" and len(first) == len(arguments):
            return self._declared(head, first, self.sort(second), arguments)
        raise NoProofError(f"function {head if isinstance(head, str) else ' '.join(map(str, head))}")

    def _declared(self, name: str, arguments: Term, sort: Sort, values: list[Value]) -> Value:
        if values:
            widths = [bits(self.sort(argument)) for argument in arguments]
            words = [flat(value) for value in values]
            if [len(word) for word in words] != widths:
                raise NoProofError(f"arguments of {name}")
            function = self.arrays.term(("Array", sum(widths), sort), "variable", name)
            return self.arrays.read(function, self.arrays.index(sum(words, ())))
        if name not in self._constants:
            is_array = sort[0] == "Array"
            self._constants[name] = self.arrays.term(sort, "variable", name) if is_array else self.arrays.fresh(sort)
        return self._constants[name]

    def sort(self, term: Term) -> Sort:
        match term:
            case "Bool":
                return ("Bool",)
            case ("_", "BitVec", width):
                return ("BitVec", int(width))
            case ("Array", index, element):
                return ("Array", bits(self.sort(index)), self.sort(element))
            case ("declared", _):
                return tuple(term)
        name, *arguments = (term,) if isinstance(term, str) else term
        kind, parameters, body = self._symbols.get(name, ("", (), None)) if isinstance(name, str) else ("", (), None)
        if kind != "sort" or len(parameters) != len(arguments):
            raise NoProofError(f"sort {name}")
        return self.sort(substituted(body, dict(zip(parameters, arguments, strict=True))))


def substituted(term: Term, values: dict[str, Term]) -> Term:
    if isinstance(term, str):
        return values.get(term, term)
    return tuple(substituted(part, values) for part in term)
