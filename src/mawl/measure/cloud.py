"""Cloud and instance type of a machine, as its firmware and cloud-init tell; the network is never asked.

Sources: the DMI names by which cloud-init's ds-identify knows a cloud, its instance data
(``/run/cloud-init/instance-data.json``, cloud-init, "Instance metadata"), and on Amazon EC2 the product name
of Nitro instances, which is the instance type.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from mawl.base.foreign import json_record, read_regular
from mawl.base.printable import printable
from mawl.measure.devices import small_text

INSTANCE_DATA = "run/cloud-init/instance-data.json"
LARGEST_BYTES = 4 * 2**20
CLOUDS = {
    "amazon ec2": "aws",
    "google compute engine": "gcp",
    "alibaba cloud": "alibaba",
    "digitalocean": "digitalocean",
    "7783-7084-3265-9085-8269-3286-77": "azure",
    "oraclecloud.com": "oci",
}
"""Beginnings of DMI's maker, product or chassis tag; Hyper-V's maker is Azure's, so its tag counts."""
_TYPE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9.-]{2,40}")
"""An instance type of Amazon; before Nitro the product name is ``HVM domU``."""


class CloudInstance(NamedTuple):
    """``cloud`` is None where nothing tells of one, ``instance_type`` where nothing tells it."""

    cloud: str | None
    instance_type: str | None


class _Compute(msgspec.Struct, frozen=True):
    size: str | None = msgspec.field(name="vmSize", default=None)


class _Imds(msgspec.Struct, frozen=True):
    compute: _Compute = _Compute()


class _MetaData(msgspec.Struct, frozen=True):
    instance_type: str | None = msgspec.field(name="instance-type", default=None)
    machine_type: str | None = msgspec.field(name="machine-type", default=None)
    shape: str | None = None
    imds: _Imds = _Imds()


class _DataSource(msgspec.Struct, frozen=True):
    meta_data: _MetaData = _MetaData()


class _Standard(msgspec.Struct, frozen=True):
    cloud_name: str | None = None


class _InstanceData(msgspec.Struct, frozen=True):
    """What is read of cloud-init's file."""

    v1: _Standard = _Standard()
    ds: _DataSource = _DataSource()


def read_cloud(sys: Path = Path("/sys"), root: Path = Path("/")) -> CloudInstance:
    """What the firmware and cloud-init tell; nothing is raised."""
    names = [
        (small_text(sys / "class/dmi/id" / name) or "").lower()
        for name in ("sys_vendor", "product_name", "chassis_asset_tag")
    ]
    cloud = next(
        (known for start, known in CLOUDS.items() if any(name.startswith(start) for name in names)), None
    )
    told = _instance_data(root)
    data = told.ds.meta_data
    kind = data.instance_type or data.imds.compute.size or data.machine_type or data.shape
    if kind is None and cloud == "aws" and _TYPE.fullmatch(names[1]):
        kind = names[1]
    if cloud is None and told.v1.cloud_name in {*CLOUDS.values(), "gce", "oracle", "aliyun"}:
        cloud = {"gce": "gcp", "oracle": "oci", "aliyun": "alibaba"}.get(
            told.v1.cloud_name, told.v1.cloud_name
        )
    # Google's machine type is a path: projects/1/machineTypes/n2-standard-16.
    return CloudInstance(cloud, None if kind is None else printable(kind.rpartition("/")[2])[:100])


def _instance_data(root: Path) -> _InstanceData:
    """cloud-init's data; empty where there is none, or it says something else."""
    try:
        return json_record(read_regular(root / INSTANCE_DATA, LARGEST_BYTES), _InstanceData)
    except (OSError, ValueError):
        return _InstanceData()
