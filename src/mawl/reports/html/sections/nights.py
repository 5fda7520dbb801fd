"""An import of many nights: what changed, on the first page; every night and program, folded."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from math import log

from markupsafe import Markup

from mawl.base.units import counted_noun, format_change, format_percent, format_ratio, format_seconds
from mawl.figures.nights import LoggedNights
from mawl.figures.trends import FEWEST_NIGHTS, Trend, Trends, Verdict
from mawl.reports.document import Card
from mawl.reports.html.figures import Cell, ShownFigures, absent, paragraph, part, table
from mawl.reports.html.page import fill
from mawl.reports.layout import figure, format_count

MOST_FIRST = 12
"""Programs that changed, on the first page; the part has the others."""
MOST_PROGRAMS = 200
MOST_DATES = 5
LEAST_SPAN = log(1.5)
"""The height of a line is at least a change by a half, so that small changes look small."""
NO_END = "no job of the night has a known end"
NO_TOTAL = "no log of the night has it"
VERBS: dict[Verdict, str] = {"slower": "add", "faster": "save"}
TOO_FEW = f"{FEWEST_NIGHTS} nights are required"
QUESTION = "What changed?"
MOST_OTHERS = 3
"""Other programs that changed, in the card."""


def headline(nights: LoggedNights, trends: Trends) -> str:
    """``30 nights: 2 of 14 programs became slower, 1 faster``."""
    many = counted_noun(len(nights.nights), "night")
    judged = sum(one.verdict != "too few nights" for one in trends.programs)
    if not judged:
        return f"{many}: too few to say which programs became slower"
    programs = counted_noun(judged, "program")
    changed = _slower_and_faster(trends)
    if not changed:
        return f"{many}: no lasting change found in {programs}"
    first, *others = changed
    said = [f"{len(first)} of {programs} became {first[0].verdict}"]
    said += [f"{len(found)} {found[0].verdict}" for found in others]
    return f"{many}: {', '.join(said)}"


def leading(trends: Trends) -> Trend | None:
    """The slower program that adds most to a night, else the faster one that saves most; None without any."""
    return next((found[0] for found in _slower_and_faster(trends)), None)


def change_card(figures: ShownFigures, nights: LoggedNights, trends: Trends) -> Card:
    """The first card: which program changed, by how much and since when; or what change would have shown."""
    one = leading(trends)
    if one is None:
        return _unchanged(figures, nights, trends)
    assert one.change_ratio is not None and one.added_seconds is not None
    assert one.low_ratio is not None and one.high_ratio is not None
    since = nights.nights[one.changes[-1]].label
    when = f"since {since}" if len(one.changes) == 1 else f"in {len(one.changes)} steps, the last on {since}"
    interval = f"95 % interval: {format_change(one.low_ratio)} to {format_change(one.high_ratio)}"
    more = "more" if one.added_seconds >= 0 else "less"
    lines = [
        f"A job takes {format_seconds(one.last_seconds)}, before {format_seconds(one.first_seconds)}; "
        f"its jobs of a night take {format_seconds(abs(one.added_seconds))} {more}."
    ]
    others = [found for every in _slower_and_faster(trends) for found in every if found is not one]
    if others:
        named = [f"{found.name} ({format_change(found.change_ratio or 0.0)})" for found in others]
        lines.append(f"Also changed: {_first(named)}.")
    return Card(
        QUESTION,
        f"{one.name} became {one.verdict}",
        "bad" if one.verdict == "slower" else "good",
        lines,
        figures.term(format_change(one.change_ratio), "trend.change_ratio"),
        f"{when} ({interval})",
        ("nights", "Every program and night"),
    )


def _unchanged(figures: ShownFigures, nights: LoggedNights, trends: Trends) -> Card:
    more = ("nights", "Every program and night")
    judged = [one for one in trends.programs if one.verdict != "too few nights"]
    if not judged:
        many = counted_noun(len(nights.nights), "night")
        return Card(QUESTION, "Not known", "warn", [f"{TOO_FEW}; these logs have {many}."], more=more)
    lines = []
    if back := trends.of("changed back"):
        lines.append(f"Changed and went back: {_first([one.name for one in back])}.")
    whole = trends.whole
    together = whole is not None and whole.verdict in VERBS
    if whole is not None and together:
        lines.append(
            f"The {counted_noun(trends.whole_programs, 'program')} of every night together became "
            f"{whole.verdict}: {format_change(whole.change_ratio or 0.0)}."
        )
    seen = [one.smallest_ratio for one in judged if one.smallest_ratio is not None]
    return Card(
        QUESTION,
        "No lasting change of a program",
        "warn" if together else "good",
        lines,
        figures.term(format_percent(max(seen)), "trend.smallest_ratio") if seen else "",
        "or more would have been found within 3 nights, in 80 % of cases, for every program" if seen else "",
        more,
    )


def _first(names: Sequence[str]) -> str:
    """``one, two, three and 4 more``."""
    rest = len(names) - MOST_OTHERS
    return ", ".join(names[:MOST_OTHERS]) + (f" and {rest} more" if rest > 0 else "")


def story(
    figures: ShownFigures, nights: LoggedNights, trends: Trends, trend: Markup, laid_over: Markup
) -> Markup:
    """What changed, then the nights laid over each other; ``trend`` is the chart of the leading program."""
    changed = _changed(trends)
    parts = [trend]
    if changed:
        caption = "Programs whose real time changed"
        parts.append(_changes(figures, nights, changed, MOST_FIRST, caption))
        parts.append(
            paragraph(
                "Dashed lines mark the first night at a new level. The part Nights has all programs.", "quiet"
            )
        )
    return Markup("\n").join([*parts, laid_over, _keys(figures, nights, trends), *_sentences(nights)])


def every_night(figures: ShownFigures, nights: LoggedNights, trends: Trends) -> Markup:
    """The part with a row for each program and each night."""
    changed = _changed(trends)
    parts = [_whole(trends)]
    if len(changed) > MOST_FIRST:
        caption = "The other programs whose real time changed"
        parts.append(_changes(figures, nights, changed[MOST_FIRST:], MOST_PROGRAMS, caption))
    steady = [one for one in trends.programs if one.change_ratio is None]
    if steady:
        parts.append(_steady(figures, steady))
    return part("nights", "Nights and programs", *parts, _nights(figures, nights))


def _keys(figures: ShownFigures, nights: LoggedNights, trends: Trends) -> Markup:
    term = figures.term
    lengths = [one.length_seconds for one in nights.nights if one.length_seconds is not None]
    keys: list[tuple[Cell, Cell]] = []
    if (longest := nights.longest) is not None:
        middle = format_seconds(statistics.median(lengths))
        keys.append((term("a night lasts (median)", "night.length_seconds"), middle))
        most = format_seconds(longest.length_seconds or 0.0)
        keys.append((term(f"longest night, {longest.label}", "night.length_seconds"), most))
    for found in _slower_and_faster(trends):
        many = counted_noun(len(found), f"{found[0].verdict} program")
        verb = VERBS[found[0].verdict]
        what = f"{many} {verb}{'s' if len(found) == 1 else ''}, a night"
        spent = sum(one.added_seconds or 0.0 for one in found)
        keys.append((term(what, "trend.added_seconds"), format_seconds(abs(spent))))
    most_jobs = max(one.load.peak_jobs for one in nights.nights)
    keys.append((term("jobs at once, most", "night.peak_jobs"), format_count(most_jobs)))
    return fill("keys.html", keys=keys)


def _slower_and_faster(trends: Trends) -> list[list[Trend]]:
    return [found for verdict in VERBS if (found := trends.of(verdict))]


def _changed(trends: Trends) -> list[Trend]:
    return [one for one in trends.programs if one.change_ratio is not None]


def _sentences(nights: LoggedNights) -> list[Markup]:
    found = []
    if nights.left_out:
        found.append(
            f"Only the last {len(nights.nights)} nights are shown; {nights.left_out} earlier ones are not."
        )
    if nights.empty:
        dates = ", ".join(nights.empty[:MOST_DATES])
        more = nights.empty_nights - MOST_DATES
        found.append(
            f"No job started in {counted_noun(nights.empty_nights, 'night')} between them: {dates}"
            + (f" and {more} more." if more > 0 else ".")
        )
    if nights.untimed:
        found.append(f"{counted_noun(nights.untimed, 'job')} without a known start or end: not in the chart.")
    if not nights.one_zone:
        found.append("The logs have no common time zone that is known here, so hours are those of UTC.")
    return [paragraph(text, "quiet") for text in found]


def _changes(
    figures: ShownFigures, nights: LoggedNights, trends: Sequence[Trend], most: int, caption: str
) -> Markup:
    term = figures.term
    caption += _of_all(most, len(trends), "those that change a night most")
    head = (
        "program",
        "real time by night",
        term("change", "trend.change_ratio"),
        "95 % interval",
        term("before", "trend.first_seconds"),
        term("now", "trend.last_seconds"),
        term("a night", "trend.added_seconds"),
        term("since", "trend.since"),
        term("nights", "trend.nights"),
    )
    return table(caption, head, [_changed_row(nights, one) for one in trends[:most]], texts=(7,))


def _of_all(most: int, every: int, which: str) -> str:
    """The end of the caption of a table that has only ``most`` of ``every`` program; else empty."""
    return f": {most} of {every}, {which}" if every > most else ""


def _changed_row(nights: LoggedNights, one: Trend) -> tuple[Cell, ...]:
    assert one.change_ratio is not None and one.added_seconds is not None
    assert one.low_ratio is not None and one.high_ratio is not None
    since = nights.nights[one.changes[-1]].label
    again = f" (change {len(one.changes)})" if len(one.changes) > 1 else ""
    sign = "+" if one.added_seconds >= 0 else "-"
    return (
        one.name,
        _line(one, f"{one.verdict} since {since}"),
        _valued(one.change_ratio, format_change(one.change_ratio)),
        f"{format_change(one.low_ratio)} to {format_change(one.high_ratio)}",
        format_seconds(one.first_seconds),
        format_seconds(one.last_seconds),
        _valued(one.added_seconds, f"{sign}{format_seconds(abs(one.added_seconds))}"),
        since + again,
        str(one.nights),
    )


def _steady(figures: ShownFigures, trends: Sequence[Trend]) -> Markup:
    term = figures.term
    few = _of_all(MOST_PROGRAMS, len(trends), "those with the most real time")
    head = (
        "program",
        "real time by night",
        term("real time", "trend.last_seconds"),
        term("jobs a night", "trend.jobs_a_night"),
        term("nights", "trend.nights"),
        term("smallest change seen", "trend.smallest_ratio"),
    )
    rows = [
        (
            one.name,
            _line(one, one.verdict),
            format_seconds(one.last_seconds),
            format_ratio(one.jobs_a_night),
            str(one.nights),
            absent(TOO_FEW) if one.smallest_ratio is None else format_percent(one.smallest_ratio),
        )
        for one in trends[:MOST_PROGRAMS]
    ]
    return table(f"Programs without a change that was found{few}", head, rows)


def _valued(value: float, text: str) -> Markup:
    """A figure that the page sorts by its value: a sign is not part of how it reads numbers."""
    return Markup('<span data-value="{}">{}</span>').format(f"{value:.6g}", text)


def _line(one: Trend, what: str) -> Markup:
    words = f"{one.name}, real time over {one.nights} nights: {what}"
    return spark(one.logs, words, marks=one.changes, least_span=LEAST_SPAN)


def _whole(trends: Trends) -> Markup:
    whole = trends.whole
    if whole is None:
        return paragraph("No program ran in every night, so there is no change of all together.")
    many = counted_noun(trends.whole_programs, "program")
    if whole.verdict == "too few nights":
        return paragraph(f"Too few nights to say whether the load became slower: {TOO_FEW}.")
    if whole.change_ratio is not None:
        span = f"{format_change(whole.low_ratio or 0.0)} to {format_change(whole.high_ratio or 0.0)}"
        return paragraph(
            f"The {many} of every night together: a job takes {format_change(whole.change_ratio)} ({span})."
        )
    seen = figure(whole.smallest_ratio, format_percent)
    return paragraph(
        f"The {many} of every night together: no change found. A change of {seen} would be noticed within "
        "3 nights in 80 % of cases."
    )


def _nights(figures: ShownFigures, nights: LoggedNights) -> Markup:
    term = figures.term
    head = (
        term("night of", "night.label"),
        "first start",
        term("lasted", "night.length_seconds"),
        term("jobs", "night.jobs"),
        term("at once", "night.peak_jobs"),
        term("CPU time", "night.cpu_seconds"),
        term("real time", "night.real_seconds"),
    )
    rows = [
        (
            one.label + (" (longest)" if one is nights.longest else ""),
            _clock(nights, one.started_at),
            absent(NO_END) if one.length_seconds is None else format_seconds(one.length_seconds),
            format_count(one.load.jobs),
            format_count(one.load.peak_jobs),
            _sum(one.load.cpu_seconds),
            _sum(one.load.real_seconds),
        )
        for one in nights.nights
    ]
    caption = f"Every night; a new one begins at {nights.divided_at} ({nights.zone})"
    return table(caption, head, rows, texts=(1,), alike=True)


def _sum(seconds: float | None) -> Cell:
    return absent(NO_TOTAL) if seconds is None else format_seconds(seconds)


def _clock(nights: LoggedNights, at: float) -> str:
    return f"{nights.local(at):%H:%M}"


WIDTH, HEIGHT, EDGE = 132, 28, 3
MOST_POINTS = 120
"""Of more values, each point is the mean of several that follow each other."""
FEWEST_POINTS = 3
"""A line of two points shows nothing but its ends."""


def spark(
    values: Sequence[float | None],
    alternative: str,
    *,
    marks: Sequence[int] = (),
    least_span: float = 0.0,
    from_zero: bool = False,
) -> Markup:
    """The line of a series; None and NaN are gaps.  Empty where fewer than ``FEWEST_POINTS`` are known.

    ``marks`` are places in ``values``; ``alternative`` is the text for a screen reader.  The height is
    from the lowest value to the highest, at least ``least_span``; from zero with ``from_zero``.
    """
    size = max(math.ceil(len(values) / MOST_POINTS), 1)
    points = [_mean(values[at : at + size]) for at in range(0, len(values), size)]
    known = [value for value in points if value is not None]
    if len(known) < FEWEST_POINTS:
        return Markup()
    low, high = 0.0 if from_zero else min(known), max(known)
    short = max(least_span - (high - low), 0.0) / 2
    low, high = low - short, high + short
    across = (WIDTH - 2 * EDGE) / max(len(points) - 1, 1)

    def place(at: int, value: float) -> str:
        up = (value - low) / (high - low) if high > low else 0.5
        return f"{EDGE + at * across:.1f},{HEIGHT - EDGE - up * (HEIGHT - 2 * EDGE):.1f}"

    pieces: list[list[str]] = [[]]
    for at, value in enumerate(points):
        if value is not None:
            pieces[-1].append(place(at, value))
        elif pieces[-1]:
            pieces.append([])
    return fill(
        "spark.html",
        width=WIDTH,
        height=HEIGHT,
        alternative=alternative,
        marks=[f"{EDGE + (at // size) * across:.1f}" for at in marks],
        lines=[" ".join(one if len(one) > 1 else one * 2) for one in pieces if one],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.fmean(known) if known else None
