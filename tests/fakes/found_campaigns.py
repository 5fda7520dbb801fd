"""What was found by a finished campaign of each kind, over synthetic runs."""

from __future__ import annotations

import msgspec

from mawl.campaigns.series import back_and_forth
from mawl.figures.campaign import ArmSettingFound, CampaignFound, campaign_figures
from mawl.figures.comparison.sides import ComparedRun
from mawl.records.model.campaign import Arm, Campaign, SessionSearch, Slot
from tests.fakes.campaign_runs import campaign
from tests.fakes.compared_runs import compared

SETTING = ArmSettingFound(
    arm="b",
    title="after",
    name="readahead",
    before="set-readahead 4096",
    check="get-readahead",
    after="set-readahead 128",
    expect="4096",
    original="128",
    read=["4096"],
    reads=10,
    differing=0,
    state="undone",
)
SEARCH = SessionSearch(first=1, most=500, runs_each=3)


def finished(record: Campaign) -> Campaign:
    """The record with every slot finished."""
    slots = [
        msgspec.structs.replace(slot, state="finished", folder=f"{slot.position:03}", outcome="completed")
        for slot in record.slots
    ]
    return msgspec.structs.replace(record, slots=slots, outcome="completed")


def all_runs(record: Campaign, factors: dict[str, float]) -> dict[int, ComparedRun]:
    return {
        slot.position: compared(slot.position, dict.fromkeys(("wide_sort", "census_load"), factors[slot.arm]))
        for slot in record.slots
    }


def scaling() -> CampaignFound:
    arms = [Arm(name=f"nodes-{count}", workload="tiny", size=count) for count in (1, 2, 4)]
    warm_up = Slot(position=0, arm="nodes-1", state="finished", folder="000-warm-up", outcome="completed")
    record = finished(campaign(kind="scaling", arms=arms, slots=back_and_forth(arms, 2), warm_up=warm_up))
    return campaign_figures(record, all_runs(record, {"nodes-1": 1.0, "nodes-2": 1.0, "nodes-4": 2.0}))


def search_for_sessions() -> CampaignFound:
    slowdowns = {1: 1.0, 2: 1.2, 4: 2.6, 3: 1.9}
    arms = [Arm(name=f"sessions-{count}", workload="tiny", size=count) for count in slowdowns]
    order = [1, 2, 4, 3, 4, 4, 3, 3]
    slots = [Slot(position=place, arm=f"sessions-{count}") for place, count in enumerate(order, start=1)]
    record = finished(campaign(kind="find-sessions", arms=arms, slots=slots, search=SEARCH))
    runs = {}
    for slot in record.slots:
        run = compared(slot.position)
        answer = run.summary.answer
        answer.slowdown, answer.bound = slowdowns[order[slot.position - 1]], 2.0
        run.summary.guideline.bytes_per_second_per_core = 2e8
        runs[slot.position] = run
    return campaign_figures(record, runs)


def repeats() -> CampaignFound:
    arms = [Arm(name="run", workload="tiny")]
    record = finished(campaign(kind="repeat", arms=arms, slots=back_and_forth(arms, 5)))
    return campaign_figures(record, all_runs(record, {"run": 1.0}))


def comparison() -> CampaignFound:
    record = finished(campaign(repeats=5))
    return campaign_figures(record, all_runs(record, {"a": 1.0, "b": 2.0}), [SETTING])


def threads() -> CampaignFound:
    arms = [Arm(name=f"smt-{size}", title=f"SMT-{size}", workload="tiny", size=size) for size in (1, 2)]
    record = finished(campaign(kind="smt", arms=arms, slots=back_and_forth(arms, 5)))
    said = campaign_figures(record, all_runs(record, {"smt-1": 1.0, "smt-2": 0.9}))
    busy = {"cpu_busy_ratio": 0.8, "core_busy_ratio": 0.9, "core_busy_basis": "processors"}
    return msgspec.structs.replace(said, smt=[msgspec.structs.replace(row, **busy) for row in said.smt])


EVERY = {
    "smt": threads,
    "repeat": repeats,
    "ab": comparison,
    "find-sessions": search_for_sessions,
    "scaling": scaling,
}
