"""What a bed may leave in the machine, looked for in the kernel and not in the bed's own state."""

from __future__ import annotations

import json
from pathlib import Path

from mawl.lab.devices import BED_VARIABLE
from mawl.measure.processes import marked_processes


def leftovers(directory: Path, images: Path, *, cap: int, zram_bytes: int) -> list[str]:
    """Everything that a bed with this state directory, these images, this cap and this zram size left."""
    found = [str(path) for path in directory.rglob("*") if not path.name.endswith(".lock")]
    found += [str(path) for path in images.iterdir()]
    found += [
        f"mount: {line}" for line in Path("/proc/mounts").read_text().splitlines() if str(directory) in line
    ]
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        if backing.exists() and any(str(place) in backing.read_text() for place in (directory, images)):
            found.append(f"loop: {backing}")
    for rules in Path("/sys/fs/cgroup/blkio").glob("blkio.throttle.*_device"):
        found += [f"{rules.name}: {line}" for line in rules.read_text().splitlines() if str(cap) in line]
    for size in Path("/sys/block").glob("zram*/disksize"):
        found += [f"zram: {size}"] if size.read_text().strip() == str(zram_bytes) else []
    marked = {mark: pids for mark, pids in marked_processes(BED_VARIABLE).items() if str(directory) in mark}
    return [*found, *(f"processes: {mark} {pids}" for mark, pids in marked.items())]


def of_runs(runs: Path) -> list[str]:
    """Control groups and counters of the runs in a directory."""
    ids = [json.loads(facts.read_text())["run_id"] for facts in runs.glob("*/run.json")]
    root = Path("/sys/fs/cgroup")
    found = [group for run_id in ids for group in root.glob(f"**/mawl-{run_id}")]
    return [str(left) for left in (*found, *(left for run_id in ids for left in of_run(run_id)))]


def of_run(run_id: str) -> list[Path]:
    """Counters of a run in shared memory."""
    return list(Path("/dev/shm").glob(f"*{run_id}*"))
