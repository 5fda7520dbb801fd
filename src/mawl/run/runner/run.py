"""A run from beginning to end: folder, claims under the roles, restriction, launcher, loop, and the facts."""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from mawl.measure.accounting import ProcessSampler, own_usage
from mawl.measure.compressibility.volumes import RunCompressibility
from mawl.measure.control_groups import with_caps_after
from mawl.measure.host.collector import HostCollector
from mawl.measure.machine import read_machine
from mawl.measure.other_programs import OtherPrograms
from mawl.measure.space import with_space
from mawl.plan.derived_jobs import derived_of, encoded
from mawl.plan.output import plan_toml
from mawl.records.model.messages import LaunchMode
from mawl.records.model.records import RunOutcome, Usage
from mawl.records.model.run import OutsideCpu, Overhead, RunFacts
from mawl.records.store.files import library_key
from mawl.records.store.folder import RunWriter, unwritable
from mawl.records.volumes import Volumes
from mawl.run.launch.client import JobLauncher, Launcher, Launchers
from mawl.run.launch.setup import RUN_ID_VARIABLE, kill_run
from mawl.run.runner.counting import Counting, RoleSampling
from mawl.run.runner.facts import facts_before
from mawl.run.runner.job import JobLogs
from mawl.run.runner.loop import Interrupts, RunLoop
from mawl.run.runner.preparation import CleanStart, other_runs, prepare_cache
from mawl.run.runner.request import AT_ONCE, Listener, Opening, RunRequest
from mawl.run.runner.restrict import Restriction
from mawl.run.runner.sampling import HostSampling, Sampling

STANDARD_ERROR = 2


def run_plan(
    request: RunRequest,
    volumes: Volumes,
    listener: Listener,
    *,
    command: Sequence[str] = (),
    generate_seconds: float | None = None,
    generate_cpu_seconds: float = 0.0,
    runs: Path | None = None,
    opening: Opening = AT_ONCE,
) -> RunFacts:
    """Run a plan whose inputs exist; returns the final facts, which are in the folder too.

    ``generate_cpu_seconds`` is what this process used for making inputs, which is no overhead of the
    run; ``runs`` is the directory whose ``latest`` link shall point at the folder; ``opening`` says
    when the start gate may open.  Errors: those of making the folder, the claims and the restriction, before
    any job starts; afterwards only a run folder that can no longer be written (the jobs are stopped first).
    The outcome in the folder names the error, if the folder can still be written.
    """
    cache = prepare_cache(request, volumes)
    began = time.monotonic()
    _allow_many_files()
    machine = read_machine()
    node = request.node or machine.name or "localhost"
    facts = facts_before(request, volumes, machine, node, cache, command, generate_seconds)
    facts = _beside_others(facts, request, volumes, listener)
    writer = _writer(request, facts, runs)
    with writer, contextlib.ExitStack() as cleanup:
        cleanup.callback(volumes.release)
        volumes.claim(request.run_id, keeps_results=any(map(request.keeps_results, request.plan.jobs())))
        restriction = Restriction(request.run_id, request.spec.memory_limit_bytes)
        cleanup.callback(restriction.close)
        counting = _counting(request, volumes)
        cleanup.callback(counting.close)
        launcher = _launcher(request, restriction, counting)
        cleanup.callback(_end_launcher, launcher, request.run_id)
        collector = _collector(facts, restriction)
        cleanup.callback(collector.close)
        interrupts = cleanup.enter_context(Interrupts())
        sampling = _sampling(request, node, counting, volumes)
        clean = CleanStart(volumes, opening)
        host, logs = HostSampling(node, collector, writer, _devices(facts)), JobLogs(request.folder / "logs")
        loop = RunLoop(
            request,
            node=node,
            platform=machine.kernel,
            launcher=launcher,
            writer=writer,
            volumes=volumes,
            sampling=sampling,
            look_at_host=partial(_look, host, logs),
            listener=listener,
            interrupts=interrupts,
            opening=clean,
        )
        looking = _compressibility(request, volumes, cleanup)
        try:
            before = own_usage().charged_written_bytes
            loop.run()
            _last_look(host, loop)
            # Before the launcher is waited for: the kernel then adds what its jobs wrote.
            written = _written_since(before)
            dirty = {node: clean.at_end(restriction.written_bytes(_devices(facts)))}
            launcher_usage = _end_launcher(launcher, request.run_id)
            ended, outside = time.monotonic(), restriction.account()
            restriction.close()  # before the writer releases its lock: clean may remove the rest then
            facts = msgspec.structs.replace(
                _facts_after(facts, loop, began, ended),
                compressibility=looking.finish() if looking is not None else None,
                launcher=launcher_usage,
                outside_cpu=outside,
                dirty=dirty,
                overhead=_overhead(loop, launcher_usage, generate_cpu_seconds, written),
                missing=_missing_reasons(restriction, outside, counting, loop) | collector.reasons(),
                remarks=[*facts.remarks, *_remarks(request, volumes), *logs.remarks(), *host.remarks()],
            )
            writer.finish(facts)
        except OSError as error:
            raise unwritable(error, request.folder, _fate_of_jobs(loop)) from None
    return facts


