"""What every form of the answer says, as plain text."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mawl.advice.qualification.sentence import fits_words, limit_words
from mawl.formats.lines import one_line
from mawl.model.qualification import (
    Qualification,
    QualificationAnswer,
    QualificationChange,
    QualificationFigures,
)
from mawl.plan.mix import FEWEST_SESSIONS
from mawl.printable import printable
from mawl.reporters.qualification.basis import basis_rows
from mawl.reporters.qualification.nodes import nodes_text
from mawl.reporters.qualification.storage import storage_row
from mawl.reporters.qualification.words import NODES_WORDS, STORAGE_WORDS, WORDS
from mawl.units import (
    counted_noun,
    format_percent,
    format_rate,
    format_ratio,
)

Tone = Literal["good", "bad", "warn"]
TONES: dict[str, Tone] = {"carried": "good", "not carried": "bad", "not known": "warn"}
EXPECTED = {"carried": "YES", "not carried": "NO", "not known": "NOT KNOWN"}
BASIS = {
    "lab beds": "by the error of forecasts for test beds",
    "published systems": "by the error of forecasts for the papers' systems",
}
CHANGE_NOTE = (
    "After a change, also with cores twice as fast, jobs are compared with their times alone on the machine "
    "as it is now."
)
FEWER = f"fewer than {FEWEST_SESSIONS}"

NO_MORE_SHOWN = "no run shows that more are too many"


class QualificationFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure: what it is, its value, and what it is to be compared with."""

    name: str
    value: str
    beside: str


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """``rows`` are name and sentence, in the order of the answer; ``basis`` says how it was found.

    ``storage`` has a row for all roles on the same devices (``STORAGE_HEAD``), ``words`` define terms.
    """

    sentence: str
    tone: Tone
    figures: list[QualificationFigure]
    rows: list[tuple[str, str]]
    changes: list[tuple[str, str, str]]
    change_note: str
    cautions: list[str]
    storage: list[tuple[str, ...]]
    basis: list[tuple[str, str]]
    words: list[tuple[str, str]]


def content_of(record: Qualification) -> Content:
    """The content of a record with an answer, or of one that has a forecast or nothing yet.

    Each text is one line without control characters; it is not escaped.
    """
    found = _without(record) if record.answer is None else _with(record, record.answer)
    return msgspec.convert(_clean(msgspec.to_builtins(found)), Content)


