"""What a system must keep to carry its sessions; each bound is a key of mawl.toml."""

from __future__ import annotations

import msgspec

from mawl.records.model.thresholds import value_of

SLOWDOWN = "answer.bound"
WARN = "guideline.bytes_per_second_per_core"
GOOD = "guideline.good_bytes_per_second_per_core"


class AnswerBounds(msgspec.Struct, frozen=True, kw_only=True):
    """``answer_bound`` bounds W, the slowdown; the others are the guideline.

    The defaults are those of the table of thresholds (docs/reference/thresholds.md).
    """

    answer_bound: float = value_of(SLOWDOWN)
    warn_bytes_per_second_per_core: float = value_of(WARN)
    good_bytes_per_second_per_core: float = value_of(GOOD)

    def by_threshold(self) -> dict[str, float]:
        return {
            SLOWDOWN: self.answer_bound,
            WARN: self.warn_bytes_per_second_per_core,
            GOOD: self.good_bytes_per_second_per_core,
        }
