"""Hostile files for the verbs that take a stranger's: made of honest ones, from a seed."""

from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
from pathlib import Path
from random import Random

import msgspec

from mawl.archive.container import MANIFEST, read_member, read_members, write_pack
from mawl.archive.manifest import MemberSum, decode_manifest, encode_manifest
from mawl.archive.packing import PackRequest, pack
from mawl.plan.workload import SHIPPED
from mawl.records.store.side_files import write_probe
from mawl.tuning.profile_files import SHIPPED as TUNING
from tests.fakes.probes import disk, probe
from tests.fakes.published_run import write_published
from tests.fuzz.bases import SYSTEM
from tests.fuzz.cases import Case
from tests.fuzz.hostile_texts import JSON, LOG, PARQUET, TOML, ZIP, Made
from tests.importers.recordings import RECORDED
from tests.importers.test_import import EIGHT, log

TABLES = ("jobs", "steps", "events", "samples")
REPORTS = ("text", "json", "html", "csv", "markdown")

DERIVED = """{"format": 1, "tables": [{"name": "a.b", "size_bytes": 4096}], "jobs": [{"name": "load",
 "session": "one", "steps": [{"name": "s1", "procedure": "SORT", "kernel": "sort",
 "cpu_seconds": 0.1, "memory_bytes": 1000, "tables": ["a.b"],
 "data": {"read_bytes": 4096, "written_bytes": 0}}]}]}"""


def write_honest(folder: Path) -> Path:
    """The files that hostile ones are made of."""
    folder.mkdir(parents=True)
    write_published(folder / "run")
    write_probe(folder / "probe.json", probe(disk()))
    with contextlib.redirect_stdout(io.StringIO()):
        pack(PackRequest(folder=folder / "run"), folder / "run.mawl.zip")
    shutil.copy(SHIPPED / "starter.toml", folder / "workload.toml")
    shutil.copy(TUNING / "volumes.toml", folder / "tuning.toml")
    (folder / "system.toml").write_text(SYSTEM)
    (folder / "derived.json").write_text(DERIVED)
    (folder / "job.log").write_text(log(EIGHT, 10))
    for name in ("sadf.json", "iostat.json", "linux.nmon"):
        shutil.copy(RECORDED / name, folder / name)
    return folder


def repacked(content: Path, name: str, changed: bytes, target: Path) -> None:
    """The pack with another content of a member, and the sums that belong to it."""
    members = {one.name: read_member(content, one, 2**30) for one in read_members(content)}
    members[name] = changed
    if name != MANIFEST:
        sums = {
            one: MemberSum(bytes=len(part), sha256=hashlib.sha256(part).hexdigest())
            for one, part in members.items()
            if one != MANIFEST
        }
        manifest = decode_manifest(members[MANIFEST], name)
        members[MANIFEST] = encode_manifest(msgspec.structs.replace(manifest, members=sums))
    with target.open("wb") as file:
        write_pack(file, members)


def make_hostile(number: int, seed: int, honest: Path, place: Path) -> Case:
    """A case whose files lie below ``place``, in place of those of another."""
    random = Random(f"{seed} {number}")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    form = ("TOML", "JSON", "zip", "table", "TOML", "JSON", "zip", "log")[number % 8]
    make = {"TOML": _toml, "JSON": _json, "zip": _zip, "table": _table, "log": _log}[form]
    return Case(number, *make(random, honest, place), changes=[])


def _made(kinds: dict[str, Made], random: Random, content: bytes) -> tuple[str, bytes]:
    kind = random.choice(list(kinds))
    return kind, kinds[kind](random, content)


