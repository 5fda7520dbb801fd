"""What clouds publish, as figures of an offer: the lower cap binds, and what is not known is asked for."""

from __future__ import annotations

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.reports.document import rendered
from mawl.whatif.size.candidates import CandidateOffer, DeviceOffer, _published
from mawl.whatif.size.published_caps import (
    Bought,
    cores_of,
    credit_seconds,
    document,
    instance_named,
    instances,
    standing,
    volume_caps,
    volumes,
)

MIB = 2.0**20


def caps(
    name: str, *, size: float | None = None, rate: float | None = None, on: str | None = None
) -> tuple[float, float, float | None]:
    """Read and write rate, and requests per second."""
    row = None if on is None else instances()[on]
    found = volume_caps(Bought(name, size, rate, None), row, "offers.toml: candidate[0]")
    return found.read, found.write, found.requests


def test_every_row_has_a_source_and_says_how_sure_that_is() -> None:
    assert len(instances()) == 125 and len(volumes()) == 66, "the one with old figures is left out"
    for row in instances().values():
        assert standing(row, "instances") and row["vcpus"] > 0 and row["memory_gib"] > 0
    assert {standing(row, "volumes") for row in volumes().values()} == {"primary", "vendor-copy"}
    assert standing(instances()["i4i.8xlarge"], "instances") == (
        "primary data; measured by Scylla's iotune"
    ), "each source that is less than primary"


@pytest.mark.parametrize(
    ("name", "size", "found"),
    [
        ("ebs-gp3", None, (125 * MIB, 125 * MIB, 3000)),
        ("premium-ssd P30", None, (200e6, 200e6, 5000)),
        ("pd-balanced", 1000 * 2.0**30, (420 * MIB, 420 * MIB, 9000)),
        ("pd-standard", 1000 * 2.0**30, (120 * MIB, 120 * MIB, 750)),
        ("fsx-lustre scratch_2", 2.0**41, (400e6, 200e6, None)),
        ("filestore zonal 1 to 9.75 TiB", 2.0**40, (260 * MIB, 88 * MIB, None)),
        ("efs one zone", None, (500 * MIB, 500 * MIB, None)),
    ],
)
def test_a_volume_does_its_base_rate_or_what_its_size_gives(
    name: str, size: float | None, found: tuple[float, float, float | None]
) -> None:
    """By hand from the tables: 140 + 0.28 x 1000 MiB/s and 3000 + 6 x 1000 requests of pd-balanced."""
    assert caps(name, size=size) == pytest.approx(found)


def test_the_lower_of_the_caps_of_volume_and_instance_binds() -> None:
    assert caps("ebs-gp3", rate=1e9, on="m6i.4xlarge")[:2] == (625e6, 625e6), "of the instance at its base"
    assert caps("ebs-gp3", rate=5e8, on="m6i.4xlarge")[:2] == (5e8, 5e8), "of the volume"
    assert caps("pd-ssd", size=2.0**42, on="n2-standard-16") == pytest.approx(
        (1200 * MIB, 1200 * MIB, 25000)
    ), "Google's caps are by the type of the disk"
    assert caps("ultra-disk", rate=9e9, on="Standard_E32bds_v5 nvme")[0] == 4800e6
    assert caps("premium-ssd P80", on="Standard_E8ds_v5")[0] == 290e6
    said = volume_caps(Bought("ebs-gp3", None, 1e9, None), instances()["m6i.4xlarge"], "").said
    assert "ebs-gp3: m6i.4xlarge reads at most 625 MB/s of it" in said


@pytest.mark.parametrize(
    ("name", "size", "rate", "said"),
    [
        ("ebs-gp4", None, None, "volume 'ebs-gp4' is not in mawl's catalogue; one of ebs-gp3"),
        ("pd-ssd", None, None, 'what pd-ssd does depends on its size; write it: size = "1TiB"'),
        (
            "ebs-io1",
            None,
            None,
            "does not say what ebs-io1 moves, only that it can have 1.05 GB/s; write the rate",
        ),
        ("ebs-gp3", None, 9e9, "ebs-gp3 moves at most 2.10 GB/s: 9.00 GB/s are asked for"),
        ("local", None, None, "local drives need an instance"),
    ],
)
def test_what_the_catalogue_does_not_have_is_asked_for(
    name: str, size: float | None, rate: float | None, said: str
) -> None:
    with pytest.raises(InvalidFileError, match=r"offers\.toml") as error:
        caps(name, size=size, rate=rate)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "on", "shared", "link"),
    [
        ("ebs-gp3", None, 125 * MIB, None),
        ("ebs-gp3", "m6i.4xlarge", 125 * MIB, 625e6),
        ("premium-ssd-v2", "Standard_E32bds_v5 nvme", 125e6, 4800e6),
        ("premium-ssd P80", "Standard_E32bds_v5 nvme", 900e6, 3700e6),
        ("pd-ssd", "n2-standard-16", None, None),
        ("efs one zone", "m6i.4xlarge", None, 6.25e9 / 8),
    ],
)
def test_what_both_directions_and_all_volumes_of_a_machine_share(
    name: str, on: str | None, shared: float | None, link: float | None
) -> None:
    """One rate of a block volume holds for reads and writes together; unknown is not a promise."""
    found = volume_caps(Bought(name, 2.0**42, None, None), None if on is None else instances()[on], "x")
    assert (found.shared, found.link) == (shared, link)


