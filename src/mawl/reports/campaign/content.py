"""The report of a campaign as text, Markdown and JSON: the lines at its head, and its tables."""

from __future__ import annotations

import msgspec

from mawl.base.units import counted_noun, format_percent, format_rate, format_ratio, format_seconds
from mawl.figures.campaign.knee import Knee
from mawl.figures.campaign.results import ArmFound, CampaignFound
from mawl.figures.statistics import FEWEST_RUNS
from mawl.importers.formats.text import one_line
from mawl.records.model.campaign import Slot
from mawl.reports.campaign.finding import elapsed_of, finding
from mawl.reports.comparison import sentences
from mawl.reports.comparison.sentences import Headline, Line, counts
from mawl.reports.comparison.sentences import changed_on_purpose as recorded
from mawl.reports.comparison.tables import ComparisonTable, between, value
from mawl.reports.comparison.tables import tables as comparison_tables
from mawl.reports.comparison.text import laid_out, lines, section
from mawl.reports.json import indented
from mawl.reports.layout import ABSENT, LINE_WIDTH, escaped, figure, format_count

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


def title(found: CampaignFound) -> str:
    return f"campaign {found.name}: {QUESTIONS[found.kind]}"


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
        ("setting", f'{one.name} of "{one.title or one.arm}": {one.original or ABSENT} -> {read}')
        for one in found.settings
        if one.before and (read := ", ".join(one.read))
    ]


def tables(found: CampaignFound) -> list[ComparisonTable]:
    if found.comparison is not None:
        return [*comparison_tables(found.comparison), *run_tables(found)]
    every = [tried(found), scaled(found)]
    if found.kind in ("repeat", "search"):
        every += [spread(arm, alone=len(found.arms) == 1) for arm in found.arms]
    return [*(table for table in every if table.rows), *run_tables(found)]


def run_tables(found: CampaignFound) -> list[ComparisonTable]:
    """Modes of hardware threads, settings that arms changed, and the runs, as far as there are any."""
    return [
        table for table in (_modes_table(found), _settings_table(found), _runs_table(found)) if table.rows
    ]


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


def spread(arm: ArmFound, *, alone: bool) -> ComparisonTable:
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
    return ComparisonTable(
        name=f"spread-{arm.name}",
        title="figures" if alone else f"figures of {arm.title or arm.name}",
        head=("figures", "median", "lowest", "highest", "mean", "95 % interval", "deviation"),
        rows=rows,
        note=SPREAD_NOTE,
        row_figures=[one.name for one in arm.figures],
    )


def tried(found: CampaignFound) -> ComparisonTable:
    """Each number of sessions that was tried."""
    rows = [
        (
            str(one.sessions),
            "refused" if one.refused else "carried" if one.carried else "not carried",
            format_count(one.runs),
            format_count(one.agreeing),
            figure(one.answer_slowdown, format_ratio),
        )
        for one in found.sessions
    ]
    return ComparisonTable(
        name="sessions",
        title="sessions",
        head=("sessions", "judged", "runs", "agreeing", "slowdown"),
        rows=rows,
        note=TRIED_NOTE,
    )


def scaled(found: CampaignFound) -> ComparisonTable:
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
    return ComparisonTable(
        name="scaling",
        title="scaling",
        head=("nodes", "runs", "elapsed", "throughput", "speedup", "efficiency", "elapsed ratio"),
        rows=rows,
        note=SCALING_NOTE,
    )


def _modes_table(found: CampaignFound) -> ComparisonTable:
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
    return ComparisonTable(
        name="modes",
        title="modes of hardware threads",
        head=(
            *("mode", "threads", "runs", "elapsed", "real time"),
            *("throughput", "cores busy", "threads busy"),
        ),
        rows=rows,
        note=f"{MODES_NOTE}; cores busy: {bases}" if bases else MODES_NOTE,
    )


def _settings_table(found: CampaignFound) -> ComparisonTable:
    rows = [
        (
            f"{one.title or one.arm}: {one.name}",
            one.original or ABSENT,
            ", ".join(one.read) or ABSENT,
            f"{one.reads} of {one.reads + one.differing}",
            one.state,
            one.before or ABSENT,
            one.after or ABSENT,
        )
        for one in found.settings
    ]
    return ComparisonTable(
        name="arm settings",
        title="settings of the arms",
        head=("setting", "at first", "read back", "as asked", "now", "set by", "undone by"),
        rows=rows,
        note=SETTINGS_NOTE,
    )


def _runs_table(found: CampaignFound) -> ComparisonTable:
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
    return ComparisonTable(name="runs", title="runs", head=("run", "folder", "outcome", "why"), rows=rows)


def _runs_in_order(found: CampaignFound) -> list[Slot]:
    return [*([found.warm_up] if found.warm_up is not None else []), *found.slots]


def _outcome_of_slot(slot: Slot, found: CampaignFound) -> str:
    """How a run ended; one that began in a campaign that nobody conducts any more was cut short."""
    if slot.state == "running" and found.outcome != "running":
        return "interrupted"
    return slot.outcome or slot.state


def render_text(found: CampaignFound, width: int = LINE_WIDTH) -> str:
    """Head and tables in lines of ``width``, without a newline at the end."""
    first = [one_line(title(found)), *lines(head(found), width)]
    parts = [first, *(laid_out(table, width) for table in tables(found))]
    return "\n\n".join("\n".join(part) for part in parts)


def render_markdown(found: CampaignFound) -> str:
    """The finding, the head as a list, the tables."""
    (_, said), *others = head(found)
    lines = [("campaign", f"{found.name}: {QUESTIONS[found.kind]}"), *others]
    listed = [f"- **{short}**: {escaped(sentence)}" for short, sentence in lines]
    parts = [f"# {escaped(said)}", "\n".join(listed), *map(section, tables(found))]
    return "\n\n".join(parts)


class PrintedCampaign(CampaignFound, frozen=True, kw_only=True):
    """A campaign with its headline."""

    finding: Headline


def render_json(found: CampaignFound) -> str:
    """The campaign, indented."""
    return indented(PrintedCampaign(finding=finding(found), **msgspec.structs.asdict(found)))
