"""What a recording of nmon says of its machine: node facts and settings, from AAA, BBBP and LPAR."""

from __future__ import annotations

import re

from mawl.formats.nmon import Fact, NmonText
from mawl.importers.interface import HostSettings
from mawl.importers.nmon_sections import name_of
from mawl.importers.nmon_snapshot import Figures, RecordedSystem
from mawl.model.run import CoreBasis, NodeFacts, Setting

MOST_SETTINGS = 400
LONGEST_SETTING = 32 * 1024
PAGES = {"x86_64": 4096.0, "i686": 4096.0}
"""Pages of processors that have one size; others are told by ``getconf PAGESIZE`` in the recording."""

ACCOUNTING = "PURR: AIX scales the time of a processor by what its threads share; raw, nothing is adjusted"

_COLON = re.compile(r"\s*([^:]{1,60}?)\s*:\s*(.{1,200})")
_LOGICAL = re.compile(r"\s*([0-9]{1,5})")


class NmonMachine:
    """One recording's machine, line by line."""

    def __init__(self, fallback_name: str) -> None:
        self.name = fallback_name
        self.system = RecordedSystem()
        self.gmt = False
        self.interval_seconds: float | None = None
        self._kernel: str | None = None
        self._model: str | None = None
        self._told: dict[str, str] = {}
        self._configured: int | None = None
        self._settings: dict[str, str] = {}

    def fact(self, fact: Fact) -> None:
        """A line AAA."""
        name, value = fact.name.strip(), fact.value.strip()
        self._keep(f"AAA.{name}", value)
        if name == "host" and value:
            self.name = name_of(value)
        elif name == "OS":
            self._kernel = name_of(value.replace(",", " "))
            processor = value.rpartition(",")[2]
            self.system.page_bytes = self.system.page_bytes or PAGES.get(processor)
        elif name in ("AIX", "VIOS"):
            self.system.aix = True
            self._kernel = name_of(f"{name} {value}")
        elif name == "build" and value == "AIX":
            self.system.aix = True
        elif name == "gmt":
            self.gmt = True
        elif name == "hardware":
            self._model = name_of(value)
        elif name == "cpus":
            counts = [float(part) for part in value.split(",") if _LOGICAL.fullmatch(part)]
            self.system.logical_cpus = counts[-1] if counts and counts[-1] > 0 else None

    def text(self, text: NmonText) -> None:
        """A line of BBBP and the like: kept as it is; some of it is known."""
        self._keep(f"{text.section}.{name_of(text.name)}", text.text)
        if text.name == "getconf PAGESIZE" and re.fullmatch(r"[0-9]{4,6}", text.text.strip()):
            self.system.page_bytes = float(text.text)
        elif text.section == "BBBL" and text.name.strip().lower() == "smt threads":
            self._configured = _count(text.text.strip()) or None
        elif text.name in ("lscpu", "lparstat -i", "lparstat") and (match := _COLON.fullmatch(text.text)):
            self._told.setdefault(match[1], match[2].strip())

    def _keep(self, name: str, text: str) -> None:
        old = self._settings.get(name)
        if old is None and len(self._settings) >= MOST_SETTINGS:
            return
        whole = text if old is None else f"{old}\n{text}"
        if len(whole) <= LONGEST_SETTING:
            self._settings[name] = whole

    def settings(self) -> HostSettings:
        """Everything the recording holds as text, by section and command, and its accounting."""
        values: dict[str, Setting] = dict(self._settings)
        if self.system.aix:
            values["cpu_accounting"] = ACCOUNTING
        for name in ("entitled", "virtualCPUs", "logicalCPUs", "SharedCPU", "Capped"):
            if name in self.system.lpar:
                values[f"lpar.{name}"] = self.system.lpar[name]
        return HostSettings(self.name, values)

    def facts(self) -> NodeFacts:
        """The node, as far as the recording tells."""
        cores, basis, smt, virtual = self._aix() if self.system.aix else self._linux()
        logical, memory = self.system.logical_cpus, self.system.memory_bytes
        return NodeFacts(
            name=self.name,
            kernel=self._kernel,
            cpu_model=self._told.get("Model name") or self._model,
            cores=cores,
            core_basis=basis,
            memory_bytes=None if memory is None else round(memory),
            logical_cpus=None if logical is None else round(logical),
            physical_cores=cores if basis == "physical core" else None,
            smt=smt,
            virtual=virtual,
        )

    def _linux(self) -> tuple[int | None, CoreBasis | None, str | None, str | None]:
        """By lscpu: sockets times cores of bare metal, processors of a virtual machine."""
        told = self._told
        virtual = told.get("Hypervisor vendor")
        processors, sockets, each, threads = (
            _count(told.get(name))
            for name in ("CPU(s)", "Socket(s)", "Core(s) per socket", "Thread(s) per core")
        )
        smt = None if threads is None else "on" if threads > 1 else "off"
        if virtual:
            return processors, "vCPU", smt, virtual
        if sockets and each:
            return sockets * each, "physical core", smt, None
        return None, None, smt, None

    def _aix(self) -> tuple[int | None, CoreBasis | None, str | None, str | None]:
        """By LPAR, else ``lparstat -i``: a virtual processor of a dedicated partition is a core."""
        lpar, told = self.system.lpar, self._told
        whole = lpar.get("virtualCPUs") or _count(told.get("Online Virtual CPUs"))
        kind = told.get("Type", "")
        shared = lpar["SharedCPU"] == 1.0 if "SharedCPU" in lpar else kind.startswith("Shared") or None
        if shared is None and kind.startswith("Dedicated"):
            shared = False
        threads = _threads(lpar) or _count(kind.rpartition("SMT-")[2]) or self._configured
        smt = None if threads is None else f"SMT-{threads}"
        virtual = None if shared is None else f"PowerVM {'shared' if shared else 'dedicated'} processors"
        if whole is None or shared is None:
            return None, None, smt, virtual
        return round(whole), "vCPU" if shared else "physical core", smt, virtual


def _threads(lpar: Figures) -> int | None:
    """SMT threads of a virtual processor."""
    logical, virtual = lpar.get("logicalCPUs"), lpar.get("virtualCPUs")
    if not logical or not virtual or logical % virtual:
        return None
    return round(logical / virtual)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else None
