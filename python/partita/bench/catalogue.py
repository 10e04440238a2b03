"""All experiments by name, and those that are still missing, with the reason."""

from __future__ import annotations

from partita.bench import coreutils, foo, layers, objres, params, sortcheck, sorts, structures, worstcase
from partita.bench.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        foo.EXPERIMENT,
        objres.EXPERIMENT,
        worstcase.EXPERIMENT,
        sorts.SORT1,
        sorts.SORT2,
        sortcheck.EXPERIMENT,
        coreutils.EXPERIMENT,
        coreutils.SOLVERS,
        structures.EXPERIMENT,
        params.EXPERIMENT,
        layers.EXPERIMENT,
    )
}

NOT_YET: dict[str, str] = {
    "eca": "the generator of event-condition-action systems (second paper, Figure 3) is not written yet",
    "sortC": "GNU sort -C (first paper, Figure 11) is not set up yet",
    "libs": "the C libraries of the third paper (Table 2) have no drivers yet",
    "binutils": "GNU Binutils (first paper, Figures 9 and 10) are not set up yet",
    "peers": "the same programs with KLEE, angr, Bitwuzla, Yices and STP are not set up yet",
    "floating point": "the third paper's QF_ABVFP programs need floating point",
    "Java": "the third paper's Java programs need another front end",
}
