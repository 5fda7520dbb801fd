"""A drawn shop whose steps read tables with filters, and its logs as SAS would have written them."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from mawl.importers.formats.saslog_write import job_log
from mawl.records.store import Run
from tests.derive.oracle import Noted
from tests.fakes import filtered_programs
from tools.filtered_reads import Kept

SESSIONS = 3
STAGES = 4
"""A session's first job loads a table, the others read it and those of all sessions."""

STEPS = 6
SHARED = 3
"""Tables that were there before the night: a step reads the first one whole, and the last one never."""

LEAST_SPILL_BYTES = 30_000_000
"""Of a table that a sort with little memory reads: what passes is more than the step holds."""

WIDTHS = (3, 12)
"""Variables of a table."""


def drawn(
    seed: int, data: Path, *, rows: tuple[int, int] = (200_000, 600_000), cpu_seconds: float = 0.0
) -> dict[str, Any]:
    """The jobs of a shop, with at least 60 steps."""
    draw = Random(seed)
    jobs, sizes = [], {f"BANK.T{number}": _size(draw, rows) for number in range(SHARED)}
    for session in range(SESSIONS):
        own = f"BANK.L{session}"
        sizes[own] = _size(draw, rows)
        for stage in range(STAGES):
            made: list[str] = []
            steps = []
            if stage == 0:
                steps.append(_load(draw, own, sizes[own]))
            if (session, stage) == (0, 1):
                steps.append({"does": "summary", "procedure": "MEANS", "table": "BANK.T0", "out": "WORK.SUM"})
            while len(steps) < STEPS:
                out = f"WORK.W{len(steps)}"
                known = [own, *(f"BANK.T{number}" for number in range(SHARED))]
                step = _step(draw, draw.choice(known), sizes, made, out)
                made += [out] if step["does"] in ("copy", "sort", "spill") else []
                steps.append({**step, "cpu_seconds": cpu_seconds})
            jobs.append({"name": f"shop{session}{stage}", "session": session, "steps": steps})
    shared = {
        name: {"rows": size[0], "variables": size[1], "seed": number}
        for number, (name, size) in enumerate(sizes.items())
        if name.startswith("BANK.T")
    }
    return {"data": str(data), "jobs": jobs, "shared": shared}


def _size(draw: Random, rows: tuple[int, int]) -> tuple[int, int]:
    return draw.randint(*rows), draw.randint(*WIDTHS)


def _load(draw: Random, table: str, size: tuple[int, int]) -> dict[str, Any]:
    found = {"does": "load", "procedure": "DATA", "out": table, "seed": draw.randrange(1000)}
    return {**found, "rows": size[0], "variables": size[1]}


def _step(
    draw: Random, table: str, sizes: dict[str, tuple[int, int]], made: list[str], out: str
) -> dict[str, Any]:
    rows, variables = sizes[table]
    plain: dict[str, Any] = {"table": table, "out": out, "variables": variables}
    ratio = draw.choice((0.001, 0.01, draw.uniform(0.02, 0.2), draw.uniform(0.2, 0.9)))
    where = {**plain, "ratio": round(ratio, 3)}
    kinds: list[dict[str, Any]] = [
        {**where, "does": "copy", "procedure": "DATA"},
        {**where, "does": "sort", "procedure": "SORT"},
        {**where, "does": "summary", "procedure": draw.choice(("MEANS", "SUMMARY", "FREQ"))},
        {**where, "does": "engine", "procedure": "DATA"},
        {**where, "does": "query", "procedure": "SQL"},
        {**plain, "does": "copy", "procedure": "DATA", "rows": int(rows * draw.uniform(0.1, 0.6))},
        {**plain, "does": "copy", "procedure": "DATA", "first": int(rows * draw.uniform(0.3, 0.8))},
        {**plain, "does": "copy", "procedure": "DATA", **_by_index(draw, rows)},
        {**plain, "does": "summary", "procedure": "MEANS"},
    ]
    if rows * variables * 8 >= LEAST_SPILL_BYTES:
        kinds.append(
            {**plain, "does": "spill", "procedure": "SORT", "ratio": round(draw.uniform(0.7, 0.9), 3)}
        )
    if made:
        kinds.append({**where, "does": "merge", "procedure": "DATA", "with": draw.choice(made)})
        kinds.append({**where, "does": "copy", "procedure": "DATA", "table": draw.choice(made)})
    return draw.choice(kinds)


def _by_index(draw: Random, rows: int) -> dict[str, Any]:
    start = int(rows * draw.uniform(0.0, 0.6))
    return {"index": draw.choice(("noted", "silent")), "from": start, "to": start + rows // 5}


def write_shop(spec: dict[str, Any], folder: Path) -> Path:
    """The workload file, with the programs beside it, and the tables that were there before."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.json").write_text(json.dumps(spec))
    shutil.copy(filtered_programs.__file__, folder / "filtered_programs.py")
    for session in range(SESSIONS):
        bank = Path(spec["data"], "bank", str(session))
        bank.mkdir(parents=True)
        for name, table in spec["shared"].items():
            path = bank / f"{name.split('.')[1]}.parquet"
            filtered_programs.write(path, filtered_programs.made(**table))
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    lines = ['name = "filtered"', "scale = 0.0005"]
    for session in range(SESSIONS):
        names = [
            f'[{{ program = "filtered_programs:Job{number}" }}]'
            for number, job in enumerate(spec["jobs"])
            if job["session"] == session
        ]
        lines += ["[[sessions]]", f'name = "s{session}"', f"stages = [{', '.join(names)}]"]
    path = folder / "filtered.toml"
    path.write_text("\n".join(lines))
    return path


def is_filtered(step: dict[str, Any]) -> bool:
    """Whether the log of a step has a WHERE, or would have one if SAS wrote notes on what SQL reads."""
    return "ratio" in step or "index" in step


def keep(line: Kept) -> None:
    """Add a line to the file that ``MAWL_TEST_FILTERS`` names, from which the reference page is printed."""
    if path := os.environ.get("MAWL_TEST_FILTERS"):
        with Path(path).open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


def _kept(folder: Path, job: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "notes" / f"{job}.json").read_text())
    return found


def kernel_read_bytes(run: Run, folder: Path) -> dict[tuple[str, int], int]:
    """What each step read by system calls, as the kernel counts it, by derived job and place."""
    return {
        (f"{job.program}.1", number): size
        for job in run.job_records()
        for number, size in enumerate(_kept(folder, job.job)["kernel_read_bytes"])
    }


def sas_log(run: Run, folder: Path, noted: Noted | None = None) -> str:
    """The logs of all jobs with the notes that they left in ``folder``, and no other."""
    steps = run.steps_by_job()
    platforms = {node.name: node.kernel for node in run.facts.nodes}
    texts = []
    for job in run.job_records():
        notes = _kept(folder, job.job)["notes"]
        shown = [
            msgspec.structs.replace(step, io=None, usage=step.usage if noted is None else noted(step.usage))
            for step in steps[job.job]
            if step.kind in ("data", "procedure")
        ]
        text = job_log(job, shown, platform=platforms.get(job.node))
        begin, *blocks = re.split(r"(?m)^(?=NOTE: (?:DATA statement|PROCEDURE \w+) used)", text)
        text = begin + "".join(above + one for above, one in zip(notes, blocks, strict=True))
        texts.append(re.sub(r"(?m)^NOTE: PROCEDURE S[0-9]+_", "NOTE: PROCEDURE ", text))
    return "\n".join(texts)
