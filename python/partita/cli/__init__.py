"""The command `partita`: one module per subcommand, each with `add_arguments(parser)` and `run(arguments)`."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence

from partita.errors import InternalError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import NoReturn

# Summaries are here, not in the modules, so that `partita --help` imports none of them.
COMMANDS = {
    "run": "Explores every feasible path of a program, reports bugs, and writes a test for each path.",
    "replay": "Runs tests natively and compares their endings with those that the exploration recorded.",
    "show": "Shows a run, or tests: inputs as bytes, numbers and text.",
    "status": "Says how far a run is: its state, its open paths, and the share of the tree explored.",
    "check": "Checks a certificate of a run, or a proof that a script is unsatisfiable.",
    "report": "Writes the report of a run: one HTML page with bugs, coverage, queries and tests.",
    "export": "Exports the tests of a run to the format of another tool.",
    "smt": "Solves SMT-LIB 2 scripts and KQuery files.",
    "store": "Manages the answers kept from earlier runs: stats, clear or export.",
    "bench": "Says where the experiments are: in the repository, not in the installed package.",
    "completion": "Prints a completion script for a shell: bash, zsh or fish.",
}
# `make` calls these often. They parse their own arguments and import little.
TOOLS = {
    "cc": 'C compiler for make CC="partita cc": native code, with bitcode for partita run. Takes the flags of clang.',
    "c++": 'C++ compiler for make CXX="partita c++", likewise.',
    "ar": "Creates archives like `ar`.",
    "ranlib": "Indexes archives like `ranlib`.",
}
USAGE_STATUS = 2
INTERNAL_STATUS = 4
INTERRUPTED_STATUS = 130


def make_parser(wanted: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of the command, with the options of the subcommands `wanted`; others have their names only."""
    import argparse
    import importlib

    from partita.cli.version import Version, version_line

    class Parser(argparse.ArgumentParser):
        """A parser whose errors are one line, not all of the usage."""

        def error(self, message: str) -> NoReturn:
            is_ours = message.startswith("expected ")
            raise UsageError(message if is_ours else f"{message}: {self.prog} --help lists what there is")

        def parse_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
            found, rest = self.parse_known_args(args, namespace)
            if rest:
                raise UsageError(_unknown(rest, wanted))
            return found

    parser = Parser(prog="partita", description="A symbolic execution engine for C, and its solver.")
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and details of the installation")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if name not in wanted:
            commands.add_parser(name, help=summary)
            continue
        module = importlib.import_module(f"partita.cli.{name}")
        command = commands.add_parser(name, help=summary, description=module.__doc__, allow_abbrev=False)
        command.add_argument("--version", action="version", version=version_line())
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    for name, summary in TOOLS.items():
        commands.add_parser(name, help=summary, add_help=False)
    return parser


def _unknown(words: Sequence[str], commands: Collection[str]) -> str:
    """The message for words that no option takes."""
    command = " ".join(["partita", *list(commands)[:1]])
    first = next((word for word in words if word.startswith("-")), words[0]).partition("=")[0]
    if first.startswith("--"):
        import difflib

        from partita.options import BY_FLAG

        near = difflib.get_close_matches(first, BY_FLAG if "run" in commands else (), 1)
        hint = f": did you mean {near[0]}?" if near else f": {command} --help lists the options"
        return f"expected an option of {command}, found `{first}`{hint}"
    hint = ": flags of the compiler are one argument, --cflags '-DX -O1'" if first.startswith("-") else ""
    return f"expected an option of {command}, found `{first}`{hint}"


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
    try:
        program_arguments: list[str] = []
        if words[:1] == ["run"]:
            from partita.cli import klee_flags, run

            words, program_arguments = run.split_arguments(words)
            words[1:] = klee_flags.translate(words[1:])
        if words[:1] == ["run"] or words[:1] == ["smt"]:
            words = with_dashed_values(words)
        arguments = make_parser(words[:1]).parse_args(words)
        arguments.program_arguments = program_arguments
        # Otherwise a Python program has called this function, whose time is its own.
        arguments.is_process = argv is None
        if words[:1] == ["run"] and not arguments.program:
            from partita.cli import run

            run.take_project(arguments, lambda more: make_parser(["run"]).parse_args(with_dashed_values(more)))
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(f"partita: error: {error}", file=sys.stderr)
        return _failed(words, USAGE_STATUS, str(error))
    except InternalError as error:
        print(f"partita: internal error: {error}", file=sys.stderr)
        return _failed(words, INTERNAL_STATUS, str(error))
    except KeyboardInterrupt:
        print("partita: interrupted", file=sys.stderr)
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        silence()
        return 0
    except SystemExit:
        raise
    except MemoryError:
        print("partita: error: out of memory: the system refused more", file=sys.stderr)
        return _failed(words, INTERNAL_STATUS, "out of memory")
    except BaseException as error:  # a panic of the core is no `Exception`
        if isinstance(error, OSError) and _is_of_machine(error):
            where = f": {error.filename}" if error.filename else ""
            print(f"partita: error: {error.strerror}{where}", file=sys.stderr)
            return _failed(words, USAGE_STATUS, str(error.strerror))
        # Python's own status for this, 1, means that a bug was found.
        import traceback

        traceback.print_exc()
        print("partita: internal error: please report the lines above", file=sys.stderr)
        return _failed(words, INTERNAL_STATUS, f"{type(error).__name__}: {error}")


def _is_of_machine(error: OSError) -> bool:
    """Whether an error says that the machine is out of something, which is no fault of ours."""
    import errno

    out_of = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EAGAIN)
    # `tempfile` has no error of its own if no folder can be written to.
    return error.errno in (*out_of, errno.ENOMEM) or "No usable temporary directory" in str(error.strerror)


def _failed(words: Sequence[str], status: int, message: str) -> int:
    """Ends the lines of `run --json`, which programs read up to the last one."""
    if words[:1] == ["run"] and "--json" in words:
        import json

        print(json.dumps({"event": "error", "status": status, "message": message}), flush=True)
    return status


def silence() -> None:
    """Redirects standard output to /dev/null, after its reader has closed it, so that Python can flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
