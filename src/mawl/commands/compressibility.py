"""Estimate what compression would save on files, folders, block devices or roles, with an error bound.

Reads only. Blocks are drawn at random until every figure is within --half-width at --confidence; up to
64 MiB are read in full. Beside the estimates stand the real savings of btrfs, zram and ZFS. Without PATH
and roles it looks at the roles where they lie by default.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.base.units import format_memory, parse_size
from mawl.commands.arguments import DATA, JSON, UTIL, WORK, settings
from mawl.commands.terminal import installing, write_text
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.measure.compressibility.codecs import (
    CODECS,
    DEFAULT_BLOCKS,
    SECTOR_BYTES,
    CodecKey,
    figures,
    load_codec,
)
from mawl.measure.compressibility.volumes import CONFIDENCE, HALF_WIDTH, LookRequest, look_at
from mawl.records.model.compressibility import STORAGE_MODELS, Compressibility, compressibility_figures
from mawl.records.spec.program_options import ROLES, Role
from mawl.reports.compressibility import parts
from mawl.reports.document import terminal
from mawl.reports.json import render

LARGEST_BLOCK_BYTES = 16 * 2**20


_SIZES = ", ".join(format_memory(size).replace(".00", "").replace(".0", "") for size in DEFAULT_BLOCKS)


class CompressibilityArguments(Arguments):
    path: list[str] = operand("PATH", "a file, a folder or a block device", nargs="*")
    data: list[str] | None = DATA
    work: list[str] | None = WORK
    util: list[str] | None = UTIL
    codec: list[str] = option(
        "CODEC",
        f"what to estimate: {', '.join(CODECS)} (default: all)",
        choices=tuple(CODECS),
        nargs="+",
        default=list(CODECS),
    )
    block: list[str] | None = option(
        "SIZE",
        f"sizes of the blocks compressed apart, powers of two from 4 KiB (default: {_SIZES})",
        nargs="+",
    )
    storage: list[str] = option(
        "MODEL",
        "how blocks are kept: plain, btrfs (128 KiB in sectors) or zram (pages); default: plain",
        choices=STORAGE_MODELS,
        nargs="+",
        default=["plain"],
    )
    confidence: float = option(None, f"of each figure (default: {CONFIDENCE:g})", default=CONFIDENCE)
    half_width: float = option(
        "RATIO",
        f"when to stop (default: {HALF_WIDTH:g}, that is {100 * HALF_WIDTH:g} points)",
        default=HALF_WIDTH,
    )
    seed: int | None = option(None, "draw the same blocks again (default: others each time)")
    other_file_systems: bool = switch("also what is mounted below the folders")
    json: bool = JSON
    output: str | None = option("FILE", "write it there")


def run(arguments: CompressibilityArguments) -> int:
    """Look, print; 1 where a volume with data could not be read at all."""
    request = _request(arguments)
    if not any(load_codec(figure.codec).compressed_bytes for figure in request.figures):
        raise UnsuitableMachineError(
            "none of the codecs that were asked for is installed",
            cure=f"install them with: {installing('storage')}",
        )
    figures: list[Compressibility] = []

    def content() -> str:
        figures.append(look_at(request, told=_show_name))
        block = compressibility_figures(figures[0])
        return f"{render(block) if arguments.json else terminal(parts(block))}\n"

    write_text(arguments.output, content)
    unread = [
        volume
        for volume in figures[0].volumes
        if volume.reason and (volume.data_bytes != 0 or volume.left_out.lost_folders)
    ]
    return 1 if unread else 0


def _show_name(name: str) -> None:
    if sys.stderr.isatty():
        print(f"looking at {name}", file=sys.stderr)


def _request(arguments: argparse.Namespace) -> LookRequest:
    if not 0.5 <= arguments.confidence < 1.0:
        raise UsageError(f"--confidence {arguments.confidence:g}: expected a share from 0.5 to below 1")
    if not 0.001 <= arguments.half_width <= 0.5:
        raise UsageError(f"--half-width {arguments.half_width:g}: expected a ratio from 0.001 to 0.5")
    codecs: list[CodecKey] = [CODECS[name] for name in dict.fromkeys(arguments.codec)]
    chosen = figures(arguments.storage, codecs, _blocks(arguments.block))
    if not chosen:
        raise UsageError(
            "there is nothing to estimate",
            why=f"{' and '.join(arguments.storage)} does not keep {', '.join(arguments.codec)}",
            cure="choose another --codec or --storage",
        )
    return LookRequest(
        paths=[Path(path) for path in dict.fromkeys(arguments.path)],
        roles=_roles(arguments),
        figures=chosen,
        confidence=arguments.confidence,
        half_width=arguments.half_width,
        seed=secrets.randbits(32) if arguments.seed is None else arguments.seed,
        other_file_systems=arguments.other_file_systems,
    )


def _roles(arguments: argparse.Namespace) -> dict[Role, list[Path]]:
    """The roles named; all of them where nothing was."""
    given: dict[Role, Sequence[str] | None] = {role: getattr(arguments, role) for role in ROLES}
    places = settings().roles(given)
    if any(given.values()) or arguments.path:
        return {role: places[role] for role in ROLES if given[role]}
    return places


def _blocks(given: Sequence[str] | None) -> list[int]:
    if given is None:
        return list(DEFAULT_BLOCKS)
    sizes = sorted({parse_size(text) for text in given})
    for size in sizes:
        if size.bit_count() != 1 or not SECTOR_BYTES <= size <= LARGEST_BLOCK_BYTES:
            raise UsageError(f"--block {size}: expected a power of two from 4KiB to 16MiB")
    return sizes


VERBS = {"compressibility": Verb(CompressibilityArguments, run)}
