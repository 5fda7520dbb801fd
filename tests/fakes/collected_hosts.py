"""Collections of the papers' systems, set as a profile recommends or left at its defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal

from mawl.importers.formats.settings.output import check_sum
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import TuningSetting
from tests.fakes.command_outputs import collected

Values = Literal["recommended", "default"]
IDENTITIES = {
    "XIV": "261120017380001B8019A072810XIV03IBMfcp",
    "FlashSystem 840": "3221360050768108FlashSystem-984003IBMfcp",
    None: "3321BSYSLBUCQ0CN08VDASD03AIXvscsi",
}


def printed(setting: TuningSetting, values: Values) -> str:
    """What its command prints where the setting has that value."""
    value = setting.recommended if values == "recommended" else setting.default
    value = value[0] if isinstance(value, list) else value
    if value is None:
        value = setting.default if setting.default is not None else "0"
    several = (setting.printed, setting.default_printed)
    text = several[values == "default"]
    return text if text and text.startswith("0x") else str(value)


def held(profile: str, values: Values, group: str) -> dict[str, str]:
    """Setting to value, of one group of a profile."""
    return {one.name: printed(one, values) for one in profiles()[profile].settings if one.group == group}


def assigned(found: Mapping[str, str]) -> str:
    return "\n".join(f"{name:>30} = {value}" for name, value in found.items())


def attributes(found: Mapping[str, str]) -> str:
    return "\n".join(f"{name:<15} {value:<60} What it is  True" for name, value in found.items())


def write(folder: Path, node: str, platform: str, files: Iterable[tuple[str, str]]) -> Path:
    """A folder as the collector of a platform leaves it."""
    folder.mkdir(parents=True)
    rows = []
    for command, text in files:
        name = f"{command.replace(' ', '_').replace('/', '_')}.txt"
        content = collected(node, platform, command, text).encode()
        (folder / name).write_bytes(content)
        rows.append(f"{check_sum(content)} {len(content)} {name}\n")
    (folder / "MANIFEST").write_text("".join(rows))
    return folder


def client(folder: Path, values: Values = "recommended", *, hybrid: bool = False) -> Path:
    """A partition on XIV alone, or with XIV (hdisk1, fcs0) and FlashSystem (hdisk2, fcs1)."""
    return write(folder, "lpar1", "aix", client_files(values, hybrid))


def client_files(values: Values, hybrid: bool) -> list[tuple[str, str]]:
    """Command and output of each file."""
    of, power = (partial(held, profile, values) for profile in ("aix-fibre-channel", "aix-power8"))
    tunables = {
        "vmo": power("virtual memory, changed") | power("virtual memory, left at default"),
        "ioo": power("I/O, changed") | power("I/O, left at default"),
        "no": power("network, changed"),
        "schedo": power("scheduler, left at default"),
    }
    disks = {"hdisk0": (None, "root disk"), "hdisk1": ("XIV", "logical disks on the client LPAR")}
    adapters = {"0": "virtual adapters at the client LPAR"}
    if hybrid:
        disks["hdisk1"] = ("XIV", "logical disks from XIV")
        disks["hdisk2"] = ("FlashSystem 840", "logical disks from FlashSystem")
        kinds = {"0": "XIV", "1": "FlashSystem"}
        adapters = {
            number: f"virtual adapters at the client LPAR for {kind}" for number, kind in kinds.items()
        }
    files = [(f"{command} -a", assigned(found)) for command, found in tunables.items()]
    limit = "unlimited" if values == "recommended" else "2000"
    files += [
        ("ulimit -a", f"time(seconds)        unlimited\nnofiles(descriptors) {limit}"),
        ("lsattr -El sys0", attributes(power("system and user limits, changed"))),
        ("lparstat -i", "Node Name : lpar1\nPartition Name : SAS_LPAR1"),
        ("smtctl", smt(power("hardware threads")["SMT"])),
        ("lspath", "\n".join(path_lines(hybrid))),
        ("lsdev -C -F 'name parent'", "\n".join(f"fscsi{number} fcs{number}" for number in adapters)),
    ]
    for disk, (kind, group) in disks.items():
        files.append((f"lsattr -El {disk}", attributes(of(group) | {"unique_id": IDENTITIES[kind]})))
    for number, group in adapters.items():
        files.append((f"lsattr -El fcs{number}", attributes(of(group))))
        files.append((f"lsattr -El fscsi{number}", attributes(of("protocol devices for FlashSystem"))))
    return files


def path_lines(hybrid: bool) -> list[str]:
    """Paths of the disks; the root disk is on virtual SCSI."""
    return ["Enabled hdisk0 vscsi0", "Enabled hdisk1 fscsi0", *["Enabled hdisk2 fscsi1"] * hybrid]


def smt(threads: str) -> str:
    """What smtctl prints for a number of hardware threads."""
    return f"This system is SMT capable.\nSMT is currently enabled.\nproc0 has {threads} SMT threads.\n"


def server(folder: Path, values: Values = "recommended", *, hybrid: bool = False) -> Path:
    """The virtual I/O server of ``client``: fcs0 carries XIV, fcs1 FlashSystem."""
    return write(folder, "vios1", "vios", server_files(values, hybrid=hybrid))


def server_files(values: Values, *, hybrid: bool) -> list[tuple[str, str]]:
    """Command and output of each file of the virtual I/O server."""
    kinds = {"0": "XIV", "1": "FlashSystem"} if hybrid else {"0": ""}
    maps, files = [], [("lsdev -C -F 'name parent'", "\n".join(f"fscsi{n} fcs{n}" for n in kinds))]
    for number, kind in kinds.items():
        group = f"physical adapters at the VIOS{f' for {kind}' if kind else ''}"
        files.append((f"lsattr -El fcs{number}", attributes(held("aix-fibre-channel", values, group))))
        maps.append(
            f"vfchost{number}      U8284.22A.0000001-V1-C2{number}                5 SAS_LPAR1      AIX\n\n"
            f"Status:LOGGED_IN\nFC name:fcs{number}                    FC loc code:U78CB.001\n"
            f"VFC client name:fcs{number}            VFC client DRC:U8284.22A\n"
        )
    root = attributes(held("aix-fibre-channel", values, "root disk"))
    return [*files, ("ioscli lsmap -all -npiv", "\n".join(maps)), ("lsattr -El hdisk0", root)]


def scale_files(values: Values, hybrid: bool) -> list[tuple[str, str]]:
    """Outputs of Spectrum Scale on the client; file system NAME lies on the storage that its key says."""
    group = "tunables, hybrid storage" if hybrid else "tunables, all on XIV"
    found = held("spectrum-scale", values, group)
    config = "\n".join(f"{name} {value}" for name, value in found.items())
    systems = {
        "sasdata": "file systems on XIV",
        "sasess": "file systems on Elastic Storage Server",
        "sasnew": "file systems on FlashSystem 9150",
    }
    if hybrid:
        systems["saswork"] = "file systems on FlashSystem"
    parts = []
    for name, one in systems.items():
        values_of = held("spectrum-scale", "recommended", one)
        rows = [("-B", "block size"), ("-j", "block allocation type"), ("-f", "sub-block size")]
        lines = [
            f" {flag}                 {values_of[key]:<24} What it is"
            for flag, key in rows
            if key in values_of
        ]
        parts.append("\n".join([f"File system attributes for /dev/{name}:", "====", *lines, ""]))
    return [
        ("mmlsconfig", f"Configuration data for cluster c:\n---------\n{config}\n"),
        ("mmlsfs all", "\n".join(parts)),
        *[(f"mmlsdisk {name}", disk_line(disk)) for name, disk, _ in DISKS if name in systems],
        ("mmlsnsd -m", "\n".join(f" {disk}  {NUMBER}   /dev/{place}    lpar1" for _, disk, place in DISKS)),
    ]


NUMBER = "0A00033659DD7C41"
DISKS = (("sasdata", "data01", "hdisk1"), ("saswork", "work01", "hdisk2"))
"""File system, its disk, and the device of it at the client."""


def disk_line(name: str) -> str:
    """A disk as mmlsdisk prints it."""
    return f"{name}       nsd         512          -1 yes      yes   ready         up           system"
