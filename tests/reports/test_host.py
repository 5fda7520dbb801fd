"""The lines about the host."""

from __future__ import annotations

from typing import Any

from mawl.records.model.run import VolumeFacts
from mawl.reports.run_tables.storage import DEVICES, MOST_DEVICES
from mawl.reports.tables import table_lines
from tests.fakes.host_run import PARTS, host_facts
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples
from tests.fakes.views import BARE, as_summary, summary_of


def lines(rates: dict[str, Rate], **changes: object) -> list[str]:
    summary: dict[str, Any] = summary_of(
        host_facts(**changes), four_jobs(60), samples=samples(60, IDLE | rates)
    )
    return table_lines(DEVICES, BARE, as_summary(summary))


def test_processors_inputs_and_the_devices_that_hold_roles_come_first() -> None:
    rates: dict[str, Rate] = {
        "device.aaa.read_bytes": 1e9,
        "device.aaa.reads": 1.0,
        "host.core_busy_seconds": 1.5,
    }
    text = "\n".join(lines(PARTS | rates))
    assert "processors 46 % busy, 10 % iowait, 4.0 % steal; cores 75 % busy" in text
    assert "pressure over the run: cpu some 0 %" in " ".join(text.split())
    assert "50 % of them in the page cache before the start, asked to be cold; x" in text
    rows = [line.split()[0] for line in text.splitlines() if line.startswith(("sd", "aaa"))]
    assert rows == ["sda", "aaa", "sdb"]
    assert "data work util  4.80 GB  2.40 GB     2.00 ms  2.00 ms      10.0 ms  10.0 ms         50 %" in text


def test_swapping_is_said_only_where_it_was() -> None:
    assert "swapped" not in "\n".join(lines(PARTS))
    text = " ".join(lines(PARTS | {"host.swap_read_bytes": 4096e3}))
    assert "swapped in 234 MiB and out 0 B" in " ".join(text.split())


def test_many_devices_are_cut_with_a_count() -> None:
    many: dict[str, Rate] = {f"device.sd{number}.read_bytes": 1e6 for number in range(20)}
    text = lines(many, volumes=[])
    assert sum(line.startswith("sd") for line in text) == MOST_DEVICES
    assert "and 13 more devices (--format json lists all)" in text


def test_roles_on_a_network_file_system_say_why_there_is_no_device() -> None:
    volumes = [
        VolumeFacts(role=role, node="bench1", directory="/x", reason="nfs4 is a network file system")
        for role in ("data", "work")
    ]
    assert "no device for data, work: nfs4 is a network file system" in lines({}, volumes=volumes)
