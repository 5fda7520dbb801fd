"""Derived jobs of a made-up shop: bytes by role, order, window, growth, and that no word leaves."""

from __future__ import annotations

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest

import mawl.derive
from mawl.base.errors import UsageError
from mawl.derive.derive import Derivation, DeriveRequest, derive
from mawl.derive.document import document, write_derived
from mawl.derive.evidence import parse_night
from mawl.derive.nights import parse_daily
from mawl.derive.tables import RULES
from mawl.figures.nights import Night
from mawl.importers.import_files import ImportRequest, import_files
from mawl.plan.derived_jobs import load_derived
from mawl.records.model.derived import DerivedStep
from mawl.records.store import Run, open_run
from mawl.reports.document import rendered
from tests.derive.shop import NIGHT, OTHER_WORDS, START, WORDS, block, logs
from tests.importers.layouts import LAYOUTS

MOVED = 100 * 2**20
KEEP = DeriveRequest(keep_names=True)


def run_of(folder: Path, texts: dict[str, str]) -> Run:
    place = folder / "logs"
    place.mkdir(parents=True)
    for name, text in texts.items():
        (place / name).write_text(text)
    import_files(ImportRequest(paths=[str(place)], folder=folder / "run", run_id="run"))
    return open_run(folder / "run")


def folder_of(folder: Path, derived: Derivation) -> dict[str, bytes]:
    folder.mkdir()
    write_derived(folder, derived)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("shop"), logs(WORDS))


def steps(derived: Derivation) -> tuple[DerivedStep, ...]:
    return derived.workload.jobs[0].steps


def test_bytes_go_to_the_roles_of_the_tables_and_of_a_sort_that_spills_to_util(shop: Run) -> None:
    copy, sort, own = steps(derive(shop, KEEP))
    assert (copy.data.read_bytes, copy.work.written_bytes) == (MOVED, MOVED)
    assert (copy.work.read_bytes, copy.util.written_bytes) == (0, 0)
    assert sort.work.read_bytes == pytest.approx(MOVED, rel=0.01)
    assert sort.util.read_bytes == pytest.approx(MOVED, rel=0.01)
    assert sort.util.written_bytes == pytest.approx(MOVED, rel=0.01)
    assert sort.work.written_bytes == pytest.approx(MOVED, rel=0.01)
    assert (own.work.read_bytes, own.data.read_bytes) == (MOVED, 0)


def test_kernels_threads_cpu_and_memory_are_those_of_the_log(shop: Run) -> None:
    found = steps(derive(shop, KEEP))
    assert [step.kernel for step in found] == ["scan", "sort", "dense"]
    assert [step.procedure for step in found] == ["DATA", "SORT", "PROCPANGOLIN"]
    assert [(step.cpu_seconds, step.threads) for step in found] == [(30.0, 1), (240.0, 2), (60.0, 1)]
    assert {step.memory_bytes for step in found} == {50 * 2**20}
    assert {step.rows for step in found} == {1_000_000}


def test_a_job_that_followed_waits_and_one_by_the_clock_starts_at_its_second(shop: Run) -> None:
    night = Night(START, START + 10 * 3600)
    first, beside, second = derive(shop, msgspec.structs.replace(KEEP, night=night)).workload.jobs
    assert (first.start_seconds, first.after) == (600.0, ())
    assert (beside.start_seconds, beside.after) == (840.0, ())
    assert (second.start_seconds, second.after) == (0.0, (first.name,))
    assert first.session == second.session != beside.session


def test_closed_arrivals_have_no_clock(shop: Run) -> None:
    found = derive(shop, msgspec.structs.replace(KEEP, arrivals="closed")).workload.jobs
    assert {job.start_seconds for job in found} == {0.0}
    assert [bool(job.after) for job in found] == [False, False, True]


def test_records_know_when_jobs_ended_and_were_due_in_the_logs(shop: Run) -> None:
    night = Night(START, START + 3600)
    found = derive(shop, msgspec.structs.replace(KEEP, night=night))
    jobs, ended = found.workload.jobs, {job.job: job.ended_seconds for job in found.evidence.jobs}
    assert {job.name: job.end_seconds for job in jobs} == ended
    assert {job.due_seconds for job in jobs} == {3600.0}
    assert all(step.real_seconds is not None for job in jobs for step in job.steps)
    tenth = derive(shop, msgspec.structs.replace(KEEP, night=night, scale=0.1)).workload.jobs
    assert {job.due_seconds for job in tenth} == {360.0}
    closed = derive(shop, msgspec.structs.replace(KEEP, night=night, arrivals="closed")).workload.jobs
    assert {job.due_seconds for job in closed} == {None}


