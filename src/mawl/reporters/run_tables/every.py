"""All tables of a run, in the order of the reports."""

from __future__ import annotations

from mawl.reporters.run_tables.array_volumes import ARRAY_VOLUMES
from mawl.reporters.run_tables.arrays import ARRAYS
from mawl.reporters.run_tables.caps import CAPS
from mawl.reporters.run_tables.cpu_account import CPU_ACCOUNT
from mawl.reporters.run_tables.demand import DEMAND
from mawl.reporters.run_tables.devices import DEVICES
from mawl.reporters.run_tables.energy import ENERGY
from mawl.reporters.run_tables.nodes import NODES
from mawl.reporters.run_tables.periods import PERIODS
from mawl.reporters.run_tables.program_waits import PROGRAM_WAITS
from mawl.reporters.run_tables.programs import PROGRAMS
from mawl.reporters.run_tables.queue import QUEUE, QUEUED_JOBS
from mawl.reporters.run_tables.role_devices import ROLE_DEVICES
from mawl.reporters.run_tables.role_latency import ROLE_LATENCY
from mawl.reporters.run_tables.roles import ROLES
from mawl.reporters.run_tables.storage_servers import STORAGE_SERVERS
from mawl.reporters.run_tables.threads import THREADS
from mawl.reporters.run_tables.throughput import THROUGHPUT
from mawl.reporters.run_tables.volumes import VOLUMES
from mawl.reporters.run_tables.windows import WINDOWS
from mawl.reporters.table import RunTable

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
