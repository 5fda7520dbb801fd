"""The answer as Markdown, for a ticket."""

from __future__ import annotations

from mawl.model.qualification import Qualification
from mawl.reporters.markup import escaped, table
from mawl.reporters.qualification.content import content_of
from mawl.reporters.qualification.storage import STORAGE_HEAD


def render(record: Qualification) -> str:
    """The sentence in bold, figures, what follows from them; no newline at the end."""
    content = content_of(record)
    parts = [[f"**{escaped(content.sentence)}**"]]
    figures = [(escaped(one.name), escaped(one.value), escaped(one.beside)) for one in content.figures]
    parts.append(table(("figure", "value", "compare with"), figures, words=True))
    parts.append(
        table(("", "answer"), [(escaped(name), escaped(text)) for name, text in content.rows], words=True)
    )
    changes = [tuple(escaped(cell) for cell in change) for change in content.changes]
    parts.append(table(("what would change it", "would fit", "range"), changes, words=True))
    parts.append([content.change_note] if content.change_note else [])
    storage = [tuple(escaped(cell) for cell in row) for row in content.storage]
    parts.append(table(STORAGE_HEAD, storage, words=True))
    parts += [[f"Caution: {escaped(caution)}"] for caution in content.cautions]
    parts.append(["; ".join(f"{name}: {escaped(text)}" for name, text in content.basis)])
    parts.append([f"- **{name}**: {text}" for name, text in content.words])
    return "\n\n".join("\n".join(part) for part in parts if part)
