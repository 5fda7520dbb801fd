"""What refuses, what needs --anyway, what is only said, and what is listed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.figures.comparison.comparability import alternate, differences, obstacles, why_unjudged
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.rows import FigureChange, figure_changes
from mawl.figures.comparison.sides import Side, side_of
from mawl.plan.environment import StoredEnvironment
from mawl.records.model.node import IoCap
from mawl.records.model.run import CacheFacts, Reference, VolumeFacts
from mawl.records.spec.program_options import Options
from mawl.reports.comparison.sentences import changed_on_purpose
from mawl.reports.comparison.tables import settings as settings_table
from tests.fakes.compared_runs import compared, pair, side, workload
from tests.fakes.host_run import host_facts
from tests.fakes.stored_run import facts, planned


def changed(**changes: Any) -> tuple[Side, Side]:
    """Two runs, the candidate's facts changed."""
    return pair([1.0], [1.0], **changes)


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("the sides differ in scale: 0.0005 and 0.01", {"workload": workload(scale=0.01)}),
    ("the sides differ in what mawl's programs do", {"workload": workload(load_version=7)}),
    ("the sides ran other jobs", {"planned_jobs": [planned("s1-1")]}),
    (
        "the sides differ in page cache: in use and denied",
        {"cache": CacheFacts(mode="none", input_bytes=100)},
    ),
]
DOUBTFUL: list[tuple[str, dict[str, Any]]] = [
    ("the sides differ in kind: measured and simulated", {"kind": "simulated"}),
    ("the sides differ in seed of the inputs: 7 and 8", {"workload": workload(seed=8)}),
    ("is running", {"outcome": "running", "ended_at": None}),
]


@pytest.mark.parametrize(("sentence", "changes"), REFUSED)
def test_what_can_never_be_compared_is_refused(sentence: str, changes: dict[str, Any]) -> None:
    for anyway in (False, True):
        with pytest.raises(UsageError, match=f"not comparable: .*{sentence}"):
            compare(*changed(**changes), anyway=anyway)


@pytest.mark.parametrize(("sentence", "changes"), DOUBTFUL)
def test_what_is_doubtful_is_refused_until_it_is_asked_for(sentence: str, changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"may not be comparable: .*{sentence}.*--anyway"):
        compare(*changed(**changes))
    found = compare(*changed(**changes), anyway=True).obstacles
    assert found[0].severity == "doubtful"
    assert sentence in found[0].sentence


@pytest.mark.parametrize(("other", "said"), [("mimalloc", 1), ("system", 0), (None, 0)])
def test_another_memory_pool_is_said_where_both_are_known(other: str | None, said: int) -> None:
    sides = side("before", [1.0], arrow_pool="system"), side("after", [1.0], first=1, arrow_pool=other)
    found = [one for one in obstacles(*sides) if one.rule == "memory pool"]
    assert [one.severity for one in found] == ["remark"] * said
    assert ["system on one side and mimalloc on the other" in one.sentence for one in found] == [True] * said


@pytest.mark.parametrize("other", [Reference(version=2), Reference(version=None, file="own.toml@0123")])
def test_slowdowns_by_other_reference_times_are_not_compared(other: Reference) -> None:
    def row(*sides: Side) -> FigureChange:
        return next(one for one in figure_changes(*sides, judged=False) if one.name == "answer.slowdown")

    before = side("before", [1.0])
    same = row(
        before, side("after", [2.0], first=1, reference=Reference(version=1, provisional=["wide_sort"]))
    )
    assert same.change_ratio is not None and same.reason is None
    found = row(before, side("after", [2.0], first=1, reference=other))
    assert found.change_ratio is None
    assert found.reason == "the sides are measured by different reference times"
    both = [side(name, [1.0], first=at, reference=other) for at, name in enumerate(("before", "after"))]
    own = [one.sentence for one in obstacles(*both) if one.rule == "reference times"]
    assert len(own) == (other.file is not None) and compare(*both).answer[0].reason is None


@pytest.mark.parametrize(
    ("before", "after", "first", "verdicts"),
    [
        ([1.0], [1.15], 1, "equal within the range"),
        ([1.0], [1.5], 1, "not judged"),
        ([1.0, 1.02, 0.98, 1.01, 0.99], [1.1, 1.12, 1.08, 1.11, 1.09], 0, "higher"),
        ([1.0, 1.02, 0.98, 1.01, 0.99], [1.0, 0.98, 1.02, 0.99, 1.01], 0, "equal within the range"),
        ([1.0, 1.02, 0.98, 1.01, 0.99], [1.1, 1.12, 1.08, 1.11, 1.09], 50, "not judged"),
    ],
)
def test_slowdowns_are_equal_where_their_ranges_meet_and_differ_only_where_runs_are_judged(
    before: list[float], after: list[float], first: int, verdicts: str
) -> None:
    sides = pair(before, after) if first == 0 else (side("before", before), side("after", after, first=first))
    slowdown, cores = compare(*sides).answer
    assert (slowdown.name, slowdown.verdict) == ("slowdown", verdicts)
    assert (slowdown.low_ratio is None) == (why_unjudged(*sides) is not None)
    assert cores.name == "delivered_cores" and cores.reference is not None


