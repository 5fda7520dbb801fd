"""The sentence that a manager understands, and the one thing to do next."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.advice.capacity.answers import Lack
from mawl.advice.qualification.estimate import MedianEstimate
from mawl.advice.qualification.evidence import Evidence
from mawl.formats.lines import one_line
from mawl.model.qualification import AnswerLimit, AnswerNodes, AnswerPart, Fits, QualificationChange
from mawl.units import counted_noun

WORDS = {"carried": "YES", "not carried": "NO", "not known": "NOT KNOWN"}
RESOURCES = {
    "cpu": "processors",
    "memory": "memory",
    "network": "the network",
    "mixed": "several resources in turn",
    "none": "no resource",
    "storage": "storage",
}
NODES_WORDS = {
    "nodes": "The nodes limit, not the shared storage",
    "shared storage": "The shared storage or its network limits, not the nodes",
}
"""Where one of both limits; in all other cases the row of the nodes says why."""

NODES_STEPS = {
    "nodes": "run fewer sessions on each node (--sessions), or give each node more of what limits it",
    "shared storage": "give the nodes faster shared storage or a faster network to it",
}

LONGEST_PLACE = 60
"""Characters of a directory in the sentence; the limit has all of it."""


def sentence_of(
    evidence: Evidence, whole: AnswerPart, preliminary: Sequence[str], nodes: AnswerNodes | None = None
) -> str:
    """At most 60 words; YES or NO only where the bound lies outside the interval.

    ``preliminary`` is what the answer lacks to be published.
    """
    head = WORDS[whole.answer] + (", preliminary" if preliminary and whole.answer != "not known" else "")
    parts = [f"{head}: {_said(evidence, whole)}."]
    if nodes is not None and nodes.one.slowdown is not None:
        parts.append(f"With one node: {times_words(nodes.one.slowdown, evidence.most_slowdown)} times.")
    if evidence.limit is not None:
        parts.append(f"Limit: {limit_words(evidence.limit)}.")
    if nodes is not None and nodes.limit in NODES_WORDS:
        parts.append(f"{NODES_WORDS[nodes.limit]}.")
    if evidence.fits.sessions is not None:
        parts.append(f"{fits_words(evidence.fits, a_node=nodes is not None)}.")
    best = best_change(evidence)
    if best is not None:
        parts.append(f"{best.text} would make it {best.sessions}.")
    return " ".join(parts)


def best_change(evidence: Evidence) -> QualificationChange | None:
    """The change with which most sessions fit, where these are more than now."""
    known = [change for change in evidence.changes if change.sessions is not None]
    best = max(known, key=lambda change: change.sessions or 0, default=None)
    now = evidence.fits.sessions or evidence.fits.high
    return best if best is not None and now is not None and (best.sessions or 0) > now else None


def limit_words(limit: AnswerLimit) -> str:
    """``work writes on /mnt/b``; of other limits the resource."""
    if limit.resource != "storage" or limit.role is None:
        return RESOURCES.get(limit.resource, limit.resource)
    way = {"read": " reads", "write": " writes", None: ""}[limit.direction]
    place = "" if limit.place is None else f" on {_short(one_line(limit.place))}"
    return f"{limit.role}{way}{place}"


def fits_words(fits: Fits, *, a_node: bool = False) -> str:
    """``About 26 sessions fit (24 to 28)``, or of several nodes ``26 sessions a node``."""
    assert fits.sessions is not None, "it is known"
    sessions = f"{counted_noun(fits.sessions, 'session')}{' a node' if a_node else ''}"
    if fits.is_at_least:
        return f"At least {sessions} fit"
    fit = "fits" if fits.sessions == 1 else "fit"
    range_ = "" if fits.low is None or fits.high is None else f" ({fits.low} to {fits.high})"
    return f"About {sessions} {fit}{range_}"


def next_step_of(
    evidence: Evidence, whole: AnswerPart, preliminary: Sequence[str], nodes: AnswerNodes | None = None
) -> str:
    """What to do next, in one sentence."""
    if whole.answer == "not known":
        return _to_know(evidence)
    if evidence.failed is not None:
        return (
            "Fix the failed jobs (mawl report on each folder in runs names them with their reasons), then "
            "run it again"
        )
    if preliminary:
        why = ", ".join(preliminary)
        return f"The answer is preliminary ({why}). Run it again with more time: {evidence.longer}"
    if whole.answer == "carried":
        return "Keep this answer, and run it again after each change of the system"
    best = best_change(evidence)
    fewer = evidence.fits.sessions
    what = [] if fewer is None or fewer >= evidence.sessions else [f"run at most {fewer} sessions"]
    what += [] if best is None else [f"try this change: {best.text[0].lower()}{best.text[1:]}"]
    what += [NODES_STEPS[nodes.limit]] if nodes is not None and nodes.limit in NODES_STEPS else []
    said = ", or ".join(what) or "relieve what limits"
    return f"{said[0].upper()}{said[1:]}; then run it again"


def _to_know(evidence: Evidence) -> str:
    """The one thing that an answer lacks."""
    if evidence.busy is not None and evidence.whole is not None:
        seen = [*evidence.others_alone.names, *evidence.others_measured.names]
        names = one_line(", ".join(dict.fromkeys(seen)))
        named = f" ({names})" if names else ""
        return f"Stop the other work{named}, then run it again while the machine is idle: {evidence.again}"
    lack: Lack = "times alone" if evidence.whole is None else evidence.lack[1] if evidence.lack else "spread"
    return {
        "others": f"End the other programs that use these devices, then run it again: {evidence.again}",
        "reach": "Use a file system on which mawl can keep files out of the page cache, then run it again: "
        f"{evidence.again}",
        "times alone": "See why no program has a time alone (mawl report), then run it again: "
        f"{evidence.again}",
    }.get(lack, f"Run it again with more time, for more and longer runs: {evidence.longer}")


def _said(evidence: Evidence, whole: AnswerPart) -> str:
    sessions, most = _load(evidence), evidence.most_slowdown
    if evidence.failed is not None:
        return f"with {sessions}, {evidence.failed}"
    found: MedianEstimate | None = evidence.whole
    if found is None:
        return f"how much longer jobs take with {sessions} than alone"
    if evidence.busy is not None:
        return f"{_taken(sessions, times_words(found.median, most))} (bound {most:.2f}), but {evidence.busy}"
    if whole.answer == "not known" and found.low <= most <= found.high:
        range_ = f"{times_words(found.low, most)} to {times_words(found.high, most)}"
        return f"{_taken(sessions, range_)}, and the bound {most:.2f} lies in that range"
    said = f"{_taken(sessions, times_words(found.median, most))} (bound {most:.2f})"
    if whole.answer == "not known" and evidence.lack is not None:
        return f"{said}, but {evidence.lack[0]}"
    return said


def _load(evidence: Evidence) -> str:
    """``20 sessions``, or ``4 nodes of 20 sessions each``."""
    sessions = counted_noun(evidence.sessions, "session")
    if evidence.nodes is None:
        return sessions
    return f"{counted_noun(len(evidence.nodes.names), 'node')} of {sessions} each"


def _taken(sessions: str, times: str) -> str:
    return f"with {sessions} jobs take {times} times as long as alone"


def times_words(slowdown: float, most: float) -> str:
    """With two decimals, as all slowdowns; with three where it would read like the bound, and is not."""
    text = f"{slowdown:.2f}"
    return f"{slowdown:.3f}" if text == f"{most:.2f}" else text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_PLACE else f"...{text[3 - LONGEST_PLACE :]}"
