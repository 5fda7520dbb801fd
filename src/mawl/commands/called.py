"""How a command finds a run or a campaign from the current directory: by its name, or by a path."""

from __future__ import annotations

from pathlib import Path

from mawl.commands.arguments import settings
from mawl.commands.html import named
from mawl.store import Run
from mawl.store.files import lies_in


def called(stored: Run) -> str:
    """The id of a run, or the path of a folder that lies elsewhere or has another name."""
    run_id = stored.facts.run_id
    found_by_id = stored.path.name == run_id and lies_in(stored.path, settings().runs(None))
    return run_id if found_by_id else named(stored.path)


def called_campaign(folder: Path) -> str:
    """The name of a campaign's folder, or its path if it lies elsewhere."""
    place = folder.resolve()  # "." has no name
    return place.name if lies_in(place, settings().runs(None)) else named(folder)
