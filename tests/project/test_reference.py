"""Pages printed from the code: what they say, and that a stale one is named."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Literal

import pytest

from mawl.archive.publication import EVERY
from mawl.commands.notebook import OpenedRun
from mawl.commands.verbs import VERBS
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import shipped
from mawl.records.model.metrics import METRICS
from mawl.records.model.thresholds import THRESHOLDS
from mawl.records.spec.program_options import Options
from tools import markdown, reference
from tools.metric_pages import PARTS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    assert reference.main([]) == 0
    return tmp_path / "docs" / "reference"


def test_every_page_holds_every_thing_of_its_kind(pages: Path) -> None:
    texts = {path.stem: path.read_text() for path in pages.glob("*.md")}
    assert set(texts) == {
        "api",
        "commands",
        "metrics",
        "options",
        "papers",
        "programs",
        "rules",
        "signature",
        "thresholds",
        "workloads",
    }
    members = [name for name in vars(OpenedRun) if not name.startswith("_")]
    assert {"facts", "summary", "jobs", "plot"} <= set(members)
    assert all(re.search(rf"^### `{name}\b", texts["api"], re.MULTILINE) for name in members)
    assert all(f"## mawl {verb}\n" in texts["commands"] for verb in VERBS)
    assert all(f"| `{metric.name}` |" in texts["metrics"] for metric in METRICS)
    assert all(f"| `{name}` |" in texts["options"] for name in Options.__struct_fields__)
    assert all(f"## {name}\n" in texts["programs"] for name in CATALOGUE)
    assert all(f"## {name}\n" in texts["workloads"] for name in shipped())
    assert all(f"| `{name}` |" in texts["thresholds"] for name in THRESHOLDS)
    rules = sections(texts["rules"])
    assert all(rule.shows in rules[rule.name] and rule.limits in rules[rule.name] for rule in EVERY)


def sections(page: str) -> dict[str, str]:
    """The sections of the page of rules by the names of these."""
    return {head.split()[1]: text for head, text in re.findall(r"(?ms)^## (V\d+ \w+)$(.*?)(?=^## )", page)}


def test_a_rule_has_every_threshold_that_decides_it(pages: Path) -> None:
    shown = sections((pages / "rules.md").read_text())
    own = [one for one in THRESHOLDS.values() if one.name.startswith("validity.")]
    assert own and all(f"| `{one.name}` |" in shown[one.group.split(".")[1]] for one in own)
    # reach and frequency also use thresholds whose names come from other answers and rules.
    assert "| `answer.least_reach_ratio` | 0.8 |" in shown["reach"]
    assert "| `validity.drift.fewest_windows` |" in shown["frequency"]


def test_the_site_lets_a_reader_search_the_one_table_of_metrics(pages: Path) -> None:
    text = (pages / "metrics.md").read_text()
    table = text.partition('<div class="searched" markdown="1">')[2].partition("</div>")[0]
    assert text.count("</div>") == 1
    assert re.search(
        r'\| `real_time_seconds` \| report \| <abbr title="float; source: [^"]+">seconds</abbr> \|', table
    )
    assert all(f"| `{one.name}` |" in table for _, _, metrics in PARTS for one in metrics)
    assert "searched.js" in (ROOT / "mkdocs.yml").read_text()


def test_every_printed_file_is_marked_as_generated_for_reviewers(pages: Path) -> None:
    root = pages.parents[1]
    printed = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert {"src/mawl/commands/shell/mawl.bash", "docs/reference/commands.md"} < set(printed)
    lines = (ROOT / ".gitattributes").read_text().splitlines()
    marks = [line.split() for line in lines if line.startswith("/")]
    last = {name: [mark for pattern, mark in marks if fnmatch(f"/{name}", pattern)][-1:] for name in printed}
    assert [name for name, mark in last.items() if mark != ["linguist-generated"]] == []


def test_a_stale_page_is_named_and_left_as_it_is(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["--check"]) == 0
    (pages / "options.md").write_text("old\n")
    (pages / "metrics.md").unlink()
    assert reference.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert "docs/reference/metrics.md, docs/reference/options.md; run make reference" in said
    assert (pages / "options.md").read_text() == "old\n"
    assert reference.main([]) == 0
    assert reference.main(["--check"]) == 0


def test_a_pipe_does_not_break_a_table() -> None:
    assert markdown.table(("a", "b"), [("x|y", 1)]) == ["| a | b |", "| --- | --- |", "| x\\|y | 1 |", ""]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (str | None, "text"),
        (Annotated[int, "doc"], "whole number"),
        (list[str] | None, "list of text"),
        (dict[str, int | bool], "table of whole number or true or false"),
        (Literal["zygote", "spawn"] | None, "`zygote` or `spawn`"),
    ],
)
def test_types_are_said_in_plain_words(kind: object, words: str) -> None:
    assert reference.type_words(kind) == words
