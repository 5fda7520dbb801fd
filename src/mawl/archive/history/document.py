"""A history as a document: what changed in which night, why, and a chart of the nights."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from mawl.archive.history.changes import History, HistoryChange, SeriesChange
from mawl.base.units import counted_noun, format_change, format_instant, format_percent, format_seconds
from mawl.reports.document import (
    NOT_TEXT,
    Card,
    Document,
    Headline,
    Line,
    Lines,
    Part,
    Sentences,
    Sign,
    Table,
    capital,
)
from mawl.reports.layout import ABSENT

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart

MOST_CAUSES = 12
MOST_LEFT_OUT = 5
SIGNS: dict[bool | None, Sign] = {True: "worse", False: "no change", None: "undecided"}
ANSWERS = {True: ("Yes", "bad"), False: ("No", "good"), None: ("Not known", "warn")}


def document(history: History) -> Document:
    """What was followed, each change with what is known of it, and the nights."""
    sentences = head(history)
    changes = [Lines(details(change), title(change), "  ") for change in history.changes]
    nights = Part((_nights(history),), "nights", "Nights", "Nights", NOT_TEXT)
    basis = Part((Sentences(sentences),), "basis", "What was followed", "Followed")
    return Document(
        headline=Headline(
            sign=SIGNS[history.regression], sentence=capital(f"{sentences[1]}; {sentences[0]}")
        ),
        facts=[history.workload, counted_noun(len(history.nights), "night")],
        cards=_cards(history),
        lead=lambda: _chart(history),
        parts=[basis, *(Part((change,)) for change in changes), nights],
        folds=[Part(changes, "changes", "Changes, and what changed with them", "Changes"), nights, basis],
    )


def head(history: History) -> list[str]:
    """What was followed, and what was found."""
    first, last = history.nights[0], history.nights[-1]
    span = f"{format_instant(first.started_at)[:10]} to {format_instant(last.started_at)[:10]}"
    lines = [f"{history.workload}: {counted_noun(len(history.nights), 'night')}, {span}"]
    if len(history.nights) < history.fewest_nights:
        lines.append(f"too few nights to tell: {history.fewest_nights} required")
    elif not history.changes:
        lines.append(f"no change found in {history.followed} series (programs, places, figures)")
    else:
        lines.append(f"{counted_noun(len(history.changes), 'change')} found")
    if history.left_out:
        lines.append(
            f"left out, since they did not complete: {', '.join(history.left_out[:MOST_LEFT_OUT])}"
            + (f" and {len(history.left_out) - MOST_LEFT_OUT} more" * (len(history.left_out) > MOST_LEFT_OUT))
        )
    lines += [f"skipped: {sentence}" for sentence in history.unreadable[:MOST_LEFT_OUT]]
    if len(history.unreadable) > MOST_LEFT_OUT:
        lines.append(f"skipped: {len(history.unreadable) - MOST_LEFT_OUT} more damaged folders")
    if history.smallest_ratio is not None:
        lines.append(
            f"a change of {100 * history.smallest_ratio:.1f} % of the whole load would be noticed within 3 "
            "nights in 80 % of cases"
        )
    return lines


def title(change: HistoryChange) -> str:
    """When, and how much of what."""
    first = change.series[0]
    return f"{format_instant(change.started_at)[:10]} {change.night}: {amount(first)}"


def amount(one: SeriesChange) -> str:
    """``wide_sort +5.1 % (3.0 % to 7.2 %)``."""
    if one.change_ratio is not None:
        span = f"{format_change(one.low)} to {format_change(one.high)}"
        what = f"{one.name} took" if one.kind in ("whole", "program") else one.name
        return f"{what} {format_change(one.change_ratio)} ({span})"
    seconds = one.change_seconds or 0.0
    return f"{one.name} {seconds:+.2f} s ({one.low:+.2f} s to {one.high:+.2f} s)"


def details(change: HistoryChange) -> list[Line]:
    """What is known of a change."""
    lines = [("noticed", f"at {change.series[0].noticed}")]
    if change.place is not None:
        lines.append(("where", change.place))
    lines.append(("limit", " -> ".join(change.limits)))
    if change.causes:
        shown = [f"{one.name}: {one.reference} -> {one.candidate}" for one in change.causes[:MOST_CAUSES]]
        more = len(change.causes) - len(shown)
        lines.append(("changed", "; ".join([*shown, *([f"and {more} more"] if more else [])])))
    else:
        lines.append(
            ("changed", "nothing that mawl recorded: settings, software, hardware and data are alike")
        )
    also = [amount(one) for one in change.series[1:]]
    if also:
        lines.append(("also", "; ".join(also)))
    if others := [said for said in map(amount, change.programs) if said not in also]:
        lines.append(("programs", "; ".join(others)))
    return lines


def _nights(history: History) -> Table:
    rows = [
        (
            night.night,
            f"{format_instant(night.started_at)[:16].replace('T', ' ')} UTC",
            str(night.runs),
            ABSENT if night.log_seconds is None else format_seconds(exp(night.log_seconds)),
        )
        for night in history.nights
    ]
    columns = ("night", "started", "runs", "a job took (geometric mean)")
    return Table(name="nights", title="nights", head=columns, rows=rows, noun="night")


def _cards(history: History) -> list[Card]:
    """Whether the load is slower than before, what changed last, and what change would be noticed."""
    answer, tone = ANSWERS[history.regression]
    cards = [Card("Does the load take longer now?", answer, tone, [f"{capital(head(history)[1])}."])]
    if history.changes:
        last = history.changes[-1]
        place = [] if last.place is None else [f"{capital(last.place)}."]
        cards.append(
            Card(
                "What changed last?", title(last), "", place, more=("changes", "Every change, and its causes")
            )
        )
    if history.smallest_ratio is not None:
        smallest = format_percent(history.smallest_ratio)
        noticed = "is noticed within 3 nights in 80 % of cases"
        cards.append(Card("What change would show?", smallest, "", [f"A change of this size {noticed}."]))
    return cards


def _chart(history: History) -> Chart | None:
    """The nights as dots, by time; changes as lines."""
    from mawl.reports.html.charts.nights import FollowedNight, history_chart

    nights = [
        FollowedNight(night.night, night.started_at, exp(night.log_seconds))
        for night in history.nights
        if night.log_seconds is not None
    ]
    return history_chart(nights, [one.started_at for one in history.changes]) if len(nights) > 1 else None
