"""``mawl published``."""

from __future__ import annotations

import json

import pytest

from mawl.base.errors import UsageError
from mawl.records.model.published import published as shipped
from mawl.reports.layout import LINE_WIDTH
from tests.cli.conftest import Command
from tests.fakes.command_line import Verbs, call


def test_the_list_names_every_result_and_its_paper(verbs: Verbs) -> None:
    out = verbs.out("published")
    assert {line.split()[0] for line in out.splitlines() if line} >= set(shipped())
    assert "REDP-5288-00" in out and "SAS Institute Inc" in out
    (row,) = [line for line in out.splitlines() if line.startswith("s822-xiv-20 ")]
    assert " ".join(row.split()) == (
        "s822-xiv-20 20 71 16 19 h 35 min 0.70 4.50 GB/s 2.70 GB/s 169 MB/s 73 %"
    )
    assert max(map(len, out.splitlines())) <= LINE_WIDTH


@pytest.mark.parametrize("name", shipped())
def test_a_page_has_source_figures_and_caveats(name: str, verbs: Verbs) -> None:
    out = verbs.out("published", name)
    assert out.startswith(f"{name}: ") and "\nfrom " in out
    assert "\nAs published\n" in out and "\nPer core and in shape" in out and "\nCaveats\n  " in out
    assert "None" not in out and max(map(len, out.splitlines())) <= LINE_WIDTH


def test_what_a_paper_does_not_give_is_blank(capsys: pytest.CaptureFixture[str]) -> None:
    call("published", "s822-xiv-30")
    lines = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    assert {"real time -", "per core: sustained 250 MB/s", "CPU/real of the sums -"} <= lines
    call("published", "e980-fs9150-4")
    out = capsys.readouterr().out
    assert "4 x -" in out and "above 1; the figure is in a graph only" in out


def test_json_of_one_and_of_all(verbs: Verbs) -> None:
    one = json.loads(verbs.out("published", "s822-xiv-20", "--json"))
    assert one["io"]["device"]["peak"]["total_bytes_per_second"] == 4.5e9
    assert one["io"]["device"]["peak"]["read_bytes_per_second"] is None
    assert one["time"]["real_time_seconds"] == 70500
    every = json.loads(verbs.out("published", "--format", "json"))
    assert [result["id"] for result in every["results"]] == list(shipped())
    assert {paper["source"]["key"] for paper in every["papers"]} >= {one["source"]["key"]}


def test_an_unknown_id_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="is no published result"):
        call("published", "xiv")


def test_a_margin_that_several_programs_kept_is_no_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """The paper: "some ... slower ..., a fair amount within a 5% run-time margin, and only 9 ... better"."""
    call("published", "dl980-flash-untuned-30")
    out = " ".join(capsys.readouterr().out.split())
    assert "9 programs 4 % to 17 % faster, several others within 5 %" in out
    assert "does not say how many, nor by how much" in out and "up to 5" not in out


def test_tables_of_a_paper(verbs: Verbs) -> None:
    out = verbs.out("published", "dl980-ioscale-2014", "--tables")
    assert "Table 2: real time, memory" in out and "51 h 06 min" in out
    assert max(map(len, out.splitlines())) <= LINE_WIDTH
    tables = json.loads(verbs.out("published", "dl980-flash-30", "--tables", "--json"))["tables"]
    assert [table["exhibit"] for table in tables] == ["Table 1", "Table 2", "Table 3"]
    assert "| memory, all jobs | 52.2 GiB | 51.2 GiB |" in verbs.out(
        "published", "dl980-flash-30", "--tables", "--format", "markdown"
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--tables",), "--tables needs a paper"),
        (("s822-xiv-20", "--run", "a"), "--run goes with --tables"),
        (("s822-xiv-20", "--format", "markdown"), "--format markdown goes with --tables"),
        (("s822", "--tables"), "s822 is no paper"),
        (("s822-xiv-20", "--tables", "--run", "s822-xiv-30"), "--run takes runs of yours"),
    ],
)
def test_tables_that_cannot_be(words: tuple[str, ...], reason: str) -> None:
    with pytest.raises(UsageError) as error:
        call("published", *words)
    assert reason in str(error.value)


def test_a_run_or_a_change_does_not_go_with_published_systems(mawl: Command) -> None:
    for given, word in (("--nodes=2", "--nodes"), ("--set=cores=2", "--set"), ("somewhere", "RUN")):
        done = mawl("simulate", "--published", given)
        assert done.returncode == 2
        assert f"--published does not go with {word}" in done.stderr
