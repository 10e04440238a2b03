"""The register of models: every library function, intrinsic and system call, with how it treats symbolic data.

The four kinds are all there is. A row has the worst kind of its arguments; `tests/python/run/test_register.py` calls
each function with each argument symbolic in turn and compares. Functions named `__partita_` are internal: other rows
use them. Functions of musl's C code are not models: they are explored like the program itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from partita import _core

Kind = Literal["exact", "forks", "binds", "unsupported"]
KINDS: tuple[Kind, ...] = ("exact", "forks", "binds", "unsupported")
ABOUT: dict[Kind, str] = {
    "exact": "one path; the result is an expression",
    "forks": "one path for each case that the function distinguishes; no case is left out",
    "binds": "a value is bound to a number (or to some of its numbers), and counted under `incomplete`",
    "unsupported": "the path ends as `unsupported`, or the call fails and is counted under `incomplete`",
}

# Functions written in C (`runtime/lib`).
_LIBRARY: dict[Kind, str] = {
    "exact": (
        "__finite __finitef __finitel __flt_rounds __isinf __isinff __isinfl __isnan __isnanf __isnanl __muldc3"
        " __mulsc3 __mulxc3 __powidf2 __powisf2 __powixf2 clock clock_gettime feclearexcept fegetexceptflag"
        " feholdexcept feraiseexcept fesetexceptflag fetestexcept feupdateenv isalpha isascii isdigit isgraph isinf"
        " isinff isinfl islower isnan isnanf isnanl isprint isupper rand random srand srandom stpcpy strcasecmp"
        " strcpy toascii"
    ),
    "forks": (
        "__divdc3 __divsc3 __divxc3 abs atoi atol atoll bsearch fegetenv fegetround fesetenv fesetround getenv"
        " gettimeofday isalnum isblank iscntrl ispunct isspace isxdigit labs llabs memchr memrchr qsort qsort_r strcat"
        " strchr strcspn strdup strncat strncpy strpbrk strrchr strspn strstr strtok strtok_r strtol strtoll"
        " strtoimax strtoul strtoull strtoumax time tolower toupper"
    ),
    "binds": ("strncasecmp strndup"),
}

# Intrinsics of LLVM are instructions: exact, but for functions of mathematics, which are musl's code, and addresses
# that a path does not have.
_MATHEMATICS = "sin cos tan asin acos atan atan2 sinh cosh tanh log log2 log10 pow".split()
_INTRINSICS: dict[str, Kind] = {
    **dict.fromkeys(_MATHEMATICS, "forks"),
    **dict.fromkeys((f"experimental.constrained.{name}" for name in _MATHEMATICS), "forks"),
    "exp10": "forks",
    **dict.fromkeys("masked.load masked.store masked.gather masked.scatter".split(), "forks"),
    **dict.fromkeys("frameaddress returnaddress addressofreturnaddress sponentry".split(), "binds"),
}

# System calls that a program with musl makes; all others of the kernel model fork.
_SYSTEM_CALLS: dict[str, Kind] = {
    **dict.fromkeys(
        (
            "brk exit exit_group getcpu getcwd getegid geteuid getgid getgroups getitimer getpgid getpgrp getpid"
            " getppid getpriority getresgid getresuid getsid gettid gettimeofday getuid kill madvise mlock mremap"
            " munlock munmap pause pipe pipe2 pselect6 rt_sigpending rt_sigsuspend sched_getaffinity sched_yield select"
            " set_tid_address setdomainname setgid setgroups sethostname setpgid setpriority setregid setresgid"
            " setresuid setreuid setsid setuid settimeofday clock_settime sigaltstack statx sync sysinfo tgkill"
            " time times tkill umask uname wait4 waitid"
        ).split(),
        "exact",
    ),
    **dict.fromkeys("alarm setitimer mprotect mmap".split(), "binds"),
    **dict.fromkeys("execve execveat prctl".split(), "unsupported"),
}


@dataclass(frozen=True)
class Row:
    name: str
    family: Literal["model", "library", "intrinsic", "system call"]
    kind: Kind


def rows() -> list[Row]:
    """All rows, by family and name."""
    found = [Row(name, "model", cast(Kind, kind)) for name, kind in _core.MODELS if not name.startswith("__partita_")]
    for kind, names in _LIBRARY.items():
        found += [Row(name, "library", kind) for name in names.split()]
    found += [Row(f"llvm.{name}", "intrinsic", kind) for name, kind in _intrinsics().items()]
    found += [Row(name, "system call", kind) for name, kind in _system_calls().items()]
    order = ("model", "library", "intrinsic", "system call")
    return sorted(found, key=lambda row: (order.index(row.family), row.name))


def _intrinsics() -> dict[str, Kind]:
    from partita.llvm.intrinsics import names

    return {name: _INTRINSICS.get(name, "exact") for name in names()}


def _kernel_texts() -> list[str]:
    """Sources of the kernel model, without cases for 32-bit programs alone, which are behind `#ifdef SYS_`."""
    files = sorted((Path(__file__).resolve().parent / "runtime" / "posix").glob("*.c"))
    return [re.sub(r"#ifdef SYS_.*?#endif", "", file.read_text(), flags=re.DOTALL) for file in files]


def _system_calls() -> dict[str, Kind]:
    """System calls by name: those with a case in the kernel model, and those that it names as not modelled."""
    found: dict[str, Kind] = {}
    for text in _kernel_texts():
        named = {name: "unsupported" for name in re.findall(r"\bN\((\w+)\)", text) if name != "name"}
        found = {**cast(dict[str, Kind], named), **found}
        found.update({name: _SYSTEM_CALLS.get(name, "forks") for name in re.findall(r"case SYS_(\w+)", text)})
    return found


def modelled_system_calls() -> list[str]:
    """System calls with a case in the kernel model."""
    return sorted({name for text in _kernel_texts() for name in re.findall(r"case SYS_(\w+)", text)})
