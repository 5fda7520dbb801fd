"""What comes to a run later: statistics of a storage array, or what a lost node kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.base.process import importing
from mawl.base.units import counted_noun, format_instant
from mawl.commands.arguments import JSON, NAMED_RUN, RUNS, settings
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated
from mawl.importers.arrays import joined, read_arrays
from mawl.importers.formats.text import one_line
from mawl.importers.tables import array_presets, load_map
from mawl.records.model.node import ArrayFile, ArrayRole, ArrayStatistics
from mawl.records.spec.run_spec import NodesSpec
from mawl.records.store import open_run
from mawl.records.store.side_files import arrays_of, write_arrays
from mawl.reports.json import render


class AttachedVolume(msgspec.Struct, frozen=True, kw_only=True):
    """A volume of the array with the number of its intervals."""

    array: str
    name: str
    role: ArrayRole | None
    intervals: int


class ArrayAttachment(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, as ``--json`` prints it."""

    files: list[ArrayFile]
    volumes: list[AttachedVolume]


class AttachArguments(Arguments):
    """Join statistics of storage arrays to a finished run, on its clock (mawl help arrays).

    Reports then show latency and throughput at the array next to the host's. arrays.json is added to the run
    folder, and report.html is made again if it is there; other files are not changed.
    """

    run: str = NAMED_RUN
    files: list[str] = operand("FILE", "statistics that the array exported", nargs="+")
    array_map: str = option(
        "FILE",
        f"TOML file that names a preset ({', '.join(array_presets())}) or the columns, and says which "
        "volumes have which role",
        required=True,
    )
    runs: str | None = RUNS
    json: bool = JSON


def _renew_page(folder: Path) -> None:
    """Write the report of a run again where it has one."""
    with importing():  # import does without
        from mawl.commands.reporting import HTML_REPORT
        from mawl.commands.run import leave_page
    if (folder / HTML_REPORT).exists():
        leave_page(folder)


def run_attach(arguments: AttachArguments) -> int:
    stored = open_run(arguments.run, settings().runs(arguments.runs))
    statistics = attach(stored.path, [Path(name) for name in arguments.files], Path(arguments.array_map))
    _renew_page(stored.path)
    print(render(summed(statistics)) if arguments.json else text(statistics))
    return 0


def attach(folder: Path, files: list[Path], array_map: Path) -> ArrayStatistics:
    """Read the files and write what they say into the run folder; what was just read."""
    statistics = read_arrays(files, load_map(array_map))
    try:
        write_arrays(folder, joined(arrays_of(folder), statistics))
    except OSError as error:
        raise UnsuitableMachineError(
            "the run folder cannot be written",
            where=str(folder),
            why=(error.strerror or str(error)).lower(),
        ) from None
    return statistics


def summed(statistics: ArrayStatistics) -> ArrayAttachment:
    return ArrayAttachment(
        files=statistics.files,
        volumes=[
            AttachedVolume(
                array=volume.array, name=volume.name, role=volume.role, intervals=len(volume.intervals)
            )
            for volume in statistics.volumes
        ],
    )


def text(statistics: ArrayStatistics) -> str:
    """A line for each file, then the volumes by role."""
    lines = []
    for file in statistics.files:
        left = f", {file.skipped} left out ({file.reason})" if file.skipped else ""
        lines.append(f"file      {file.name}: {counted_noun(file.rows, 'row')}{left}")
    for role in ("data", "work", "util", None):
        held = [volume for volume in statistics.volumes if volume.role == role]
        if held:
            ends = [interval.at for volume in held for interval in volume.intervals]
            span = f"{format_instant(min(ends))} to {format_instant(max(ends))}"
            names = ", ".join(volume.name or "the whole array" for volume in held[:6])
            more = ", ..." if len(held) > 6 else ""
            label = role or "no role"
            lines.append(f"{label:<9} {counted_noun(len(held), 'volume')} ({one_line(names)}{more}), {span}")
    return "\n".join(lines)


class CollectArguments(Arguments):
    """Join the run folder that a lost node kept to its run, once its host is back, with each job once.

    The folder is fetched from the host as the run reached it (--ssh or --cluster), and removed there once the
    copy is whole. A folder that you copied by hand is taken with --from, and stays. The run then has a new
    outcome and, if it had a page, a new page.
    """

    run: str = NAMED_RUN
    given: list[str] = repeated(
        "NODE=DIR", "the run folder of this node, copied here by hand; may be repeated", name="from"
    )
    runs: str | None = RUNS


def run_collect(arguments: CollectArguments) -> int:
    """Collect; 1 where the folder of a node did not come."""
    with importing():  # attach does without
        from mawl.commands.cluster_run import check_reach
        from mawl.run.cluster.collect import collect, on_hosts
        from mawl.run.cluster.node_access import NodeAccess, linked_to

    stored = open_run(arguments.run, settings().runs(arguments.runs))
    given = folders_of(arguments.given)
    spec = stored.facts.spec
    nodes = spec.nodes if spec is not None and spec.nodes is not None else NodesSpec()
    left = {one.node for one in on_hosts(stored.facts) if one.left_behind}
    if left - given.keys():
        check_reach(nodes)
    collection = collect(stored.path, partial(linked_to, NodeAccess.of(nodes)), given)
    if collection.joined:
        _renew_page(stored.path)
    facts = open_run(stored.path).facts
    for one in on_hosts(facts):
        if one.node in collection.joined:
            print(f"{one.node}: its run folder joined the run ({one.reason or one.outcome})")
        if one.node in collection.stayed:
            print(f"{one.node}: its folder there stays: mawl clean --node-runs DIR removes it on that host")
        if one.node in collection.failed:
            print(f"{one.node}: not collected: {collection.failed[one.node]}")
    print(f"{facts.run_id}: {facts.outcome}" if collection.joined else "nothing was collected")
    return 1 if collection.failed else 0


def folders_of(words: list[str]) -> dict[str, Path]:
    """The folders of ``--from``, by node; UsageError for a word that is none, or a node named twice."""
    folders: dict[str, Path] = {}
    for word in words:
        node, _, place = word.partition("=")
        if not node or not place:
            raise UsageError(f"--from {word}: expected NODE=DIR, such as node2=copy")
        if node in folders:
            raise UsageError(f"--from names {node} twice")
        folders[node] = Path(place)
    return folders


VERBS = {
    "attach": Verb(AttachArguments, run_attach),
    "collect": Verb(CollectArguments, run_collect),
}
