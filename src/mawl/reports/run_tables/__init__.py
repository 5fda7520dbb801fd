"""All tables of a run, in the order of the reports."""

from __future__ import annotations

from mawl.reports.run_tables.jobs import CPU_ACCOUNT, PERIODS, PROGRAM_WAITS, PROGRAMS, QUEUE, QUEUED_JOBS
from mawl.reports.run_tables.nodes import ENERGY, NODES, STORAGE_SERVERS, THREADS
from mawl.reports.run_tables.roles import ROLE_DEVICES, ROLE_LATENCY, ROLES, THROUGHPUT, WINDOWS
from mawl.reports.run_tables.storage import ARRAY_VOLUMES, ARRAYS, CAPS, DEMAND, DEVICES, VOLUMES
from mawl.reports.tables import RunTable

RUN_TABLES: tuple[RunTable, ...] = (
    WINDOWS,
    PERIODS,
    THROUGHPUT,
    NODES,
    STORAGE_SERVERS,
    ROLES,
    ROLE_DEVICES,
    ROLE_LATENCY,
    VOLUMES,
    DEMAND,
    CAPS,
    ARRAYS,
    ARRAY_VOLUMES,
    PROGRAMS,
    PROGRAM_WAITS,
    QUEUE,
    QUEUED_JOBS,
    DEVICES,
    THREADS,
    ENERGY,
    CPU_ACCOUNT,
)
