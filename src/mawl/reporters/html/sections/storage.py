"""What each role asked of its devices, beside what a probe found that they can do."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.model.probe import Probe
from mawl.reporters import probe
from mawl.reporters.html.figures import ShownFigures, paragraph, part, table
from mawl.reporters.html.tables import tables_in


def storage(figures: ShownFigures, view: RunView) -> Markup:
    """A row per role and direction, and the tests of the probe; nothing where the run holds none."""
    title = "Demand on storage, and what it can do"
    if figures.value("storage") is None:
        return Markup()
    return part("storage", title, *tables_in("storage", figures, view), *_tests(view.probe))


def _tests(probed: Probe | str | None) -> list[Markup]:
    """What the probe, or an imported file of fio, measured: a table for each directory."""
    if not isinstance(probed, Probe):
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