def test_records_have_the_speed_of_the_cores_behind_the_logs_where_it_is_known(shop: Run) -> None:
    assert {job.core_speed for job in derive(shop, KEEP).workload.jobs} == {None}
    known = derive(shop, msgspec.structs.replace(KEEP, core_speed=0.8)).workload.jobs
    assert {job.core_speed for job in known} == {0.8}


def test_the_logs_own_night_is_held_or_missed_with_the_chain_of_its_last_job(shop: Run) -> None:
    held = derive(shop, msgspec.structs.replace(KEEP, night=Night(START, START + 3600))).evidence.night
    missed = derive(shop, msgspec.structs.replace(KEEP, night=Night(START, START + 1200))).evidence.night
    assert held is not None and missed is not None
    assert held.last_end_seconds == pytest.approx(22 * 60 + 1, abs=1)
    assert held.spare_seconds > 0 > missed.spare_seconds
    assert len(held.chain) == 2


def test_growth_multiplies_rows_and_scale_multiplies_all(shop: Run) -> None:
    plain, grown, scaled = (
        derive(shop, msgspec.structs.replace(KEEP, night=Night(START, START + 3600), **more)).workload
        for more in ({}, {"growth": 1.5}, {"scale": 0.5})
    )
    copy, longer, shorter = (one.jobs[0].steps[0] for one in (plain, grown, scaled))
    assert (longer.data.read_bytes, longer.rows, longer.cpu_seconds) == (MOVED * 1.5, 1_500_000, 45.0)
    assert longer.memory_bytes == copy.memory_bytes
    assert (shorter.data.read_bytes, shorter.rows, shorter.cpu_seconds) == (MOVED // 2, 500_000, 15.0)
    assert shorter.memory_bytes == copy.memory_bytes // 2
    assert (grown.jobs[0].start_seconds, scaled.jobs[0].start_seconds) == (600.0, 300.0)


def test_only_and_without_choose_programs_by_the_names_of_the_logs(shop: Run) -> None:
    only = derive(shop, msgspec.structs.replace(KEEP, only=["axolotl*"]))
    without = derive(shop, msgspec.structs.replace(KEEP, without=["axolotl*"]))
    assert (len(only.workload.jobs), len(without.workload.jobs)) == (2, 1)
    assert without.evidence.left_out.jobs_not_chosen == 2
    with pytest.raises(UsageError, match="leave none of 3 jobs"):
        derive(shop, DeriveRequest(only=["nothing"]))


def test_no_word_of_the_logs_is_in_the_folder(shop: Run, tmp_path: Path) -> None:
    files = folder_of(tmp_path / "derived", derive(shop, DeriveRequest()))
    words = {word.lower() for text in WORDS.values() for word in re.findall(r"[A-Za-z]{4,}", text)}
    words -= {"report", "files"}
    assert len(words) >= 8
    for name, content in files.items():
        assert [word for word in words if word in content.decode().lower()] == [], name


def test_two_shops_that_differ_in_words_alone_have_one_folder_but_for_hashes(
    shop: Run, tmp_path: Path
) -> None:
    other = run_of(tmp_path / "other", logs(OTHER_WORDS))
    key = DeriveRequest(key=b"k")
    both = [folder_of(tmp_path / name, derive(run, key)) for name, run in (("one", shop), ("two", other))]
    for name in both[0]:
        plain = [re.sub(rb"\b[pts][0-9a-f]{8}\b", b"HASH", files[name]) for files in both]
        assert sorted(plain[0].splitlines()) == sorted(plain[1].splitlines()), name


def test_a_hash_is_another_in_each_folder_and_names_are_kept_on_demand(shop: Run) -> None:
    one, two = (derive(shop, DeriveRequest()).workload.jobs[0].name for _ in range(2))
    assert one != two
    assert derive(shop, KEEP).workload.jobs[0].name == "axolotljob.1"


def test_the_folder_is_read_back_by_the_plan(shop: Run, tmp_path: Path) -> None:
    derived = derive(shop, DeriveRequest())
    assert set(folder_of(tmp_path / "derived", derived)) == {
        "derived.json", "evidence.json", "evidence.html", "workload.toml"
    }  # fmt: skip
    assert load_derived(tmp_path / "derived" / "derived.json") == derived.workload


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_derives_and_no_figure_is_invented(tmp_path: Path, name: str) -> None:
    layout = LAYOUTS[name]
    run = run_of(tmp_path, {"one.log": layout.text})
    told = [note for note in layout.notes if note.kind in ("data", "procedure")]
    if not told:
        with pytest.raises(UsageError, match="none of the jobs has a DATA or PROC step"):
            derive(run, KEEP)
        return
    derived = derive(run, KEEP)
    found = [step for job in derived.evidence.jobs for step in job.steps]
    assert len(found) == len(told)
    for step, note in zip(found, told, strict=True):
        usage = note.usage
        known = "unsplit_cpu_seconds" in usage or {"user_cpu_seconds", "system_cpu_seconds"} <= set(usage)
        assert (step.cpu_seconds.origin == "told") == known
        assert (step.memory_bytes.origin == "told") == ("memory_bytes" in usage)
        for part in (
            step.cpu_seconds,
            step.memory_bytes,
            *step.read_bytes.values(),
            *step.written_bytes.values(),
        ):
            assert 0 <= part.low <= part.value <= part.high < float("inf")
            assert part.rule in derived.evidence.rules
    rows = [step.rows for job in derived.workload.jobs for step in job.steps]
    noted = [note.more.get("rows_read") or note.more.get("rows_written") for note in told]
    assert rows == ([30] if name == "view" else noted), "what reads a view reads the table below it"
    folder_of(tmp_path / "derived", derived)


def test_what_is_left_out_is_of_the_jobs_of_the_night(tmp_path: Path) -> None:
    view = block("View WORK.V", 1, 1, NIGHT, 0, 0)
    texts = {name: f"{text}{view}" for name, text in logs(WORDS).items()}
    texts["later.log"] = next(iter(texts.values())).replace("03/02/2026", "03/05/2026")
    run = run_of(tmp_path, texts)
    left = derive(run, DeriveRequest(night=Night(START, START + 3600))).evidence.left_out
    assert (left.jobs_outside_the_night, left.views_and_startup_steps) == (1, 3)


def test_what_exceeds_a_limit_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = "NOTE: There were 1000000 observations read"
    many = "".join(f"NOTE: There were 1 observations read from the data set WORK.T{n}.\n" for n in range(102))
    run = run_of(tmp_path, {name: text.replace(first, many + first, 1) for name, text in logs(WORDS).items()})
    monkeypatch.setattr("mawl.derive.derive.MOST_STEPS", 2)
    derived = derive(run, KEEP)
    left = derived.evidence.left_out
    assert (left.tables_beyond_the_first, left.steps_beyond_the_first) == (3 * 4, 3)
    assert {len(job.steps) for job in derived.workload.jobs} == {2}
    assert {len(job.steps) for job in derived.evidence.jobs} == {2}
    said = rendered(document(derived.evidence, "shop"), "text")
    assert "12 tables beyond the first 100 of a step" in " ".join(said.split())


def test_nights_apart_are_refused_until_one_is_named(tmp_path: Path) -> None:
    texts = logs(WORDS)
    texts["later.log"] = next(iter(texts.values())).replace("03/02/2026", "03/05/2026")
    run = run_of(tmp_path, texts)
    with pytest.raises(UsageError, match="2 periods with hours between them"):
        derive(run, KEEP)
    assert len(derive(run, DeriveRequest(night=Night(START, START + 3600))).workload.jobs) == 3
    with pytest.raises(UsageError, match="no job started within the night"):
        derive(run, DeriveRequest(night=Night(START - 7200, START - 3600)))


@pytest.mark.parametrize(
    "text",
    ["", "2026-03-02T20:00", "20:00/06:00", "2026-03-02T20:00/25:00", "2026-03-02T20:00/2027-01-01T00:00"],
)
def test_a_night_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected START/END"):
        parse_night(text)


def test_a_night_ends_at_the_next_such_time(tmp_path: Path) -> None:
    assert parse_night("2026-03-02T20:00/06:00") == Night(START, START + 36000)
    assert parse_night("2026-03-02T20:00/2026-03-02T21:00:00+00:00") == Night(START, START + 3600)


@pytest.mark.parametrize(("day", "hours"), [("2026-03-28", 9), ("2026-10-24", 11), ("2026-03-02", 10)])
def test_a_night_in_which_the_clock_changes_is_an_hour_shorter_or_longer(day: str, hours: int) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    night = parse_night(f"{day}T20:00/06:00", berlin)
    assert night.ends_at - night.starts_at == hours * 3600
    assert parse_daily("20:00/06:00", berlin).of(night.starts_at) == night


AIX = "AIX 7.1"
LINUX = "Linux 3.10.0-957.el7.x86_64 (LIN X64)"


def on_platforms(folder: Path, *platforms: str | None) -> Run:
    """A log of the shop for each, without a host; None is a log that names no platform."""
    texts = {}
    for number, platform in enumerate(platforms):
        text = next(iter(logs(WORDS).values())).replace(f"PASS HEADER host={WORDS['host']}\n", "")
        banner = f"NOTE: This session is executing on the {LINUX} platform.\n"
        assert banner in text
        texts[f"log{number}.log"] = text.replace(
            banner, "" if platform is None else banner.replace(LINUX, platform)
        )
    return run_of(folder, texts)


@pytest.mark.parametrize(
    ("platforms", "unknown", "assumed"),
    [
        ((LINUX,), 0, 0),
        ((AIX,), 3, 0),
        ((None,), 0, 3),
        ((LINUX, AIX), 6, 0),
        ((LINUX, None), 0, 6),
        ((AIX, None), 6, 0),
        ((LINUX, AIX, None), 9, 0),
        ((*(LINUX.replace("957", str(number)) for number in range(101, 106)), "SunOS 5.11"), 18, 0),
    ],
)
def test_block_operations_count_only_where_their_size_is_known(
    tmp_path: Path, platforms: tuple[str | None, ...], unknown: int, assumed: int
) -> None:
    """Logs of AIX and of Linux that name no host share a node: their operations are told apart by nothing."""
    found = derive(on_platforms(tmp_path, *platforms), KEEP)
    told = found.evidence.not_told
    assert (told.steps_of_unknown_block_size, told.steps_of_assumed_block_size) == (unknown, assumed)
    rules = {
        one.rule
        for job in found.evidence.jobs
        for step in job.steps
        for one in (*step.read_bytes.values(), *step.written_bytes.values())
    }
    assert any(rule.startswith("blocks") for rule in rules) is not bool(unknown)
    text = " ".join(rendered(document(found.evidence, "shop"), "text").split())
    assert ("does not say how large a block operation is" in text) is bool(unknown)
    assert ("name no platform" in text) is bool(assumed)


@pytest.mark.parametrize(("host", "assumed"), [(WORDS["host"], 0), ("otherhost", 3)])
def test_a_log_without_a_platform_has_that_of_its_host_and_of_no_other(
    tmp_path: Path, host: str, assumed: int
) -> None:
    one = next(iter(logs(WORDS).values()))
    other = one.replace(f"NOTE: This session is executing on the {LINUX} platform.\n", "")
    other = other.replace(f"host={WORDS['host']}", f"host={host}")
    told = derive(run_of(tmp_path, {"one.log": one, "two.log": other}), KEEP).evidence.not_told
    assert (told.steps_of_unknown_block_size, told.steps_of_assumed_block_size) == (0, assumed)


def test_steps_that_may_spill_and_name_no_utility_file_are_counted_with_their_bytes(shop: Run) -> None:
    found = derive(shop, KEEP)
    sorts = [
        step
        for job in found.evidence.jobs
        for step in job.steps
        if step.procedure in ("SORT", "SUMMARY", "SQL")
    ]
    told = found.evidence.not_told
    assert told.steps_without_utility_files == len(sorts) > 0
    moved = [one.value for step in sorts for one in (*step.read_bytes.values(), *step.written_bytes.values())]
    assert told.bytes_of_these == pytest.approx(sum(moved))
    assert "SAS writes no note on utility files" in " ".join(
        rendered(document(found.evidence, "shop"), "text").split()
    )


def test_each_rule_is_used_by_the_code() -> None:
    folder = Path(mawl.derive.__file__).parent
    code = "".join(path.read_text() for path in folder.glob("*.py") if path.name != "rules.py")
    assert [rule for rule in RULES if f'"{rule}"' not in code] == []
