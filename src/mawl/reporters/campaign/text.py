"""The report of a campaign for a terminal."""

from __future__ import annotations

from mawl.analysis.campaign.results import CampaignFound
from mawl.formats.lines import one_line
from mawl.reporters.campaign.content import head, tables, title
from mawl.reporters.comparison.text import laid_out, lines


def render(found: CampaignFound) -> str:
    """Head and tables, without a newline at the end."""
    parts = [[one_line(title(found)), *lines(head(found))], *(laid_out(table) for table in tables(found))]
    return "\n\n".join("\n".join(part) for part in parts)
