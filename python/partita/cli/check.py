"""Checks a certificate of a run, or a proof that a script is unsatisfiable.

For a certificate of `partita run --certificate FILE` it follows the program along the tree of decisions and proves,
with another solver, that every side which was not taken is impossible. For a proof of `partita smt --proof PROOF` it
translates the script again and checks each step of the refutation, without a solver.

The exit status is 0 if FILE is right, 1 if it is rejected, 2 for a usage error, 3 if it cannot be checked.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from partita.errors import UsageError

VALID, REJECTED, UNCHECKED = 0, 1, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a certificate or a proof")
    parser.add_argument("--script", metavar="FILE", help="the script that a proof must be about")
    parser.add_argument("--solver", choices=("bitwuzla", "z3"), help="the solver that proves (default: one installed)")


def run(arguments: argparse.Namespace) -> int:
    from partita.check import certificate, solver
    from partita.check.decide import RejectedError
    from partita.check.meaning.machine import interpreter
    from partita.check.terms import NoSemanticsError
    from partita.proof import file as proof

    path = Path(arguments.file)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from None
    try:
        if data[:1] != b"{":
            raise UsageError(
                "expected a certificate of `partita run --certificate` or a proof of `partita smt --proof`, "
                f"found something else in `{path}`"
            )
        if (body := json.loads(data)).get("schema") == proof.SCHEMA:
            return check_proof(path, body, arguments.script)
        if arguments.script is not None:
            raise UsageError(f"expected a proof with --script, found something else in `{path}`")
        if body.get("schema") != certificate.SCHEMA:
            expected = f"{certificate.SCHEMA} or {proof.SCHEMA}"
            raise UsageError(f"expected the schema {expected}, found {body.get('schema')!r} in `{path}`")
        body = certificate.load(path)
        prover = solver.make(arguments.solver)
        followed = certificate.check(body, prover, interpreter)
    except json.JSONDecodeError as error:
        raise UsageError(f"expected a certificate or a proof, found damaged JSON in `{path}`: {error}") from None
    except RejectedError as error:
        print(f"partita: error: {path}: rejected: {error}", file=sys.stderr)
        return REJECTED
    except NoSemanticsError as error:
        print(f"partita: error: {path}: cannot be checked: {error}", file=sys.stderr)
        return UNCHECKED
    print(f"{path}: explored completely: {followed.leaves} paths, {prover.proofs} proofs by {prover.name}")
    return VALID


def check_proof(path: Path, body: dict[str, Any], script: str | None) -> int:
    from partita.proof import file as proof
    from partita.proof.run import read_script

    try:
        if script is not None and read_script(script) != body.get("script"):
            raise proof.RejectedProofError(f"it is not about `{script}`")
        summary = proof.check(body)
    except proof.RejectedProofError as error:
        print(f"partita: error: {path}: rejected: {error}", file=sys.stderr)
        return REJECTED
    checks = ", ".join(map(str, summary.checks))
    print(
        f"{path}: unsatisfiable: check {checks} of its script; {summary.clauses} clauses, {summary.lemmas} lemmas, "
        f"{summary.steps} steps"
    )
    return VALID
