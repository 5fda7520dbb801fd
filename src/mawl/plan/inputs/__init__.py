"""The input tables, one file each; ``INPUTS`` finds them by name."""

from __future__ import annotations

from mawl.plan.inputs import (
    applications,
    candidates,
    census,
    customers,
    ledger,
    notes,
    policies,
    transactions,
)
from mawl.plan.tables import InputTable

INPUTS: dict[str, InputTable] = {
    table.name: table
    for table in (
        transactions.TABLE,
        census.TABLE,
        ledger.TABLE,
        policies.TABLE,
        customers.TABLE,
        applications.TABLE,
        candidates.TABLE,
        notes.TABLE,
    )
}
