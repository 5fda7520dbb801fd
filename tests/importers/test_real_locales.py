"""One recording of sadc, printed by sar in every installed language: the figures are those of JSON."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests import needs
from tests.importers.recordings import Read

pytestmark = [pytest.mark.lab, pytest.mark.measured]

LANGUAGES = ("C", "de_DE", "en_US", "es_ES", "fr_FR", "ja_JP", "ko_KR", "pt_BR", "ru_RU", "zh_CN", "zh_TW")
SADC = ("/usr/lib/sysstat/sadc", "/usr/lib64/sa/sadc", "/usr/lib/sa/sadc")
SECONDS = 5
FORMS = {"sar": ("-u", "-d", "-n", "DEV"), "sar -p": ("-p", "-u", "-d", "-n", "DEV"), "sar -A": ("-A",)}
SHARES = ("host.cpu_user_seconds", "host.cpu_system_seconds", "host.cpu_idle_seconds")


def installed() -> list[str]:
    """The languages that this machine has, by the names of their locales."""
    found = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=True).stdout.split()
    return [name for name in found if name.partition(".")[0] in LANGUAGES]


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs.program("sar").require()
    sadc = next((one for one in SADC if Path(one).exists()), None)
    if sadc is None:
        needs.skip("sadc is not installed")
    path = tmp_path_factory.mktemp("sadc") / "recording"
    child = subprocess.Popen([sadc, "-S", "DISK", "1", str(SECONDS), str(path)], stdout=subprocess.DEVNULL)
    with (path.parent / "data").open("wb") as file:
        for _ in range(SECONDS):
            file.write(os.urandom(2**22))
            os.fsync(file.fileno())
            time.sleep(0.7)
    child.wait(timeout=30)
    return path


def printed(command: list[str], locale: str) -> bytes:
    own = {"PATH": os.environ["PATH"], "LC_ALL": locale, "TZ": "UTC", "S_COLORS": "never"}
    return subprocess.run(command, capture_output=True, check=True, env=own).stdout


@pytest.mark.parametrize("form", FORMS)
def test_each_language_has_the_figures_of_json(binary: Path, form: str) -> None:
    truth = Read("sadf", printed(["sadf", "-j", str(binary), "--", *FORMS[form]], "C"))
    parts = [name for name in truth.series if re.fullmatch(r"(device|network)\.\S+_bytes", name)]
    assert any(truth.gain(name) > 0 for name in parts)
    for locale in installed():
        read = Read("sar", printed(["sar", "-f", str(binary), *FORMS[form]], locale))
        assert {name for name in parts if name not in read.series} == set(), locale
        for name in (*parts, *SHARES):
            assert read.gain(name) == pytest.approx(truth.gain(name), abs=0.05), (locale, name)


@pytest.mark.parametrize(
    "command", ["iostat -xt 1 3", "iostat -xt --pretty 1 3", "iostat -ht 1 3", "vmstat -t 1 3"]
)
def test_each_language_is_read_as_english_is(command: str) -> None:
    """Live reports differ, so their series and the sum of their shares are compared."""
    kind = command.partition(" ")[0]
    needs.program(kind).require()
    own = {"PATH": os.environ["PATH"], "TZ": "UTC", "S_COLORS": "never"}
    children = {
        locale: subprocess.Popen(command.split(), stdout=subprocess.PIPE, env=own | {"LC_ALL": locale})
        for locale in installed()
    }
    reads = {locale: Read(kind, child.communicate(timeout=30)[0]) for locale, child in children.items()}
    names = set(reads["C"].series)
    for locale, read in reads.items():
        assert set(read.series) == names, locale
        assert len(read.points("host.cpu_idle_seconds")) == 3, locale
        spent = [sum(point[1] for point in read.series[name][-1:]) for name in names if ".cpu_" in name]
        at = [point[0] for point in read.points("host.cpu_idle_seconds")]
        cpus = next(iter(read.nodes.values())).logical_cpus or 1
        assert sum(spent) == pytest.approx(cpus * (at[-1] - at[0]), rel=0.03), locale