def _written_since(before: int | None) -> int | None:
    """Bytes that this process wrote since it had written ``before``."""
    now = own_usage().charged_written_bytes
    return None if before is None or now is None else now - before


def _fate_of_jobs(loop: RunLoop) -> str:
    ended_well = "all jobs had ended, and what they recorded is kept"
    return ended_well if loop.progress.finished else "the jobs were stopped"


def _beside_others(facts: RunFacts, request: RunRequest, volumes: Volumes, listener: Listener) -> RunFacts:
    """The facts with a remark on other runs of mawl, of which people hear, too."""
    others = other_runs(_run_of_all_nodes(request), volumes)
    if others is None:
        return facts
    listener.notice(f"warning: {others}")
    return msgspec.structs.replace(facts, remarks=[*facts.remarks, others])


def _writer(request: RunRequest, facts: RunFacts, runs: Path | None) -> RunWriter:
    derived = derived_of(request.plan)
    # A node has no directory of runs, and its plan no values that its controller knew.
    named = any(job.command is not None and job.command.environment for job in request.plan.jobs())
    key = library_key(Path(request.spec.runs)) if named and request.node is None else None
    return RunWriter(
        request.folder,
        facts,
        plan=plan_toml(request.plan, request.spec, key=key),
        derived=b"" if derived is None else encoded(derived),
        runs=runs,
    )


def _remarks(request: RunRequest, volumes: Volumes) -> list[str]:
    """What stays below the roles, and the core speed that decided the CPU seconds of derived jobs."""
    if request.core_speed is None:
        return volumes.kept.remarks()
    speed = f"{request.core_speed:.2f}"
    return [
        *volumes.kept.remarks(),
        f"CPU seconds of derived jobs are those of cores of speed {speed}, where the reference core has 1",
    ]


def _compressibility(
    request: RunRequest, volumes: Volumes, cleanup: contextlib.ExitStack
) -> RunCompressibility | None:
    if not request.spec.compressibility:
        return None
    looking = RunCompressibility(volumes, request.plan, request.inputs.values())
    cleanup.callback(looking.close)
    return looking


def _counting(request: RunRequest, volumes: Volumes) -> Counting:
    return Counting(
        request.run_id,
        volumes.directories,
        request.folder,
        jobs=request.plan.peak_concurrent,
        uncached=request.spec.cache == "none",
    )


def _look(host: HostSampling, logs: JobLogs, now: float) -> None:
    host.look(now)
    logs.look()


def _run_of_all_nodes(request: RunRequest) -> str:
    """What the ids of a run have in common on all of its nodes, before the name of the node."""
    return request.run_id.removesuffix(f"-{request.node}")


def _sampling(request: RunRequest, node: str, counting: Counting, volumes: Volumes) -> Sampling:
    others = OtherPrograms(node, f"{RUN_ID_VARIABLE}={_run_of_all_nodes(request)}")
    return Sampling(node, ProcessSampler(), RoleSampling(counting), volumes.run_places(), others)


def _last_look(host: HostSampling, loop: RunLoop) -> None:
    host.look(time.time(), whole=True)
    if loop.released_at is not None:
        loop.sampling.others.look(last=True)


