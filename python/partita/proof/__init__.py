"""Proofs of `unsat` (docs/solver.md): a plain translation of scripts to clauses, and a checker of refutations.

`script`, `circuit`, `arrays` and `translate` are the translation: no rewriting, no layer, nothing of the solver. With
`lrat` and `file` they are what has to be trusted. `search` finds proofs and does not.
"""
