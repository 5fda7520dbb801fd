"""The completion script of fish: a line for each option, and two small functions that say where one is."""

from __future__ import annotations

from tools.shell.tree import Argument, Values, Verb, brief

NAME = "mawl.fish"

_FUNCTIONS = r"""
function __mawl_at --description 'Whether the verbs before the cursor are these'
    set -l found (string match --invert -- '-*' (commandline -opc)[2..])
    set -l found $found[1..(count $argv)]
    test "$found" = "$argv"
end

function __mawl_before_verb --description 'Whether a verb is missing after these'
    set -l found (string match --invert -- '-*' (commandline -opc)[2..])
    test "$found" = "$argv"
end

function __mawl_in --description 'Whether the last option before the cursor is one of these'
    set -l options (string match -- '-*' (commandline -opc)[2..])
    contains -- "$options[-1]" $argv
end

complete -c mawl -f
"""


def script(mawl: Verb) -> str:
    """The whole script."""
    lines = ["# Completion of mawl for fish, printed from its command line by tools/shell; do not edit."]
    lines += _FUNCTIONS.rstrip().splitlines()
    for verb in mawl.all():
        names = " ".join(verb.words)
        for below in verb.verbs:
            where = f"__mawl_before_verb {names}".rstrip()
            lines.append(
                f"complete -c mawl -n {_quoted(where)} -a {below.words[-1]} -d {_quoted(brief(below.help))}"
            )
        where = f"__mawl_at {names}" if names else "__mawl_before_verb"
        lines += [_option(one, where) for one in verb.options]
        several = [one for one in verb.options if one.several]
        for one in several:
            inside = f"{where}; and __mawl_in {' '.join(one.flags)}"
            lines.append(
                f"complete -c mawl -n {_quoted(inside)}{_taken(one.values)} -d {_quoted(one.metavar)}"
            )
        outside = (
            f"; and not __mawl_in {' '.join(flag for one in several for flag in one.flags)}"
            if several
            else ""
        )
        for one in verb.positionals:
            condition = _quoted(where + outside)
            lines.append(f"complete -c mawl -n {condition}{_taken(one.values)} -d {_quoted(one.metavar)}")
    return "\n".join(lines) + "\n"


def _option(one: Argument, where: str) -> str:
    names = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in one.flags)
    taken = "" if one.values is None else f" -r{_taken(one.values)}"
    if taken and " -F" not in taken:
        taken = taken.replace(" -r", " -x", 1)  # nothing but what is listed
    return f"complete -c mawl -n {_quoted(where)}{names}{taken} -d {_quoted(brief(one.help))}"


def _taken(values: Values | None) -> str:
    values = values or Values()
    words = list(values.words)
    if values.place == "directory":
        words.append("(__fish_complete_directories)")
    listed = f" -a {_quoted(' '.join(words))}" if words else ""
    return (" -F" if values.place == "file" else "") + listed


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
