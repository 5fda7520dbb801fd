"""Write the shipped workloads that come from a rule: mixed20, mixed30, mixed30-19.

``python -m tools.workloads`` writes them; ``--check`` writes nothing and names the files that the
rule of ``mawl.plan.mix`` and the programs' declarations no longer agree with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

from mawl.plan.mix import LEFT_OUT, mixed, mixed30_19
from mawl.plan.spec import JobSpec, WorkloadSpec
from mawl.plan.workload import SHIPPED

LAYOUT = """\
The numbers are those of published studies; the layout into sessions is ours, by the rule of
docs/design/workloads.md.  Written by tools/workloads.py (make reference); do not edit.
"""

RULED: dict[str, tuple[str, Callable[[], WorkloadSpec]]] = {
    "mixed20": (
        "All twenty programs: 20 sessions, 71 jobs, 35 released together; --sessions N scales it.",
        lambda: mixed(20),
    ),
    "mixed30": (
        "All twenty programs: 30 sessions, 101 jobs, 55 released together.",
        lambda: mixed(30, "mixed30"),
    ),
    "mixed30-19": (
        "Nineteen programs, seven of them I/O: 30 sessions, 102 jobs, 55 released together (ours).\n"
        f"Left out is {LEFT_OUT}, whose work is nearest to another program's (census_load).",
        mixed30_19,
    ),
}


def text_of(head: str, spec: WorkloadSpec) -> str:
    """A workload of plain jobs as TOML, a stage a line."""
    lines = [f"# {line}" for line in (head + "\n" + LAYOUT).splitlines()]
    lines += [f"name = {json.dumps(spec.name)}", f"title = {json.dumps(spec.title)}"]
    for session in spec.sessions:
        lines += ["", "[[sessions]]", f"name = {json.dumps(session.name)}", "stages = ["]
        lines += [f"  [{', '.join(_job(job) for job in stage)}]," for stage in session.stages]
        lines += ["]"]
    return "\n".join(lines) + "\n"


def _job(job: str | JobSpec) -> str:
    if isinstance(job, str):
        return json.dumps(job)
    return f"{{ program = {json.dumps(job.program)}, trail_out = {json.dumps(job.trail_out)} }}"


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with ``--check`` compare them; 1 when one is stale."""
    stale = []
    for name, (head, make) in RULED.items():
        path, text = SHIPPED / f"{name}.toml", text_of(head, make())
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(path.name)
        if "--check" not in arguments:
            path.write_text(text)
    if "--check" in arguments and stale:
        print(
            f"workloads: no longer what the rule says: {', '.join(stale)}; run make reference",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
