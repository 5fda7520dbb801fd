"""The report of a campaign as JSON: the fields of its records with the finding, missing figures null."""

from __future__ import annotations

import msgspec

from mawl.analysis.campaign.results import CampaignFound
from mawl.reporters.campaign.finding import finding
from mawl.reporters.comparison.finding import Headline
from mawl.reporters.json import indented


class PrintedCampaign(CampaignFound, frozen=True, kw_only=True):
    """A campaign with its headline."""

    finding: Headline


def render(found: CampaignFound) -> str:
    """The campaign, indented."""
    return indented(PrintedCampaign(finding=finding(found), **msgspec.structs.asdict(found)))
