"""Every form of an answer says the same, fits its place, and is not harmed by names of others."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import msgspec
import pytest

from mawl.advice.qualification.machine import limit_by
from mawl.commands.schema import render_qualification
from mawl.records.model.qualification import Qualification, QualificationChange
from mawl.records.store.campaign import plain_qualification
from mawl.reports.document import rendered
from mawl.reports.layout import escaped
from mawl.reports.qualification import (
    STORAGE_WORDS,
    WORDS,
    disclosure,
    document,
    rules_rows,
)
from tests.fakes.answered import CLUSTER_NO, NOT_KNOWN, WORK, YES, answered, clustered, every_record


def render_text(record: Qualification) -> str:
    return rendered(document(record), "text", 80)


def render_markdown(record: Qualification) -> str:
    return rendered(document(record), "markdown")


def render_page(record: Qualification) -> str:
    return rendered(document(record), "html")


def render_disclosure(record: Qualification) -> str:
    return rendered(disclosure(record), "markdown")


HOSTILE = "/a <script>alert(1)</script>\n| @team `x` [l](http://h.example) \x1b[31m"


def hostile() -> Qualification:
    """A record whose every name of others is made to do harm."""
    limit = limit_by([msgspec.structs.replace(WORK, place=HOSTILE)], is_named=True)
    record = answered(msgspec.structs.replace(YES, limit=limit, cautions=[HOSTILE]))
    return msgspec.structs.replace(
        record,
        name=HOSTILE,
        machine=msgspec.structs.replace(record.machine, name=HOSTILE, cpu_model=HOSTILE),
        asked=msgspec.structs.replace(record.asked, roles={"data": [HOSTILE]}),
    )


@pytest.mark.parametrize("kind", every_record())
def test_a_terminal_of_eighty_columns_holds_it(kind: str) -> None:
    record = every_record()[kind]
    lines = render_text(record).splitlines()
    longer = [line.lstrip() for line in lines if len(line) > 80]
    assert [line for line in longer if not line.startswith("mawl qualify ")] == []
    assert len(longer) <= 1, "the command of *next*"
    if record.answer is not None:
        words = " ".join(" ".join(lines).split())
        assert words.startswith(record.answer.sentence)
        assert " ".join(record.answer.next_step.split()) in words


def test_nodes_are_named_with_what_limits_and_how_they_scale() -> None:
    record = clustered(CLUSTER_NO)
    shown = " ".join(render_text(record).split())
    assert "nodes The shared storage or its network limits: one node alone carries the load, and" in shown
    assert "node1 alone (3 runs): carried: 1.40 times the reference time (1.33 to 1.48)" in shown
    assert "13,300 jobs per hour with 4 nodes, 8,520 with one: 39 % of 4 times as many" in shown
    assert "4 nodes (node1, node2, node3, node4); node1 has a CPU, 16 cores, 64.0 GiB of memory" in shown
    assert "3 runs with all nodes and 0 runs with one, 71 jobs in 20 sessions a node," in shown
    page = render_page(record)
    assert "mixed20 on 4 nodes" in page and "The shared storage or its network limits" in page
    assert "| nodes |" in render_disclosure(record), "the rule with its bound"
    assert "**nodes**" not in render_markdown(answered(YES))


def test_a_forecast_says_that_nothing_was_measured() -> None:
    said = render_text(every_record()["forecast-only"])
    assert said.startswith("PROBABLY YES (80 % sure)") and "nothing was measured" in " ".join(said.split())


def test_names_of_others_are_inert() -> None:
    record = hostile()
    page, ticket, shown = render_page(record), render_markdown(record), render_text(record)
    assert "<script>alert" not in page and "&lt;script&gt;" in page
    for form in (ticket, render_disclosure(record)):
        assert "<script" not in form and "@team" not in form and "http://" not in form
        assert "\x1b" not in form
    assert "\x1b" not in shown + page and "\n| @team" not in shown


def test_the_disclosure_has_every_rule_and_every_reason() -> None:
    record = answered(YES)
    assert record.answer is not None
    page = render_disclosure(record)
    assert all(f"| {rule.name} |" in page for rule in record.answer.rules)
    assert all(f"| {escaped(path)} |" in page for path in record.answer.missing)


def test_the_disclosure_says_why_a_run_does_not_count() -> None:
    record = answered(YES)
    why = "other work used 30 % of the processors, so the run does not count"
    last = msgspec.structs.replace(record.runs[-1], state="left out", outcome="completed", reason=why)
    page = render_disclosure(msgspec.structs.replace(record, runs=[*record.runs[:-1], last]))
    assert page.count(why) == 1


def test_failed_rules_come_first_and_say_so_in_words() -> None:
    record = answered(NOT_KNOWN)
    assert record.answer is not None
    rows = rules_rows(record.answer)
    met = [row[3] for row in rows]
    assert met == sorted(met, key=["NOT MET", "not known", "yes"].index) and met[:3] == [
        "NOT MET",
        "NOT MET",
        "not known",
    ]
    said = "2 of 8 rules not met: runs, active time; not known: slowdown."
    page, shown = render_disclosure(record), render_page(record)
    assert said in page and said in unescape(shown)
    assert page.count("| NOT MET |") == 2 and shown.count(">NOT MET<") == 2
    assert "None of 8 rules failed." in render_disclosure(answered(YES))


def test_page_and_ticket_show_the_storage_during_the_mix_and_define_its_figures() -> None:
    record = answered(YES)
    page, ticket = unescape(render_page(record)), render_markdown(record)
    for form in (page, ticket):
        assert all(
            cell in form for cell in ("nvme0n1p1", "702 MB/s", "4.60 ms", "9.40", "64.0 GiB of memory")
        )
        assert "virtual machine (hypervisor flag in /proc/cpuinfo)" in form
        assert all(term in form for term, _ in (*WORDS, *STORAGE_WORDS))


def test_an_answer_of_an_earlier_version_has_no_storage_and_no_machine() -> None:
    record = answered(msgspec.structs.replace(YES, system=None, during=[]))
    page = render_page(record)
    assert "The storage during the mix" not in page and "a CPU, 6 cores" in page
    assert all(term not in page for term, _ in STORAGE_WORDS)


@pytest.mark.parametrize(
    ("change", "number", "said"),
    [
        (
            {"measured": 3, "sessions": 4, "sessions_low": 4, "sessions_high": 4},
            "at least 4",
            "at least 4 sess",
        ),
        (
            {"measured": 3, "sessions": 4, "sessions_high": 4},
            "at least 4",
            "fewer than 1 to 4 sessions or more",
        ),
        (
            {"measured": 3, "sessions": 2, "sessions_low": 1, "sessions_high": 3},
            "2 sess",
            "1 to 3 sessions by",
        ),
        (
            {"sessions": 8, "sessions_low": None, "sessions_high": 13},
            "8 sessions",
            "fewer than 5 to 13 sessions",
        ),
        ({"sessions": None, "sessions_high": 7}, "fewer than 5", "fewer than 5 to 7 sessions"),
        ({"sessions": None}, "fewer than 5", "fewer than 5 at best"),
        (
            {"sessions": 8, "range_basis": None, "reason": "nothing was probed"},
            "8 sessions",
            "no range: nothing",
        ),
    ],
)
def test_a_change_says_its_range_or_why_it_has_none(change: dict[str, Any], number: str, said: str) -> None:
    plain: dict[str, Any] = {
        "text": "Twice the processors",
        "gain_ratio": 0.4,
        "range_basis": "published systems",
    }
    measured = change.pop("measured", YES.sessions)
    one = QualificationChange(**(plain | change))
    ticket = render_markdown(answered(msgspec.structs.replace(YES, changes=[one], sessions=measured)))
    line = next(line for line in ticket.splitlines() if line.startswith("- **change**"))
    assert f"Twice the processors: {number}" in line and said in line


def test_the_schema_is_that_of_the_file() -> None:
    found = json.loads(render_qualification())
    assert json.loads(render_qualification()) == found
    plain = plain_qualification(answered(YES))
    properties = found["$defs"]["Qualification"]["properties"]
    assert set(plain) == set(properties)
    answer = set(found["$defs"]["QualificationAnswer"]["properties"])
    assert set(plain["answer"]) == answer - {"nodes"}, "that of one machine has none"
    assert set(plain_qualification(clustered(CLUSTER_NO))["answer"]) == answer
    assert isinstance(plain["phases"][0]["began_at"], str)
    assert {"type": "string", "format": "date-time"} in found["$defs"]["Phase"]["properties"]["began_at"][
        "anyOf"
    ]
