"""writeback: memory held nothing for the devices at the gate, and little of the run's own at the end."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_bytes

NAME = "writeback"
MOST_LEFT_RATIO = value_of("validity.writeback.most_left_ratio")
LEAST_LEFT_BYTES = value_of("validity.writeback.least_left_bytes")


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Bytes that are written back for an earlier command do not belong to this run. Bytes of the run that are
    still in memory at its end did not reach a device."""
    dirtied, written = reading.summary.io.dirtied, reading.summary.io.device
    at_gate, left = dirtied.at_gate_bytes, dirtied.still_dirty_bytes
    if at_gate is None or left is None:
        reason = reading.summary.missing.get("io.dirtied.at_gate_bytes", "it was not looked at")
        return [Unmeasured(rule=NAME, severity="remark", reason=reason)]
    moved = written.written_bytes or 0.0
    least = max(MOST_LEFT_RATIO * moved, LEAST_LEFT_BYTES)
    found = []
    if at_gate > least:
        found.append(
            Finding(
                rule=NAME,
                severity="preliminary",
                sentence=f"{format_bytes(at_gate)} of earlier writes were still in memory when the gate "
                "opened, and their devices got them during the run",
                cure="wait until other programs have written, or run on a machine that does nothing else",
            )
        )
    if left > least:
        found.append(
            Finding(
                rule=NAME,
                severity="remark",
                sentence=f"{format_bytes(left)} of what the jobs wrote had reached no device when the last "
                "of them ended",
                cure="choose a larger --scale or a lower --memory-limit: the load must not fit the cache",
            )
        )
    return found


check_import = no_file_says(NAME, "no file says what memory held for the devices", "remark")
