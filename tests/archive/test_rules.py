"""Each rule finds what it is for, in a run or pack that is accepted but for that.

The papers compared with the rules: every paper, known rules, and agreement with the published results.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.advice.judge import RULES
from mawl.archive.publication import EVERY, INTACT, VALIDITY_NUMBERS, Validation, validate
from mawl.archive.subject import record_subject, run_subject
from mawl.records.model.published import papers
from mawl.records.model.thresholds import value_of
from mawl.records.store.campaign import read_campaign, write_campaign
from mawl.version import source_sha256
from tests.fakes.published_cluster import write_published_cluster
from tests.fakes.published_run import write_published, write_published_campaign
from tools.papers_judged import papers_judged, section


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign whose runs pass every rule."""
    folder = tmp_path_factory.mktemp("rules") / "five"
    write_published_campaign(folder)
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on two nodes that passes every rule but those of workload and repeats."""
    folder = tmp_path_factory.mktemp("nodes") / "two"
    write_published_cluster(folder)
    return folder


@pytest.fixture
def run(five: Path, tmp_path: Path) -> Path:
    """A copy of one of its runs, to alter."""
    return Path(shutil.copytree(five / "run-1", tmp_path / "run-1"))


def failed(validation: Validation) -> dict[str, str]:
    """The rules that are not passed, and what the first fault of each says."""
    return {
        one.name: one.faults[0].sentence
        for one in validation.rulings
        if one.state not in ("passed", "not asked")
    }


def with_fact(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    facts = msgspec.json.decode((run / "run.json").read_bytes())
    change(facts)
    (run / "run.json").write_bytes(msgspec.json.encode(facts))


def with_cell(run: Path, table: str, column: str, change: Callable[[Any], Any], row: int = 0) -> None:
    found = parquet.read_table(run / f"{table}.parquet")
    values = found[column].to_pylist()
    values[row] = change(values[row])
    place, field = found.schema.get_field_index(column), found.schema.field(column)
    parquet.write_table(
        found.set_column(place, field, pa.array(values, field.type)), run / f"{table}.parquet"
    )


def test_a_campaign_of_five_good_runs_is_accepted(five: Path) -> None:
    validation = validate(record_subject(five, "campaign"))
    assert failed(validation) == {}
    assert validation.accepted and validation.intact


def test_numbers_are_unique_and_every_rule_of_validity_has_one() -> None:
    numbers = [rule.number for rule in EVERY]
    assert numbers == sorted(set(numbers))
    assert {name for _, name, _ in VALIDITY_NUMBERS} | {"repeats"} == set(RULES)
    assert {rule.name for rule in EVERY if rule.number in INTACT} >= {"complete", "unaltered", "agreement"}


def test_a_single_run_is_intact_and_not_accepted(run: Path) -> None:
    validation = validate(run_subject(run))
    assert set(failed(validation)) == {"repeats"}
    assert validation.intact and not validation.accepted


def test_a_folder_without_a_table_or_a_log_is_not_complete(run: Path) -> None:
    next((run / "logs").glob("*.saslog")).unlink()
    assert "1 of 12 logs are missing" in failed(validate(run_subject(run)))["complete"]
    (run / "steps.parquet").unlink()
    validation = validate(run_subject(run))
    assert "complete" in failed(validation)
    assert not validation.intact


def test_a_folder_that_is_no_run_is_not_accepted(tmp_path: Path) -> None:
    validation = validate(run_subject(tmp_path))
    assert not validation.accepted and not validation.intact
    assert "is not a run folder" in failed(validation)["complete"]


def test_no_rule_speaks_well_of_a_run_that_cannot_be_read(run: Path) -> None:
    facts = run / "run.json"
    facts.write_text(facts.read_text().replace('"source_sha256": "', '"source_sha256": 3, "x": "', 1))
    found = validate(run_subject(run))
    assert [one.rule for one in found.rulings if one.state == "failed"] == ["V01"]
    assert [one.rule for one in found.rulings if one.state == "passed"] == []


def test_an_edited_log_is_found(run: Path) -> None:
    log = next((run / "logs").glob("*.saslog"))
    log.write_text(log.read_text().replace("real time", "real  time", 1))
    assert set(failed(validate(run_subject(run)))) == {"pages", "repeats"}


def test_an_edited_page_is_found_and_one_that_mawl_printed_is_not(run: Path) -> None:
    from mawl.archive.packing import PrintedRun
    from mawl.reports.html.report import render

    printed = PrintedRun(run)
    page = render(printed.view, printed.summary)
    (run / "report.html").write_text(page)
    assert "pages" not in failed(validate(run_subject(run)))
    (run / "report.html").write_text(page + "\n")  # as `mawl report --format html --output FILE` ends it
    assert "pages" not in failed(validate(run_subject(run)))
    assert "21 min" in page
    (run / "report.html").write_text(page.replace("21 min", "11 min", 1))
    assert "is not what this mawl prints" in failed(validate(run_subject(run)))["pages"]


def test_pages_of_another_version_are_not_known(run: Path) -> None:
    with_fact(run, lambda facts: facts.update(mawl_version="0.0.9"))
    [ruling] = [one for one in validate(run_subject(run)).rulings if one.name == "pages"]
    assert ruling.state == "not known"


def test_a_page_that_other_code_of_the_same_version_wrote_is_not_called_edited(run: Path) -> None:
    log = next((run / "logs").glob("*.saslog"))
    with_fact(run, lambda facts: facts.update(source_sha256="ab" * 32))
    assert "pages" not in failed(validate(run_subject(run))), "equal bytes need no explanation"
    log.write_text(log.read_text().replace("real time", "real  time", 1))
    [ruling] = [one for one in validate(run_subject(run)).rulings if one.name == "pages"]
    assert ruling.state == "not known" and "abababababab" in ruling.faults[0].sentence
    with_fact(run, lambda facts: facts.update(source_sha256=source_sha256()))
    [ruling] = [one for one in validate(run_subject(run)).rulings if one.name == "pages"]
    assert ruling.state == "failed" and "other code" not in ruling.faults[0].sentence
    with_fact(run, lambda facts: facts.pop("source_sha256"))
    [ruling] = [one for one in validate(run_subject(run)).rulings if one.name == "pages"]
    assert ruling.state == "failed" and "other code of the same version" in ruling.faults[0].sentence


@pytest.mark.parametrize(
    ("table", "column", "change", "words"),
    [
        ("jobs", "real_time_seconds", lambda value: value * 0.9, "real_time_seconds is"),
        ("jobs", "user_cpu_seconds", lambda value: value * 0.9, "user_cpu_seconds"),
        ("jobs", "application_read_bytes", lambda value: value // 2, "application_read_bytes"),
        ("jobs", "own_read_bytes", lambda value: value + 10**9, "total_own_read_bytes"),
        ("jobs", "total_system_cpu_seconds", lambda value: value - 1.0, "total_system_cpu_seconds"),
        ("jobs", "data_read_bytes", lambda value: value * 2, "by volume"),
        ("jobs", "data_reads", lambda value: value - 1, "another number of calls"),
        ("jobs", "on_cpu_seconds", lambda value: value / 2, "add up to"),
        ("jobs", "started_at", lambda value: value + timedelta(seconds=60), "start"),
        (
            "jobs",
            "ended_at",
            lambda value: value - timedelta(seconds=60),
            "do not agree|apart|within its job",
        ),
        ("jobs", "program", lambda value: "wide_sort2", "its program is another"),
        ("jobs", "outcome", lambda value: "failed", "jobs finished|did not finish"),
        ("jobs", "node", lambda value: "other", "its node is another"),
        ("steps", "real_time_seconds", lambda value: value * 2, "its steps have"),
        ("steps", "job", lambda value: "nobody", "which is no job"),
        ("steps", "number", lambda value: value + 1, "steps has other ones"),
        ("events", "happened_at", lambda value: value - timedelta(seconds=90), "start|gate|end"),
        ("samples", "node", lambda value: "other", "which is no node"),
    ],
)
def test_a_figure_that_contradicts_the_others_is_found(
    run: Path, table: str, column: str, change: Callable[[Any], Any], words: str
) -> None:
    row = 1 if table == "events" else 0
    with_cell(run, table, column, change, row)
    [ruling] = [one for one in validate(run_subject(run)).rulings if one.name == "agreement"]
    assert ruling.state == "failed"
    assert any(re.search(words, fault.sentence) for fault in ruling.faults), ruling.faults


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda facts: facts["workload"].update(jobs=13), "counts 13 jobs and plans 12"),
        (lambda facts: facts["workload"].update(sessions=3), "counts 3 sessions"),
        (lambda facts: facts["planned_jobs"].pop(), "are not the same"),
        (lambda facts: facts["outside_cpu"].update(cpu_seconds=4000.0), "control group cpuacct says"),
        (lambda facts: facts["phases"].update(run_seconds=600.0), "jobs ran for 600.0 s"),
        (lambda facts: facts.update(ended_at=facts["started_at"]), "outside the start and the end"),
    ],
)
def test_a_fact_that_contradicts_the_tables_is_found(
    run: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    with_fact(run, change)
    [ruling] = [one for one in validate(run_subject(run)).rulings if one.name == "agreement"]
    assert any(words in fault.sentence for fault in ruling.faults), ruling.faults


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("size = 1.0", "size = 0.5", "is not as in the published bed: scale"),
        ('name = "bed"', 'name = "mine"', "its workload is another"),
        ("seed = 1", "seed = 2", "its seed is another"),
        ("memsize = 1", "memsize = 2", "is not as in the published bed: options|its options"),
        ('program = "wide_sort"', 'program = "os:system"', "os:system, which is no program of mawl"),
        ("[[sessions]]", "[[sessions", "is not valid TOML"),
    ],
)
def test_a_plan_that_is_not_published_is_found(run: Path, old: str, new: str, words: str) -> None:
    plan = (run / "plan.toml").read_text()
    assert old in plan
    (run / "plan.toml").write_text(plan.replace(old, new, 1))
    found = failed(validate(run_subject(run)))["workload"]
    assert re.search(words, found), found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda facts: facts["planned_jobs"][0].update(reference_seconds=900.0),
            "the reference time of .* is another than in mawl's table",
        ),
        (
            lambda facts: facts["planned_jobs"][0].update(reference_seconds=None),
            "the reference time of .* is another than in mawl's table",
        ),
        (
            lambda facts: facts.update(reference={"version": None, "file": "own.toml (0123)"}),
            r"its reference times are those of own.toml \(0123\), not mawl's",
        ),
    ],
)
def test_other_reference_times_than_mawls_are_found(
    run: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    with_fact(run, change)
    assert re.search(words, failed(validate(run_subject(run)))["workload"])


def test_a_chosen_seed_is_of_the_open_division(run: Path) -> None:
    with_fact(run, lambda facts: facts["workload"].update(seed=2))
    plan = run / "plan.toml"
    plan.write_text(plan.read_text().replace("seed = 1", "seed = 2"))
    assert "its seed is not that of the published bed" in failed(validate(run_subject(run)))["workload"]


def test_another_version_of_the_table_is_not_checked_by_this_one(run: Path) -> None:
    def older(facts: dict[str, Any]) -> None:
        facts["reference"]["version"] = 0
        facts["planned_jobs"][0]["reference_seconds"] = 900.0

    with_fact(run, older)
    assert "workload" not in failed(validate(run_subject(run)))


def test_other_answers_in_another_run_are_found(five: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(five, tmp_path / "five"))
    with_cell(copy / "run-3", "jobs", "answer", lambda value: '{"rows":1000,"checksum":"ab13"}')
    sentence = failed(validate(record_subject(copy, "campaign")))["agreement"]
    assert "has another answer than in run-1" in sentence


def test_a_run_that_is_left_out_of_its_campaign_is_missed(five: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(five, tmp_path / "five"))
    record = read_campaign(copy)
    write_campaign(copy, msgspec.structs.replace(record, slots=record.slots[:4]))
    assert "4 of the 5 runs" in failed(validate(record_subject(copy, "campaign")))["repeats"]


def test_one_run_five_times_is_no_five_runs(five: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(five, tmp_path / "five"))
    for number in range(2, 6):
        shutil.rmtree(copy / f"run-{number}")
        shutil.copytree(copy / "run-1", copy / f"run-{number}")
    [ruling] = [one for one in validate(record_subject(copy, "campaign")).rulings if one.name == "repeats"]
    assert "5 of the runs are one and the same run" in ruling.faults[-1].sentence


def test_logs_of_nodes_are_checked_as_those_of_a_run(tmp_path: Path) -> None:
    write_published_cluster(tmp_path / "two")
    whole = run_subject(tmp_path / "two")
    assert failed(validate(whole)).keys() == {"workload", "repeats"}, "the closed division has one node"
    logs = tmp_path / "two" / "nodes" / "n2" / "logs"
    edited, lost = sorted(logs.glob("*.saslog"))[:2]
    edited.write_text(edited.read_text().replace("9", "8", 1))
    lost.unlink()
    found = failed(validate(run_subject(tmp_path / "two")))
    assert f"1 of 12 logs are missing, such as logs/{lost.name}" in found["complete"]
    [pages] = [one for one in validate(run_subject(tmp_path / "two")).rulings if one.name == "pages"]
    assert [fault.where for fault in pages.faults] == [f"two/nodes/n2/logs/{edited.name}"]


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("jobs", "memory_bytes", ": its usage differs from that in the node's own run"),
        ("jobs", "answer", ": its answer differs from that in"),
        ("steps", "page_reclaims", ", step 1: its usage differs from that in"),
        ("steps", "name", ", step 1: its name differs from that in"),
    ],
)
@pytest.mark.parametrize("place", ["", "nodes/n1"])
def test_a_cell_that_a_node_has_otherwise_is_found(
    two: Path, tmp_path: Path, table: str, column: str, words: str, place: str
) -> None:
    copy = Path(shutil.copytree(two, tmp_path / "two"))
    assert failed(validate(run_subject(copy))).keys() == {"workload", "repeats"}
    others = {"answer": '{"rows":1000,"checksum":"ab13"}', "name": "other"}
    with_cell(copy / place, table, column, lambda value: others[column] if column in others else value + 1)
    [ruling] = [one for one in validate(run_subject(copy)).rulings if one.name == "agreement"]
    assert any(words in fault.sentence for fault in ruling.faults), ruling.faults


def test_a_job_that_a_node_did_not_run_is_found(two: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(two, tmp_path / "two"))
    path = copy / "nodes" / "n2" / "jobs.parquet"
    parquet.write_table(parquet.read_table(path).slice(1), path)
    assert "jobs of n2 differ from those of its own run" in failed(validate(run_subject(copy)))["agreement"]


def test_a_fact_that_is_not_disclosed_is_named(run: Path) -> None:
    with_fact(run, lambda facts: facts["nodes"][0].update(cpu_model=None))
    assert failed(validate(run_subject(run)))["disclosure"] == "not known: cpu_model of bench1"


def test_a_rule_of_validity_speaks_for_each_run(tmp_path: Path) -> None:
    write_published(tmp_path / "short", seconds=600.0)
    assert "20 min 00 s required" in failed(validate(run_subject(tmp_path / "short")))["duration"]


PAPERS = {paper.source.key: paper for paper in papers()}


def test_every_paper_is_there_and_every_rule_is_one() -> None:
    judged = papers_judged()
    assert set(judged) == set(PAPERS)
    assert {rule for rulings in judged.values() for rule in rulings} <= {rule.name for rule in EVERY}


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_the_duration_is_that_of_the_published_results(key: str) -> None:
    paper = PAPERS[key]
    times = [time for one in paper.results for time in (one.time.elapsed_seconds, one.time.active_seconds)]
    times += [paper.workload.elapsed_seconds] if paper.workload else []
    known = [time for time in times if time is not None]
    ruling = papers_judged()[key].get("duration")
    assert (ruling is not None) == bool(known)
    if ruling is not None:
        assert (ruling.state == "met") == (min(known) >= value_of("validity.duration.least_active_seconds"))


def test_no_paper_is_accepted_and_the_table_has_a_column_for_each() -> None:
    assert all(any(one.state != "met" for one in rulings.values()) for rulings in papers_judged().values())
    lines = section()
    head = next(line for line in lines if line.startswith("| rule"))
    assert head.count("`") == 2 * len(PAPERS)
