"""The completion script of zsh: ``_arguments`` with the help text of each option."""

from __future__ import annotations

from tools.shell.tree import Argument, Values, Verb, brief

NAME = "_mawl"

_FURTHER = 3
"""Values of one option that are completed after its first."""


def script(mawl: Verb) -> str:
    """The whole script; it works as a file on ``fpath`` and when it is sourced."""
    lines = [
        "#compdef mawl",
        "# Completion of mawl for zsh, printed from its command line by tools/shell; do not edit.",
    ]
    for verb in reversed(list(mawl.all())):
        lines += ["", f"{_function(verb)}() {{", *(_group(verb) if verb.verbs else _plain(verb)), "}"]
    lines += [
        "",
        "if [[ $funcstack[1] == _mawl ]]; then",
        '    _mawl "$@"',
        "else",
        "    compdef _mawl mawl",
        "fi",
    ]
    return "\n".join(lines) + "\n"


def _function(verb: Verb) -> str:
    return "_".join(("_mawl", *verb.words))


def _plain(verb: Verb) -> list[str]:
    specs = [spec for one in verb.arguments for spec in _specs(one)]
    return ["    _arguments -s -S \\", *(f"        {spec} \\" for spec in specs[:-1]), f"        {specs[-1]}"]


def _group(verb: Verb) -> list[str]:
    specs = [spec for one in verb.options for spec in _specs(one)]
    lines = ["    local curcontext=$curcontext state line", "    local -a verbs", "    _arguments -C \\"]
    lines += [f"        {spec} \\" for spec in specs]
    lines += [
        "        '1: :->verb' \\",
        "        '*:: :->rest'",
        "    case $state in",
        "    verb)",
        "        verbs=(",
    ]
    lines += [f"            {_quoted(one.words[-1] + ':' + brief(one.help))}" for one in verb.verbs]
    lines += [
        "        )",
        "        _describe -t verbs verb verbs",
        "        ;;",
        "    rest)",
        "        case $words[1] in",
    ]
    lines += [f"        {one.words[-1]}) {_function(one)} ;;" for one in verb.verbs]
    return [*lines, "        esac", "        ;;", "    esac"]


def _specs(one: Argument) -> list[str]:
    """What ``_arguments`` is told of an argument, a word for each flag."""
    action = _action(one)
    if not one.flags:
        return [_quoted(f"{'*' if one.several else ''}:{_plainly(one.metavar)}:{action}")]
    again = "*" if one.again else ""
    excluded = f"({' '.join(one.flags)})" if len(one.flags) > 1 and not one.again else ""
    taken = ""
    if one.values is not None:
        value = f":{_plainly(one.metavar)}:{action}"
        # Values after the first may be left out.  The pattern form (:*-*:) would offer no option after them.
        taken = value + f":{value}" * (_FURTHER if one.several else 0)
    text = brief(one.help).replace("[", r"\[").replace("]", r"\]")
    return [_quoted(f"{excluded}{again}{flag}{_equals(flag, one)}[{text}]{taken}") for flag in one.flags]


def _equals(flag: str, one: Argument) -> str:
    """Whether a value may follow in the same word, after ``=``."""
    return "=" if one.values is not None and flag.startswith("--") else ""


def _action(one: Argument) -> str:
    values = one.values or Values()
    parts = [f"({' '.join(values.words)})"] if values.words else []
    parts += {"file": ["_files"], "directory": ["_files -/"], "": []}[values.place]
    if len(parts) < 2:
        return "".join(parts) or " "
    return f' _alternative "words:{_plainly(one.metavar)}:{parts[0]}" "files:file:{parts[1]}"'


def _plainly(text: str) -> str:
    return text.replace(":", r"\:")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
