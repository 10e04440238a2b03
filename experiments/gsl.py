"""Table 3, Figure 2b and Figure 4 of the third paper: functions of the GNU Scientific Library for a given time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from partita.solver import DEFAULT_LAYERS

BASE = "KLEE's cache and Z3"
_BEFORE = "split reuse:klee solutions:paper(kp={kp},ks={ks})"
_VALUES = (500, 2500, 12500)
"""K_p and K_s. The paper's are 2500; of Figure 4 the text has no other values."""


def _paper(solver: str, kp: int = 2500, ks: int = 2500) -> Setup:
    return Setup(f"{_BEFORE.format(kp=kp, ks=ks)} {solver}", path_model=False, compared_with=BASE)


CONFIGURATIONS = {
    BASE: Setup("split reuse:klee z3", path_model=False, compared_with=BASE),
    "paper and Z3": _paper("z3(partial=on)"),
    "control and Z3": Setup(
        "split reuse:klee solutions:paper(kp=2500,ks=2500,harvest=off) z3(partial=on)",
        path_model=False,
        compared_with=BASE,
    ),
    "paper": _paper("sat(engine=conflicts)"),
    "control": Setup(
        f"{_BEFORE.format(kp=2500, ks=2500)} sat(engine=conflicts,harvest=off)", path_model=False, compared_with=BASE
    ),
    "default": Setup(DEFAULT_LAYERS, compared_with=BASE),
}
_SIZES = {f"{kp} + {ks}": _paper("sat(engine=conflicts)", kp, ks) for kp in _VALUES for ks in _VALUES}
_SEARCHES = {"dfs": "depth first", "bfs": "breadth first", "mix": "mixed search"}
FACTOR = 10
"""Reach: this many times the paths of the baseline, or explored completely."""

REPORTED: dict[str, tuple[int, int, int, int, int, int]] = {
    "gsl_cdf_beta_P": (19, 19, 44, 32, 63, 52),
    "gsl_cdf_beta_Pinv": (24, 24, 40, 40, 64, 49),
    "gsl_cdf_cauchy_Pinv": (17, 14, 44, 40, 47, 37),
    "gsl_cdf_chisq_P": (15, 14, 39, 31, 43, 35),
    "gsl_cdf_gumbel1_Q": (14, 12, 27, 19, 33, 28),
    "gsl_cdf_gumbel1_Qinv": (16, 13, 30, 27, 40, 36),
    "gsl_cdf_gumbel2_Pinv": (24, 19, 45, 42, 64, 44),
    "gsl_cdf_weibull_Qinv": (23, 21, 40, 40, 44, 40),
    "gsl_complex_exp": (27, 17, 238, 213, 310, 274),
    "gsl_complex_log": (27, 17, 238, 213, 295, 282),
    "gsl_complex_sinh": (29, 20, 143, 136, 284, 169),
    "gsl_deriv_forward": (11, 9, 13, 10, 15, 12),
    "gsl_diff_forward": (10, 9, 10, 7, 15, 10),
    "gsl_eigen_genv_sort": (17, 13, 75, 59, 50, 32),
    "gsl_integration_glfixed": (11, 10, 22, 19, 29, 24),
    "gsl_integration_qawc": (138, 58, 24, 24, 243, 90),
    "gsl_integration_qng": (12, 11, 70, 17, 109, 89),
    "gsl_linalg_PTLQ_decomp": (44, 37, 113, 80, 34, 30),
    "gsl_linalg_complex_LU_lndet": (30, 19, 79, 69, 47, 48),
    "gsl_poly_complex_solve_cubic": (23, 2, 25, 2, 28, 2),
    "gsl_poly_complex_solve_quadratic": (20, 12, 60, 23, 58, 26),
    "gsl_poly_solve_quadratic": (19, 13, 26, 16, 27, 18),
    "gsl_sf_airy_Ai_deriv_e": (92, 92, 13, 13, 178, 96),
    "gsl_sf_bessel_In_scaled_e": (95, 59, 58, 45, 48, 43),
    "gsl_sf_bessel_Inu_e": (12, 12, 37, 23, 35, 32),
    "gsl_sf_bessel_Inu_scaled_asymp_unif_e": (27, 13, 11, 10, 18, 11),
    "gsl_sf_bessel_Inu_scaled_e": (12, 11, 36, 24, 37, 29),
    "gsl_sf_bessel_cos_pi4_e": (25, 13, 106, 102, 139, 101),
    "gsl_sf_bessel_sin_pi4_e": (23, 14, 106, 103, 139, 96),
    "gsl_sf_debye_1_e": (165, 52, 79, 47, 144, 21),
    "gsl_sf_elljac_e": (94, 95, 71, 65, 108, 93),
    "gsl_sf_gamma_inc_P_e": (14, 15, 49, 43, 47, 39),
}
"""Paths of the paper in 30 minutes, with partial solutions and without, for each of its searches: depth first, breadth
first, random with coverage. Some names are spelled differently there."""

