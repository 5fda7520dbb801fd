"""One document in every form: what each writer makes of its parts, and that names of others harm none."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from mawl.reports.document import (
    NOT_TEXT,
    Card,
    Charts,
    Commands,
    Document,
    Headline,
    Line,
    Lines,
    Part,
    Sentences,
    Table,
    rendered,
)
from mawl.reports.html.charts.frame import Chart

EVIL = "<script>alert(1)</script> | @team `x` [l](http://h.example)\n\x1b[31m"
UNDRAWN = Chart("spread", "Spread", "What scatters.", "Dots.", [], None, "no run is finished")


def document(name: str = "a", *, cells: tuple[str, ...] = ("12.0 s", "3")) -> Document:
    """A document with every block."""
    lines: list[Line] = [("finding", f"worse: {name} is slower"), ("basis", "5 runs a side")]
    table = Table(
        name="figures",
        title="figures",
        head=("figures", "elapsed", "runs", "why"),
        rows=[(name, *cells, "it waits")],
        note="means over runs",
    )
    rows = [("first", "1"), ("last", "9")]
    few = Table(head=("program", "jobs"), rows=rows, gap=(1, "... 7 programs between"), spare=("jobs",))
    return Document(
        headline=Headline(sign="worse", sentence=f"Worse: {name} is slower", next_step="look: mawl report a"),
        facts=[f"candidate {name}"],
        cards=[Card("Is it better?", name, "bad", [name])],
        parts=[
            Part([Lines(lines)], "head", "What it rests on", "Rests"),
            Part([table, Sentences([name], "others:", "  ")], "figures", "All figures", "Figures"),
            Part([few, Commands(["mawl  report a"])]),
            Part(
                [Table(head=("night",), rows=[(name,)], noun="night")], "nights", "Nights", "Nights", NOT_TEXT
            ),
            Part([Charts(lambda: [UNDRAWN])], "charts", "Charts", "Charts"),
        ],
    )


TEXT = """\
finding    worse: a is slower
basis      5 runs a side

figures  elapsed  runs
a         12.0 s     3
  a: it waits
means over runs
others:
  a

program  jobs
first       1
... 7 programs between
last        9
  mawl  report a"""
MARKDOWN = """\
# Worse: a is slower

- **basis**: 5 runs a side

## Figures

| figures | elapsed | runs | why |
| :-- | --: | --: | :-- |
| a | 12.0 s | 3 | it waits |

means over runs

## Others

- a

| program | jobs |
| :-- | --: |
| first | 1 |
| last | 9 |

```
mawl  report a
```

<details><summary>1 night</summary>

| night |
| :-- |
| a |

</details>"""


def test_text_has_columns_and_markdown_has_the_finding_as_its_title() -> None:
    assert rendered(document(), "text") == TEXT
    assert rendered(document(), "markdown") == MARKDOWN


def test_a_narrow_terminal_does_without_spare_columns_and_continues_tables_below() -> None:
    lines = rendered(document(cells=("x" * 30, "y" * 30)), "text", 50).splitlines()
    assert max(map(len, lines)) <= 50 and any(
        line.startswith("figures  ") and "runs" in line for line in lines
    )
    spare = [line for line in rendered(document(), "text", 9).splitlines() if line.startswith("program")]
    assert spare == ["program"]


def test_a_page_has_its_parts_and_shows_the_headline_once() -> None:
    page = rendered(document(), "html")
    assert page.count("is slower") == 2, "in the window's title and in the heading"
    for anchor in ("head", "figures", "nights", "charts"):
        assert f'id="{anchor}"' in page and f'href="#{anchor}"' in page
    assert "<b>Next:</b> look" in page and "Not drawn: no run is finished." in page
    assert "Figures: means over runs</caption>" in page and "<h3>Others</h3>" in page


def test_a_page_leaves_out_columns_without_a_cell() -> None:
    runs = Table(
        title="runs", head=("run", "outcome", "why"), rows=[("1", "completed", ""), ("2", "completed", "")]
    )
    made = Document(
        headline=Headline(sign="measured", sentence="Two runs"), parts=[Part([runs], "runs", "Runs", "Runs")]
    )
    page = rendered(made, "html")
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', page)
    assert heads == ["Run", "Outcome"]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_names_of_others_are_words_in_every_form(form: str) -> None:
    shown = rendered(document(EVIL), form)
    assert "\x1b" not in shown and "alert(1)" in shown
    if form != "text":
        assert "<script>alert" not in shown
    if form == "markdown":
        assert not any(part in shown for part in ("@team", "http://", " | @"))


def test_text_and_markdown_load_neither_templates_nor_the_library_of_charts() -> None:
    script = """
import sys
import mawl.archive.history.document, mawl.derive.document, mawl.derive.replay.document
import mawl.reports.campaign_document, mawl.reports.comparison.document, mawl.reports.qualification
import mawl.whatif.placement.document, mawl.whatif.size.document, mawl.reports.rank, mawl.whatif.text
print(sorted({"bokeh", "jinja2"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
