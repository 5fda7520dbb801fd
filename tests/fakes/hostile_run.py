"""A run whose every name is an attack on the page that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa

from mawl.records.model.records import SampleRecord
from mawl.records.model.run import NodeFacts, RunFacts, VolumeFacts, WorkloadFacts
from mawl.records.store.columns import to_table
from mawl.records.store.facts import write_facts
from mawl.records.store.parquet import write_parquet
from tests.fakes.measured_run import IDLE
from tests.fakes.stored_run import START, facts, job, steps

ATTACKS = (
    "</script><script>window.attacked=1</script>",
    '"><img src=x onerror="window.attacked=1">',
    "$$\\href{javascript:window.attacked=1}{x}$$",
    "<!--<script>",
    "{{ 7*7 }}{% raw %}",
    "@{job}{safe}",
)
"""Ends of elements, attributes, TeX (for which the plotting library would fetch a typesetter), templates."""
CONTROLS = "\x1b]0;attacked\x07\x1b[2J\x9b31m\u202e\u2028"
"""Sequences that a terminal obeys: its title, its whole screen, a colour, the direction and end of a line."""

JOBS = tuple(f"{attack} {number}" for number, attack in enumerate(ATTACKS))
SECONDS = 30.0


def hostile_facts(attacks: Sequence[str] = ATTACKS) -> RunFacts:
    """Facts whose texts are attacks."""
    first, second, third = attacks[:3]
    return facts(
        run_id=first,
        outcome_reason=second,
        workload=WorkloadFacts(name=third, title=first, sessions=4, jobs=len(JOBS), scale_name=second),
        nodes=[NodeFacts(name=first, cpu_model=second, kernel=third, cores=2, core_basis="vCPU")],
        command=["mawl", "run", first],
        planned_jobs=[],
        software={first: second},
        settings={second: first},
        volumes=[VolumeFacts(role="data", node=first, directory=second, file_system=third, reason=first)],
        remarks=list(attacks),
    )


def write_hostile_run(folder: Path, attacks: Sequence[str] = ATTACKS) -> Path:
    """The folder of the run: hostile jobs, programs, sessions, nodes, steps, reasons, series and devices."""
    folder.mkdir(parents=True)
    write_facts(folder, hostile_facts(attacks))
    jobs = [f"{attack} {number}" for number, attack in enumerate(attacks)]
    records = [
        msgspec.structs.replace(
            job("s1-1", 0.0, SECONDS),
            job=name,
            program=attack,
            session=attack,
            node=attack,
            outcome="failed" if number % 2 else "finished",
            reason=attack,
            io_remark=attack,
            submitted_at=START,
            queue_seconds=10.0 + number,
        )
        for number, (name, attack) in enumerate(zip(jobs, attacks, strict=True))
    ]
    parts = [
        msgspec.structs.replace(step, job=name, name=attack)
        for name, attack in zip(jobs, attacks, strict=True)
        for step in steps()[:2]
    ]
    tables = {
        "jobs": to_table("jobs", records),
        "steps": to_table("steps", parts),
        "events": to_table("events", []),
    }
    for name, table in tables.items():
        write_parquet(folder / f"{name}.parquet", iter([table]), name)
    write_parquet(folder / "samples.parquet", iter([_samples(attacks)]), "samples")
    return folder


def _samples(attacks: Sequence[str]) -> pa.Table:
    rates = {**IDLE, **{f"device.{attack}.read_bytes": 5e6 for attack in attacks}}
    return to_table(
        "samples",
        [
            SampleRecord(
                node=attacks[0], sampled_at=START + second, series=name, value=float(second) * float(rate)
            )
            for name, rate in rates.items()
            if not callable(rate)
            for second in range(int(SECONDS) + 1)
        ],
    )
