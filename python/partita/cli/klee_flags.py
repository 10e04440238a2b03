"""Flags of KLEE's command line on that of `partita run`: one table.

A flag of KLEE is replaced by ours, has no effect here (one line says why), or is refused with what to use instead.
`docs/klee.md` describes them for the reader; a test compares both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from partita.errors import UsageError
from partita.options import BY_FLAG

_FIRST_BUG = ("--tests=bugs", "--max-tests=1")
_NO_REUSE = 'use --layers "-reuse"'
_NO_SOLUTIONS = 'use --layers "-solutions"'
_QUERY_LOG = 'use --layers "+record(dir=queries,format=kquery)@before=sat" (or format=smt2)'


class Row(NamedTuple):
    """A flag of KLEE: the first field that applies says what becomes of it."""

    words: Callable[[str | None], Sequence[str] | None] = lambda _value: None
    """Our own words for its value (None: it has none), or None if there are none."""
    needless: str = ""
    """Why it has no effect here."""
    instead: str = ""
    """Advice: our own way to the same end."""


def _fixed(*words: str) -> Row:
    return Row(lambda _value: words)


def _on(instead: str) -> Row:
    """A feature that is on by default; `instead` turns it off."""
    return Row(lambda value: () if value in (None, "true", "1") else None, instead=instead)


def _search(value: str | None) -> Sequence[str] | None:
    known = f"--search={_SEARCHES.get(value or '', value)}"
    return None if "nurs:" in known else (known,)


def _memory(value: str | None) -> Sequence[str] | None:
    in_megabytes = value is not None and value.isdecimal() and int(value) < 1 << 20
    return None if in_megabytes else (f"--max-memory={value}",)


def _libc(value: str | None) -> Sequence[str] | None:
    return None if value in ("uclibc", "klee") else (f"--libc={value}",)


_SEARCHES = {"nurs:covnew": "coverage", "nurs:md2u": "coverage", "random-state": "random-path"}
_SEEDS = Row(lambda value: (f"--seeds={value}",) if value else None, instead="use --seeds DIR")
_BATCHES = Row(needless="a state runs until it forks, or for a fixed number of instructions")

ROWS: dict[str, Row] = {
    "posix-runtime": Row(needless="the kernel model is linked if the program needs it"),
    "libc": Row(_libc, needless="musl is linked if the program needs a C library"),
    "output-dir": Row(lambda value: (f"--out={value}",) if value else None, instead="use --out DIR"),
    "max-memory": Row(_memory, instead="KLEE counts it in megabytes: add the unit, as in --max-memory 2000MB"),
    "search": Row(_search, instead="use --search mix, coverage, random-path, dfs or bfs"),
    "only-output-states-covering-new": _fixed("--tests=coverage"),
    "emit-all-errors": _fixed("--all-bugs"),
    "exit-on-error": _fixed(*_FIRST_BUG),
    "exit-on-error-type": _fixed(*_FIRST_BUG),
    "solver-backend": Row(
        lambda value: ("--layers=simplify split z3",) if value == "z3" else None,
        instead='use --layers "simplify split SOLVER" with z3, bitwuzla or cvc5',
    ),
    "use-cex-cache": _on(_NO_REUSE),
    "use-branch-cache": _on(_NO_SOLUTIONS),
    "use-independent-solver": _on('use --layers "-split"'),
    "debug-crosscheck-core-solver": Row(
        lambda value: ("--verify=z3",) if value == "z3" else None, instead="use --verify z3, bitwuzla or cvc5"
    ),
    "use-query-log": Row(instead=_QUERY_LOG),
    "write-kqueries": Row(instead=_QUERY_LOG),
    "write-smt2s": Row(instead=_QUERY_LOG),
    "write-cov": Row(needless="coverage.lcov is always written"),
    "seed-file": _SEEDS,
    "seed-dir": _SEEDS,
    "only-replay-seeds": Row(instead="use partita replay for native runs; --seeds DIR explores from the seeds on"),
    "external-calls": Row(needless="functions without a definition are never called natively; see --undefined"),
    "disable-inlining": Row(needless="nothing is inlined without --optimize"),
    "use-forked-solver": Row(needless="the solver is part of the process and observes its limits"),
    "simplify-sym-indices": Row(needless="expressions are always simplified"),
    "watchdog": Row(needless="--max-time ends the run"),
    "switch-type": Row(needless="a switch has one path per distinct successor, as with --switch-type=internal"),
    "max-sym-array-size": Row(needless="symbolic indices are resolved by sets of values"),
    "use-batching-search": _BATCHES,
    "batch-instructions": _BATCHES,
}


def translate(words: Sequence[str]) -> list[str]:
    """The words of `partita run` for words that may have flags of KLEE. Raises UsageError for a flag without equal."""
    searches = [_value_at(words, at)[0] for at, word in enumerate(words) if _name(word) == "search"]
    mixed = len(searches) > 1
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        name = _name(word)
        own = BY_FLAG.get(f"--{name}")
        row = ROWS.get(name)
        if row is None:
            # KLEE accepts one dash before any flag.
            found.append(f"-{word}" if own and not word.startswith("--") else word)
            continue
        value, used = _value_at(words, at - 1)
        if own is None and "=" not in word:
            # Only our own options take their value from the next word.
            value, used = None, 1
        at += used - 1
        if name == "search" and mixed:
            continue
        replaced = row.words(value)
        if replaced is not None:
            found += replaced
        elif row.needless:
            print(f"partita: note: {word}: not needed: {row.needless}", file=sys.stderr)
        else:
            raise UsageError(f"{word} is a flag of KLEE: {row.instead}")
    return [*found, f"--search={_mixture(searches)}"] if mixed else found


def _mixture(searches: Sequence[str | None]) -> str:
    """KLEE takes turns between several strategies: the default here is a mixture too."""
    kinds = {_SEARCHES.get(value or "", value) for value in searches}
    if kinds == {"random-path", "coverage"}:
        return "mix"
    raise UsageError(f"--search is given {len(searches)} times: use --search mix, or one strategy")


def _name(word: str) -> str:
    """Name of a flag with one dash or two; empty for other words."""
    if not word.startswith("-"):
        return ""
    return word.removeprefix("-").removeprefix("-").partition("=")[0]


def _value_at(words: Sequence[str], at: int) -> tuple[str | None, int]:
    """Value of the flag at this place, and the number of its words."""
    _, equals, value = words[at].partition("=")
    if equals:
        return value, 1
    return (words[at + 1], 2) if at + 1 < len(words) else (None, 1)
