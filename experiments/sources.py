"""Programs for experiments: Debian source packages, built with `partita cc`.

    python -m experiments.sources coreutils [--into DIR]

Fetches the package from the Debian mirrors that this machine's apt is configured for (apt checks its signature),
unpacks the upstream sources, configures and makes them. Steps that are done are not repeated. Nothing outside DIR is
written, and no package is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments.locations import FAMILIES
from partita.errors import UsageError
from partita.frontends.cache import cache_dir

_TOOLS = {"CC": "partita-cc", "AR": "partita-ar", "RANLIB": "partita-ranlib"}
_APT_TARGETS = ("apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)")
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


_CONFIGURE = ("./configure", "--disable-nls")


# Features of any current system, as configure scripts name them.
_POSIX = (
    *(f"HAVE_{name}_H" for name in ("FCNTL", "INTTYPES", "LIMITS", "LOCALE", "MEMORY", "STDARG", "STDINT", "STDLIB")),
    *(f"HAVE_{name}_H" for name in ("STRINGS", "STRING", "SYS_STAT", "SYS_TYPES", "UNISTD")),
    *(f"HAVE_{name}" for name in ("OPEN", "SNPRINTF", "STRCASECMP", "STRDUP", "STRERROR", "STRNCASECMP", "VASPRINTF")),
    *(f"HAVE_{name}" for name in ("VPRINTF", "VSNPRINTF")),
)


_JSON = (
    "debug linkhash arraylist json_util json_object json_pointer json_tokener json_object_iterator json_c_version"
).split()


_GSL_FOLDERS = (
    "gsl utils sys err complex block vector matrix permutation sort cblas blas poly linalg eigen specfunc rng randist"
    " cdf integration deriv diff"
)
_GSL_FUNCTIONS = tuple(
    """
    gsl_cdf_beta_P gsl_cdf_beta_Pinv gsl_cdf_cauchy_Pinv gsl_cdf_chisq_P gsl_cdf_gumbel1_Q gsl_cdf_gumbel1_Qinv
    gsl_cdf_gumbel2_Pinv gsl_cdf_weibull_Qinv gsl_complex_exp gsl_complex_log gsl_complex_sinh gsl_deriv_forward
    gsl_diff_forward gsl_eigen_genv_sort gsl_integration_glfixed gsl_integration_qawc gsl_integration_qng
    gsl_linalg_PTLQ_decomp gsl_linalg_complex_LU_lndet gsl_poly_complex_solve_cubic gsl_poly_complex_solve_quadratic
    gsl_poly_solve_quadratic gsl_sf_airy_Ai_deriv_e gsl_sf_bessel_In_scaled_e gsl_sf_bessel_Inu_e
    gsl_sf_bessel_Inu_scaled_asymp_unif_e gsl_sf_bessel_Inu_scaled_e gsl_sf_bessel_cos_pi4_e gsl_sf_bessel_sin_pi4_e
    gsl_sf_debye_1_e gsl_sf_elljac_e gsl_sf_gamma_inc_P_e
    """.split()
)


def _defines(*names: str, **values: str | int) -> str:
    """The text of a header."""
    return "".join(f"#define {name} {value}\n" for name, value in {**dict.fromkeys(names, 1), **values}.items())


@dataclass(frozen=True)
class Package:
    """How a package is built; commands run in its folder."""

    version: str
    """Upstream version in Debian's stable release."""
    programs: str
    """The executables, as a pattern."""
    configure: tuple[str, ...] = (*_CONFIGURE, "--disable-shared")
    make: tuple[str, ...] = ("make",)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Files that the package's own build generates with tools that may be missing (CMake)."""
    library: tuple[str, ...] = ()
    """Patterns of sources that are compiled with the driver `libs/NAME.c` of `FAMILIES`, instead of `make`."""
    flags: tuple[str, ...] = ()
    """Compiler flags for these sources."""
    origin: str = ""
    """Debian's source package, if it has another name: some libraries are only copies inside of other packages."""
    drives: tuple[str, ...] = ()
    """Functions that the driver `NAME/driver.c` of `FAMILIES` calls, one in each executable. It is linked with all
    objects that `make` made."""


