"""Names and version of the run folder's parts (docs/design/run-folder.md).

History of the format
  1.0  first: run.json, plan.toml, journal/, jobs, steps, events and samples as Parquet
  1.1  jobs and steps: I/O by role, waits; jobs: counted bytes, io_remark;
       run.json: volumes, cache, sockets and threads of nodes; samples: series of the host
  1.2  jobs and steps: direct_read_bytes, direct_written_bytes; jobs: bytes by volume;
       run.json: option direct, volume_order, space of the volumes, compressibility; samples: their used bytes
       imported runs: run.json: sources; jobs and steps: unsplit_cpu_seconds; steps: variables_written,
       kind view, times may be null (a log without timestamps); jobs: class unknown;
       run.json: inventories
  1.3  run.json: node_runs, same_machine_as of nodes; nodes/NAME: the run folders of a run on several nodes
  1.4  run.json: campaign, and repeats of the runs of a finished campaign; storage_runs,
       link_bytes_per_second; samples of storage servers beside those of nodes
  2.0  jobs and steps: own_read_bytes and charged_written_bytes (device_read_bytes and device_written_bytes
       before), series of the samples alike;
       run.json: dirty, what memory held of writes at the gate and at the end; runs of the times alone,
       with their waits
  2.1  run.json: spec, what was asked of the run, whole; option queue_depth (1 in older folders);
       jobs: private_memory_bytes
  2.2  steps: notes, what a SAS log tells of tables, sorts and indexes;
       arrays.json: statistics of storage arrays; derived.json: the derived jobs of the plan
  2.3  run.json: source_sha256, the digest of the code that wrote the run;
       samples: series of energy
  2.4  run.json: caps of the volumes, what control groups let the run move at their devices
  2.5  jobs: submitted_at, queue_seconds, of an imported job, from the history of its scheduler;
       steps: kind nested, of SAS logs; run.json: cpu_quota of nodes

A minor version adds fields; older readers ignore them.  A major version changes what is there:
it needs a step in :mod:`mawl.store.upgrades`, and older readers refuse it.
"""

from __future__ import annotations

FORMAT_VERSION = "2.5"

FACTS = "run.json"
QUALIFICATION = "qualify.json"
PLAN = "plan.toml"
LOGS = "logs"
OWN_LOG, KEPT_LOG = ".saslog", ".sas.log"
"""After a job's name in logs: the log that mawl writes of it, and the log of a command that is SAS."""
PROBE = "probe.json"
ARRAYS = "arrays.json"
LATEST = "latest"
NODES = "nodes"
"""Of a run on several nodes: their own run folders, by name."""

JOURNAL = "journal"
COMPACTED = "journal.compacted"
"""The journal's name once all tables are in place, while it is being removed."""

SAMPLES_STREAM = "samples.arrows"
JOURNAL_FILES = ("events.jsonl", "jobs.jsonl", "steps.jsonl", SAMPLES_STREAM)

TABLES = ("jobs", "steps", "events", "samples")

LARGEST_FACTS_BYTES = 64 * 2**20
MOST_FACTS_PARTS = 4_000_000
LARGEST_LINE_BYTES = 2**20
LARGEST_LINES_BYTES = 4 * 2**30
MOST_BAD_LINES = 10_000
MOST_ROWS = {"jobs": 10**6, "steps": 10**7, "events": 10**7, "samples": 4 * 10**8}
"""Bounds on what a reader takes from a folder of unknown origin; :mod:`mawl.store.budget` has those that
depend on the size of a file."""

LARGEST_NUMBER = 1e30
"""The largest number, of either sign, that a figure may have: sums and products of such stay finite."""


def major(version: str) -> int:
    """The major number of ``MAJOR.MINOR``; ValueError for anything else."""
    first, _, second = version.partition(".")
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        raise ValueError(version)
    return int(first)
