"""The record of a run: complete, JSON and back, and the same from every place that options come from."""

from __future__ import annotations

import msgspec
import pytest

from mawl.base.errors import MawlError, UsageError
from mawl.commands.arguments import spec_of_arguments
from mawl.records.spec.program_options import MIB, Options
from mawl.records.spec.run_spec import NodesSpec, RunSpec, check
from mawl.records.spec.sources import OPTIONS, as_command, layer_of_command, layer_of_environment, spec_of
from tests.fakes.command_line import parsed

EVERYTHING = RunSpec(
    workload="nano.toml",
    runs="r",
    data=("d1", "d2"),
    work=("w",),
    util=("u",),
    scale="0.01",
    start="spawn",
    on_failure="abort",
    html=False,
    compressibility=True,
    cores="0,2-5",
    memory_limit_bytes=2**30,
    seed=7,
    saving=0.5,
    volume_order="free-space",
    options=Options(sortsize_bytes=64 * MIB, cpucount=2, fullstimer=False, direct="no"),
    timeout_seconds=2.5,
    cache="cold",
    drop_caches=True,
    keep_outputs=True,
    solo="stored",
    reference="own.toml",
    probe="p.json",
    output="o",
)
ON_NODES = RunSpec(
    nodes=NodesSpec(
        ssh=("a", "b", "c"),
        on={"a": "nano", "b": "bed"},
        shared=("data", "work"),
        storage_node={"c": ("sdb", "sdc"), "server": ()},
        link_bytes_per_second=5e9,
        on_lost_node="stop",
        node_timeout_seconds=9.0,
        node_runs="/fast",
        remote_python="/py",
        ssh_config="x",
        hosts="hosts.txt",
        start_with_those_that_come=True,
    ),
)
ON_A_CLUSTER = RunSpec(
    nodes=NodesSpec(cluster="tcp://x:1", nodes=2, insecure=True, tls_ca="ca", tls_cert="cert", tls_key="key")
)


def typed(*words: str) -> RunSpec:
    """What a command line asks, without settings."""
    return spec_of(layer_of_command(vars(parsed("run", *words))))


@pytest.mark.parametrize("spec", [RunSpec(), EVERYTHING, ON_NODES, ON_A_CLUSTER])
def test_what_is_shown_as_a_command_asks_the_same(spec: RunSpec) -> None:
    assert typed(*as_command(spec)[1:]) == spec


def test_no_option_is_left_out_of_these_tests() -> None:
    parts = (EVERYTHING, ON_NODES.nodes, ON_A_CLUSTER.nodes)
    changed = {
        name
        for part in parts
        if part is not None
        for name in part.__struct_fields__
        if getattr(part, name) != getattr(type(part)(), name)
    }
    assert set(OPTIONS) - changed == {"sessions", "arrivals", "processes", "usual_scale"}


@pytest.mark.parametrize("spec", [RunSpec(), EVERYTHING, ON_NODES, ON_A_CLUSTER])
def test_json_keeps_it_whole(spec: RunSpec) -> None:
    text = msgspec.json.encode(spec)
    assert msgspec.json.decode(text, type=RunSpec) == spec
    assert set(msgspec.json.decode(text)) == set(RunSpec.__struct_fields__), "defaults may change"


