"""``python -m tools.forecasts CAMPAIGN[=OTHER]...``: lab campaigns forecast from one arm, or another bed's.

Each campaign's first arm calibrates, or that of the other campaign, which ran the same workload on another
bed; every other arm is forecast on the bed as its calibration measured it, and docs/reference/forecasts.md is
printed from the comparison.  Campaigns of one bed are numbered in the order in which they are given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.base.units import format_rate, format_seconds, parse_size
from mawl.figures.view import StoredView
from mawl.lab.experiment.records import LabRecord
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Options, Role
from mawl.records.store import open_run
from mawl.simulation.forecast import Base, Question, base_of, predict
from mawl.simulation.measured_system import cores_of
from mawl.simulation.system import Device, NodeKind, System, spinning_streams_of
from mawl.whatif.answer import compare_figures
from mawl.whatif.folder import Label, write_folder

REQUEST_BYTES = Options().bufsize_bytes
"""What moves between two seeks."""


def arm_system(record: LabRecord, arm: str, cores: float, memory_bytes: float) -> System:
    """The bed of an arm as it was calibrated."""
    description = record.description
    layout = next(one for one in description["arms"] if one["name"] == arm)
    volumes = {one["name"]: one for one in description["volumes"]}
    roles: dict[Role, tuple[str, ...]] = {role: tuple(layout[role]) for role in ROLES}
    names = dict.fromkeys(name for held in roles.values() for name in held)
    fabric = description.get("fabric")
    devices = tuple(_device(record, volumes[name], local=not fabric) for name in names)
    kind = NodeKind(
        count=fabric["clients"] if fabric else 1,
        cores=cores,
        memory_bytes=memory_bytes,
        roles=roles,
        link_bytes_per_second=_link(record, layout) if fabric else None,
    )
    return System(name=f"{record.bed}-{arm}", nodes=(kind,), devices=devices, one_machine=bool(fabric))


def _link(record: LabRecord, layout: Mapping[str, Any]) -> float:
    """What a client's link carries: as the arm says, by as much as its calibration was off."""
    found = [one for one in record.calibration if one.volume == f"links of {layout['name']}"]
    off = min(one.measured / one.expected for one in found)
    return float(parse_size(layout["link"])) * off


def _device(record: LabRecord, volume: Mapping[str, Any], *, local: bool) -> Device:
    measured = {one.what: one.measured for one in record.calibration if one.volume == volume["name"]}
    unbound = 2e9
    read = measured.get("direct read", unbound)
    write = measured.get("direct write", unbound)
    shared = streams = None
    disk = volume.get("disk")
    if disk:
        shared = max(read, write)
        if disk.get("model") == "spinning":
            seeks = REQUEST_BYTES / read and (1.0 / measured["direct random read"]) / (REQUEST_BYTES / read)
            streams = spinning_streams_of(seeks)
    return Device(
        name=volume["name"],
        read_bytes_per_second=read,
        write_bytes_per_second=write,
        shared_bytes_per_second=shared,
        spinning_streams=streams,
        local=local,
    )


class Campaign:
    """A lab campaign: its record, and the runs that count."""

    def __init__(self, folder: Path) -> None:
        self.record = msgspec.json.decode((folder / "lab.json").read_bytes(), type=LabRecord)
        self.runs = [(arm.arm, open_run(folder / arm.folder)) for arm in self.record.arms if not arm.repeated]
        self.first, self.first_run = self.runs[0]
        self.node = self.first_run.facts.nodes[0]
        self.memory_bytes = float(self.node.memory_limit_bytes or self.node.memory_bytes or 2**30)

    def system(self, arm: str, memory_bytes: float) -> System:
        """The bed of an arm as it was calibrated, with so much memory on each node."""
        return arm_system(self.record, arm, cores_of(self.node), memory_bytes)

    def base(self) -> Base:
        """The first arm, on its bed as it was calibrated."""
        return base_of(
            StoredView(self.first_run),
            judged(StoredView(self.first_run)),
            self.system(self.first, self.memory_bytes),
        )

    def programs(self) -> list[str]:
        """The program of each job of a node, by which alike workloads are known."""
        jobs = self.first_run.job_records()
        return sorted(job.program for job in jobs if job.node == self.node.name)


