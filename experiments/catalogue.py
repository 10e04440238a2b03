"""All experiments by name, and the reasons why some of the papers' are missing."""

from __future__ import annotations

from experiments import (
    binutils,
    coreutils,
    eca,
    foo,
    gsl,
    layers,
    libs,
    objres,
    params,
    peers,
    sortc,
    sortcheck,
    sorts,
    structures,
    worstcase,
)  # fmt: skip
from experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        foo.EXPERIMENT,
        objres.EXPERIMENT,
        worstcase.EXPERIMENT,
        sorts.SORT1,
        sorts.SORT2,
        sortc.EXPERIMENT,
        binutils.EXPERIMENT,
        coreutils.EXPERIMENT,
        coreutils.SOLVERS,
        sortcheck.EXPERIMENT,
        eca.EXPERIMENT,
        libs.EXPERIMENT,
        structures.EXPERIMENT,
        structures.JAVA,
        params.EXPERIMENT,
        gsl.EXPERIMENT,
        gsl.PARAMETERS,
        layers.EXPERIMENT,
        peers.EXPERIMENT,
    )
}

PAPERS: dict[str, tuple[str, ...]] = {
    "parti": ("objres", "worstcase", "sort1", "sort2", "sortC", "binutils", "coreutils-solvers"),
    "integers": ("sortcheck", "eca", "coreutils-solvers"),
    "solutions": ("foo", "libs", "structures", "structures-java", "params", "gsl", "gsl-params"),
}
"""The experiments of each paper. One that two share is measured once, if both use the same folder."""

NOT_YET: dict[str, str] = {}
"""Experiments that cannot be run yet, with the reason."""
