"""Drawn evidence of qualifications."""

from __future__ import annotations

from hypothesis import strategies as st

from mawl.advice.answer import Disturbance
from mawl.advice.qualification.evidence import Evidence, NodesEvidence
from mawl.advice.qualification.machine import limit_by
from mawl.figures.statistics import Interval
from mawl.records.model.qualification import Fits, QualificationChange
from mawl.records.model.summary.judgement import Cause

HOSTILE = st.sampled_from(
    [
        "/mnt/b",
        "/a <script>alert(1)</script>",
        "/@team\n| x",
        "/[l](http://h.example)",
        "/\x1b[31m`x`",
        "/" + "d" * 300,
    ]
)


@st.composite
def estimates(draw: st.DrawFn) -> Interval:
    """Ascending: low, middle, high; often on a round bound."""
    ends = st.one_of(st.floats(0.3, 12.0), st.sampled_from([1.0, 2.0]))
    low, middle, high = sorted(draw(st.tuples(ends, ends, ends)))
    return Interval(middle=middle, low=low, high=high, assumed=draw(st.booleans()))


@st.composite
def fits(draw: st.DrawFn) -> Fits:
    """Known with a range, known without, or not known."""
    if draw(st.booleans()):
        return Fits(sessions=None, reason="the search was not made")
    low, middle, high = sorted(draw(st.tuples(*[st.integers(1, 500)] * 3)))
    ranged = draw(st.booleans())
    return Fits(
        sessions=middle,
        low=low if ranged else None,
        high=high if ranged else None,
        basis=draw(st.sampled_from(["measured", "forecast"])),
        reason=None if ranged else "too few runs",
    )


CHANGES = st.builds(
    QualificationChange,
    text=st.sampled_from(
        ["Twice the devices under work", "Twice the processors", "Processors twice as fast"]
    ),
    sessions=st.none() | st.integers(1, 500),
    gain_ratio=st.floats(0.0, 0.9),
    reason=st.just("no such forecast was checked"),
)
COSTS = st.builds(
    Cause,
    resource=st.sampled_from(["cpu", "memory", "others", "other"]),
    kind=st.sampled_from([None, "queue", "speed"]),
    share_ratio=st.floats(0.02, 1.0),
    slowdown=st.none() | st.floats(0.01, 9.0),
) | st.builds(
    Cause,
    resource=st.sampled_from(["storage", "network"]),
    roles=st.lists(st.sampled_from(["data", "work", "util"]), max_size=3, unique=True),
    devices=st.just(["sda"]),
    direction=st.none() | st.sampled_from(["read", "write"]),
    place=st.none() | HOSTILE,
    kind=st.sampled_from([None, "bandwidth", "latency"]),
    share_ratio=st.floats(0.02, 1.0),
    slowdown=st.none() | st.floats(0.01, 9.0),
)
LIMITS = st.builds(
    limit_by,
    st.lists(COSTS, max_size=4).map(lambda costs: sorted(costs, key=lambda cost: -cost.share_ratio)),
    st.none() | st.booleans(),
)
RAISED = st.builds(
    Disturbance,
    kind=st.sampled_from(["processors", "devices"]),
    reason=st.just("other programs moved 3.00 GB at the devices of the roles (60.0 MB/s), 40 % of all"),
    lack=st.just("others"),
    most=st.none() | st.floats(0.0, 4.0),
)
LOWERED = st.sampled_from(
    [
        ("only 30 % of the bytes read reached a device (80 % required)", "reach"),
        ("the active phase is only 25.0 s long (60.0 s required)", "duration"),
    ]
)
NODES = st.builds(
    NodesEvidence,
    names=st.lists(st.from_regex(r"node[0-9]{1,3}", fullmatch=True), min_size=2, max_size=64, unique=True),
    runs=st.integers(0, 6),
    one=st.none() | estimates(),
    ratio=st.none() | estimates(),
    one_jobs_per_hour=st.none() | st.floats(1.0, 1e5),
    failed=st.none() | st.just("1 of 71 jobs did not finish with a right answer"),
    shared_machine=st.none() | st.just("node2 and node1 are one machine"),
)
EVIDENCE = st.builds(
    Evidence,
    sessions=st.integers(1, 500),
    answer_bound=st.sampled_from([1.5, 2.0, 3.0]),
    guideline_bytes_per_second_per_core=st.just(100e6),
    slowdown=st.none() | estimates(),
    runs=st.integers(1, 6),
    active_seconds=st.floats(1.0, 4000.0),
    failed=st.none() | st.just("3 of 71 jobs did not finish with a right answer"),
    raised=st.lists(RAISED, max_size=2),
    foreign_bytes_known=st.booleans(),
    lowered=st.none() | LOWERED,
    preliminary_scale=st.none() | st.just("scale 0.0005 is below quick (0.005)"),
    device_bytes_per_second_per_core=st.none() | st.floats(1e6, 1e9),
    device_basis=st.sampled_from([None, "probe", "run", "demand"]),
    guideline_met=st.none() | st.booleans(),
    jobs_per_hour=st.none() | st.floats(1.0, 1e5),
    joules_per_job=st.none() | st.floats(1.0, 1e6),
    energy_scope=st.sampled_from([None, "machine", "processors"]),
    limit=st.none() | LIMITS,
    fits=fits(),
    changes=st.lists(CHANGES, max_size=3),
    cautions=st.lists(st.just("The writes may have gone to a cache."), max_size=1),
    nodes=st.none() | NODES,
    again=st.just("mawl qualify --data /mnt/a --minutes 15"),
    longer=st.just("mawl qualify --data /mnt/a --minutes 60"),
)
