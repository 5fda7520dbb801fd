"""The answer as one HTML page that prints on one sheet of paper: no script, and nothing from a network."""

from __future__ import annotations

from markupsafe import Markup

from mawl.base.printable import printable
from mawl.records.model.qualification import Qualification
from mawl.reports.html.colours import style
from mawl.reports.html.page import policy
from mawl.reports.html.templating import asset, fill
from mawl.reports.qualification.content import MET, STORAGE_HEAD, content_of, rules_rows, rules_sentence


def render(record: Qualification) -> str:
    """The page; every text of the record is escaped."""
    content = content_of(record)
    rules = [] if record.answer is None else rules_rows(record.answer)
    word, colon, rest = content.sentence.partition(": ")
    return fill(
        "answer.html",
        policy=policy([]),
        style=Markup(style() + asset("answer.css")),
        title=printable(f"{word}: {record.asked.workload} on {_place(record)}"),
        word=word if colon else "",
        sentence=rest if colon else content.sentence,
        content=content,
        rules=[row for row in rules if row[3] != MET[True]],
        met=[row[:2] for row in rules if row[3] == MET[True]],
        rules_sentence="" if record.answer is None else rules_sentence(record.answer),
        storage_head=STORAGE_HEAD,
        record=printable(record.name),
    )


def _place(record: Qualification) -> str:
    if record.nodes:
        return f"{len(record.nodes)} nodes"
    return record.machine.name or "this machine"
