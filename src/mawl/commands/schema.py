"""What mawl prints of itself: JSON Schemas of its output, and completion scripts."""

from __future__ import annotations

import importlib
import json
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from mawl.base.errors import UsageError, meant
from mawl.commands.verbs import Arguments, Verb, operand
from mawl.records.model.probe import PROBE_FORMAT_VERSION

SCRIPTS = {"bash": "mawl.bash", "zsh": "_mawl", "fish": "mawl.fish"}
"""By shell its file in ``mawl/shell``."""


class CompletionArguments(Arguments):
    """Print the completion script of a shell: verbs, options and their values at a press of Tab.

    The script needs no other program and starts no Python. For this session and this shell alone: source
    <(mawl completion bash), or in fish: mawl completion fish | source.
    """

    shell: str = operand(None, "the shell to complete in", choices=tuple(SCRIPTS))


def run_completion(arguments: CompletionArguments) -> int:
    script = files("mawl.commands").joinpath("shell", SCRIPTS[arguments.shell])
    print(script.read_text(encoding="utf-8"), end="")
    return 0


class PrintedFormat(NamedTuple):
    """JSON that ``command`` prints (several with "and" between them): its ``version``, and the
    ``module:record`` that it is printed from."""

    command: str
    version: str
    record: str


FORMATS = {
    "array": PrintedFormat("mawl attach --json", "1.0", "mawl.commands.join:ArrayAttachment"),
    "campaign": PrintedFormat(
        "mawl report CAMPAIGN --format json and mawl run --repeat N --json",
        "1.4",
        "mawl.reports.campaign_document:PrintedCampaign",
    ),
    "comparison": PrintedFormat(
        "mawl compare --format json of two sides", "1.3", "mawl.reports.comparison.document:PrintedComparison"
    ),
    "comparison-matrix": PrintedFormat(
        "mawl compare --format json of more sides", "1.3", "mawl.reports.comparison.document:PrintedMatrix"
    ),
    "compressibility": PrintedFormat(
        "mawl compressibility --json", "1.0", "mawl.records.model.compressibility:CompressibilityFigures"
    ),
    "doctor": PrintedFormat("mawl doctor --json", "1.0", "mawl.commands.doctor:DoctorAnswer"),
    "generate": PrintedFormat("mawl generate --json", "1.0", "mawl.commands.plan:GeneratedInputs"),
    "history": PrintedFormat("mawl history --format json", "1.0", "mawl.archive.history.changes:History"),
    "import": PrintedFormat("mawl import --json", "1.0", "mawl.importers.import_files:Imported"),
    "lab": PrintedFormat(
        "mawl lab report --json and mawl lab run --json",
        "1.0",
        "mawl.lab.experiment.records:LabReport",
    ),
    "logs-comparison": PrintedFormat(
        "mawl compare --format json of a run with its logs",
        "1.0",
        "mawl.derive.replay.records:Replay",
    ),
    "measure": PrintedFormat("mawl measure --json", "1.0", "mawl.commands.measure:CommandFigures"),
    "placement": PrintedFormat(
        "mawl placement --json", "1.0", "mawl.whatif.placement.demand:PlacementAdvice"
    ),
    "plan": PrintedFormat(
        "mawl plan --json and mawl run --dry-run --json", "1.0", "mawl.plan.output:PrintedPlan"
    ),
    "probe": PrintedFormat("mawl probe --json", PROBE_FORMAT_VERSION, "mawl.commands.probe:PrintedProbe"),
    "published": PrintedFormat(
        "mawl published ID --json", "1.0", "mawl.records.model.published:PublishedFigures"
    ),
    "published-list": PrintedFormat("mawl published --json", "1.0", "mawl.commands.compare:PublishedList"),
    "published-tables": PrintedFormat(
        "mawl published --tables --json", "1.0", "mawl.commands.compare:PaperTables"
    ),
    "qualify": PrintedFormat("mawl qualify --json", "", "mawl.records.model.qualification:Qualification"),
    "rank": PrintedFormat("mawl rank --format json", "1.0", "mawl.advice.rank:Ranking"),
    "search": PrintedFormat("mawl tune search --json", "1.0", "mawl.tuning.search.records:SearchAnswer"),
    "simulation": PrintedFormat("mawl simulate --json", "1.1", "mawl.whatif.records:SimulationAnswer"),
    "simulation-published": PrintedFormat(
        "mawl simulate --published --json", "1.0", "mawl.whatif.records:PublishedForecasts"
    ),
    "size": PrintedFormat("mawl size --format json", "1.1", "mawl.whatif.size.question:PrintedSize"),
    "steps": PrintedFormat("mawl steps --format json", "1.0", "mawl.derive.costs:StepCosts"),
    "summary": PrintedFormat("mawl report --format json", "", "mawl.records.model.summary.summary:Judged"),
    "tune-changes": PrintedFormat("mawl tune compare --json", "1.1", "mawl.tuning.changes:Changes"),
    "tune-check": PrintedFormat("mawl tune check --json", "1.0", "mawl.tuning.records:SettingsCheck"),
    "tune-profiles": PrintedFormat("mawl tune show --json", "1.0", "mawl.commands.tune:ProfileList"),
    "validation": PrintedFormat("mawl validate --json", "1.0", "mawl.archive.publication:Validation"),
}
"""By name; the two without a version have that of their file."""


