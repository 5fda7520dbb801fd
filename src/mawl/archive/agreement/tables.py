"""The records of a run, put together once for all checks of their agreement."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from mawl.analysis.view import StoredView
from mawl.model.records import EventRecord, JobRecord, StepRecord
from mawl.model.run import RunFacts


class RunRecords:
    """The facts and records of one run.  Properties raise what reading a table raises."""

    def __init__(self, view: StoredView) -> None:
        self.run = view.run
        self.facts: RunFacts = view.facts
        self.jobs: list[JobRecord] = view.jobs

    @cached_property
    def by_name(self) -> dict[str, JobRecord]:
        """The jobs by name; of two of one name the last."""
        return {job.job: job for job in self.jobs}

    @cached_property
    def finished(self) -> list[JobRecord]:
        """The jobs that finished, whose records are whole."""
        return [job for job in self.jobs if job.outcome == "finished"]

    @cached_property
    def steps(self) -> dict[str, list[StepRecord]]:
        """Steps by job, in the table's order."""
        return self.run.steps_by_job()

    @cached_property
    def events(self) -> list[EventRecord]:
        """The events of the run."""
        return self.run.event_records()

    def series(self, name: str) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Of a series of the samples: node to times (seconds since the epoch) and values, in the table's
        order."""
        table = self.run.samples
        rows = table.filter(compute.equal(table["series"], name))
        found = {}
        for node in compute.unique(rows["node"]).to_pylist():
            own = rows.filter(compute.equal(rows["node"], node))
            times = own["sampled_at"].cast(pa.int64()).to_numpy() / 1e6
            found[node] = (times, own["value"].to_numpy())
        return found
