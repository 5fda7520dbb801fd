"""From "I have this server" to an answer: does it carry the load, what limits it, how many sessions fit.

Looks at the machine, probes its storage, times the programs, chooses sessions and scale for the time that you
give, shows what it expects, asks, runs, and answers in one sentence.  mawl help qualify shows it.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import math
import secrets
import shlex
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.conditions import checks_of_answer, checks_of_levels
from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.advice.qualification.gather import answer_of
from mawl.advice.qualification.machine import PodSize, pods_sentence
from mawl.advice.rank import rank
from mawl.base.errors import InterruptedRunError, MawlError, UsageError
from mawl.base.process import importing
from mawl.base.units import (
    parse_size,
)
from mawl.campaigns.qualify.choice import smallest
from mawl.campaigns.qualify.engine import Engine, first_look
from mawl.campaigns.qualify.machine import QualifyMachine, own_directories
from mawl.campaigns.series import held
from mawl.commands.arguments import (
    JUNIT,
    WITHIN,
    Failing,
    bounds_of,
    fail_on,
    settings,
    spec_of_arguments,
    volumes_of,
)
from mawl.commands.campaign_settings import check_place, this_machine
from mawl.commands.choose import rendered_ranking
from mawl.commands.cluster_run import check_reach, places_on_nodes
from mawl.commands.qualify_choice import choice_text
from mawl.commands.reporting import read_run, short_path
from mawl.commands.terminal import require_programs
from mawl.commands.verbs import Arguments, Verb, option, options_of_run, switch
from mawl.plan.mix import LOAD_VERSION
from mawl.plan.spec import parse_scale
from mawl.records.model.qualification import MOST_MINUTES, Asked, Qualification
from mawl.records.spec.forms import Whole
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.run_spec import NodesSpec, RunSpec
from mawl.records.spec.sources import NODE_OPTIONS, OPTIONS, Settings
from mawl.records.store.campaign import (
    QUALIFICATION_LOCK,
    locate_qualification,
    plain_qualification,
    read_qualification,
    write_qualification,
)
from mawl.records.store.files import replace_file
from mawl.records.store.folder import make_folder
from mawl.reports.document import rendered
from mawl.reports.layout import LEAST_WIDTH
from mawl.reports.qualification import disclosure, document
from mawl.version import __version__

if TYPE_CHECKING:
    from mawl.campaigns.qualify.interface import Work

EXIT_STATUS = (
    "exit status: 0 carried, 3 not carried, 4 not known (with --fail-on: of its conditions), "
    "1 mawl could not go on, 2 wrong use, 130 interrupted"
)
EXIT_OF_ANSWER = {"carried": 0, "not carried": 3, "not known": 4}

NODE_FIELDS = tuple(field for field in NODE_OPTIONS if field not in ("on", "on_lost_node"))
"""A qualification has one workload for all nodes, and stops the others where one is lost."""

FILES_OF_NODES = ("hosts", "ssh_config", "tls_ca", "tls_cert", "tls_key")

ON_THE_WAY = ("pod", "anyway", "yes", "plan", "continue_folder", "json", "fail_on", "within", "junit")
"""Options that go with --continue; a qualification begins with the others."""

ANSWER_PAGE = "answer.html"
DEFAULT_MINUTES = 30.0
LEAST_MINUTES = 2.0
MOST_REPEAT = 99


class QualifyArguments(Arguments):
    """From "I have this server" to an answer: does it carry the load, what limits it, how many sessions fit.

    Looks at the machine, probes its storage, times the programs, chooses sessions and scale for the time that
    you give, shows what it expects, asks, runs, and answers in one sentence. mawl help qualify shows it.
    """

    roles: Any = options_of_run(*ROLES, "volume_order")
    runs: str | None = option("DIR", "where its folder goes (default: ./runs)", group="places")
    output: str | None = option("DIR", "the folder itself (default: RUNS/qualify-...)", group="places")
    minutes: float | None = option(
        "N",
        f"the time it may take, from {LEAST_MINUTES:g} (default: {DEFAULT_MINUTES:g}); the answer is "
        "preliminary below 20 minutes of load, which take about 30 on one machine without the page cache",
        group="what",
    )
    sessions: Any = options_of_run("sessions")
    repeat: int | None = option(
        "N",
        f"measured runs that share the time (default: {FEWEST_RUNS}, more if time is left); 1 makes one "
        f"long run, to outlast an array's cache; fewer than {FEWEST_RUNS} make the answer preliminary",
        form=Whole(1, MOST_REPEAT, of="runs"),
        group="what",
    )
    scale: str | None = option(
        "NAME|FACTOR",
        "smoke, quick, standard, full, or a factor of full such as 0.01 (default: chosen for the time)",
        group="what",
    )
    nodes: Any = options_of_run(
        *NODE_FIELDS,
        briefs={
            "cluster": "answer for the workers of a Dask cluster",
            "ssh": "answer for these hosts",
            "hosts": "answer for the hosts of a file, with what differs there",
        },
    )
    places: list[str] | None = option(
        "NAME=DIR",
        "answer for each of these places, one after the other with the same load, and rank them; roles that "
        "are not named lie in the place; the exit status is that of the best answer",
        nargs="+",
        group="places",
    )
    pod: str | None = option(
        "CPUS,MEMORY",
        "also say how many pods with these requests the node carries, such as 4,16GiB",
        group="what",
    )
    anyway: bool = switch("go on where other programs use the machine (also with --continue)", group="how")
    yes: bool = switch("do not ask before the runs: for scripts", group="how")
    plan: bool = switch("end after the choice: what would be run, and the expected answer", group="how")
    continue_folder: str | None = option(
        "FOLDER", "go on with one that was stopped, or that ended with --plan", name="continue", group="how"
    )
    json: bool = switch("print the record as one JSON object", group="how")
    fail_on: list[str] = fail_on("not-carried", "below-guideline")
    within: list[str] = WITHIN
    junit: str | None = JUNIT


def run(arguments: QualifyArguments) -> int:
    """Qualify this machine, nodes, or one place after the other; exit status by the answer."""
    failing = Failing(arguments)
    if arguments.pod is not None:
        pod_of(arguments.pod)
    if arguments.places:
        return _run_places(arguments)
    return _begin(arguments, failing)[0]


def _begin(arguments: QualifyArguments, failing: Failing) -> tuple[int, Path]:
    """One qualification, begun or continued: its exit status and its folder."""
    chosen = settings()
    bounds = bounds_of(chosen)
    if arguments.continue_folder is not None:
        _check_only_continues(arguments)
        folder = locate_qualification(arguments.continue_folder, chosen.runs(None))
        record = read_qualification(folder)
        if record.answer is None:
            _check_asking(arguments)
            check_place(record, folder)
            _check_packages(record.asked.nodes)
    else:
        record = _new(arguments, bounds)
        _warn_unused(chosen)
        _check_packages(record.asked.nodes)
        folder = (
            Path(arguments.output) if arguments.output else chosen.runs(arguments.runs) / record.name
        ).absolute()
        _check_asking(arguments)
        work = _work(folder, record, None, lambda _: None)
        machine = first_look(work, record.asked, smallest(record.asked), partial(print, file=sys.stderr))
        # Pages print this name, and --continue takes it as a folder in RUNS or in the current directory.
        record = msgspec.structs.replace(record, name=folder.name, nodes=machine.nodes)
        make_folder(folder)
        write_qualification(folder, record)
    with held(folder, name=QUALIFICATION_LOCK) as lock:
        # Another process may have gone on with it until it let go of the lock.
        record = read_qualification(folder)
        if arguments.anyway:
            record = msgspec.structs.replace(record, asked=msgspec.structs.replace(record.asked, anyway=True))
        return _qualify(arguments, folder, record, bounds, lock, failing), folder


def _qualify(
    arguments: argparse.Namespace,
    folder: Path,
    record: Qualification,
    bounds: AnswerBounds,
    lock: int,
    failing: Failing,
) -> int:
    if record.answer is None:
        progress = ProgressLines(sys.stderr)
        progress.say(f"qualify: {record.asked.minutes:g} min; folder {shlex.quote(short_path(folder))}")
        for line in cleaning(folder, settings().runs(None)):
            progress.say(line)
        work = _work(folder, record, lock, progress.rewrite)
        engine = _engine(record)(folder, record, work, time.monotonic, time.time, progress.say)
        try:
            shown = choice_text(engine.until_choice(), record.asked)
            if not arguments.plan:
                progress.say(shown)
            if arguments.plan or not (arguments.yes or _confirm()):
                engine.finish("planned")
                if arguments.plan:
                    _print(engine.record, shown, arguments.json)
                progress.say(f"it goes on with: mawl qualify --continue {shlex.quote(short_path(folder))}")
                return 0
            engine.finish("finished", answer=answer_of(engine.to_the_end(), folder, bounds))
            record = engine.record
        except (KeyboardInterrupt, InterruptedRunError):
            cure = f"mawl qualify --continue {shlex.quote(short_path(folder))}"
            raise InterruptedRunError("interrupted", cure=f"{cure} goes on") from None
        except MawlError:
            if engine.record.phase("choice").state == "done":
                progress.say(f"once that is fixed: mawl qualify --continue {shlex.quote(short_path(folder))}")
            raise
    assert record.answer is not None, "a finished qualification has one"
    _leave_pages(folder, record)
    words = rendered(document(record), "text", LEAST_WIDTH)
    if arguments.pod is not None:
        words += f"\n\n{pods_sentence(record.answer, pod_of(arguments.pod))}"
    _print(record, words, arguments.json)
    print(f"\nfolder: {shlex.quote(short_path(folder))}", file=sys.stderr)
    print(f"answer on one page: {shlex.quote(short_path(folder / ANSWER_PAGE))}", file=sys.stderr)
    for line in cleaning(folder, settings().runs(None)):
        print(line, file=sys.stderr)
    if failing.asked:
        measured = [read_run(folder / run.folder, bounds).summary for run in record.runs_for("measured")]
        levels = [check for summary in measured for check in checks_of_levels(summary, failing.levels)]
        checks = checks_of_answer(record.name, record.answer, failing.conditions)
        return failing.status([*checks, *levels])
    return EXIT_OF_ANSWER[record.answer.carried.answer]


def pod_of(text: str) -> PodSize:
    """``4,16GiB`` as the requests of a pod.  Raises ``UsageError`` for anything else."""
    cpus, comma, memory = text.partition(",")
    try:
        number, size = float(cpus), parse_size(memory.strip()) if comma else 0
    except (ValueError, UsageError):
        number = size = 0
    if not (0 < number < math.inf and size > 0):
        raise UsageError(f"--pod {text}: expected CPUs and memory, such as 4,16GiB")
    return PodSize(number, size)


def _run_places(arguments: QualifyArguments) -> int:
    """Qualify the places, each after the first with its scale and sessions, and rank them."""
    places = _named_places(arguments)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    above = Path(arguments.output or settings().runs(arguments.runs) / f"places-{stamp}")
    own = copy.copy(arguments)
    own.json, own.fail_on, own.junit, own.pod = False, [], None, None
    records = dict[str, Qualification]()
    for name, place in places.items():
        print(f"qualify: place {name}, {place}", file=sys.stderr)
        for role in ROLES:
            setattr(own, role, getattr(arguments, role) or [str(place / f"mawl-{role}")])
        own.output = str(above / name)
        with contextlib.redirect_stdout(sys.stderr):
            _, folder = _begin(own, Failing(own))
        records[name] = read_qualification(folder)
        choice = records[name].choice
        assert choice is not None, "an answered qualification has chosen"
        own.scale, own.sessions = f"{choice.scale:.17g}", choice.sessions
    ranking = rank(records, {})
    print(rendered_ranking(ranking, "json" if arguments.json else "text", LEAST_WIDTH), end="")
    if arguments.pod is not None and not arguments.json:
        for name, record in records.items():
            if record.answer is not None:
                print(f"\n{name}: {pods_sentence(record.answer, pod_of(arguments.pod))}")
    print(f"\nfolders: {shlex.quote(short_path(above))}", file=sys.stderr)
    answers = {system.answer for system in ranking.systems}
    best = next(answer for answer in ("carried", "not known", "not carried") if answer in answers)
    return EXIT_OF_ANSWER[best]


def _named_places(arguments: QualifyArguments) -> dict[str, Path]:
    """The places by name.  Raises ``UsageError`` for fewer than two, and for what does not go with them."""
    found = dict[str, Path]()
    for text in arguments.places or []:
        name, equals, place = text.partition("=")
        if not (name and equals and place) or "/" in name or name in (".", ".."):
            raise UsageError(f"--places {text}: expected NAME=DIR, such as fast=/mnt/fast")
        if name in found:
            raise UsageError(f"--places: {name} is named twice", cure="give each place another name")
        if not Path(place).is_dir():
            raise UsageError("is no directory", where=place, cure="mount the volume there first")
        found[name] = Path(place).absolute()
    if len(found) < 2:
        raise UsageError("--places takes two places or more", cure="--places fast=/mnt/fast slow=/mnt/slow")
    given = arguments.changed()
    wrong = next(
        (
            given[name]
            for name in ("continue_folder", "plan", "fail_on", "within", *NODE_FIELDS)
            if name in given
        ),
        None,
    )
    if wrong:
        raise UsageError(f"{wrong} does not go with --places", cure="qualify each place by itself for that")
    if not (arguments.yes or sys.stdin.isatty()):
        _check_asking(arguments)
    return found


def _work(folder: Path, record: Qualification, lock: int | None, show: Callable[[str], None]) -> Work:
    if record.asked.nodes is None:
        return QualifyMachine(folder, record.asked, record.directory, lock, show)
    with importing():
        from mawl.campaigns.qualify.nodes import QualifyNodes
    names = [node.name for node in record.nodes]
    return QualifyNodes(folder, record.asked, record.directory, lock, show, names)


def _engine(record: Qualification) -> type[Engine]:
    if record.asked.nodes is None:
        return Engine
    with importing():
        from mawl.campaigns.qualify.nodes import NodesEngine
    return NodesEngine


def _check_packages(nodes: NodesSpec | None) -> None:
    if nodes is None:
        require_programs()
        return
    check_reach(nodes)


def cleaning(folder: Path, runs: Path) -> list[str]:
    """How to remove what a kill leaves, where a plain ``mawl clean`` does not look into the folder."""
    if folder.parent.resolve() == runs.resolve():
        return []
    return [f"what a kill leaves is removed by: mawl clean --runs {shlex.quote(short_path(folder / 'runs'))}"]


def _leave_pages(folder: Path, record: Qualification) -> None:
    pages = {ANSWER_PAGE: (document, "html"), "answer.md": (document, "markdown")}
    for name, (of, form) in {**pages, "disclosure.md": (disclosure, "markdown")}.items():
        if not (folder / name).exists():
            replace_file(folder / name, f"{rendered(of(record), form).rstrip()}\n".encode())


def _print(record: Qualification, words: str, as_json: bool) -> None:
    if as_json:
        words = msgspec.json.format(msgspec.json.encode(plain_qualification(record))).decode()
    print(words)


def _new(arguments: argparse.Namespace, bounds: AnswerBounds) -> Qualification:
    minutes = DEFAULT_MINUTES if arguments.minutes is None else arguments.minutes
    if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        raise UsageError(f"--minutes {minutes:g}: expected {LEAST_MINUTES:g} to {MOST_MINUTES:g}")
    own = own_directories({"data": arguments.data, "work": arguments.work, "util": arguments.util})
    spec = spec_of_arguments(argparse.Namespace(**(vars(arguments) | own)))
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return Qualification(
        name=f"qualify-{stamp}-{secrets.token_hex(2)}",
        created_at=time.time(),
        outcome="running",
        mawl_version=__version__,
        load_version=LOAD_VERSION,
        machine=this_machine(),
        directory=str(Path.cwd()),
        asked=Asked(
            roles={role: list(places) for role, places in _places(spec).items()},
            minutes=minutes,
            sessions=spec.sessions,
            repeat=arguments.repeat,
            scale=None if spec.scale is None else parse_scale(spec.scale),
            answer_bound=bounds.answer_bound,
            volume_order=spec.volume_order,
            nodes=None if spec.nodes is None else _with_absolute_files(spec.nodes),
        ),
    )


def _places(spec: RunSpec) -> dict[Role, tuple[str, ...]]:
    if spec.nodes is not None:
        return places_on_nodes(spec, spec.nodes)
    return {role: tuple(map(str, places)) for role, places in volumes_of(spec).directories.items()}


def _warn_unused(chosen: Settings) -> None:
    layer = chosen.layer()
    used = (*QualifyArguments.declared(), *NODE_FIELDS)
    names = [OPTIONS[field].name for field in layer.values if field not in used]
    names += ["options"] if layer.options else []
    if names:
        print(
            f"warning: mawl qualify does not use these settings of mawl.toml or the environment: "
            f"{', '.join(names)}",
            file=sys.stderr,
        )


def _with_absolute_files(nodes: NodesSpec) -> NodesSpec:
    files = {field: getattr(nodes, field) for field in FILES_OF_NODES}
    return msgspec.structs.replace(
        nodes, **{field: str(Path(file).absolute()) for field, file in files.items() if file}
    )


def _check_only_continues(arguments: QualifyArguments) -> None:
    given = [flag for name, flag in arguments.changed().items() if name not in ON_THE_WAY]
    if given:
        raise UsageError(
            f"--continue does not go with {given[0]}",
            why="it goes on as it was begun",
            cure=f"leave {given[0]} out, or begin anew without --continue",
        )


def _check_asking(arguments: argparse.Namespace) -> None:
    if not (arguments.yes or arguments.plan or sys.stdin.isatty()):
        raise UsageError(
            "asks before the runs, and standard input is no terminal",
            cure="add --yes, or --plan to see what would be run",
        )


def _confirm() -> bool:
    print("Run this? [Y/n] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("", "y", "yes") and answer != ""


MOST_CHARACTERS = 100


class ProgressLines:
    """Lines on a stream; on a terminal the last one is rewritten while a run goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._terminal = stream, stream.isatty()
        self._open = False

    def say(self, line: str) -> None:
        self._write(f"{self._cleared()}{line}\n")

    def rewrite(self, line: str) -> None:
        """A line that the next one replaces; nothing but on a terminal."""
        if self._terminal and line:
            self._write(f"{self._cleared()}\r\x1b[K  {line[:MOST_CHARACTERS]}")
            self._open = True

    def clear(self) -> None:
        self._write(self._cleared())

    def _cleared(self) -> str:
        was, self._open = self._open, False
        return "\r\x1b[K" if was else ""

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone ends no qualification
            self._stream.write(text)
            self._stream.flush()


VERBS = {
    "qualify": Verb(QualifyArguments, run, EXIT_STATUS, grouped=True),
}
