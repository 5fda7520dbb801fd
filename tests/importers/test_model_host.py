"""Each byte of a recorded host is counted once and each CPU share is its own, or the figure has a reason."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.figures.over_time import OverTime, over_time
from mawl.figures.series import RunSamples
from mawl.figures.view import StoredView
from mawl.importers.formats.sysstat_reports import Untimed
from tests.fakes.model_host import BEGAN, FORMATS, STEP, Cpu, ModelHost, Rates
from tests.fakes.model_tables import TABLES
from tests.fakes.views import plain
from tests.importers.test_import import imported

RATE = st.integers(0, 300_000)
BOTH = st.tuples(RATE, RATE)
LEAST = 10
"""Bytes, and bytes a second: what rounding may leave."""
DRIVERS = {
    "sd": ("sd{letter}", "", 8, 16),
    "vd": ("vd{letter}", "", 252, 16),
    "nvme": ("nvme{number}n1", "p", 259, 4),
}
"""Names of a disk, what joins a partition's number, major, minors from one disk to the next."""

EVERY = {**FORMATS, **TABLES}

Kernel = dict[str, tuple[str, str]]
"""Of each kernel name the number and the name that ``-p`` or ``-N`` print."""


class _Stack:
    """Devices of one host, from the bottom up: what each moved in one interval follows from the disks."""

    def __init__(self, draw: st.DrawFn, driver: str) -> None:
        self._draw = draw
        self.names: Kernel = {}
        self.parts: dict[str, list[str]] = {}
        """Of a disk its partitions."""
        self.upper: dict[str, list[str]] = {}
        """Of a mapped device those it lies on."""
        self.disks = [self._disk(driver, number) for number in range(draw(st.integers(1, 4)))]
        self._mapped = 0

    def _disk(self, driver: str, number: int) -> str:
        form, joined, major, step = DRIVERS[driver]
        name = form.format(letter="abcdef"[number], number=number)
        self.names[name] = (f"dev{major}-{number * step}", name)
        self.parts[name] = [f"{name}{joined}{part + 1}" for part in range(self._draw(st.integers(0, 2)))]
        for part, own in enumerate(self.parts[name], start=1):
            self.names[own] = (f"dev{major}-{number * step + part}", own)
        return name

    def map(self, pretty: str, below: list[str]) -> str:
        """A device of device-mapper."""
        name = f"dm-{self._mapped}"
        self.names[name] = (f"dev253-{self._mapped}", pretty)
        self._mapped += 1
        self.upper[name] = below
        return name

    def moved(self, gone: set[str]) -> Rates:
        """One interval of those that are there."""
        found: Rates = {}
        for disk in self.disks:
            if disk in gone:
                continue
            parts = [self._draw(BOTH) for _ in self.parts[disk] or [disk]]
            found[disk] = sum(r for r, _ in parts), sum(w for _, w in parts)
            found |= dict(zip(self.parts[disk], parts, strict=False))
        for name, below in self.upper.items():
            own = [found.get(one, (0, 0)) for one in below]
            if name not in gone:
                found[name] = sum(r for r, _ in own), sum(w for _, w in own)
        return found


@st.composite
def hosts(draw: st.DrawFn, *, kernel_names: bool) -> ModelHost:
    """A host with partitions, and perhaps LVM on LUKS, multipath, an array, and devices that come and go."""
    driver = draw(st.sampled_from(sorted(DRIVERS)))
    stack = _Stack(draw, driver)
    disks = list(stack.disks)
    last = (stack.parts[disks[0]] or [disks[0]])[-1]
    comes: list[str] = []
    if draw(st.booleans()):
        crypt = stack.map("luks-5ec9b8a5-58f1", [last])
        stack.map("fedora-root", [crypt])
        comes.append(stack.map("docker-8:1-1311-0f4c", [crypt]))
    if len(disks) > 2 and draw(st.booleans()):
        stack.map("mpatha", disks[1:3])
    if len(disks) > 1 and draw(st.booleans()):
        stack.upper["md127"] = [disks[1]]
        stack.names["md127"] = ("dev9-127", "md127")
    if len(disks) > 1:
        comes.append(disks[-1])
    count = draw(st.integers(3, 6))
    gone: list[set[str]] = [set() for _ in range(count)]
    for name in comes:
        first, end = sorted((draw(st.integers(0, count)), draw(st.integers(0, count))))
        for number in set(range(count)) - set(range(first, end)):
            gone[number] |= {name, *stack.parts.get(name, ())}
    moved = tuple(stack.moved(own) for own in gone)
    links, own_links = draw(_networks())
    style = "kernel" if kernel_names else draw(st.sampled_from(("kernel", "number", "pretty")))
    place = {"number": 0, "pretty": 1}.get(style)
    return ModelHost(
        cpus=draw(st.integers(1, 8)),
        disks=frozenset(disks),
        moved=moved,
        cpu=tuple(draw(_cpus()) for _ in range(count)),
        names={name: name if place is None else own[place] for name, own in stack.names.items()},
        names_tell=style != "number" or driver == "sd",
        links=links,
        own_links=own_links,
    )


