"""What the storage itself can do: fio over each role or directory, and the guideline of SAS per core.

Without directories it probes the three roles; with --full every pattern, size and number of streams.
Results are kept test by test in --output; mawl help probe says how to read them.
"""

from __future__ import annotations

import argparse
import secrets
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.conditions import checks_of_probe
from mawl.advice.guideline import TargetGuideline, probe_guidelines
from mawl.base.errors import InterruptedRunError, UsageError
from mawl.base.units import counted_noun, format_memory, format_seconds, parse_size
from mawl.commands.arguments import (
    FAILING_EXIT_STATUS,
    JUNIT,
    ROLES_OF_RUN,
    RUNS,
    Failing,
    bounds_of,
    fail_on,
    settings,
)
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.importers.probe_files import load_probe
from mawl.measure.machine import read_machine
from mawl.measure.probe.command import (
    DEFAULT_FILE_BYTES,
    DEFAULT_SECONDS,
    KINDS,
    MOST_DEPTH,
    MOST_FILL_RATIO,
    STEADY_BOUND,
    Engine,
    ProbeChoice,
    at_depths,
    chosen_shapes,
    default_shapes,
    full_shapes,
)
from mawl.measure.probe.process import ProbePlace, fio_version
from mawl.measure.probe.target import ProbeRequest, probe
from mawl.records.definitions import instant, unitless
from mawl.records.definitions import text as words
from mawl.records.model.probe import PAGE, Probe, ProbeTarget, ProbeTest
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.sources import Settings
from mawl.records.store import locate
from mawl.records.store.files import PROBE
from mawl.records.store.output import OutputFile
from mawl.records.store.side_files import plain_probe, probe_content, write_probe
from mawl.records.volumes import PROBE_PREFIX
from mawl.reports import json
from mawl.reports.document import terminal
from mawl.reports.probe import parts
from mawl.run.launch.setup import RUN_ID_VARIABLE
from mawl.simulation.measured_system import probed_system
from mawl.simulation.system import system_toml


