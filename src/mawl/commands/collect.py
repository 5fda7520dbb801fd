"""Join the run folder that a lost node kept to its run, once its host is back, with each job once.

The folder is fetched from the host as the run reached it (--ssh or --cluster), and removed there once the
copy is whole.  A folder that you copied by hand is taken with --from, and stays.  The run then has a new
outcome and, if it had a page, a new page.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mawl.base.errors import UsageError
from mawl.commands.arguments import NAMED_RUN, RUNS, settings
from mawl.commands.cluster_run import check_reach
from mawl.commands.reporting import HTML_REPORT
from mawl.commands.run_report import leave_page
from mawl.commands.verbs import Arguments, Verb, repeated
from mawl.records.spec.run_spec import NodesSpec
from mawl.records.store import open_run
from mawl.run.cluster.collect import collect, on_hosts
from mawl.run.cluster.node_access import NodeAccess, linked_to


class CollectArguments(Arguments):
    run: str = NAMED_RUN
    given: list[str] = repeated(
        "NODE=DIR", "the run folder of this node, copied here by hand; may be repeated", name="from"
    )
    runs: str | None = RUNS


def run(arguments: CollectArguments) -> int:
    """Collect; 1 where the folder of a node did not come."""
    stored = open_run(arguments.run, settings().runs(arguments.runs))
    given = folders_of(arguments.given)
    spec = stored.facts.spec
    nodes = spec.nodes if spec is not None and spec.nodes is not None else NodesSpec()
    left = {one.node for one in on_hosts(stored.facts) if one.left_behind}
    if left - given.keys():
        check_reach(nodes)
    found = collect(stored.path, partial(linked_to, NodeAccess.of(nodes)), given)
    if found.joined and (stored.path / HTML_REPORT).exists():
        leave_page(stored.path)
    facts = open_run(stored.path).facts
    for one in on_hosts(facts):
        if one.node in found.joined:
            print(f"{one.node}: its run folder joined the run ({one.reason or one.outcome})")
        if one.node in found.stayed:
            print(f"{one.node}: its folder there stays: mawl clean --node-runs DIR removes it on that host")
        if one.node in found.failed:
            print(f"{one.node}: not collected: {found.failed[one.node]}")
    print(f"{facts.run_id}: {facts.outcome}" if found.joined else "nothing was collected")
    return 1 if found.failed else 0


def folders_of(words: list[str]) -> dict[str, Path]:
    """The folders of ``--from``, by node; UsageError for a word that is none, or a node named twice."""
    found: dict[str, Path] = {}
    for word in words:
        node, _, place = word.partition("=")
        if not node or not place:
            raise UsageError(f"--from {word}: expected NODE=DIR, such as node2=copy")
        if node in found:
            raise UsageError(f"--from names {node} twice")
        found[node] = Path(place)
    return found


VERBS = {"collect": Verb(CollectArguments, run)}
