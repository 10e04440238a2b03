"""The table of run options: `explore()`, the command line and the reference agree with it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from partita import UsageError, _core, explore, options
from partita.cli import make_parser
from partita.options import OPTIONS, Option

TIME = "seconds as a number of at least 0, or text such as 60s, 10m or 2h"
INPUTS = ("program", "arguments", "hooks")
"""Parameters of `explore()` that are not options."""

TYPES = {
    "flag": "bool",
    "count": "int",
    "counts": "tuple[int, int]",
    "seconds": "float | str",
    "bytes": "int | str",
    "names": "Sequence[str]",
    "text": "str",
    "words": "Sequence[str]",
    "path": "str | os.PathLike[str]",
    "contents": "bytes",
    "variables": "Mapping[str, str]",
    "search": "str | Search",
    "layers": "str | Sequence[str | Layer]",
}


def parameter(option: Option) -> str:
    """The parameter of `explore()` for an option."""
    words = ", ".join(f'"{word}"' for word in option.choices)
    annotation = f"Literal[{words}]" if option.kind == "choice" else TYPES[option.kind]
    default = option.python_default
    shown = "ENVIRONMENT" if default is options.ENVIRONMENT else repr(default).replace("'", '"')
    return f"{option.keyword}: {annotation}{' | None' if default is None else ''} = {shown}"


def test_explore_has_the_options_of_the_table() -> None:
    signature = inspect.signature(explore)
    found = []
    for name, each in signature.parameters.items():
        default = "ENVIRONMENT" if each.default is options.ENVIRONMENT else repr(each.default).replace("'", '"')
        if name not in INPUTS:
            assert each.kind is inspect.Parameter.KEYWORD_ONLY
            found.append(f"{name}: {each.annotation} = {default}".replace("'", '"'))
    expected = [parameter(option) for option in OPTIONS if option.surface == "both"]
    assert found == expected, "write the parameters of explore() as the table of options has them"


def test_the_command_has_the_options_of_the_table() -> None:
    (commands,) = (action for action in make_parser()._actions if action.dest == "command")
    assert isinstance(commands.choices, dict)
    command = commands.choices["run"]
    found = {flag for action in command._actions for flag in action.option_strings}
    assert found == {option.flag for option in OPTIONS} | {"-h", "--help", "--version"}
    arguments = command.parse_args(["prog.c"])
    given = options.keywords(arguments)
    for option in OPTIONS:
        if option.surface == "both" and option.name != "env":
            assert given[option.keyword] == option.default, option.name
    assert given["env"] == options.ENVIRONMENT


def test_values_are_parsed_once() -> None:
    for name, words, value in [
        ("max-time", ["10m"], 600.0),
        ("max-memory", ["1.5GB"], 3 << 29),
        ("sym-files", ["2", "8"], (2, 8)),
        ("check", ["leak,shift"], ("leak", "shift")),
        ("cflags", ["-O1 -g"], ("-O1", "-g")),
        ("env", ["A=b=c"], {"A": "b=c"}),
        ("tests", ["bugs"], "bugs"),
    ]:
        assert _core.parse_option(name, f"--{name}", words) == value
    with pytest.raises(ValueError, match=r"^expected --max-time to be a time such as 60s, 10m or 2h, found `soon`$"):
        _core.parse_option("max-time", "--max-time", ["soon"])
    with pytest.raises(ValueError, match=r"^there is no option `nothing`$"):
        _core.parse_option("nothing", "--nothing", [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_time": -1}, f"expected max_time to be {TIME}, found -1"),
        ({"max_time": "soon"}, f"expected max_time to be {TIME}, found 'soon'"),
        (
            {"max_memory": -1},
            "expected max_memory to be bytes as a whole number, or text such as 500MB or 2GB, found -1",
        ),
        ({"max_tests": 1.0}, "expected max_tests to be a whole number from 0 to 2^63 - 1, found 1.0"),
        ({"max_tests": True}, "expected max_tests to be a whole number from 0 to 2^63 - 1, found True"),
        ({"max_objects": 0}, "expected max_objects to be a whole number from 1 to 2^32 - 1, found 0"),
        ({"seed": 1 << 64}, f"expected seed to be a whole number from 0 to 2^64 - 1, found {1 << 64}"),
        ({"all_bugs": 1}, "expected all_bugs to be True or False, found 1"),
        ({"tests": "some"}, "expected tests to be all, coverage or bugs, found 'some'"),
        (
            {"check": ["leaks"]},
            "expected check to be names from uninitialized, non-termination, race, overflow, shift, float, alignment,"
            " member, leak, all, no-uninitialized, no-non-termination, no-race, found ['leaks']",
        ),
        (
            {"sym_files": (27, 1)},
            "expected sym_files to be a tuple (NUM, SIZE), NUM from 0 to 26 and SIZE from 0 to 16777216, found (27, 1)",
        ),
        ({"stdin": "text"}, "expected stdin to be bytes, found 'text'"),
        (
            {"cflags": "-DX -O1"},
            """expected cflags to be a sequence of words such as ["-DX", "-O1"], found '-DX -O1'""",
        ),
        (
            {"target": 5},
            """expected target to be a sequence of lines and functions such as ["a.c:12", "main"], found 5""",
        ),
        ({"arguments": "-n"}, "expected arguments to be a sequence of words, found '-n'"),
        ({"env": {"": "x"}}, "expected env to be a mapping of texts to texts, found {'': 'x'}"),
    ],
)
def test_wrong_values_are_refused_before_anything_runs(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        explore("absent.c", **given)
    assert str(error.value) == message
