"""The command `partita`: one module per subcommand, each with `add_arguments(parser)` and `run(arguments)`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from partita.errors import InternalError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

COMMANDS = ("run", "replay", "show", "report", "export", "smt", "store", "bench", "completion")
# `make` calls these often. They parse their own arguments and import little.
TOOLS = {
    "cc": 'C compiler for make CC="partita cc": native code, with bitcode for partita run. Takes the flags of clang.',
    "ar": "Creates archives like `ar`.",
    "ranlib": "Indexes archives like `ranlib`.",
}
USAGE_STATUS = 2
INTERNAL_STATUS = 4
INTERRUPTED_STATUS = 130


def make_parser() -> argparse.ArgumentParser:
    import argparse
    import importlib

    from partita import __version__
    from partita.cli.version import Version

    parser = argparse.ArgumentParser(prog="partita", description="A symbolic execution engine for C, and its solver.")
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and details of the installation")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"partita.cli.{name}")
        summary = (module.__doc__ or "").strip().splitlines()[0]
        command = commands.add_parser(name, help=summary, description=module.__doc__, allow_abbrev=False)
        command.add_argument("--version", action="version", version=f"partita version {__version__}")
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    for name, summary in TOOLS.items():
        commands.add_parser(name, help=summary, add_help=False)
    return parser


def with_dashed_values(words: list[str]) -> list[str]:
    """Joins values that may begin with a dash to their options, so that argparse takes them for values."""
    from partita.options import DASHED_FLAGS

    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in DASHED_FLAGS:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    called = os.path.basename(sys.argv[0])
    if argv is None and called.startswith("partita-"):
        words.insert(0, called.removeprefix("partita-"))
    if words and words[0] in TOOLS:
        from partita.cc import main as tool

        return tool(words)
    if words[:1] == ["smt"]:
        from partita.cli import smt

        words[1:] = smt.without_aliases(words[1:])
    program_arguments: list[str] = []
    if words[:1] == ["run"]:
        from partita.cli import run

        words, program_arguments = run.split_arguments(words)
    arguments = make_parser().parse_args(with_dashed_values(words))
    arguments.program_arguments = program_arguments
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(f"partita: error: {error}", file=sys.stderr)
        return USAGE_STATUS
    except InternalError as error:
        print(f"partita: internal error: {error}", file=sys.stderr)
        return INTERNAL_STATUS
    except KeyboardInterrupt:
        print("partita: interrupted", file=sys.stderr)
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        silence()
        return 0


def silence() -> None:
    """Redirects standard output to /dev/null, after its reader has closed it, so that Python can flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
