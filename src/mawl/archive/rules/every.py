"""Every rule, by number."""

from __future__ import annotations

from mawl.archive.rules import (
    agreement,
    complete,
    contents,
    disclosure,
    figures,
    pages,
    repeats,
    signature,
    statement,
    unaltered,
    workload,
)
from mawl.archive.rules.rule import ValidationRule
from mawl.archive.rules.validity import VALIDITY_RULES

EVERY: tuple[ValidationRule, ...] = (
    complete.RULE,
    unaltered.RULE,
    signature.RULE,
    contents.RULE,
    figures.RULE,
    pages.RULE,
    agreement.RULE,
    workload.RULE,
    *VALIDITY_RULES,
    repeats.RULE,
    disclosure.RULE,
    statement.RULE,
)
INTACT = range(1, 8)
"""Numbers of the rules that say whether figures are those that were measured, whatever they are worth."""
