"""mawl compressibility on generated tables and on what a user may get wrong; a run that samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mawl.commands.main import main
from mawl.records.spec.program_options import Role
from mawl.records.store import open_run
from tests.cli.test_run import ONE_JOB
from tests.fakes.command_line import Verbs

MODELS = [("plain", "lz4", None), ("plain", "zstd", 1)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[dict[str, object]]]:
    assert main(["compressibility", *arguments, "--json"]) == 0
    found: dict[str, list[dict[str, object]]] = json.loads(capsys.readouterr().out)
    return found


def test_the_default_dial_gives_data_a_saving_of_090(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    assert main(["generate", "mixed20", "--scale", "0.0002", "--data", str(data)]) == 0
    capsys.readouterr()
    found = printed(capsys, "--data", str(data), "--codec", "zstd-1", "--block", "1MiB")
    (one,) = found["estimates"]
    assert one["saving_ratio"] == pytest.approx(0.90, abs=0.03)
    assert one["half_width_ratio"] is not None
    assert (one["role"], one["codec"], one["level"], one["block_bytes"]) == ("data", "zstd", 1, 2**20)


def test_every_path_has_every_estimate_with_its_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (("zeros", bytes(10**6)), ("text", b"the same line again\n" * 10**5)):
        (tmp_path / name).write_bytes(content)
    found = printed(capsys, str(tmp_path / "zeros"), str(tmp_path / "text"))
    assert len(found["estimates"]) == 2 * 4 * 5
    assert all(one["half_width_ratio"] == 0.0 or one["reason"] for one in found["estimates"])
    zeros, text = found["volumes"]
    assert zeros["zero_share"] == {"ratio": 1.0, "half_width_ratio": 0.0}
    assert text["zero_share"] == {"ratio": 0.0, "half_width_ratio": 0.0}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing-here"], "cannot be looked at: no such file or directory; name one that is there"),
        (["/dev/null"], "is no file, folder or block device"),
        ([".", "--block", "5000"], "expected a power of two from 4KiB to 16MiB"),
        ([".", "--confidence", "1"], "expected a share from 0.5 to below 1"),
        ([".", "--half-width", "0"], "expected a ratio from 0.001 to 0.5"),
        ([".", "--storage", "zram", "--codec", "zstd-1"], "there is nothing to estimate"),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], sentence: str, verbs: Verbs) -> None:
    said = verbs.err("compressibility", *arguments, status=2)
    assert sentence in said and said.count("\n") == 1


def test_a_run_samples_work_and_util_while_it_has_them(
    tmp_path: Path, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sort.toml").write_text(ONE_JOB.replace("stress_projection", "wide_sort"))
    assert main(["run", "sort.toml", "--compressibility", "yes", "--html", "no", "--output", "run"]) == 0
    found = open_run(tmp_path / "run").facts.compressibility
    assert found is not None
    by_role = {role.role: role for role in found.roles}
    assert list(by_role) == ["data", "work", "util"]
    data = next(one for one in by_role["data"].estimates if one.label == "zstd-1")
    assert data.saving_ratio == pytest.approx(0.90, abs=0.03)
    assert not list(tmp_path.glob("mawl-work/mawl-run-*")), "nothing stays behind"
    capsys.readouterr()
    assert "estimated saving at 95.0 % confidence each" in " ".join(
        verbs.out("report", "run", "--all").split()
    )


SPILL = """
import sys, time
import duckdb

limits = {"memory_limit": "30MB", "threads": 1, "temp_directory": sys.argv[1]}
with duckdb.connect(":memory:", config=limits) as connection:
    connection.execute(
        "create table t as select hash(i) h, i, repeat('a', 20) || (i % 100) s from range(2000000) r(i)"
    )
    time.sleep(1.5)
"""


def test_the_share_that_the_engine_compressed_itself_is_told(
    tmp_path: Path, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spill.py").write_text(SPILL)
    (tmp_path / "spill.toml").write_text(
        f'name = "spill"\n[commands.spill]\ncommand = ["{sys.executable}", "{{here}}/spill.py", "{{util}}"]\n'
        '[[sessions]]\nname = "a"\nstages = [["spill"]]\n'
    )
    asked = ["--compressibility", "yes", "--html", "no", "--output", "run"]
    assert main(["run", "spill.toml", *asked]) == 0
    capsys.readouterr()
    found = json.loads(verbs.out("report", "run", "--format", "json"))["compressibility"]
    util = next(volume for volume in found["volumes"] if volume["role"] == "util")
    assert 0.0 < util["engine_share"]["ratio"] < 1.0
    assert util["cost"]["draws"] > 0
    said = " ".join(verbs.out("report", "run", "--all").split())
    assert f"the engine compressed itself: {100.0 * util['engine_share']['ratio']:.1f} % of util" in said


@pytest.mark.lab
@pytest.mark.long(minutes=2)
@pytest.mark.measured(reruns=1)
def test_a_mixed_run_knows_data_and_work_and_util(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """mixed20 at smoke scale: about a minute with the making of its inputs."""
    assert main(["run", "mixed20", "--compressibility", "yes", "--html", "no", "--output", "run"]) == 0
    found = open_run(tmp_path / "run").facts.compressibility
    assert found is not None
    roles = {role.role: {(one.label, one.block_bytes): one for one in role.estimates} for role in found.roles}
    data = roles["data"]["zstd-1", 2**20]
    assert data.saving_ratio == pytest.approx(0.90, abs=0.03)
    limits: dict[Role, float] = {"work": 0.1, "util": 0.4}
    for role, most in limits.items():
        for (_, block), one in roles[role].items():
            if block == 2**20:
                continue  # it costs most, and a minute's share of a processor is a few draws
            assert one.saving_ratio is not None and one.half_width_ratio is not None
            assert one.half_width_ratio <= most and 0.5 < one.saving_ratio < 1.0
    cost = [volume.cost for volume in found.volumes if volume.role != "data"]
    taken, elapsed = sum(one.cpu_seconds for one in cost), max(one.elapsed_seconds for one in cost)
    assert taken <= max(0.01 * elapsed, 0.35) + 0.05, "1 % of a processor, and the last looks"
