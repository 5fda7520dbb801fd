"""Energy in every report: the sum with its scope, each counter, and the part of a program's job."""

from __future__ import annotations

import pytest

from mawl.advice import judge
from mawl.analysis.view import RunView
from mawl.model.summary.summary import Judged
from mawl.reporters import markdown, openmetrics
from mawl.reporters.run_tables.energy import ENERGY
from mawl.reporters.text_table import table_lines
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples

ZONES: dict[str, Rate] = {"energy.package-0.joules": 100.0, "energy.package-0/core.joules": 70.0}


def run(rates: dict[str, Rate]) -> tuple[RunView, Judged]:
    view = RunView(host_facts(), four_jobs(60), samples(60, IDLE | rates))
    return view, judge.judged(view, None)


def test_text_and_markdown_have_the_sum_with_its_scope_and_each_counter() -> None:
    view, summary = run(ZONES)
    said = "6.00 kJ (processors, other programs and idle power included), 100 W on average, 1.50 kJ per job"
    text = " ".join("\n".join(table_lines(ENERGY, view, summary)).split())
    assert said in text and "shared out to all jobs by their CPU time" in text
    assert "package-0/core 4.20 kJ 70.0 W 60.0 s no" in text
    written = markdown.render(view, summary)
    assert said in written and "| package-0 | 6.00 kJ | 100 W |" in written


def test_openmetrics_have_joules_and_watts_as_units() -> None:
    written = openmetrics.render(run(ZONES)[1])
    assert "# UNIT mawl_energy_joules joules" in written
    assert "# UNIT mawl_energy_domain_mean_watts watts" in written
    assert 'domain="package-0/core"' in written


@pytest.mark.parametrize("rates", [{}, {"energy.psys.joules": 9.0}])
def test_without_a_sum_nothing_is_printed_as_one(rates: dict[str, Rate]) -> None:
    view, summary = run(rates)
    text = "\n".join(table_lines(ENERGY, view, summary))
    assert "per job" not in text
    assert ("energy: not known (what psys measures" in " ".join(text.split())) == bool(rates)
