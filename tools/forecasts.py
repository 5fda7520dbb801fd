"""``python -m tools.forecasts CAMPAIGN...``: lab campaigns forecast from their first arm.

Each campaign's first arm calibrates; every other arm is forecast on the bed as its calibration measured it,
and docs/reference/forecasts.md is printed from the comparison.  Campaigns of one bed are numbered in the
order in which they are given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mawl.advice.judge import judged
from mawl.model.lab import LabRecord
from mawl.model.options import Options
from mawl.simulation.against import beside
from mawl.simulation.folder import Label, write_folder
from mawl.simulation.forecast import Base, Question, base_of, predict
from mawl.simulation.own_system import cores_of
from mawl.simulation.system import Device, NodeKind, System, spinning_streams_of
from mawl.store import open_run
from mawl.units import format_rate, format_seconds, parse_size

REQUEST_BYTES = Options().bufsize_bytes
"""What moves between two seeks."""


def arm_system(record: LabRecord, arm: str, cores: float, memory_bytes: float) -> System:
    """The bed of an arm as it was calibrated."""
    description = record.description
    layout = next(one for one in description["arms"] if one["name"] == arm)
    volumes = {one["name"]: one for one in description["volumes"]}
    roles = {role: tuple(layout[role]) for role in ("data", "work", "util")}
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


def forecasts(campaign: Path, keep: Path) -> list[dict[str, Any]]:
    """The rows of one campaign; simulated run folders go to ``keep``."""
    record = msgspec.json.decode((campaign / "lab.json").read_bytes(), type=LabRecord)
    arms = [arm for arm in record.arms if not arm.repeated]
    first = open_run(campaign / arms[0].folder)
    node = first.facts.nodes[0]
    memory = float(node.memory_limit_bytes or node.memory_bytes or 2**30)
    system = {arm.arm: arm_system(record, arm.arm, cores_of(node), memory) for arm in arms}
    base = base_of(first, judged(first), system[arms[0].arm])
    rows = []
    for arm in arms:
        measured = judged(open_run(campaign / arm.folder))
        predicted = _predicted(base, system[arm.arm], keep / f"{record.campaign_id}-{arm.arm}")
        rows.append(
            {
                "bed": record.bed,
                "campaign": record.campaign_id,
                "arm": arm.arm,
                "calibrated": arm is arms[0],
                "alone_ratio": base.calibration.alone_ratio,
                "figures": beside(predicted, measured),
            }
        )
    return rows


def _predicted(base: Base, system: System, folder: Path) -> dict[str, Any]:
    scenario, outcome = predict(base, Question(system=system))
    write_folder(folder, scenario, outcome, Label(run_id=folder.name, source=base.facts))
    return judged(open_run(folder))


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
        "against its own run. Campaigns of one bed are numbered. Forecast CPU seconds are those of the",
        "calibrating arm: where an arm took others, the machine was not the same.",
        "[The model](../design/simulation.md) says what an error means.",
        "",
        "| bed | arm | figure | forecast | measured | error |",
        "|---|---|---|---|---|---|",
    ]
    campaigns: dict[str, list[str]] = {}
    for row in rows:
        told_of = campaigns.setdefault(row["bed"], [])
        if row["campaign"] not in told_of:
            told_of.append(row["campaign"])
    for row in rows:
        same = campaigns[row["bed"]]
        bed = row["bed"] if len(same) == 1 else f"{row['bed']} {same.index(row['campaign']) + 1}"
        arm = f"{row['arm']} (calibrates)" if row["calibrated"] else row["arm"]
        for figure in row["figures"]:
            form = next(form for end, form in FORMS.items() if figure["figure"].endswith(end))
            shown = [
                "not known" if figure[side] is None else form(figure[side])
                for side in ("predicted", "measured")
            ]
            error = figure["error_ratio"]
            if error is None:
                told = "right" if figure["agrees"] else "wrong" if figure["agrees"] is False else "not known"
            else:
                told = f"{error:+.1%}".replace("%", " %")
            lines.append(f"| {bed} | {arm} | {figure['figure']} | {shown[0]} | {shown[1]} | {told} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.forecasts", description=__doc__)
    parser.add_argument(
        "campaigns", nargs="+", type=Path, metavar="CAMPAIGN", help="folders of lab campaigns"
    )
    parser.add_argument(
        "--keep", type=Path, required=True, metavar="DIR", help="where simulated run folders go"
    )
    given = parser.parse_args()
    print(page([row for campaign in given.campaigns for row in forecasts(campaign, given.keep)]), end="")


if __name__ == "__main__":
    main()
