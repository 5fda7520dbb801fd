"""The report of a campaign as one HTML page: finding, cards and a dot for each run, the rest folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.models.annotations import BoxAnnotation, Span
from markupsafe import Markup

from mawl.base.units import counted_noun, format_percent, format_rate, format_ratio, format_seconds
from mawl.figures.campaign.knee import Knee, SessionRun
from mawl.figures.campaign.results import CampaignFound, ScalingRow
from mawl.figures.comparison.sides import Reason
from mawl.figures.statistics import FEWEST_RUNS
from mawl.reports.campaign.content import (
    QUESTIONS,
    changed_settings,
    head,
    run_tables,
    scaled,
    settled,
    spread,
    tried,
)
from mawl.reports.campaign.finding import (
    compared_nodes,
    elapsed_of,
    finding,
    gains,
    interval_of,
    range_of,
    shared_machines,
    too_many,
)
from mawl.reports.comparison import html as comparison_html
from mawl.reports.comparison.charts import strip_chart
from mawl.reports.comparison.html import PagePart, found_page
from mawl.reports.comparison.sentences import HEADLINE, capital, counts, why, why_lines
from mawl.reports.comparison.sentences import listed as failed_checks
from mawl.reports.html.charts.frame import Chart, Key, blank, from_zero, hover, ticks_of
from mawl.reports.html.colours import light
from mawl.reports.html.figures import DefinedWords
from mawl.reports.html.sections.verdict import Card
from mawl.reports.html.templating import fill
from mawl.reports.layout import figure

MARGIN = 0.5
"""Room of an axis below its smallest and above its largest number; these are whole numbers."""

STEP = 0.06
"""Distance between runs with the same number: they are drawn side by side around it, in their order."""

VERDICTS = {"carried": ("good", "circle"), "too many": ("bad", "inverted_triangle")}
"""Colour and shape of a run by its verdict."""

GROWS = "Each node runs the whole workload, so the load grows with the nodes."


def slowdown_chart(runs: Sequence[SessionRun], knee: Knee | None) -> Chart:
    """Slowdown of each run by its sessions, the bound, and the largest number that fits."""
    sessions = [run.sessions for run in runs]
    looks = [VERDICTS.get(run.verdict, VERDICTS["carried"]) for run in runs]
    source = ColumnDataSource(
        {
            "sessions": sessions,
            "at": side_by_side(sessions),
            "slowdown": np.array([run.answer_slowdown for run in runs], np.float64),
            "verdict": [run.verdict for run in runs],
            "color": [light(colour) for colour, _ in looks],
            "shape": [shape for _, shape in looks],
        },
        name="slowdown",
    )
    plot = blank("slowdown", x_range=_beside(sessions), y_range=from_zero())
    keys = [
        Key("run that is carried", "good", "dot"),
        Key("run with too many", "bad", "triangle"),
    ]
    if knee is not None and knee.low is not None and knee.high is not None and knee.low < knee.high:
        plot.add_layout(
            BoxAnnotation(left=knee.low, right=knee.high, fill_color=light("quiet"), fill_alpha=0.2)
        )
        keys.append(Key(f"95 % interval, {knee.low} to {knee.high}", "quiet", "pale"))
    if knee is not None and knee.sessions is not None and not knee.beyond:
        plot.add_layout(
            Span(location=knee.sessions, dimension="height", line_color=light("ink"), line_dash="dashed")
        )
        keys.append(Key(f"largest number that fits, {knee.sessions}", "ink", "dashed"))
    for bound in {run.answer_bound for run in runs if run.answer_bound is not None}:
        plot.line([min(sessions) - MARGIN, max(sessions) + MARGIN], [bound, bound], color=light("ink"))
        keys.append(Key(f"bound of the slowdown, {bound:g}", "ink", "line"))
    points = plot.scatter("at", "slowdown", marker="shape", size=10, color="color", source=source)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "sessions", "slowdown"
    plot.xaxis.ticker = FixedTicker(ticks=sorted(set(sessions)))
    hover(
        plot,
        points,
        [("sessions", "@sessions"), ("slowdown", "@slowdown{0.00}"), ("", "@verdict")],
    )
    return Chart(
        "slowdown",
        "Slowdown by sessions",
        "A mark for each run: real time of its jobs over their reference time.",
        "Marks: the slowdown of each run by its number of sessions, the bound, and the largest number "
        "that fits.",
        keys,
        plot,
    )


def scaling_chart(rows: Sequence[ScalingRow]) -> Chart:
    """Application throughput of all nodes, beside what as many times the fewest would be."""
    nodes = [row.nodes for row in rows]
    first = rows[0].bytes_per_second or 0.0
    source = ColumnDataSource(
        {
            "nodes": nodes,
            "rate": np.array([row.bytes_per_second for row in rows], np.float64),
            "ideal": np.array([first * row.nodes / rows[0].nodes for row in rows]),
            "rate_said": [figure(row.bytes_per_second, format_rate) for row in rows],
            "ideal_said": [format_rate(first * row.nodes / rows[0].nodes) for row in rows],
        },
        name="scaling",
    )
    plot = blank("scaling", x_range=_beside(nodes), y_range=from_zero())
    plot.line("nodes", "ideal", color=light("quiet"), line_dash="dashed", source=source)
    plot.line("nodes", "rate", color=light("ink"), line_width=2, source=source)
    points = plot.scatter("nodes", "rate", marker="diamond", size=14, color=light("ink"), source=source)
    made = [(row.nodes, rate) for row in rows for rate in row.run_bytes_per_second]
    runs = ColumnDataSource(
        {
            "nodes": [nodes for nodes, _ in made],
            "at": side_by_side([nodes for nodes, _ in made]),
            "rate": np.array([rate for _, rate in made], np.float64),
        },
        name="scaling_runs",
    )
    plot.scatter("at", "rate", size=8, color=light("accent"), source=runs)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "nodes", "throughput"
    plot.xaxis.ticker = FixedTicker(ticks=nodes)
    plot.yaxis.formatter = ticks_of("rate")
    hover(
        plot,
        points,
        [("nodes", "@nodes"), ("throughput", "@rate_said"), ("ideal", "@ideal_said")],
    )
    return Chart(
        "scaling",
        "Throughput by nodes",
        f"Application bytes per second of all nodes together. {GROWS}",
        "Line: throughput of all nodes by their number; dashed: ideal, in proportion to the fewest.",
        [
            Key("throughput of a run", "accent", "dot"),
            Key("median of the runs", "ink", "diamond"),
            Key(f"ideal: in proportion to {counted_noun(rows[0].nodes, 'node')}", "quiet", "dashed"),
        ],
        plot,
    )


def side_by_side(numbers: Sequence[int]) -> list[float]:
    """Where to draw runs so that those with one number do not cover each other."""
    whole, seen = Counter(numbers), Counter[int]()
    places = []
    for number in numbers:
        places.append(number + STEP * (seen[number] - (whole[number] - 1) / 2))
        seen[number] += 1
    return places


def _beside(numbers: Sequence[int]) -> Range1d:
    return Range1d(start=min(numbers) - MARGIN, end=max(numbers) + MARGIN)


def render(found: CampaignFound) -> str:
    """The page."""
    facts = [found.outcome, _made(found), f"campaign {found.name}"]
    comparison = found.comparison
    if comparison is not None:
        return found_page(
            finding(found),
            [
                *comparison_html.facts(comparison),
                *(f"{kind} {change}" for kind, change in changed_settings(found)),
                *facts,
            ],
            comparison_html.cards(comparison),
            lead(found),
            comparison_html.parts(comparison, run_tables(found)),
        )
    workloads = {arm.workload for arm in found.arms}
    on = [*(workloads if len(workloads) == 1 else ()), found.machine.cpu_model or found.machine.name]
    whole = [QUESTIONS[found.kind], *(fact for fact in on if fact), *facts]
    return found_page(finding(found), whole, _cards(found), lead(found), _parts(found))


def lead(found: CampaignFound) -> Chart | None:
    """The chart of the first screen; None if no run is finished."""
    if found.comparison is not None:
        return comparison_html.lead(found.comparison)
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
        cards.append(comparison_html.carried(last.answers, reasons=last.reasons))
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
        comparison_html.believed(
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


def _parts(found: CampaignFound) -> list[PagePart]:
    reasons, runs = _reasons(found), sum(arm.runs for arm in found.arms)
    lines = [line for line in head(found) if line[0] not in HEADLINE]
    listed = [fill("facts.html", facts=[*lines, *why_lines(reasons, runs)])]
    failed = failed_checks(reasons, runs)
    if failed:
        listed += [Markup("<h3>{}</h3>").format(comparison_html.FAILED), fill("bullets.html", texts=failed)]
    alone = len(found.arms) == 1
    numbers = [table for table in (tried(found), scaled(found)) if table.rows]
    spreads = [spread(arm, alone=alone) for arm in found.arms if arm.figures]
    return [
        PagePart("numbers", "Number by number", "Numbers", tables=numbers),
        PagePart(
            "trust", "Trust: the runs, and what was said of them", "Trust", listed, tables=run_tables(found)
        ),
        PagePart("figures", "All figures over the runs", "Figures", tables=spreads),
    ]


def _reasons(found: CampaignFound) -> list[Reason]:
    return [one for arm in found.arms for one in arm.reasons]


def _made(found: CampaignFound) -> str:
    return f"{counted_noun(found.finished, 'run')} made"
