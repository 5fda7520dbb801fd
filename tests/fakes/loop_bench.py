"""The loop of a run over a fake launcher, with everything it needs, in a temporary directory."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.accounting import ProcessSampler
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import load_workload, make_plan
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES, OnFailure
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.folder import RunWriter
from mawl.records.volumes import Volumes
from mawl.run.runner.loop import Interrupts, RunLoop
from mawl.run.runner.request import Listener, RunRequest
from mawl.run.runner.sampling import Sampling
from tests.fakes.launcher import FakeLauncher
from tests.fakes.watcher import Watcher

WORKLOAD = """
name = "two"
[[sessions]]
name = "a"
stages = [["wide_sort", "segmentation"], ["wide_sort"]]
[[sessions]]
name = "b"
stages = [["segmentation"], [{ program = "segmentation", after = ["a.1.wide_sort"] }]]
"""


class Bench:
    """One loop of a workload, watched by ``watcher`` unless another listener is given."""

    def __init__(
        self,
        directory: Path,
        launcher: FakeLauncher,
        *,
        workload: str = WORKLOAD,
        listener: Listener | None = None,
        on_failure: OnFailure = "continue",
        timeout_seconds: float | None = None,
    ) -> None:
        (directory / "workload.toml").write_text(workload)
        spec, where = load_workload(str(directory / "workload.toml"))
        plan = make_plan(spec, where=where, scale=0.0005)
        self.folder = directory / "run"
        self.launcher = launcher
        self.watcher = Watcher()
        self.volumes = Volumes({role: [directory / role] for role in ROLES})
        self.volumes.ensure()
        self.volumes.claim("r1")
        self.interrupts = Interrupts()
        self.facts = RunFacts(
            run_id="r1",
            kind="measured",
            mawl_version="0",
            workload=WorkloadFacts(
                name=spec.name, title="", sessions=len(spec.sessions), jobs=len(list(plan.jobs()))
            ),
            outcome="running",
            started_at=0.0,
        )
        self.writer = RunWriter(self.folder, self.facts)
        self.loop = RunLoop(
            RunRequest(
                run_id="r1",
                folder=self.folder,
                plan=plan,
                inputs={
                    (table.name, job.scale, job.replica): directory / "input"
                    for job in plan.jobs()
                    for table in CATALOGUE[job.program].inputs
                },
                spec=RunSpec(on_failure=on_failure, timeout_seconds=timeout_seconds),
            ),
            node="n1",
            launcher=launcher,
            writer=self.writer,
            volumes=self.volumes,
            sampling=Sampling("n1", ProcessSampler()),
            listener=listener or self.watcher,
            interrupts=self.interrupts,
            monotonic=launcher.monotonic,
            now=launcher.now,
        )

    def run(self) -> dict[str, JobRecord]:
        """Run the loop to its end; the records that ``watcher`` was told of, by job."""
        with self.interrupts:
            self.loop.run()
        self.writer.finish(self.facts)
        return {record.job: record for record in self.watcher.ended}
