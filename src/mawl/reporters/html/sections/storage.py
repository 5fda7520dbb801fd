"""What each role asked of its devices, beside what a probe found that they can do."""

from __future__ import annotations

from markupsafe import Markup

from mawl.model.probe import Probe
from mawl.reporters import probe
from mawl.reporters.demand import COLUMNS, notes, shown
from mawl.reporters.html.figures import ShownFigures, paragraph, section, table


def storage(figures: ShownFigures, probed: Probe | None) -> Markup:
    """A row per role and direction, and the tests of the probe; the reason where the run holds none."""
    title = "Demand on storage, and what it can do"
    if figures.value("storage") is None:
        why = paragraph(f"Not known: {figures.reason(('storage',))}.", "why")
        return section("storage", title, why)
    head = (
        "role, at its devices",
        *(figures.term(label, f"storage.by_role.*.read.{name}") for label, name, _ in COLUMNS),
    )
    rows = [
        (
            f"{role}, {direction}",
            *(figures.show(form, "storage", "by_role", role, direction, name) for _, name, form in COLUMNS),
        )
        for role, direction in shown(figures.summary)
    ]
    found = figures.summary.storage
    when = f"Probed {found.probed_at[:10]} with {found.tool}." if found else ""
    beside = [paragraph(note, "quiet") for note in [when, *notes(figures.summary)]]
    demand = [table("Demand and capability by role", head, rows), *beside] if rows else []
    return section("storage", title, *demand, *_tests(probed))


def _tests(probed: Probe | None) -> list[Markup]:
    """What the probe, or an imported file of fio, measured: a table for each directory."""
    if probed is None:
        return []
    return [
        part
        for target in probed.targets
        for part in (
            *(
                [table(f"{probed.tool} in {probe.title_of(target)}", probe.HEAD, probe.rows_of(target))]
                if target.tests
                else []
            ),
            *(paragraph(sentence, "quiet") for sentence in probe.sentences_of(target)),
        )
    ]
