"""What clouds publish of their machines and volumes, and an offer that names them as plain figures.

``instances.toml`` and ``volumes.toml`` have the figures as the vendors print them (MB/s or MiB/s), each with
source, date and confidence.  A figure that is not there was not found; nothing is estimated.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.foreign import toml_tree
from mawl.base.units import counted_noun, format_rate, format_seconds
from mawl.reports.document import TEXT, Document, Headline, Part, Sentences, Table, capital
from mawl.reports.layout import ABSENT

MB, MIB, GIB = 1e6, 2.0**20, 2.0**30
LOCAL = "local"
"""The name that an offer gives the drives inside of a machine."""
BURST_SECONDS = 1800.0
"""How long a full credit lasts at the highest rate, by the vendors' pages: of EBS-optimised instances (once
in 24 hours), of Azure's machines and of its premium disks up to P20."""

Way = Literal["read", "write"]
Row = Mapping[str, Any]


@cache
def _table(name: str) -> Mapping[str, Any]:
    return toml_tree(resources.files(__package__).joinpath(f"{name}.toml").read_text())


@cache
def instances() -> dict[str, Row]:
    """The rows of instance types by name; where the interface of the volumes matters, with that."""
    rows = _table("instances")["instances"]
    named = Counter(row["name"] for row in rows)
    return {
        row["name"] if named[row["name"]] == 1 else f"{row['name']} {row['interface']}": row for row in rows
    }


@cache
def volumes() -> dict[str, Row]:
    """The rows of volume types by name; what a source warns not to use as current is left out."""
    return {row["name"]: row for row in _table("volumes")["volumes"] if "OLD" not in row["name"]}


def standing(row: Row, table: str) -> str:
    """How sure the sources of a row are, in their words: ``primary``, or each that is less than that."""
    sources = _table(table)["sources"]
    words = [str(sources[name].get("confidence", "not graded")).partition(",")[0] for name in row["sources"]]
    return "; ".join(word for word in dict.fromkeys(words) if word != "primary") or "primary"


def retrieved(table: str) -> str:
    """The day on which the sources were read."""
    return str(_table(table)["retrieved"])


class Bought(NamedTuple):
    """What an offer says of a volume: its size, and the rate and requests that are bought apart from it."""

    name: str
    size_bytes: float | None
    bytes_per_second: float | None
    requests_per_second: float | None


class VolumeCaps(NamedTuple):
    """Caps of a volume on an instance; ``said`` are sentences on what binds.

    ``link`` is what the instance moves to all its volumes of that kind together.
    """

    read: float
    write: float
    shared: float | None
    requests: float | None
    local: bool
    said: list[str]
    link: float | None = None


def instance_named(name: str, where: str) -> Row:
    """The row of an instance type; ``InvalidFileError`` with the nearest names for an unknown one."""
    if name not in instances():
        start = name.partition(".")[0]
        near = [known for known in instances() if known.partition(".")[0] == start or name in known][:5]
        cure = f"one of {', '.join(near)}" if near else "see mawl size --catalogue, or write its figures"
        raise InvalidFileError(f"instance {name!r} is not in mawl's catalogue", where=where, cure=cure)
    return instances()[name]


def cores_of(row: Row, basis: str | None, where: str) -> float:
    """Cores as the run counts them: vCPUs, or physical cores where the catalogue has these."""
    if basis == "vCPU":
        return float(row["vcpus"])
    if "cores" not in row:
        raise InvalidFileError(
            f"the catalogue has no physical cores of {row['name']}",
            where=where,
            why="the run counted physical cores, not vCPUs",
            cure="write cores of this candidate yourself",
        )
    return float(row["cores"])


def link_of(row: Row) -> float | None:
    """What a machine moves to block volumes at its base rate, bytes per second; None if not known."""
    return None if "block_base_mb_s" not in row else row["block_base_mb_s"] * MB


def network_of(row: Row) -> float | None:
    """What a machine moves over its network at its base rate, bytes per second; None if not known."""
    return None if "network_base_gbit_s" not in row else row["network_base_gbit_s"] * 1e9 / 8.0


