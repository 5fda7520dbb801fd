"""Networks of beds: rates of plain connections, what a bed may say, and a real one that leaves nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError
from mawl.lab import needs, transfer
from mawl.lab.bed import load_bed, shipped
from mawl.lab.calibration import NOT_AS_SAID
from mawl.lab.needs import check, needs_of
from tests.lab.leftovers import leftovers
from tests.lab.standing import CALIBRATIONS
from tests.needs import bed as require_bed

CAP = 40_000_000 + os.getpid()
NAME = f"fabric{os.getpid()}"
"""Several processes may test at once: what each leaves is looked for by its cap and its name."""
BED = f"""
name = "{NAME}"
title = "two clients of one server"
question = "Do they see the same files, and is everything gone afterwards?"
workload = "nano"
[fabric]
clients = 2
volume = "brick"
server_memory = "64MiB"
[[volumes]]
name = "brick"
size = "1GiB"
file_system = "btrfs"
cap = {{ bytes_per_second = {CAP} }}
[[arms]]
name = "one"
link = "5MB"
data = ["brick"]
work = ["brick"]
util = ["brick"]
"""


@pytest.mark.parametrize("way", ["received", "sent"])
def test_a_connection_is_measured_by_who_receives(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "SECONDS", 0.2)
    monkeypatch.setattr(transfer, "RAMP_SECONDS", 0.1)
    with transfer._Server(("127.0.0.1", 0), transfer._Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert transfer.measure("127.0.0.1", server.server_address[1], way) > 1e6
        server.shutdown()


def test_what_comes_in_the_ramp_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "RAMP_SECONDS", 3600.0)
    here, there = socket.socketpair()
    here.sendall(bytes(100_000))
    here.close()
    assert transfer.receive(there) == 0.0
    there.close()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('link = "5MB"\n', "", "arm one: expected a link of at least 1 MB/s, found None"),
        ('link = "5MB"', 'link = "fast"', "key arm one: link: expected a size"),
        ("clients = 2", "clients = 17", "fabric: expected 1 to 16 clients, found 17"),
        ('server_memory = "64MiB"', 'server_memory = "much"', "key fabric.server_memory: expected a size"),
        ('volume = "brick"\n', 'volume = "other"\n', "arm one: expected other for every role"),
        ('file_system = "btrfs"', 'file_system = "xfs"', "volume brick: expected btrfs, which takes direct"),
        ("[fabric]", "[fabrics]", "key fabrics: unknown"),
    ],
)
def test_a_bed_says_all_of_its_network(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = tmp_path / "bed.toml"
    assert old in BED
    file.write_text(BED.replace(old, new))
    with pytest.raises(InvalidFileError) as caught:
        load_bed(str(file))
    assert words in str(caught.value)


def test_a_link_without_a_fabric_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bed.toml"
    start, end = BED.index("[fabric]"), BED.index("[[volumes]]")
    file.write_text(BED[:start] + BED[end:])
    with pytest.raises(InvalidFileError, match="arm one: a link needs a fabric"):
        load_bed(str(file))


def test_only_beds_with_a_fabric_need_a_network() -> None:
    network = {"namespaces", "link rate", "glusterfs", "dask"}
    for name in shipped():
        bed = load_bed(name)
        assert (network <= set(needs_of(bed, bed.volumes))) == (bed.fabric is not None)


def test_a_missing_server_comes_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "find", lambda program: None if program in ("glusterfsd", "tc") else program)
    assert needs._lacking("glusterfsd", "glusterfs") == "glusterfsd not found; install glusterfs-server"
    assert needs._lacking("ip", "tc") == "tc not found; install iproute2"


@pytest.fixture
def bed(tmp_path: Path) -> Path:
    """The bed's file; skips where it cannot be built."""
    file = tmp_path / "bed.toml"
    file.write_text(BED)
    spec = load_bed(str(file))
    require_bed(check(needs_of(spec, spec.volumes), tmp_path / "state"))
    (tmp_path / "images").mkdir()
    return file