class ProbeOutput:
    """The file of ``--output``, which is replaced whole after each test; see ``OutputFile``.

    A pipe, a terminal or a standard stream gets the content once, from ``finish``.  Raises
    ``UsageError`` for a place that cannot be written, before any work.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._file = OutputFile(name)
        self._last: Probe | None = None

    @property
    def tests(self) -> int:
        return 0 if self._last is None else len(measured(self._last))

    def keep(self, results: Probe) -> None:
        """Take the whole after a test; one without any figures is not worth what the file holds."""
        if not measured(results):
            return
        self._last = results
        if not self._file.is_stream:
            self._file.write(probe_content(results))

    def finish(self) -> None:
        """Write to a pipe, a terminal or a standard stream.

        Raises ``UnsuitableMachineError`` if that fails.
        """
        with self._file as file:
            if file.is_stream and self._last is not None:
                file.write(probe_content(self._last))


def measured(probe: Probe) -> list[ProbeTest]:
    """The tests of all targets that gave figures."""
    return [
        test
        for target in probe.targets
        for test in target.tests
        if test.read is not None or test.write is not None
    ]


HEAD = "A system for mawl simulate, written by mawl probe; every figure may be changed by hand."


def write_described(file: OutputFile, results: Probe) -> str:
    """Write the description; what there is to say about it, for the user.

    Memory and threads per core are this machine's: a probe of another node is refused
    (``UsageError``).
    """
    machine = read_machine()
    nodes = {target.node for target in results.targets}
    here = machine.name or "localhost"
    if nodes != {here}:
        raise UsageError(
            f"--system {file.name}: the probe is of {', '.join(sorted(nodes)) or 'no node'}, "
            f"and this is {here}",
            why="the memory of another machine is not in a probe",
            cure="write the description where the probe was made",
        )
    memory = min(filter(None, (machine.memory_bytes, machine.memory_limit_bytes)), default=None)
    if memory is None:
        raise UsageError(f"--system {file.name}: this machine does not report its memory")
    threads = 1
    if machine.core_basis == "physical core" and machine.logical_cpus and machine.physical_cores:
        threads = max(machine.logical_cpus // machine.physical_cores, 1)
    system, remarks = probed_system(results, name=here, memory_bytes=memory, threads_per_core=threads)
    file.write(system_toml(system, head="\n".join([HEAD, *remarks])).encode())
    return f"system description in {file.name}" + "".join(f"; {remark}" for remark in remarks)


MOST_STREAMS = 4096


class PrintedProbe(msgspec.Struct, frozen=True, kw_only=True):
    """A probe as ``--json`` prints it: that of ``probe.json``, with the ``guideline`` of each target."""

    format_version: Annotated[str, words("Version of the format, MAJOR.MINOR.", PAGE)]
    created_at: Annotated[str, instant("When the probe began (UTC, ISO 8601).", PAGE)]
    tool: Annotated[str, words("The fio that probed, with its version.", PAGE)]
    physical_cores: Annotated[
        float | None,
        unitless(
            "Cores that CPU affinity and a CPU quota left to the probe, rounded; what core_basis names.",
            PAGE,
        ),
    ]
    core_basis: Annotated[str | None, words("What counts as a core.", PAGE)]
    targets: list[ProbeTarget]
    guideline: dict[str, TargetGuideline]


class ProbeArguments(Arguments):
    directories: list[str] = operand(
        "DIR", "directories that no role lies on yet, as candidates", nargs="*", group="places"
    )
    roles: Any = ROLES_OF_RUN
    full: bool = switch(
        "sequential reads and writes at 64 KiB to 16 MiB, random and mixed 65:35 at 8 and 64 KiB, "
        "by 1, 2, 4 and so on up to twice the cores",
        group="tests",
        brief="all patterns and request sizes, with 1, 2, 4 and so on up to twice the cores",
    )
    patterns: str | None = option(
        "LIST", f"only these, separated by commas: {', '.join(KINDS)}", group="tests"
    )
    sizes: str | None = option("LIST", "request sizes, such as 64KiB,1MiB", group="tests")
    streams: str | None = option("LIST", "numbers of streams, such as 1,8,16", group="tests")
    depth: str | None = option(
        "LIST",
        "requests that each stream has under way, such as 1,8,32, or best: from 1 on twice as many while the "
        "rate grows by 5 %% (default: 1, as programs that read tables)",
        group="tests",
        brief="requests of each stream under way, such as 1,8,32, or best (default: 1)",
    )
    engine: Engine | None = option(
        None, "how fio makes its requests (default: psync for one request, libaio for more)"
    )
    curve: bool = switch(
        "latency at six rates below the device's best, for each test (with --depth best)", group="tests"
    )
    seconds: float = option(
        None, f"of each test (default: {DEFAULT_SECONDS:g})", default=DEFAULT_SECONDS, group="tests"
    )
    file_size: str = option(
        "SIZE",
        f"of the files of a test, of all its streams together (default: {DEFAULT_FILE_BYTES >> 30}GiB)",
        default=None,
        group="tests",
    )
    direct: Literal["yes", "no", "both"] = option(
        None,
        "past the page cache (default; buffered where the file system refuses), through it, or both",
        default="yes",
        group="tests",
    )
    content: Literal["incompressible", "dialled"] = option(
        None,
        "random bytes (default), or bytes of which zstd-1 saves 0.9, as of the input tables",
        default="incompressible",
    )
    precondition: bool = switch("write the files twice before any test")
    fill: str | None = option(
        "LIST",
        "make all tests with the file system filled up to these shares, such as 0.5,0.9",
        group="tests",
    )
    steady: bool = switch(
        f"go on until the rate varies by less than 5 %% over SECONDS, at most {STEADY_BOUND} times as long",
        group="tests",
    )
    output: str = option(
        "FILE", f"where the results are kept (default: ./{PROBE})", default=PROBE, group="result"
    )
    run: str | None = option("RUN", "put the results into a run folder, too, for its reports", group="result")
    runs: str | None = RUNS
    stored: str | None = option("FILE", "probe nothing: show a kept probe, or give it to --run", name="from")
    system: str | None = option(
        "FILE",
        "write what was found, with this machine's cores and memory, as a system for mawl simulate",
        group="result",
    )
    json: bool = switch("print one JSON object", group="result")
    fail_on: list[str] = fail_on("below-guideline")
    junit: str | None = JUNIT


def run(arguments: ProbeArguments) -> int:
    """Probe, keep, show; 1 where a target has a problem."""
    failing = Failing(arguments)
    chosen = settings()
    bounds = bounds_of(chosen)
    folder = locate(arguments.run, chosen.runs(arguments.runs)) if arguments.run else None
    described = OutputFile(arguments.system, "--system") if arguments.system else None
    results = load_probe(Path(arguments.stored)) if arguments.stored else _probe_places(arguments, chosen)
    if folder is not None and measured(results):
        write_probe(folder / PROBE, results)
        shown = f"mawl report {shlex.quote(str(folder))} --all"
        _say(f"put into the run; with what it asked of its devices: {shown}")
    if described is not None and measured(results):
        with described as file:
            _say(write_described(file, results))
    guidelines = probe_guidelines(results, bounds)
    print(_json(results, bounds) if arguments.json else terminal(parts(results, guidelines), width_for(None)))
    status = 1 if any(target.problem for target in results.targets) else 0
    return failing.status(checks_of_probe(guidelines), status) if failing.asked else status


def _probe_places(arguments: argparse.Namespace, chosen: Settings) -> Probe:
    tool = fio_version()
    machine = read_machine()
    choice = choice_of(arguments, machine.available_cores or 1)
    run_id = f"{PROBE_PREFIX}{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
    request = ProbeRequest(
        run_id=run_id,
        places=places_of(arguments, chosen),
        choice=choice,
        node=machine.name or "localhost",
        tool=tool,
        created_at=time.time(),
        cores=machine.available_cores,
        core_basis=machine.core_basis,
        environment={RUN_ID_VARIABLE: run_id},
    )
    output = ProbeOutput(arguments.output)
    _say(_announcement(request))
    try:
        results = probe(request, _say, output.keep)
    except KeyboardInterrupt:
        output.finish()
        kept = (
            f"{output.tests} finished tests are in {output.name}" if output.tests else "no test was finished"
        )
        raise InterruptedRunError(f"interrupted: {kept}") from None
    output.finish()
    _say(f"kept in {output.name}" if output.tests else f"not kept in {output.name}: no test gave figures")
    return results


def choice_of(arguments: argparse.Namespace, cores: int) -> ProbeChoice:
    """The tests that the options ask for.  Raises ``UsageError`` for what cannot be."""
    kinds = _words(arguments.patterns)
    for kind in kinds or []:
        if kind not in KINDS:
            raise UsageError(f"--patterns: expected {', '.join(KINDS)}, found {kind!r}")
    sizes = [_size(text) for text in _words(arguments.sizes) or []]
    streams = [_streams(text) for text in _words(arguments.streams) or []]
    depths = _depths(arguments)
    named = kinds or sizes or streams
    if arguments.full and named:
        raise UsageError("--full does not go with --patterns, --sizes or --streams", cure="leave one out")
    if not 1 <= arguments.seconds <= 86400:
        raise UsageError(f"--seconds {arguments.seconds:g}: expected 1 to 86400")
    shapes = (
        chosen_shapes(kinds, sizes, streams, cores=cores, direct=arguments.direct)
        if named
        else (full_shapes if arguments.full else default_shapes)(cores, arguments.direct)
    )
    choice = ProbeChoice(
        shapes=at_depths(shapes, depths or [1], arguments.engine),
        seeks_best=depths is None,
        curve=arguments.curve,
        seconds=arguments.seconds,
        file_bytes=DEFAULT_FILE_BYTES
        if arguments.file_size is None
        else _bytes("--file-size", arguments.file_size),
        content=arguments.content,
        precondition=arguments.precondition,
        fill_ratios=sorted(_ratio(text) for text in _words(arguments.fill) or []),
        steady=arguments.steady,
    )
    choice.check()
    return choice


def places_of(arguments: argparse.Namespace, chosen: Settings) -> list[ProbePlace]:
    """The roles that are named, all three where nothing is, and the candidates; each directory once."""
    given: dict[Role, list[str] | None] = {
        "data": arguments.data,
        "work": arguments.work,
        "util": arguments.util,
    }
    nothing = not arguments.directories and not any(given.values())
    places: dict[Path, ProbePlace] = {}
    for role in ROLES:
        if not (nothing or given[role]):
            continue
        for number, directory in enumerate(chosen.roles(given)[role]):
            path = directory.absolute()
            held = places.get(path) or ProbePlace(
                name=f"{role}-{number + 1}" if number else role, directory=path
            )
            places[path] = msgspec.structs.replace(held, roles=[*held.roles, role])
    for text in arguments.directories:
        path = Path(text).absolute()
        places.setdefault(path, ProbePlace(name=str(path), directory=path))
    return list(places.values())


def _announcement(request: ProbeRequest) -> str:
    choice = request.choice
    levels = max(len(choice.fill_ratios), 1)
    number = len(choice.shapes) * len(request.places) * levels
    seconds = number * choice.seconds
    most = f" to {format_seconds(number * choice.most_test_seconds)}" if choice.steady else ""
    if choice.seeks_best:
        most += ", and more while the rate grows with the depth"
    writes = any(shape.direction != "read" for shape in choice.shapes)
    rewritten = "; tests that write rewrite them for all of their time" if writes else ""
    return (
        f"{counted_noun(number, 'test')} of {choice.seconds:g} s on "
        f"{counted_noun(len(request.places), 'target')}: {format_seconds(seconds)}{most}, and the time to "
        f"write files of {format_memory(sum(choice.file_sizes()))} on each{rewritten}"
    )


def _say(text: str) -> None:
    print(f"probe: {text}", file=sys.stderr, flush=True)


def _json(results: Probe, bounds: AnswerBounds) -> str:
    plain = {**plain_probe(results), "guideline": probe_guidelines(results, bounds)}
    return json.render(PrintedProbe(**plain))


def _words(text: str | None) -> list[str] | None:
    return [word.strip() for word in text.split(",") if word.strip()] if text else None


def _bytes(option: str, text: str) -> int:
    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None


def _size(text: str) -> int:
    size = _bytes("--sizes", text)
    if size < 512 or size % 512 or size > 2**30:
        raise UsageError(f"--sizes: expected multiples of 512 bytes up to 1GiB, found {text}")
    return size


def _streams(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_STREAMS):
        raise UsageError(f"--streams: expected whole numbers from 1 to {MOST_STREAMS}, found {text!r}")
    return int(text)


def _depths(arguments: argparse.Namespace) -> list[int] | None:
    """The depths that were named; None for a search for the best."""
    words = _words(arguments.depth) or ["best" if arguments.curve else "1"]
    if words == ["best"]:
        return None
    if arguments.curve:
        raise UsageError("--curve goes with --depth best", cure="leave --depth out")
    for word in words:
        if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= MOST_DEPTH):
            raise UsageError(
                f"--depth: expected best, or whole numbers from 1 to {MOST_DEPTH}, found {word!r}"
            )
    return sorted({int(word) for word in words})


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= MOST_FILL_RATIO:
        raise UsageError(f"--fill: expected ratios above 0, up to {MOST_FILL_RATIO}, found {text!r}")
    return value


VERBS = {"probe": Verb(ProbeArguments, run, FAILING_EXIT_STATUS, grouped=True)}