def instance_said(row: Row) -> list[str]:
    """What the catalogue says of an instance type beyond its base rates."""
    base, burst = row.get("block_base_mb_s"), row.get("block_burst_mb_s")
    name = row["name"]
    said = [f"{name}: caps of its network volumes are not in the catalogue"] if base is None else []
    if base is not None and burst is not None and burst > base:
        said.append(f"{name}: {_burst(base * MB, burst * MB)}")
    return said


def _burst(base: float, burst: float) -> str:
    """When a credit ends: a full one lasts 30 minutes at the highest rate, longer at less."""
    half = (base + burst) / 2.0
    return (
        f"forecast at its base rate of {format_rate(base)}; credit lets it move {format_rate(burst)} for "
        f"{format_seconds(credit_seconds(base, burst, burst) or 0.0)}, or {format_rate(half)} for "
        f"{format_seconds(credit_seconds(base, burst, half) or 0.0)}, from a full credit"
    )


def credit_seconds(base: float, burst: float, rate: float) -> float | None:
    """After how long a full credit ends at a rate; None where it does not: ``rate`` is the base or less.

    The bucket holds what the highest rate takes beyond the base in ``BURST_SECONDS``.
    """
    return None if rate <= base else BURST_SECONDS * (burst - base) / (rate - base)


def volume_caps(bought: Bought, instance: Row | None, where: str) -> VolumeCaps:
    """The lower of the caps of a volume and of its instance; ``InvalidFileError`` for what is not there."""
    if bought.name == LOCAL:
        return _local_drives(instance, where)
    if bought.name not in volumes():
        cloud = None if instance is None else instance["cloud"]
        names = [name for name, row in volumes().items() if cloud in (None, row["cloud"])]
        raise InvalidFileError(
            f"volume {bought.name!r} is not in mawl's catalogue",
            where=where,
            cure=f"one of {', '.join(names[:12])}; mawl size --catalogue lists all",
        )
    row, said = volumes()[bought.name], list[str]()
    read, write = _rate(row, bought, "read", where), _rate(row, bought, "write", where)
    requests = _requests(row, bought, where)
    if bought.bytes_per_second or bought.requests_per_second:
        said += [f"{bought.name}: {rule}" for rule in row.get("rules", []) if isinstance(rule, str)]
    if "burst_mb_s" in row and str(row.get("burst", "")).startswith("credits"):
        said.append(f"{bought.name}: {_burst(row['base_mb_s'] * MB, row['burst_mb_s'] * MB)}")
    is_block = str(row["kind"]).startswith("block")
    if instance is None or not is_block:
        network = None if instance is None else network_of(instance)
        return VolumeCaps(read, write, _shared(row, read, write), requests, False, said, network)
    both, cap = _instance_caps(row, instance)
    for way, rate in (("read", read), ("write", write)):
        if cap[way] < rate:
            said.append(f"{bought.name}: {instance['name']} {way}s at most {format_rate(cap[way])} of it")
    kind = bought.name.replace("-", "_")
    most = (instance.get("block_base_iops"), instance.get(f"{kind}_iops"), requests)
    return VolumeCaps(
        min(read, cap["read"]),
        min(write, cap["write"]),
        _shared(row, min(read, cap["read"]), min(write, cap["write"])),
        min((float(number) for number in most if number is not None), default=None),
        False,
        said,
        both,
    )


def _shared(row: Row, read: float, write: float) -> float | None:
    """What a block volume of AWS or Azure moves in both directions together, which its one rate bounds.

    None for others: no source that was read says whether their reads and writes share a rate.
    """
    one_rate = str(row["kind"]).startswith("block") and row["cloud"] in ("aws", "azure")
    return max(read, write) if one_rate else None


def _instance_caps(volume: Row, instance: Row) -> tuple[float | None, dict[str, float]]:
    """What an instance moves of a kind of volume, both directions together and each; bytes per second.

    Google's caps are by the type of the disk and the direction, and Azure's are higher for its newer types.
    """
    both, kind = link_of(instance), volume["name"].replace("-", "_")
    if kind in ("ultra_disk", "premium_ssd_v2") and "block_ultra_v2_mb_s" in instance:
        both = instance["block_ultra_v2_mb_s"] * MB
    caps = {way: instance.get(f"{kind}_{way}_mib_s") for way in ("read", "write")}
    each = math.inf if both is None else both
    return both, {way: each if cap is None else cap * MIB for way, cap in caps.items()}


