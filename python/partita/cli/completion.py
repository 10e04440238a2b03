"""Prints a completion script for a shell: bash, zsh or fish.

bash: eval "$(partita completion bash)" in ~/.bashrc
zsh:  eval "$(partita completion zsh)" in ~/.zshrc, after compinit
fish: partita completion fish > ~/.config/fish/completions/partita.fish
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

SHELLS = ("bash", "zsh", "fish")
# Placeholders of values that are names of files or folders.
_FILES = ("FILE", "DIR", "PATH", "PATH|URL", "PATH|URL|none", "PATH|URL|default")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(arguments: argparse.Namespace) -> int:
    from partita.cli import make_parser

    commands = list(read(make_parser()))
    print({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](commands), end="")
    return 0


@dataclass(frozen=True)
class Option:
    names: tuple[str, ...]
    about: str
    takes: bool
    """Does a value follow?"""
    choices: tuple[str, ...]
    files: bool
    """Is that value the name of a file or folder?"""


@dataclass(frozen=True)
class Command:
    name: str
    about: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """Choices of the positional argument; without any, files are completed."""


def read(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """The commands of the parser. The first one, without a name, has the options of `partita` itself."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    about = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    yield Command("", "", tuple(_options(parser)), tuple(commands.choices))
    for name, command in commands.choices.items():
        words: list[str] = []
        for action in command._actions:
            if not action.option_strings and action.choices:
                words += map(str, action.choices)
        yield Command(name, about[name].replace("%%", "%"), tuple(_options(command)), tuple(words))


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if not action.option_strings or action.help == argparse.SUPPRESS:
            continue
        metavar = action.metavar[0] if isinstance(action.metavar, tuple) else action.metavar or ""
        takes = action.nargs != 0
        choices = tuple(map(str, action.choices or ()))
        files = takes and metavar in _FILES
        about = " ".join((action.help or "").split()).replace("%%", "%")
        yield Option(tuple(action.option_strings), about, takes, choices, files)


def bash(commands: list[Command]) -> str:
    top, *named = commands
    cases, values = [], []
    for command in named:
        options = " ".join(name for option in command.options for name in option.names)
        words = " ".join(command.words)
        cases.append(f"        {command.name}) options={shlex.quote(options)}; words={shlex.quote(words)} ;;")
        for option in command.options:
            if option.takes:
                names = "|".join(f"{command.name}:{name}" for name in option.names)
                kind = "-f" if option.files else f"-W {shlex.quote(' '.join(option.choices))}"
                values.append(f"        {names}) values=({kind}) ;;")
    first = " ".join([*top.words, *(name for option in top.options for name in option.names)])
    lines = [
        '# Completion of partita for bash: eval "$(partita completion bash)"',
        "_partita() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}",
        "    local options= words= values=()",
        "    COMPREPLY=()",
        "    if ((COMP_CWORD == 1)); then",
        f'        COMPREPLY=($(compgen -W {shlex.quote(first)} -- "$word"))',
        "        return",
        "    fi",
        '    case "$command:$before" in',
        *values,
        "    esac",
        "    if ((${#values[@]})); then",
        '        COMPREPLY=($(compgen "${values[@]}" -- "$word"))',
        "        return",
        "    fi",
        '    case "$command" in',
        *cases,
        "    esac",
        "    if [[ $word == -* ]]; then",
        '        COMPREPLY=($(compgen -W "$options" -- "$word"))',
        "    elif [[ $words ]]; then",
        '        COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "    else",
        '        COMPREPLY=($(compgen -f -- "$word"))',
        "    fi",
        "}",
        "complete -o filenames -F _partita partita",
    ]
    return "\n".join(lines) + "\n"


def _zsh_quoted(text: str) -> str:
    for sign in "\\[]:'":
        text = text.replace(sign, "'\\''" if sign == "'" else "\\" + sign)
    return text


def zsh(commands: list[Command]) -> str:
    top, *named = commands
    lines = [
        "#compdef partita",
        '# Completion of partita for zsh: eval "$(partita completion zsh)" after compinit',
        "_partita() {",
        "    local curcontext=$curcontext state line",
        "    local -a commands",
        "    commands=(",
        *(f"        '{command.name}:{_zsh_quoted(command.about)}'" for command in named),
        "    )",
        "    if ((CURRENT == 2)); then",
        "        _describe command commands",
    ]
    flags = " ".join(name for option in top.options for name in option.names)
    lines += [f"        compadd -- {flags}", "        return", "    fi", "    case $words[2] in"]
    for command in named:
        lines.append(f"        {command.name})")
        lines.append("            _arguments \\")
        for option in command.options:
            value = ""
            if option.choices:
                value = f":value:({' '.join(option.choices)})"
            elif option.takes:
                value = ":file:_files" if option.files else ":value: "
            for name in option.names:
                lines.append(f"                '*{name}[{_zsh_quoted(option.about)}]{value}' \\")
        rest = f"({' '.join(command.words)})" if command.words else "_files"
        # The first word is the command itself.
        lines += ["                '1:command: ' \\", f"                '*:word:{rest}' ;;"]
    lines += ["    esac", "}", "compdef _partita partita"]
    return "\n".join(lines) + "\n"


def fish(commands: list[Command]) -> str:
    top, *named = commands
    lines = ["# Completion of partita for fish: save it as ~/.config/fish/completions/partita.fish"]
    for option in top.options:
        lines.append(
            f"complete -c partita -n __fish_use_subcommand {_fish_names(option)} -d {_fish_quoted(option.about)}"
        )
    for command in named:
        lines.append(
            f"complete -c partita -n __fish_use_subcommand -f -a {command.name} -d {_fish_quoted(command.about)}"
        )
    for command in named:
        here = f"-n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            lines.append(f"complete -c partita {here} -f -a {_fish_quoted(' '.join(command.words))}")
        for option in command.options:
            takes = ""
            if option.choices:
                takes = f" -x -a {_fish_quoted(' '.join(option.choices))}"
            elif option.takes:
                takes = " -r -F" if option.files else " -x"
            lines.append(f"complete -c partita {here} {_fish_names(option)}{takes} -d {_fish_quoted(option.about)}")
    return "\n".join(lines) + "\n"


def _fish_names(option: Option) -> str:
    return " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