def test_the_slowdown_of_a_run_with_a_failed_job_is_not_compared() -> None:
    cut = compared(2, outcome="aborted")
    cut.summary.jobs.counted -= 1
    found = compare(side("before", [1.0]), side_of("after", [cut]), anyway=True).answer
    assert [one.candidate for one in found] == [None, None]
    assert found[0].reason == "a job of after failed or has no reference time"


def test_a_run_against_itself_is_doubtful() -> None:
    run = compared(1)
    with pytest.raises(UsageError, match="run run-1 is on both sides"):
        compare(side_of("a", [run]), side_of("b", [run]))


def test_a_side_is_one_configuration() -> None:
    runs = [compared(0), compared(1, nodes=[msgspec.structs.replace(facts().nodes[0], kernel="6.2")])]
    with pytest.raises(UsageError, match="the runs of mixed are not repeats of each other: kernel is"):
        compare(side_of("mixed", runs), side("after", [1.0], first=9))
    scales = [compared(0), compared(1, workload=workload(scale=1.0))]
    with pytest.raises(UsageError, match="the runs of mixed differ in: scale"):
        compare(side_of("mixed", scales), side("after", [1.0], first=9), anyway=True)


def test_what_may_be_the_thing_compared_is_listed() -> None:
    node = msgspec.structs.replace(facts().nodes[0], kernel="Linux 6.2.0", memory_bytes=2**35, cpus_used=[0])
    sides = changed(
        nodes=[node],
        workload=workload(options=Options(sortsize_bytes=2**29)),
        software={"pyarrow": "27"},
        settings={"transparent_hugepage": "never", "governor": None},
        mawl_version="0.2.0",
    )
    found = {fact.name: (fact.reference, fact.candidate) for fact in differences(*sides)}
    assert found["kernel"] == ("Linux 6.1.0", "Linux 6.2.0")
    assert found["option sortsize_bytes"] == ("268435456", "536870912")
    assert found["software pyarrow"] == ("26.0.1", "27")
    assert found["setting transparent_hugepage"] == ("madvise", "never")
    assert found["mawl"] == ("0.1.0", "0.2.0")
    assert found["machine"][1].endswith("32.0 GiB, 1 CPUs used")
    assert set(found) == {
        "machine", "kernel", "mawl", "option sortsize_bytes", "software pyarrow",
        "setting transparent_hugepage",
    }  # fmt: skip
    assert compare(*sides).differences


@pytest.mark.parametrize(
    ("order", "alternates"),
    [
        ("ABBA", True),
        ("ABBAABBAAB", True),
        ("ABABABABAB", True),
        ("BBAABBAAB", True),
        ("AABB", False),
        ("AABBAABBAB", False),
        ("AAAAABBBBB", False),
        ("AABBBBBAAA", False),
        ("AAABBBAAABBB", False),
        ("AAAAAAAAAABABABABAB", False),
    ],
)
def test_sides_alternate_where_a_drift_acts_on_both_alike(order: str, alternates: bool) -> None:
    runs = [compared(place) for place in range(len(order))]
    sides = [side_of(name, [run for run, of in zip(runs, order, strict=True) if of == name]) for name in "AB"]
    assert alternate(*sides) is alternates
    assert [one.rule for one in obstacles(*sides)] == ([] if alternates else ["order"])
    unjudged = why_unjudged(*sides)
    assert (unjudged is not None) == (len(order) < 10 or not alternates)
    simulated = [side(name, [1.0] * 5, first=50 * at, kind="simulated") for at, name in enumerate("AB")]
    assert why_unjudged(*simulated) is None


def capped(rate: int | None, *, known: bool = True, **changes: Any) -> Side:
    """A run with a cap on writes to work (None: no cap), and with other ``changes`` of its node."""
    caps = [IoCap(device="sdb", direction="write", bytes_per_second=rate, file="/cap", carries=["sdb"])]
    volume = VolumeFacts(
        role="work",
        node="bench1",
        directory="/work",
        devices=["sdb"],
        caps=(caps if rate else []) if known else None,
    )
    node = msgspec.structs.replace(facts().nodes[0], **changes)
    return side("capped", [1.0], volumes=[volume], nodes=[node])


