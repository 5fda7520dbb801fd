"""The report of a campaign as JSON: the fields of its records, missing figures null."""

from __future__ import annotations

import msgspec

from mawl.analysis.campaign.found import CampaignFound


def render(found: CampaignFound) -> str:
    """The campaign, indented."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
