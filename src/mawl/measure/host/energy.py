"""Energy counters of the kernel: RAPL zones of powercap, and power meters of hwmon, read as files.

Sources: Linux Documentation/power/powercap/powercap.rst (zones, ``energy_uj``, ``max_energy_range_uj``),
Documentation/hwmon/acpi_power_meter.rst, ibmaem.rst and ibmpowernv.rst (meters of the whole machine, the
first two over ACPI or IPMI), and Documentation/hwmon/sysfs-interface.rst (microwatts and microjoules).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mawl.measure.devices import small_text
from mawl.measure.host.files import Figures, KeptFile

MICRO = 1e-6
LOOKS_BETWEEN = 5
"""A meter behind ACPI or IPMI may take milliseconds to answer, so it is asked every fifth look."""

MACHINE = "machine"
"""The first part of the names of meters that measure the whole machine."""

NO_SOURCE = (
    "the kernel of this machine shows no energy counter: no RAPL zone in /sys/class/powercap and no power "
    "meter in /sys/class/hwmon (most virtual machines have neither)"
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_NUMBER = re.compile(rb"[0-9]{1,20}\s*")


class Domain:
    """A counter or meter that the kernel shows as a file with one whole number."""

    def __init__(self, file: KeptFile) -> None:
        self._file = file
        self._odd: str | None = None

    @property
    def reason(self) -> str | None:
        return self._file.reason or self._odd

    def micro(self) -> int | None:
        """The number, of microjoules or microwatts; None once it cannot be read."""
        text = None if self._odd else self._file.read()
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            self._odd = f"{self._file.path}: not in the form that mawl knows"
            return None
        return int(text)

    def joules(self) -> float | None:
        """Joules since the first look; None if they are not known at this look."""
        raise NotImplementedError

    def close(self) -> None:
        self._file.close()


class Counter(Domain):
    """A counter of microjoules that starts again at 0 after ``largest`` (None: the range is not known)."""

    def __init__(self, file: KeptFile, largest: int | None) -> None:
        super().__init__(file)
        self._largest = largest
        self._last: int | None = None
        self._grown = 0

    def joules(self) -> float | None:
        """Joules since the first look; None if the counter cannot be read.

        A fall of more than half of the range is a wrap.  Any other fall is a reset: only what the counter
        shows since then is added.
        """
        now = self.micro()
        if now is None:
            return None
        if self._last is not None:
            gained = now - self._last
            if gained < 0:
                wrapped = self._largest is not None and -gained > self._largest / 2
                gained = max(gained + (self._largest or 0), 0) if wrapped else now
            self._grown += gained
        self._last = now
        return self._grown * MICRO


class Meter(Domain):
    """A meter of microwatts, integrated over time by the trapezoidal rule."""

    def __init__(self, file: KeptFile, clock: Callable[[], float]) -> None:
        super().__init__(file)
        self._clock = clock
        self._last: tuple[float, float] | None = None
        self._joules = 0.0
        self._looks = 0

    def joules(self) -> float | None:
        self._looks += 1
        if self._looks % LOOKS_BETWEEN != 1:
            return None
        found = self.micro()
        if found is None:
            return None
        at, watts = self._clock(), found * MICRO
        if self._last is not None:
            self._joules += (at - self._last[0]) * (watts + self._last[1]) / 2
        self._last = at, watts
        return self._joules


class EnergyCounters:
    """Source of every domain that counts energy, under ``energy.DOMAIN.joules``.

    Domains are ``package-0`` (a processor), parts of it such as ``package-0/core`` and ``package-0/dram``
    (memory, which no package contains), ``psys`` (a platform) and ``machine/NAME`` (a meter of the whole
    machine).  ``figures.energy`` decides which of them add up.  If one zone cannot be read at the
    beginning, no zone is read: the sum would be too small.
    """

    def __init__(self, sys: Path, clock: Callable[[], float] = time.monotonic) -> None:
        zones = _zones(sys / "class" / "powercap")
        for zone in zones.values():
            zone.micro()
        refused = next((zone.reason for zone in zones.values() if zone.reason), None)
        if refused is not None:
            for zone in zones.values():
                zone.close()
            zones = {}
        meters = _meters(sys / "class" / "hwmon", clock, sockets=not zones)
        self._domains: dict[str, Domain] = {**zones, **meters}
        self._reason = refused or NO_SOURCE
        if refused is not None and refused.endswith("permission denied"):
            self._reason += " (only root may read it since Linux 5.10)"

    def read(self, into: Figures) -> None:
        for name, domain in self._domains.items():
            joules = domain.joules()
            if joules is not None:
                into[f"energy.{name}.joules"] = joules

    def reasons(self) -> dict[str, str]:
        """Why no energy is known; empty where some domain was read until the end."""
        if any(domain.reason is None for domain in self._domains.values()):
            return {}
        return {
            "energy": next(
                (domain.reason for domain in self._domains.values() if domain.reason), self._reason
            )
        }

    def close(self) -> None:
        for domain in self._domains.values():
            domain.close()


def _zones(powercap: Path) -> dict[str, Counter]:
    """The RAPL zones by name; those over MMIO, the same counters, only where there are no others."""
    found = _folders(powercap, "intel-rapl:*") or _folders(powercap, "intel-rapl-mmio:*")
    names = {folder.name: name for folder in found if (name := _name(folder)) is not None}
    zones = {}
    for folder in found:
        if (name := names.get(folder.name)) is None:
            continue
        parent = names.get(folder.name.rpartition(":")[0])
        name = name if parent is None else f"{parent}/{name}"
        if name in zones:
            name = f"{name}-{folder.name.rpartition(':')[2]}"
        zones[name] = Counter(KeptFile(folder / "energy_uj"), _number(folder / "max_energy_range_uj"))
    return zones


def _meters(hwmon: Path, clock: Callable[[], float], *, sockets: bool) -> dict[str, Domain]:
    """Meters of the whole machine, and AMD's counters of ``sockets``, if there are no RAPL zones."""
    domains: dict[str, Domain] = {}
    for folder in _folders(hwmon, "hwmon*"):
        name = _name(folder) or ""
        for number, file in _meter_files(folder, name, sockets=sockets):
            label = f"package-{number}" if name == "amd_energy" else f"{MACHINE}/{name}-{folder.name[5:]}"
            label = label if label not in domains else f"{label}-{number}"
            kept = KeptFile(file)
            domains[label] = Meter(kept, clock) if file.name.startswith("power") else Counter(kept, None)
    for one in domains.values():
        one.micro()
    return {name: one for name, one in domains.items() if one.reason is None}


