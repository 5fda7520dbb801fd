"""Each volume at the array with what compression saves there; mawl's estimate of its role below."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.formats.lines import one_line
from mawl.model.summary.summary import Summary
from mawl.reporters.compressibility import headline, saving, title
from mawl.reporters.table import EVERY, MARKDOWN, SHOWN, Note, Row, RunColumn, RunTable
from mawl.units import format_percent, format_rate

WHOLE = "all of it"


def _rows(_: RunView, summary: Summary) -> list[Row]:
    volumes = summary.arrays.volumes if summary.arrays is not None else []
    return [
        Row(one_line(f"{one.array} {one.volume or WHOLE}"), ("arrays", "volumes", place))
        for place, one in enumerate(volumes)
    ]


def _notes(_: RunView, summary: Summary) -> list[Note]:
    """What mawl itself estimates for each role, by one codec and block size."""
    block = summary.compressibility
    if summary.arrays is None or not summary.arrays.volumes:
        return []
    if block is None or not block.role_estimates:
        return [Note("A run with --compressibility yes estimates the saving of each role next to these.")]
    chosen = headline(block)
    own = [
        f"{one.role} {saving(one)}"
        for one in block.role_estimates
        if (one.storage, one.codec, one.level, one.block_bytes) == chosen
    ]
    return [Note(f"Estimated by mawl, {title(chosen)}: {', '.join(own)}.")]


ARRAY_VOLUMES = RunTable(
    name="array_volumes",
    caption="Volumes at the array",
    section="roles",
    first="volume",
    block=("arrays", "volumes", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="role", path=("role",), form=str, formats=SHOWN),
        RunColumn(label="read", path=("read_bytes_per_second",), form=format_rate),
        RunColumn(label="written", path=("written_bytes_per_second",), form=format_rate),
        RunColumn(label="saved", title="saved by compression", path=("saved_ratio",), form=format_percent),
    ),
    formats=EVERY,
    fold="Volumes at the array",
    folded=MARKDOWN,
    notes=_notes,
)
