"""Where should data, work and util live?  Advice from a measured run and the probes of the candidates.

For each role and each probed target: the rate to expect, what a move would change of the summed real time,
within bounds, and whether the role fits; then the best placement of all roles together, and the command
that proves it.  docs/guides/placement.md shows it, docs/design/volumes.md has the model.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from mawl.advice.judge import judged
from mawl.commands.arguments import JSON, RUN, RUNS, bounds_of, settings
from mawl.commands.reporting import run_name
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Arguments, Verb, operand
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.records.store.side_files import read_probe
from mawl.reports.document import rendered
from mawl.whatif.placement.advise import advise
from mawl.whatif.placement.document import document


class PlacementArguments(Arguments):
    run: str = RUN
    probes: list[str] = operand(
        "PROBE.json", "what mawl probe wrote; the probe in the run folder counts, too", nargs="*"
    )
    runs: str | None = RUNS
    json: bool = JSON


def run(arguments: PlacementArguments) -> int:
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
        print(rendered(document(found), "text", width_for(None)))
    return 0


VERBS = {"placement": Verb(PlacementArguments, run)}
