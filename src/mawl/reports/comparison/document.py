"""A comparison as a document: the sentences, a screen of the main figures, all tables, and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import log1p
from typing import TYPE_CHECKING

import msgspec

from mawl.base.units import counted_noun, format_change
from mawl.figures.comparison.compare import ComparedPair, Comparison, Matrix, MatrixRow, SideFacts
from mawl.figures.comparison.programs import ProgramChange
from mawl.figures.comparison.sides import Reason
from mawl.reports.comparison.papers import paper_tables
from mawl.reports.comparison.sentences import (
    ANSWERS,
    against,
    changed_on_purpose,
    checks,
    counts,
    finding,
    head,
    listed,
    sentence_of,
    span_of,
    unlike,
    verdict,
    why,
    why_lines,
)
from mawl.reports.comparison.tables import (
    OWN_INTERVALS,
    figures,
    matrix_tables,
    places,
    programs,
    roles,
    settings,
    shape,
    tables,
)
from mawl.reports.document import (
    TONES,
    Aside,
    Block,
    Card,
    Charts,
    DefinedWords,
    Document,
    Headline,
    Lines,
    Part,
    Sentences,
    Sign,
    Table,
    capital,
    each,
    part_lines,
    terminal,
)
from mawl.reports.json import indented
from mawl.reports.judgement import CARRIED, STATUS, STATUSES
from mawl.reports.layout import LINE_WIDTH

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart

SCREEN_LINES = 45
FEWEST_PROGRAMS, MOST_PROGRAMS = 6, 10
"""Programs on a screen: what the other lines leave room for, within these bounds."""

MOST_FACTS = 3
MOST_SETTINGS = 4
SCREEN_FIGURES = (
    "time.elapsed_seconds",
    "time.real_time_seconds",
    "time.user_cpu_seconds",
    "time.system_cpu_seconds",
    "cpu_real_ratio.of_sums",
    "io.application.run_mean.total_bytes_per_second",
    "io.device.run_mean.total_bytes_per_second",
    "io.device.sustained_bytes_per_second_per_core",
)
"""The rows of the papers' table that stand on a screen."""

WHICH_RUNS = (
    "Of each side the run of median elapsed time is drawn in full colour, its other runs thin. "
    "Dashed upright lines: where the active phase of those two ended."
)
MOST_CARDS = 6
FAILED = "Checks that failed"

Counts = Sequence[tuple[str, int]]
"""What runs were judged, with how many had each."""


def document(compared: Comparison | Matrix) -> Document:
    """Two sides, or many."""
    if isinstance(compared, Matrix):
        return _document_of_many(compared)
    differing = Sentences(unlike(compared), "other facts that differ:", "  ")
    return Document(
        headline=finding(compared),
        facts=facts(compared),
        cards=cards(compared),
        lead=lambda: lead(compared),
        parts=[Part((Lines(head(compared)),)), *each(*tables(compared)), Part((differing,))],
        folds=folds(compared),
    )


def text_of(comparison: Comparison, *, every: bool = False, width: int = LINE_WIDTH) -> str:
    """One screen: the sentences, the main figures, the programs that changed most; or ``every`` thing,
    also where that fits a screen.  ``width`` is that of the window, in characters."""
    whole = terminal(document(comparison).parts, width)
    return whole if every or whole.count("\n") < SCREEN_LINES else terminal(_screen(comparison, width), width)