_CHOSEN: dict[Scale, tuple[str, ...]] = {
    "paper": tuple(REPORTED),
    "hour": tuple(REPORTED)[::4],
    "quick": ("gsl_complex_exp", "gsl_poly_solve_quadratic", "gsl_sf_debye_1_e"),
    "smoke": ("gsl_poly_solve_quadratic",),
}
_CHOSEN_SEARCHES: dict[Scale, tuple[str, ...]] = {
    "paper": tuple(_SEARCHES),
    "hour": ("dfs",),
    "quick": ("dfs",),
    "smoke": ("dfs",),
}


def cases(scale: Scale) -> list[Case]:
    return [
        Case(search, name, name, package="gsl", only_if_built=scale in ("quick", "smoke"), until="time", search=search,
             reported=dict(zip(("paper", "paper's baseline"), REPORTED[name][2 * place : 2 * place + 2], strict=True)))
        for place, search in enumerate(_CHOSEN_SEARCHES[scale])
        for name in _CHOSEN[scale]
    ]  # fmt: skip


def table(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows of Table 3, the paper's figures last, then how far the default chain is ahead of the baseline."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for sample in samples:
        if sample["outcome"] == "measured":
            place = (sample["case"]["series"], sample["case"]["x"])
            found.setdefault(place, {})[sample["configuration"]] = sample["runs"][0]
    lines = [f"{'function':<38}{'search':<7}{'configuration':<26}{'paths':>7}{'hit rate':>10}{'overhead':>10}"]
    reached = {search: [0, 0, 0] for search in dict.fromkeys(search for search, _ in found)}
    for (search, name), runs in found.items():
        for configuration, run in runs.items():
            rate = f"{run['hit_rate']:>10.3f}{run['overhead']:>8.1f} %" if "hit_rate" in run else ""
            end = "  complete" if run.get("complete") else ""
            lines.append(f"{name:<38}{search:<7}{configuration:<26}{run['paths']:>7,}{rate}{end}")
        first = 2 * list(_SEARCHES).index(search)
        partial, vanilla = REPORTED[name][first : first + 2]
        lines.append(f"{name:<38}{search:<7}{'reported: paper, without':<26}{partial:>7,}{vanilla:>7,}")
        if BASE in runs and "default" in runs:
            ours, base = runs["default"], runs[BASE]["paths"]
            counts = reached[search]
            counts[0] += 1
            counts[1] += ours.get("complete") or ours["paths"] >= FACTOR * max(1, base)
            counts[2] += ours["paths"] < base and not ours.get("complete")
    for search, (both, ahead, behind) in reached.items():
        lines.append(
            f"{_SEARCHES[search]}: default explores {ahead} of {both} functions completely or {FACTOR} times as many"
            f" paths as the baseline; fewer on {behind}"
        )
    return lines


_NOTE = (
    "The functions are those of GSL 2.7.1 in Debian, with drivers of ours: all numbers are symbolic, functions that are"
    " integrated or differentiated are those of GSL's own tests, errors are returned. Mathematics is musl's C code in"
    " all configurations. `paper and Z3` has the partial solutions that a user propagator of Z3 sees, which needs"
    " Z3's general engine and calls of Python for each bit; “control and Z3” is the same without them. The others use"
    " our SAT solver with its assignment at each conflict. The third search is `mix`."
)
EXPERIMENT = Experiment(
    name="gsl",
    title="Functions of the GNU Scientific Library for a time",
    source="Partial solutions in the cache (FSE 2024), Table 3 and Figure 2b",
    reported=(
        "32 functions for 30 minutes: 71 %, 71 % and 94 % more paths than with KLEE's cache (depth first, breadth"
        " first, random with coverage), 1.67, 1.36 and 1.5 times as fast; overhead typically below 0.6 % of the time."
    ),
    note=_NOTE,
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"paper": Effort(3, 60), "hour": Effort(1, 30), "quick": Effort(2, 1.5), "smoke": Effort(1, 0.5)},
    panels=tuple(
        panel
        for search, words in _SEARCHES.items()
        for panel in (
            Panel("paths", words, "seconds", "completed paths, mean", tuple(CONFIGURATIONS), kind="curve",
                  series=(search,)),
            Panel("paths", words, "", "completed paths", tuple(CONFIGURATIONS), log_y=True, kind="bars",
                  series=(search,)),
        )
    ),
    table=table,
)  # fmt: skip
PARAMETERS = Experiment(
    name="gsl-params",
    title="GSL: partial solutions taken (K_p) and kept (K_s)",
    source="Partial solutions in the cache (FSE 2024), Figure 4",
    reported="On average more paths than without, in all nine settings and all searches; single functions also lose.",
    note=_NOTE,
    configurations={BASE: CONFIGURATIONS[BASE], **_SIZES},
    cases=lambda scale: cases(scale)[:1] if scale == "quick" else cases(scale),
    effort={"paper": Effort(3, 60), "hour": Effort(1, 5), "quick": Effort(2, 0.5), "smoke": Effort(1, 0.5)},
    panels=tuple(
        Panel("increase", f"states in equal time, {words}", "K_p + K_s", "more states than without, %", tuple(_SIZES),
              kind="spread", series=(search,))
        for search, words in _SEARCHES.items()
    ),
)  # fmt: skip
