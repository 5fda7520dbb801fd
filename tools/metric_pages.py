"""The page of metrics: every definition of the registry, part by part."""

from __future__ import annotations

from mawl.commands.probe import PrintedProbe
from mawl.figures.campaign import CampaignFound
from mawl.figures.trends import NIGHT_METRICS
from mawl.lab.experiment.records import LAB_METRICS
from mawl.records.model.fields import metrics_of
from mawl.records.model.metrics import METRICS
from mawl.records.model.series_metrics import INVENTORY_METRICS, SERIES_METRICS
from mawl.tuning.changes import CHANGE_METRICS
from mawl.tuning.records import TUNING_METRICS
from mawl.tuning.search.records import SEARCH_METRICS
from mawl.whatif.placement.demand import PLACEMENT_METRICS
from mawl.whatif.records import PUBLISHED_FORECAST_METRICS, SIMULATION_METRICS
from mawl.whatif.size.question import SIZE_METRICS
from tools.markdown import table

_CAMPAIGN = [one for one in metrics_of(CampaignFound) if not one.name.startswith("comparison.")]


def metrics_page() -> list[str]:
    """The metric registry."""
    fields = type(METRICS[0]).__struct_fields__
    parts = (
        (
            "# Metrics",
            "Every figure has one definition. What could not be measured is null with a reason.",
            METRICS,
        ),
        (
            "## Series of the host",
            "Names in the column `series` of samples; `*` stands for a device, interface, port or mount.",
            SERIES_METRICS,
        ),
        (
            "## Many nights",
            "What the HTML report of an import shows of its nights and of the programs over them.",
            NIGHT_METRICS,
        ),
        ("## Lab reports", "Names in `mawl lab report --json`; `*` stands for one of a list.", LAB_METRICS),
        ("## Campaigns", "Names in `mawl report CAMPAIGN --format json`; `*` as above.", _CAMPAIGN),
        (
            "## Placement",
            "What `mawl placement --json` has under `placement`; `*` stands for a role, a target or a move.",
            PLACEMENT_METRICS,
        ),
        (
            "## Simulation",
            "What `mawl simulate --json` has under `simulate`; `*` stands for a row or a name.",
            SIMULATION_METRICS,
        ),
        (
            "## Sizing",
            "What `mawl size --format json` prints; `*` stands for one of a list.",
            SIZE_METRICS,
        ),
        (
            "## Forecasts of published systems",
            "What `mawl simulate --published --json` prints; `*` stands for one of a list.",
            PUBLISHED_FORECAST_METRICS,
        ),
        ("## Tuning", "What `mawl tune check --json` prints; `*` stands for a row.", TUNING_METRICS),
        ("## Settings before and after", "What `mawl tune compare --json` prints.", CHANGE_METRICS),
        (
            "## Search",
            "What `mawl tune search --json` prints; `*` stands for a look or a trial.",
            SEARCH_METRICS,
        ),
        (
            "## Inventory",
            "Settings of each node in run.json: `inventories.NODE.families.FAMILY.SUBJECT.NAME`.",
            INVENTORY_METRICS,
        ),
        (
            "## probe.json",
            "Names in what `mawl probe` keeps; `guideline`, by target, is in what its `--json` prints.",
            metrics_of(PrintedProbe),
        ),
    )
    lines = []
    for head, sentence, metrics in parts:
        rows = [[_cell(name, getattr(metric, name)) for name in fields] for metric in metrics]
        lines += [head, "", sentence, "", *table(fields, rows)]
    return lines


def _cell(field: str, value: object) -> str:
    if isinstance(value, type):
        return value.__name__
    return f"`{value}`" if field == "name" else "" if value is None else str(value)
