"""Definitions of the figures of ``mawl placement --json``; their names begin with ``placement.`` here."""

from __future__ import annotations

from mawl.model.metric import (
    FACTS,
    Kind,
    Metric,
    bytes_metric,
    flag_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)

PAGE = "docs/design/volumes.md"
ASKED = f"{PAGE}, What a role asks"
CAN = f"{PAGE}, What a target can"
MODEL = f"{PAGE}, The model"
_LIST: Kind = "list"


_ROLE: tuple[Metric, ...] = (
    bytes_metric("placement.roles.*.read_bytes", "Application bytes that the role read.", ASKED),
    bytes_metric("placement.roles.*.written_bytes", "Application bytes that it wrote.", ASKED),
    ratio_metric("placement.roles.*.share_ratio", "Its bytes over those of all roles and other.", ASKED),
    ratio_metric("placement.roles.*.read_ratio", "Bytes read over bytes both ways.", ASKED),
    *(
        Metric(
            f"placement.roles.*.device_{way}_bytes",
            "bytes",
            "float",
            f"Bytes {way} at its devices; where roles share them, application bytes times the run's reach.",
            ASKED,
        )
        for way in ("read", "written")
    ),
    flag_metric("placement.roles.*.device_measured", "Whether the role has its own devices.", ASKED),
    *(
        metric
        for way in ("read", "write")
        for metric in (
            ratio_metric(
                f"placement.roles.*.sequential_{way}_ratio",
                f"Bytes of {way}s that continue a stream of their file, over all.",
                ASKED,
            ),
            bytes_metric(f"placement.roles.*.{way}_request_bytes", f"Median bytes of a {way} call.", ASKED),
            seconds_metric(
                f"placement.roles.*.{way}_latency_seconds", f"Mean time inside its {way} calls.", ASKED
            ),
        )
    ),
    seconds_metric("placement.roles.*.blocked_seconds", "Time that jobs were blocked in it.", ASKED),
    ratio_metric("placement.roles.*.blocked_ratio", "That over the summed real time.", ASKED),
    ratio_metric("placement.roles.*.streams", "Calls in flight at a time, on average; at least 1.", ASKED),
    bytes_metric("placement.roles.*.peak_used_bytes", "The most space it took: its working set.", ASKED),
    Metric("placement.roles.*.targets", "-", _LIST, "Target of each volume; null: not probed.", ASKED),
)

_TARGET: tuple[Metric, ...] = (
    text_metric("placement.targets.*.name", "Name of the target in its probe.", CAN),
    text_metric("placement.targets.*.node", "Its node.", CAN),
    text_metric("placement.targets.*.directory", "The probed directory.", CAN),
    text_metric("placement.targets.*.file_system", "Type of its file system.", CAN),
    Metric("placement.targets.*.devices", "-", _LIST, "Its block devices.", CAN),
    bytes_metric("placement.targets.*.size_bytes", "Size of its file system.", CAN),
    bytes_metric("placement.targets.*.free_bytes", "Free bytes when it was probed.", CAN),
    Metric("placement.targets.*.holds", "-", _LIST, "Roles of the run that lie there.", CAN),
    *(
        rate_metric(
            f"placement.targets.*.{way}_bytes_per_second",
            f"Its sequential {way} rate at the request size nearest to 256 KiB and one stream.",
            CAN,
        )
        for way in ("read", "write")
    ),
    ratio_metric("placement.targets.*.read_write_ratio", "The former over the latter.", CAN),
    flag_metric(
        "placement.targets.*.flash_like",
        "Whether random reads run at a quarter of the sequential rate or more.",
        CAN,
    ),
)

_CHANGES = tuple(
    Metric(f"{name}.change.{bound}_seconds", "seconds", "float", f"{what}: {words}.", MODEL)
    for name, what in (
        ("placement.moves.*", "Change of the summed real time by this move alone"),
        ("placement.best", "Change of the summed real time by all moves together"),
    )
    for bound, words in (("low", "the least"), ("expected", "expected"), ("high", "the most"))
) + tuple(
    ratio_metric(f"{name}.change.expected_ratio", "The expected change over the summed real time.", MODEL)
    for name in ("placement.moves.*", "placement.best")
)

PLACEMENT_METRICS: tuple[Metric, ...] = (
    text_metric("placement.run_id", "The measured run.", FACTS),
    text_metric("placement.verdict", "What limited it.", "docs/design/verdict.md"),
    seconds_metric("placement.real_time_seconds", "Its summed real time.", ASKED),
    seconds_metric(
        "placement.blocked_seconds", "Time its jobs were blocked in I/O of the three roles.", ASKED
    ),
    ratio_metric("placement.blocked_ratio", "That over the summed real time.", ASKED),
    seconds_metric(
        "placement.other_blocked_seconds",
        "Time blocked outside of calls on files of a role: removing files, mapped files, or no storage.",
        ASKED,
    ),
    *_ROLE,
    *_TARGET,
    text_metric("placement.moves.*.role", "A role that would move by itself.", MODEL),
    text_metric("placement.moves.*.target", "Where to.", MODEL),
    rate_metric(
        "placement.moves.*.bytes_per_second", "The rate to expect there for what the role moves.", CAN
    ),
    seconds_metric("placement.moves.*.device_seconds", "The target's time for the role's bytes.", CAN),
    *(
        seconds_metric(
            f"placement.moves.*.{way}_latency_seconds", f"Mean response time of the probe's {way}s.", CAN
        )
        for way in ("read", "write")
    ),
    seconds_metric(
        "placement.moves.*.blocked_seconds",
        "Time blocked in the role there, by the target's device time.",
        MODEL,
    ),
    flag_metric("placement.moves.*.fits", "Whether its working set fits into the free space.", MODEL),
    Metric("placement.best.moves", "-", _LIST, "Roles to move, the one that gains most first.", MODEL),
    *(
        Metric(f"placement.best.placement.{role}", "-", _LIST, f"Targets of {role}.", MODEL)
        for role in ("data", "work", "util")
    ),
    flag_metric("placement.best.fits", "Whether all that move fit.", MODEL),
    *_CHANGES,
    text_metric("placement.proof.run", "The command that runs the same in the best placement.", MODEL),
    text_metric("placement.proof.compare", "The command that compares both.", MODEL),
    Metric("placement.unknown", "-", _LIST, "What the advice does not know, in sentences.", MODEL),
    object_metric(
        "placement.best", "The best placement; null where the run's places were not probed.", MODEL
    ),
    object_metric("placement.proof", "How to prove it; null where nothing is to move.", MODEL),
)