def _clean(value: Any) -> Any:
    """Names of others may hold what moves a cursor or ends a line."""
    if isinstance(value, dict):
        return {name: _clean(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(member) for member in value]
    return printable(one_line(value))


def _with(record: Qualification, answer: QualificationAnswer) -> Content:
    """Of a record with an answer."""
    return Content(
        sentence=answer.sentence,
        tone=TONES[answer.carried.answer],
        figures=_figures(answer.figures),
        rows=[
            ("compute", _rest(answer.compute.sentence)),
            ("storage", _rest(answer.storage.sentence)),
            ("other work", _other_work(answer)),
            ("limit", _limit(answer)),
            *([("nodes", nodes_text(answer.nodes, answer))] if answer.nodes else []),
            ("fits", _fits(answer)),
            *([] if answer.changes else [("changes", _capital(answer.missing.get("changes", "none")))]),
            ("next", answer.next_step),
        ],
        changes=[_change(change) for change in answer.changes],
        change_note=CHANGE_NOTE if answer.changes else "",
        cautions=answer.cautions,
        storage=[storage_row(one) for one in answer.during],
        basis=basis_rows(record),
        words=[*WORDS, *(STORAGE_WORDS if answer.during else ()), *(NODES_WORDS if answer.nodes else ())],
    )


def _without(record: Qualification) -> Content:
    """No answer yet: what is forecast, and what goes on with it."""
    choice, phase = record.choice, next((one for one in record.phases if one.state == "running"), None)
    what = {
        "running": f"the phase {phase.name} is under way" if phase else "it is under way",
        "planned": "nothing was measured",
        "interrupted": "it was interrupted",
        "failed": "it failed",
        "finished": "no run was measured",
    }[record.outcome]
    why = f" ({record.reason})" if record.reason else ""
    sentence = f"NO ANSWER YET: {what}{why}."
    if choice is not None and choice.expected.reason is not None:
        sentence = f"NO ANSWER YET: {what}{why}. No forecast: {choice.expected.reason}."
    elif choice is not None:
        expected, sessions = choice.expected, counted_noun(choice.sessions, "session")
        range_ = f"{format_ratio(expected.slowdown_low)} to {format_ratio(expected.slowdown_high)}"
        sure = f"{EXPECTED[expected.answer]} ({format_percent(expected.probability)} sure)"
        sentence = (
            f"PROBABLY {sure}: with {sessions} jobs take {format_ratio(expected.slowdown)} times as long as "
            f"alone ({range_}; bound {format_ratio(record.asked.most_slowdown)}). "
            f"This is a forecast: {what}{why}."
        )
    again = f"Measure it: mawl qualify --continue {record.name} continues from here"
    return Content(
        sentence=sentence,
        tone="warn",
        figures=[],
        rows=[] if record.outcome == "running" else [("next", again)],
        changes=[],
        change_note="",
        cautions=[],
        storage=[],
        basis=basis_rows(record),
        words=[*WORDS],
    )


def _figures(figures: QualificationFigures) -> list[QualificationFigure]:
    bound = f"bound {format_ratio(figures.most_slowdown)}"
    known = figures.slowdown is not None and figures.slowdown_low is not None
    range_ = (
        f"{format_ratio(figures.slowdown_low)} to {format_ratio(figures.slowdown_high)}; {bound}"
        if figures.slowdown_low is not None and figures.slowdown_high is not None
        else bound
    )
    rate, guideline = figures.device_bytes_per_second_per_core, figures.guideline_bytes_per_second_per_core
    asked = f"guideline {format_rate(guideline)}"
    judged = {True: f"meets the {asked}", False: f"below the {asked}", None: f"{asked}: not judged"}
    of = {
        "probe": "what the storage can do (probe)",
        "run": "what the storage gave, and it limited",
        "demand": "what the load asked for",
        None: "not measured",
    }
    return [
        QualificationFigure(
            name="times as long as alone",
            value=format_ratio(figures.slowdown or 0.0) if known else "-",
            beside=range_ if known else f"not known; {bound}",
        ),
        QualificationFigure(
            name="per core at the devices",
            value="-" if rate is None else format_rate(rate),
            beside=f"{of[figures.device_basis]}; {judged[figures.guideline_met]}",
        ),
        QualificationFigure(
            name="jobs per hour",
            value="-" if figures.jobs_per_hour is None else f"{figures.jobs_per_hour:,.0f}",
            beside="median of the measured runs" if figures.jobs_per_hour is not None else "not known",
        ),
    ]


def _other_work(answer: QualificationAnswer) -> str:
    """The shares of the processors that other work used."""
    figures = answer.figures
    shares = [
        (figures.alone_others_cpu_ratio, "alone_others_cpu_ratio", "the times alone"),
        (figures.measured_others_cpu_ratio, "measured_others_cpu_ratio", "the measured runs"),
    ]
    said = []
    for ratio, field, during in shares:
        why = answer.missing.get(f"figures.{field}", "it was not measured")
        known = f"not known ({why})" if ratio is None else f"{format_percent(ratio)} of the processor time"
        said.append(f"{known} during {during}")
    return _capital(", ".join(said))


def _limit(answer: QualificationAnswer) -> str:
    limit = answer.limit
    if limit is None:
        return f"Not known: {answer.missing.get('limit', 'no run has one')}"
    share = "" if limit.active_ratio is None else f", {format_percent(limit.active_ratio)} of the active time"
    return f"{_capital(limit_words(limit))}{share}"


def _fits(answer: QualificationAnswer) -> str:
    fits = answer.fits
    if fits.sessions is None:
        reason = fits.reason or "no forecast was made"
        if fits.high is None:
            return f"Not known: {reason}"
        return f"{'Measured' if fits.basis == 'measured' else 'Forecast by simulation'}: {reason}"
    basis = "measured on both sides of the bound" if fits.basis == "measured" else "forecast by simulation"
    if fits.is_at_least:
        basis = f"measured; {NO_MORE_SHOWN}"
    why = f"; {fits.reason}" if fits.reason else ""
    return f"{fits_words(fits, a_node=bool(answer.nodes))}: {basis}{why}"


def _change(change: QualificationChange) -> tuple[str, str, str]:
    """The change, the sessions that would fit, and the range or why there is none."""
    gain = "" if change.gain_ratio is None else f"jobs take {format_percent(change.gain_ratio)} less time; "
    if change.range_basis is None:
        number = "-" if change.sessions is None else counted_noun(change.sessions, "session")
        return change.text, number, f"{gain}no range: {change.reason or 'it was not simulated'}"
    number = FEWER if change.sessions is None else counted_noun(change.sessions, "session")
    if change.sessions_high is None:
        return change.text, number, f"{gain}{FEWER} at best {BASIS[change.range_basis]}"
    low = FEWER if change.sessions_low is None else f"{change.sessions_low}"
    range_ = f"{low} to {counted_noun(change.sessions_high, 'session')}"
    return change.text, number, f"{gain}{range_} {BASIS[change.range_basis]}"


def _rest(sentence: str) -> str:
    """The sentence of a part without its name."""
    return _capital(sentence.partition(": ")[2] or sentence)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
