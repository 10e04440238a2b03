"""Every mathematical function of the linked C library has the same bits as in the natively replayed program.

For each function a program prints a hash of its results on special and random values; NaNs count as equal. The sample
has `PARTITA_LIBM_VALUES` values per function (100,000 in `make soak`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from partita import explore
from partita.cc.musl import link_command

VALUES = int(os.environ.get("PARTITA_LIBM_VALUES", "60"))
UNARY = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 exp10 expm1 fabs floor lgamma log log10"
    " log1p log2 logb nearbyint rint round sin sinh sqrt tan tanh tgamma trunc"
).split()
BESSEL = "j0 j1 y0 y1".split()
BINARY = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split()
TO_INTEGER = "ilogb lrint llrint lround llround".split()
COMPLEX = "cacos cacosh casin casinh catan catanh ccos ccosh cexp clog conj cproj csin csinh csqrt ctan ctanh".split()
TYPES = {"": ("double", 8), "f": ("float", 4), "l": ("long double", 10)}

HEAD = """
#define _GNU_SOURCE
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed, hash;
static uint64_t next(void) { seed ^= seed << 13; seed ^= seed >> 7; return seed ^= seed << 17; }
static const double special[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 1.5, -1.5, 3, 10, -10, 0.1, 1e-8, 1e8, 1e22, -1e22,
  1e300, -1e300, 1e-300, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, INFINITY, -INFINITY, NAN,
  M_PI, M_PI_2, -M_PI_4, 709.8, -745.2, 100.5, 2147483648.0, 9007199254740993.0};
