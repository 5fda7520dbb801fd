"""The report of a campaign as one HTML page: finding, cards, a dot for each run; then the rest, folded."""

from __future__ import annotations

from collections import Counter

from mawl.analysis.campaign.results import CampaignFound
from mawl.reporters.campaign.charts import scaling_chart, slowdown_chart
from mawl.reporters.campaign.content import QUESTIONS, head, run_tables, scaled, settled, spread, tried
from mawl.reporters.campaign.finding import elapsed_of, finding
from mawl.reporters.comparison import html as comparison_html
from mawl.reporters.comparison.dots import strip_chart
from mawl.reporters.comparison.finding import capital
from mawl.reporters.comparison.page import PagePart, found_page
from mawl.reporters.comparison.sentences import counts
from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.sections.verdict import Card
from mawl.reporters.html.templating import fill
from mawl.units import counted_noun, format_ratio, format_seconds


def render(found: CampaignFound) -> str:
    """The page."""
    facts = [found.outcome, _made(found), f"campaign {found.name}"]
    comparison = found.comparison
    if comparison is not None:
        return found_page(
            finding(found),
            [*comparison_html.facts(comparison), *facts],
            comparison_html.cards(comparison),
            lead(found),
            comparison_html.parts(comparison, run_tables(found)),
        )
    workloads = {arm.workload for arm in found.arms}
    on = [*(workloads if len(workloads) == 1 else ()), found.machine.cpu_model or found.machine.name]
    whole = [QUESTIONS[found.kind], *(fact for fact in on if fact), *facts]
    return found_page(finding(found), whole, _cards(found), lead(found), _parts(found))


def lead(found: CampaignFound) -> Chart | None:
    """The chart of the first screen; None where no run is finished."""
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
    last = arms[-1]
    if found.kind == "find-sessions":
        if found.knee is not None and found.knee.reason and settled(found):
            cards.append(Card("What speaks against more?", "", "", [capital(found.knee.reason) + "."]))
    else:
        cards.append(comparison_html.carried(last.answers))
        cards.append(Card("What limits it?", capital(counts(last.limits)), "", [_in_all(last.runs)]))
    made = sum(arm.completed for arm in arms)
    every = sum(arm.runs for arm in arms)
    statuses = Counter({word: 0 for arm in arms for word, _ in arm.validity})
    for arm in arms:
        statuses.update(dict(arm.validity))
    cards.append(
        comparison_html.believed(
            [word for arm in arms for word, _ in arm.validity],
            f"{made} of {every}",
            "runs completed",
            [f"{capital(counts(statuses.most_common()))}." if len(statuses) > 1 else _in_all(every)],
            "The runs",
        )
    )
    return cards


def _number(found: CampaignFound) -> Card:
    """The number that the campaign is for, with its interval."""
    if found.kind == "find-sessions":
        knee = found.knee
        known = knee is not None and knee.sessions is not None
        said = f"{knee.beyond} {knee.sessions}".strip() if knee and known else "Not known"
        if knee and knee.low is not None:
            return Card(
                "How many sessions fit?",
                capital(said),
                "good",
                [],
                f"{knee.low} to {knee.high}",
                "95 % interval",
            )
        why = knee.interval_reason if knee else None
        return Card("How many sessions fit?", capital(said), "warn", [f"No interval: {why}."] if why else [])
    if found.kind == "scaling":
        rows = [row for row in found.scaling if row.speedup is not None]
        if len(rows) < 2:
            return Card("What do more nodes give?", "Not known", "warn", [])
        efficiency = rows[-1].efficiency_ratio
        return Card(
            "What do more nodes give?",
            f"{format_ratio(rows[-1].speedup or 0.0)} times",
            "",
            [f"Throughput of {rows[-1].nodes} nodes against {rows[0].nodes}; medians over runs."],
            "" if efficiency is None else f"{100 * efficiency:.0f} %",
            "efficiency: speedup over number of nodes",
        )
    elapsed = elapsed_of(found.arms[0]) if found.arms else None
    if elapsed is None:
        return Card("How far do runs scatter?", "Not known", "warn", [])
    deviation = elapsed.deviation_ratio
    between = f"{format_seconds(elapsed.lowest)} to {format_seconds(elapsed.highest)}"
    return Card(
        "How far do runs scatter?",
        "One run shows none" if deviation is None else f"{100 * deviation:.1f} %",
        "warn" if elapsed.low is None else "",
        [f"Standard deviation of one run's elapsed time; from {between}."],
        format_seconds(elapsed.median),
        "median elapsed time",
    )


def _parts(found: CampaignFound) -> list[PagePart]:
    listed = fill("facts.html", facts=[line for line in head(found) if line[0] != "finding"])
    alone = len(found.arms) == 1
    numbers = [table for table in (tried(found), scaled(found)) if table.rows]
    spreads = [spread(arm, alone=alone) for arm in found.arms if arm.figures]
    return [
        PagePart("numbers", "Number by number", "Numbers", tables=numbers),
        PagePart(
            "trust", "Trust: the runs, and what was said of them", "Trust", [listed], tables=run_tables(found)
        ),
        PagePart("figures", "All figures over the runs", "Figures", tables=spreads),
    ]


def _in_all(runs: int) -> str:
    return f"In {counted_noun(runs, 'run')}; mawl report RUN says why."


def _made(found: CampaignFound) -> str:
    return f"{counted_noun(found.finished, 'run')} made"
