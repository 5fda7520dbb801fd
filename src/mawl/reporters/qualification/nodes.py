"""Several nodes in an answer: which of both limits, what one does alone, and how well they scale."""

from __future__ import annotations

from mawl.model.qualification import AnswerNodes, QualificationAnswer, QualifyNode
from mawl.units import counted_noun, format_memory, format_percent

LIMITS = {
    "nodes": "The nodes limit",
    "shared storage": "The shared storage or its network limits",
    "neither": "Neither nodes nor shared storage limit",
    "not known": "Not known whether nodes or shared storage limit",
}


def nodes_text(nodes: AnswerNodes, answer: QualificationAnswer) -> str:
    """The limit with its reason, what one node does alone, and jobs per hour of one and of all."""
    parts = [f"{LIMITS[nodes.limit]}: {nodes.reason}"]
    runs = counted_noun(nodes.runs, "run")
    parts.append(f"{nodes.node} alone ({runs}): {nodes.one.sentence.partition(': ')[2]}")
    one, every = nodes.one_jobs_per_hour, answer.figures.jobs_per_hour
    if one is not None and every is not None and nodes.scaling_ratio is not None:
        number = len(nodes.names)
        parts.append(
            f"{every:,.0f} jobs per hour with {number} nodes, {one:,.0f} with one: "
            f"{format_percent(nodes.scaling_ratio)} of {number} times as many"
        )
    return "; ".join(parts)


def nodes_words(nodes: list[QualifyNode]) -> str:
    """``4 nodes: a, b, c, d; a: a CPU, 16 cores, 64.0 GiB``: the names, and what the first is."""
    first = nodes[0]
    cores, memory = counted_noun(first.cores, "core"), format_memory(first.memory_bytes)
    names = ", ".join(node.name for node in nodes)
    kind = f"{first.cpu_model or 'unknown processor'}, {cores}, {memory} of memory"
    return f"{counted_noun(len(nodes), 'node')} ({names}); {first.name} has {kind}"