def _local_drives(instance: Row | None, where: str) -> VolumeCaps:
    if instance is None:
        raise InvalidFileError(
            "local drives need an instance", where=where, cure="name the candidate's instance"
        )
    for read, write, unit in (
        ("nvme_read_mb_s", "nvme_write_mb_s", MB),
        ("temp_read_mb_s", "temp_write_mb_s", MB),
        ("local_ssd_read_mib_s", "local_ssd_write_mib_s", MIB),
    ):
        if read in instance and write in instance:
            basis = instance.get("nvme_basis", "published")
            said = [f"{instance['name']}: rates of its local drives: {basis}"]
            return VolumeCaps(instance[read] * unit, instance[write] * unit, None, None, True, said)
    raise InvalidFileError(
        f"the catalogue has no rates of local drives of {instance['name']}",
        where=where,
        cure="write read_bytes_per_second and write_bytes_per_second yourself",
    )


def _rate(row: Row, bought: Bought, way: Way, where: str) -> float:
    """Bytes per second: what was bought, else by size, else the base rate; never more than the highest."""
    most = _first(row, (("max_mib_s", MIB), ("max_mb_s", MB), ("client_mib_s", MIB)))
    if bought.bytes_per_second is not None:
        if most is not None and bought.bytes_per_second > most:
            raise InvalidFileError(
                f"{row['name']} moves at most {format_rate(most)}",
                where=where,
                why=f"{format_rate(bought.bytes_per_second)} are asked for",
                cure="write a rate that can be bought",
            )
        return bought.bytes_per_second
    rate = _by_size(row, bought, way, where)
    if rate is None:
        bases = ((f"{way}_gib_s", GIB), ("base_mb_s", MB), ("base_mib_s", MIB), ("low_mib_s", MIB))
        rate = _first(row, bases)
    if rate is None:
        highest = "" if most is None else f", only that it can have {format_rate(most)}"
        raise InvalidFileError(
            f"the catalogue does not say what {row['name']} moves{highest}",
            where=where,
            cure='write the rate that you buy: bytes_per_second = "500MB"',
        )
    return rate if most is None else min(rate, most)


BY_SIZE: tuple[tuple[str, float, float], ...] = (
    ("disk_{way}_mb_s_per_tib", MB, 2.0**40),
    ("disk_base_mb_s_per_tib", MB, 2.0**40),
    ("{way}_mib_s_per_tib", MIB, 2.0**40),
    ("mib_s_per_tib", MIB, 2.0**40),
    ("mb_s_per_tib", MB, 2.0**40),
    ("base_mib_s_per_tib", MIB, 2.0**40),
    ("base_mb_s_per_tb", MB, 1e12),
    ("mib_s_per_gib", MIB, GIB),
    ("kb_s_per_gb", 1e3, 1e9),
)
"""Figures that grow with the size: key, unit of the rate, unit of the size."""


def _by_size(row: Row, bought: Bought, way: Way, where: str) -> float | None:
    for key, unit, of in BY_SIZE:
        rate = row.get(key.format(way=way))
        if rate is not None:
            size = _size(row, bought, where)
            return float(rate * unit * size / of + row.get("base_mib_s_per_vm", 0.0) * MIB)
    return None


def _size(row: Row, bought: Bought, where: str) -> float:
    if bought.size_bytes is None:
        raise InvalidFileError(
            f"what {row['name']} does depends on its size", where=where, cure='write it: size = "1TiB"'
        )
    return bought.size_bytes


