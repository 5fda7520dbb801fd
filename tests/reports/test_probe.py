"""A probe as the papers' table, and demand beside it in every report of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.advice.guideline import probe_guidelines
from mawl.commands.probe import PrintedProbe
from mawl.figures.view import StoredView
from mawl.records.model.fields import metrics_of
from mawl.records.model.probe import Probe
from mawl.records.store import open_run
from mawl.records.store.side_files import write_probe
from mawl.reports import document, json, markdown, text
from mawl.reports.html import report as html
from mawl.reports.probe import doubling_rate, parts
from tests.fakes.host_run import PARTS, host_facts
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.probes import disk, figures, probe, probe_test, target
from tests.fakes.stored_run import facts, write_run
from tests.fakes.views import BARE, as_summary, judge, judged, summary_of, typed
from tests.records.model.test_metrics import leaves

PAPERS = """probe of 2026-10-01T08:00:00Z by fio-3.33, 2 vCPUs

data: /mnt/data (xfs, on sda, 1.00 TiB, 512 GiB free)
activity                           streams   IOPS  MB/s  response: mean  p50  p99  max ms
256 KiB sequential reads                 1  1,144   300               2  1.5   30      90
256 KiB sequential reads                 2  1,526   400               2  1.5   30      90
256 KiB sequential writes                1    572   150               2  1.5   30      90
256 KiB sequential writes                2    763   200               2  1.5   30      90
1 MiB sequential reads                   2    477   500               2  1.5   30      90
8 KiB random reads                       2  1,953  16.0               2  1.5   30      90
64 KiB random reads, mixed 65:35         2    992  65.0               2  1.5   30      90
64 KiB random writes, mixed 65:35        2    534  35.0               2  1.5   30      90
guideline: read 200 MB/s, written 100 MB/s per vCPU (256 KiB, 2 streams, direct): warn (100 MB/s warn,
  150 MB/s good)"""


def shown(found: Probe) -> str:
    return document.terminal(parts(found, probe_guidelines(found, AnswerBounds())))


def test_the_papers_table_with_percentiles_and_the_guideline() -> None:
    found = shown(probe(disk()))
    assert found.splitlines()[1:] == PAPERS.splitlines()[1:]
    assert found.splitlines()[0].endswith("by fio-3.33, 2 vCPUs")


def test_what_was_not_as_asked_and_what_has_no_figures_is_said() -> None:
    failed = probe_test("read", 0, remark="fio was killed by SIGKILL", read=None, write=None)
    odd = probe_test("read", 50, direct=False, content="dialled", fill_ratio=0.9, steady=False)
    lines = shown(probe(target("x", [failed, odd], problem="1 of 2 tests gave no figures"))).splitlines()
    assert [line.split() for line in lines if line.startswith("256 KiB sequential reads  ")] == [
        ["256", "KiB", "sequential", "reads", "2", "-", "-", "-", "-", "-"],
        ["256", "KiB", "sequential", "reads", "-"],
    ]
    row, _ = [line for line in lines if line.startswith("256 KiB") and "buffered" in line]
    assert "(buffered, dialled, 90 % full)" in row and "~50.0" in row
    assert "remark: fio was killed by SIGKILL" in lines
    assert "remark: a rate that did not become steady in time is marked with ~" in lines
    assert "problem: 1 of 2 tests gave no figures" in lines
    assert "not known: it has no sequential write test of 256 KiB with figures" in " ".join(
        " ".join(lines).split()
    )


def test_a_hostile_name_stays_on_its_line() -> None:
    found = shown(probe(target("x\ny\x1b[31m", [], directory="/a\nb", file_system="z\r")))
    assert "\x1b" not in found and "\r" not in found
    lines = found.splitlines()
    assert [line[:4] for line in lines[:4]] == ["prob", "", "x y ", "guid"]
    assert [line[:2] for line in lines[4:]] == ["  "] * len(lines[4:])


def probed_summary() -> dict[str, Any]:
    known, some = samples(60, IDLE | PARTS), host_facts()
    return judge(
        some, four_jobs(60), summary_of(some, four_jobs(60), samples=known, probe=probe(disk())), known
    )


def test_the_long_report_has_a_row_per_role_and_direction() -> None:
    lines = text.render(BARE, as_summary(probed_summary())).splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("role, at its devices"))
    rows = [line.split() for line in lines[start + 1 : start + 7]]
    assert [row[:2] for row in rows] == [
        [f"{role},", direction] for role in ("data", "work", "util") for direction in ("read", "write")
    ]
    assert rows[0][-4:] == ["20", "%", "20", "%"]
    rest = " ".join(lines[start + 7 :])
    assert "can do: sequential read, 256 KiB, 2 streams, direct" in rest
    assert "data: its figures are also of util and work" in rest


def test_markdown_and_json_have_it_too() -> None:
    summary = probed_summary()
    assert "| data, read |" in markdown.render(BARE, as_summary(summary))
    assert '"peak_used_ratio": 0.2' in json.render(summary)


def test_without_a_probe_the_reports_say_nothing_of_it_but_the_reason() -> None:
    summary = summary_of(host_facts(), four_jobs(60))
    whole = judge(host_facts(), four_jobs(60), summary)
    assert "at its devices" not in text.render(
        BARE, as_summary(whole)
    ) and "at its devices" not in markdown.render(BARE, as_summary(whole))
    assert whole["missing"]["storage"] == "the run folder holds no probe (mawl probe --run RUN)"


def test_the_page_has_a_section_with_the_figures_and_the_reasons(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts(volumes=[]))
    run = open_run(tmp_path / "run")
    assert "the run folder holds no probe (mawl probe --run RUN)" in html.render(
        StoredView(run), typed(judged(StoredView(run)))
    )
    write_probe(tmp_path / "run" / "probe.json", probe(disk()))
    page = html.render(
        StoredView(open_run(tmp_path / "run")), typed(judged(StoredView(open_run(tmp_path / "run"))))
    )
    assert "Demand and capability by role" in page
    assert "the run does not say what holds the role" in page


def test_a_probe_that_is_damaged_costs_only_its_block(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    (tmp_path / "run" / "probe.json").write_text("{")
    summary = judged(StoredView(open_run(tmp_path / "run")))
    assert summary["storage"] is None and "is not what mawl probe writes" in summary["missing"]["storage"]
    assert summary["jobs"]["total"] > 0


@pytest.mark.parametrize("prefix", ["targets.*.tests.*", "targets.*", "guideline.*", ""])
def test_every_figure_of_a_probe_is_defined_once(prefix: str) -> None:
    names = [metric.name for metric in metrics_of(PrintedProbe)]
    assert len(set(names)) == len(names)
    found = probe(disk())
    plain = msgspec.to_builtins(
        {**msgspec.structs.asdict(found), "guideline": probe_guidelines(found, AnswerBounds())}
    )
    blocks: dict[str, Any] = {
        "targets.*.tests.*": plain["targets"][0]["tests"][0],
        "targets.*": plain["targets"][0],
        "guideline.*": plain["guideline"]["data"],
        "": plain,
    }
    identity = {"format_version", "directory", "node", "source", "targets", "tests", "curve", "guideline"}
    shown = {name for name in blocks[prefix] if name not in {*identity, "read", "write"}}
    defined = {f"{prefix}.{name}".lstrip(".") for name in shown}
    assert defined <= set(names)
    if prefix == "targets.*.tests.*":
        ways = {".".join(path[:2]) for path in leaves({"read": blocks[prefix]["read"]})}
        assert {f"{prefix}.{way}" for way in ways} <= set(names)


CURVE = ((100.0, 0.004), (200.0, 0.005), (300.0, 0.011), (400.0, 0.007))


@pytest.mark.parametrize(
    ("curve", "rate"),
    [(CURVE, 250.0), (CURVE[:2], None), (((100.0, 0.004), (200.0, 0.008)), 200.0), (CURVE[:1], None)],
)
def test_the_rate_at_which_latency_has_doubled(
    curve: Sequence[tuple[float, float]], rate: float | None
) -> None:
    """8 ms is half the way from 5 to 11: 250 of 200 to 300."""
    assert doubling_rate(curve) == rate


def test_a_curve_is_a_table_of_its_own_with_the_rate_at_which_p99_doubles() -> None:
    tests = [
        probe_test(
            "read",
            0.0,
            pattern="random",
            streams=32,
            depth=32,
            asked_requests_per_second=rate,
            read=msgspec.structs.replace(figures(rate * 2**18), latency_seconds={"p99": latency}),
        )
        for rate, latency in CURVE
    ]
    found = probe(target("work", [probe_test("read", 40, pattern="random", depth=2)], curve=tests))
    shown = document.terminal(parts(found, probe_guidelines(found, AnswerBounds())), 110)
    assert "256 KiB random reads (depth 2)" in shown
    rows = [line for line in shown.splitlines() if "depth 32" in line]
    assert len(rows) == 4 and [row.split()[6] for row in rows] == ["100", "200", "300", "400"]
    assert "random reads: p99 is 4 ms at 100 requests/s; where it doubles is not known: twice" in shown
    assert "less again at 400 (measure longer: --seconds)" in " ".join(shown.split())
    above = msgspec.structs.replace(found.targets[0], curve=tests[:3])
    found = msgspec.structs.replace(found, targets=[above])
    shown = document.terminal(parts(found, probe_guidelines(found, AnswerBounds())), 110)
    assert "256 KiB random reads: p99 is 4 ms at 100 requests/s and has doubled at 250" in shown
