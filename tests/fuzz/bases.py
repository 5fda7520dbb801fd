"""Small folders that mutation begins from: one of each kind that mawl reads."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

import msgspec

from mawl.commands.main import main
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import inventory_of
from mawl.plan.workload import SHIPPED
from mawl.records.model.node import StorageRun
from mawl.records.spec.program_options import Options
from mawl.records.store.campaign import write_campaign
from mawl.records.store.facts import read_facts, write_facts
from mawl.records.store.files import NODES
from mawl.records.store.side_files import write_probe
from mawl.tuning.profile_files import SHIPPED as TUNING
from tests.fakes.altered_runs import node_run
from tests.fakes.campaign_runs import FakeRuns, campaign
from tests.fakes.command_outputs import collected, outputs
from tests.fakes.hostile_run import write_hostile_run
from tests.fakes.probes import disk, probe
from tests.fakes.search_runs import SearchRuns, carried_out
from tests.fakes.stored_run import write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.importers.recordings import RECORDED
from tests.importers.test_import import EIGHT, log

RUNS = ("synthetic", "killed", "hostile", "cluster", "simulated")
CAMPAIGNS = ("campaign", "search")
KINDS = {
    "synthetic": 4,
    "killed": 4,
    "hostile": 2,
    "cluster": 2,
    "simulated": 1,
    "campaign": 3,
    "search": 1,
    "imports": 4,
    "workload": 2,
    "settings": 2,
    "collection": 2,
    "array": 2,
}
"""How often each is drawn; ``killed`` has a journal, ``synthetic`` a probe, ``cluster`` settings of nodes."""

SYSTEM = """
name = "own"
[[nodes]]
count = 1
cores = 2
memory_bytes = "16GiB"
roles = { data = ["disk"], work = ["disk"], util = ["disk"] }
[devices.disk]
read_bytes_per_second = "500MB"
write_bytes_per_second = "500MB"
local = true
"""


def write_bases(folder: Path) -> Path:
    """All bases below the folder, by the names of KINDS."""
    folder.mkdir(parents=True, exist_ok=True)
    synthetic = write_synthetic_run(folder / "synthetic", jobs=12, nodes=1, seconds=30)
    write_probe(synthetic / "probe.json", probe(disk()))
    shutil.copy(SHIPPED / "nano.toml", synthetic / "plan.toml")
    write_run(folder / "killed").close()
    write_hostile_run(folder / "hostile")
    _write_cluster(folder / "cluster")
    with contextlib.redirect_stdout(io.StringIO()):
        words = ["simulate", str(folder / "killed"), "--nodes=2", "--anyway"]
        assert main([*words, "--output", str(folder / "simulated")]) == 0
    _write_campaign(folder / "campaign")
    carried_out(folder / "search", SearchRuns())
    _write_imports(folder / "imports")
    (folder / "workload").mkdir()
    for name in ("nano", "starter"):
        shutil.copy(SHIPPED / f"{name}.toml", folder / "workload" / f"{name}.toml")
    (folder / "settings").mkdir()
    (folder / "settings" / "system.toml").write_text(SYSTEM)
    shutil.copy(TUNING / "volumes.toml", folder / "settings" / "tuning.toml")
    write_probe(folder / "settings" / "probe.json", probe(disk()))
    _write_collection(folder / "collection")
    (folder / "array").mkdir()
    (folder / "array/map.toml").write_text('preset = "plain"\n[roles]\ndata = "sas.*"\n')
    (folder / "array/array.csv").write_text(ARRAY)
    (folder / "array/Nv_stats_1").write_text(COUNTERS.format(1000))
    (folder / "array/Nv_stats_2").write_text(COUNTERS.format(2000).replace(":00:00", ":01:00"))
    (folder / "array/counters.toml").write_text('preset = "spectrum-virtualize"\n')
    return folder


ARRAY = """time,volume,read MB/s,write MB/s,read IOPS,write IOPS,read latency ms,write latency ms
2026-01-01 08:00:00,sasdata,1,2,3,4,5,6
2026-01-01 08:01:00,sasdata,1,2,3,4,5,6
2026-01-01 08:02:00,sasdata,1,2,3,4,5,6
"""
COUNTERS = """<diskStatsColl id="n" timestamp="2026-01-01 08:00:00" timezone="GMT+1:00">
<vdsk id="sasdata" ro="{0}" wo="{0}" rb="{0}" wb="{0}" rl="{0}" wl="{0}"/>
</diskStatsColl>
"""


def _write_collection(folder: Path) -> None:
    """Outputs of all platforms as files of one node, without check sums: damage is to be read."""
    folder.mkdir()
    for number, made in enumerate(outputs()):
        text = collected("lpar1", made.platform, made.command, made.text)
        (folder / f"{number:02d}.txt").write_text(text)


def _write_cluster(folder: Path) -> None:
    """A run on two nodes beside a watched storage server, with the nodes' own folders."""
    write_synthetic_run(folder, jobs=12, nodes=2, seconds=30)
    facts = read_facts(folder)
    nodes = [node.name for node in facts.nodes]
    for name in nodes:
        write_synthetic_run(folder / NODES / name, jobs=6, nodes=1, seconds=30)
    server = StorageRun(node="server", run_id="server", devices=["sdb"], outcome="completed")
    runs = [node_run(name, 0.01 * number, folder=f"{NODES}/{name}") for number, name in enumerate(nodes)]
    settings = inventory_of(read_machine(), facts.volumes, facts.workload.options or Options())
    changed = {"node_runs": runs, "storage_runs": [server], "inventories": dict.fromkeys(nodes, settings)}
    write_facts(folder, msgspec.structs.replace(facts, **changed))


def _write_campaign(folder: Path) -> None:
    folder.mkdir()
    execute = FakeRuns()
    slots = []
    record = campaign(repeats=2)
    for slot in record.slots:
        name = f"{slot.position:03}-{slot.arm}"
        execute(next(arm for arm in record.arms if arm.name == slot.arm), folder / name, -1)
        slots.append(msgspec.structs.replace(slot, state="finished", folder=name, outcome="completed"))
    write_campaign(folder, msgspec.structs.replace(record, slots=slots, outcome="completed"))


def _write_imports(folder: Path) -> None:
    folder.mkdir()
    for path in RECORDED.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    (folder / "job.log").write_text(log(EIGHT, 10))
    (folder / "late.log").write_text(log(EIGHT, 30, error="it failed", host="bench1"))
