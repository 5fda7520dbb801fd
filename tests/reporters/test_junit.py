"""JUnit XML holds what its schema allows, its counts agree, and names of others do no harm."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from mawl.advice.conditions import ConditionCheck, State
from mawl.reporters.junit import render

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
    """Raises where an element is not what :data:`SCHEMA` says."""
    needed, allowed, children = SCHEMA[element.tag]
    assert needed <= set(element.attrib) <= needed | allowed
    for child in element:
        assert child.tag in children
        valid(child)


@pytest.mark.parametrize("text", ["a sentence", HOSTILE])
def test_every_document_is_valid_and_its_counts_agree(text: str) -> None:
    states: list[State] = ["not met", "met", "not known", "failed"]
    document = render("mawl run", [check(state, text=text) for state in states], 1.5)
    root = ElementTree.fromstring(document.encode())
    valid(root)
    suite = root[0]
    assert root.attrib["tests"] == suite.attrib["tests"] == str(len(list(root.iter("testcase")))) == "4"
    assert suite.attrib["failures"] == str(len(list(root.iter("failure")))) == "2"
    assert suite.attrib["errors"] == str(len(list(root.iter("error")))) == "1"


def test_a_failure_carries_its_sentence_and_a_pass_is_neither_failure_nor_error() -> None:
    root = ElementTree.fromstring(render("mawl run", [check("met"), check("not met")], 0.0))
    first, second = root.iter("testcase")
    assert first[0].tag == "failure" and first[0].attrib["message"] == first[0].text == "a sentence"
    assert [child.tag for child in second] == ["system-out"]
