"""The report of a campaign as JSON: the fields of its records, missing figures null."""

from __future__ import annotations

import msgspec

from mawl.analysis.campaign.results import CampaignFound
from mawl.printable import printable_json


def render(found: CampaignFound) -> str:
    """The campaign, indented."""
    return printable_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
