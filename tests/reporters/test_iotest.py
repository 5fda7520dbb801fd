"""The lines that scripts around iotest scripts look for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mawl.analysis.view import RunView
from mawl.model.run import NodeFacts
from mawl.reporters.iotest import render
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, samples
from tests.fakes.stored_run import facts
from tests.fakes.views import as_summary, judge, summary_of


def report(nodes: list[NodeFacts], *, sampled: bool = True) -> str:
    """The block of a run whose devices read 90 MB/s and wrote 45 MB/s all the time."""
    of, records = facts(outcome="completed", workload=WORKLOAD, nodes=nodes), four_jobs(60.0)
    some = samples(60, IDLE) if sampled else None
    summary: dict[str, Any] = judge(of, records, summary_of(of, records, samples=some), some)
    return render(RunView(of, records, some), as_summary(summary))


def grepped(text: str, direction: str) -> str:
    """What grep for the name and sed of ``s/ *read throughput rate: *//g;s/ megabytes.*$//g`` leave."""
    (line,) = [line for line in text.splitlines() if f"{direction} throughput rate" in line]
    return re.sub(" megabytes.*$", "", re.sub(f" *{direction} throughput rate: *", "", line))


def test_scripts_find_the_sustained_rates_per_core_in_their_megabytes() -> None:
    text = report([NodeFacts(name="a", cores=4, core_basis="physical core")])
    assert grepped(text, "read") == f"{90e6 / 4 / 2**20:.2f}" == "21.46"
    assert grepped(text, "write") == f"{45e6 / 4 / 2**20:.2f}"
    assert "  read throughput rate:   21.46 megabytes/second per physical core" in text.splitlines()
    assert "  write throughput rate:  10.73 megabytes/second per physical core" in text.splitlines()


def test_a_virtual_machine_says_what_its_cores_are() -> None:
    assert "megabytes/second per vCPU" in report(facts().nodes)


@pytest.mark.parametrize("nodes", [[NodeFacts(name="a")], []])
def test_without_cores_there_is_a_reason_and_no_rate(nodes: list[NodeFacts]) -> None:
    text = report(nodes)
    assert "throughput rate" not in text and "not known: the nodes' cores are not known" in text


def test_without_samples_there_is_a_reason_and_no_rate() -> None:
    text = report(facts().nodes, sampled=False)
    assert "throughput rate" not in text
    assert "  not known: no samples cover a window of the run" in text
