"""Which nodes share what, and who makes which table."""

from __future__ import annotations

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.plan.needs import TableNeed
from mawl.run.cluster.controller import check_shared_space, groups, require_shared, share_out
from mawl.run.cluster.messages import NodeResources, VisibleTokens

TOKENS = {"n1": "r-n1", "n2": "r-n2", "n3": "r-n3"}


def seen(*tokens: str) -> VisibleTokens:
    return VisibleTokens({"data": [list(tokens)], "work": [], "util": []})


def test_nodes_that_see_each_other_are_a_group_whatever_older_tokens_lie_there() -> None:
    found = {"n1": seen("r-n1", "r-n2", "old-n9"), "n2": seen("r-n1", "r-n2"), "n3": seen("r-n3")}
    assert groups("data", TOKENS, found) == [["n1", "n2"], ["n3"]]


def test_a_role_that_is_not_one_file_system_is_named_with_both_nodes() -> None:
    with pytest.raises(UnsuitableMachineError, match=r"/d: n1 does not see what n3 wrote there"):
        require_shared("data", ["/d"], TOKENS, {"n1": seen("r-n1", "r-n2"), "n3": seen("r-n3")})
    everything = seen(*TOKENS.values())
    require_shared("data", ["/d"], TOKENS, dict.fromkeys(TOKENS, everything))


def test_each_table_is_made_once_by_a_node_that_reads_it_and_evenly() -> None:
    big, middle, small, own = (
        TableNeed(name, 1.0, 1, size) for name, size in (("a", 50), ("b", 30), ("c", 25), ("d", 90))
    )
    parts = share_out(["n1", "n2"], {"n1": [big, middle, small], "n2": [big, middle, small, own]})
    made = [need for part in parts.values() for need in part]
    assert sorted(made) == sorted([big, middle, small, own])
    assert own in parts["n2"] and big in parts["n1"] and middle in parts["n1"]


def test_temporary_tables_of_nodes_that_share_must_fit_together() -> None:
    looked = {
        name: NodeResources(folder="", needed_bytes={"work": 60}, free_bytes={"work": 100})
        for name in ("n1", "n2")
    }
    check_shared_space("work", ["n1"], looked)
    with pytest.raises(UnsuitableMachineError, match=r"work of n1, n2 needs 120 B and 100 B are free"):
        check_shared_space("work", ["n1", "n2"], looked)
