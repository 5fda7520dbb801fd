"""Markdown and the disclosure: text of a run stays text."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mawl.advice.judge import RULES
from mawl.figures.view import RunView
from mawl.records.model.run import RunFacts
from mawl.reports import markdown
from mawl.reports.document import rendered
from mawl.reports.layout import code, escaped
from tests.fakes.host_run import PARTS, host_facts
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, samples
from tests.fakes.stored_run import job
from tests.fakes.views import BARE, as_summary, judge, summary_of, typed

EVIL = "<script>alert(1)</script> | [x](http://evil) @team `code` **bold** ![i](y) www.evil.org\n# forged"


def judged(**changes: object) -> tuple[RunFacts, dict[str, Any]]:
    """A judged run with a host."""
    of = host_facts(outcome="completed", workload=WORKLOAD, **changes)
    records, some = four_jobs(60.0), samples(60, IDLE | PARTS)
    return of, judge(of, records, summary_of(of, records, samples=some), some)


def page(of: RunFacts, summary: dict[str, Any]) -> str:
    """The disclosure."""
    return rendered(markdown.disclosure(RunView(of, []), typed(summary)), "markdown")


@given(st.text())
def test_an_escaped_text_has_no_markup(text: str) -> None:
    held = escaped(text)
    assert "\n" not in held and "<" not in held and ">" not in held and "@" not in held
    assert "://" not in held and "www." not in held
    assert re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]|~]", held) is None


@given(st.text(min_size=1))
def test_a_name_in_code_cannot_leave_it(text: str) -> None:
    held = code(text)
    assert "\n" not in held and "|" not in held
    if held:
        fence = re.match("`+", held)
        assert fence is not None and held.endswith(fence[0])
        inside = held[len(fence[0]) : -len(fence[0])]
        assert fence[0] not in re.findall("`+", inside)


def test_what_a_run_is_called_stays_words() -> None:
    of, summary = judged(run_id=EVIL, outcome_reason=EVIL)
    bad = job("s1-1", 0.0, 1.0, program=EVIL, job=EVIL, outcome="failed", reason=EVIL)
    other = judge(of, [bad], summary_of(of, [bad]))
    for text in (
        markdown.render(BARE, as_summary(summary)),
        markdown.render(BARE, as_summary(other)),
        page(of, summary),
        page(of, other),
    ):
        outside = re.sub(r"(`+) ?.*?\1", "", text)
        assert "<script" not in outside and "@team" not in outside and "http://" not in outside
        assert not any(line.startswith("# forged") for line in text.splitlines())


def test_every_row_of_a_table_has_the_cells_of_its_head() -> None:
    of, summary = judged(run_id=EVIL)
    for text in (markdown.render(BARE, as_summary(summary)), page(of, summary)):
        cells = 0
        for line in text.splitlines():
            if not line.startswith("|"):
                cells = 0
                continue
            found = len(re.findall(r"(?<!\\)\|", line))
            assert found == (cells or found), line
            cells = found


def test_markdown_has_the_figures() -> None:
    _, summary = judged()
    lines = markdown.render(BARE, as_summary(summary)).splitlines()
    assert f"| device |{' 120 MB/s |' * 5} 60.0 MB/s | 4.80 GB | 2.40 GB |" in lines
    assert any(line.startswith("- **validity**: preliminary") for line in lines)
    assert any(line.startswith("| `wide_sort` | 4 |") for line in lines)


def test_the_disclosure_names_every_rule_and_says_whether_it_is_met() -> None:
    of, summary = judged()
    lines = page(of, summary).splitlines()
    rows = [line.split("|") for line in lines[lines.index("## Rules") + 4 :]]
    met = {row[1].strip(): row[2].strip() for row in rows}
    assert list(met) == list(RULES)
    found = {one["rule"] for one in summary["validity"]["findings"] if one["severity"] != "remark"}
    assert {name for name, word in met.items() if word == "NO"} == found
    assert any("Not fit to publish" in line for line in lines)
    good = {**summary, "validity": {"status": "publishable", "findings": [], "unmeasured": []}}
    text = page(of, good)
    assert "- Fit to publish: every rule is met." in text and "**no**" not in text


def test_the_disclosure_calls_no_rule_met_that_was_not_measured() -> None:
    of = host_facts(outcome="completed", workload=WORKLOAD)
    records = four_jobs(60.0)
    text = page(of, judge(of, records, summary_of(of, records)))
    for rule in ("swap", "steal", "frequency", "drift"):
        assert f"| {rule} | not known: the run holds no samples |" in text


def test_the_disclosure_is_one_page_of_facts_to_repeat_the_run() -> None:
    text = page(*judged(command=["/opt/bin/mawl", "run", "four"]))
    assert len(text.splitlines()) < 100
    for fact in (
        "| command | mawl run four |",
        "| data on bench1 | xfs on /dev/sda",
        "pyarrow 26.0.1",
        "transparent\\_hugepage=madvise",
        "asked to be: cold",
    ):
        assert fact in text