def lab(bed: Path, *words: str) -> subprocess.Popen[str]:
    folder = bed.parent
    return subprocess.Popen(
        [sys.executable, "-m", "mawl", "lab", *words],
        cwd=folder,
        env={
            **os.environ,
            "MAWL_LAB_STATE": str(folder / "state"),
            "MAWL_LAB_IMAGES": str(folder / "images"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def running(bed: Path) -> tuple[subprocess.Popen[str], str]:
    """A run over the bed that has begun, and what it said; a bed refused as too slow is built again."""
    said = ""
    for _ in range(CALIBRATIONS):
        ran = lab(bed, "run", str(bed))
        assert ran.stdout is not None
        for line in ran.stdout:
            said += line
            if line.startswith("running one"):
                return ran, said
        ran.wait()
        if NOT_AS_SAID not in said:
            break
    raise AssertionError(said)


def namespaces() -> list[str]:
    return [path.name for path in Path("/run/netns").glob(f"mawl-{NAME}*")]


def assert_gone(folder: Path) -> None:
    assert leftovers(folder / "state", folder / "images", cap=CAP, zram_bytes=-1) == []
    assert namespaces() == []
    assert not list(Path("/sys/fs/cgroup").glob(f"**/mawl-lab-{NAME}"))


BUILT = """
import os
import sys
from pathlib import Path
from mawl.lab.bed import load_bed
from mawl.lab.build import build, stands
from mawl.lab.state import held
bed, state = load_bed(sys.argv[1]), Path(sys.argv[2])
with held(state, bed.name):
    made = build(state, bed, bed.arms)
    assert stands(state, bed.name) is not None
    first, second = (made.fabric.inside(name) for name in made.fabric.clients)
    import subprocess
    place = made.fabric.shared / "data" / "hello"
    subprocess.run([*first, "sh", "-c", f"echo from one client > {place}"], check=True)
    print(subprocess.run([*second, "cat", place], capture_output=True, text=True, check=True).stdout.strip())
    print(place.exists(), (made.fabric.brick / "data" / "hello").exists())
    for name, block in (("odd", 100001), ("even", 65536)):
        file = made.fabric.shared / "data" / name
        write = ["dd", "if=/dev/zero", f"of={file}", f"bs={block}", "count=32", "status=none"]
        subprocess.run([*first, *write], check=True)
        subprocess.run([*second, "cmp", f"--bytes={32 * block}", file, "/dev/zero"], check=True)
    reader = subprocess.Popen([*second, "sh", "-c", f"exec 3<{file}; echo; exec sleep 60"], stdout=-1)
    reader.stdout.readline()
    served = (made.fabric.brick / "data" / "even").stat().st_ino
    server = Path("/proc") / (state / bed.name / "storage.pid").read_text().strip()
    opened = [fd.name for fd in (server / "fd").iterdir() if fd.exists() and fd.stat().st_ino == served]
    flags = [(server / "fdinfo" / name).read_text().split("flags:")[1].split()[0] for name in opened]
    reader.kill()
    print([bool(int(one, 8) & os.O_DIRECT) for one in flags])
"""


@pytest.mark.lab
def test_clients_share_files_that_nobody_else_sees_and_down_removes_all(bed: Path) -> None:
    folder = bed.parent
    ended = subprocess.run(
        [sys.executable, "-c", BUILT, bed, folder / "state"],
        env={**os.environ, "MAWL_LAB_IMAGES": str(folder / "images")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    # Past its page cache; how many pages btrfs keeps after all differs from time to time.
    assert ended.stdout.splitlines() == ["from one client", "False True", "[True]"]
    assert len(namespaces()) == 3
    down = lab(bed, "down", NAME)
    said, _ = down.communicate(timeout=120)
    assert down.returncode == 0 and f"removed network namespace mawl-{NAME}-client2" in said
    assert_gone(folder)


@pytest.mark.lab
@pytest.mark.long(minutes=1.5)
def test_a_server_that_dies_in_a_run_ends_the_run(bed: Path) -> None:
    ran, said = running(bed)
    time.sleep(2.0)
    os.kill(int((bed.parent / "state" / NAME / "storage.pid").read_text()), signal.SIGKILL)
    rest, _ = ran.communicate(timeout=150)
    assert ran.returncode == 1, said + rest
    assert "the GlusterFS process of storage ended while the bed was in use" in rest
    assert_gone(bed.parent)


@pytest.mark.lab
@pytest.mark.parametrize(
    "seconds", [1.0, *(pytest.param(one, marks=pytest.mark.long(minutes=0.5)) for one in (0.1, 4.0))]
)
def test_a_network_whose_builder_was_killed_is_gone_after_down(bed: Path, seconds: float) -> None:
    up = lab(bed, "up", str(bed))
    while not (bed.parent / "state" / f"{NAME}.json").exists():
        assert up.poll() is None, up.communicate()
        time.sleep(0.05)
    time.sleep(seconds)
    up.send_signal(signal.SIGKILL)
    up.communicate(timeout=60)
    for _ in range(2):  # and again, where there is nothing left
        down = lab(bed, "down")
        said, _ = down.communicate(timeout=120)
        assert down.returncode == 0, said
    assert_gone(bed.parent)
