"""The report of a campaign as a document: the lines at its head, its tables, and the cards of its page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from mawl.base.units import counted_noun, format_percent, format_rate, format_ratio, format_seconds
from mawl.figures.campaign import ArmFound, CampaignFound
from mawl.figures.comparison.sides import Reason
from mawl.figures.knee import Knee
from mawl.figures.statistics import FEWEST_RUNS
from mawl.records.model.campaign import Slot
from mawl.reports.campaign_finding import (
    GROWS,
    compared_nodes,
    elapsed_of,
    finding,
    gains,
    interval_of,
    range_of,
    shared_machines,
    too_many,
)
from mawl.reports.comparison import document as comparing
from mawl.reports.comparison import sentences
from mawl.reports.comparison.sentences import changed_on_purpose as recorded
from mawl.reports.comparison.sentences import counts, why, why_lines
from mawl.reports.comparison.sentences import listed as failed_checks
from mawl.reports.comparison.tables import between, value
from mawl.reports.comparison.tables import tables as comparison_tables
from mawl.reports.document import (
    Block,
    Card,
    DefinedWords,
    Document,
    Headline,
    Line,
    Lines,
    Part,
    Sentences,
    Table,
    capital,
    each,
    filled,
)
from mawl.reports.json import indented
from mawl.reports.layout import ABSENT, figure, format_count

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart

QUESTIONS = {
    "repeat": "how far do the figures scatter from run to run?",
    "ab": "is there a difference, and is it more than noise?",
    "find-sessions": "how many sessions does this machine carry?",
    "scaling": "what do more nodes give?",
    "smt": "do more hardware threads of a core help?",
    "search": "which options are better?",
}
SPREAD_NOTE = (
    f"interval: of the mean (geometric where all values are above 0) by Student's t, from {FEWEST_RUNS} "
    "runs; deviation: of one run, as a share of the mean"
)
TRIED_NOTE = "agreeing: runs that said what most did; slowdown: of the median run"
MODES_NOTE = "medians over runs; a core is busy when any of its threads is; real time: sum of all jobs"
SETTINGS_NOTE = "read back: before and after each run; as asked: of these readings"
SCALING_NOTE = (
    "each node runs the whole workload: speedup is of throughput against the fewest nodes, efficiency is "
    "speedup over nodes, and elapsed time should stay; medians over runs"
)


def document(found: CampaignFound) -> Document:
    """The campaign; of a comparison with the parts of one."""
    compared, facts = found.comparison, [found.outcome, _made(found), f"campaign {found.name}"]
    if compared is not None:
        changed = [f"{kind} {change}" for kind, change in changed_settings(found)]
        facts = [*comparing.facts(compared), *changed, *facts]
    else:
        workloads = {arm.workload for arm in found.arms}
        on = [*(workloads if len(workloads) == 1 else ()), found.machine.cpu_model or found.machine.name]
        facts = [QUESTIONS[found.kind], *(fact for fact in on if fact), *facts]
    lines = [("campaign", f"{found.name}: {QUESTIONS[found.kind]}"), *head(found)]
    return Document(
        headline=finding(found),
        facts=facts,
        cards=_cards(found) if compared is None else comparing.cards(compared),
        lead=lambda: lead(found),
        parts=each(Lines(lines), *tables(found)),
        folds=_folds(found) if compared is None else comparing.folds(compared, run_tables(found)),
    )


def head(found: CampaignFound) -> list[Line]:
    """Short names and sentences: how far it is, what was found, what to know."""
    said = finding(found)
    lines: list[Line] = [("finding", said.sentence), ("outcome", _outcome_line(found))]
    if found.knee is not None and settled(found):
        lines += _knee_lines(found.knee)
    if found.smt_sentence is not None:
        lines.append(("SMT", found.smt_sentence))
    if found.comparison is not None:
        lines += [line for line in sentences.head(found.comparison) if line[0] not in sentences.HEADLINE]
        lines += changed_settings(found)
    if found.comparison_reason is not None:
        lines.append(("compared", found.comparison_reason))
    if found.kind == "repeat":
        lines += [line for arm in found.arms for line in _repeat_lines(arm)]
    kept = [folder for slot in _runs_in_order(found) for folder in slot.interrupted]
    if kept:
        lines.append(("made again", f"{counted_noun(len(kept), 'run')} cut short: {', '.join(kept)}"))
    lines += [("remark", remark) for remark in found.remarks]
    return [*lines, *sentences.next_lines(said)]


def changed_settings(found: CampaignFound) -> list[Line]:
    """Settings that arms changed outside mawl, unless the runs recorded them themselves."""
    own = recorded(found.comparison) if found.comparison is not None else []
    if any(kind == "setting" for kind, _ in own):
        return []
    return [
        (
            "setting",
            f'{setting.name} of "{setting.title or setting.arm}": {setting.original or ABSENT} -> {read}',
        )
        for setting in found.settings
        if setting.before and (read := ", ".join(setting.read))
    ]


def tables(found: CampaignFound) -> list[Table]:
    if found.comparison is not None:
        return [*comparison_tables(found.comparison), *run_tables(found)]
    every = [tried(found), scaled(found)]
    if found.kind in ("repeat", "search"):
        every += [spread(arm, alone=len(found.arms) == 1) for arm in found.arms]
    return [*filled(*every), *run_tables(found)]


def run_tables(found: CampaignFound) -> list[Table]:
    """Modes of hardware threads, settings that arms changed, and the runs, as far as there are any."""
    return filled(_modes_table(found), _settings_table(found), _runs_table(found))


def settled(found: CampaignFound) -> bool:
    """Whether a search for sessions went on until something ended it, or runs speak against more."""
    return found.outcome == "completed" or (found.knee is not None and found.knee.beyond != "at least")


def _knee_lines(knee: Knee) -> list[Line]:
    lines: list[Line] = [("limit", knee.reason)] if knee.reason else []
    return [*lines, *([("interval", f"none: {knee.interval_reason}")] if knee.interval_reason else [])]


def _outcome_line(found: CampaignFound) -> str:
    made = f"{found.finished} of {counted_noun(len(found.slots), 'run')} made"
    if found.kind == "find-sessions":
        made = f"{counted_noun(found.finished, 'run')} made"
    said = f"{found.outcome}: {made}"
    said += f"; {found.reason}" if found.reason else ""
    if found.outcome == "interrupted" or (found.outcome == "failed" and found.finished < len(found.slots)):
        command = "mawl tune search" if found.kind == "search" else "mawl run"
        said += f"; {command} --continue FOLDER goes on"
    return said


def _repeat_lines(arm: ArmFound) -> list[Line]:
    lines: list[Line] = []
    elapsed = elapsed_of(arm)
    if elapsed is not None:
        said = (
            f"median {format_seconds(elapsed.median)} of {counted_noun(elapsed.runs, 'run')}, "
            f"{format_seconds(elapsed.lowest)} to {format_seconds(elapsed.highest)}"
        )
        lines.append(("elapsed", said))
    if arm.limits:
        lines.append(("limit", counts(arm.limits)))
    if arm.validity:
        few = f" ({FEWEST_RUNS} completed runs required)" if arm.completed < FEWEST_RUNS else ""
        lines.append(("validity", counts(arm.validity) + few))
    return lines


def spread(arm: ArmFound, *, alone: bool) -> Table:
    """The figures of an arm over its runs; ``alone``: the campaign has no other arm."""
    rows = [
        (
            one.title,
            value(one.median, one.unit),
            value(one.lowest, one.unit),
            value(one.highest, one.unit),
            value(one.mean, one.unit),
            between(value(one.low, one.unit), value(one.high, one.unit)) if one.low is not None else ABSENT,
            figure(one.deviation_ratio, lambda ratio: f"{100 * ratio:.1f} %"),
        )
        for one in arm.figures
    ]
    return Table(
        name=f"spread-{arm.name}",
        title="figures" if alone else f"figures of {arm.title or arm.name}",
        head=("figures", "median", "lowest", "highest", "mean", "95 % interval", "deviation"),
        rows=rows,
        note=SPREAD_NOTE,
        row_figures=[one.name for one in arm.figures],
    )


def tried(found: CampaignFound) -> Table:
    """Each number of sessions that was tried."""
    rows = [
        (
            str(session.sessions),
            "refused" if session.refused else "carried" if session.carried else "not carried",
            format_count(session.runs),
            format_count(session.agreeing),
            figure(session.answer_slowdown, format_ratio),
        )
        for session in found.sessions
    ]
    return Table(
        name="sessions",
        title="sessions",
        head=("sessions", "judged", "runs", "agreeing", "slowdown"),
        rows=rows,
        note=TRIED_NOTE,
    )


def scaled(found: CampaignFound) -> Table:
    """Each number of nodes."""
    rows = [
        (
            str(row.nodes),
            str(row.runs),
            figure(row.elapsed_seconds, format_seconds),
            figure(row.bytes_per_second, format_rate),
            figure(row.speedup, format_ratio),
            figure(row.efficiency_ratio, format_ratio),
            figure(row.elapsed_ratio, format_ratio),
        )
        for row in found.scaling
    ]
    return Table(
        name="scaling",
        title="scaling",
        head=("nodes", "runs", "elapsed", "throughput", "speedup", "efficiency", "elapsed ratio"),
        rows=rows,
        note=SCALING_NOTE,
    )


def _modes_table(found: CampaignFound) -> Table:
    rows = [
        (
            one.title or one.arm,
            figure(one.threads, format_count),
            str(one.runs),
            figure(one.elapsed_seconds, format_seconds),
            figure(one.real_time_seconds, format_seconds),
            figure(one.bytes_per_second, format_rate),
            figure(one.core_busy_ratio, format_percent),
            figure(one.cpu_busy_ratio, format_percent),
        )
        for one in found.smt
    ]
    bases = ", ".join(dict.fromkeys(one.core_busy_basis for one in found.smt if one.core_busy_basis))
    return Table(
        name="modes",
        title="modes of hardware threads",
        head=(
            *("mode", "threads", "runs", "elapsed", "real time"),
            *("throughput", "cores busy", "threads busy"),
        ),
        rows=rows,
        note=f"{MODES_NOTE}; cores busy: {bases}" if bases else MODES_NOTE,
    )


def _settings_table(found: CampaignFound) -> Table:
    rows = [
        (
            f"{setting.title or setting.arm}: {setting.name}",
            setting.original or ABSENT,
            ", ".join(setting.read) or ABSENT,
            f"{setting.reads} of {setting.reads + setting.differing}",
            setting.state,
            setting.before or ABSENT,
            setting.after or ABSENT,
        )
        for setting in found.settings
    ]
    return Table(
        name="arm settings",
        title="settings of the arms",
        head=("setting", "at first", "read back", "as asked", "now", "set by", "undone by"),
        rows=rows,
        note=SETTINGS_NOTE,
    )


def _runs_table(found: CampaignFound) -> Table:
    titles = {arm.name: arm.title or arm.name for arm in found.arms}
    rows = [
        (
            f"{slot.position} {titles[slot.arm]}" if slot.position else "warm-up, in no figure",
            slot.folder or ABSENT,
            _outcome_of_slot(slot, found),
            slot.reason or "",
        )
        for slot in _runs_in_order(found)
    ]
    return Table(name="runs", title="runs", head=("run", "folder", "outcome", "why"), rows=rows)


def _runs_in_order(found: CampaignFound) -> list[Slot]:
    return [*([found.warm_up] if found.warm_up is not None else []), *found.slots]


def _outcome_of_slot(slot: Slot, found: CampaignFound) -> str:
    """How a run ended; one that began in a campaign that nobody conducts any more was cut short."""
    if slot.state == "running" and found.outcome != "running":
        return "interrupted"
    return slot.outcome or slot.state


def lead(found: CampaignFound) -> Chart | None:
    """The chart of the first screen; None if no run is finished."""
    if found.comparison is not None:
        return comparing.lead(found.comparison)
    from mawl.reports.comparison.charts import strip_chart
    from mawl.reports.html.charts.answers import scaling_chart, slowdown_chart

    if found.kind == "find-sessions":
        known = [run for run in found.session_runs if run.answer_slowdown is not None]
        return slowdown_chart(known, found.knee) if known else None
    if found.kind == "scaling":
        rows = [row for row in found.scaling if row.bytes_per_second is not None]
        return scaling_chart(rows) if rows else None
    return strip_chart(found.arms[0].figures) if found.arms else None


def _cards(found: CampaignFound) -> list[Card]:
    """The number, whether the load is carried, what limits, and whether it can be believed."""
    arms = [arm for arm in found.arms if arm.runs]
    cards = [_number(found)]
    if not arms:
        return cards
    last = max(arms, key=lambda arm: arm.size or 0)
    if found.kind == "find-sessions":
        if found.knee is not None and found.knee.reason and settled(found):
            cards.append(_against_more(found, found.knee))
    else:
        cards.append(comparing.carried(last.answers, reasons=last.reasons))
        limit = why(last.reasons, "limit", last.runs) or f"in {counted_noun(last.runs, 'run')}"
        cards.append(Card("What limits it?", capital(counts(last.limits)), "", [f"{capital(limit)}."]))
    made = sum(arm.completed for arm in arms)
    every = sum(arm.runs for arm in arms)
    statuses = Counter({word: 0 for arm in arms for word, _ in arm.validity})
    for arm in arms:
        statuses.update(dict(arm.validity))
    said = [f"{capital(counts(statuses.most_common()))}."] if len(statuses) > 1 else []
    said += [f"{made} of {every} runs completed."] if made < every else []
    cards.append(
        comparing.believed(
            statuses,
            _reasons(found),
            every,
            (f"{made} of {every}", "runs completed"),
            said,
            "The checks and the runs",
        )
    )
    return cards


def _number(found: CampaignFound) -> Card:
    """The number that the campaign is for, with its interval."""
    if found.kind == "find-sessions":
        return _sessions(found.knee)
    if found.kind == "scaling":
        ends = compared_nodes(found)
        if ends is None:
            return Card("What do more nodes give?", "Not known", "warn", [])
        first, last = ends
        shared = shared_machines(last)
        return Card(
            "What do more nodes give?",
            f"{format_ratio(last.speedup or 0.0)} times" if gains(last) else "No gain",
            "" if gains(last) else "bad",
            [
                f"{last.nodes} nodes have {format_ratio(last.speedup or 0.0)} times the throughput of "
                f"{first.nodes}; medians over runs.",
                GROWS,
                *([f"{shared}."] if shared is not None else []),
            ],
            "" if last.efficiency_ratio is None else f"{100 * last.efficiency_ratio:.0f} %",
            f"efficiency: speedup over {last.nodes / first.nodes:g} times the nodes",
        )
    elapsed = elapsed_of(found.arms[0]) if found.arms else None
    if elapsed is None:
        return Card("How far do runs scatter?", "Not known", "warn", [])
    median = elapsed.median
    scatter = (elapsed.highest - elapsed.lowest) / median if median > 0 and elapsed.runs > 1 else None
    share = ", as a share of the median" if scatter else ""
    return Card(
        "How far do runs scatter?",
        "One run shows none" if scatter is None else format_percent(scatter),
        "warn" if elapsed.runs < FEWEST_RUNS else "",
        [] if scatter is None else [f"{capital(range_of(elapsed))}{share}."],
        format_seconds(median),
        "median elapsed time",
    )


def _sessions(knee: Knee | None) -> Card:
    question = "How many sessions fit?"
    if knee is None or knee.sessions is None:
        return Card(question, "Not known", "warn", [])
    said = capital(f"{knee.beyond} {knee.sessions}".strip())
    between = interval_of(knee)
    if between:
        return Card(question, said, "good", [f"{capital(between)}."])
    none = [f"No interval: {knee.interval_reason}."] if knee.interval_reason else []
    return Card(question, said, "warn", none)


def _against_more(found: CampaignFound, knee: Knee) -> Card:
    """What a run with more sessions showed: its slowdown and the bound, or what else spoke against it."""
    question, reason = "What speaks against more?", f"{capital(knee.reason)}."
    above = too_many(found)
    bound = next((run.answer_bound for run in found.session_runs if run.answer_bound is not None), None)
    if above is None or above.answer_slowdown is None or bound is None or above.answer_slowdown <= bound:
        answer = "Not tried" if above is None else "Refused" if above.refused else "Failed jobs"
        return Card(question, answer, "", [reason])
    return Card(
        question,
        f"Slowdown {format_ratio(above.answer_slowdown)}",
        "",
        [f"With {above.sessions} sessions the jobs took so many times their reference time."],
        format_ratio(bound),
        DefinedWords("is the bound of the slowdown", "answer.bound"),
    )


def _folds(found: CampaignFound) -> list[Part]:
    reasons, runs = _reasons(found), sum(arm.runs for arm in found.arms)
    alone = len(found.arms) == 1
    spreads = [spread(arm, alone=alone) for arm in found.arms if arm.figures]
    trust: list[Block] = [
        Lines([*head(found), *why_lines(reasons, runs)]),
        Sentences(failed_checks(reasons, runs), comparing.FAILED),
        *run_tables(found),
    ]
    return [
        Part(filled(tried(found), scaled(found)), "numbers", "Number by number", "Numbers"),
        Part(trust, "trust", "Trust: the runs, and what was said of them", "Trust"),
        Part(spreads, "figures", "All figures over the runs", "Figures"),
    ]


def _reasons(found: CampaignFound) -> list[Reason]:
    return [reason for arm in found.arms for reason in arm.reasons]


def _made(found: CampaignFound) -> str:
    return f"{counted_noun(found.finished, 'run')} made"


class PrintedCampaign(CampaignFound, frozen=True, kw_only=True):
    """A campaign with its headline."""

    finding: Headline


def render_json(found: CampaignFound) -> str:
    """The campaign, indented."""
    return indented(PrintedCampaign(finding=finding(found), **msgspec.structs.asdict(found)))
