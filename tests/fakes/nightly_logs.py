"""SAS logs of a batch that runs every night: programs with steps in their level, nights that are missing."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from mawl.records.model.records import JobRecord
from tests.fakes.stored_run import job
from tests.importers.test_import import log, write

MINUTES: Mapping[str, float] = {
    "load_customers": 22, "load_sales": 48, "load_stock": 17, "load_ledger": 30, "sort_sales": 25,
    "join_sales": 66, "score_customers": 41, "fit_forecast": 95, "month_summary": 12, "risk_matrix": 74,
    "web_sessions": 37, "price_index": 9, "mail_campaign": 6, "close_books": 15,
}  # fmt: skip
"""Programs of the batch, with the usual minutes of their job; they start every 25 minutes."""
SPREAD = 0.05
"""Standard deviation of the logarithm of a job's real time from night to night."""


def nightly(
    folder: Path,
    first: datetime,
    nights: int,
    *,
    zone: tzinfo,
    programs: Mapping[str, float] = MINUTES,
    steps: Mapping[str, tuple[int, float]] | None = None,
    without: Collection[int] = (),
    slow: Mapping[int, float] | None = None,
    seed: int = 7,
) -> Path:
    """A log for each program and night, by the wall clock of ``zone`` (logs name no zone).

    ``steps`` gives a program a factor from a night on, ``slow`` all programs of one night; nights in
    ``without`` have no logs.  Each log is named by its program and the date on which the night begins.
    """
    draw = random.Random(seed)
    logs = {}
    for night in range(nights):
        begins = first + timedelta(days=night)
        for place, (program, minutes) in enumerate(programs.items()):
            at, factor = (steps or {}).get(program, (nights, 1.0))
            seconds = 60 * minutes * draw.lognormvariate(0.0, SPREAD) * (slow or {}).get(night, 1.0)
            seconds *= factor if night >= at else 1.0
            start = (begins + timedelta(minutes=25 * place)).replace(tzinfo=zone)
            end = datetime.fromtimestamp(start.timestamp() + seconds, zone)
            # ``log`` reckons back from the end, which a clock shows in its own hours.
            shown = end.replace(tzinfo=None) - timedelta(seconds=seconds)
            if night not in without:
                logs[f"{program}_{begins:%Y%m%d}"] = log(shown, round(seconds, 2))
    folder.parent.mkdir(parents=True, exist_ok=True)
    return write(folder, **logs)


def logged_job(
    program: str, started_at: float | None, ended_at: float | None, **changes: object
) -> JobRecord:
    """A finished job of a program as a log tells it; times are seconds since the epoch."""
    values: dict[str, object] = {
        "job": f"{program}-{started_at}",
        "program": program,
        "started_at": started_at,
        "ended_at": ended_at,
        **changes,
    }
    return job("s1-1", 0.0, 1.0, **values)
