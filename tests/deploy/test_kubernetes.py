"""The manifests: valid in eight versions of Kubernetes, consistent, and with command lines that mawl has."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from mawl import open_run
from mawl.commands.verbs import build_parser
from mawl.measure.space import EPHEMERAL_VARIABLE

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
VERSIONS = [f"1.{minor}" for minor in range(30, 38)]
"""The eight newest that the package has; all of them have side-cars and generic ephemeral volumes."""

Thing = dict[str, Any]

SMALL = 'name = "one"\n[[sessions]]\nname = "a"\nstages = [["stress_projection"]]\n'


def things(file: Path) -> list[Thing]:
    """The objects of a manifest."""
    (whole,) = yaml.safe_load_all(file.read_text())
    assert (whole["apiVersion"], whole["kind"]) == ("v1", "List") and set(whole) == {
        "apiVersion",
        "kind",
        "items",
    }
    found: list[Thing] = whole["items"]
    return found


def pods(file: Path) -> Iterator[Thing]:
    """The specification of each pod that a manifest makes."""
    for thing in things(file):
        if "template" in thing.get("spec", {}):
            yield thing["spec"]["template"]["spec"]


def containers(pod: Thing) -> list[Thing]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def test_the_five_cases_are_there_and_the_guide_names_the_versions() -> None:
    assert [file.stem for file in FILES] == ["classes", "cluster", "qualify", "run", "serve"]
    guide = (FOLDER.parents[1] / "docs" / "guides" / "kubernetes.md").read_text()
    assert f"schemas of Kubernetes {VERSIONS[0]} to {VERSIONS[-1]}," in guide


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_object_is_valid(file: Path, version: str) -> None:
    for thing in things(file):
        assert kubernetes_validate.validate(thing, version, strict=True) == version


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("spec", "backofLimit"), 0),
        (("spec", "template", "spec", "restartPolicy"), 1),
        (("spec", "completions"), "many"),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: tuple[str, ...], wrong: object) -> None:
    (job,) = [thing for thing in things(FOLDER / "run.yaml") if thing["kind"] == "Job"]
    place = job
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = wrong
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, VERSIONS[0], strict=True)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_values_are_at_the_top_and_each_is_used(file: Path) -> None:
    first = things(file)[0]
    assert first["kind"] == "ConfigMap"
    top, _, rest = file.read_text().partition("\n\n")
    names = re.findall(r"^ +([a-z-]+): &(\S+) ", top, re.MULTILINE)
    assert {name for name, _ in names} == set(first["data"]) and all(name == anchor for name, anchor in names)
    for _, anchor in names:
        assert re.search(rf"\*{anchor}\b", rest), f"{anchor} is used nowhere"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_pods_meet_the_restricted_security_standard(file: Path) -> None:
    """Kubernetes documentation, Pod Security Standards, Restricted."""
    for pod in pods(file):
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in containers(pod):
            security = container["securityContext"]
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert not security["allowPrivilegeEscalation"] and security["readOnlyRootFilesystem"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_mounts_have_their_volumes_and_volumes_their_claims(file: Path) -> None:
    claims = {thing["metadata"]["name"] for thing in things(file) if thing["kind"] == "PersistentVolumeClaim"}
    for pod in pods(file):
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        mounted = {mount["name"] for container in containers(pod) for mount in container["volumeMounts"]}
        assert mounted == set(volumes)
        named = {
            volume["persistentVolumeClaim"]["claimName"]
            for volume in volumes.values()
            if "persistentVolumeClaim" in volume
        }
        assert named <= claims | ({"mawl-runs"} if file.stem == "serve" else set())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_jobs_may_use_is_whole_processors_and_known_inside(file: Path) -> None:
    for pod in pods(file):
        for container in containers(pod):
            if (
                not {"doctor", "run", "qualify", "worker"} & set(container["args"])
                or "--cluster" in container["args"]
            ):
                continue
            resources = container["resources"]
            assert resources["limits"] == resources["requests"], "guaranteed quality of service"
            assert resources["limits"]["cpu"].isdigit()
            (handed,) = [one for one in container["env"] if one["name"] == EPHEMERAL_VARIABLE]
            assert handed["valueFrom"] == {"resourceFieldRef": {"resource": "limits.ephemeral-storage"}}
            assert resources["limits"]["ephemeral-storage"].endswith("Gi")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_command_lines_are_mawls(file: Path) -> None:
    seen = 0
    for pod in pods(file):
        for container in containers(pod):
            if "command" not in container:
                build_parser().parse_args(container["args"])
                seen += 1
    assert seen


def test_workers_are_one_a_node_and_as_many_as_the_run_waits_for() -> None:
    by_kind = {thing["kind"]: thing for thing in things(FOLDER / "cluster.yaml")}
    workers, values = by_kind["StatefulSet"]["spec"], things(FOLDER / "cluster.yaml")[0]["data"]
    assert workers["replicas"] == int(values["nodes"])
    labels = workers["template"]["metadata"]["labels"]
    pod = workers["template"]["spec"]
    (apart,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"]["matchLabels"].items() <= labels.items()
    job = by_kind["Job"]["spec"]["template"]["spec"]
    scheduler, wait = job["initContainers"]
    assert scheduler["restartPolicy"] == "Always" and "restartPolicy" not in wait
    compile(wait["args"][1], "wait", "exec")
    assert wait["args"][2] == values["nodes"]


def test_selectors_meet_their_pods() -> None:
    for file in FILES:
        labels = [
            thing["spec"]["template"]["metadata"]["labels"]
            for thing in things(file)
            if "template" in thing.get("spec", {})
        ]
        for thing in things(file):
            spec = thing.get("spec", {})
            selector = spec.get("podSelector", {}).get("matchLabels") or (
                spec.get("selector") if thing["kind"] == "Service" else None
            )
            if selector:
                assert any(selector.items() <= one.items() for one in labels), (
                    file.name,
                    thing["metadata"]["name"],
                )


def test_dask_has_the_settings_of_the_guide() -> None:
    guide = (FOLDER.parents[1] / "docs" / "guides" / "cluster.md").read_text()
    settings = things(FOLDER / "cluster.yaml")[1]["data"]
    told = dict(re.findall(r"(DASK_\w+)=(\w+)", guide.partition("## Under Slurm")[0]))
    assert settings == told


def test_a_shared_claim_is_written_by_many_nodes() -> None:
    (shared,) = [
        thing for thing in things(FOLDER / "cluster.yaml") if thing["metadata"]["name"] == "mawl-shared"
    ]
    assert shared["spec"]["accessModes"] == ["ReadWriteMany"]


@pytest.mark.lab
def test_the_commands_of_the_pods_run_together(tmp_path: Path) -> None:
    """The containers of cluster.yaml as processes of this machine, in the order in which pods start them."""
    by_kind = {thing["kind"]: thing for thing in things(FOLDER / "cluster.yaml")}
    (worker,) = by_kind["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    job = by_kind["Job"]["spec"]["template"]["spec"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = things(FOLDER / "cluster.yaml")[1]["data"]

    def command(container: Thing, pod: str) -> list[str]:
        words = [*container.get("command", ["mawl"]), *container["args"]]
        changes = {
            "$(POD_NAME)": pod,
            "$(POD_IP)": "127.0.0.1",
            "mawl-scheduler": "127.0.0.1",
            "8786": str(port),
            "/shared": str(tmp_path / "shared"),
        }
        for old, new in changes.items():
            words = [word.replace(old, new) for word in words]
        values = things(FOLDER / "cluster.yaml")[0]["data"]
        small = {values["workload"]: "one.toml", values["scale"]: "0.00005", values["nodes"]: "2"}
        return [small.get(word, word) for word in words]

    def environment(folder: str) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        (tmp_path / folder).mkdir(exist_ok=True)
        return {
            **os.environ,
            **settings,
            "PATH": path,
            "MAWL_RUNS": str(tmp_path / "runs"),
            "MAWL_HTML": "no",
        }

    environment("scheduler")
    (tmp_path / "scheduler" / "one.toml").write_text(SMALL)
    started = []
    try:
        scheduler, wait = job["initContainers"]
        for container, pod in (
            (scheduler, "scheduler"),
            (worker, "mawl-worker-0"),
            (worker, "mawl-worker-1"),
        ):
            variables = environment(pod)
            with open(tmp_path / f"{pod}.log", "w") as log:
                started.append(
                    subprocess.Popen(
                        command(container, pod), cwd=tmp_path / pod, env=variables, stdout=log, stderr=log
                    )
                )
        for container in (wait, *job["containers"]):
            words, variables = command(container, "scheduler"), environment("scheduler")
            done = subprocess.run(
                words, cwd=tmp_path / "scheduler", env=variables, capture_output=True, text=True, timeout=240
            )
            assert done.returncode == 0, done.stderr + done.stdout
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=60)
    facts = open_run("latest", tmp_path / "runs").facts
    assert (facts.outcome, [node.name for node in facts.nodes]) == (
        "completed",
        ["mawl-worker-0", "mawl-worker-1"],
    )
