"""Solves SMT-LIB 2 scripts and KQuery files.

A solver for QF_AUFBV and QF_FP. FILE is a .smt2 or .kquery file (or either with .gz), or `-` for an interactive session
on standard input, which is the default. Z3's -in, -smt2, -t:MILLISECONDS (each check), -T:SECONDS (total) and
-memory:MEGABYTES are accepted. The exit status is 0 if everything was answered, 2 on bad input, 3 if an `unsat` has no
proof with --proof, 4 if --verify finds a mismatch or --proof a wrong `unsat`.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from partita import _core, backends
from partita.errors import UsageError
from partita.options import BY_FLAG
from partita.solver import DEFAULT_LAYERS, resolve, with_verify
from partita.store import NONE, choose

if TYPE_CHECKING:
    from partita.proof.run import Prover

CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
BAD_INPUT, MISMATCH = 2, 4
ALIASES = {"-t": "--timeout-ms", "-T": "--total-s", "-memory": "--memory-mb"}


def without_aliases(words: Sequence[str]) -> list[str]:
    """Replaces Z3's spelling of options by ours."""
    result = []
    for word in words:
        name, colon, value = word.partition(":")
        if word in ("-in", "--in"):
            result.append("-")
        elif word in ("-smt2", "--smt2"):
            continue
        elif colon and name in ALIASES:
            result.append(f"{ALIASES[name]}={value}")
        else:
            result.append(word)
    return result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="a .smt2 or .kquery file, either with .gz, or -"
    )
    parser.add_argument("--layers", metavar="SPEC", help=BY_FLAG["--layers"].help)
    parser.add_argument("--verify", metavar="SOLVER", help=BY_FLAG["--verify"].help)
    parser.add_argument("--proof", metavar="PROOF", help="write proofs of `unsat` answers, for `partita check`")
    parser.add_argument(
        "--store",
        metavar="PATH|URL|default",
        default=NONE,
        help="file or Redis server (redis://...) with answers of earlier runs (default: none)",
    )
    parser.add_argument("--stats", action="store_true", help="print statistics as JSON to standard error at the end")
    parser.add_argument(
        "--validity", action="store_true", help="KQuery: print true, false or both instead of VALID or INVALID"
    )
    parser.add_argument("--timeout-ms", type=positive, metavar="MS", help="time limit of each check; also -t:MS")
    parser.add_argument("--total-s", type=positive, metavar="S", help="time limit of the whole script; also -T:S")
    parser.add_argument(
        "--memory-mb", type=positive, metavar="MB", help="memory limit of a complete solver; also -memory:MB"
    )


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, found {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    path: str = arguments.file
    kquery = path.removesuffix(".gz").endswith(".kquery")
    if arguments.validity and not kquery:
        raise UsageError(f"expected a .kquery file with --validity, found {path}")
    if arguments.proof is not None and (kquery or path == "-"):
        raise UsageError(f"expected a .smt2 file with --proof, found {path}")
    language = ("kquery-validity" if arguments.validity else "kquery") if kquery else "smtlib"
    script = make_script(language, arguments)
    warn(script)
    if not script.has_complete_layer():
        print(
            f"partita: warning: the chain has no complete solver, so some answers will be unknown{ADVICE}",
            file=sys.stderr,
        )
    clock = Clock(script, arguments.total_s)
    prover = None
    try:
        if arguments.proof is not None:
            prover = prove(script, clock, arguments)
        elif kquery:
            text = b"".join(read_file(path))
            script.run(text, True, write)
        elif path == "-":
            converse(script, clock)
        else:
            for chunk in read_file(path):
                if script.exited() or clock.is_over:
                    break
                script.run(chunk, False, write)
            if not clock.is_over:
                script.run(b"", True, write)
    finally:
        clock.stop()
        script.flush()
        warn(script)
        statistics = script.statistics()
        if arguments.stats:
            print(json.dumps(statistics, indent=1), file=sys.stderr)
    if clock.is_over:
        write("timeout\n")
    if any(layer.get("mismatches", 0) for layer in statistics["layers"]):
        print("partita: error: --verify found a mismatch", file=sys.stderr)
        return MISMATCH
    if script.errors():
        return BAD_INPUT
    return 0 if prover is None else prover.status


def prove(script: _core.Script, clock: Clock, arguments: argparse.Namespace) -> Prover:
    from partita.proof.run import Prover, read_script

    timeout = None if arguments.timeout_ms is None else arguments.timeout_ms / 1000
    prover = Prover(script, read_script(arguments.file), timeout)
    prover.run(write, lambda: clock.is_over)
    try:
        prover.write(Path(arguments.proof))
    except OSError as error:
        raise UsageError(f"cannot write {arguments.proof}: {error.strerror}") from None
    return prover


ADVICE = "" if backends.installed() else ": pip install 'partita[bitwuzla]' (or partita[z3], partita[cvc5])"


def make_script(language: str, arguments: argparse.Namespace) -> _core.Script:
    spec, make = resolve(arguments.layers)
    default, file = DEFAULT_LAYERS, choose(arguments.store, spec)
    timeout = None if arguments.timeout_ms is None else arguments.timeout_ms / 1000
    if arguments.verify is not None:
        spec, default = with_verify(spec, default, arguments.verify)
    try:
        return _core.Script(language, spec, default, make, timeout, arguments.memory_mb, file)
    except ValueError as error:
        raise UsageError(str(error)) from None


class Clock:
    """Cancels the script when its time is over."""

    def __init__(self, script: _core.Script, seconds: int | None) -> None:
        self.is_over = False
        self._timer = None if seconds is None else threading.Timer(seconds, self._ring, (script,))
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def _ring(self, script: _core.Script) -> None:
        self.is_over = True
        script.cancel()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def warn(script: _core.Script) -> None:
    for line in script.notices():
        print(f"partita: warning: {line}", file=sys.stderr, flush=True)


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def converse(script: _core.Script, clock: Clock) -> None:
    """Executes commands as they arrive: the other side may wait for each answer before it sends the next command."""
    descriptor = sys.stdin.fileno()
    while not script.exited() and not clock.is_over:
        chunk = os.read(descriptor, CHUNK)
        if not chunk:
            break
        script.run(chunk, False, write)
    if not clock.is_over:
        script.run(b"", True, write)


def read_file(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file, contextlib.ExitStack() as stack:
            stream = stack.enter_context(gzip.open(file)) if is_gzip(file) else file
            while chunk := stream.read(CHUNK):
                yield chunk
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {path}: {reason}") from None


def is_gzip(file: BinaryIO) -> bool:
    start = file.read(2)
    file.seek(0)
    return start == GZIP_MAGIC
