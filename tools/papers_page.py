"""The page with every table, figure and setting of the five papers, and the command of mawl for each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from mawl.records.model.published import papers
from mawl.tuning.check import OF_RUNS
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import TuningSetting
from tools.markdown import table

EXHIBITS = Path(__file__).with_name("papers.toml")
STATES = ("made", "partly", "not made")


def exhibits() -> dict[str, list[dict[str, Any]]]:
    """Key of a paper to its tables and figures, in the order of the file."""
    held = tomllib.loads(EXHIBITS.read_text())["paper"]
    return {one["key"]: one["exhibit"] for one in held}


def settings_of(key: str) -> list[TuningSetting]:
    """Every setting that a profile cites the paper for."""
    return [one for held in profiles().values() for one in held.settings if one.source.key == key]


def checked_by(setting: TuningSetting) -> tuple[str, str]:
    """The command that checks a setting and where its value is read; without such a command, why not."""
    if setting.rule == "advice":
        return "", "advice without a value to compare"
    if setting.family is None:
        return "", f"mawl does not read it; read it at: {setting.read}"
    if setting.family in OF_RUNS:
        return "mawl tune check RUN", setting.read
    return f"mawl tune check --from DIR --profile {setting.profile}", setting.read


def papers_page() -> list[str]:
    """A section for each paper: its tables and figures, then its settings."""
    lines = [
        "# The papers, table by table",
        "",
        "This page lists each table, figure and setting of the five papers, and the command that shows it.",
        "If mawl shows only a part (*partly*) or nothing (*not made*), the last column says why.",
        "",
    ]
    every = exhibits()
    titles = {paper.source.key: paper.source.title for paper in papers()}
    counts = [one["state"] for held in every.values() for one in held]
    lines += table(("state", "tables and figures"), [(state, str(counts.count(state))) for state in STATES])
    for key, held in every.items():
        rows = [_row(one) for one in held]
        lines += [
            f"## {titles[key]}",
            "",
            f"`mawl published` has the results of this paper; in `--json` their source is `{key}`.",
            "",
        ]
        lines += table(("in the paper", "what", "state", "command", "what is missing"), rows)
        settings = list(_settings(key))
        if settings:
            lines += [f"{len(settings_of(key))} settings:", ""]
            lines += table(
                ("settings", "number", "checked by", "read from, or why it is not checked"), settings
            )
    return lines


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    command = f"[`{one['command']}`]({one['page']})" if "command" in one else ""
    return (one["name"], one["what"], one["state"], command, one.get("reason", ""))


def _settings(key: str) -> Iterator[tuple[str, ...]]:
    """A row for each group of settings that are read in the same way."""
    found = settings_of(key)
    for (profile, group, subject, how), held in groupby(
        found, key=lambda one: (one.profile, one.group, one.subject, _how(one))
    ):
        command, where = how
        about = f"{group} ({subject})" if subject else group
        shown = f"`{command}`" if command else "not checked"
        yield f"{profile}: {about}", str(len(list(held))), shown, where.replace("|", "\\|")


def _how(setting: TuningSetting) -> tuple[str, str]:
    command, where = checked_by(setting)
    return command, where.replace("{name}", "NAME").replace("{subject}", "NAME")
