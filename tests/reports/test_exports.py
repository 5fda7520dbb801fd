"""JUnit XML holds what its schema allows, its counts agree, and names of others do no harm.

The lines that scripts around iotest scripts look for.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from mawl.advice.conditions import ConditionCheck, State
from mawl.figures.view import RunView
from mawl.records.model.run import NodeFacts
from mawl.reports.exports import render_iotest, render_junit
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, samples
from tests.fakes.stored_run import facts
from tests.fakes.views import as_summary, judge, summary_of


def report(nodes: list[NodeFacts], *, sampled: bool = True) -> str:
    """The block of a run whose devices read 90 MB/s and wrote 45 MB/s all the time."""
    of, records = facts(outcome="completed", workload=WORKLOAD, nodes=nodes), four_jobs(60.0)
    some = samples(60, IDLE) if sampled else None
    summary: dict[str, Any] = judge(of, records, summary_of(of, records, samples=some), some)
    return render_iotest(RunView(of, records, some), as_summary(summary))


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


@pytest.mark.parametrize(
    ("nodes", "why"),
    [([NodeFacts(name="a")], "the cores of a node are not known"), ([], "the run names no node")],
)
def test_without_cores_there_is_a_reason_and_no_rate(nodes: list[NodeFacts], why: str) -> None:
    text = report(nodes)
    assert "throughput rate" not in text and f"not known: {why}" in text


def test_without_samples_there_is_a_reason_and_no_rate() -> None:
    text = report(facts().nodes, sampled=False)
    assert "throughput rate" not in text
    assert "  not known: no samples cover a window of the run" in text


SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, set(), {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "time", "skipped"}, set(), {"testcase"}),
    "testcase": ({"name", "classname", "time"}, set(), {"failure", "error", "system-out"}),
    "failure": ({"type", "message"}, set(), set()),
    "error": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}
"""Element to its attributes, those it may lack, and its children: the part of the JUnit schema that
Jenkins and GitLab publish which mawl writes."""

HOSTILE = "a]]><x>&\x00\x1b[31m\ud800\uffff</failure>"


def check(state: State, name: str = "not-carried", text: str = "a sentence") -> ConditionCheck:
    return ConditionCheck(name=name, subject=text, state=state, sentence=text)


def valid(element: ElementTree.Element) -> None:
    """Raises where an element is not what ``SCHEMA`` says."""
    needed, allowed, children = SCHEMA[element.tag]
    assert needed <= set(element.attrib) <= needed | allowed
    for child in element:
        assert child.tag in children
        valid(child)


@pytest.mark.parametrize("text", ["a sentence", HOSTILE])
def test_every_document_is_valid_and_its_counts_agree(text: str) -> None:
    states: list[State] = ["not met", "met", "not known", "failed"]
    document = render_junit("mawl run", [check(state, text=text) for state in states], 1.5)
    root = ElementTree.fromstring(document.encode())
    valid(root)
    suite = root[0]
    assert root.attrib["tests"] == suite.attrib["tests"] == str(len(list(root.iter("testcase")))) == "4"
    assert suite.attrib["failures"] == str(len(list(root.iter("failure")))) == "2"
    assert suite.attrib["errors"] == str(len(list(root.iter("error")))) == "1"


def test_a_failure_carries_its_sentence_and_a_pass_is_neither_failure_nor_error() -> None:
    root = ElementTree.fromstring(render_junit("mawl run", [check("met"), check("not met")], 0.0))
    first, second = root.iter("testcase")
    assert first[0].tag == "failure" and first[0].attrib["message"] == first[0].text == "a sentence"
    assert [child.tag for child in second] == ["system-out"]
