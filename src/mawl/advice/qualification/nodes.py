"""Several nodes: what one does alone beside all together, and whether nodes or shared storage limit.

docs/design/qualify-answer.md has the rule.
"""

from __future__ import annotations

from mawl.advice.limit.verdict import RESOURCES, cause_words, shown_causes
from mawl.advice.qualification.evidence import Evidence, NodesEvidence
from mawl.base.units import counted_noun, format_ratio
from mawl.figures.statistics import Interval
from mawl.records.model.qualification import AnswerNodes, AnswerPart, AnswerRule, AnswerWord, NodesLimit
from mawl.records.model.thresholds import value_of

LEAST_RATIO = value_of("qualification.least_nodes_ratio")
OF_SHARED_STORAGE = ("storage", "network")
NO_RATIO = "the slowdown of the runs with one node, or with all, is not known"
NO_RATE = "no run with one node has a length and finished jobs"


def nodes_answer(evidence: Evidence, whole: AnswerWord) -> AnswerNodes | None:
    """The part of the answer about nodes; None for one machine."""
    nodes = evidence.nodes
    if nodes is None:
        return None
    limit, reason = limit_of_nodes(evidence, nodes, whole)
    one, every, ratio = nodes.one_jobs_per_hour, evidence.jobs_per_hour, nodes.ratio
    return AnswerNodes(
        names=nodes.names,
        node=nodes.names[0],
        runs=nodes.runs,
        one=_part_of_one_node(evidence, nodes),
        ratio=None if ratio is None else ratio.middle,
        ratio_low=None if ratio is None else ratio.low,
        ratio_high=None if ratio is None else ratio.high,
        limit=limit,
        reason=reason,
        one_jobs_per_hour=one,
        scaling_ratio=every / one / len(nodes.names) if one and every is not None else None,
    )


def limit_of_nodes(evidence: Evidence, nodes: NodesEvidence, whole: AnswerWord) -> tuple[NodesLimit, str]:
    failed = evidence.failed or nodes.failed or next((one.reason for one in evidence.raised), None)
    if failed is not None:
        return "not known", failed
    if whole == "carried":
        return "neither", f"all {counted_noun(len(nodes.names), 'node')} together carry the load"
    if whole == "not known":
        return "not known", "it is not known whether all nodes together carry the load"
    if nodes.shared_machine is not None:
        return "not known", nodes.shared_machine
    ratio = nodes.ratio
    if ratio is None:
        return "not known", NO_RATIO
    range_ = f"{format_ratio(ratio.low)} to {format_ratio(ratio.high)}"
    longer = f"jobs take {format_ratio(ratio.middle)} times as long with all nodes as with one ({range_})"
    if ratio.low <= LEAST_RATIO <= ratio.high:
        return "not known", f"{longer}, and the bound {format_ratio(LEAST_RATIO)} lies in that range"
    if ratio.high < LEAST_RATIO:
        return "nodes", f"one node alone already takes as long: {longer}"
    if evidence.limit is None:
        return "not known", f"{longer}, and what limits the runs with all nodes is not known"
    causes = shown_causes(evidence.limit)
    waits = next((cost for cost in causes if cost.resource in OF_SHARED_STORAGE), None)
    if waits is not None:
        carries = _word_of(nodes.one, evidence.answer_bound)
        alone = {"carried": "carries the load", "not carried": "does not carry the load either"}.get(
            carries, "is near the bound"
        )
        return (
            "shared storage",
            f"one node alone {alone}, and {longer}, waiting for {RESOURCES[waits.resource]}",
        )
    found = " and ".join(map(cause_words, causes))
    why = (
        f"what limits them is {found}, not the shared storage" if found else "no shared resource limits them"
    )
    return "neither", f"{longer}, but {why}"


def nodes_rules(evidence: Evidence) -> list[AnswerRule]:
    """Whether the other nodes slow a node down; nothing for one machine."""
    if evidence.nodes is None:
        return []
    ratio = evidence.nodes.ratio
    value, met = "not known", None
    if ratio is not None:
        value = (
            f"{format_ratio(ratio.middle)} times as long with all nodes as with one "
            f"({format_ratio(ratio.low)} to {format_ratio(ratio.high)})"
        )
        met = None if ratio.low <= LEAST_RATIO <= ratio.high else ratio.high < LEAST_RATIO
    bound = f"below {format_ratio(LEAST_RATIO)}, else nodes slow each other down; decides nothing"
    return [AnswerRule(name="nodes", value=value, bound=bound, met=met)]


def missing_of_nodes(nodes: AnswerNodes | None) -> dict[str, str]:
    """Why figures of the nodes are null."""
    if nodes is None:
        return {}
    slowdown = dict.fromkeys(("one.slowdown", "one.slowdown_low", "one.slowdown_high"), NO_RATIO)
    reasons = {
        **(slowdown if nodes.one.slowdown is None else {}),
        **({} if nodes.ratio is not None else dict.fromkeys(("ratio", "ratio_low", "ratio_high"), NO_RATIO)),
        **({} if nodes.one_jobs_per_hour is not None else {"one_jobs_per_hour": NO_RATE}),
        **({} if nodes.scaling_ratio is not None else {"scaling_ratio": NO_RATE}),
    }
    return {f"nodes.{field}": reason for field, reason in reasons.items()}


def _part_of_one_node(evidence: Evidence, nodes: NodesEvidence) -> AnswerPart:
    """One node alone; failed jobs are a no, and other work makes it not known, as for all."""
    found = nodes.one
    if nodes.failed is not None:
        return AnswerPart(answer="not carried", sentence=f"one node: not carried: {nodes.failed}")
    if found is None:
        return AnswerPart(answer="not known", sentence=f"one node: not known: {NO_RATIO}")
    word = "not known" if evidence.raised else _word_of(found, evidence.answer_bound)
    beside = " beside other work" if evidence.raised else ""
    figures = f"{format_ratio(found.middle)} times the reference time ({found.words()}){beside}"
    return AnswerPart(
        answer=word,
        sentence=f"one node: {word}: {figures}",
        slowdown=found.middle,
        slowdown_low=found.low,
        slowdown_high=found.high,
    )


def _word_of(found: Interval | None, bound: float) -> AnswerWord:
    if found is None or found.holds(bound):
        return "not known"
    return "carried" if found.high < bound else "not carried"
