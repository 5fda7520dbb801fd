"""Host figures into the samples of a run."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.host.collector import HostCollector
from mawl.model.series_metrics import SERIES_METRICS, defined
from mawl.runner.host_sampling import HostSampling
from mawl.store import open_run
from mawl.store.folder import RunWriter
from tests.fakes.stored_run import facts
from tests.fakes.tree import plant
from tests.measure.host.test_collector import MACHINE


def test_every_series_of_a_look_is_a_row_and_is_defined(tmp_path: Path) -> None:
    plant(tmp_path, MACHINE)
    collector = HostCollector(root=tmp_path)
    writer = RunWriter(tmp_path / "run", facts())
    sampling = HostSampling("n1", collector, writer)
    sampling.look(100.0)
    plant(tmp_path, {"proc/stat": MACHINE["proc/stat"].replace("ctxt 21708031", "ctxt 21708099")})
    sampling.look(101.0)
    writer.finish(facts())
    collector.close()
    rows = open_run(tmp_path / "run").samples.to_pylist()
    switches = [row["value"] for row in rows if row["series"] == "host.context_switches"]
    assert switches == [21708031, 21708099]
    assert {row["node"] for row in rows} == {"n1"}
    assert [row["series"] for row in rows if defined(row["series"]) is None] == []


def test_a_series_is_found_in_the_registry_by_its_kind() -> None:
    assert defined("device.dm-0.reads") == "device.*.reads"
    assert defined("mount./data.v2/x.read_bytes") == "mount.*.read_bytes"
    assert defined("host.runnable") == "host.runnable"
    assert defined("jobs_running") is None
    names = [metric.name for metric in SERIES_METRICS]
    assert len(names) == len(set(names))
