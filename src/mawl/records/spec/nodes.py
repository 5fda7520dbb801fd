"""What a run on several nodes is asked to be: the part of ``RunSpec`` about nodes; hosts over ssh."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.spec.forms import (
    MOST_NODES,
    Choice,
    DevicePairs,
    Form,
    Number,
    Option,
    Pairs,
    Rate,
    Several,
    Switch,
    Whole,
)
from mawl.records.spec.program_options import ROLES, OnLostNode, Role

_RANGES = re.compile(r"\[([^\[\]]*)\]")
_APART = re.compile(r",(?![^\[]*\])")
_EXAMPLE = "hosts as ssh knows them, such as a,b or node[01-64]"


class HostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What differs on one host; None: as on all."""

    python: str | None = None
    data: tuple[str, ...] | None = None
    work: tuple[str, ...] | None = None
    util: tuple[str, ...] | None = None
    node_runs: str | None = None

    def places(self, of_all: Mapping[Role, Sequence[str]]) -> dict[Role, tuple[str, ...]]:
        """The directories of the roles there."""
        return {role: getattr(self, role) or tuple(of_all[role]) for role in ROLES}


AS_ON_ALL = HostSettings()


class Hosts(Form):
    """Hosts with commas between them; ``node[01-64]`` and ``node[1,3-5]`` stand for several."""

    def read(self, given: Any, name: str) -> tuple[str, ...]:
        found = tuple(host for part in _APART.split(given) if part for host in expanded(part, name))
        self.check(found, name)
        return found

    def check(self, value: Any, name: str) -> None:
        if not value:
            raise UsageError(f"{name} names no host", cure=f"give {_EXAMPLE}")
        check_once(value, name)

    def words(self, value: Any) -> list[str]:
        return [",".join(value)]


def expanded(text: str, name: str) -> list[str]:
    """The hosts that a word stands for; each bracket holds numbers and ranges, with leading zeros or not."""
    bracket = _RANGES.search(text)
    if bracket is None:
        if set(text) & set("[]"):
            raise UsageError(f"{name}: {text!r} is no host", cure=f"give {_EXAMPLE}")
        return [text]
    before, after = text[: bracket.start()], text[bracket.end() :]
    found = [
        before + number + rest
        for part in bracket[1].split(",")
        for number in _numbers(part, name)
        for rest in expanded(after, name)
    ]
    if len(found) > MOST_NODES:
        raise UsageError(f"{name}: {text} stands for more than {MOST_NODES:,} hosts")
    return found


def _numbers(part: str, name: str) -> Iterable[str]:
    first, separator, last = part.partition("-")
    last = last if separator else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < int(first) + MOST_NODES):
        raise UsageError(f"{name}: [{part}] is no range", cure=f"give {_EXAMPLE}")
    return (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))


def check_once(hosts: Iterable[str], name: str) -> None:
    """UsageError for a host that is named twice."""
    seen: set[str] = set()
    for host in hosts:
        if host in seen:
            raise UsageError(f"{name} names {host} twice", cure="name each host once")
        seen.add(host)


def read_host_file(path: str) -> dict[str, HostSettings]:
    """The hosts of a file, one or a range in each line, with what differs there: ``node[1-8] python=FILE``.

    Several directories of a role have commas between them; ``#`` begins a comment.  InvalidFileError names
    the line.
    """
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError("the file of hosts cannot be read", where=path, why=why) from None
    found: dict[str, HostSettings] = {}
    for number, line in enumerate(lines, 1):
        where = f"{path}: line {number}"
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise InvalidFileError(str(error).lower(), where=where) from None
        if words:
            settings = _settings(words[1:], where)
            hosts = [host for part in _APART.split(words[0]) for host in expanded(part, where)]
            check_once([*found, *hosts], where)
            found |= dict.fromkeys(hosts, settings)
    if not found:
        raise InvalidFileError("names no host", where=path, cure="give one in each line")
    return found


def _settings(words: Sequence[str], where: str) -> HostSettings:
    given: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in HostSettings.__struct_fields__ or not value:
            expected = ", ".join(f"{field}=..." for field in HostSettings.__struct_fields__)
            raise InvalidFileError(f"{word!r} is no setting", where=where, cure=f"give {expected}")
        given[key] = tuple(value.split(",")) if key in ROLES else value
    return HostSettings(**given)


LEAST_NODE_TIMEOUT_SECONDS = 5.0


class NodesSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A run on several nodes: a cluster that is there (``cluster``), or hosts (``ssh``, ``hosts``)."""

    cluster: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="ADDRESS",
            help="run on every worker of a Dask cluster, each a node with the whole workload; ADDRESS is its "
            "scheduler's, such as tls://HOST:8786",
            group="nodes",
            brief="run on every worker of a Dask cluster",
        ),
    ] = None
    ssh: Annotated[
        tuple[str, ...],
        Option(
            form=Hosts(),
            metavar="HOST,...",
            help="run on these hosts, such as a,b or node[01-64]: mawl is started there over ssh, and all "
            "messages go through ssh",
            group="nodes",
            brief="run on these hosts; mawl is started there over ssh",
        ),
    ] = ()
    hosts: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="the same, from a file with a host or a range in each line, and behind it what differs "
            "there: python=FILE data=DIR work=DIR util=DIR node_runs=DIR",
        ),
    ] = None
    start_with_those_that_come: Annotated[
        bool,
        Option(
            form=Switch(),
            help="leave out hosts or workers that cannot be reached or used, and run on the others "
            "(default: start nothing)",
        ),
    ] = False
    on: Annotated[
        dict[str, str],
        Option(
            form=Pairs("NODE=WORKLOAD, such as node1=mixed20", twice="a node runs one workload"),
            metavar="NODE=WORKLOAD",
            help="run this workload on this node, and nothing on nodes that are not named; may be repeated",
        ),
    ] = {}
    nodes: Annotated[
        int | None,
        Option(
            form=Whole(1, MOST_NODES, of="nodes"),
            metavar="N",
            help="run on N nodes only, the first by their names (with --ssh: as they are named)",
        ),
    ] = None
    shared: Annotated[
        tuple[Role, ...],
        Option(
            form=Several(*ROLES, of="role", least=0),
            help="roles whose directories must be one file system on all nodes, checked before the start "
            "(default: data); without any, each node may have its own",
        ),
    ] = ("data",)
    storage_node: Annotated[
        dict[str, tuple[str, ...]],
        Option(
            form=DevicePairs(
                "NAME or NAME=DEVICE,..., such as server=sdb,sdc",
                twice="a storage node is named once, and has no --on",
            ),
            metavar="NAME[=DEVICE,...]",
            help="watch this host (with --ssh) or this worker's machine as the storage server: it runs no "
            "session, and what its block devices (all, or these) and its network did joins the run; may be "
            "repeated",
        ),
    ] = {}
    link_bytes_per_second: Annotated[
        float | None,
        Option(
            name="link",
            form=Rate(),
            metavar="RATE",
            help="what a node's link to the storage carries each way, such as 40Gbit or 5GB (a second): with "
            "a --storage-node the verdict tells network from storage by it",
        ),
    ] = None
    on_lost_node: Annotated[
        OnLostNode,
        Option(
            form=Choice("continue", "stop"),
            help="when a node dies, hangs or leaves the network: the others go on (default), or are stopped",
        ),
    ] = "continue"
    node_timeout_seconds: Annotated[
        float,
        Option(
            name="node_timeout",
            form=Number(
                LEAST_NODE_TIMEOUT_SECONDS,
                999_999.0,
                expected=f"a number of seconds from {LEAST_NODE_TIMEOUT_SECONDS:g}",
            ),
            metavar="SECONDS",
            help="a node that is silent for so long is lost; after half of it a node that hears nothing "
            "stops its jobs by itself (default: 30)",
        ),
    ] = 30.0
    node_runs: Annotated[
        str,
        Option(
            form=Form(),
            metavar="DIR",
            help="where a node keeps its run folder until it is copied, best on a local disk (default: "
            "mawl-node-runs where its worker was started; with --ssh in the home directory)",
        ),
    ] = "mawl-node-runs"
    remote_python: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="with --ssh: the Python there that has mawl installed (default: this one's path)",
        ),
    ] = None
    ssh_config: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="with --ssh: ssh reads this instead of your configuration (ssh -F)",
        ),
    ] = None
    insecure: Annotated[
        bool,
        Option(
            form=Switch(),
            help="with --cluster: accept a scheduler beyond this machine without encryption "
            "(tcp://HOST:8786): anyone who reaches it can run code on all nodes",
        ),
    ] = False
    tls_ca: Annotated[
        str | None,
        Option(form=Form(), metavar="FILE", help="with --cluster: the certificate authority, in PEM form"),
    ] = None
    tls_cert: Annotated[
        str | None, Option(form=Form(), metavar="FILE", help="with --cluster: the certificate, in PEM form")
    ] = None
    tls_key: Annotated[
        str | None, Option(form=Form(), metavar="FILE", help="with --cluster: the private key, in PEM form")
    ] = None

    @property
    def over_ssh(self) -> bool:
        return bool(self.ssh or self.hosts)