def test_the_environment_spells_an_option_by_its_name() -> None:
    variables = {"MAWL_MEMORY_LIMIT": "1GiB", "MAWL_WORK": "a:b", "MAWL_HTML": "no", "MAWL_SCALE": ""}
    assert layer_of_environment(variables).values == {
        "work": ("a", "b"),
        "html": False,
        "memory_limit_bytes": 2**30,
    }


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"MAWL_SEED": "one"}, "MAWL_SEED: expected a whole number from 0 to 4294967295, found 'one'"),
        ({"MAWL_START": "fork"}, "MAWL_START: expected zygote or spawn, found 'fork'"),
        ({"MAWL_MEMORY_LIMIT": "much"}, "MAWL_MEMORY_LIMIT: expected a size such as"),
        ({"MAWL_SAVING": "0.2"}, "MAWL_SAVING: expected a ratio from 0.3 to 0.95, found '0.2'"),
    ],
)
def test_what_a_variable_cannot_be_names_it(variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        layer_of_environment(variables)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--timeout", "0"], "--timeout 0: expected a number of seconds above 0"),
        (["--timeout", "soon"], "--timeout soon: expected a number of seconds above 0"),
        (["--timeout", "nan"], "--timeout nan: expected a number of seconds above 0"),
        (["--timeout", "inf"], "--timeout inf: expected a number of seconds above 0"),
        (["--seed", "-1"], "--seed -1: expected a whole number from 0"),
        (["--sessions", "501"], "--sessions 501: expected a whole number of sessions from 1 to 500"),
        (["--start", "fork"], "--start fork: expected zygote or spawn"),
        (["--option", "sortsize"], "--option sortsize: expected NAME=VALUE"),
        (["--option", "speed=1"], "--option: unknown option 'speed'"),
        (["--drop-caches"], "--drop-caches goes with --cache cold"),
        (["--work", "a", "a"], "--work names a twice"),
        (["--work", "a", "--util", "a"], "--work and --util name the same directory twice"),
        (["--work", "/"], "/: --work names a directory of the system"),
        (["--nodes", "2"], "--nodes goes with --cluster or --ssh"),
        (["--ssh", "a", "--nodes", "0"], "--nodes 0: expected a whole number of nodes from 1"),
        (["--ssh", "a", "--nodes", "1", "--on", "a=nano"], "--nodes does not go with --on"),
        (["--ssh", "a", "--storage-node", "a", "--on", "a=nano"], "a is named twice"),
        (["--ssh", "a", "--storage-node", "a="], "--storage-node a=: expected NAME or NAME=DEVICE"),
        (["--ssh", "a", "--storage-node", "a", "--storage-node", "a=sdb"], "--storage-node names a twice"),
        (["--ssh", "a", "--link", "fast"], "--link fast: expected a rate such as 40Gbit"),
        (["--ssh", "a", "--probe", "p.json"], "--probe does not go with a run on several nodes"),
        (["--ssh", ","], "--ssh names no host"),
    ],
)
def test_each_wrong_option_has_its_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        typed(*words)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (RunSpec(seed=-1), "--seed -1: expected"),
        (RunSpec(timeout_seconds=0.0), "--timeout 0: expected"),
        (RunSpec(work=()), "--work: expected at least one directory"),
        (RunSpec(drop_caches=True), "--drop-caches goes with"),
        (RunSpec(nodes=NodesSpec()), "a run on several nodes names none"),
        (RunSpec(nodes=NodesSpec(ssh=("a",), node_timeout_seconds=1.0)), "--node-timeout 1: expected"),
    ],
)
def test_a_spec_made_by_code_is_checked_alike(spec: RunSpec, sentence: str) -> None:
    with pytest.raises(MawlError) as error:
        check(spec)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("40Gbit", 5e9), ("40 Gbit/s", 5e9), ("320mbit", 4e7), ("5GB", 5e9), ("5MB/s", 5e6), ("8 kbps", 1e3)],
)
def test_a_link_is_a_rate_in_bits_or_bytes(text: str, rate: float) -> None:
    nodes = typed("--ssh", "a", "--link", text).nodes
    assert nodes is not None and nodes.link_bytes_per_second == rate


@pytest.mark.parametrize("text", ["fast", "0", "-1Gbit", "0Gbit"])
def test_what_is_no_rate_of_a_link_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--link"):
        typed("--ssh", "a", f"--link={text}")


def test_settings_lie_under_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAWL_CORES", "2")
    monkeypatch.setenv("MAWL_START", "spawn")
    spec = spec_of_arguments(parsed("run", "--cores", "1"))
    assert (spec.cores, spec.start) == ("1", "spawn")
