"""The report of a campaign as Markdown, for a ticket."""

from __future__ import annotations

from mawl.analysis.campaign.results import CampaignFound
from mawl.reporters.campaign.content import QUESTIONS, head, tables
from mawl.reporters.comparison.markdown import section
from mawl.reporters.markup import escaped


def render(found: CampaignFound) -> str:
    """The finding, the head as a list, the tables."""
    (_, said), *others = head(found)
    lines = [("campaign", f"{found.name}: {QUESTIONS[found.kind]}"), *others]
    listed = [f"- **{short}**: {escaped(sentence)}" for short, sentence in lines]
    parts = [f"# {escaped(said)}", "\n".join(listed), *map(section, tables(found))]
    return "\n\n".join(parts)
