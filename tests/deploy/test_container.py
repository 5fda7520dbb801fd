"""The image of ``deploy/Containerfile``: built without a daemon, run without root and within limits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.deploy.builder import IMAGE, ROOT, ImageBuilder
from tests.deploy.groups import limited

pytestmark = [
    pytest.mark.long(minutes=2),
    needs.marks(needs.ROOT, needs.program("buildah", "mmdebstrap")),
]

MEMORY_BYTES = 2 * 2**30
QUOTA_CORES = 1.5
LIMITS = {
    "memory": {"limit_in_bytes": MEMORY_BYTES},
    "cpu": {"cfs_period_us": 100_000, "cfs_quota_us": int(QUOTA_CORES * 100_000)},
}
GUIDE = (ROOT / "docs" / "guides" / "container.md").read_text()


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageBuilder]:
    """A builder that has the image."""
    made = ImageBuilder(tmp_path_factory.mktemp("images"))
    try:
        made.make_base()
        made.build()
        yield made
    finally:
        made.close()


@pytest.fixture
def container(builder: ImageBuilder) -> Iterator[str]:
    name = builder.call("from", "--pull-never", IMAGE).strip()
    yield name
    builder.call("rm", name)


def inside(
    builder: ImageBuilder, container: str, *words: str, user: str = "", before: tuple[str, ...] = ()
) -> str:
    """What a command in the container prints; the image's own user without ``user``."""
    options = ["--isolation", "chroot", *(["--user", user] if user else [])]
    return builder.call("run", *options, container, "--", *words, before=before)


def facts_of(builder: ImageBuilder, container: str, user: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(inside(builder, container, "cat", "/runs/latest/run.json", user=user))
    return found


def test_nano_runs_inside_as_nobody_special_and_sees_the_limits(
    builder: ImageBuilder, container: str
) -> None:
    assert inside(builder, container, "id", "-u").strip() == "10001"
    with limited("mawl-image", LIMITS) as words:
        doctor = json.loads(inside(builder, container, "mawl", "doctor", "nano", "--json", before=words))
        inside(builder, container, "mawl", "run", "nano", before=words)
    assert doctor["machine"]["memory_limit_bytes"] == MEMORY_BYTES
    assert doctor["machine"]["cpu_quota_cores"] == QUOTA_CORES
    compiler = next(check for check in doctor["checks"] if check["name"] == "compiler")
    assert compiler["status"] == "ok" and "no C compiler" in compiler["text"]
    facts = facts_of(builder, container)
    assert facts["outcome"] == "completed"
    assert facts["settings"]["container_memory_limit_bytes"] == MEMORY_BYTES
    assert facts["settings"]["container_cpu_quota_cores"] == QUOTA_CORES
    (node,) = facts["nodes"]
    assert (node["cpu_quota"], node["memory_limit_bytes"]) == (QUOTA_CORES, MEMORY_BYTES)
    summary = json.loads(inside(builder, container, "mawl", "report", "--format", "json"))
    assert summary["io"]["by_role"]["work"]["written_bytes"] > 0, "the library of the image counted"
    assert summary["io"]["by_role"]["other"] is not None


def test_a_user_that_the_cluster_chose_runs_it_too(builder: ImageBuilder, container: str) -> None:
    inside(builder, container, "mawl", "run", "nano", user="1000650000:0")
    assert facts_of(builder, container, user="1000650000:0")["outcome"] == "completed"


@needs.marks(needs.program("runc"))
def test_it_runs_under_an_oci_runtime_with_the_limits_of_the_engine(builder: ImageBuilder) -> None:
    limits = ("--memory", str(MEMORY_BYTES), "--cpu-period", "100000", "--cpu-quota", "150000")
    name = builder.call("from", "--pull-never", "--cap-drop", "ALL", *limits, IMAGE).strip()
    runtime = ("run", "--isolation", "oci", "--runtime", "runc", name, "--")
    try:
        builder.call(*runtime, "mawl", "run", "nano")
        facts = json.loads(builder.call(*runtime, "cat", "/runs/latest/run.json"))
    finally:
        builder.call("rm", name)
    assert facts["outcome"] == "completed"
    assert facts["settings"]["container_memory_limit_bytes"] == MEMORY_BYTES
    assert facts["settings"]["container_cpu_quota_cores"] == QUOTA_CORES
    assert facts["settings"]["container"] == "podman"  # buildah leaves the marks of its sister


def test_the_entry_point_is_mawl_and_the_roles_are_where_volumes_go(builder: ImageBuilder) -> None:
    image = json.loads(builder.call("inspect", "--type", "image", IMAGE))["OCIv1"]["config"]
    assert image["Entrypoint"] == ["mawl"] and image["User"] == "10001:0"
    assert {"MAWL_DATA=/data", "MAWL_WORK=/work", "MAWL_UTIL=/util", "MAWL_RUNS=/runs"} <= set(image["Env"])


def test_the_size_is_the_one_that_the_guide_tells(builder: ImageBuilder) -> None:
    (told,) = re.findall(r"image has ([0-9.]+) GB", GUIDE)
    (image,) = json.loads(builder.call("images", "--json", IMAGE))
    number, unit = image["size"].split()
    assert float(number) * {"MB": 1e-3, "GB": 1.0}[unit] == pytest.approx(float(told), rel=0.1)


def test_probing_and_serving_work_inside(builder: ImageBuilder, container: str) -> None:
    assert "fio-" in inside(builder, container, "fio", "--version")
    assert "--port" in inside(builder, container, "mawl", "serve", "--help")
    inside(
        builder,
        container,
        "python",
        "-c",
        "import mawl.commands.server.application, mawl.run.cluster.controller",
    )


def test_the_build_leaves_compiler_and_pip_behind(builder: ImageBuilder, container: str) -> None:
    present = inside(builder, container, "sh", "-c", "command -v gcc cc pip pip3 || echo none")
    assert present.strip() == "none"
    assert not Path(builder.folder, "base.tar").exists()
