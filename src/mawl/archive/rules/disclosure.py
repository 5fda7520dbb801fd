"""V26 disclosure: the facts that a reader needs to repeat the run are known."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.model.run import RunFacts

_CURE = "run it on a kernel and with permissions that show it (mawl doctor)"


def _check(subject: ValidationSubject) -> Iterator[Fault]:
    for name, run in subject.runs.items():
        missing = list(undisclosed(run.run.facts))
        if missing:
            yield Fault(where=name, sentence=f"not known: {', '.join(missing)}", cure=_CURE)


def undisclosed(facts: RunFacts) -> Iterator[str]:
    """Facts that a published run has, and this one does not."""
    for node in facts.nodes:
        for field in ("kernel", "cpu_model", "cores", "core_basis", "memory_bytes"):
            if getattr(node, field) is None:
                yield f"{field} of {node.name}"
    if not facts.nodes:
        yield "the nodes"
    for volume in facts.volumes:
        for field in ("file_system", "source", "mount_point", "size_bytes"):
            if getattr(volume, field) is None:
                yield f"{field} of {volume.role}"
        if not volume.network and not volume.disks:
            yield f"disks of {volume.role}"
    roles = {volume.role for volume in facts.volumes}
    yield from (f"what holds {role}" for role in ("data", "work", "util") if role not in roles)
    for name in ("software", "settings", "command", "start_mode", "workload.options", "workload.seed"):
        value: object = facts
        for part in name.split("."):
            value = getattr(value, part)
        if value is None or value in ({}, []):
            yield name


RULE = ValidationRule(
    number=26,
    name="disclosure",
    title="What a reader needs to repeat the run is known",
    shows="Processor, cores, memory and kernel of each node, file system, size and disks of each role, "
    "software versions, kernel settings, options, seed and command are in run.json.",
    limits="Whether the disks are what they report: a virtual machine sees only what its host shows.",
    check=_check,
)
