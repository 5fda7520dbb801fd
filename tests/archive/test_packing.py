"""Packs: reproducible, redacted, signed; and the verbs over them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

import pytest

from mawl.archive.container import MANIFEST, read_member, read_members
from mawl.archive.manifest import decode_manifest
from mawl.archive.redaction import PrivateNames, private_names, redacted_folder
from mawl.commands.main import main
from mawl.records.model.node import IoCap
from mawl.records.model.records import SampleRecord
from mawl.records.model.run import VolumeFacts
from mawl.records.store import open_run
from mawl.records.store.side_files import write_arrays
from mawl.version import digest_of
from tests import needs
from tests.fakes.altered_packs import members_of, packed, with_new_manifest
from tests.fakes.altered_runs import array_statistics
from tests.fakes.published_run import STATEMENT, write_published, write_published_campaign
from tests.fakes.stored_run import START, facts, write_run

SSH = needs.program("ssh-keygen")
MINISIGN = needs.program("minisign")


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign whose runs pass every rule, and a statement beside it."""
    folder = tmp_path_factory.mktemp("packing")
    write_published_campaign(folder / "five")
    (folder / "statement.toml").write_text(STATEMENT)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the test's own, with one run."""
    monkeypatch.chdir(tmp_path)
    write_published(tmp_path / "one")
    return tmp_path


def text_of(path: Path) -> str:
    return b"\n".join(read_member(path, one, 2**30) for one in read_members(path)).decode(errors="replace")