def _screen(comparison: Comparison, width: int) -> list[Part]:
    """The main things, and as many programs as they leave room for; a last line says what lacks."""
    by_name = {table.name: table for table in tables(comparison)}
    before = [Part((Lines([line for line in head(comparison) if line[0] != "publish"]),))]
    after, more = list[Part](), list[str]()
    if (every := by_name.get("figures")) is not None:
        named = zip(every.rows, every.row_figures, strict=True)
        rows = [row for row, name in named if name in SCREEN_FIGURES]
        judged = any(row.verdict != "not judged" for row in comparison.figures)
        before += each(_shortened(every, rows, OWN_INTERVALS if judged else ""))
        more += [f"all {len(every.rows)} figures"] if len(rows) < len(every.rows) else []
    if (parts := by_name.get("places")) is not None:
        after += each(_shortened(parts, parts.rows))
    if (by_core := by_name.get("shape")) is not None:
        after += each(by_core)
    if (changed := by_name.get("settings")) is not None:
        few = [row[:-1] for row in changed.rows[:MOST_SETTINGS]]
        after += each(Table(head=changed.head[:-1], rows=few))
        more += [f"{counted_noun(len(changed.rows), 'changed setting')} with the reasons"]
    more += ["latencies by role"] if "roles" in by_name else []
    if differing := unlike(comparison):
        after += each(Sentences(differing[:MOST_FACTS], "other facts that differ:", "  "))
        more += [f"{len(comparison.differences)} facts that differ"] if len(differing) > MOST_FACTS else []
    if comparison.programs is not None and comparison.programs.changes:
        taken = sum(len(part_lines(part, width)) + 1 for part in chain(before, after))
        room = SCREEN_LINES - taken - len(("head", "left out", "blank", "more"))
        most = min(max(room, FEWEST_PROGRAMS), MOST_PROGRAMS)
        changes = comparison.programs.changes
        before += each(_changed_most(by_name["programs"], changes, most))
        more[:0] = [f"all {len(changes)} programs"] if len(changes) > most else []
    left_out = Sentences([f"--all lists {', '.join([*more, 'what the columns mean'])}"])
    return [*before, *after, *each(left_out)]


def _shortened(table: Table, rows: Sequence[tuple[str, ...]], note: str = "") -> Table:
    return msgspec.structs.replace(table, rows=rows, row_figures=(), note=note)


def _changed_most(table: Table, changes: Sequence[ProgramChange], most: int) -> Table:
    """The programs that changed most, either way; those between are counted in a line of their own."""
    first, last = most_changed(changes, most)
    between = f"... {counted_noun(last - first, 'program')} that changed less"
    rows = [*table.rows[:first], *table.rows[last:]]
    return Table(head=table.head, rows=rows, gap=(first, between) if last > first else None)


def most_changed(changes: Sequence[ProgramChange], most: int) -> tuple[int, int]:
    """Where the ``most`` largest changes end and begin again in a list sorted by change: those from the
    first place returned to before the second are smaller, a doubling as large as a halving."""
    first, last = 0, len(changes)
    sizes = [abs(log1p(change.change_ratio)) for change in changes]
    for _ in range(min(most, len(changes))):
        if sizes[first] >= sizes[last - 1]:
            first += 1
        else:
            last -= 1
    return first, last


def lead(comparison: Comparison) -> Chart | None:
    """The chart of the first screen: a dot for each run; of a paper's results their pairs of bars."""
    from mawl.reports.comparison.charts import pair_charts, runs_chart

    return runs_chart(comparison) or next(iter(pair_charts(comparison)), None)


def _more_pairs(comparison: Comparison) -> list[Chart]:
    """The pairs of bars that are not on the first screen."""
    from mawl.reports.comparison.charts import pair_charts, runs_chart

    return pair_charts(comparison)[0 if runs_chart(comparison) else 1 :]


def _effects(comparison: Comparison) -> list[Chart]:
    from mawl.reports.comparison.charts import effect_charts

    return effect_charts(comparison)


def _over_time(comparison: Comparison) -> list[Chart]:
    from mawl.reports.comparison.over_time import charts_over_time, lines_over_time

    return charts_over_time(lines_over_time(comparison)) if comparison.basis == "runs" else []


def facts(comparison: Comparison) -> list[str]:
    """The line under the title: both sides, what was changed, and what they ran on."""
    sides = {"reference": comparison.reference, "candidate": comparison.candidate}
    named = [f'{name} "{side.label}" ({_runs(side)})' for name, side in sides.items()]
    changed = [f"{kind} {change}" for kind, change in changed_on_purpose(comparison)]
    return [*named, *changed, *dict.fromkeys(side.title for side in sides.values())]


def cards(comparison: Comparison) -> list[Card]:
    """Better or worse; of runs whether the load is carried, what differs, and whether it can be believed."""
    texts = dict(head(comparison))
    found = [_card_better(comparison, texts.get("programs", ""))]
    if comparison.basis != "runs":
        return found
    limits = why(comparison.reasons, "limit", comparison.runs)
    said: list[str] = [f"limit: {texts['limit']}" + (f" ({limits})" if limits else "")]
    said += [f"links: {texts['links']}"] if "links" in texts else []
    place = "No single part" if comparison.places else "Not known"
    place = capital(comparison.named.place) if comparison.named else place
    differs = Card("What differs?", place, "", [texts.get("differs", ""), *said], more=("effects", "Where"))
    if "differs" not in texts:
        lines = [f"{capital(limits)}."] if limits else []
        differs = Card("What limits the runs?", capital(texts["limit"]), "", [*lines, *said[1:]])
    return [
        *found,
        carried(comparison.reference.answers, comparison.candidate.answers, reasons=comparison.reasons),
        differs,
        _card_believed(comparison),
    ]


