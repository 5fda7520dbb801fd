"""A guard whose campaign was damaged or removed says so in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mawl.campaigns.arm_setting import guard
from mawl.records.store.campaign import CAMPAIGN_LOCK, SETTINGS


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ([], "campaign.lock: no such file or directory; what an arm of the campaign changed may still be"),
        ([CAMPAIGN_LOCK, SETTINGS], "settings.json: is no record of changed settings"),
    ],
)
def test_damage_is_said_in_one_sentence(there: list[str], sentence: str, tmp_path: Path) -> None:
    for name in there:
        (tmp_path / name).write_text("{")
    words = [sys.executable, "-P", "-m", guard.__name__, str(tmp_path), "holder"]
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert ended.stderr.count("\n") == 1 and sentence in ended.stderr
