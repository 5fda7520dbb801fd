"""A finished qualification whose pack every rule accepts: synthetic runs, and the answer that they give."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.qualification.gather import answer_of, core_speed_of, disturbance_of, forecast_of
from mawl.advice.validity.host import foreign_cpu_ratio
from mawl.campaigns.qualify.choice import SMOKE, plan_at
from mawl.campaigns.qualify.machine import alone_workload
from mawl.figures.view import StoredView
from mawl.plan.workload import make_plan
from mawl.records.model.qualification import Qualification, QualifyRun
from mawl.records.model.run import CacheFacts
from mawl.records.store import open_run
from mawl.records.store.campaign import write_qualification
from tests.fakes.published_run import write_published
from tests.fakes.qualifications import choice, qualification
from tests.fakes.stored_run import START

SESSIONS, SCALE = 4, 0.1
LASTED = {SESSIONS: 430.0, SESSIONS + 1: 600.0}
"""Seconds of a run by its sessions: four take 1.6 times their reference time, and five more than twice."""


def write_published_qualification(
    folder: Path, *, start: float = START, scale: float = SCALE, again_seconds: float | None = None
) -> Qualification:
    """Two calibrations, three measured runs and one of the search, which proves that four sessions fit.

    With ``again_seconds`` each program alone is made once more, and then takes that long.
    """
    kinds = [("calibration", 1, 1), ("calibration-mix", 1, SESSIONS)]
    kinds += [("measured", number, SESSIONS) for number in (1, 2, 3)]
    kinds += [("search", 1, SESSIONS + 1)]
    kinds += [] if again_seconds is None else [("calibration", 2, 1)]
    (folder / "runs").mkdir(parents=True)
    runs = []
    for place, (purpose, position, sessions) in enumerate(kinds):
        smoke = purpose.startswith("calibration")
        plan = plan_at(sessions, SMOKE if smoke else scale)
        if purpose == "calibration":
            plan = make_plan(alone_workload(), where="alone", scale=SMOKE)
        name = f"{purpose}-{position}"
        seconds = 60.0 if smoke else LASTED[sessions] + 3.0 * position
        if name == "calibration-2" and again_seconds is not None:
            seconds = again_seconds
        facts = write_published(
            folder / "runs" / name,
            start=start + 2000.0 * place,
            seconds=seconds,
            plan=plan,
            cache=CacheFacts(mode="none", input_bytes=10**9, resident_bytes=0),
            repeats=sum(one[0] == purpose for one in kinds),
        )
        view = StoredView(open_run(folder / "runs" / name))
        runs.append(
            QualifyRun(
                folder=f"runs/{name}",
                purpose=purpose,  # type: ignore[arg-type]
                position=position,
                sessions=sessions,
                state="finished",
                run_id=facts.run_id,
                outcome="completed",
                seconds=LASTED[SESSIONS],
                others_cpu_ratio=foreign_cpu_ratio(view),
                disturbance=disturbance_of(view),
            )
        )
    calibration, first = (open_run(folder / "runs" / name) for name in ("calibration-1", "measured-1"))
    plain = qualification(runs=runs)
    record = msgspec.structs.replace(
        plain,
        name=folder.name,
        choice=choice(sessions=SESSIONS, scale=scale, core_speed=core_speed_of(calibration)),
        search_forecast=forecast_of([first.path], None, SESSIONS, plain.asked.answer_bound),
    )
    record = msgspec.structs.replace(record, answer=answer_of(record, folder, AnswerBounds()))
    write_qualification(folder, record)
    return record