def carried(*sides: Counts, reasons: Sequence[Reason]) -> Card:
    """Whether the load is carried, of one side or two; the last gives the tone, ``reasons`` say why."""
    words = [[CARRIED[word][0] for word, _ in side] for side in sides]
    said = dict.fromkeys(" or ".join(word) or "Not known" for word in words)
    standing = CARRIED[sides[-1][0][0]][1] if len(sides[-1]) == 1 else "warn"
    alike = all(len(side) == 1 for side in sides)
    runs = sum(number for side in sides for _, number in side)
    reason = why(reasons, "answer", runs)
    lines = [f"{capital(reason)}." if reason else f"In {counted_noun(runs, 'run')}."]
    if not alike:
        lines = [f"{capital(' -> '.join(map(counts, sides)))}.", *(lines if reason else [])]
    return Card("Is the load carried?", " -> ".join(said), standing, lines)


def believed(
    statuses: Iterable[str],
    reasons: Iterable[Reason],
    runs: int,
    passed: tuple[str, str],
    lines: Sequence[str],
    more: str,
) -> Card:
    """Whether ``runs`` runs can be trusted: the worst status of any answers, and the check that fails most.

    ``passed`` are figure and words if no check failed.
    """
    known = set(statuses)
    worst = next((word for word in ("invalid", "preliminary", "publishable") if word in known), "preliminary")
    answer, standing = STATUSES[worst]
    figure, measures = passed
    failed = checks(reason for reason in reasons if worst == reason.severity)
    if failed:
        figure, measures = f"{failed[0].runs} of {runs}", f"runs failed the check {failed[0].rule}"
        lines = [f"{capital(sentence_of(failed[0]))}.", *lines]
    return Card(
        "Can it be believed?",
        DefinedWords(answer, STATUS),
        standing,
        list(lines),
        figure,
        measures,
        more=("trust", more),
    )


def folds(comparison: Comparison, runs: Sequence[Table] = ()) -> list[Part]:
    """What lies folded below the first screen, in the order in which people ask; ``runs`` of a campaign."""
    return [
        Part(
            (Charts(lambda: _effects(comparison)), programs(comparison), places(comparison)),
            "effects",
            "What changed: programs, and where the time went",
            "What changed",
        ),
        Part((*_doubts(comparison), *runs), "trust", "Trust: runs, and what else differs", "Trust"),
        Part((settings(comparison),), "settings", "Settings that changed", "Settings"),
        Part(
            (Charts(lambda: _more_pairs(comparison)), Aside(paper_tables(comparison))),
            "summary",
            "Tables and bars as in the papers",
            "Tables as in the papers",
        ),
        Part((figures(comparison),), "figures", "All figures", "Figures"),
        Part((shape(comparison),), "shape", "Per core and in shape", "Shape"),
        Part((roles(comparison),), "roles", "Latency by role", "Roles"),
        Part(
            (Charts(lambda: _over_time(comparison), WHICH_RUNS, zoom=True),),
            "timeline",
            "Both sides over time",
            "Timeline",
        ),
    ]


def _document_of_many(matrix: Matrix) -> Document:
    systems, throughput = matrix_tables(matrix)
    pairs = [(pair.candidate, against(pair)) for pair in matrix.pairs]
    listed = Lines(pairs, f"against {matrix.reference}:", "  ", inline=True)
    return Document(
        headline=_finding_of_many(matrix),
        facts=[counted_noun(len(matrix.rows), "side")],
        cards=[_card_of_pair(pair) for pair in matrix.pairs[:MOST_CARDS]],
        lead=lambda: _lead_of_many(matrix),
        parts=each(systems, throughput, listed),
        folds=[
            Part((Lines(pairs),), "against", f"Each side against {matrix.reference}", "Against the first"),
            Part((throughput,), "throughput", "Time and throughput", "Throughput"),
            Part((systems,), "systems", "The sides", "Sides"),
        ],
    )


def _lead_of_many(matrix: Matrix) -> Chart | None:
    from mawl.reports.comparison.charts import matrix_charts

    return next(iter(matrix_charts(matrix)), None)


