"""A whole probe: its targets one after another, so that none disturbs another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from mawl.model.probe import Probe
from mawl.probe.choice import ProbeChoice
from mawl.probe.place import ProbePlace
from mawl.probe.target import TargetProbe


class ProbeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to probe; ``environment`` marks fio's processes as this probe's."""

    run_id: str
    places: Sequence[ProbePlace]
    choice: ProbeChoice
    node: str
    tool: str
    created_at: float
    cores: float | None
    core_basis: str | None
    environment: Mapping[str, str]


def probe(request: ProbeRequest, says: Callable[[str], None], keep: Callable[[Probe], None]) -> Probe:
    """Probe every place; ``keep`` gets the whole after each test, ``says`` what comes next.

    An interrupt goes up, once fio is ended and its files are gone; what was kept stays.
    """
    targets = [TargetProbe(place, request.choice, request.node) for place in request.places]
    reached: list[TargetProbe] = []

    def so_far() -> Probe:
        return Probe(
            created_at=request.created_at,
            tool=request.tool,
            physical_cores=request.cores,
            core_basis=request.core_basis,
            targets=[target.record() for target in reached],
        )

    for target in targets:
        reached.append(target)
        tests = target.probing(request.run_id, request.environment, says)
        try:
            for _ in tests:
                keep(so_far())
        except KeyboardInterrupt:
            target.stopped("interrupted")
            tests.close()
            keep(so_far())
            raise
    whole = so_far()
    keep(whole)
    return whole
