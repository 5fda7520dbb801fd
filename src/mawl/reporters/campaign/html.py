"""The report of a campaign as one HTML page: finding, cards, a dot for each run; then the rest, folded."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from mawl.analysis.campaign.knee import Knee
from mawl.analysis.campaign.results import CampaignFound
from mawl.analysis.comparison.reasons import Reason
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.reporters.campaign.charts import GROWS, scaling_chart, slowdown_chart
from mawl.reporters.campaign.content import (
    QUESTIONS,
    changed_settings,
    head,
    run_tables,
    scaled,
    settled,
    spread,
    tried,
)
from mawl.reporters.campaign.finding import (
    compared_nodes,
    elapsed_of,
    finding,
    gains,
    interval_of,
    range_of,
    too_many,
)
from mawl.reporters.comparison import html as comparison_html
from mawl.reporters.comparison.dots import strip_chart
from mawl.reporters.comparison.finding import capital
from mawl.reporters.comparison.page import PagePart, found_page
from mawl.reporters.comparison.reasons import listed as failed_checks
from mawl.reporters.comparison.reasons import why, why_lines
from mawl.reporters.comparison.sentences import HEADLINE, counts
from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.figures import DefinedWords
from mawl.reporters.html.sections.verdict import Card
from mawl.reporters.html.templating import fill
from mawl.units import counted_noun, format_percent, format_ratio, format_seconds


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
        known = [run for run in found.session_runs if run.slowdown is not None]
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
        return Card(
            "What do more nodes give?",
            f"{format_ratio(last.speedup or 0.0)} times" if gains(last) else "No gain",
            "" if gains(last) else "bad",
            [
                f"{last.nodes} nodes have {format_ratio(last.speedup or 0.0)} times the throughput of "
                f"{first.nodes}; medians over runs.",
                GROWS,
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
    bound = next((run.most_slowdown for run in found.session_runs if run.most_slowdown is not None), None)
    if above is None or above.median_slowdown is None or bound is None or above.median_slowdown <= bound:
        answer = "Not tried" if above is None else "Refused" if above.refused else "Failed jobs"
        return Card(question, answer, "", [reason])
    return Card(
        question,
        f"Slowdown {format_ratio(above.median_slowdown)}",
        "",
        [f"With {above.sessions} sessions the median job took so many times as long as alone."],
        format_ratio(bound),
        DefinedWords("is the bound of the median slowdown", "capacity.slowdown.most"),
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
