"""Program by program, what one arm of a bed gained over another: the comparison of `mawl compare`."""

from __future__ import annotations

from mawl.analysis.comparison.programs import program_changes, statement
from mawl.analysis.comparison.sides import Side
from mawl.lab.experiment.series_records import ProgramFound, ProgramsFound


def programs_found(reference: Side, candidate: Side) -> ProgramsFound:
    """Judged where both arms have runs enough, else plain changes; the programs that gained most first."""
    said, programs = statement(reference, candidate), program_changes(reference, candidate)
    return ProgramsFound(
        reference=reference.label,
        candidate=candidate.label,
        runs=[len(reference.runs), len(candidate.runs)],
        judged=reference.judged and candidate.judged,
        verdict=said.verdict,
        change_ratio=said.change_ratio,
        low_ratio=said.low_ratio,
        high_ratio=said.high_ratio,
        faster=programs.faster,
        slower=programs.slower,
        not_told_apart=programs.no_difference,
        ran_shorter=programs.ran_shorter,
        ran_longer=programs.ran_longer,
        changes=[
            ProgramFound(
                program=change.program,
                verdict=change.verdict,
                change_ratio=change.change_ratio,
                low_ratio=change.low_ratio,
                high_ratio=change.high_ratio,
            )
            for change in reversed(programs.changes)
        ],
    )
