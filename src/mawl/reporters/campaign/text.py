"""The report of a campaign for a terminal."""

from __future__ import annotations

from mawl.analysis.campaign.results import CampaignFound
from mawl.formats.lines import one_line
from mawl.reporters.campaign.content import head, tables, title
from mawl.reporters.columns import LINE_WIDTH
from mawl.reporters.comparison.text import laid_out, lines


def render(found: CampaignFound, width: int = LINE_WIDTH) -> str:
    """Head and tables in lines of ``width``, without a newline at the end."""
    first = [one_line(title(found)), *lines(head(found), width)]
    parts = [first, *(laid_out(table, width) for table in tables(found))]
    return "\n\n".join("\n".join(part) for part in parts)
