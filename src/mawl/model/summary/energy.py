"""Energy of the machines while the jobs ran."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, block, flag, joules, seconds, text, watts

ENERGY_PAGE = "docs/design/energy.md"
WHAT_IS_COUNTED = f"{ENERGY_PAGE}, What is counted"
PER_JOB = f"{ENERGY_PAGE}, Energy of a job"


class EnergyDomain(msgspec.Struct, kw_only=True):
    """What one counter or meter saw."""

    joules: Annotated[Number | None, joules("Energy that it counted in known_seconds.", WHAT_IS_COUNTED)]
    mean_watts: Annotated[Number | None, watts("That energy over known_seconds.", WHAT_IS_COUNTED)]
    known_seconds: Annotated[
        Number | None, seconds("How much of the time its samples cover.", WHAT_IS_COUNTED)
    ]
    counted: Annotated[
        bool,
        flag("Whether it is part of the sum; a part of another domain is not.", WHAT_IS_COUNTED),
    ]


class Energy(msgspec.Struct, kw_only=True):
    """Energy from the first start of a job to the last end, each joule counted once."""

    scope: Annotated[
        str | None,
        text(
            "What was measured: machine, processors and memory, or processors. Only equal scopes compare.",
            WHAT_IS_COUNTED,
        ),
    ]
    known_seconds: Annotated[
        Number | None, seconds("How much of the time samples cover, of the least known.", WHAT_IS_COUNTED)
    ]
    joules: Annotated[
        Number | None,
        joules(
            "Energy of all machines, other programs and idle power included, in known_seconds.",
            WHAT_IS_COUNTED,
        ),
    ]
    mean_watts: Annotated[Number | None, watts("That energy over known_seconds.", WHAT_IS_COUNTED)]
    joules_per_job: Annotated[Number | None, joules("That energy divided by the jobs that count.", PER_JOB)]
    domain: Annotated[dict[str, EnergyDomain], block(member="domain")]
