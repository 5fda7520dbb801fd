"""Planted secrets and private names: none of them in a redacted pack, its report or its site."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from mawl.archive.container import read_member, read_members
from mawl.base.foreign import LARGEST_TOML_BYTES
from mawl.commands.main import main
from mawl.records.model.node import ArrayFile
from mawl.records.store.side_files import write_arrays
from tests.fakes.altered_runs import array_statistics
from tests.fakes.published_run import write_published

COMMAND = """[commands.load]
command = ["sh", "-c", "cat {here}/i /srv/acme-payroll/x", "--password=HUNTER2CMD", "--token", "TOKENARG7"]
check = ["/opt/acme/check", "-I/opt/acme-inc", "postgres://loader:PGPASSW0RD@db.acme.example/x"]
environment = { TOKEN = "S3CRETENV", DBURL = "oracle-thin-acme-prod", STAGE = "completed" }
"""
PLANTED = (
    *(
        "HUNTER2CMD",
        "TOKENARG7",
        "PGPASSW0RD",
        "S3CRETENV",
        "oracle-thin-acme-prod",
    ),  # arguments, environment
    *("ghp_Abcdefghijklmnopqrstuvwx1234", "AKIAABCDEFGHIJKLMNOP", "wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEY"),
    *(
        "acme-payroll",
        "/opt/acme",
        "acme-inc",
        "jane.doe",
        "joe.roe",
        "acme-home",
        "acme-shop",
        "acme-label",
    ),  # paths
    *("nfs7.acme.example", "filer9", "acme-share", "acme-export", "db.acme.example", "10.20.30.40"),  # hosts
    *("vgacme", "vgacme-lvwork", "mpath_acme", "acmecg.slice"),  # volume groups, aliases, control groups
    *("ACMEARRAY1", "acme_vol_01", "acme_vol_02", "acme-stats.csv"),  # an array
    "bench1",  # the node
)


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one run in which the words are planted, and the workload file that has the values."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUDO_USER", "jane.doe")
    write_published(tmp_path / "one")
    workload = tmp_path / "acme-home" / "shop.toml"
    workload.parent.mkdir()
    session = '[[sessions]]\nname = "s"\nstages = [["load"]]\n'
    workload.write_text(f'name = "shop"\n{COMMAND}{session}')
    plan = tmp_path / "one" / "plan.toml"
    stored = COMMAND.replace("{here}", "/data/acme-shop") + 'environment_digest = "5f3a"\n'
    plan.write_text(f'workload_file = "{workload}"\n{plan.read_text()}\n{stored}')
    facts = json.loads((tmp_path / "one" / "run.json").read_text())
    facts["command"] = ["mawl", "run", "/home/jane.doe/shop.toml"]
    others = "a-1 (process 7, user joe.roe, also in /srv/acme-payroll/w); b-2 (process 8, user number 1000)"
    facts["remarks"] = ["/sys/fs/cgroup/acmecg.slice/io.max: none", "seen 10.20.30.40", others]
    sources = (
        "nfs7.acme.example:/acme-export/a",
        "//filer9/acme-share",
        "/dev/mapper/vgacme-lvwork",
        "/dev/mapper/mpath_acme",
        "/dev/vgacme/lvdata",
        "/dev/disk/by-label/acme-label",
    )
    volume = facts["volumes"][0]
    facts["volumes"] += [volume | {"source": source} for source in sources]
    (tmp_path / "one" / "run.json").write_text(json.dumps(facts))
    log = tmp_path / "one" / "logs" / "told.log"
    log.write_text(
        f"using S3CRETENV of oracle-thin-acme-prod with {' '.join(PLANTED[5:8])}\n/srv/acme-payroll/y\n"
    )
    arrays = array_statistics()
    volumes = [
        msgspec.structs.replace(one, array="ACMEARRAY1", name=f"acme_vol_0{number}")
        for number, one in enumerate(arrays.volumes, 1)
    ]
    file = ArrayFile(name="acme-stats.csv", preset="xiv", rows=1, skipped=0, reason=None)
    write_arrays(tmp_path / "one", msgspec.structs.replace(arrays, volumes=volumes, files=[file]))
    return tmp_path


def texts(path: Path) -> str:
    """All members of a pack, with the words of its tables."""
    found = []
    for member in read_members(path):
        content = read_member(path, member, 2**30)
        found.append(f"{member.name} {content.decode(errors='replace')}")
        if member.name.endswith(".parquet"):
            found.append(str(pq.read_table(io.BytesIO(content)).to_pydict()))
    return "\n".join(found)


def test_none_of_what_was_planted_is_in_the_pack_or_its_site(
    planted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = ["pack", "one", "--redact", "host,user,paths", "--output", "x.zip"]
    assert main(whole) == 2 and not Path("x.zip").exists()
    said = capsys.readouterr().err
    assert "may be secret: " in said and "--yes replaces" in said and "HUNTER2CMD" not in said
    assert main([*whole, "--yes"]) == 0
    assert "looks private" not in capsys.readouterr().out
    assert main(["publish", "x.zip", "--output", "site"]) in (0, 1)
    site = "\n".join(
        path.read_text(errors="replace")
        for path in Path("site").rglob("*")
        if path.suffix in (".html", ".json")
    )
    for place, text in (("pack", texts(Path("x.zip"))), ("site", site)):
        assert [word for word in PLANTED if word in text] == [], place


def test_a_pack_holds_neither_values_nor_digests_without_any_redaction(
    planted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pack", "one", "--output", "x.zip", "--yes"]) == 0
    said = capsys.readouterr().out
    assert (
        re.search(r"looks private: .*\d more in runs/one/run.json", said) and "takes such names out" in said
    )
    text = texts(Path("x.zip"))
    assert (
        "S3CRETENV" not in text and "oracle-thin-acme-prod" not in text and "environment_digest" not in text
    )
    assert "environment_names" in text and "acme-payroll" in text
    assert '"outcome": "completed"' in text, "a value that is a word of the format is no private name"


@pytest.mark.parametrize("more", [b"= \xff", b"# " + b"x" * LARGEST_TOML_BYTES], ids=["no text", "too large"])
@pytest.mark.parametrize("words", [(), ("--yes",), ("--redact", "paths")])
def test_a_plan_that_cannot_be_searched_makes_no_pack(
    planted: Path, capsys: pytest.CaptureFixture[str], more: bytes, words: tuple[str, ...]
) -> None:
    plan = Path("one/plan.toml")
    plan.write_bytes(re.sub(rb"environment.*\n", b"", plan.read_bytes()) + more)
    assert main(["pack", "one", "--output", "x.zip", *words]) == 2
    assert "plan.toml of the run cannot be searched for secrets" in capsys.readouterr().err
    assert not Path("x.zip").exists()
