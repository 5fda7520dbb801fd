"""``mawl probe --system FILE``: the machine that was probed, as a system description."""

from __future__ import annotations

from mawl.errors import UsageError
from mawl.measure.machine import read_machine
from mawl.model.probe import Probe
from mawl.simulation.probed import probed_system
from mawl.simulation.system_file import system_toml
from mawl.store.output import OutputFile

HEAD = "A system for mawl simulate, written by mawl probe; every figure may be changed by hand."


def write_described(file: OutputFile, found: Probe) -> str:
    """Write the description; what there is to say about it, for the user.

    Memory and threads per core are this machine's: a probe of another node is refused
    (:class:`~mawl.errors.UsageError`).
    """
    machine = read_machine()
    nodes = {target.node for target in found.targets}
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
    system, remarks = probed_system(found, name=here, memory_bytes=memory, threads_per_core=threads)
    file.write(system_toml(system, head="\n".join([HEAD, *remarks])).encode())
    return f"system description in {file.name}" + "".join(f"; {remark}" for remark in remarks)
