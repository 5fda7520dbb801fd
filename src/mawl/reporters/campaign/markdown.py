"""The report of a campaign as Markdown, for a ticket."""

from __future__ import annotations

from mawl.analysis.campaign.results import CampaignFound
from mawl.reporters.campaign.content import head, tables, title
from mawl.reporters.comparison.markdown import section
from mawl.reporters.markup import escaped


def render(found: CampaignFound) -> str:
    """The head as a list, the tables."""
    name = title(found)
    listed = [f"- **{short}**: {escaped(sentence)}" for short, sentence in head(found)]
    parts = [f"# {escaped(name[:1].upper() + name[1:])}", "\n".join(listed), *map(section, tables(found))]
    return "\n\n".join(parts)
