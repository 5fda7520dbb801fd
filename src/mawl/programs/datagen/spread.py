"""Choose the volume that each input table lies on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import InputTable
from mawl.programs.datagen.generate import TableRequest
from mawl.programs.tables.manifest import MANIFEST
from mawl.records.spec.program_options import VolumeOrder
from mawl.records.volumes import choose


def spread_tables(
    requests: Sequence[TableRequest],
    sizes: Sequence[int],
    homes: Sequence[Path],
    order: VolumeOrder,
    tables: Mapping[str, InputTable] = INPUTS,
) -> list[Path]:
    """The directory of input tables for each request; ``sizes`` are the bytes of each.

    A table that is there stays where it is: a finished one, else one that was begun, on the first volume
    of the list that has it.  The others go, the largest first, to the volume that holds least of what is
    asked for (rotation), or in proportion to the space that is free (free-space).  So nothing is
    ever moved; what lies on a volume that is no longer in the list is made again on another.
    """
    found: dict[int, int] = {}
    for number, request in enumerate(requests):
        places = [request.directory(tables[request.table], home) for home in homes]
        held = [place for place, path in enumerate(places) if (path / MANIFEST).is_file()]
        begun = [place for place, path in enumerate(places) if path.is_dir() and any(path.iterdir())]
        if held or begun:
            found[number] = (held or begun)[0]
    holds = [0] * len(homes)
    for number, volume in found.items():
        holds[volume] += sizes[number]
    new = sorted((number for number in range(len(requests)) if number not in found), key=lambda n: -sizes[n])
    for turn, number in enumerate(new):
        volume = holds.index(min(holds)) if order == "rotation" else choose(order, homes, turn)
        found[number] = volume
        holds[volume] += sizes[number]
    return [homes[found[number]] for number in range(len(requests))]
