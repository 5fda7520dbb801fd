"""The page of metrics: every definition of the registry in one table."""

from __future__ import annotations

import html

from mawl.commands.probe import PrintedProbe
from mawl.figures.campaign import CampaignFound
from mawl.figures.trends import NIGHT_METRICS
from mawl.lab.experiment.records import LAB_METRICS
from mawl.records.definitions import Metric
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


PARTS = (
    ("report", "`mawl report --format json`, and files of the run folder", METRICS),
    ("samples", "the column `series` of samples", SERIES_METRICS),
    ("nights", "the HTML report of an import of many nights", NIGHT_METRICS),
    ("lab", "`mawl lab report --json`", LAB_METRICS),
    ("campaign", "`mawl report CAMPAIGN --format json`", _CAMPAIGN),
    ("placement", "`mawl placement --json`, under `placement`", PLACEMENT_METRICS),
    ("simulate", "`mawl simulate --json`, under `simulate`", SIMULATION_METRICS),
    ("size", "`mawl size --format json`", SIZE_METRICS),
    ("papers", "`mawl simulate --published --json`", PUBLISHED_FORECAST_METRICS),
    ("tune check", "`mawl tune check --json`", TUNING_METRICS),
    ("tune compare", "`mawl tune compare --json`", CHANGE_METRICS),
    ("tune search", "`mawl tune search --json`", SEARCH_METRICS),
    ("inventory", "run.json: `inventories.NODE.families.FAMILY.SUBJECT.NAME`", INVENTORY_METRICS),
    ("probe", "probe.json and `mawl probe --json`, which adds `guideline`", metrics_of(PrintedProbe)),
)
"""The word of the column *in*, where such figures are printed, and their definitions."""


def metrics_page() -> list[str]:
    """All definitions as one table, which the site lets a reader search (docs/assets/searched.js)."""
    rows = [
        (f"`{one.name}`", part, _unit(one), one.definition) for part, _, metrics in PARTS for one in metrics
    ]
    return [
        "# Metrics",
        "",
        "Every figure has one definition. What could not be measured is null with a reason.",
        "`*` stands for one of several: a role, a device, a node, a row of a list.",
        "Point at a unit to see type and source of a figure.",
        "",
        *table(("in", "figures of"), [(part, where) for part, where, _ in PARTS]),
        '<div class="searched" markdown="1">',
        "",
        *table(("name", "in", "unit", "definition"), rows),
        "</div>",
    ]


def _unit(metric: Metric) -> str:
    kind = metric.type if isinstance(metric.type, str) else metric.type.__name__
    about = f"{kind}; source: {metric.source}" if metric.source else kind
    return f'<abbr title="{html.escape(about)}">{metric.unit}</abbr>'
