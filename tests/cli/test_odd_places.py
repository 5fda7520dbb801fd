"""Whole commands without a home, in a deleted directory, with limits, and with parts of ``/proc`` hidden."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.commands.main import main
from tests import needs

UID = 54321
"""A user id without an entry in /etc/passwd."""
LONGEST_SECONDS = 120
WORKLOAD = (
    'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["sh", "-c", '
    '"head -c 100000 /dev/zero >{work}/file; cat {work}/file >/dev/null"] }]]\n'
)


def output_of(words: list[str], directory: Path, status: int = 0) -> str:
    """What a command prints on both streams; its environment is that of a pod without HOME."""
    environment = {
        name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "TMPDIR")
    }
    done = subprocess.run(
        words,
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=LONGEST_SECONDS,
    )
    assert done.returncode == status and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory of the stranger, who may not look below those of pytest."""
    needs.ROOT.require()
    needs.program("setpriv").require()
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, UID, UID)
        temporary = Path(name, "temporary")
        temporary.mkdir()
        temporary.chmod(0o1777)
        Path(name, "one.toml").write_text(WORKLOAD)
        yield Path(name)


def stranger(place: Path, group: int) -> list[str]:
    """The words that run a command as a user without an entry; a pod of OpenShift has the group 0."""
    temporary = place / "temporary"
    return ["setpriv", f"--reuid={UID}", f"--regid={group}", "--clear-groups", "env", f"TMPDIR={temporary}"]


@pytest.mark.lab
@needs.marks(needs.COMPILER)
def test_a_user_without_a_home_has_every_figure(place: Path) -> None:
    def mawl(*words: str) -> str:
        return output_of([*stranger(place, 0), sys.executable, "-m", "mawl", *words], place)

    cache = place / "temporary" / f"mawl-cache-{UID}"
    assert f"so {cache} keeps what mawl compiles" in mawl("doctor")
    assert cache.stat().st_mode & 0o777 == 0o700 and cache.stat().st_uid == UID
    assert "report.html" in mawl("run", "one.toml")
    work = json.loads(mawl("report", "--format", "json"))["io"]["by_role"]["work"]
    assert work["written_bytes"] == 100000
    assert "not measured" not in mawl("measure", "--", "true")
    assert "mawl validate" in mawl("pack", "--redact", "user,host,paths")
    assert "every figure" in mawl("demo")
    assert "nothing to clean" in mawl("clean")


@pytest.mark.lab
@needs.marks(needs.ROOT)
@pytest.mark.parametrize(("options", "said"), [("subset=pid", "subset=pid"), ("hidepid=2", "hidepid")])
def test_a_proc_that_hides_things_costs_figures_and_nothing_else(
    place: Path, options: str, said: str
) -> None:
    mounts = f"mount -t proc -o {options} proc /proc"
    if subprocess.run(["unshare", "-m", "sh", "-c", mounts], capture_output=True).returncode:
        needs.skip(f"the kernel does not mount proc with {options}")

    def mawl(*words: str) -> str:
        inside = ["unshare", "-m", "sh", "-c", f'{mounts} && exec "$@"', "sh"]
        who = stranger(place, UID)  # the group 0 sees what hidepid hides
        return output_of([*inside, *who, sys.executable, "-m", "mawl", *words], place)

    doctor = mawl("doctor")
    assert f"mounted with {said}?" in doctor and "None" not in doctor
    assert "report.html" in mawl("run", "one.toml")
    summary = json.loads(mawl("report", "--format", "json"))
    assert summary["jobs"]["finished"] == 1
    assert summary["io"]["by_role"]["work"]["written_bytes"] == 100000
    if options == "subset=pid":
        rates = summary["io"]["device"]["active_mean"]
        assert set(rates.values()) == {None} and summary["host"] is None
    assert "real time" in mawl("measure", "--", "true")
    assert "nothing to clean" in mawl("clean")


@pytest.mark.parametrize("words", [["run", "nano"], ["doctor"], ["report"], ["measure", "true"], ["clean"]])
def test_a_directory_that_was_deleted_is_named(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(words) == 1
    cure = "change to a directory that exists, and repeat the command"
    assert capsys.readouterr().err == f"mawl {words[0]}: the current directory no longer exists; {cure}\n"
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit) as ended:
            main([option])
        assert ended.value.code == 0
    monkeypatch.undo()


@pytest.mark.parametrize(
    "module",
    ["mawl.reports.html.report", "mawl.reports.comparison.charts", "mawl.reports.html.charts.answers"],
)
def test_charts_need_no_home(module: str, tmp_path: Path) -> None:
    """Bokeh names a file in the home while it is imported."""
    script = """
import os, pwd
def unknown(_): raise KeyError
pwd.getpwuid = unknown
import sys
import mawl.commands.main, mawl.reports.layout
assert "bokeh" not in sys.modules, "a command without charts need not wait for it"
import MODULE
assert "bokeh" in sys.modules and "HOME" not in os.environ
"""
    output_of([sys.executable, "-c", script.replace("MODULE", module)], tmp_path)


@needs.marks(needs.COMPILER)
def test_a_limit_of_file_sizes_costs_io_by_role_with_its_reason(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mawl", "measure", "--", "true"]
    cache = f"XDG_CACHE_HOME={tmp_path}"
    said = output_of(["sh", "-c", 'ulimit -f 8; exec env "$@"', "sh", cache, *words], tmp_path)
    reason = "the library that counts cannot be made: [Errno 27] File too large"
    assert f"I/O by role: not measured: {reason}" in " ".join(said.split())