def test_a_packed_campaign_is_accepted(
    five: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = tmp_path / "five.mawl.zip"
    words = ["pack", str(five / "five"), "--statement", str(five / "statement.toml"), "--output", str(pack)]
    assert main(words) == 0
    assert "(5 runs, " in capsys.readouterr().out
    assert main(["validate", str(pack)]) == 0
    said = capsys.readouterr().out
    assert "5 runs, closed division, submitted by Example Ltd" in said
    assert said.endswith("accepted: every rule is met\n")


def test_the_same_run_packs_to_the_same_bytes(here: Path) -> None:
    assert main(["pack", "one", "--output", "a.zip"]) == 0
    for path in Path(shutil.copytree("one", "elsewhere/one")).iterdir():
        path.touch()
    assert main(["pack", "elsewhere/one", "--output", "b.zip"]) == 0
    assert Path("a.zip").read_bytes() == Path("b.zip").read_bytes()


def test_json_and_junit_say_what_each_rule_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", "one"]) == 0
    capsys.readouterr()
    assert main(["validate", "one.mawl.zip", "--json", "--junit", "rules.xml"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["accepted"], found["intact"], found["division"]) == (False, True, "closed")
    states = {one["rule"]: one["state"] for one in found["rulings"]}
    assert (states["V02"], states["V03"], states["V25"], states["V27"]) == (
        "passed",
        "not asked",
        "failed",
        "failed",
    )
    root = ElementTree.parse("rules.xml").getroot()
    assert root.get("tests") == str(len(states)) and root.get("failures") == "2"


def test_names_of_control_groups_are_private_and_the_mounts_of_groups_are_not() -> None:
    groups = "/sys/fs/cgroup"
    cap = IoCap(device="sda", direction="read", bytes_per_second=1, file=f"{groups}/acme.slice/job-7/io.max")
    texts = [
        f"no cap: io.max of {groups}/blkio/secret and the groups above it up to {groups} names none",
        f"not known: {groups}/ours/io.max: permission denied",
        f"not known: {groups}/blkio/blkio.throttle.read_bps_device: permission denied",
    ]
    volumes = [
        VolumeFacts(role="data", node="bench1", directory="/mnt/x", caps=[cap]),
        *(VolumeFacts(role="work", node="bench1", directory="/mnt/x", caps_reason=text) for text in texts),
    ]
    names = private_names([facts(volumes=volumes)], ["paths"], user="nobody")
    shown = [names.replaced(text) for text in (cap.file, *texts)]
    assert not any(word in text for text in shown for word in ("acme", "job-7", "secret", "ours"))
    assert shown[0].endswith("/io.max") and "io.max: permission denied" in shown[2]
    assert shown[3] == texts[2]


def test_private_names_are_nowhere_in_a_redacted_pack(here: Path) -> None:
    assert main(["pack", "one", "--redact", "host,paths", "--output", "plain.zip"]) == 0
    said = text_of(Path("plain.zip"))
    assert "bench1" not in said and "/mnt/data" not in said
    assert "host-" in said and "/redacted/place-" in said
    assert main(["validate", "plain.zip"]) == 1
    manifest = decode_manifest(members_of(Path("plain.zip"))[MANIFEST], "")
    assert manifest.redacted == ["host", "paths"]


def test_a_redacted_campaign_is_accepted_and_names_nobody(five: Path, tmp_path: Path) -> None:
    pack = tmp_path / "five.mawl.zip"
    words = ["pack", str(five / "five"), "--statement", str(five / "statement.toml"), "--output", str(pack)]
    assert main([*words, "--redact", "host,user,paths"]) == 0
    assert main(["validate", str(pack)]) == 0
    said = text_of(pack)
    assert not any(name in said for name in ("bench1", "/home/jane", "jane", "/mnt/work"))


def test_a_redacted_pack_passes_the_rules_of_the_whole_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = []
    for more in ([], ["--redact", "host,user,paths"]):
        assert main(["pack", "one", *more, "--output", "x.zip"]) == 0
        capsys.readouterr()
        main(["validate", "x.zip", "--json"])
        states.append([one["state"] for one in json.loads(capsys.readouterr().out)["rulings"]])
    assert states[0] == states[1]


def test_a_name_is_replaced_where_it_is_a_word() -> None:
    names = PrivateNames({"vm": "host-1", "/srv/a": "/redacted/place-1", "/srv/a/b": "/redacted/place-2"})
    assert (
        names.replaced("vm, vmstat, svm and run-vm on vm.") == "host-1, vmstat, svm and run-host-1 on host-1."
    )
    assert names.left("20260101-nano-vm") == "vm" and names.left("vmstat /srv/ab") is None
    assert names.replaced("/srv/a/b/c /srv/a/x /srv/ab") == "/redacted/place-2/c /redacted/place-1/x /srv/ab"


def test_a_mount_point_in_the_name_of_a_series_is_replaced(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run")
    figures = ("mount./srv/secret.v1.read_bytes", "mount./home/jane.read_calls", "host.cpu_user_seconds")
    writer.samples(
        [SampleRecord(node="bench1", sampled_at=START, series=name, value=1.0) for name in figures]
    )
    volumes = [
        VolumeFacts(role="data", node="bench1", directory=f"{place}/data", mount_point=place)
        for place in ("/srv/secret.v1", "/home/jane")
    ]
    found = facts(volumes=volumes, command=[], roles={})
    writer.finish(found)
    for wanted, absent in ((["paths"], ("secret", "jane")), (["host", "user"], ("jane",))):
        names = private_names([found], wanted, user="reader")  # type: ignore[arg-type]
        target = tmp_path / wanted[0]
        redacted_folder(tmp_path / "run", target, names, PrivateNames({}))
        run = open_run(target)
        series = set(run.samples["series"].to_pylist())
        assert not any(name in one for name in absent for one in series)
        assert "host.cpu_user_seconds" in series
        assert ("bench1" in run.samples["node"].to_pylist()) == ("host" not in wanted)
        for volume in run.facts.volumes:
            assert any(one.startswith(f"mount.{volume.mount_point}.read_") for one in series)


@needs.marks(SSH)
def test_a_signature_binds_the_manifest_to_a_key(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mine", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name, "-C", name], check=True)
        Path(f"{name}.signers").write_text(f"{name}@example.com {Path(f'{name}.pub').read_text()}")
    assert main(["pack", "one", "--sign", "mine", "--output", "x.zip"]) == 0

    def ruling(*more: str) -> tuple[str, str]:
        capsys.readouterr()
        main(["validate", "x.zip", "--json", *more])
        [one] = [one for one in json.loads(capsys.readouterr().out)["rulings"] if one["rule"] == "V03"]
        return one["state"], one["faults"][0]["sentence"] if one["faults"] else ""

    assert ruling() == ("passed", "")
    assert ruling("--signers", "mine.signers") == ("passed", "")
    state, sentence = ruling("--signers", "other.signers")
    assert state == "failed" and "other.signers does not name that key" in sentence
    # A new manifest under the old signature.
    members = members_of(Path("x.zip"))
    signature = members.pop("manifest.json.sig")
    members["printed/one/report.md"] += b" "
    Path("x.zip").write_bytes(packed({**with_new_manifest(members), "manifest.json.sig": signature}))
    assert ruling() == ("failed", "the signature is not one of this manifest")


def rulings_of_signature(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[str, str]:
    """State of V03 of x.zip, and its first sentence."""
    capsys.readouterr()
    main(["validate", "x.zip", "--json", *more])
    [one] = [one for one in json.loads(capsys.readouterr().out)["rulings"] if one["rule"] == "V03"]
    return one["state"], one["faults"][0]["sentence"] if one["faults"] else ""


@pytest.mark.lab
@needs.marks(MINISIGN)
def test_a_minisign_signature_binds_the_manifest_to_a_key(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mine", "other"):
        subprocess.run(
            ["minisign", "-G", "-W", "-p", f"{name}.pub", "-s", name], check=True, capture_output=True
        )
    assert main(["pack", "one", "--sign", "mine", "--output", "x.zip"]) == 0
    assert rulings_of_signature(capsys, "--signers", "mine.pub") == ("passed", "")
    state, sentence = rulings_of_signature(capsys)
    assert state == "not known" and "--signers" in sentence
    state, sentence = rulings_of_signature(capsys, "--signers", "other.pub")
    assert state == "failed" and "not one of this manifest by other.pub" in sentence
    good = members_of(Path("x.zip"))
    for part in (b"untrusted comment: mawl-pack", b"\ntrusted comment: mawl-pack"):
        changed = good["manifest.json.minisig"].replace(part, part + b" of Jane")
        assert changed != good["manifest.json.minisig"]
        Path("x.zip").write_bytes(packed({**good, "manifest.json.minisig": changed}))
        state, sentence = rulings_of_signature(capsys, "--signers", "mine.pub")
        assert state == "failed" and "not in the form that mawl writes" in sentence
    members = {name: content for name, content in good.items() if name != "manifest.json.minisig"}
    members["printed/one/report.md"] += b" "
    signed = {**with_new_manifest(members), "manifest.json.minisig": good["manifest.json.minisig"]}
    Path("x.zip").write_bytes(packed(signed))
    state, sentence = rulings_of_signature(capsys, "--signers", "mine.pub")
    assert state == "failed" and "not one of this manifest by mine.pub" in sentence


@pytest.mark.lab
@needs.marks(MINISIGN)
def test_a_minisign_key_with_a_wrong_password_signs_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ["minisign", "-G", "-p", "mine.pub", "-s", "mine"]
    subprocess.run(made, check=True, capture_output=True, input=b"secret\nsecret\n")
    wrong = Path("wrong")
    wrong.write_bytes(b"guess\n")
    with wrong.open() as given:
        monkeypatch.setattr("mawl.archive.manifest.subprocess.run", _answering(given))
        assert main(["pack", "one", "--sign", "mine", "--output", "x.zip"]) == 2
    said = capsys.readouterr().err
    assert "minisign did not sign" in said and "Wrong password" in said
    assert not Path("x.zip").exists()


def _answering(given: IO[str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """``subprocess.run`` of a person who types this."""
    run = subprocess.run

    def answering(*words: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        return run(*words, **{**options, "stdin": given})  # type: ignore[call-overload, no-any-return]

    return answering


@needs.marks(SSH)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b"\n",
        lambda text: b"a note\n" + text,
        lambda text: text.replace(b"\n", b"\n\n", 2),
        lambda text: text.replace(b"-----END", b"AAAA\n-----END"),
    ],
    ids=["line behind", "text before", "blank lines", "bytes behind"],
)
def test_bytes_of_a_signature_that_its_tool_passes_over_are_found(
    here: Path, capsys: pytest.CaptureFixture[str], change: Callable[[bytes], bytes]
) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "mine", "-C", "me"], check=True)
    assert main(["pack", "one", "--sign", "mine", "--output", "x.zip"]) == 0
    assert rulings_of_signature(capsys) == ("passed", "")
    members = members_of(Path("x.zip"))
    members["manifest.json.sig"] = change(members["manifest.json.sig"])
    Path("x.zip").write_bytes(packed(members))
    assert rulings_of_signature(capsys)[0] == "failed"


def test_an_unsigned_pack_is_refused_where_a_signature_is_asked_for(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("signers").write_text("")
    assert main(["pack", "one", "--output", "x.zip"]) == 0
    capsys.readouterr()
    assert main(["validate", "x.zip", "--signers", "signers"]) == 1
    assert "manifest.json: is not signed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pack", "one", "--redact", "host,names"], "--redact does not know 'names'"),
        (["pack", "one", "--sign", "missing"], "the key cannot be read"),
        (["pack", "one", "--statement", "missing.toml"], "cannot be read"),
        (["pack", "one", "--output", "."], "is a directory"),
        (["pack", "nothing"], "no such run"),
        (["validate", "nothing.zip"], "no such run"),
        (["validate", "one", "--signers", "one/run.json"], "--signers goes with a pack"),
        (["validate", "one", "--signers", "nowhere"], "is no file"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_that_is_no_pack_is_no_accepted_pack(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.zip").write_bytes(b"PK\x03\x04 nothing")
    assert main(["validate", "x.zip"]) == 1
    assert "is no pack of mawl, or was altered" in capsys.readouterr().err


def test_a_manifest_names_no_run_outside_of_the_pack(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", "one", "--output", "x.zip"]) == 0
    members = members_of(Path("x.zip"))
    members[MANIFEST] = members[MANIFEST].replace(b'"one"', b'"../../one"', 1)
    Path("x.zip").write_bytes(packed(members))
    assert main(["validate", "x.zip"]) == 1
    assert "has no readable manifest.json" in capsys.readouterr().err


def test_the_digest_of_the_code_changes_with_a_line_and_not_with_its_place(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "x.py").write_text("one = 1\n")
        (tmp_path / name / "x.pyc").write_text(name)
    assert digest_of(tmp_path / "a") == digest_of(tmp_path / "b")
    (tmp_path / "b" / "sub" / "x.py").write_text("one = 2\n")
    assert digest_of(tmp_path / "a") != digest_of(tmp_path / "b")


def test_statistics_of_arrays_are_packed_and_printed_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pack", "one", "--output", "without.zip"]) == 0
    write_arrays(here / "one", array_statistics())
    assert main(["pack", "one", "--output", "with.zip", "--redact", "host"]) == 0
    held, plain = ({one.name for one in read_members(Path(name))} for name in ("with.zip", "without.zip"))
    assert held - plain == {"runs/one/arrays.json"}
    assert "at the array" in text_of(Path("with.zip"))
    states = []
    for pack in ("without.zip", "with.zip"):
        capsys.readouterr()
        main(["validate", pack, "--json"])
        found = json.loads(capsys.readouterr().out)
        assert found["intact"] is True
        states.append({one["rule"]: one["state"] for one in found["rulings"]})
    assert states[0] == states[1]


@pytest.mark.parametrize(
    ("change", "words", "opens"),
    [
        ({"workload": {"seed": 7}}, "was measured with seed 7", True),
        ({"workload": {"options": {"cpucount": 3}}}, "was measured with cpucount 3", True),
        ({"reference": {"version": None, "file": "own.toml"}}, "with reference times of own.toml", False),
    ],
)
def test_seeds_options_and_reference_files_are_neither_packed_nor_published_as_closed(
    here: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], words: str, opens: bool
) -> None:
    found = json.loads(Path("one/run.json").read_text())
    for block, fields in change.items():
        for name, value in fields.items():
            old = found[block][name]
            found[block][name] = old | value if isinstance(old, dict) else value
    Path("one/run.json").write_text(json.dumps(found))
    plan = Path("one/plan.toml")
    plan.write_text(plan.read_text().replace("seed = 1", f"seed = {found['workload']['seed']}"))
    assert main(["pack", "one", "--output", "closed.mawl.zip"]) == 2
    assert words in capsys.readouterr().err
    assert main(["pack", "one", "--division", "open", "--output", "open.mawl.zip"]) == (0 if opens else 2)
    if opens:
        assert main(["publish", "open.mawl.zip", "--output", "site"]) == 0
        members = members_of(Path("open.mawl.zip"))
        manifest = members[MANIFEST].replace(b'"open"', b'"closed"')
        Path("forged.mawl.zip").write_bytes(packed(with_new_manifest({**members, MANIFEST: manifest})))
        capsys.readouterr()
        assert main(["publish", "forged.mawl.zip", "--output", "site"]) == 1
        assert words in capsys.readouterr().err