def _toml(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    name = random.choice(("workload", "workload", "tuning", "system", "plan", "settings"))
    if name == "plan":
        return _in_run(random, honest, place, "plan.toml", TOML)
    source = honest / f"{name}.toml"
    content = (
        b'scale = 0.1\nseed = 3\n[roles]\ndata = ["/tmp"]\n' if name == "settings" else source.read_bytes()
    )
    kind, changed = _made(TOML, random, content)
    file = place / ("mawl.toml" if name == "settings" else f"{name}.toml")
    file.write_bytes(changed)
    run = str(honest / "run")
    words = {
        "workload": ["plan", str(file), f"--data={place}/data"],
        "tuning": random.choice(
            (["tune", "show", str(file)], ["tune", "check", run, "--profile", str(file)])
        ),
        "system": ["simulate", run, "--anyway", "--system", str(file)],
        "settings": ["plan", "nano"],
    }[name]
    return f"TOML {kind}", words


def _json(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    name = random.choice(("run.json", "run.json", "manifest", "summary", "probe", "derived", "recording"))
    if name == "run.json":
        return _in_run(random, honest, place, name, JSON)
    if name in ("manifest", "summary"):
        member = (
            MANIFEST if name == "manifest" else f"printed/run/{random.choice(('summary', 'contents'))}.json"
        )
        return _in_pack(random, honest, place, member, JSON)
    if name == "recording":
        source = random.choice(("sadf.json", "iostat.json", "linux.nmon"))
        kind, changed = _made(JSON, random, (honest / source).read_bytes())
        (place / source).write_bytes(changed)
        return f"JSON {kind}", ["import", str(place / source), f"--output={place}/made"]
    kind, changed = _made(JSON, random, (honest / f"{name}.json").read_bytes())
    (place / f"{name}.json").write_bytes(changed)
    if name == "probe":
        return f"JSON {kind}", ["placement", str(honest / "run"), str(place / "probe.json")]
    (place / "w.toml").write_text(
        'name = "w"\nderived = "derived.json"\n[[sessions]]\nname = "one"\nstages = [["load"]]\n'
    )
    return f"JSON {kind}", ["plan", str(place / "w.toml"), f"--data={place}/data"]


def _zip(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    kind, changed = _made(ZIP, random, (honest / "run.mawl.zip").read_bytes())
    (place / "run.mawl.zip").write_bytes(changed)
    return kind, _of_pack(random, place)


def _table(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    return _in_run(random, honest, place, f"{random.choice(TABLES)}.parquet", PARQUET)


def _log(random: Random, honest: Path, place: Path) -> tuple[str, list[str]]:
    kind, changed = _made(LOG, random, (honest / "job.log").read_bytes())
    (place / "job.log").write_bytes(changed)
    verb = random.choice((["import"], ["derive"]))
    return kind, [*verb, str(place / "job.log"), f"--output={place}/made"]


def _in_run(
    random: Random, honest: Path, place: Path, name: str, kinds: dict[str, Made]
) -> tuple[str, list[str]]:
    """A changed file of a run, in its folder or in a pack of it."""
    if random.random() < 0.5:
        return _in_pack(random, honest, place, f"runs/run/{name}", kinds)
    kind, changed = _made(kinds, random, (honest / "run" / name).read_bytes())
    shutil.copytree(honest / "run", place / "run")
    (place / "run" / name).write_bytes(changed)
    run = str(place / "run")
    words = random.choice(
        (
            ["validate", run],
            ["compare", run, str(honest / "run"), "--anyway"],
            ["simulate", run, "--anyway"],
            *(["report", run, f"--format={form}"] for form in REPORTS),
        )
    )
    return f"{name.partition('.')[2].upper()} {kind}" if kinds is not PARQUET else kind, words


def _in_pack(
    random: Random, honest: Path, place: Path, member: str, kinds: dict[str, Made]
) -> tuple[str, list[str]]:
    source = honest / "run.mawl.zip"
    content = next(read_member(source, one, 2**30) for one in read_members(source) if one.name == member)
    kind, changed = _made(kinds, random, content)
    repacked(source, member, changed, place / "run.mawl.zip")
    return kind if kinds is PARQUET else f"{'TOML' if kinds is TOML else 'JSON'} {kind}", _of_pack(
        random, place
    )


def _of_pack(random: Random, place: Path) -> list[str]:
    file = str(place / "run.mawl.zip")
    return random.choice((["validate", file], ["publish", file, f"--output={place}/site"]))
