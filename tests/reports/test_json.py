"""The summary as JSON: what UTF-8 cannot hold is escaped."""

from __future__ import annotations

import json
import os

from mawl.reports.json import render


def test_names_that_are_not_utf_8_are_escaped_in_keys_and_values() -> None:
    name = os.fsdecode(b"caf\xe9")
    assert json.loads(render({"paths": [{name: (name, None, 1.5)}]})) == {
        "paths": [{"caf\\xe9": ["caf\\xe9", None, 1.5]}]
    }