class SchemaArguments(Arguments):
    """Print the JSON Schema of what another verb prints as JSON, or list them all.

    A schema names its format and version in $id. A new field raises the second number; a field that is
    removed or changes its meaning raises the first.
    """

    name: str | None = operand("NAME", "one of the list (default: the list)", nargs="?")


def run_schema(arguments: SchemaArguments) -> int:
    """Print the list or a schema."""
    if arguments.name is None:
        width = max(map(len, FORMATS))
        print("\n".join(f"{name:<{width}}  {one.command}" for name, one in FORMATS.items()))
        return 0
    if arguments.name not in FORMATS:
        raise UsageError(
            f"no schema is called {arguments.name!r}",
            cure=f"{meant(arguments.name, FORMATS)}choose one of {', '.join(FORMATS)}",
        )
    print(text(arguments.name), end="")
    return 0


def text(name: str) -> str:
    """The schema (draft 2020-12) as text."""
    if name == "qualify":
        return render_qualification()
    from mawl.records.model.fields import record_schema, schema_of
    from mawl.records.store.files import FORMAT_VERSION

    one = FORMATS[name]
    title = f"What {one.command} {'print' if ' and ' in one.command else 'prints'}"
    module, _, record = one.record.partition(":")
    kind: Any = getattr(importlib.import_module(module), record)
    if name == "summary":
        content = schema_of(kind, name, FORMAT_VERSION, title)
    else:
        content = record_schema(kind, name, one.version, title)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


INSTANTS = {"Phase": "began_at", "Qualification": "created_at"}
"""Points in time of ``qualify.json``, which are seconds in memory and ISO 8601 (UTC) in the file."""


def render_qualification() -> str:
    """The schema of ``qualify.json`` as text, with a newline at the end."""
    from mawl.records.model.fields import DRAFT
    from mawl.records.model.qualification import QUALIFICATION_FORMAT_VERSION, Qualification

    found = json.loads(json.dumps(msgspec.json.schema(Qualification)))  # defaults as JSON has them
    for struct, name in INSTANTS.items():
        known = found["$defs"][struct]["properties"][name]
        kinds = [{"type": "string", "format": "date-time"}]
        found["$defs"][struct]["properties"][name] = (
            {"anyOf": [*kinds, {"type": "null"}], "default": None} if "anyOf" in known else kinds[0]
        )
    head = {"$schema": DRAFT, "title": f"qualify.json, format {QUALIFICATION_FORMAT_VERSION}"}
    return json.dumps({**head, **found}, indent=2) + "\n"


VERBS = {
    "completion": Verb(CompletionArguments, run_completion),
    "schema": Verb(SchemaArguments, run_schema),
}