def _launcher(request: RunRequest, restriction: Restriction, counting: Counting) -> JobLauncher:
    def launcher(mode: LaunchMode, notices: int | None = STANDARD_ERROR) -> Launcher:
        return Launcher(
            mode,
            run_id=request.run_id,
            notices=notices,
            modules=() if mode == "bare" else _modules(request),
            cpus=request.cpus,
            log=request.folder / "logs" / "launcher.log",
            cgroups=restriction.groups,
            library=counting.library,
        )

    commands = {job.command is not None for job in request.plan.jobs()}
    if commands == {True}:
        return launcher("bare")
    return (
        launcher(request.spec.start)
        if True not in commands
        else Launchers(launcher(request.spec.start), launcher("bare", None))
    )


def _collector(facts: RunFacts, restriction: Restriction) -> HostCollector:
    return HostCollector(
        {layer for volume in facts.volumes for layer in volume.layers}, groups=restriction.groups
    )


def _devices(facts: RunFacts) -> set[str]:
    return {device for volume in facts.volumes for device in volume.devices}


def _missing_reasons(
    restriction: Restriction, outside: OutsideCpu | None, counting: Counting, loop: RunLoop
) -> dict[str, str]:
    missing = {}
    if (hidden := loop.sampling.others.hidden()) is not None:
        missing["other_programs"] = hidden
    if outside is None:
        missing["outside_cpu"] = restriction.reason or "the account was not readable"
    if counting.reason is not None:
        missing["io.by_role"] = f"not measured: {counting.reason}"
    if not loop.arrow_pools:
        missing["arrow_pool"] = "no program finished; the processes of a command do not say it"
    return missing


def _allow_many_files() -> None:
    """Raise the soft limit of open files: the sampler keeps a few for each process it watches."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))


def _modules(request: RunRequest) -> list[str]:
    """What the zygote imports: the libraries of the programs in this plan, each once, in order."""
    names: dict[str, None] = {}
    for program in {job.program: None for job in request.plan.jobs()}:
        names |= dict.fromkeys(request.programs[program].imports)
    return list(names)


def _end_launcher(launcher: JobLauncher, run_id: str) -> Usage:
    lost = launcher.lost is not None
    usage = launcher.close()
    if lost:
        kill_run(run_id)
    return usage


def _facts_after(facts: RunFacts, loop: RunLoop, began: float, ended: float) -> RunFacts:
    outcome, reason = _outcome(loop)
    startup = loop.released_monotonic - began if loop.released_monotonic is not None else None
    return msgspec.structs.replace(
        facts,
        outcome=outcome,
        outcome_reason=reason,
        ended_at=time.time(),
        other_programs=loop.sampling.others.programs(),
        arrow_pool=", ".join(sorted(loop.arrow_pools)) or None,
        volumes=with_caps_after(with_space(facts.volumes, after=True)),
        phases=msgspec.structs.replace(
            facts.phases,
            startup_seconds=startup,
            run_seconds=ended - began - startup if startup is not None else None,
        ),
    )


def _outcome(loop: RunLoop) -> tuple[RunOutcome, str | None]:
    if loop.interrupts.level:
        return "interrupted", f"stopped by {loop.interrupts.name}"
    if loop.lost is not None:
        return "failed", f"the launcher was lost: {loop.lost}"
    if loop.failed and loop.request.spec.on_failure == "abort":
        return "aborted", loop.progress.stopped
    if loop.failed:
        return "failed", f"{loop.failed} of {loop.ended} jobs did not finish"
    return "completed", None


def _overhead(loop: RunLoop, launcher: Usage, generate_cpu_seconds: float, written: int | None) -> Overhead:
    """CPU and memory of runner and launcher; the launcher's share of the start-up is its imports."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    hello = loop.hello.usage if loop.hello else Usage()
    early = loop.cpu_at_release
    startup = None if early is None else early - generate_cpu_seconds + (hello.cpu_seconds or 0.0)
    return Overhead(
        cpu_seconds=own.ru_utime + own.ru_stime - generate_cpu_seconds + (launcher.cpu_seconds or 0.0),
        startup_cpu_seconds=startup,
        peak_memory_bytes=own.ru_maxrss * 1024 + (launcher.os_memory_bytes or 0),
        written_bytes=written,
    )
