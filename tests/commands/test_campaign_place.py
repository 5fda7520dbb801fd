"""Where a campaign goes on, and where it does not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.commands.campaign_continue import check_place, this_machine
from mawl.records.spec.run_spec import RunSpec
from tests.fakes.search_runs import campaign


def test_a_campaign_goes_on_where_it_began(tmp_path: Path) -> None:
    record = msgspec.structs.replace(campaign(), machine=this_machine(), spec=RunSpec())
    check_place(record, tmp_path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"spec": None, "format_version": "1.0"}, "was begun by an older mawl.*go on with mawl 0.1.0"),
        ({"spec": RunSpec()}, "was begun on another machine"),
        ({"spec": RunSpec(), "machine": this_machine(), "directory": "/gone"}, "/gone: the directory"),
    ],
)
def test_elsewhere_it_is_refused(changes: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=sentence):
        check_place(msgspec.structs.replace(campaign(), **changes), tmp_path)
