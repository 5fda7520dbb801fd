"""The first screen of a run's report, and the sections behind its cards: why, and the findings."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from mawl.advice.answer import parts_words
from mawl.advice.judge import RULES
from mawl.advice.limit.verdict import cause_words, limit_sentence, shown_causes
from mawl.advice.next_step import next_of, not_passed
from mawl.base.units import format_memory, format_percent, format_rate, format_ratio, format_seconds
from mawl.records.model.summary.judgement import RESOURCES, Limit
from mawl.records.model.summary.summary import Judged
from mawl.reports.document import Card, DefinedWords
from mawl.reports.html.figures import (
    Cell,
    ShownFigures,
    Terms,
    breakable,
    paragraph,
    part,
    table,
)
from mawl.reports.html.page import fill
from mawl.reports.judgement import (
    CARRIED,
    HEAD,
    ROOM,
    STATUS,
    STATUSES,
    idle_mark,
    met_words,
    rows_of,
    times_alone_line,
)
from mawl.reports.layout import by_reason, format_count
from mawl.reports.run_tables.nodes import node_balance

COST_SHARE = "limit.costs.*.share_ratio"
COMMAND = ": mawl "
NO_JOB_MAY_FAIL = ". A load is carried only if every job finishes with a right answer"


def verdict(figures: ShownFigures, first: Card | None = None) -> Markup:
    """The cards, the next step, and a line about nodes.

    After a card that comes first, two answers that are not known are one.
    """
    answers = [_carried(figures), _limit(figures)]
    if first is not None and figures.summary.limit is None and figures.summary.answer.answer == "not known":
        carried, limit = answers
        answers = [
            carried._replace(
                question="Is the load carried, and what limits it?",
                lines=[" ".join(map(str, [*carried.lines, *limit.lines]))],
            )
        ]
    cards = [*([first] if first else []), *answers, _validity(figures)]
    return cards_and_step(
        cards, next_of(figures.summary, shlex.quote(figures.summary.run_id)), figures
    ) + _nodes(figures)


def cards_and_step(
    cards: Sequence[Card], next_step: str | None, terms: Terms, to_publish: str | None = None
) -> Markup:
    """Cards, below them the next step, and what to fix before publishing.

    A command at the end of the step (``: mawl ...``) is shown as one; ``terms`` takes the words that lead to
    definitions.
    """
    step, colon, command = (next_step or "").partition(COMMAND)
    return fill(
        "verdict.html",
        cards=[_with_links(card, terms) for card in cards],
        step=step,
        command=f"mawl {command}" if colon else "",
        to_publish=to_publish,
    )


def _with_links(card: Card, terms: Terms) -> Card:
    answer, measures = (
        terms.term(*words) if isinstance(words, DefinedWords) else words
        for words in (card.answer, card.measures)
    )
    return card._replace(answer=answer, measures=measures)


def _carried(figures: ShownFigures) -> Card:
    found = figures.summary.answer
    answer, standing = CARRIED[found.answer]
    if found.preliminary:
        answer, standing = f"{answer}, preliminary", "bad" if standing == "bad" else "warn"
    figure, measures = figures.show(format_count, "jobs", "finished"), _of_jobs(figures)
    if found.slowdown is not None and figures.summary.outcome != "running":
        figure = figures.show(_times, "answer", "slowdown")
        measures = Markup("{} (at most {} allowed)").format(
            figures.term("the reference time", "answer.slowdown"),
            figures.show(format_ratio, "answer", "bound"),
        )
    said = found.reason
    if said is not None and found.answer == "not carried":
        said += NO_JOB_MAY_FAIL
    elif said is None and (limit := figures.summary.limit) is not None and limit.costs:
        said = limit_sentence(limit)
    said = said or found.reasons[0]
    return Card(
        "Is the load carried?", answer, standing, [_as_sentence(said)], figure, measures, ("answer", "Why")
    )


def _times(value: float) -> str:
    return f"{format_ratio(value)} times"


def _of_jobs(figures: ShownFigures) -> Markup:
    total = max(figures.summary.jobs.total, figures.summary.workload.jobs)
    return Markup("of {} jobs {}").format(total, figures.term("finished", "jobs.finished"))


def _limit(figures: ShownFigures) -> Card:
    limit = figures.summary.limit
    question = "What limits it?"
    if limit is None:
        why = figures.summary.missing.get("limit", "not known")
        return Card(question, "Not known", "warn", [_as_sentence(why)], more=("answer", "Why"))
    evidence = [line.sentence for line in limit.evidence if line.kind == "evidence"]
    said = [_as_sentence(evidence[0])] if evidence else []
    if not limit.named:
        question = "What do jobs lose most time to?"
    causes = shown_causes(limit)
    if not causes:
        return Card(question, _capital(RESOURCES["none"]), "good", said, more=("answer", "Why"))
    return Card(
        question,
        _capital(" and ".join(map(cause_words, causes))),
        "warn" if limit.named or limit.verdict != "none" else "good",
        said,
        figures.show(format_percent, "limit", "costs", limit.costs.index(causes[0]), "share_ratio"),
        figures.term("of the jobs' time" + (" by the first" if len(causes) > 1 else ""), COST_SHARE),
        ("answer", "Why"),
    )


def _nodes(figures: ShownFigures) -> Markup:
    block = figures.summary.cluster
    if block is None:
        return Markup()
    return fill(
        "between_nodes.html",
        said=node_balance(block),
        share=figures.show(format_percent, "cluster", "imbalance_ratio"),
        measure=figures.term("later than the mean", "cluster.imbalance_ratio"),
        lost=block.lost,
    )


def _validity(figures: ShownFigures) -> Card:
    summary = figures.summary
    validity = summary.validity
    answer, standing = STATUSES[validity.status]
    findings = not_passed(summary)
    unknown = [one for one in validity.unmeasured if one.severity != "remark"]
    first = findings[0].sentence if findings else f"Not measured: {unknown[0].reason}" if unknown else ""
    figure, measures = _checks_passed(summary)
    return Card(
        "Can this run be trusted?",
        DefinedWords(answer, STATUS),
        standing,
        [_as_sentence(first or met_words(validity))],
        figure,
        measures,
        ("findings", "Every check that failed, with its fix" if findings or unknown else "The checks"),
    )


def _checks_passed(summary: Judged) -> tuple[str, str]:
    validity = summary.validity
    found = {one.rule for one in validity.findings if one.severity != "remark"}
    if summary.kind != "measured":
        found |= {one.rule for one in validity.unmeasured if one.severity != "remark"}
        of_all = f" of {len(RULES)}" if summary.kind == "imported" else ""
        several = of_all or len(found) != 1
        return f"{len(found)}{of_all}", "checks not passed" if several else "check not passed"
    met = len(RULES) - len(found | {one.rule for one in validity.unmeasured})
    return f"{met} of {len(RULES)}", "checks passed"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _as_sentence(text: str) -> str:
    return _capital(text).rstrip(".") + "."


def keys(figures: ShownFigures) -> Markup:
    """The figures asked for first, each with its definition."""
    show, term = figures.show, figures.term
    sustained = ("io", "device", "sustained", "total_bytes_per_second")
    found = [
        (term("elapsed", "time.elapsed_seconds"), show(format_seconds, "time", "elapsed_seconds")),
        (term("jobs finished", "jobs.finished"), show(format_count, "jobs", "finished")),
        (
            term("response time (sum)", "time.real_time_seconds"),
            show(format_seconds, "time", "real_time_seconds"),
        ),
        (
            term("sustained, device", "io.device.sustained.total_bytes_per_second"),
            show(format_rate, *sustained),
        ),
        (
            term("sustained, application", "io.application.sustained.total_bytes_per_second"),
            show(format_rate, "io", "application", *sustained[2:]),
        ),
        (
            term("device, per core", "io.device.sustained_bytes_per_second_per_core"),
            show(format_rate, "io", "device", "sustained_bytes_per_second_per_core"),
        ),
        (term("CPU/real", "cpu_real_ratio.of_sums"), show(format_ratio, "cpu_real_ratio", "of_sums")),
        (term("memory of jobs (sum)", "time.memory_bytes"), show(format_memory, "time", "memory_bytes")),
    ]
    return fill("keys.html", keys=found)


def answer(figures: ShownFigures) -> Markup:
    """The reasons of the answer, then what limits with its shares, headroom and evidence."""
    summary = figures.summary
    alone = summary.times_alone
    shares = summary.answer.parts
    texts = [
        *summary.answer.reasons,
        *([] if shares.on_cpu is None else [f"its parts: {parts_words(msgspec.structs.asdict(shares))}"]),
        *([] if alone is None else [times_alone_line(alone)]),
    ]
    parts = [fill("bullets.html", texts=texts)]
    limit = summary.limit
    if limit is None:
        parts.append(paragraph(f"What limits is not known: {figures.reason(('limit',))}."))
    else:
        parts.append(_resources_table(figures, limit))
        parts.append(_costs_table(figures, limit))
        if limit.evidence:
            evidence = [(line.kind, line.sentence) for line in limit.evidence]
            caption = "What limits: evidence, and what only supports it"
            parts.append(table(caption, ("kind", "figures"), evidence, words=(1,)))
    return part("answer", "Why: the answer, and what limits", *parts)


def _costs_table(figures: ShownFigures, limit: Limit) -> Markup:
    rows = [
        (
            cause_words(cost),
            figures.show(format_percent, "limit", "costs", number, "share_ratio"),
            figures.show(format_ratio, "limit", "costs", number, "slowdown"),
        )
        for number, cost in enumerate(limit.costs)
    ]
    head = (
        "cause",
        figures.term("of the jobs' time", COST_SHARE),
        figures.term("part of the slowdown", "limit.costs.*.slowdown"),
    )
    return table("What causes cost the jobs", head, rows)


def _resources_table(figures: ShownFigures, limit: Limit) -> Markup:
    rows: list[tuple[Cell, ...]] = []
    for name in msgspec.structs.asdict(limit.shares):
        if name == "none":
            continue
        left: Cell = figures.show(format_percent, "limit", "headroom", f"{name}_ratio")
        if name in ROOM and (mark := idle_mark(limit, name)):
            left += Markup("{}").format(mark)
        rows.append(
            (
                RESOURCES[name],
                figures.show(format_percent, "limit", "shares", name),
                figures.show(format_percent, "limit", "losses", name),
                left,
            )
        )
    head = (
        "resource",
        figures.term("costs most, of the active time", "limit.shares.cpu"),
        figures.term("cost, of the jobs' time", "limit.losses.cpu"),
        figures.term("headroom", "limit.headroom.cpu_ratio"),
    )
    return table("Resources", head, rows, narrow=True)


MOST_FAILURES = 200
CHECKS = "A check is passed if its figures are known and it finds nothing worse than a remark."
TAGS = {"invalid": "bad", "preliminary": "warn", "remark": ""}


def findings(figures: ShownFigures) -> Markup:
    """What speaks against the run."""
    summary = figures.summary
    parts = [paragraph(CHECKS, "quiet")] if summary.kind == "measured" else []
    found = summary.validity.findings
    rows: list[tuple[Cell, ...]] = [
        (
            one.rule,
            fill("tag.html", text=one.severity, kind=TAGS[one.severity]),
            one.sentence,
            one.cure,
        )
        for one in found
    ]
    rows += [
        (", ".join(rules), fill("tag.html", text="not measured", kind=tag), why, "")
        for severity, tag in TAGS.items()
        for why, rules in by_reason(
            (one.rule, one.reason) for one in summary.validity.unmeasured if one.severity == severity
        ).items()
    ]
    if rows:
        head = ("rule", "severity", "finding", "fix")
        caption = "Whether the run can be trusted: findings and fixes"
        parts.append(table(caption, head, rows, words=(2, 3), texts=(1,)))
    else:
        parts.append(paragraph("No rule found anything against this run."))
    if deciding := rows_of(summary):
        rows = [(breakable(name), *rest) for name, *rest in deciding]
        parts.append(table("Thresholds that decided", HEAD, rows, words=(2,)))
    return part("findings", "Trust: findings and fixes", *parts, *_failures(summary), *_remarks(summary))


def _failures(summary: Judged) -> list[Markup]:
    failed = summary.failures
    if not failed:
        return []
    rows = [
        (
            one.job,
            one.program,
            one.outcome.replace("_", " "),
            one.reason or "no reason was recorded",
        )
        for one in failed[:MOST_FAILURES]
    ]
    more = len(failed) - len(rows)
    caption = "Jobs that did not finish" + (f": the first {len(rows)} of {len(failed)}" if more else "")
    return [table(caption, ("job", "program", "outcome", "why"), rows, words=(3,), texts=(1, 2))]


def _remarks(summary: Judged) -> list[Markup]:
    return [paragraph(f"Remark: {remark}") for remark in summary.remarks]
