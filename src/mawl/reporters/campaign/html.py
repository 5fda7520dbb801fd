"""The report of a campaign as one HTML page: the answer, charts, every table, what the figures mean."""

from __future__ import annotations

from mawl.analysis.campaign.results import CampaignFound
from mawl.reporters.campaign.charts import campaign_drawings
from mawl.reporters.campaign.content import head, tables, title
from mawl.reporters.comparison.html import sections_page
from mawl.reporters.html.templating import fill


def render(found: CampaignFound) -> str:
    """The page."""
    name = title(found)
    first = [fill("facts.html", facts=head(found))]
    return sections_page(name[:1].upper() + name[1:], first, tables(found), campaign_drawings(found))
