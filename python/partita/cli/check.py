"""Checks the certificate of a run that explored everything, with another solver.

It follows the program along the tree of decisions of `partita run --certificate FILE` and proves that every side which
was not taken is impossible.

The exit status is 0 if the certificate is right, 1 if it is rejected, 2 for a usage error, 3 if it cannot be checked.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from partita.errors import UsageError

VALID, REJECTED, UNCHECKED = 0, 1, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a certificate")
    parser.add_argument("--solver", choices=("bitwuzla", "z3"), help="the solver that proves (default: one installed)")


def run(arguments: argparse.Namespace) -> int:
    from partita.check import certificate, solver
    from partita.check.machine import RejectedError
    from partita.check.terms import NoSemanticsError

    path = Path(arguments.file)
    try:
        first = path.read_bytes()[:1]
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from None
    try:
        if first != b"{":
            raise UsageError(f"expected a certificate of `partita run --certificate`, found something else in `{path}`")
        body = certificate.load(path)
        if body.get("schema") != certificate.SCHEMA:
            raise UsageError(f"expected the schema {certificate.SCHEMA}, found {body.get('schema')!r} in `{path}`")
        prover = solver.make(arguments.solver)
        machine = certificate.check(body, prover)
    except json.JSONDecodeError as error:
        raise UsageError(f"expected a certificate, found damaged JSON in `{path}`: {error}") from None
    except RejectedError as error:
        print(f"partita: error: {path}: rejected: {error}", file=sys.stderr)
        return REJECTED
    except NoSemanticsError as error:
        print(f"partita: error: {path}: cannot be checked: {error}", file=sys.stderr)
        return UNCHECKED
    print(f"{path}: explored completely: {machine.leaves} paths, {prover.proofs} proofs by {prover.name}")
    return VALID
