"""The completion script of bash: one function over a table, no other program and no Python at a Tab."""

from __future__ import annotations

import shlex
from collections import defaultdict

from tools.shell.tree import Verb

NAME = "mawl.bash"

_FUNCTIONS = r"""
# Complete the word at the cursor: COMPREPLY holds what it may be.
_mawl() {
    local current=${COMP_WORDS[COMP_CWORD]} word verb='' option='' given=0 only_values='' index
    local words='' place='' several=''
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == = ]]; then
            continue # --option=value arrives as three words
        elif [[ $word == -- ]]; then
            option='' only_values=1
        elif [[ $word == -* && -z $only_values ]]; then
            option=$word given=0
        elif [[ -n $option ]] && _mawl_values "$verb" "$option" && [[ $given -eq 0 || -n $several ]]; then
            given=1
        else
            option=''
            _mawl_values "$verb" ''
            if [[ -n $verbs_follow && " $words " == *" $word "* ]]; then
                verb="${verb:+$verb }$word"
            fi
        fi
    done
    [[ $current == = ]] && current=''
    if [[ $current == -* && -z $only_values ]]; then
        words='' place=''
        _mawl_options "$verb"
    elif [[ -z $option ]] || ! _mawl_values "$verb" "$option" || [[ $given -eq 1 && -z $several ]]; then
        _mawl_values "$verb" ''
    fi
    local -a found=()
    [[ -n $words ]] && mapfile -t found < <(compgen -W "$words" -- "$current")
    COMPREPLY+=("${found[@]}")
    if [[ -n $place ]]; then
        compopt -o filenames 2>/dev/null
        if [[ $place == directory ]]; then
            mapfile -t found < <(compgen -d -- "$current")
        else
            mapfile -t found < <(compgen -f -- "$current")
        fi
        COMPREPLY+=("${found[@]}")
    fi
}
complete -F _mawl mawl
"""


def script(mawl: Verb) -> str:
    """The whole script."""
    lines = ["# Completion of mawl for bash, printed from its command line by tools/shell; do not edit.", ""]
    lines += [
        "# What the option $2 of the verb $1 takes, or without $2 what its arguments are; fails for neither."
    ]
    lines += ["_mawl_values() {", "    words='' place='' several='' verbs_follow=''", '    case "$1:$2" in']
    for (words, place, several, follow), keys in _values(mawl).items():
        lines.append(f"    {' | '.join(map(shlex.quote, keys))})")
        sets = {"words": " ".join(words), "place": place, "several": several, "verbs_follow": follow}
        lines.append(
            "        " + (" ".join(f"{name}='{text}'" for name, text in sets.items() if text) or ":")
        )
        lines.append("        ;;")
    lines += ["    *) return 1 ;;", "    esac", "}", ""]
    lines += ["# The options of the verb $1.", "_mawl_options() {", '    case "$1" in']
    for verb in mawl.all():
        flags = " ".join(flag for one in verb.options for flag in one.flags)
        lines.append(f"    {shlex.quote(' '.join(verb.words))}) words='{flags}' ;;")
    return "\n".join([*lines, "    esac", "}", *_FUNCTIONS.rstrip().splitlines()]) + "\n"


def _values(mawl: Verb) -> dict[tuple[tuple[str, ...], str, str, str], list[str]]:
    """By what may follow: the ``verb:option`` that it follows; ``verb:`` stands for the verb's arguments."""
    found: dict[tuple[tuple[str, ...], str, str, str], list[str]] = defaultdict(list)
    for verb in mawl.all():
        name = " ".join(verb.words)
        if verb.verbs:
            found[tuple(one.words[-1] for one in verb.verbs), "", "", "1"].append(f"{name}:")
        for one in verb.options:
            if one.values is not None:
                key = (one.values.words, one.values.place, "1" if one.several else "", "")
                found[key] += [f"{name}:{flag}" for flag in one.flags]
        held = [one.values for one in verb.positionals if one.values is not None]
        if held:
            words = tuple(word for one in held for word in one.words)
            places = [one.place for one in held]
            place = "file" if "file" in places else max(places)  # the way to a file leads through directories
            found[words, place, "", ""].append(f"{name}:")
    return dict(found)
