"""Reports of imported runs: what files tell is shown, and what they do not is named once, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.commands.report import FORMATS, screen_of
from mawl.figures.view import StoredView
from mawl.records.store import Run
from mawl.reports import text
from mawl.reports.html.sources import sources
from tests.fakes.views import BARE, as_summary, judged, typed
from tests.importers.test_fio_files import document
from tests.importers.test_import import imported
from tests.importers.test_nights import files
from tests.reports.html.page_reader import Reading


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two logs, the recording of their host and a file of fio."""
    folder = tmp_path_factory.mktemp("imported")
    results = folder / "fio.json"
    results.write_text(document())
    return imported(folder, *files(folder), results)[1]


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_the_tests_of_fio_are_in_the_page_and_in_markdown(run: Run, form: str) -> None:
    shown = FORMATS[form](StoredView(run), typed(judged(StoredView(run))))
    assert "fio-3.33 in fio.json: /sas/work (file system not known)" in shown
    assert "256 KiB sequential reads" in shown
    assert "5.24" in shown, "10 MiB in two seconds, in MB/s"


def test_a_program_on_the_screen_has_its_cpu_time(run: Run) -> None:
    lines = screen_of(StoredView(run), typed(judged(StoredView(run)))).splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("most time"))
    heads = lines[at].split("  ")
    assert [head.strip() for head in heads if head][-2:] == ["CPU", "CPU/real"]
    program = judged(StoredView(run))["programs"]["a"]
    ratio = program["cpu_seconds"] / program["real_time_seconds"]["sum"]
    assert lines[at + 1].split()[-1] == f"{ratio:.2f}"  # as the sum above the table


def test_jobs_of_no_known_class_are_in_the_charts_and_their_legends(run: Run) -> None:
    summary = judged(StoredView(run))
    assert sum(sources(StoredView(run), as_summary(summary))["cpu_real"]["unknown"]) == 2
    page = FORMATS["html"](StoredView(run), typed(summary))
    legends = [part.split("</ul>")[0] for part in page.split('<ul class="legend"')[1:]]
    assert any("class not known" in legend for legend in legends)
    assert not any(">compute<" in legend or "</span>compute" in legend for legend in legends)


def test_what_no_file_tells_is_said_in_words(run: Run) -> None:
    page = FORMATS["html"](StoredView(run), typed(judged(StoredView(run))))
    assert "of full)" not in page
    assert "not known (an imported run has no workload file)" in page
    assert "Not known (imported): " in page
    assert "mawl run --compressibility" not in page
    for path, value, _ in Reading(page).figures:
        assert value is not None or path[0] not in ("overhead", "cpu_account"), path


def test_devices_that_moved_most_come_first(run: Run) -> None:
    page = FORMATS["html"](StoredView(run), typed(judged(StoredView(run))))
    table = page.split("Block devices; a peak is the highest window mean</caption>")[1].split("</table>")[0]
    names = [part.split("<")[0] for part in table.split('<th scope="row">')[1:]]
    assert names == ["hdisk2", "hdisk1"]


def test_the_long_report_says_of_aix_once_that_its_times_are_raw(run: Run) -> None:
    assert text.render(BARE, as_summary(judged(StoredView(run)))).count("PURR") == 1


def test_a_damaged_probe_costs_only_its_tests(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    results = folder / "fio.json"
    results.write_text(document())
    damaged = imported(folder, results)[1]
    (damaged.path / "probe.json").write_text("{")
    assert "256 KiB" not in FORMATS["markdown"](StoredView(damaged), typed(judged(StoredView(damaged))))


def test_logs_alone_have_no_rows_of_dashes_for_what_hosts_do(tmp_path: Path) -> None:
    logs, _ = files(tmp_path)
    alone = imported(tmp_path, logs)[1]
    summary = judged(StoredView(alone))
    screen = screen_of(StoredView(alone), typed(summary))
    assert "throughput: not known: the run holds no samples of the host" in screen
    assert "cores and memory not known" in screen and "- cores" not in screen
    marked = FORMATS["markdown"](StoredView(alone), typed(summary))
    assert "| application |" not in marked and "| reach |" not in marked


def test_fio_alone_has_its_tests_and_no_demand(tmp_path: Path) -> None:
    results = tmp_path / "fio.json"
    results.write_text(document())
    alone = imported(tmp_path, results)[1]
    for form in ("html", "markdown"):
        shown = FORMATS[form](StoredView(alone), typed(judged(StoredView(alone))))
        assert "256 KiB sequential reads" in shown and "data, read" not in shown
