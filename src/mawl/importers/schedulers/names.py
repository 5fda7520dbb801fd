"""The names of a job in the history of its scheduler and in its log, in one spelling."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from mawl.importers.sas_jobs import DIGITS_OF_A_DATE, program_of, stem

MOST_OF_A_COMMAND = 20
LONGEST_COMMAND = 10_000
MOST_ENDS = 9
"""The most numbers at the end of the name of a log that are tried as a date."""

_SCRIPT = re.compile(r"\.(?:sas|sh|bash|ksh|csh|bat|cmd|ps1)$", re.IGNORECASE)
_ELEMENTS = re.compile(r"\[[0-9,:%\- ]{0,200}\]$")
_BETWEEN = re.compile(r"[\s\"'=;|&<>]+")
_OTHERS = re.compile(r"[\W_]+")


class Sought(NamedTuple):
    """A name to look for, and the number that the job must have (empty: any)."""

    name: str
    number: str


def spelled(name: str) -> str:
    """A name without the signs in which names of jobs and of files differ."""
    return _OTHERS.sub("_", name.casefold()).strip("_")


@lru_cache(4096)
def names_of(name: str, command: str) -> tuple[str, ...]:
    """The spelled names of a job of a scheduler.

    These are its name (only the last part of it, if a flow or a path precedes) and the programs and logs of
    SAS in its command; each also without a date at its end.
    """
    words = _BETWEEN.split(command[:LONGEST_COMMAND])
    files = [word for word in words if word.lower().endswith((".sas", ".log"))][:MOST_OF_A_COMMAND]
    found = [_last_part(one) for one in (_ELEMENTS.sub("", name.strip()), *files)]
    forms = dict.fromkeys(spelled(form) for one in found for form in (one, program_of(one)))
    return tuple(form for form in forms if form)


def names_of_log(file: str, program: str) -> list[list[Sought]]:
    """The names of the jobs that a log may be of: lists of equally sure names, the surest list first.

    The first list has the name of the file, whole or as a name and a number of the job.  The next ones have
    that name without a date at its end, the shortest end first.  The last one has the program.
    """
    stem_ = spelled(PurePath(stem(file)).name)
    parts = stem_.split("_")
    cuts = [("_".join(parts[:-count]), parts[-count:]) for count in range(1, min(len(parts), MOST_ENDS + 1))]
    sought = [[Sought(stem_, ""), *(Sought(name, "_".join(end)) for name, end in cuts[:2])]]
    for name, end in cuts:
        if not all(map(str.isdecimal, end)):
            break
        if sum(map(len, end)) >= DIGITS_OF_A_DATE:
            sought.append([Sought(name, "")])
    return [*sought, [Sought(spelled(program), "")]]


def _last_part(name: str) -> str:
    """``load`` of ``17:sas:nightly:load``, of ``/shop/load.sas`` and of ``load.log``."""
    return _SCRIPT.sub("", stem(re.split(r"[/\\:]", name)[-1]))
