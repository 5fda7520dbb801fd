"""Every rule that an estimate can name has a sentence, and every sentence belongs to a rule."""

from __future__ import annotations

from pathlib import Path

import mawl.derive
from mawl.derive.tables import RULES


def test_each_rule_is_used_by_the_code() -> None:
    folder = Path(mawl.derive.__file__).parent
    code = "".join(path.read_text() for path in folder.glob("*.py") if path.name != "rules.py")
    assert [rule for rule in RULES if f'"{rule}"' not in code] == []
