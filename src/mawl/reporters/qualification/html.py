"""The answer as one HTML page that prints on one sheet of paper: no script, and nothing from a network."""

from __future__ import annotations

from markupsafe import Markup

from mawl.model.qualification import Qualification
from mawl.printable import printable
from mawl.reporters.html.page import policy
from mawl.reporters.html.templating import asset, fill
from mawl.reporters.qualification.content import content_of, rules_rows

WORDS = (
    "a session is one user's queue of jobs; data holds input tables, work temporary tables, util sort and "
    "spill files; times as long as alone: half of the jobs take at least so many times as long in the mix as "
    "alone on this machine, and the range is the 95 % interval; the bound is a convention"
)
"""For a reader who sees such a page for the first time."""


def render(record: Qualification) -> str:
    """The page; every text of the record is escaped."""
    content = content_of(record)
    word, colon, rest = content.sentence.partition(": ")
    return fill(
        "answer.html",
        policy=policy([]),
        style=Markup(asset("answer.css")),
        title=printable(f"{word}: {record.asked.workload} on {record.machine.name or 'this machine'}"),
        word=word if colon else "",
        sentence=rest if colon else content.sentence,
        content=content,
        rules=[] if record.answer is None else rules_rows(record.answer),
        record=printable(record.name),
        words=WORDS,
    )
