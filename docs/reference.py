"""Writes the pages under reference/ when the site is built, from the tables of the program."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from partita import _core, register
from partita.cli import TOOLS, make_parser
from partita.options import OPTIONS, Option

LAYERS = """# Layers

A chain is a list of these, in the order in which they are asked: `--layers "simplify split sat"`. `-NAME` and
`+NAME@before=NAME` edit the default chain. Other complete solvers (`z3`, `bitwuzla`, `cvc5`, `integers`,
`process(cmd=...)`) and layers written in Python can be used at any position.

"""
LAYER_OPTIONS = """
## Options of layers

Options go into parentheses: `--layers "simplify split intervals(repair=off) sat(conflicts=500)"`. The table is
`core/src/tuning.rs`.

"""
COSTS = """
## Costs

Effort is counted work, weighted by these estimates (`core/src/cost.rs`). `cargo bench --bench costs` measures them.

"""
OPERATORS = """# Operators

The operators of expressions. `core/src/expr/eval.rs` defines them: as in SMT-LIB, also for division by zero and shifts
by the width or more.

"""
FUNCTIONS = """
The other functions of SMT-LIB are built from these. `partita smt` and `partita.apply` accept by name:

"""
OUTCOMES = """# Outcomes of a path

A path exits (`exit N`), is cut by a limit (`limit NAME`), reaches something that is not modelled (`unsupported`), or
ends in a bug of one of these classes:

"""
CHECKS = """
Optional checks, with `--check`:

"""
MODELS = """# Register of models

How every library function, intrinsic and system call treats symbolic data. There are four kinds; a row has the worst
of its arguments. `tests/python/run/test_register.py` calls all of them with each argument symbolic in turn: the kind is
the one that the run shows, exactly one path admits each input, and results are those of the native function, intrinsic
or system call. Results that differ between machines (numbers of processes, clocks) are compared as far as they are the
same everywhere; calls that would end or change the machine are made in the engine only. In programs that can read
exception flags (`fetestexcept` and relatives), functions that round also count the flags that they do not set.
Functions that have no row are musl's C code, explored like the program itself, or have no definition: then the path
ends as `unsupported`.

"""
SEARCHES = """
## Search strategies

Values of `--search` ([search.md](../search.md) compares them):

"""


RANGED = ("count", "counts", "seconds", "bytes", "names")
"""Types of options whose allowed values the placeholder does not show."""


def cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;").replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def spelling(action: argparse.Action) -> str:
    """An option with the placeholder of its value."""
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return names
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    return f"{names} {' '.join(value) if isinstance(value, tuple) else value}".strip()


def options_page() -> str:
    parser = make_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    text = ["# Commands and options\n", "`partita COMMAND --help` prints the same.\n"]
    for name, command in commands.choices.items():
        text.append(f"## partita {name}\n")
        if name in TOOLS:
            text.append(TOOLS[name] + "\n")
            continue
        text.append((command.description or "") + "\n")
        if name == "run":
            text.append(run_options())
            continue
        rows = [
            (f"`{cell(spelling(action))}`", cell((action.help or "") % {"default": action.default, "prog": name}))
            for action in command._actions
            if action.help != argparse.SUPPRESS and action.dest not in ("help", "version")
        ]
        text.append(table(("option", "what it does"), rows))
    return "\n".join(text)


def run_options() -> str:
    """The options of `partita run` by groups, from the table of the core."""
    text = ["Options of `partita.explore` have the same names with underscores.\n"]
    for group, rows in groupby(OPTIONS, key=lambda option: option.group):
        text.append(f"### {group.capitalize()}\n")
        cells = [
            (
                f"`{cell(' '.join([option.flag, *option.placeholders]))}`",
                cell(option.about),
                cell(option.expected) if option.kind in RANGED else "",
                f"`{cell(default)}`" if (default := shown_default(option)) else "",
                f"`{option.keyword}`" if option.surface == "both" else "",
            )
            for option in rows
        ]
        text.append(table(("option", "effect", "values", "default", "in Python"), cells))
    return "\n".join(text)


def shown_default(option: Option) -> str:
    if option.kind == "flag" or option.default in (None, (), b""):
        return ""
    return str(option.default)


def layers_page() -> str:
    # Options are in square brackets, which Markdown would take for links.
    rows = [(f"`{name}`", cell(about).replace("[", r"\[")) for name, about in _core.LAYERS]
    options = [
        (f"`{layer}`", f"`{usage}`", f"`{default}`", cell(about))
        for layer, usage, default, about in _core.LAYER_OPTIONS
    ]
    costs = [(f"`{name}`", str(ns), cell(about)) for name, ns, about in _core.COSTS]
    return (
        LAYERS
        + table(("layer", "what it decides"), rows)
        + LAYER_OPTIONS
        + table(("layer", "option", "default", "meaning"), options)
        + COSTS
        + table(("operation", "ns", "what it is"), costs)
    )


def operators_page() -> str:
    rows = [
        (f"`{name}`", str(arity), f"`{smtlib}`" if smtlib else "") for name, _, arity, smtlib, *_ in _core.OPERATORS
    ]
    functions = ", ".join(f"`{name}`" for name in sorted(_core.FUNCTIONS))
    return OPERATORS + table(("operator", "operands", "SMT-LIB"), rows) + FUNCTIONS + functions + "\n"


def models_page() -> str:
    text = MODELS + table(["kind", "meaning"], [[f"`{kind}`", register.ABOUT[kind]] for kind in register.KINDS])
    families = {
        "model": "Models of the executor",
        "library": "Functions in C",
        "intrinsic": "Intrinsics of LLVM",
        "system call": "System calls",
    }
    for family, members in groupby(register.rows(), key=lambda row: row.family):
        found = list(members)
        text += f"\n## {families[family]}\n\n"
        kinds = [(kind, [f"`{row.name}`" for row in found if row.kind == kind]) for kind in register.KINDS]
        text += table(["kind", "names"], [[f"`{kind}`", ", ".join(names)] for kind, names in kinds if names])
    return text


def outcomes_page() -> str:
    bugs = [(f"`{name}`", cell(about)) for name, about in _core.BUG_CLASSES]
    checks = [(f"`{name}`", cell(about)) for name, about in _core.CHECKS]
    searches = [(f"`{name}`", cell(about)) for name, about in _core.SEARCHES]
    return (
        OUTCOMES
        + table(("class", "what it is"), bugs)
        + CHECKS
        + table(("check", "what is reported"), checks)
        + SEARCHES
        + table(("strategy", "what it does"), searches)
    )


PAGES: dict[str, Callable[[], str]] = {
    "reference/options.md": options_page,
    "reference/layers.md": layers_page,
    "reference/operators.md": operators_page,
    "reference/outcomes.md": outcomes_page,
    "reference/models.md": models_page,
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, page in PAGES.items():
        files.append(File.generated(config, path, content=page()))
    return files