PACKAGES = {
    # Without inline assembly and code for single processors, which configure must not find.
    "coreutils": Package(
        "9.1",
        "src/*",
        configure=(*_CONFIGURE, "CFLAGS=-O2 -g -mno-avx -mno-avx2 -mno-pclmul", "CPPFLAGS=-DNO_ASM"),
        make=("make", "SUBDIRS=.", "CFLAGS=-O2 -g"),
    ),
    # The tools that read and write binaries, without assembler, linker, profiler and debugger.
    "binutils": Package(
        "2.40",
        "binutils/*",
        configure=(
            *_CONFIGURE,
            "--disable-shared",
            "--disable-plugins",
            "--disable-werror",
            *(f"--disable-{part}" for part in ("gas", "gdb", "gdbserver", "gold", "gprof", "gprofng", "ld", "sim")),
            "--without-zstd",
            "--without-debuginfod",
            "MAKEINFO=true",
        ),
        make=("make", "all-binutils", "MAKEINFO=true"),
    ),
    "m4": Package("1.4.19", "src/m4", configure=_CONFIGURE, make=("make", "SUBDIRS=. lib src")),
    "json-c": Package(
        "0.16",
        "json-c",
        configure=(),
        headers={
            "json_config.h": "#define JSON_C_HAVE_INTTYPES_H 1\n",
            "json.h": "".join(f'#include "{name}.h"\n' for name in _JSON),
            "config.h": _defines(
                "STDC_HEADERS",
                *_POSIX,
                "HAVE_DECL_INFINITY",
                "HAVE_DECL_NAN",
                "HAVE_DECL_ISNAN",
                "HAVE_DECL_ISINF",
                "HAVE_REALLOC",
                "HAVE_SETLOCALE",
                "HAVE_STRTOLL",
                "HAVE_STRTOULL",
                SIZEOF_INT=4,
                SIZEOF_INT64_T=8,
                SIZEOF_LONG=8,
                SIZEOF_LONG_LONG=8,
                SIZEOF_SIZE_T=8,
                SIZEOF_SSIZE_T=8,
                JSON_C_HAVE_INTTYPES_H=1,
            ),
        },
        library=("*.c",),
        flags=("-I.", "-D_GNU_SOURCE"),
    ),
    "cmark": Package(
        "0.30.2",
        "cmark",
        configure=(),
        headers={
            "src/config.h": "#include <stdbool.h>\n#define CMARK_ATTRIBUTE(list) __attribute__(list)\n"
            "#define CMARK_INLINE inline\n#define HAVE___BUILTIN_EXPECT 1\n",
            "src/cmark_export.h": "#define CMARK_EXPORT\n",
            "src/cmark_version.h": '#define CMARK_VERSION 0x1e02\n#define CMARK_VERSION_STRING "0.30.2"\n',
        },
        library=("src/[!m]*.c", "src/man.c"),
        flags=("-Isrc",),
    ),
    "fribidi": Package(
        "1.0.8",
        "fribidi",
        configure=(),
        headers={
            "config.h": _defines(
                "STDC_HEADERS", "HAVE_STDLIB_H", "HAVE_STRING_H", "HAVE_MEMORY_H", "HAVE_STRINGS_H", "HAVE_STRINGIZE"
            ),
            "lib/fribidi-config.h": _defines(
                FRIBIDI='"fribidi"',
                FRIBIDI_NAME='"GNU FriBidi"',
                FRIBIDI_VERSION='"1.0.8"',
                FRIBIDI_BUGREPORT='""',
                FRIBIDI_INTERFACE_VERSION=4,
                FRIBIDI_INTERFACE_VERSION_STRING='"4"',
                FRIBIDI_SIZEOF_INT=4,
            ),
        },
        library=("lib/*.c",),
        flags=("-I.", "-Ilib", "-DHAVE_CONFIG_H"),
    ),
    # The folders that the functions need; the programs and the whole library need all others.
    "gsl": Package(
        "2.7.1",
        "drivers/*",
        configure=("./configure", "--disable-shared", "CFLAGS=-O1 -g"),
        make=("make", "all-recursive", "PROGRAMS=", "SUBLIBS=", f"SUBDIRS={_GSL_FOLDERS}"),
        drives=_GSL_FUNCTIONS,
    ),
    "gas": Package(
        "2.40",
        "gas/as-new",
        origin="binutils",
        configure=(
            *_CONFIGURE,
            "--disable-shared",
            "--disable-plugins",
            "--disable-werror",
            *(
                f"--disable-{part}"
                for part in ("binutils", "gdb", "gdbserver", "gold", "gprof", "gprofng", "ld", "sim")
            ),
            "--without-zstd",
            "MAKEINFO=true",
        ),
        make=("make", "all-gas", "MAKEINFO=true"),
    ),
    "libinjection": Package(
        "3.0.9",
        "libinjection",
        origin="modsecurity",
        configure=(),
        library=tuple(f"others/libinjection/src/libinjection_{part}.c" for part in ("html5", "sqli", "xss")),
        flags=("-Iothers/libinjection/src", '-DLIBINJECTION_VERSION="3"'),
    ),
    "sha1-cd": Package(
        "0.16.3",
        "sha1-cd",
        origin="rnp",
        configure=(),
        library=("src/lib/crypto/sha1cd/*.c",),
        flags=("-Isrc/lib/crypto/sha1cd",),
    ),
    "smaz": Package(
        "3.2.3-stable",
        "smaz",
        origin="godot",
        configure=(),
        library=("thirdparty/misc/smaz.c",),
        flags=("-Ithirdparty/misc",),
    ),
    # Its single file is made by scripts in Tcl.
    "sqlite3": Package(
        "3.40.1",
        "sqlite3",
        configure=("./configure", "--disable-shared", "--disable-tcl", "--disable-readline", "--disable-threadsafe"),
        make=("make", "sqlite3.c"),
        library=("sqlite3.c",),
        flags=("-I.", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"),
    ),
    "sundown": Package(
        "0.9.3",
        "sundown",
        origin="pumpa",
        configure=(),
        library=("src/sundown/*.c",),
        flags=("-Isrc/sundown",),
    ),
    "libtommath": Package("1.2.0", "libtommath", configure=(), library=("bn_*.c",), flags=("-I.",)),
    # C older than clang accepts by default; its Makefile lacks the dependency of programs on the library.
    "discount": Package(
        "2.2.7",
        "markdown",
        configure=("env", "CFLAGS=-O2 -g -Wno-incompatible-function-pointer-types", "./configure.sh"),
        make=("make", "-j1"),
    ),
}


def program(package: str, name: str) -> Path:
    """An executable of a package, built in the user's cache (or $PARTITA_SOURCES) if it does not exist."""
    found = {path.name: path for path in build(package, _cache())}
    if name not in found:
        raise UsageError(f"{package}: expected an executable `{name}`, found {', '.join(sorted(found))}")
    return found[name]


def is_built(package: str) -> bool:
    """Whether the last step of building the package in the user's cache is done."""
    last = "driver" if PACKAGES[package].library or PACKAGES[package].drives else "make"
    return (_cache() / package / f".{last}-done").exists()


def _cache() -> Path:
    return Path(os.environ.get("PARTITA_SOURCES") or cache_dir() / "sources")


def build(name: str, into: Path, *, jobs: int | None = None) -> list[Path]:
    """Builds a package in a folder of its own below `into` and returns its executables."""
    package = PACKAGES.get(name)
    if package is None:
        raise UsageError(f"expected a package ({', '.join(PACKAGES)}), found `{name}`")
    folder = into.resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    sources = folder / f"{name}-{package.version}"
    parallel = f"-j{jobs or os.cpu_count() or 1}"
    steps: list[tuple[str, Callable[[], None]]] = [
        ("fetch", lambda: _fetch(name, package, folder)),
        ("unpack", lambda: _unpack(name, package, folder, sources)),
    ]
    if package.configure:
        steps.append(("configure", lambda: _run(package.configure, sources, folder / "configure.log")))
    words = [package.make[0], parallel, *package.make[1:]]
    if not package.library or package.make != ("make",):
        steps.append(("make", lambda: _run(words, sources, folder / "make.log")))
    if package.library:
        steps.append(("driver", lambda: _drive(name, package, sources, folder / "driver.log")))
    if package.drives:
        steps.append(("driver", lambda: _drive_functions(name, package, sources, folder / "driver.log")))
    for step, action in steps:
        stamp = folder / f".{step}-done"
        if not stamp.exists():
            print(f"{name}: {step} ...", file=sys.stderr, flush=True)
            start = time.monotonic()
            action()
            stamp.touch()
            print(f"{name}: {step} took {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    found = [path for path in sorted(sources.glob(package.programs)) if _is_program(path)]
    if not found:
        raise UsageError(f"{name}: expected executables at `{sources / package.programs}`, found none")
    return found


def _is_program(path: Path) -> bool:
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _fetch(name: str, package: Package, folder: Path) -> None:
    """Fetches the upstream archive through apt, with separate lists: the machine's may lack sources."""
    for tool in ("apt-get", "make"):
        if shutil.which(tool) is None:
            raise UsageError(f"{name}: expected `{tool}` on this machine, found none: source packages come from Debian")
    apt = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial", "state"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    done = subprocess.run(_APT_TARGETS, capture_output=True, text=True, check=False)
    signed = f" [signed-by={_KEYS}]" if _KEYS.exists() else ""
    rows = {line for line in done.stdout.splitlines() if line.startswith("Debian|")}
    lines = [f"deb-src{signed} {uri} {release} {part}" for _, uri, release, part in (row.split("|") for row in rows)]
    if not lines:
        raise UsageError(f"{name}: expected a Debian mirror among apt's sources, found none (run apt-get update once)")
    (apt / "sources.list").write_text("\n".join(sorted(lines)) + "\n")
    options = {
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": apt / "state",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
    }
    command = ["apt-get", "-q", *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]
    _run([*command, "update"], folder, folder / "fetch.log")
    _run([*command, "source", "--tar-only", "--download-only", package.origin or name], folder, folder / "fetch.log")
    if not _archives(name, package, folder):
        found = ", ".join(path.name for path in folder.glob("*.orig.tar.*"))
        raise UsageError(f"{name}: expected version {package.version}, found {found or 'nothing'}")


def _archives(name: str, package: Package, folder: Path) -> list[Path]:
    found = folder.glob(f"{package.origin or name}_{package.version}*.orig.tar.*")
    return [path for path in found if path.suffix != ".asc"]


def _unpack(name: str, package: Package, folder: Path, sources: Path) -> None:
    archives = _archives(name, package, folder)
    fresh = folder / "unpacking"
    for old in (fresh, sources):
        shutil.rmtree(old, ignore_errors=True)
    with tarfile.open(archives[0]) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # since 3.10.12
        archive.extractall(fresh)
    (top,) = fresh.iterdir()
    top.rename(sources)
    fresh.rmdir()


def _drive(name: str, package: Package, sources: Path, log: Path) -> None:
    """Compiles the driver of a library with the library's sources."""
    for header, text in package.headers.items():
        (sources / header).write_text(text)
    files = sorted(str(path.relative_to(sources)) for pattern in package.library for path in sources.glob(pattern))
    driver = FAMILIES / "libs" / f"{name}.c"
    _run(["partita-cc", "-g", "-O1", "-w", *package.flags, str(driver), *files, "-o", name], sources, log)


def _drive_functions(name: str, package: Package, sources: Path, log: Path) -> None:
    """Links the driver with all objects of the package, once for each function."""
    objects = sorted(str(path.relative_to(sources)) for path in sources.glob("*/*.o"))
    _run(["partita-ar", "rcs", "objects.a", *objects], sources, log)
    (sources / "drivers").mkdir(exist_ok=True)
    driver = FAMILIES / name / "driver.c"
    for function in package.drives:
        words = ["-g", "-O1", "-w", "-I.", f"-DDRIVE={function}", str(driver), "objects.a", "-o", f"drivers/{function}"]
        _run(["partita-cc", *words], sources, log)


def _run(command: Sequence[str], folder: Path, log: Path) -> None:
    here = Path(sys.executable).parent
    environment = {**os.environ, **_TOOLS, "PATH": f"{here}{os.pathsep}{os.environ.get('PATH', '')}"}
    # Coreutils' configure refuses to run as root without it.
    environment["FORCE_UNSAFE_CONFIGURE"] = "1"
    with log.open("ab") as output:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=output, check=False)
    if done.returncode != 0:
        tail = log.read_text("utf-8", "replace").splitlines()[-5:]
        said = "\n".join(tail)
        raise UsageError(f"`{' '.join(command)}` ended with status {done.returncode}; {log} ends:\n{said}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.sources", description="Builds packages to explore.")
    parser.add_argument("package", nargs="+", choices=sorted(PACKAGES))
    parser.add_argument("--into", type=Path, default=_cache(), metavar="DIR",
                        help="folder of the packages (default: where experiments look for them)")  # fmt: skip
    parser.add_argument("--jobs", type=int, help="number of parallel compilations (default: number of processors)")
    arguments = parser.parse_args()
    try:
        for name in arguments.package:
            for path in build(name, arguments.into, jobs=arguments.jobs):
                print(path)
    except UsageError as error:
        print(f"partita: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