def _card_better(comparison: Comparison, programs: str) -> Card:
    sign, said = verdict(comparison)
    some = comparison.statement
    if some is None or some.change_ratio is None:
        return Card("Is the candidate better?", capital(sign), TONES[sign], [f"{capital(said)}."])
    return Card(
        "Is the candidate better?",
        capital(sign),
        TONES[sign],
        [f"{capital(programs)}."] if programs else [],
        format_change(some.change_ratio),
        f"real time per job ({span_of(some)})",
        more=("effects", "Program by program"),
    )


def _card_believed(comparison: Comparison) -> Card:
    some = comparison.statement
    doubts = [f"{capital(obstacle.sentence)}." for obstacle in comparison.obstacles]
    card = believed(
        comparison.statuses,
        comparison.reasons,
        comparison.runs,
        (" against ".join(str(len(side.run_ids)) for side in comparison.sides), "runs"),
        doubts[:1],
        f"{len(doubts)} to read" if doubts else "The checks and the runs",
    )
    few = some is not None and some.more_runs_needed > 0
    return card._replace(answer="Too few runs", standing="warn") if few else card


def _doubts(comparison: Comparison) -> list[Block]:
    """Who the sides are, what the cards say, doubts, failed checks, and the facts that differ."""
    shown = (*ANSWERS.values(), "reference", "candidate", "basis", "differs", "limit", "links")
    lines = dict(head(comparison))
    known = [(name, lines[name]) for name in shown if name in lines]
    doubts = [f"{obstacle.severity}: {obstacle.sentence}" for obstacle in comparison.obstacles]
    return [
        Lines([*known, *why_lines(comparison.reasons, comparison.runs)]),
        Sentences(doubts, "Before you believe it"),
        Sentences(listed(comparison.reasons, comparison.runs), FAILED),
        Sentences(unlike(comparison), "Other facts that differ"),
    ]


def _finding_of_many(matrix: Matrix) -> Headline:
    """How many sides are better, worse and so on; one sign where all have it."""
    signs = Counter(_sign(pair) for pair in matrix.pairs)
    listed = ", ".join(f"{count} {sign}" for sign, count in signs.items())
    sign: Sign = next(iter(signs)) if len(signs) == 1 else "mixed"
    said = f"{capital(sign)}: {counted_noun(len(matrix.pairs), 'side')} against {matrix.reference}"
    return Headline(sign=sign, sentence=said if len(signs) == 1 else f"{said}, {listed}")


def _sign(pair: ComparedPair) -> Sign:
    return "undecided" if pair.comparison is None else verdict(pair.comparison)[0]


def _card_of_pair(pair: ComparedPair) -> Card:
    sign = _sign(pair)
    said = verdict(pair.comparison)[1] if pair.comparison is not None else pair.reason or "not compared"
    lines = [f"{capital(said)}."]
    return Card(pair.candidate, capital(sign), TONES[sign], lines, more=("against", "What it rests on"))


def _runs(side: SideFacts) -> str:
    return counted_noun(len(side.run_ids), "run") if side.run_ids else side.kind


class PrintedComparison(Comparison, frozen=True, kw_only=True):
    """A comparison with its headline."""

    finding: Headline


class PrintedPair(ComparedPair, frozen=True, kw_only=True):
    """One candidate of many; the comparison has its headline."""

    comparison: PrintedComparison | None


class PrintedMatrix(msgspec.Struct, frozen=True, kw_only=True):
    """Many sides: a row each, and each candidate against the first with its headline."""

    reference: str
    rows: list[MatrixRow]
    pairs: list[PrintedPair]


def render_json(found: Comparison | Matrix) -> str:
    """The comparison of two sides, or the matrix with a comparison for each pair, indented."""
    return indented(_compared(found) if isinstance(found, Comparison) else _matrix(found))


def _compared(comparison: Comparison) -> PrintedComparison:
    return PrintedComparison(finding=finding(comparison), **msgspec.structs.asdict(comparison))


def _matrix(matrix: Matrix) -> PrintedMatrix:
    pairs = [
        PrintedPair(
            candidate=pair.candidate,
            comparison=None if pair.comparison is None else _compared(pair.comparison),
            reason=pair.reason,
        )
        for pair in matrix.pairs
    ]
    return PrintedMatrix(reference=matrix.reference, rows=matrix.rows, pairs=pairs)
