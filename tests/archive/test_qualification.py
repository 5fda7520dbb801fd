"""A pack of a qualification: its answer is that of its runs, or the pack is refused with one sentence."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.advice.qualification.gather import core_speed_of
from mawl.archive.container import MANIFEST
from mawl.archive.integrity import COMPLETE_RULE
from mawl.archive.packing import PackRequest, pack, read_statement
from mawl.archive.publication import Validation, validate
from mawl.archive.qualification import ANSWER_RULE
from mawl.archive.subject import pack_subject, record_subject, ruling
from mawl.base.errors import MawlError
from mawl.commands.main import main
from mawl.records.model.qualification import Qualification
from mawl.records.store import open_run
from mawl.records.store.facts import read_facts, write_facts
from tests.fakes.altered_packs import Members, members_of, packed, with_new_manifest
from tests.fakes.published_qualification import SESSIONS, write_published_qualification
from tests.fakes.published_run import STATEMENT
from tests.fakes.stored_run import START

QUALIFY = "qualify.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Qualification]:
    """The folder of a qualification that every rule accepts, its pack, and its record."""
    place = tmp_path_factory.mktemp("qualified")
    record = write_published_qualification(place / "q")
    (place / "statement.toml").write_text(STATEMENT)
    statement = read_statement(place / "statement.toml")
    pack(PackRequest(folder=place / "q", kind="qualification", statement=statement), place / "q.mawl.zip")
    return place / "q", place / "q.mawl.zip", record


def said_of(path: Path, place: Path) -> dict[str, str]:
    """The first sentence of each rule that a pack does not pass."""
    return _said(validate(pack_subject(path, place)))


def _said(validation: Validation) -> dict[str, str]:
    return {
        one.rule: one.faults[0].sentence
        for one in validation.rulings
        if one.state not in ("passed", "not asked")
    }


def test_a_packed_qualification_is_accepted(made: tuple[Path, Path, Qualification], tmp_path: Path) -> None:
    folder, pack_file, record = made
    assert record.answer is not None
    assert (record.answer.carried.answer, record.answer.fits.sessions) == ("carried", SESSIONS)
    assert said_of(pack_file, tmp_path) == {}
    assert _said(validate(record_subject(folder, "qualification"))) == {}


def test_only_the_calibration_that_counts_has_to_give_the_speed(tmp_path: Path) -> None:
    """The first that finished: one that other work disturbed may give another speed."""
    write_published_qualification(tmp_path / "q", again_seconds=90.0)
    speeds = [core_speed_of(open_run(tmp_path / "q" / "runs" / f"calibration-{number}")) for number in (1, 2)]
    assert speeds[0] != speeds[1]
    assert _said(validate(record_subject(tmp_path / "q", "qualification"))) == {}


def edited(members: Members, change: Callable[[dict[str, Any]], object]) -> Members:
    """The members with another record, and the digests of it that a forger renews."""
    plain = json.loads(members[QUALIFY])
    change(plain)
    return {**members, QUALIFY: (json.dumps(plain, indent=2) + "\n").encode()}


def refused(members: Members, place: Path) -> dict[str, str]:
    """What V01 and V28 say of a pack of altered members under a new manifest."""
    place.mkdir(exist_ok=True)
    (place / "x.mawl.zip").write_bytes(packed(with_new_manifest(members)))
    subject = pack_subject(place / "x.mawl.zip", place / "x")
    found = [ruling(rule, subject) for rule in (COMPLETE_RULE, ANSWER_RULE)]
    return {one.rule: one.faults[0].sentence for one in found if one.state != "passed"}


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(plain: dict[str, Any]) -> None:
        *above, last = path.split(".")
        part: Any = plain
        for name in above:
            part = part[int(name) if name.isdigit() else name]
        part[last] = value

    return change


RUNS_UNLIKE = "is not the run of qualify.json: its "


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("answer.carried.answer", "not carried", 'answer is printed as "not carried", the tables give "carr'),
        ("answer.fits.sessions", 6, "fits.sessions is printed as 6, the tables give 4"),
        ("answer.figures.slowdown", 1.2, "figures.slowdown is printed as 1.2, the tables give 1.6"),
        ("answer.limit.verdict", "storage", 'limit of the answer is printed as "storage", the tables give'),
        ("answer.sentence", "YES", 'sentence is printed as "YES", the tables give'),
        ("answer.preliminary", True, "preliminary is printed as true, the tables give false"),
        ("asked.answer_bound", 3.0, "figures.answer_bound is printed as 2.0, the tables give 3.0"),
        ("search_forecast.sessions", 40, "search_forecast.sessions is printed as 40, the tables give"),
        ("choice.core_speed", 3.0, "the speed of a core is"),
        ("choice.scale", 0.05, f"{RUNS_UNLIKE}scale is 0.1, and the record says 0.05"),
        ("choice.cache", "cold", f"{RUNS_UNLIKE}cache mode is none, and the record says cold"),
        ("asked.workload", "bed", f"{RUNS_UNLIKE}workload is mixed20, and the record says bed"),
        ("load_version", 9, f"{RUNS_UNLIKE}version of the load is 1, and the record says 9"),
        ("runs.5.sessions", 9, f"{RUNS_UNLIKE}number of sessions is 5, and the record says 9"),
        ("runs.5.disturbance", "other work", "what other work did is None, and the record says other work"),
        ("runs.5.state", "left out", "the record calls it left out, and no other work disturbed it"),
        ("runs.0.state", "disturbed", "names no calibration that finished"),
        ("runs.3.run_id", "other", f"{RUNS_UNLIKE}run is measured-2, and the record says other"),
    ],
)
def test_an_edited_record_is_refused_by_the_figure_that_was_edited(
    made: tuple[Path, Path, Qualification], tmp_path: Path, path: str, value: object, sentence: str
) -> None:
    said = refused(edited(members_of(made[1]), _set(path, value)), tmp_path)
    assert sentence in said["V28"]


def test_runs_that_are_swapped_missing_or_doubled_are_refused(
    made: tuple[Path, Path, Qualification], tmp_path: Path
) -> None:
    members = members_of(made[1])

    def in_place_of(name: str, other: str) -> Members:
        kept = {key: value for key, value in members.items() if f"/{name}/" not in key}
        return kept | {
            key.replace(f"/{other}/", f"/{name}/"): value
            for key, value in members.items()
            if f"/{other}/" in key
        }

    swapped = in_place_of("measured-1", "search-1")
    assert f"{RUNS_UNLIKE}run is search-1" in refused(swapped, tmp_path / "a")["V28"]
    doubled = in_place_of("measured-1", "measured-2")
    assert f"{RUNS_UNLIKE}run is measured-2" in refused(doubled, tmp_path / "b")["V28"]

    def without(name: str) -> Members:
        manifest = json.loads(members[MANIFEST])
        manifest["runs"].remove(name)
        fewer = {key: value for key, value in members.items() if f"/{name}/" not in key}
        return fewer | {MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode()}

    fewer = without("search-1")
    assert (
        refused(fewer, tmp_path / "c")["V01"] == "qualify.json names 6 ended runs, and the pack holds others"
    )
    gone = edited(fewer, lambda plain: plain["runs"].pop())
    assert "fits.high is printed as 4, the tables give null" in refused(gone, tmp_path / "d")["V28"]
    slower = edited(without("calibration-1"), lambda plain: plain["runs"].pop(0))
    assert "names no calibration that finished" in refused(slower, tmp_path / "f")["V28"]
    bare = {key: value for key, value in members.items() if key != QUALIFY}
    assert refused(bare, tmp_path / "e")["V01"] == "is missing"


def test_a_run_of_another_scale_is_refused(made: tuple[Path, Path, Qualification], tmp_path: Path) -> None:
    """The run is whole and is packed as mawl packs, so only its load gives it away."""
    folder = Path(shutil.copytree(made[0], tmp_path / "q"))
    shutil.rmtree(folder / "runs" / "measured-3")
    write_published_qualification(tmp_path / "other", scale=0.05)
    shutil.copytree(tmp_path / "other" / "runs" / "measured-3", folder / "runs" / "measured-3")
    pack(PackRequest(folder=folder, kind="qualification"), tmp_path / "q.mawl.zip")
    said = said_of(tmp_path / "q.mawl.zip", tmp_path / "x")
    assert said["V28"] == f"{RUNS_UNLIKE}scale is 0.05, and the record says 0.1"


@pytest.mark.parametrize("folder", ["runs/../../etc", "/etc", "runs/a/b", "runs/measured-1"])
def test_a_record_with_a_hostile_or_second_folder_is_refused(
    made: tuple[Path, Path, Qualification], tmp_path: Path, folder: str
) -> None:
    said = refused(edited(members_of(made[1]), _set("runs.5.folder", folder)), tmp_path)
    assert "is no record of a qualification" in said["V01"] and folder[:20] in said["V01"]


def test_a_cut_pack_and_a_hostile_member_are_refused_as_files(
    made: tuple[Path, Path, Qualification], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = made[1].read_bytes()
    (tmp_path / "cut.mawl.zip").write_bytes(whole[: len(whole) // 2])
    named = re.sub(rb"(PK\x03\x04.{26})qualify.json", rb"\1../qualify.j", whole, flags=re.DOTALL)
    assert named != whole
    (tmp_path / "name.mawl.zip").write_bytes(named)
    for name, why in (("cut", "ends in the middle of"), ("name", "plain relative name")):
        assert main(["validate", str(tmp_path / f"{name}.mawl.zip")]) == 1
        said = capsys.readouterr().err
        assert "is no pack of mawl, or was altered" in said and why in said


def test_an_edited_answer_is_not_packed(
    made: tuple[Path, Path, Qualification], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(made[0], tmp_path / "q"))
    plain = json.loads((folder / QUALIFY).read_text())
    plain["answer"]["fits"]["sessions"] = 40
    (folder / QUALIFY).write_text(json.dumps(plain))
    assert "fits.sessions" in _said(validate(record_subject(folder, "qualification")))["V28"]
    assert main(["pack", str(folder), "--output", str(tmp_path / "q.mawl.zip")]) == 0
    said = capsys.readouterr().out
    assert "notice: the pack has the answer of the runs, not that of the folder: fits.sessions" in said
    assert json.loads(members_of(tmp_path / "q.mawl.zip")[QUALIFY])["answer"]["fits"]["sessions"] == SESSIONS
    plain["answer"] = None
    (folder / QUALIFY).write_text(json.dumps(plain))
    with pytest.raises(MawlError, match="has no answer yet"):
        pack(PackRequest(folder=folder, kind="qualification"), tmp_path / "none.mawl.zip")


def test_a_redacted_qualification_names_nobody_and_is_accepted(
    made: tuple[Path, Path, Qualification], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(made[0], tmp_path / "q"))
    plain = json.loads((folder / QUALIFY).read_text())
    plain["directory"], plain["machine"]["name"] = str(Path("/home/jane", "acme bench")), "secrethost"
    plain["asked"]["roles"]["work"] = ["/srv/acme/mawl-work"]
    (folder / QUALIFY).write_text(json.dumps(plain))
    words = read_statement(made[0].parent / "statement.toml")
    request = PackRequest(
        folder=folder, kind="qualification", statement=words, redact=["host", "user", "paths"]
    )
    left = pack(request, tmp_path / "q.mawl.zip").left
    assert left == {}
    every = b"".join(members_of(tmp_path / "q.mawl.zip").values()).decode(errors="replace")
    assert not any(word in every for word in ("jane", "acme", "secrethost", "bench1", "/mnt/"))
    assert said_of(tmp_path / "q.mawl.zip", tmp_path / "x") == {}


def test_each_qualification_is_a_night_of_a_history_however_near_the_next_is(
    made: tuple[Path, Path, Qualification], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(made[0], tmp_path / "runs" / "a")
    write_published_qualification(tmp_path / "runs" / "b", start=START + 7000.0)
    for number in (1, 2, 3):
        path = tmp_path / "runs" / "b" / "runs" / f"measured-{number}"
        write_facts(path, msgspec.structs.replace(read_facts(path), run_id=f"b-{number}"))
    for words in ([], ["a", "b"]):
        given = words or [str(tmp_path / "runs")]
        assert main(["history", *given, "--runs", str(tmp_path / "runs"), "--format", "json"]) == 0
        nights = json.loads(capsys.readouterr().out)["nights"]
        assert [(one["night"], one["runs"]) for one in nights] == [("measured-1", 3), ("b-1", 3)]