def _requests(row: Row, bought: Bought, where: str) -> float | None:
    most = row.get("max_iops")
    if bought.requests_per_second is not None:
        if most is not None and bought.requests_per_second > most:
            raise InvalidFileError(
                f"{row['name']} has at most {most} requests per second, "
                f"found {bought.requests_per_second:.0f}",
                where=where,
            )
        return bought.requests_per_second
    for key, of in (("iops_per_gib", GIB), ("read_iops_per_gib", GIB), ("iops_per_gb", 1e9)):
        if key in row:
            found = row[key] * _size(row, bought, where) / of + row.get("base_iops_per_vm", 0.0)
            return float(found if most is None else min(found, most))
    base = row.get("base_iops")
    return None if base is None else float(base)


def _first(row: Row, keys: tuple[tuple[str, float], ...]) -> float | None:
    return next((float(row[key] * unit) for key, unit in keys if key in row), None)


def document(word: str) -> Document:
    """The rows whose name or cloud has ``word``, and where their figures come from.

    Raises ``UsageError`` where none has it.
    """
    word = word.lower()
    machines = {name: row for name, row in instances().items() if word in f"{row['cloud']} {name}".lower()}
    kinds = [row for row in volumes().values() if word in f"{row['cloud']} {row['name']}".lower()]
    if not machines and not kinds:
        raise UsageError(
            f"--catalogue {word}: no instance type and no volume has this in its name",
            cure="name a cloud (aws, azure, gcp, oci) or a part of a type, such as m6i",
        )
    tables = [
        Table(
            name="instances",
            title="instance types",
            head=("instance", "cloud", "vCPUs", "GiB", "volumes MB/s", "burst", "requests/s", "source is"),
            rows=[_instance_cells(name, row) for name, row in machines.items()],
            spare=("requests/s", "burst"),
        ),
        Table(
            name="volumes",
            title="volumes",
            head=("volume", "cloud", "kind", "read MB/s", "write MB/s", "most MB/s", "source is"),
            rows=[_volume_cells(row) for row in kinds],
            spare=("most MB/s", "kind"),
        ),
    ]
    read = max(retrieved("instances"), retrieved("volumes"))
    rows = {"instances": list(machines.values()), "volumes": kinds}
    names = {name: {source for row in of for source in row["sources"]} for name, of in rows.items()}
    sources = [
        f"{name}: {source['where']} ({source['date']})"
        for table, used in names.items()
        for name, source in _table(table)["sources"].items()
        if name in used
    ]
    count = f"{counted_noun(len(machines), 'instance type')} and {counted_noun(len(kinds), 'volume')}"
    return Document(
        headline=Headline(sign="measured", sentence=f"What clouds publish, read on {read}: {count}"),
        tag=("published", ""),
        parts=[
            Part([Sentences([f"What clouds publish, read on {read}: {count}."])], formats=TEXT),
            *[Part([table], table.name, capital(table.title), capital(table.title)) for table in tables],
            Part(
                [
                    Sentences(
                        [
                            "Rates are base rates; of a volume whose rate grows with its size, for 1 TiB.",
                            "A source is primary if it is the provider's text or program, or data taken from "
                            "it; a vendor-copy is a copy of the provider's page; all others are second-hand.",
                            *dict.fromkeys(sources),
                        ]
                    )
                ],
                "sources",
                "Sources",
                "Sources",
            ),
        ],
    )


def _instance_cells(name: str, row: Row) -> tuple[str, ...]:
    keys = ("vcpus", "memory_gib", "block_base_mb_s", "block_burst_mb_s", "block_base_iops")
    return (name, row["cloud"], *(_cell(row.get(key)) for key in keys), standing(row, "instances"))


def _volume_cells(row: Row) -> tuple[str, ...]:
    bought = Bought(row["name"], 2.0**40, None, None)
    rates: list[float | None] = [None, None]
    with contextlib.suppress(InvalidFileError):
        rates = [rate / MB for rate in volume_caps(bought, None, "")[:2]]
    most = _first(row, (("max_mib_s", MIB), ("max_mb_s", MB)))
    cells = (*rates, None if most is None else most / MB)
    return (row["name"], row["cloud"], row["kind"], *map(_cell, cells), standing(row, "volumes"))


def _cell(number: float | None) -> str:
    return ABSENT if number is None else f"{number:,.0f}"
