"""The text of mawl compressibility, and a run's rows in its reports."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.measure.compressibility.codecs import ZSTD_1, figures
from mawl.measure.compressibility.volumes import LookRequest, look_at
from mawl.records.model.compressibility import compressibility_figures
from mawl.reports import markdown, text
from mawl.reports.compressibility import parts
from mawl.reports.document import terminal
from mawl.reports.html.figures import ShownFigures
from mawl.reports.html.sections.storage import compressibility
from mawl.reports.html.sections.system import missing
from tests.fakes.altered_runs import sampled
from tests.fakes.stored_run import facts, jobs
from tests.fakes.views import BARE, as_summary, judge, plain, summary_of, typed


def summary(looked: bool = True) -> dict[str, object]:
    of = msgspec.structs.replace(facts(), compressibility=sampled() if looked else None)
    return judge(of, jobs(), summary_of(of, jobs()), None)


def test_estimated_and_real_savings_stand_apart() -> None:
    lines = terminal(parts(compressibility_figures(sampled()))).splitlines()
    assert [" ".join(line.split()) for line in lines[:3]] == [
        "volume role size used data zero potential freed saving saved",
        "/mnt/data data 931 GiB 373 GiB 954 MiB 1.0 % +- 2.0 90.0 % 858 MiB 80.0 % 763 MiB",
        "/mnt/work work 931 GiB 373 GiB 954 MiB 1.0 % +- 2.0 60.0 % +- 12.0 572 MiB - -",
    ]
    text = " ".join(" ".join(lines).split())
    assert "estimated, zstd-1 in blocks of 1 MiB" in text
    assert "not estimated: lz4: needs the package lz4" in text
    assert "/mnt/work: the engine compressed 25.0 % of the bytes itself" in text
    assert "/mnt/work: could not be read: 1 file, 100 B" in text
    assert "/mnt/data: real saving: btrfs (compsize)" in text


def test_an_empty_volume_is_one_line_and_the_headline_what_was_asked_for(tmp_path: Path) -> None:
    wanted = figures(["plain"], [ZSTD_1], [4096])
    request = LookRequest(paths=[tmp_path], figures=wanted, seed=1)
    text = " ".join(terminal(parts(compressibility_figures(look_at(request)))).split())
    assert f"no estimate on {tmp_path}: there is no data to look at" in text
    assert "zstd-1 in blocks of 4 KiB" in text and "128 KiB" not in text


def test_json_has_every_estimate_by_volume_and_by_role() -> None:
    block = plain(compressibility_figures(sampled()))
    assert [(one["volume"], one["codec"], one["saving_ratio"]) for one in block["estimates"]] == [
        ("/mnt/data", "zstd", 0.9),
        ("/mnt/data", "lz4", None),
        ("/mnt/work", "zstd", 0.6),
        ("/mnt/work", "lz4", None),
    ]
    assert block["role_estimates"][0]["freed_bytes"] == 900_000_000
    assert block["volumes"][0]["real"]["saved_bytes"] == 800_000_000


def test_a_run_that_looked_has_its_rows_in_every_report() -> None:
    found = summary()
    assert "work 954 MiB 60.0 % +- 12.0 - 40" in " ".join(text.render(BARE, as_summary(found)).split())
    assert "| work | 954 MiB | 60.0 % +- 12.0 | - | 40 |" in markdown.render(BARE, as_summary(found))
    page = compressibility(ShownFigures(typed(found)))
    assert "60.0 % +- 12.0" in page and "the engine compressed itself: 25.0 % of work" in page


def test_a_run_that_did_not_look_says_why_in_html_and_json_and_is_silent_elsewhere() -> None:
    found = summary(looked=False)
    assert found["compressibility"] is None
    assert "compressibility" not in text.render(BARE, as_summary(found))
    shown = ShownFigures(typed(found))
    assert not compressibility(shown)
    assert "mawl run --compressibility yes" in missing(shown)
