"""Where should data, work and util live?  Advice from a measured run and the probes of the candidates.

For each role and each probed target: the rate to expect, what a move would change of the summed real time,
within bounds, and whether the role fits; then the best placement of all roles together, and the command
that proves it.  docs/guides/placement.md shows it, docs/design/volumes.md has the model.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from mawl.advice.judge import judged
from mawl.commands.arguments import bounds_of, settings
from mawl.commands.reporting import run_name
from mawl.commands.terminal import width_for
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.records.store.side_files import read_probe
from mawl.whatif.placement import text as placement
from mawl.whatif.placement.advise import advise

NAME = "placement"
HELP = "where data, work and util should live: what a move to a probed target would change"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", default="latest", metavar="RUN", help="a run folder, a run id, or latest (default)"
    )
    parser.add_argument(
        "probes",
        nargs="*",
        metavar="PROBE.json",
        help="what mawl probe wrote; the probe in the run folder counts, too",
    )
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    chosen = settings()
    stored = open_run(arguments.run, chosen.runs(arguments.runs))
    view = StoredView(stored, called=run_name(stored))
    files = {name: read_probe(Path(name)) for name in arguments.probes}
    kept = view.run.probe
    probes = [*files.values(), *([kept] if kept else [])]
    found = advise(view, judged(view, bounds_of(chosen)), probes, files)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        print(placement.render(found, width_for(None)))
    return 0