def test_volumes_of_kinds_with_different_caps_have_no_common_one_and_that_is_said() -> None:
    volumes = {"data": DeviceOffer(volume="ebs-gp3"), "shared": DeviceOffer(volume="efs one zone")}
    offer = CandidateOffer(name="a", price=1.0, instance="m6i.4xlarge", devices=volumes)
    filled, said = _published(offer, "vCPU", "x")
    assert filled.link_bytes_per_second is None
    assert any("so no cap is taken for all of them together" in sentence for sentence in said)


def test_local_drives_have_the_rates_of_the_instance_with_how_they_are_known() -> None:
    found = volume_caps(Bought("local", None, None, None), instances()["i4i.8xlarge"], "")
    assert (found.read, found.write, found.local) == (6232e6, 4579e6, True)
    assert found.said == ["i4i.8xlarge: rates of its local drives: measured per drive, times drives"]
    with pytest.raises(InvalidFileError, match=r"no rates of local drives of m6i\.4xlarge"):
        caps("local", on="m6i.4xlarge")


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [(1250.0, 1800.0), (937.5, 3600.0), (625.0, None), (100.0, None), (626.0, 1_125_000.0)],
)
def test_a_credit_ends_when_what_is_moved_beyond_the_base_has_emptied_the_bucket(
    rate: float, seconds: float | None
) -> None:
    """A bucket of 625 MB/s for 30 minutes: a tank that a rate above the base empties."""
    assert credit_seconds(625.0, 1250.0, rate) == seconds
    if seconds is not None:
        level, after, step = 1800.0 * 625.0, 0.0, seconds / 1000.0
        while level > 1e-6:
            level, after = level - step * (rate - 625.0), after + step
        assert after == pytest.approx(seconds, rel=0.002)


def test_an_offer_that_names_an_instance_has_its_figures_unless_it_says_others() -> None:
    offer = CandidateOffer(
        name="a",
        price=1.0,
        instance="m6i.4xlarge",
        roles={"data": ["data"], "work": ["scratch"], "util": ["scratch"]},
        devices={
            "data": DeviceOffer(volume="ebs-gp3", size="2TiB", bytes_per_second="500MB"),
            "scratch": DeviceOffer(read_bytes_per_second="1GB", write_bytes_per_second="1GB", local=True),
        },
    )
    filled, said = _published(offer, "vCPU", "x")
    assert (filled.cores, filled.memory_bytes, filled.link_bytes_per_second) == (16.0, 64 * 2.0**30, 625e6)
    data = filled.devices["data"]
    assert (data.read_bytes_per_second, data.shared_bytes_per_second) == (500e6, 500e6)
    assert any("credit lets it move 1.25 GB/s for 30 min 00 s" in sentence for sentence in said)
    assert _published(offer, "physical core", "x")[0].cores == 8.0
    with pytest.raises(InvalidFileError, match="no physical cores of Standard_E8ds_v5"):
        cores_of(instance_named("Standard_E8ds_v5", "x"), "physical core", "x")
    with pytest.raises(
        InvalidFileError, match=r"instance 'm6i\.99' is not in mawl's catalogue; one of m6i\.4xl"
    ):
        instance_named("m6i.99", "x")


def test_the_catalogue_is_shown_with_how_sure_each_row_is() -> None:
    shown = rendered(document("gp3"), "markdown")
    assert "| ebs-gp3 | aws | block ssd | 131 | 131 | 2,097 | primary |" in shown
    assert "botocore" in shown and "gp2" not in shown
    with pytest.raises(UsageError, match="no instance type and no volume has this in its name"):
        document("nothing like this")
