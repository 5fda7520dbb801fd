"""Definitions of what a probe holds."""

from __future__ import annotations

from mawl.definitions.metric import (
    Metric,
    bytes_metric,
    count_metric,
    flag_metric,
    rate_metric,
    ratio_metric,
    text_metric,
)

PAGE = "docs/design/probe.md"
TEST = f"{PAGE}, A test"
TARGET = f"{PAGE}, A target"
GUIDELINE = f"{PAGE}, The guideline"

_FIGURES: tuple[Metric, ...] = tuple(
    metric
    for direction in ("read", "write")
    for metric in (
        bytes_metric(f"targets.*.tests.*.{direction}.bytes", "Bytes that the test moved.", TEST),
        rate_metric(
            f"targets.*.tests.*.{direction}.bytes_per_second",
            "These bytes over the time in which any stream moved them.",
            TEST,
        ),
        ratio_metric(
            f"targets.*.tests.*.{direction}.requests_per_second", "Requests per second (IOPS).", TEST
        ),
        Metric(
            f"targets.*.tests.*.{direction}.latency_seconds",
            "seconds",
            "object",
            "Response time from submission to completion: mean, min, max, and percentiles.",
            TEST,
        ),
    )
)

PROBE_METRICS: tuple[Metric, ...] = (
    text_metric("tool", "The version of fio.", TEST),
    Metric("created_at", "time", "text", "When the probe began (UTC).", TEST),
    Metric(
        "physical_cores",
        "count",
        "float",
        "Cores that CPU affinity and a CPU quota left to the probe, rounded; in core_basis.",
        GUIDELINE,
    ),
    text_metric("core_basis", "physical core or vCPU.", GUIDELINE),
    text_metric("targets.*.name", "Its role, with a number from the second on, or its directory.", TARGET),
    Metric("targets.*.roles", "-", "list", "The roles it was named for.", TARGET),
    text_metric("targets.*.file_system", "Type of the file system.", TARGET),
    Metric("targets.*.devices", "-", "list", "Block devices that the file system names as its own.", TARGET),
    bytes_metric("targets.*.size_bytes", "Size of the file system.", TARGET),
    bytes_metric("targets.*.free_bytes", "What could be filled when its probe began.", TARGET),
    text_metric("targets.*.problem", "Why it has no or not all figures.", TARGET),
    text_metric("targets.*.tests.*.pattern", "sequential or random.", TEST),
    text_metric("targets.*.tests.*.direction", "read, write or mixed.", TEST),
    bytes_metric("targets.*.tests.*.request_bytes", "Bytes of each request.", TEST),
    count_metric("targets.*.tests.*.streams", "Streams, each with one request under way.", TEST),
    flag_metric("targets.*.tests.*.direct", "Whether it passed the page cache by.", TEST),
    text_metric("targets.*.tests.*.content", "incompressible or dialled.", TEST),
    ratio_metric("targets.*.tests.*.read_share_ratio", "Share of requests that read.", TEST),
    Metric("targets.*.tests.*.elapsed_seconds", "seconds", "float", "How long it moved bytes.", TEST),
    Metric("targets.*.tests.*.cpu_seconds", "seconds", "float", "CPU time of all its streams.", TEST),
    Metric("targets.*.tests.*.command", "-", "list", "The command line that repeats it by hand.", TEST),
    ratio_metric("targets.*.tests.*.fill_ratio", "Used share of the file system, where asked for.", TEST),
    flag_metric("targets.*.tests.*.preconditioned", "Whether its files were written twice.", TEST),
    flag_metric("targets.*.tests.*.steady", "Whether its rate became steady in time.", TEST),
    text_metric("targets.*.tests.*.remark", "What was not as asked, or why it has no figures.", TEST),
    *_FIGURES,
    rate_metric(
        "guideline.*.read_bytes_per_second_per_core",
        "Read rate by as many streams as cores, per core.",
        GUIDELINE,
    ),
    rate_metric(
        "guideline.*.write_bytes_per_second_per_core", "Write rate by as many streams, per core.", GUIDELINE
    ),
    text_metric("guideline.*.read_test", "The test that the read rate is of.", GUIDELINE),
    text_metric("guideline.*.write_test", "The test that the write rate is of.", GUIDELINE),
    text_metric("guideline.*.core_basis", "physical core or vCPU.", GUIDELINE),
    rate_metric(
        "guideline.*.warn_bytes_per_second_per_core", "Below it the guideline is not met.", GUIDELINE
    ),
    rate_metric("guideline.*.good_bytes_per_second_per_core", "From it on it is good.", GUIDELINE),
    text_metric("guideline.*.standing", "good, warn or below: of the lower of both rates.", GUIDELINE),
    flag_metric("guideline.*.met", "Whether both rates are at least the lower bound.", GUIDELINE),
    text_metric("guideline.*.reason", "Why it cannot be judged.", GUIDELINE),
)
"""Names in ``probe.json``; ``guideline`` by target is in what ``mawl probe --json`` prints."""
