"""Phases of computing and writing in SimGrid, for the Python that has it; prints the makespan in seconds.

Arguments: nodes, cores of each, bytes a second of the disk that all write to, and for each node a JSON list
of jobs, each a list of phases [CPU seconds, bytes].
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")

from simgrid import Actor, Engine, NetZone, this_actor  # type: ignore[import-not-found]  # noqa: E402

SPEED = 1e9


def job(phases, disk):  # type: ignore[no-untyped-def]
    """One job: its phases in a row."""
    for seconds, written in phases:
        if seconds:
            this_actor.execute(seconds * SPEED)
        if written:
            disk.write(int(written))


def main() -> None:
    """Build the platform, run the jobs, print the clock."""
    nodes, cores, rate = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    engine = Engine([sys.argv[0], "--log=root.thresh:critical"])
    zone = NetZone.create_full_zone("zone")
    hosts = [zone.create_host(f"node{number}", SPEED) for number in range(nodes)]
    for host in hosts:
        host.core_count = cores
    disk = hosts[0].create_disk("disk", f"{rate:.0f}Bps", f"{rate:.0f}Bps")
    disk.seal()
    for host in hosts:
        host.seal()
    zone.seal()
    for host in hosts:
        for number, phases in enumerate(json.loads(sys.argv[4])):
            Actor.create(f"job{number}", host, job, phases, disk)
    engine.run()
    sys.stdout.write(f"makespan {engine.clock}\n")


if __name__ == "__main__":
    main()