@pytest.mark.parametrize(
    ("sides", "found"),
    [
        ((capped(40_000_000), capped(None)), [("cap on work writes", "40.0 MB/s", "no cap")]),
        ((capped(40_000_000), capped(20_000_000)), [("cap on work writes", "40.0 MB/s", "20.0 MB/s")]),
        ((capped(40_000_000), capped(None, known=False)), [("cap on work writes", "40.0 MB/s", "-")]),
        ((capped(None), capped(None, known=False)), []),
        (
            (capped(None, cpu_quota=1.5), capped(None, memory_limit_bytes=2**31)),
            [
                ("CPU quota", "1.5 CPUs", "no limit recorded"),
                ("memory limit", "no limit recorded", "2.00 GiB"),
            ],
        ),
    ],
)
def test_caps_in_force_are_the_first_settings_that_differ(
    sides: tuple[Side, Side], found: list[tuple[str, str, str]]
) -> None:
    later = side_of(
        "later",
        [
            msgspec.structs.replace(
                run, facts=msgspec.structs.replace(run.facts, run_id="later", mawl_version="9")
            )
            for run in sides[1].runs
        ],
    )
    compared = compare(sides[0], later)
    listed = [(one.name, one.reference, one.candidate) for one in compared.differences]
    assert listed == [*found, ("mawl", "0.1.0", "9")]
    assert [row[:3] for row in settings_table(compared).rows] == found
    lines = [f"{name.removeprefix('cap on ')}: {one} -> {other}" for name, one, other in found]
    assert changed_on_purpose(compared) == [("cap", line) for line in lines]


def test_unlike_cores_and_places_of_counting_leave_figures_out() -> None:
    node = msgspec.structs.replace(facts().nodes[0], core_basis="physical core")
    before, after = changed(nodes=[node])
    rules = [obstacle.rule for obstacle in obstacles(before, after)]
    assert rules == ["core basis"]
    volumes = host_facts().volumes
    assert volumes
    after.runs[0].summary.io.device.windows_source = "block devices sda"
    found = compare(before, after)
    assert "device side" in [obstacle.rule for obstacle in found.obstacles]
    device = next(row for row in found.figures if row.name.startswith("io.device.run_mean"))
    assert device.change_ratio is None
    assert device.reason == "the sides count device bytes at different places"


def test_a_cold_side_against_a_warm_one_is_said() -> None:
    before = side("a", [1.0], cache=CacheFacts(input_bytes=100, resident_bytes=100))
    after = side("b", [1.0], first=1, cache=CacheFacts(input_bytes=100, resident_bytes=0))
    sentence = "100 % and 0 % of the input files were cached before the start: run both with --cache cold"
    assert sentence in [obstacle.sentence for obstacle in obstacles(before, after)]


def test_derived_jobs_of_one_name_that_do_something_else_are_never_compared() -> None:
    before, again, after = (
        side_of(name, [compared(number, derived=digest)])
        for number, (name, digest) in enumerate((("before", "a1"), ("again", "a1"), ("after", "b2")))
    )
    with pytest.raises(UsageError, match="differ in what derived jobs do and when they start: a1 and b2"):
        compare(before, after, anyway=True)
    assert compare(before, again, anyway=True)


def test_variables_of_commands_are_listed_by_program_and_their_values_never() -> None:
    def of(**changes: Any) -> StoredEnvironment:
        plain = StoredEnvironment(names=("TOKEN", "PLACE"), digest="d1", library="here")
        return msgspec.structs.replace(plain, **changes)

    def listed(one: StoredEnvironment | None, other: StoredEnvironment | None) -> tuple[str, str] | None:
        sides = [
            msgspec.structs.replace(
                side,
                runs=tuple(
                    msgspec.structs.replace(run, environments={"s1-1": found} if found else {})
                    for run in side.runs
                ),
            )
            for side, found in zip(changed(), (one, other), strict=True)
        ]
        program = sides[0].runs[0].jobs["s1-1"].program
        found = {fact.name: (fact.reference, fact.candidate) for fact in differences(*sides)}
        return found.get(f"environment of {program}")

    strange = [
        msgspec.structs.replace(
            side, runs=tuple(msgspec.structs.replace(run, environments={"none": of()}) for run in side.runs)
        )
        for side in changed()
    ]
    assert differences(strange[0], changed()[1]) == [], "a plan that names jobs which the run has not"
    values = "values of TOKEN, PLACE"
    unknown = (values, "not comparable: the runs have no common key (.mawl-key)")
    assert listed(of(), of()) is None and listed(None, None) is None
    assert listed(of(), of(digest="d2")) == (values, "other values")
    assert listed(of(), of(names=("TOKEN",))) == ("TOKEN, PLACE", "TOKEN")
    assert listed(of(), None) == ("TOKEN, PLACE", "-")
    for other in (of(library="there"), of(library=None), of(digest=None)):
        assert listed(of(), other) == listed(other, of()) == unknown
