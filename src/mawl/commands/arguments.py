"""Arguments that several verbs share, and the plan they lead to."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from mawl.advice.capacity.bounds import Bounds
from mawl.config.settings import Settings
from mawl.errors import UsageError
from mawl.model.options import VOLUME_ORDERS, Role, VolumeOrder
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import FEWEST_SESSIONS, MOST_SESSIONS, mixed
from mawl.plan.scale import parse_scale
from mawl.plan.spec import WorkloadSpec
from mawl.plan.workload import DEFAULT_SAVING, DEFAULT_SEED, Plan, load_workload, make_plan, shipped
from mawl.units import parse_size
from mawl.volumes import Volumes

DEFAULT_WORKLOAD = "mixed20"
DEFAULT_SCALE = "smoke"


def add_workload_arguments(parser: argparse.ArgumentParser) -> None:
    """WORKLOAD, --sessions, --scale, --seed, --saving, --option: what decides a plan."""
    parser.add_argument(
        "workload",
        nargs="?",
        default=DEFAULT_WORKLOAD,
        metavar="WORKLOAD",
        help=f"a shipped workload ({', '.join(shipped())}) or a TOML file (default: {DEFAULT_WORKLOAD})",
    )
    add_sessions_argument(parser)
    parser.add_argument(
        "--scale",
        help=f"smoke, quick, standard, full, or a factor of full such as 0.01 (default: {DEFAULT_SCALE})",
    )
    parser.add_argument("--seed", type=int, help=f"seed of the input tables (default: {DEFAULT_SEED})")
    parser.add_argument(
        "--saving",
        type=float,
        metavar="RATIO",
        help=f"what zstd-1 saves on the input tables, 0.3 to 0.95 (default: {DEFAULT_SAVING})",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a run option: memsize, sortsize, bufsize, cpucount, fullstimer, or direct (auto, yes or no: "
        "whether random_access and the scan of wide_sort's input pass by the page cache); may be repeated",
    )


def add_sessions_argument(parser: argparse.ArgumentParser) -> None:
    """--sessions: mixed20 with another number of sessions."""
    parser.add_argument(
        "--sessions",
        type=int,
        metavar="N",
        help=f"scale mixed20 by its rule to N sessions, {FEWEST_SESSIONS} to {MOST_SESSIONS}: "
        "3N + 11 jobs, 2N - 5 released together",
    )


def add_role_arguments(parser: argparse.ArgumentParser, *, own: bool = True) -> None:
    """--data, --work, --util: where the roles lie; ``own`` where mawl itself puts files there."""
    use = "one directory or several, used in turns (--volume-order)" if own else "one directory or several"
    for role, holds in (
        ("data", "input tables and results"),
        ("work", "temporary tables"),
        ("util", "sort and spill files"),
    ):
        parser.add_argument(
            f"--{role}",
            nargs="+",
            metavar="DIR",
            help=f"{holds}; {use} (default: ./mawl-{role})",
        )


def add_volume_order_argument(parser: argparse.ArgumentParser) -> None:
    """--volume-order: how the directories of a role take turns."""
    parser.add_argument(
        "--volume-order",
        choices=VOLUME_ORDERS,
        help="where a role has several directories: files go to them in rotation, so that each gets about "
        "the same bytes (default), or in proportion to the space that is free on each",
    )


def volume_order_of(arguments: argparse.Namespace, chosen: Settings) -> VolumeOrder:
    """How the directories of a role take turns."""
    found = chosen.text("volume_order", arguments.volume_order, VOLUME_ORDERS[0])
    for order in VOLUME_ORDERS:
        if order == found:
            return order
    raise UsageError(f"volume_order: expected {' or '.join(VOLUME_ORDERS)}, found {found!r}")


def settings() -> Settings:
    """Settings of the environment and of ``mawl.toml`` in the current directory."""
    return Settings(os.environ, Path.cwd())


def plan_of(arguments: argparse.Namespace, chosen: Settings) -> Plan:
    """The plan that the shared workload arguments describe."""
    spec, where = _workload(arguments)
    if spec.scale is not None and arguments.scale is not None:
        raise UsageError(f"{where} fixes its scale at {spec.scale:g}; leave --scale out")
    seed = chosen.whole("seed", arguments.seed, DEFAULT_SEED, 0, 2**32 - 1)
    saving = chosen.number("saving", arguments.saving, DEFAULT_SAVING)
    if not 0.3 <= saving <= 0.95:
        raise UsageError(f"--saving {saving:g}: expected a ratio from 0.3 to 0.95")
    return make_plan(
        spec,
        where=where,
        catalogue=CATALOGUE,
        scale=parse_scale(chosen.text("scale", arguments.scale, DEFAULT_SCALE)),
        options=chosen.options(arguments.option),
        seed=seed,
        saving=saving,
    )


def bounds_of(chosen: Settings) -> Bounds:
    """What a system must keep to carry its sessions, from the settings."""
    defaults = Bounds()
    return Bounds(
        most_slowdown=chosen.number("most_slowdown", None, defaults.most_slowdown),
        warn_bytes_per_second_per_core=_rate(
            chosen, "guideline_warn", defaults.warn_bytes_per_second_per_core
        ),
        good_bytes_per_second_per_core=_rate(
            chosen, "guideline_good", defaults.good_bytes_per_second_per_core
        ),
    )


def _rate(chosen: Settings, name: str, default: float) -> float:
    text = chosen.optional_text(name, None)
    return default if text is None else float(parse_size(text))


def _workload(arguments: argparse.Namespace) -> tuple[WorkloadSpec, str]:
    if arguments.sessions is None:
        return load_workload(arguments.workload)
    if arguments.workload != DEFAULT_WORKLOAD:
        raise UsageError(
            f"--sessions {arguments.sessions} does not go with the workload {arguments.workload}",
            why=f"only {DEFAULT_WORKLOAD} has a rule to scale it by, any other has the sessions of its file",
            cure=f"leave --sessions out, or choose {DEFAULT_WORKLOAD}",
        )
    return mixed(arguments.sessions), f"workload {DEFAULT_WORKLOAD} in {arguments.sessions} sessions"


def volumes_of(arguments: argparse.Namespace, chosen: Settings) -> Volumes:
    """The volumes that --data, --work and --util (or their settings) name."""
    given: dict[Role, list[str] | None] = {
        "data": arguments.data,
        "work": arguments.work,
        "util": arguments.util,
    }
    return Volumes(chosen.roles(given))