def _meter_files(folder: Path, name: str, *, sockets: bool) -> Iterator[tuple[int, Path]]:
    if name == "power_meter":
        for kind in ("average", "input"):
            if (folder / f"power1_{kind}").exists():
                yield 1, folder / f"power1_{kind}"
                return
    elif name.startswith("aem"):
        yield from ((1, path) for path in [folder / "energy1_input"] if path.exists())
    elif name == "ibmpowernv":
        yield from (
            (place, label.with_name(label.name.replace("_label", "_input")))
            for place, label in enumerate(sorted(folder.glob("power*_label")))
            if small_text(label) == "System"
        )
    elif name == "amd_energy" and sockets:
        texts = {label: small_text(label) or "" for label in folder.glob("energy*_label")}
        labels = {label: text for label, text in texts.items() if text.startswith("Esocket")}
        for label in sorted(labels, key=labels.__getitem__):
            yield (
                int(labels[label].removeprefix("Esocket") or 0),
                label.with_name(label.name.replace("_label", "_input")),
            )


def _folders(place: Path, pattern: str) -> list[Path]:
    try:
        return sorted(place.glob(pattern))
    except OSError:
        return []


def _name(folder: Path) -> str | None:
    """The name of a zone or device; None if the kernel gives no name in the usual form."""
    text = small_text(folder / "name")
    return text if text and _NAME.fullmatch(text) else None


def _number(path: Path) -> int | None:
    text = small_text(path) or ""
    return int(text) if text.isascii() and text.isdigit() else None
