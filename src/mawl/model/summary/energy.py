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

    joules: Annotated[
        Number | None, joules("Energy that the counter or meter saw in known_seconds.", WHAT_IS_COUNTED)
    ]
    mean_watts: Annotated[Number | None, watts("Its joules divided by its known_seconds.", WHAT_IS_COUNTED)]
    known_seconds: Annotated[Number | None, seconds("Time that its samples cover.", WHAT_IS_COUNTED)]
    counted: Annotated[
        bool,
        flag("Whether the run's sum includes it; a part of another domain is not included.", WHAT_IS_COUNTED),
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
        Number | None,
        seconds("Time that samples cover: the shortest among the counted domains.", WHAT_IS_COUNTED),
    ]
    joules: Annotated[
        Number | None,
        joules(
            "Energy of all machines, idle power and other programs included: sum over the counted domains.",
            WHAT_IS_COUNTED,
        ),
    ]
    mean_watts: Annotated[
        Number | None,
        watts("Mean power: sum over the counted domains, each over its known_seconds.", WHAT_IS_COUNTED),
    ]
    joules_per_job: Annotated[
        Number | None, joules("energy.joules divided by the number of jobs that count.", PER_JOB)
    ]
    domain: Annotated[dict[str, EnergyDomain], block(member="domain")]
