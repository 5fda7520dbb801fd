"""All host sources of this machine, read together once a second."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from mawl.measure.control_groups import own_groups
from mawl.measure.devices import read_mounts
from mawl.measure.host.devices import Devices, Fabric, network_source
from mawl.measure.host.energy import EnergyCounters
from mawl.measure.host.files import Figures, HostSource
from mawl.measure.host.resources import Cpu, Frequency, Groups, memory_sources, pressure_sources
from mawl.measure.host.shared_storage import NFS_TYPES, Lustre, Nfs, Scale


class HostCollector:
    """Reads all sources; cheap enough for once a second (docs/design/host.md).

    ``devices`` are block devices that are reported also while idle, ``groups`` control groups made for
    the jobs: what these do not count is taken from this process's own.  ``root`` stands above ``proc``
    and ``sys``.
    """

    def __init__(
        self, devices: Collection[str] = (), groups: Sequence[Path] = (), root: Path = Path("/")
    ) -> None:
        proc, sys = root / "proc", root / "sys"
        mounts = read_mounts(proc)
        lustre = [mount for mount in mounts if mount.file_system == "lustre"]
        gpfs = [mount for mount in mounts if mount.file_system == "gpfs"]
        self._sources: list[HostSource] = [
            Cpu(proc, sys),
            *memory_sources(proc),
            *pressure_sources(proc),
            known := Devices(proc, sys, devices),
            network_source(proc),
            Fabric(sys),
            Groups([*own_groups(proc, sys), *groups]),
            Frequency(sys),
            EnergyCounters(sys),
        ]
        self._odd: dict[str, str] = {}
        self._paths = known.paths
        if any(mount.file_system in NFS_TYPES for mount in mounts):
            self._sources.append(Nfs(proc))
        if lustre:
            self._sources.append(Lustre(root, lustre))
        if gpfs:
            self._sources.append(Scale(gpfs))

    def read(self) -> Figures:
        """Series to value at this moment; what cannot be read is left out."""
        figures: Figures = {}
        for source in self._sources:
            try:
                source.read(figures)
            except (ValueError, IndexError) as error:
                # A kernel that prints something else costs its figures, never the run.
                name = type(source).__name__.lower()
                self._odd[f"host.{name}"] = f"not in the form that mawl knows ({str(error)[:80]})"
        return figures

    def reasons(self) -> dict[str, str]:
        found = dict(self._odd)
        for source in self._sources:
            found |= source.reasons()
        return found

    def remarks(self) -> list[str]:
        if not self._paths:
            return []
        return [
            f"{len(self._paths)} paths of multipath devices have no samples of their own: the devices they "
            "lead to count their requests"
        ]

    def close(self) -> None:
        for source in self._sources:
            source.close()
