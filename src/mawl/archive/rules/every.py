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
    *(module.RULE for module in (complete, unaltered, signature, contents, figures, pages, agreement)),
    workload.RULE,
    *VALIDITY_RULES,
    *(module.RULE for module in (repeats, disclosure, statement)),
)
INTACT = range(1, 8)
"""Numbers of the rules that say whether figures are those that were measured, whatever they are worth."""
