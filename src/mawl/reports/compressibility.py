"""What compression saves, as text: estimates, then a row per volume as storage administrators print it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from mawl.base.units import counted_noun, format_memory, format_seconds
from mawl.records.model.compressibility import (
    CompressedVolume,
    CompressibilityFigures,
    EstimateFigures,
    RoleEstimateFigures,
)
from mawl.records.model.summary.summary import Summary
from mawl.reports.document import Part, Sentences, Table, each
from mawl.reports.layout import ABSENT, LINE_WIDTH, figure, figures, stacked

AnyEstimate = EstimateFigures | RoleEstimateFigures

HEADLINES = (
    ("btrfs", "zstd", 1, 131072),
    ("plain", "zstd", 1, 131072),
    ("zram", "lz4", None, 4096),
    ("plain", "lz4", None, 131072),
)
"""Which estimate stands in the table of volumes: the first of these that is there, else the first at all."""


def parts(block: CompressibilityFigures) -> list[Part]:
    """The block of ``compressibility_figures``: the volumes, the estimates of each, and what to know."""
    return [
        *each(volumes_table(block)),
        *(_estimates(one, block) for one in block.volumes),
        *(_of_all_volumes(role, block) for role in _roles(block)),
        *each(Sentences(_remarks(block))),
    ]


def volumes_table(block: CompressibilityFigures) -> Table:
    """Name, size, used, potential, saving, saved, freed of each volume, and of each role."""
    chosen = headline(block)
    rows: list[tuple[str, ...]] = []
    for volume in block.volumes:
        one = _of(block.estimates, chosen, "volume", volume.name, volume.role)
        real = volume.real
        sizes = [(getattr(volume, f"{name}_bytes"), format_memory) for name in ("size", "used", "data")]
        rows.append(
            (
                volume.name,
                volume.role or ABSENT,
                *figures(*sizes),
                within(volume.zero_share.ratio, volume.zero_share.half_width_ratio),
                saving(one),
                figure(getattr(one, "freed_bytes", None), format_memory),
                figure(getattr(real, "saving_ratio", None), percent),
                figure(getattr(real, "saved_bytes", None), format_memory),
            )
        )
    for role in _roles(block):
        one = _of(block.role_estimates, chosen, "role", role, role)
        what = f"{role}, {counted_noun(getattr(one, 'volumes', 0), 'volume')}"
        data, freed = figures(
            *((getattr(one, f"{name}_bytes", None), format_memory) for name in ("data", "freed"))
        )
        rows.append((what, role, "", "", data, "", saving(one), freed, "", ""))
    return Table(
        head=("volume", "role", "size", "used", "data", "zero", "potential", "freed", "saving", "saved"),
        rows=rows,
        note=f"potential, freed: estimated, {title(chosen)}; saving, saved: real, what compressing storage "
        "says of itself; size, used: of the file system",
    )


def _roles(block: CompressibilityFigures) -> list[str]:
    return list(dict.fromkeys(one.role for one in block.role_estimates))


HEAD_IN_A_RUN = "compressibility"


def table_in_a_run(summary: Summary) -> list[Sequence[str]]:
    """Rows for a report of a run, the head first: a row per role; none where a run did not look."""
    block = summary.compressibility
    if block is None:
        return []
    own = block.role_estimates
    keys = list(dict.fromkeys(_key(one) for one in own))
    rows: list[Sequence[str]] = [
        (HEAD_IN_A_RUN, "data", *(f"{name} {_size(size)}" for name, size in map(_name, keys)), "blocks"),
    ]
    for role in _roles(block):
        cells = {_key(one): one for one in own if one.role == role}
        first = next(iter(cells.values()))
        rows.append(
            (
                role,
                figure(first.data_bytes, format_memory),
                *(saving(cells.get(key)) for key in keys),
                str(first.draws),
            )
        )
    return rows


def notes_in_a_run(summary: Summary) -> list[str]:
    """What the rows are of, and what the engine compressed itself."""
    block = summary.compressibility
    if block is None:
        return []
    engine = [
        f"{percent(volume.engine_share.ratio)} of {volume.role}"
        for volume in block.volumes
        if volume.engine_share.ratio
    ]
    text = (
        "estimated saving at "
        f"{percent(block.confidence_ratio)} confidence each; data: what lies there after the run; work "
        "and util: mean bytes at a look while it went on, weighted by them; "
    )
    return [f"{text}the engine compressed itself: {', '.join(engine) if engine else 'nothing'}"]


def in_a_run(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """The rows and notes as lines of the long report."""
    rows = table_in_a_run(summary)
    notes = [line for note in notes_in_a_run(summary) for line in wrap(note, width)]
    return [*stacked(rows, width), *notes] if rows else []


def headline(block: CompressibilityFigures) -> tuple[str, str, int | None, int]:
    """Storage, codec, level and block of the estimate that stands for all."""
    there = [_key(one) for one in block.estimates if one.saving_ratio is not None]
    there = there or [_key(one) for one in block.estimates]
    return next((key for key in HEADLINES if key in there), there[0])


def title(key: tuple[str, str, int | None, int]) -> str:
    """``zstd-1 in blocks of 128 KiB``, with the storage model where it is not plain."""
    storage, _, _, size = key
    as_kept = "" if storage == "plain" else f" as {storage} keeps it"
    return f"{_name(key)[0]} in blocks of {_size(size)}{as_kept}"


def saving(one: AnyEstimate | None) -> str:
    """A saving with its half-width: ``62 % +- 1.9``."""
    return within(getattr(one, "saving_ratio", None), getattr(one, "half_width_ratio", None))


def within(ratio: float | None, half_width: float | None) -> str:
    """A share in percent with its bound in points; the bound is left out where all was read."""
    if ratio is None or half_width is None:
        return ABSENT
    return percent(ratio) if half_width == 0.0 else f"{percent(ratio)} +- {100.0 * half_width:.1f}"


def percent(ratio: float) -> str:
    """A share with one decimal: ``62.0 %``."""
    return f"{100.0 * ratio:.1f} %"


def points(ratio: float) -> str:
    """A difference of two shares: ``1.2 points``."""
    return f"{100.0 * ratio:.1f} points"


def _estimates(volume: CompressedVolume, block: CompressibilityFigures) -> Part:
    """A row per codec and storage, a column per block size."""
    if volume.reason:
        return Part([Sentences([f"no estimate on {volume.name}: {volume.reason}"])])
    own = [one for one in block.estimates if one.volume == volume.name and one.role == volume.role]
    return Part([Sentences([f"estimated saving on {volume.name}"]), _grid(own), Sentences([_cost(volume)])])


def _of_all_volumes(role: str, block: CompressibilityFigures) -> Part:
    own = [one for one in block.role_estimates if one.role == role]
    title = Sentences([f"estimated saving on {role}, all volumes"])
    return Part([title, _grid(own)] if own[0].volumes > 1 else [])


def _grid(estimates: Sequence[AnyEstimate]) -> Table:
    sizes = sorted({one.block_bytes for one in estimates})
    rows: list[tuple[str, ...]] = []
    for storage, codec, level in dict.fromkeys(_key(one)[:3] for one in estimates):
        cells = {
            one.block_bytes: saving(one) for one in estimates if _key(one)[:3] == (storage, codec, level)
        }
        kept = "" if storage == "plain" else f" ({storage})"
        name, _ = _name((storage, codec, level, 0))
        rows.append((f"{name}{kept}", *(cells.get(size, "") for size in sizes)))
    return Table(head=("codec", *map(_size, sizes)), rows=rows)


def _cost(volume: CompressedVolume) -> str:
    cost = volume.cost
    what = "what could be found" if volume.left_out.lost_folders else "it"
    share = "" if cost.read_ratio is None else f" ({percent(cost.read_ratio)} of {what})"
    return (
        f"cost: read {format_memory(cost.read_bytes)}{share}, {format_seconds(cost.cpu_seconds)} of "
        f"CPU, {format_seconds(cost.elapsed_seconds)}; {counted_noun(cost.draws, 'block')} drawn"
    )


def _remarks(block: CompressibilityFigures) -> list[str]:
    asked = block.half_width_ratio
    until = "" if asked is None else f", looked at until it is within {points(asked)}"
    lines = [f"Each figure alone holds at {percent(block.confidence_ratio)} confidence{until}."]
    reasons = dict.fromkeys(
        f"{title(_key(one)).split(' in ')[0]}: {one.reason}" for one in block.estimates if one.reason
    )
    lines += [f"not estimated: {text}" for text in reasons]
    for role in _roles(block):
        one = _of(block.role_estimates, headline(block), "role", role, role)
        if getattr(one, "volumes", 1) > 1:
            spread = figure(getattr(one, "spread_ratio", None), points)
            lines.append(f"{role}: the savings of its volumes lie {spread} apart")
    for volume in block.volumes:
        name, left = volume.name, volume.left_out
        never = [
            (left.links, "symbolic link"),
            (left.special_files, "special file"),
            (left.other_file_systems, "entry on another file system"),
        ]
        told = [counted_noun(count, what) if "entry" not in what else f"{count} on other file systems"
                for count, what in never if count]  # fmt: skip
        if told:
            lines.append(f"{name}: left out: {', '.join(told)}")
        if left.lost_folders:
            lost = counted_noun(left.lost_folders, "folder")
            lines.append(f"{name}: could not be read: {lost}, and all that lies below")
        if left.lost_files:
            lost = f"{counted_noun(left.lost_files, 'file')}, {format_memory(left.lost_bytes)}"
            lines.append(f"{name}: could not be read: {lost}")
        lines += [f"{name}: {remark}" for remark in left.remarks]
        engine = volume.engine_share
        if engine.ratio:
            share = within(engine.ratio, engine.half_width_ratio)
            lines.append(f"{name}: the engine compressed {share} of the bytes itself")
        source = volume.real.source if volume.real else volume.real_reason
        lines.append(f"{name}: real saving: {source or 'not asked'}")
    return lines


def _of(
    estimates: Sequence[AnyEstimate],
    key: tuple[str, str, int | None, int],
    by: str,
    name: str,
    role: str | None,
) -> AnyEstimate | None:
    return next(
        (one for one in estimates if getattr(one, by) == name and one.role == role and _key(one) == key), None
    )


def _key(one: AnyEstimate) -> tuple[str, str, int | None, int]:
    return one.storage, one.codec, one.level, one.block_bytes


def _name(key: tuple[str, str, int | None, int]) -> tuple[str, int]:
    _, codec, level, size = key
    return f"{codec}{'' if level is None else f'-{level}'}", size


def _size(size: int) -> str:
    """``128 KiB``: block sizes are whole."""
    return format_memory(size).replace(".00", "").replace(".0 ", " ")
