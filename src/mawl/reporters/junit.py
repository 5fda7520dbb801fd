"""Checks as JUnit XML, which CI servers read: one test case for each check of each subject.

A condition that is met is a failure.  One that is not known is an error, because a skipped test would pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from mawl.advice.conditions import ConditionCheck, State
from mawl.printable import printable

ELEMENTS: dict[State, str | None] = {
    "not met": None,
    "met": "failure",
    "failed": "failure",
    "not known": "error",
}


def render(suite: str, checks: Sequence[ConditionCheck], seconds: float) -> str:
    """One well-formed document; ``seconds`` is how long the verb took."""
    elements = [ELEMENTS[check.state] for check in checks]
    counts = {
        "tests": str(len(checks)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "time": f"{seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "mawl", **counts})
    one = ElementTree.SubElement(root, "testsuite", {"name": suite, **counts, "skipped": "0"})
    for check, element in zip(checks, elements, strict=True):
        case = ElementTree.SubElement(
            one, "testcase", {"classname": _text(check.subject), "name": check.name, "time": "0.000"}
        )
        place = ElementTree.SubElement(case, "system-out")
        if element is not None:
            case.remove(place)
            place = ElementTree.SubElement(
                case, element, {"type": check.state.replace(" ", "-"), "message": _text(check.sentence)}
            )
        place.text = _text(check.sentence)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _text(text: str) -> str:
    """XML has no place for control characters, escaped or not."""
    return printable(text).replace("\ufffe", "").replace("\uffff", "")
