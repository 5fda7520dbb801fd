"""Records of qualifications as the engine leaves them."""

from __future__ import annotations

import msgspec

from mawl.records.model.campaign import CampaignMachine
from mawl.records.model.qualification import (
    Asked,
    Decision,
    Expected,
    Fits,
    Phase,
    PhaseName,
    Qualification,
    QualificationChoice,
    QualifyRun,
)

SECONDS: dict[PhaseName, float] = {
    "doctor": 1.0,
    "probe": 60.0,
    "calibration": 20.0,
    "choice": 1.0,
    "inputs": 30.0,
    "runs": 500.0,
}


def choice(**changes: object) -> QualificationChoice:
    """Eight sessions without the page cache, forecast as carried."""
    made = QualificationChoice(
        sessions=8,
        jobs=35,
        cores=6,
        core_speed=1.0,
        scale=0.002,
        cache="none",
        repeats=3,
        input_bytes=2_000_000_000,
        space_bytes=9_000_000_000,
        memory_bytes=4_000_000_000,
        moved_bytes=20_000_000_000,
        phase_seconds=dict(SECONDS),
        run_seconds=130.0,
        active_seconds=110.0,
        read_reach_ratio=0.97,
        write_reach_ratio=1.0,
        expected=Expected(
            answer="carried", probability=0.8, slowdown=1.5, slowdown_low=1.1, slowdown_high=2.1
        ),
        decisions=[Decision(what="sessions", value="8", why="1.25 a core, as published")],
    )
    return msgspec.structs.replace(made, **changes)


def finished_run(purpose: str, position: int, sessions: int, **changes: object) -> QualifyRun:
    """A run that came to its end, or what is changed of it."""
    run = QualifyRun(
        folder=f"runs/{purpose}-{position}",
        purpose=purpose,  # type: ignore[arg-type]
        position=position,
        sessions=sessions,
        state="finished",
        run_id=f"{purpose}-{position}",
        outcome="completed",
        seconds=100.0,
    )
    return msgspec.structs.replace(run, **changes)


def qualification(**changes: object) -> Qualification:
    """Every phase done: three measured runs, two of the search; no answer yet."""
    phases = [
        Phase(name=name, state="done", began_at=1.7e9, seconds=seconds) for name, seconds in SECONDS.items()
    ]
    runs = [
        finished_run(purpose, position, sessions)
        for purpose, positions in (
            ("measured", [(1, 8), (2, 8), (3, 8)]),
            ("search", [(1, 10), (2, 11)]),
        )
        for position, sessions in positions
    ]
    made = Qualification(
        name="qualify-20260101-120000-abcd",
        created_at=1.7e9,
        outcome="finished",
        mawl_version="0.1.0",
        machine=CampaignMachine(name="vm", cpu_model="a CPU", cores=6),
        directory="/home/user",
        asked=Asked(
            roles={"data": ["/mnt/a"], "work": ["/mnt/b/mawl-work"], "util": ["/mnt/b/mawl-util"]},
            minutes=30.0,
        ),
        phases=phases,
        choice=choice(),
        runs=runs,
        search_forecast=Fits(sessions=10, low=9, high=12),
    )
    return msgspec.structs.replace(made, **changes)