@st.composite
def _networks(draw: st.DrawFn) -> tuple[Rates, frozenset[str]]:
    """Interfaces, perhaps under a bond with a VLAN, with a bridge and containers, and the loopback one."""
    own = {
        f"{draw(st.sampled_from(('eth', 'ens')))}{number}": draw(BOTH)
        for number in range(draw(st.integers(1, 3)))
    }
    found: Rates = {"lo": draw(BOTH), **own}
    if len(own) > 1 and draw(st.booleans()):
        found["bond0"] = sum(r for r, _ in own.values()), sum(s for _, s in own.values())
        found["bond0.100"] = found["bond0"]
    if draw(st.booleans()):
        found |= {"docker0": draw(BOTH), "veth1c2d3e4": draw(BOTH)}
    return found, frozenset(own)


@st.composite
def _cpus(draw: st.DrawFn) -> Cpu:
    cuts = sorted(draw(st.integers(0, 100)) for _ in range(3))
    return Cpu(cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1], 100 - cuts[2])


def recorded(host: ModelHost, form: str) -> tuple[dict[str, Any], OverTime]:
    """The summary and the rates over time of a run that is the recording of a host alone."""
    own = EVERY[form]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model1.txt"
        path.write_text(own.write(host))
        untimed = Untimed(BEGAN, 0.0, STEP) if own.untimed else None
        _, run = imported(Path(folder), path, untimed=untimed)
        span = (BEGAN + STEP, BEGAN + len(host.moved) * STEP)
        return plain(StoredView(run).summary), over_time(run.facts, RunSamples(run.samples), span)


def check(host: ModelHost, form: str) -> None:
    own = EVERY[form]
    summary, over_time = recorded(host, form)
    for way, name in enumerate(("received", "sent")):
        rates = over_time.columns.get(f"network_{name}_bytes_per_second")
        assert (rates is not None) == own.network
        if rates is not None:
            assert rates == pytest.approx(host.network_rate(way), rel=own.within, abs=LEAST)
    missing = summary["missing"]
    device = summary["io"]["device"]
    for way, name in enumerate(("read_bytes", "written_bytes")):
        if device[name] is None:
            assert missing[f"io.device.{name}"]
            assert not (own.devices and host.names_tell), missing[f"io.device.{name}"]
        else:
            assert own.devices
            assert device[name] == pytest.approx(host.bytes(way), rel=own.within, abs=LEAST)
            mean = device["run_mean"][f"{'write' if way else 'read'}_bytes_per_second"]
            rate = host.bytes(way) / STEP / len(host.moved)
            assert mean == pytest.approx(rate, rel=own.within, abs=LEAST)
    ratio = summary["host"]["cpu_busy_ratio"]
    if ratio is None:
        assert missing["host.cpu_busy_ratio"]
        assert not own.shares
        return
    assert ratio == pytest.approx(host.busy_ratio(), abs=1e-6)
    if not own.processors:
        assert summary["host"]["cpu_busy_seconds"] is None
        assert "number of processors" in missing["host.cpu_busy_seconds"]
        return
    assert summary["host"]["cpu_busy_seconds"] == pytest.approx(
        host.busy_ratio() * host.cpus * STEP * len(host.cpu), abs=1e-3
    )


@pytest.mark.parametrize("form", EVERY)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_each_byte_is_counted_once_and_each_share_of_the_processors_is_the_hosts(
    form: str, data: st.DataObject
) -> None:
    check(data.draw(hosts(kernel_names=EVERY[form].kernel_names)), form)
