"""The answer of a qualification as a document, and its disclosure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mawl.advice.answer import parts_words
from mawl.advice.limit.verdict import costs_words
from mawl.advice.qualification.evidence import fits_words
from mawl.advice.qualification.fits import LEAST_RATIO
from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_instant,
    format_latency,
    format_memory,
    format_percent,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.plan.mix import SessionRange, mix_range
from mawl.records.model.qualification import (
    AnswerNodes,
    AnswerStorage,
    AnswerSystem,
    Qualification,
    QualificationAnswer,
    QualificationChange,
    QualificationChoice,
    QualificationFigures,
    QualifyNode,
    QualifyRun,
)
from mawl.reports.document import (
    NOT_TEXT,
    Card,
    Document,
    Headline,
    Line,
    Lines,
    Part,
    Sentences,
    Table,
    capital,
    each,
)
from mawl.reports.layout import ABSENT, figure, figures

LIMITS = {
    "nodes": "The nodes limit",
    "shared storage": "The shared storage or its network limits",
    "neither": "Neither nodes nor shared storage limit",
    "not known": "Not known whether nodes or shared storage limit",
}


def nodes_text(nodes: AnswerNodes, answer: QualificationAnswer) -> str:
    parts = [f"{LIMITS[nodes.limit]}: {nodes.reason}"]
    runs = counted_noun(nodes.runs, "run")
    parts.append(f"{nodes.node} alone ({runs}): {nodes.one.sentence.partition(': ')[2]}")
    one, every = nodes.one_jobs_per_hour, answer.figures.jobs_per_hour
    if one is not None and every is not None and nodes.scaling_ratio is not None:
        number = len(nodes.names)
        parts.append(
            f"{every:,.0f} jobs per hour with {number} nodes, {one:,.0f} with one: "
            f"{format_percent(nodes.scaling_ratio)} of {number} times as many"
        )
    return "; ".join(parts)


def nodes_words(nodes: list[QualifyNode]) -> str:
    """``4 nodes: a, b, c, d; a: a CPU, 16 cores, 64.0 GiB``: the names, and what the first is."""
    first = nodes[0]
    cores, memory = counted_noun(first.cores, "core"), format_memory(first.memory_bytes)
    names = ", ".join(node.name for node in nodes)
    kind = f"{first.cpu_model or 'unknown processor'}, {cores}, {memory} of memory"
    return f"{counted_noun(len(nodes), 'node')} ({names}); {first.name} has {kind}"


STORAGE_HEAD = ("roles", "device", "read", "written", "latency of reads", "of writes", "queue")


def storage_row(one: AnswerStorage) -> tuple[str, ...]:
    rates = (one.read_bytes_per_second, one.write_bytes_per_second)
    latencies = (one.read_latency_seconds, one.write_latency_seconds)
    return (
        ", ".join(one.roles),
        ", ".join(one.devices) or "not known",
        *figures(*((rate, format_rate) for rate in rates)),
        *figures(*((seconds, format_latency) for seconds in latencies)),
        figure(one.queue_length, format_ratio),
    )


def lies_on(one: AnswerStorage) -> str:
    on = ", ".join(one.devices) or "no known device"
    kinds = f" ({', '.join(one.file_systems)})" if one.file_systems else ""
    disks = f" on {' and '.join(one.disks)}" if one.disks else ""
    return f"{', '.join(one.roles)}: {on}{kinds}{disks}"


def basis_rows(record: Qualification) -> list[tuple[str, str]]:
    machine, choice = record.machine, record.choice
    answer = record.answer
    system = None if answer is None else answer.system
    seen = f"{machine.cores} cores" if system is None else _system_words(system)
    name = machine.name or "unnamed"
    rows = [
        ("nodes", f"{nodes_words(record.nodes)}; asked from {name}")
        if record.nodes
        else ("machine", f"{name}: {machine.cpu_model or 'unknown processor'}, {seen}"),
        *([("devices", "; ".join(map(lies_on, answer.during)))] if answer and answer.during else []),
        (
            "places",
            "; ".join(f"{role} {' '.join(places)}" for role, places in record.asked.roles.items()),
        ),
        ("asked", f"{_format_minute(record.created_at)}, {record.asked.minutes:g} minutes"),
    ]
    if choice is not None:
        answered = record.answer is not None
        runs = counted_noun(len(record.runs_for("measured")) if answered else choice.repeats, "run")
        seconds = sum(phase.seconds for phase in record.phases) if answered else choice.total_seconds
        what = f"{runs} of {choice.jobs} jobs in {counted_noun(choice.sessions, 'session')}"
        if record.nodes:
            ones = len(record.runs_for("one-node")) if answered else choice.one_node_runs
            with_one = counted_noun(ones, "run")
            what = f"{runs} with all nodes and {with_one} with one, {what.partition(' of ')[2]} a node,"
        how = (
            f"scale {format_plain(choice.scale)} of full, cache {choice.cache}; "
            f"{format_seconds(seconds)} in all"
        )
        rows.append(("measured" if answered else "planned", f"{what} at {how}"))
        rows += [("demand", words)] if (words := demand_words(choice)) else []
    return [*rows, ("mawl", record.mawl_version)]


def demand_words(choice: QualificationChoice) -> str:
    """What a CPU second of the mix asks of each role; empty in records of earlier versions."""
    asked = choice.asked_bytes_per_cpu_second
    roles = ", ".join(
        f"{role} {format_bytes(ways['read'])} read and {format_bytes(ways['written'])} written"
        for role, ways in asked.items()
    )
    every = sum(sum(ways.values()) for ways in asked.values())
    return f"{format_bytes(every)} for each CPU second (forecast): {roles}" if asked else ""


def _system_words(system: AnswerSystem) -> str:
    cores = "cores" if system.core_basis is None else f"{system.core_basis}s"
    parts = [
        *([] if system.cores is None else [f"{system.cores} {cores}"]),
        *([] if system.logical_cpus in (None, system.cores) else [f"{system.logical_cpus} threads"]),
        *([] if system.cpu_quota is None else [f"CPU quota {system.cpu_quota:g}"]),
        *([] if system.memory_bytes is None else [f"{format_memory(system.memory_bytes)} of memory"]),
        *(
            []
            if system.memory_limit_bytes is None
            else [f"jobs held to {format_memory(system.memory_limit_bytes)}"]
        ),
        "no virtual machine" if system.virtual is None else f"virtual machine ({system.virtual})",
        *([] if system.kernel is None else [f"Linux {system.kernel}"]),
    ]
    return ", ".join(parts)


def _format_minute(at: float) -> str:
    return f"{format_instant(at)[:16].replace('T', ' ')} UTC"


WORDS = (
    (
        "session",
        "one analyst's queue of jobs: when one job has ended, the next one starts at once. It is neither a "
        "login nor a head count: an analyst who pauses between jobs is less than one session",
    ),
    (
        "reference time",
        "CPU seconds that the same jobs take one by one on mawl's reference machine: a constant of the load, "
        "the same for every system; the range is the 95 % interval between runs",
    ),
    (
        "data, work, util",
        "directories of input tables and results, of temporary tables, of sort and spill files",
    ),
)
STORAGE_WORDS = (
    (
        "read, written",
        "rates at the device, of all programs, from the first job to the last (median of the runs)",
    ),
    (
        "latency, queue",
        "mean time of a request with its wait in the queue; mean number of requests that wait or are served",
    ),
)
NODES_WORDS = (
    (
        "nodes, shared storage",
        "the nodes limit where one node alone takes as long as all together; the shared storage or its "
        f"network where jobs surely take more than {format_ratio(LEAST_RATIO)} times as long with all nodes "
        "as with one, and wait for storage or network",
    ),
)


TONES = {"carried": "good", "not carried": "bad", "not known": "warn"}
EXPECTED = {"carried": "YES", "not carried": "NO", "not known": "NOT KNOWN"}
BASIS = {
    "lab beds": "by the error of forecasts for test beds",
    "published systems": "by the error of forecasts for the papers' systems",
}
NO_MORE_SHOWN = "no run shows that more are too many"


def document(record: Qualification) -> Document:
    """The sentence, the figures, what limits, fits and would change it, what to do, and what it rests on.

    A record without an answer has its forecast.
    """
    answer, found = record.answer, list[Line]()
    tone, basis = "warn", Lines(basis_rows(record))
    if answer is None:
        sentence = _sentence_without_answer(record)
        lines = [("next", f"Measure it from here on: mawl qualify --continue {record.name}")]
        lines = lines[record.outcome == "running" :]
    else:
        tone, sentence = TONES[answer.carried.answer], answer.sentence
        lines, found = _lines(answer), _figures(answer.figures)
    word, next_step = sentence.partition(":")[0], dict(lines).get("next")
    why = Lines([*found, *(line for line in lines if line[0] != "next")])
    storage, words = _storage(answer), Lines(_words(answer))
    place = f"{len(record.nodes)} nodes" if record.nodes else record.machine.name or "this machine"
    return Document(
        headline=Headline(sign="undecided", sentence=sentence, next_step=next_step),
        tag=(word, tone),
        facts=[f"{record.asked.workload} on {place}", record.name],
        cards=[] if answer is None else _cards(answer, word, tone),
        parts=[
            *each(Sentences([sentence]), Lines(found), Lines(lines)),
            Part((storage,), formats=NOT_TEXT),
            Part((basis,)),
            Part((words,), formats=NOT_TEXT),
        ],
        folds=[
            Part((why,), "why", "Why, and what would change it", "Why"),
            Part((storage,), "storage", "The storage during the mix", "Storage"),
            Part((_rules(answer),), "trust", "What the answer rests on", "Trust"),
            Part((basis,), "basis", "What was qualified, and how", "System"),
            Part((words,), "words", "Words", "Words"),
        ],
    )


def disclosure(record: Qualification) -> Document:
    """The answer with every rule, decision, phase, run and reason of its record."""
    answer, choice = record.answer, record.choice
    decisions = [] if choice is None else [(one.what, one.value, one.why) for one in choice.decisions]
    phases = [
        (one.name, one.state, *figures(*((took, format_seconds) for took in times)), one.detail)
        for one in record.phases
        for times in [(one.seconds, one.forecast_seconds)]
    ]
    runs = [(run.folder, run.purpose, str(run.sessions), run.state, _outcome(run)) for run in record.runs]
    reasons = [] if answer is None else list(answer.missing.items())
    return Document(
        headline=Headline(sign="undecided", sentence=f"Disclosure of {record.name}"),
        parts=[
            *document(record).parts,
            *each(
                _rules(answer),
                Table(title="decisions", head=("what", "value", "why"), rows=decisions),
                Table(
                    title="phases", head=("phase", "state", "took", "forecast", "what it found"), rows=phases
                ),
                Table(title="runs", head=("folder", "purpose", "sessions", "state", "outcome"), rows=runs),
                Table(title="forecast", head=("figure", "forecast"), rows=list(_forecast(record))),
                Table(title="what is not known, and why", head=("figure", "reason"), rows=reasons),
            ),
        ],
    )


def _outcome(run: QualifyRun) -> str:
    aside = run.state in ("disturbed", "left out")
    return (run.reason if aside else run.outcome or run.reason) or ABSENT


def _forecast(record: Qualification) -> Iterator[tuple[str, str]]:
    choice = record.choice
    if choice is None:
        return
    yield "time of all phases", format_seconds(choice.total_seconds)
    yield "active time of one run", format_seconds(choice.active_seconds)
    for name, ratio in (("reads", choice.read_reach_ratio), ("writes", choice.write_reach_ratio)):
        yield f"{name} that reach a device", figure(ratio, format_percent)


def _cards(answer: QualificationAnswer, word: str, tone: str) -> list[Card]:
    """Whether the load is carried, what limits, and how many sessions fit."""
    slowdown = f"{capital(_figures(answer.figures)[0][1])}."
    fits, _, basis = _fits(answer).partition(": ")
    nodes = [f"{LIMITS[answer.nodes.limit]}."] if answer.nodes else []
    return [
        Card("Can it carry the load?", word, tone, [slowdown, *answer.cautions], more=("why", "Why")),
        Card("What limits it?", _limit(answer)[1], "", nodes),
        Card("How many sessions fit?", fits, "", [f"{capital(basis)}."]),
    ]


def _lines(answer: QualificationAnswer) -> list[Line]:
    mix = mix_range(answer.sessions)
    changes = [("change", _change(one, mix)) for one in answer.changes]
    return [
        ("parts", _parts(answer)),
        ("other work", _other_work(answer)),
        _limit(answer),
        *([("nodes", nodes_text(answer.nodes, answer))] if answer.nodes else []),
        ("fits", _fits(answer)),
        *(changes or [("change", f"No change is named: {answer.missing.get('changes', 'none')}")]),
        *(("caution", caution) for caution in answer.cautions),
        ("next", answer.next_step),
    ]


def _words(answer: QualificationAnswer | None) -> list[Line]:
    more = () if answer is None else (*STORAGE_WORDS * bool(answer.during), *NODES_WORDS * bool(answer.nodes))
    return [*WORDS, *more]


def _storage(answer: QualificationAnswer | None) -> Table:
    """A row for all roles on the same devices."""
    rows = [] if answer is None else [storage_row(one) for one in answer.during]
    return Table(name="storage", title="the storage during the mix", head=STORAGE_HEAD, rows=rows)


def _rules(answer: QualificationAnswer | None) -> Table:
    rows, note = ([], "") if answer is None else (rules_rows(answer), rules_sentence(answer))
    return Table(name="rules", title="rules", head=("rule", "found", "required", "met"), rows=rows, note=note)


def _sentence_without_answer(record: Qualification) -> str:
    choice, phase = record.choice, next((one for one in record.phases if one.state == "running"), None)
    what = {
        "running": f"the phase {phase.name} is under way" if phase else "it is under way",
        "planned": "nothing was measured",
        "interrupted": "it was interrupted",
        "failed": "it failed",
        "busy": "it stopped before its runs",
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
            f"PROBABLY {sure}: {sessions} take {format_ratio(expected.slowdown)} times mawl's "
            f"reference time ({range_}; bound {format_ratio(record.asked.answer_bound)}). "
            f"This is a forecast: {what}{why}."
        )
    return sentence


def _figures(figures: QualificationFigures) -> list[Line]:
    bound = f"bound {format_ratio(figures.answer_bound)}"
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
    times = format_ratio(figures.slowdown or 0.0)
    hourly = figures.jobs_per_hour
    return [
        ("slowdown", f"{times} times the reference time ({range_})" if known else f"not known; {bound}"),
        (
            "device",
            f"{ABSENT if rate is None else format_rate(rate)} per core: {of[figures.device_basis]}; "
            f"{judged[figures.guideline_met]}",
        ),
        ("jobs", "not known" if hourly is None else f"{hourly:,.0f} an hour (median of the measured runs)"),
    ]


def _parts(answer: QualificationAnswer) -> str:
    """What the slowdown is the sum of."""
    parts = answer.figures.parts
    if parts is None:
        return f"Not known: {answer.missing.get('figures.parts', 'no run has waits')}"
    return capital(parts_words(msgspec.structs.asdict(parts)))


def _other_work(answer: QualificationAnswer) -> str:
    figures = answer.figures
    shares = [
        (figures.calibration_others_cpu_ratio, "calibration_others_cpu_ratio", "the calibration"),
        (figures.measured_others_cpu_ratio, "measured_others_cpu_ratio", "the measured runs"),
    ]
    said = []
    for ratio, field, during in shares:
        why = answer.missing.get(f"figures.{field}", "it was not measured")
        known = f"not known ({why})" if ratio is None else f"{format_percent(ratio)} of the processor time"
        said.append(f"{known} during {during}")
    return capital(", ".join(said))


def _limit(answer: QualificationAnswer) -> tuple[str, str]:
    limit = answer.limit
    if limit is None:
        return "limit", f"Not known: {answer.missing.get('limit', 'no run has one')}"
    return "limit" if limit.named else "cost", capital(costs_words(limit))


def _fits(answer: QualificationAnswer) -> str:
    fits = answer.fits
    if fits.sessions is None:
        reason = fits.reason or "no forecast was made"
        if fits.high is None:
            return f"Not known: {reason}"
        return f"{capital(reason)}: {'measured' if fits.basis == 'measured' else 'forecast by simulation'}"
    basis = "measured on both sides of the bound" if fits.basis == "measured" else "forecast by simulation"
    if fits.is_at_least:
        basis = f"{'measured' if fits.basis == 'measured' else basis}; {NO_MORE_SHOWN}"
    why = f"; {fits.reason}" if fits.reason else ""
    return f"{fits_words(fits, a_node=bool(answer.nodes))}: {basis}{why}"


def _change(change: QualificationChange, mix: SessionRange) -> str:
    """``Twice the processors: 8 sessions (jobs take 12 % less time; 5 to 13 sessions by ...)``."""
    fewer = f"fewer than {mix.fewest}"
    more = "at least " if change.sessions == mix.most else ""
    gain = "" if change.gain_ratio is None else f"jobs take {format_percent(change.gain_ratio)} less time; "
    if change.range_basis is None:
        number = "-" if change.sessions is None else f"{more}{counted_noun(change.sessions, 'session')}"
        return f"{change.text}: {number} ({gain}no range: {change.reason or 'it was not simulated'})"
    number = fewer if change.sessions is None else f"{more}{counted_noun(change.sessions, 'session')}"
    if change.sessions_high is None:
        return f"{change.text}: {number} ({gain}{fewer} at best {BASIS[change.range_basis]})"
    low = fewer if change.sessions_low is None else f"{change.sessions_low}"
    range_ = f"{low} to {counted_noun(change.sessions_high, 'session')}"
    if change.sessions_high == mix.most:
        range_ = f"at least {low} sessions" if change.sessions_low else f"{range_} or more"
    return f"{change.text}: {number} ({gain}{range_} {BASIS[change.range_basis]})"


MET = {True: "yes", False: "NOT MET", None: "not known"}


def rules_rows(answer: QualificationAnswer) -> list[tuple[str, str, str, str]]:
    """Rule, what was found, what is required, and whether that is met; those that are not met come first."""
    order = (False, None, True)
    rules = sorted(answer.rules, key=lambda rule: order.index(rule.met))
    return [(rule.name, rule.value, rule.bound, MET[rule.met]) for rule in rules]


def rules_sentence(answer: QualificationAnswer) -> str:
    """How many rules are not met, and which."""
    failed = [rule.name for rule in answer.rules if rule.met is False]
    unknown = [rule.name for rule in answer.rules if rule.met is None]
    every = counted_noun(len(answer.rules), "rule")
    said = f"{len(failed)} of {every} not met: {', '.join(failed)}" if failed else f"None of {every} failed"
    return f"{said}; not known: {', '.join(unknown)}." if unknown else f"{said}."
