"""Whether nodes or shared storage limit: one node alone beside all; and what is said of the nodes."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from mawl.advice.answer import Disturbance
from mawl.advice.qualification.answer import answer_from
from mawl.advice.qualification.evidence import MOST_WORDS, Evidence
from mawl.advice.qualification.fits import LEAST_RATIO
from mawl.advice.qualification.machine import MOST_KINDS, differing, limit_by, one_machine, unseen_server
from mawl.figures.statistics import Interval
from mawl.records.model.qualification import AnswerNodes, Fits, QualificationAnswer, QualifyNode
from mawl.records.model.run import VolumeFacts
from mawl.records.model.summary.judgement import RESOURCES, Cause, CauseResource
from tests.fakes.altered_runs import on_nodes
from tests.fakes.answered import CLUSTER_NO, CLUSTER_YES, COMPUTE_NO
from tests.fakes.drawn_evidence import EVIDENCE
from tests.fakes.stored_run import facts

SLOW = Interval(middle=2.8, low=2.6, high=3.0)
ALIKE = Interval(middle=1.04, low=0.98, high=1.1)
NEAR = Interval(middle=1.2, low=1.1, high=1.3)


def of(evidence: Evidence) -> tuple[QualificationAnswer, AnswerNodes]:
    answer = answer_from(evidence)
    assert isinstance(answer.nodes, AnswerNodes)
    return answer, answer.nodes


def no(**changes: object) -> Evidence:
    """All nodes do not carry the load; of one node what is named."""
    evidence = CLUSTER_NO
    assert evidence.nodes is not None
    of_nodes = {
        name: changes.pop(name) for name in ("one", "ratio", "failed", "shared_machine") if name in changes
    }
    nodes = msgspec.structs.replace(evidence.nodes, **of_nodes)
    return msgspec.structs.replace(evidence, nodes=nodes, **changes)


def test_one_node_that_takes_as_long_as_all_is_the_limit_itself() -> None:
    answer, nodes = of(no(one=SLOW, ratio=ALIKE))
    assert nodes.limit == "nodes" and nodes.one.answer == "not carried"
    assert "The nodes limit, not the shared storage." in answer.sentence
    assert answer.next_step.startswith("Run fewer sessions on each node (--sessions), or give each node more")
    assert nodes.reason.startswith(
        "one node alone already takes as long: jobs take 1.04 times as long with all"
    )


@pytest.mark.parametrize("resource", ["storage", "network"])
def test_one_node_that_carries_and_all_that_wait_for_storage_is_the_shared_storage(
    resource: CauseResource,
) -> None:
    answer, nodes = of(no(limit=limit_by([Cause(resource=resource, share_ratio=0.8)], is_named=True)))
    assert nodes.limit == "shared storage" and nodes.one.answer == "carried"
    assert "The shared storage or its network limits, not the nodes." in answer.sentence
    assert answer.sentence.startswith(
        "NO: 20 sessions on each of 4 nodes took 2.90 times mawl's reference time (bound 2.00). "
        "With one node: 1.40 times."
    )
    assert nodes.reason.endswith(f"waiting for {RESOURCES[resource]}")
    assert answer.next_step.startswith("Give the nodes faster shared storage or a faster network to it; then")


def test_one_node_that_does_not_carry_either_is_said_where_all_wait_for_shared_storage() -> None:
    _, nodes = of(no(one=SLOW))
    assert nodes.limit == "shared storage" and "one node alone does not carry the load either" in nodes.reason


def test_all_nodes_that_wait_for_processors_are_limited_by_neither() -> None:
    answer, nodes = of(no(limit=limit_by([Cause(resource="cpu", share_ratio=0.9)], is_named=True)))
    assert nodes.limit == "neither" and "shared storage" not in answer.sentence
    assert "what limits them is processors, not the shared storage" in nodes.reason
    costs = [Cause(resource="cpu", share_ratio=0.4), Cause(resource="network", share_ratio=0.35)]
    _, nodes = of(no(limit=limit_by(costs, is_named=True)))
    assert nodes.limit == "shared storage" and nodes.reason.endswith("waiting for the network")


def test_all_nodes_that_carry_the_load_are_limited_by_neither() -> None:
    answer, nodes = of(CLUSTER_YES)
    assert (answer.carried.answer, nodes.limit) == ("carried", "neither")
    assert nodes.reason == "all 4 nodes together carry the load"
    assert "At least 20 sessions a node fit." in answer.sentence
    assert nodes.scaling_ratio == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ratio": NEAR}, "and the bound 1.25 lies in that range"),
        ({"ratio": None}, "the slowdown of the runs with one node"),
        ({"limit": None}, "what limits the runs with all nodes is not known"),
        ({"failed": "1 of 71 jobs did not finish"}, "1 of 71 jobs did not finish"),
        ({"shared_machine": "node2 and node1 are one machine"}, "node2 and node1 are one machine"),
        ({"slowdown": Interval(middle=2.0, low=1.8, high=2.2)}, "it is not known whether all nodes"),
    ],
)
def test_where_the_runs_do_not_tell_it_is_not_known(changes: dict[str, object], why: str) -> None:
    answer, nodes = of(no(**changes))
    assert nodes.limit == "not known" and why in nodes.reason
    assert "shared storage" not in answer.sentence


def test_a_sentence_beyond_sixty_words_leaves_out_what_has_a_row_of_its_own() -> None:
    limit = Cause(
        resource="network",
        roles=["work"],
        direction="write",
        place="/team a | b",
        kind="bandwidth",
        share_ratio=0.8,
    )
    evidence = no(
        runs=1,
        limit=limit_by([limit], is_named=True),
        fits=Fits(sessions=5, low=2, high=154),
        changes=COMPUTE_NO.changes[:1],
    )
    failing = msgspec.structs.replace(evidence, failed="3 of 71 jobs did not finish with a right answer")
    assert "With one node" in answer_from(failing).sentence
    assert "would fit" not in answer_from(failing).sentence
    assert len(answer_from(failing).sentence.split()) <= MOST_WORDS
    assert answer_from(failing).changes == evidence.changes


def test_failed_jobs_of_one_node_are_a_no_of_that_node_alone() -> None:
    _, nodes = of(no(failed="1 of 71 jobs did not finish"))
    assert (nodes.one.answer, nodes.one.sentence) == (
        "not carried",
        "one node: not carried: 1 of 71 jobs did not finish",
    )


def test_one_node_beside_other_work_is_not_known() -> None:
    raised = Disturbance(kind="processors", reason="others computed", lack="others", most=0.1)
    _, nodes = of(no(raised=[raised]))
    assert (nodes.limit, nodes.one.answer, nodes.one.slowdown) == ("not known", "not known", 1.4)
    assert nodes.reason == "others computed"
    assert nodes.one.sentence == (
        "one node: not known: 1.40 times the reference time (1.33 to 1.48) beside other work"
    )


@given(EVIDENCE)
@settings(max_examples=200)
def test_either_limit_needs_a_no_of_all_and_a_ratio_surely_on_its_side(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    if evidence.nodes is None:
        assert not answer.nodes and not any(rule.name == "nodes" for rule in answer.rules)
        return
    assert isinstance(answer.nodes, AnswerNodes)
    if answer.nodes.limit in ("nodes", "shared storage"):
        ratio = evidence.nodes.ratio
        assert answer.carried.answer == "not carried" and ratio is not None
        assert evidence.failed is None and evidence.nodes.shared_machine is None
        outside = ratio.high < LEAST_RATIO if answer.nodes.limit == "nodes" else ratio.low > LEAST_RATIO
        assert outside


def node(name: str, cores: int = 8, machine: str | None = None) -> QualifyNode:
    return QualifyNode(name=name, cpu_model="a CPU", cores=cores, memory_bytes=2**35, machine=machine)


def test_nodes_that_differ_are_named_by_kind_and_not_without_end() -> None:
    assert differing([node("a"), node("b")]) == []
    (said,) = differing([node("a"), node("b"), node("c", 4)])
    assert "a, b: a CPU, 8 cores, 32.0 GiB; c: a CPU, 4 cores, 32.0 GiB" in said
    (many,) = differing([node(f"n{cores}", cores) for cores in range(1, 60)])
    assert many.count("a CPU") == MOST_KINDS and "; others)" in many


def test_nodes_of_one_machine_are_named() -> None:
    assert one_machine([node("a"), node("b")]) == []
    assert one_machine([node("a"), node("b", machine="a")])[0].startswith("b and a are one machine: ")


def test_devices_behind_a_network_are_said_to_be_unseen_unless_the_server_was_watched() -> None:
    volume = VolumeFacts(role="work", node="n1", directory="/w", file_system="nfs4", network=True)
    (said,) = unseen_server(facts(volumes=[volume]))
    assert "The devices behind nfs4 are not visible from the nodes" in said and "--storage-node" in said
    watched, _ = on_nodes()
    assert unseen_server(msgspec.structs.replace(watched, volumes=[volume])) == []
    assert unseen_server(facts(volumes=[msgspec.structs.replace(volume, network=False)])) == []