def forecasts(folder: Path, keep: Path, other: Path | None = None) -> list[dict[str, Any]]:
    """The rows of one campaign, calibrated by its own first arm or that of ``other``.

    The memory is that of the calibrating run: volumes of beds limit what waits to be written themselves,
    and what they read was cold.  Simulated run folders go to ``keep``.
    """
    campaign = Campaign(folder)
    record = campaign.record
    calibrating = campaign if other is None else Campaign(other)
    asked, had = ((one.first_run.facts.workload.scale, one.programs()) for one in (campaign, calibrating))
    if asked != had:
        raise UsageError(
            f"{record.campaign_id} ran another workload than {calibrating.record.campaign_id}",
            why=f"scales {asked[0]} and {had[0]}, {len(asked[1])} and {len(had[1])} jobs a node",
            cure="name a campaign of the same workload and scale",
        )
    base = calibrating.base()
    source = "" if other is None else f"-from-{calibrating.record.bed}"
    rows = []
    for arm, run in campaign.runs:
        measured = judged(StoredView(run))
        system = campaign.system(arm, calibrating.memory_bytes)
        predicted = _predicted(base, system, keep / f"{record.campaign_id}-{arm}{source}")
        rows.append(
            {
                "bed": record.bed,
                "source": None if other is None else calibrating.record.bed,
                "campaign": record.campaign_id,
                "arm": arm,
                "calibrated": other is None and run is campaign.first_run,
                "alone_ratio": base.calibration.alone_ratio,
                "figures": compare_figures(predicted, measured),
            }
        )
    return rows


def _predicted(base: Base, system: System, folder: Path) -> Judged:
    scenario, outcome = predict(base, Question(system=system))
    write_folder(folder, scenario, outcome, Label(run_id=folder.name, source=base.facts))
    return judged(StoredView(open_run(folder)))


FORMS: dict[str, Callable[[Any], str]] = {
    "_bytes_per_second": format_rate,
    "_seconds": format_seconds,
    "": str,
}
"""How a figure is shown, by the end of its name: the first that fits."""


def page(rows: list[dict[str, Any]]) -> str:
    """The page, in Markdown."""
    lines = [
        "# Forecasts of lab beds",
        "Printed by `python -m tools.forecasts --keep DIR CAMPAIGN...` from lab campaigns: the first arm of "
        "each",
        "calibrates, every other is forecast from it on the bed as it was calibrated, and then held",
        "against its own run. Campaigns of one bed are numbered. `from` names another bed, on which the same",
        "workload was run to calibrate in its place. Forecast CPU seconds are those of the calibrating arm:",
        "where an arm took others, the machine was not the same.",
        "[The model](../design/simulation.md) says what an error means.",
        "",
        "| bed | arm | figure | forecast | measured | error |",
        "|---|---|---|---|---|---|",
    ]
    campaigns: dict[str, list[str]] = {}
    for row in rows:
        step_figures = campaigns.setdefault(row["bed"], [])
        if row["campaign"] not in step_figures:
            step_figures.append(row["campaign"])
    for row in rows:
        same = campaigns[row["bed"]]
        bed = row["bed"] if len(same) == 1 else f"{row['bed']} {same.index(row['campaign']) + 1}"
        bed += f" from {row['source']}" if row["source"] else ""
        arm = f"{row['arm']} (calibrates)" if row["calibrated"] else row["arm"]
        for figure in row["figures"]:
            form = next(form for end, form in FORMS.items() if figure.figure.endswith(end))
            shown = [
                "not known" if side is None else form(side) for side in (figure.predicted, figure.measured)
            ]
            error = figure.error_ratio
            if error is None:
                told = "right" if figure.agrees else "wrong" if figure.agrees is False else "not known"
            else:
                told = f"{error:+.1%}".replace("%", " %")
            lines.append(f"| {bed} | {arm} | {figure.figure} | {shown[0]} | {shown[1]} | {told} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.forecasts", description=__doc__)
    parser.add_argument(
        "campaigns",
        nargs="+",
        metavar="CAMPAIGN[=OTHER]",
        help="folders of lab campaigns; with = that of another, whose first arm ran the same workload and "
        "calibrates",
    )
    parser.add_argument(
        "--keep", type=Path, required=True, metavar="DIR", help="where simulated run folders go"
    )
    given = parser.parse_args()
    rows = []
    for campaign in given.campaigns:
        folder, _, other = (campaign, "", "") if Path(campaign).is_dir() else campaign.partition("=")
        rows += forecasts(Path(folder), given.keep, Path(other) if other else None)
    print(page(rows), end="")


if __name__ == "__main__":
    main()
