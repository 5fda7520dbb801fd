"""The signature: what makes a run the mixed workload that the papers publish, row by row.

Ranges and their sources are defined here only.  docs/design/signature.md has the reasoning, and
``figures.signature`` computes the values of a run.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.records.definitions import Unit

Need = Literal["copies", "reach", "standard", "twenty sessions"]
"""What a row needs to mean something, besides the mix of programs: several jobs of a program, as the
published mixes have, bytes that really reached a device, times in proportion to the inputs (scale standard or
larger), the session count of its range."""

MIX_PROGRAMS = 19
"""The published mixes run 19 or 20 programs; a workload of fewer has no signature to compare."""

RANGE_SESSIONS = 20
"""Sessions of the runs from which the range of bytes moved is derived."""


class SignatureRow(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of the signature; ``low`` or ``high`` is None where the papers give no such bound."""

    name: str
    title: str
    unit: Unit
    low: float | None
    high: float | None
    source: str
    definition: str
    needs: tuple[Need, ...] = ()


SIGNATURE: tuple[SignatureRow, ...] = (
    SignatureRow(
        name="device_read_ratio",
        title="read share of device bytes",
        unit="ratio",
        low=0.65,
        high=0.80,
        source="printed in three papers",
        definition="Bytes read from devices over bytes read from and written to them.",
        needs=("copies", "reach"),
    ),
    SignatureRow(
        name="work_util_ratio",
        title="work + util share of I/O",
        unit="ratio",
        low=0.85,
        high=0.95,
        source="printed",
        definition="Application bytes in work and util over those in data, work and util.",
        needs=("copies",),
    ),
    SignatureRow(
        name="data_write_ratio",
        title="write share of data, 20 sessions",
        unit="ratio",
        low=0.15,
        high=0.20,
        source="derived: 80:20 reads to writes; other numbers of sessions have 0.15 to 0.22 by declaration",
        definition="Application bytes written in data over those read and written there.",
        needs=("copies", "twenty sessions"),
    ),
    SignatureRow(
        name="concurrent_jobs_per_session",
        title="mean concurrent jobs : sessions",
        unit="ratio",
        low=0.8,
        high=1.2,
        source="printed: an average of 30 tests in 30 sessions",
        definition="Mean of jobs that ran at once over the sessions of the workload.",
        needs=("standard",),
    ),
    SignatureRow(
        name="longest_per_shortest",
        title="longest : shortest program alone",
        unit="ratio",
        low=17.6,
        high=26.4,
        source="printed: 5 min to 1 h 53, about 22 : 1; about is read as within a fifth",
        definition="Real time alone of the longest program over that of the shortest.",
        needs=("standard",),
    ),
    SignatureRow(
        name="device_bytes_per_input_byte",
        title="device bytes : inputs, 20 sessions",
        unit="ratio",
        low=17.0,
        high=28.0,
        source="derived: 7.5 and 11 TB over 420 GB",
        definition="Bytes read from and written to devices over the input tables of one instance of each "
        "program.",
        needs=("copies", "reach", "twenty sessions"),
    ),
    SignatureRow(
        name="plateau_bytes_per_core_second",
        title="device bytes per busy core-second, plateau",
        unit="bytes per second",
        low=300e6,
        high=365e6,
        source="derived: 2.7 and 3.25 GB/s over 16 cores at 56 %",
        definition="Bytes read from and written to devices over core-busy seconds, both in the active phase.",
        needs=("copies", "reach", "standard"),
    ),
    SignatureRow(
        name="bytes_per_cpu_second",
        title="device bytes per CPU second, run",
        unit="bytes per second",
        low=150e6,
        high=225e6,
        source="derived: terabytes over processor minutes, which AIX scales",
        definition="Bytes read from and written to devices over user and system CPU seconds of the jobs.",
        needs=("copies", "reach", "standard"),
    ),
    SignatureRow(
        name="memory_per_job_bytes",
        title="memory per job, mean",
        unit="bytes",
        low=None,
        high=None,
        source="derived: 56 GB over 102 jobs are about 0.55 GB; for information",
        definition="Sum of the jobs' memory over the jobs that count.",
        needs=("copies", "standard"),
    ),
    SignatureRow(
        name="sequential_ratio",
        title="sequential share of bytes",
        unit="ratio",
        low=0.8,
        high=None,
        source="printed: predominately large-block, sequential",
        definition="Application bytes of sequential requests over all, in data, work and util.",
        needs=("copies",),
    ),
)