enum { SPECIAL = sizeof special / sizeof *special };
static double value(int i) {
  uint64_t bits = next();
  if (i < SPECIAL) return special[i];
  if (i % 4) bits = (bits & 0x800fffffffffffff) | (1003 + next() % 40) << 52; /* of moderate size */
  double found;
  memcpy(&found, &bits, 8);
  return found;
}
static void add(const void *bytes, int size) {
  for (int i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
}
#define ADD(TYPE, SIZE, RESULT) { TYPE y_ = RESULT; if (y_ != y_) y_ = (TYPE)NAN; add(&y_, SIZE); }
static void begin(void) { seed = 88172645463325252; hash = 14695981039346656037u; }
static void end(const char *name) { printf("%s %016llx\\n", name, (unsigned long long)hash); }
"""


def calls() -> Iterator[tuple[str, str]]:
    """A name, and the statements that add the results for `x` and `w`."""
    for suffix, (kind, size) in TYPES.items():
        for name in UNARY + (BESSEL if suffix != "l" else []):
            yield f"{name}{suffix}", f"ADD({kind}, {size}, {name}{suffix}(x))"
        for name in BINARY:
            yield f"{name}{suffix}", f"ADD({kind}, {size}, {name}{suffix}(x, w))"
        for name in TO_INTEGER:
            # Out of range the result is unspecified.
            yield f"{name}{suffix}", f"if (fabs(x) < 1e9) {{ long y = {name}{suffix}(x); add(&y, 8); }}"
        for name in COMPLEX:
            real, imaginary = f"creal{suffix}(z)", f"cimag{suffix}(z)"
            made = f"{kind} complex z = {name}{suffix}(CMPLX{suffix.upper()}(x, w));"
            yield f"{name}{suffix}", f"{made} ADD({kind}, {size}, {real}) ADD({kind}, {size}, {imaginary})"
        for name in ("cabs", "carg"):
            yield f"{name}{suffix}", f"ADD({kind}, {size}, {name}{suffix}(CMPLX{suffix.upper()}(x, w)))"
        yield f"fma{suffix}", f"ADD({kind}, {size}, fma{suffix}(x, w, x + 1))"
        yield f"ldexp{suffix}", f"ADD({kind}, {size}, ldexp{suffix}(x, (int)(next() % 200) - 100))"
        yield f"frexp{suffix}", f"int e = 0; ADD({kind}, {size}, frexp{suffix}(x, &e)) if (isfinite(x)) add(&e, 4);"
        yield f"modf{suffix}", f"{kind} whole; ADD({kind}, {size}, modf{suffix}(x, &whole)) ADD({kind}, {size}, whole)"
        yield f"remquo{suffix}", f"int q = 0; ADD({kind}, {size}, remquo{suffix}(x, w, &q)) q &= 7; add(&q, 4);"
        yield f"scalbn{suffix}", f"ADD({kind}, {size}, scalbn{suffix}(x, (int)(next() % 400) - 200))"
        yield f"scalbln{suffix}", f"ADD({kind}, {size}, scalbln{suffix}(x, (long)(next() % 5000) - 2500))"
        yield f"nexttoward{suffix}", f"ADD({kind}, {size}, nexttoward{suffix}(x, (long double)w / 3))"
        yield f"pow10{suffix}", f"ADD({kind}, {size}, pow10{suffix}(x))"
        yield f"nan{suffix}", f'ADD({kind}, {size}, nan{suffix}("7"))'
        pair = f"{kind} s, c; sincos{suffix}(x, &s, &c);"
        yield f"sincos{suffix}", f"{pair} ADD({kind}, {size}, s) ADD({kind}, {size}, c)"
        sign = f"int sign = 0; ADD({kind}, {size}, lgamma{suffix}_r(x, &sign))"
        # The sign of the gamma function at a pole, and at -infinity, is unspecified.
        yield f"lgamma{suffix}_r", f"{sign} if (x > 0) add(&sign, 4);"
        power = f"cpow{suffix}(CMPLX{suffix.upper()}(x, w), CMPLX{suffix.upper()}(w, 0.5))"
        parts = f"ADD({kind}, {size}, creal{suffix}(z)) ADD({kind}, {size}, cimag{suffix}(z))"
        yield f"cpow{suffix}", f"{kind} complex z = {power}; {parts}"
        if suffix != "l":
            for name in ("scalb", "drem"):
                yield f"{name}{suffix}", f"ADD({kind}, {size}, {name}{suffix}(x, floor{suffix}(w)))"
            yield f"significand{suffix}", f"ADD({kind}, {size}, significand{suffix}(x))"
            for name in ("jn", "yn"):
                yield f"{name}{suffix}", f"ADD({kind}, {size}, {name}{suffix}((int)(next() % 9) - 4, x))"
        yield f"multiply {kind}", product(kind, suffix, "*", size)
        yield f"divide {kind}", product(kind, suffix, "/", size)
    yield "strtod", 'char text[64]; snprintf(text, sizeof text, "%.17g", x); ADD(double, 8, strtod(text, 0))'
    yield "strtof", 'char text[64]; snprintf(text, sizeof text, "%.9g", x); ADD(float, 4, strtof(text, 0))'
    yield "printf", 'char text[400]; snprintf(text, sizeof text, "%a %e %g %.3f", x, x, x, x); add(text, strlen(text));'


def product(kind: str, suffix: str, operator: str, size: int) -> str:
    made = f"volatile {kind} complex a = CMPLX{suffix.upper()}(x, w), b = CMPLX{suffix.upper()}(w, x - 1);"
    parts = " ".join(f"ADD({kind}, {size}, {part}{suffix}(z))" for part in ("creal", "cimag"))
    return f"{made} {kind} complex z = a {operator} b; {parts}"


def program(chosen: list[tuple[str, str]], kind: str) -> str:
    loop = f"for (int i = 0; i < {VALUES}; i++)"
    pair = f"{kind} x = value(i), w = value(i < SPECIAL * SPECIAL ? i / SPECIAL : i);"
    body = "".join(f'  begin(); {loop} {{ {pair} {code} }} end("{name}");\n' for name, code in chosen)
    return f"{HEAD}int main(void) {{\n{body}  return 0;\n}}\n"


@pytest.mark.parametrize("suffix", TYPES, ids=lambda suffix: TYPES[suffix][0].replace(" ", "-"))
def test_results_have_the_bits_of_a_native_run(suffix: str, tmp_path: Path) -> None:
    kind = TYPES[suffix][0]
    ours = [(name, code) for name, code in calls() if f"ADD({kind}," in code or (name in TO_INTEGER and not suffix)]
    source, binary = tmp_path / "libm.c", tmp_path / "binary"
    source.write_text(program(ours, kind))
    subprocess.run(link_command(["-O0", "-w", str(source), "-o", str(binary)]), check=True)
    expected = subprocess.run([str(binary)], capture_output=True, check=True).stdout.decode().splitlines()
    run = explore(source)
    (path,) = run
    assert (path.message, run.complete) == (None, True)
    assert path.output.decode().splitlines() == expected
    assert len(expected) == len(ours)
